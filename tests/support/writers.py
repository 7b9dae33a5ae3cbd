"""Judges that write test questions, and the workbench that asks them."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_evalstudio.contrib.validation.steps.test_generation.step import TestGeneration
from pytest_evalstudio.core.plugins.step import StepResult
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from pytest_evalstudio.scoring.model_provider import ModelProvider
from support.judging import unfenced
from support.workbench import NOUNS, Bench


def bench(
    folder: Path, say: Callable[[str], Any], *, more: str = "", judge: dict[str, Any] | None = None
) -> tuple[Bench, list[str]]:
    """Return a workbench with two topics whose judge is a function, and the prompts that the judge gets."""
    prompts: list[str] = []

    def target(prompt: str) -> str:
        prompts.append(prompt)
        reply = say(prompt)
        return reply if isinstance(reply, str) else json.dumps(reply)

    workbench = Bench(
        folder,
        {"text.txt": "Some text."},
        config={"judge": {"host": "python", "target": target, "cache": True, **(judge or {})}},
    )
    lines = []
    for number, noun in enumerate((*NOUNS, "levy")):
        sentences = [
            f"The {noun} clause of the branch costs £{number + 3}.50.",
            f"An office for the {noun} form takes {number + 13} working days.",
            more,
        ]
        sentences = [sentence for sentence in sentences if sentence]
        topic = "12"[number % 2]
        lines.append(
            {
                "id": f"c{number}",
                "text": " ".join(sentences),
                "sentences": sentences,
                "document": "../../text.txt",
                "topic": topic,
            }
        )
    topics = [
        {"id": id, "words": [f"word{id}"], "size": sum(line["topic"] == id for line in lines)}
        for id in ("1", "2")
    ]
    workbench.of("topic_modeling").mkdir(parents=True)
    (workbench.of("topic_modeling") / "topics.json").write_text(
        json.dumps({"version": 1, "topics": topics, "chunks": lines}), encoding="utf-8"
    )
    workbench.provider = ModelProvider(registry=workbench.registry, cache=folder / "cache")
    return workbench, prompts


def generated(workbench: Bench, **parameters: Any) -> tuple[StepResult, list[TestCase]]:
    """Run the step with a judge as writer; return its result and test cases."""
    result = TestGeneration(**{"writer": "judge", "count": 26, **parameters}).run(
        workbench.work("test_generation", "topic_modeling")
    )
    return result, [
        case for _, case in TestSuite.load(workbench.of("test_generation") / "tests_suite.json").cases()
    ]


def facts(prompt: str) -> list[tuple[str, str, str]]:
    """Return noun, price and sentence of each chunk that a prompt shows."""
    return [
        (noun, price, f"The {noun} clause of the branch costs {price}.")
        for noun, price in re.findall(r"The (\w+) clause of the branch costs (\S+)\.", prompt)
    ]


def writes(prompt: str) -> dict[str, Any]:
    """Write two different questions about the excerpts of a prompt."""
    triples = facts(prompt)
    evidence = [sentence.upper().replace(" ", "  ") for _, _, sentence in triples]
    nouns = " and ".join(noun for noun, _, _ in triples)
    tag = zlib.crc32(unfenced(prompt).partition("Write 2")[2][:400].encode())
    questions = [
        {
            "question": f"What about {nouns}, version {tag}?",
            "answer": f"It costs {triples[0][1]}.",
            "evidence": evidence,
        },
        {
            "question": f"Please say to customer {tag} how expensive {nouns} is at noon",
            "answer": "Nobody knows for certain what it costs.",
            "evidence": evidence,
        },
    ]
    if "evidence is an empty list" in prompt:
        questions = [{**question, "evidence": []} for question in questions]
    if planted := re.search(r"^Planted word: (\w+)$", prompt, re.MULTILINE):
        questions = [
            {**question, "question": f"{question['question']} Say {planted[1]}!"} for question in questions
        ]
    if "In `plain`, write" in prompt:
        questions = [
            {**question, "plain": f"How much is {nouns} ({tag}, {number})?"}
            for number, question in enumerate(questions)
        ]
    return {"questions": questions}
