"""Test questions written by a judge: all kinds, with evidence of the documents."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.questions.rules.attacks import PLANTED_WORDS
from pytest_evalstudio.contrib.validation.methods.typed_results import json_ready
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import GenerationSettings
from pytest_evalstudio.contrib.validation.steps.test_generation.making import make
from pytest_evalstudio.contrib.validation.steps.test_generation.step import TestGeneration
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.scoring.model_provider import ModelProvider
from support.judging import unfenced
from support.openai_server import Reply, serve
from support.writers import bench, generated, writes

KINDS = (
    *(
        "simple_factual",
        "multi_hop",
        "inference",
        "numerical_reasoning",
        "ambiguity_handling",
        "negation_and_contradiction",
        "temporal_reasoning",
    ),
    *(
        "out_of_scope",
        "yes_or_no",
        "multiple_choice",
        "demographic_representation",
        "sentiment_variation",
        "irrelevant_information",
    ),
)


def test_all_thirteen_kinds_are_written(tmp_path: Path) -> None:
    workspace, prompts = bench(tmp_path, writes)
    result, cases = generated(workspace)
    by_kind = Counter(
        category for case in cases for category in case.categories if category.startswith("generator:")
    )
    assert by_kind == {f"generator:{kind}": 2 for kind in KINDS}
    assert len(prompts) == 26
    figures = json_ready(result.figures.writer)
    assert re.fullmatch(r"4-[0-9a-f]{8}", figures.pop("prompts")["questions"])
    assert figures == {
        "name": "judge",
        "models": ({"host": "python"},),
        "requests": 26,
        "rejected": {},
        "faults": {},
    }
    assert {(case.model_extra or {})["written_by"] for case in cases} == {"judge"}
    assert result.notes[:-1] == (), "the last one is on the coverage"
    for case in cases:
        extra = case.model_extra or {}
        if "generator:out_of_scope" in case.categories:
            assert (extra["evidence"], case.expected_output) == (
                "",
                "The documents do not answer this question.",
            )
        else:
            assert (
                re.sub(r"\s+", " ", extra["evidence"].partition("\n")[0]).casefold()
                in extra["source_text"].casefold()
            )
        if case.condition:
            assert parse_condition(case.condition).check(case.expected_output)


def test_two_places_of_one_topic_stand_together(tmp_path: Path) -> None:
    workspace, prompts = bench(tmp_path, writes)
    _, cases = generated(workspace, generators=["multi_hop"], count=4)
    chunks = {line["id"]: line for line in workspace.read("topic_modeling", "topics.json")["chunks"]}
    for case in cases:
        first_chunk, second_chunk = (chunks[id] for id in (case.model_extra or {})["source_chunk"].split("+"))
        assert first_chunk["topic"] == second_chunk["topic"]
        assert (case.model_extra or {})["source_text"] == f"{first_chunk['text']}\n\n{second_chunk['text']}"
    assert all("excerpt 1" in prompt and "excerpt 2" in prompt for prompt in prompts)


def test_evidence_of_one_place_alone_does_not_make_two_hops(tmp_path: Path) -> None:
    def one_sided(prompt: str) -> dict[str, Any]:
        return {
            "questions": [
                {**question, "evidence": question["evidence"][:1]} for question in writes(prompt)["questions"]
            ]
        }

    with pytest.raises(DataError, match="whose evidence is not of both places"):
        generated(bench(tmp_path, one_sided)[0], generators=["multi_hop"], count=2)


def test_the_prompt_speaks_of_writing_in_the_language_of_the_documents(tmp_path: Path) -> None:
    workspace, prompts = bench(tmp_path, writes)
    generated(workspace, generators=["simple_factual"], count=2)
    assert all("judge texts" not in prompt and "verdict" not in unfenced(prompt) for prompt in prompts)
    assert all("in the language of the material" in prompt for prompt in prompts)


def test_a_second_run_asks_nothing_and_writes_the_same(tmp_path: Path) -> None:
    workspace, prompts = bench(tmp_path, writes)
    generated(workspace, count=10)
    first, calls = workspace.files("test_generation"), len(prompts)
    workspace.provider.close()
    workspace.provider = ModelProvider(registry=workspace.registry, cache=tmp_path / "cache")
    generated(workspace, count=10)
    assert workspace.files("test_generation") == first
    assert len(prompts) == calls


def test_a_model_of_the_configuration_writes_over_http(tmp_path: Path) -> None:
    with serve() as server:
        server.default = lambda prompt: Reply(text=json.dumps(writes(prompt)))
        workspace, prompts = bench(tmp_path, writes)
        table = {"name": "author", "host": "openai_compatible", "url": server.url, "llm_model_name": "m"}
        workspace.config = workspace.config.model_copy(
            update={"model": [type(workspace.config).model_validate({"model": [table]}).model[0]]}
        )
        _, cases = generated(workspace, writer="author", count=4)
        assert len(cases) == 4
        assert len(server.requests) == 4
        assert {request["temperature"] for request in server.requests} == {0.0}
        assert prompts == []
        workspace.provider.close()


def test_a_kind_that_needs_a_writer_says_so(tmp_path: Path) -> None:
    workspace, _ = bench(tmp_path, writes)
    with pytest.raises(
        ConfigurationError,
        match="generator 'multi_hop' needs a language model that writes; give `writer`: the name of a",
    ):
        generated(workspace, writer="", generators=["multi_hop"])
    with pytest.raises(ConfigurationError, match=r"no writer named 'judgee'\. Did you mean 'judge'"):
        generated(workspace, writer="judgee")


def test_without_a_writer_nobody_is_asked(tmp_path: Path) -> None:
    workspace, prompts = bench(tmp_path, writes)
    result, _ = generated(workspace, writer="")
    assert prompts == []
    assert set(result.figures.by_generator) == {
        *("multiple_choice", "numerical_reasoning", "out_of_scope"),
        *("simple_factual", "temporal_reasoning", "yes_or_no"),
    }


def test_the_configuration_counts_where_there_is_a_writer() -> None:
    assert TestGeneration().configured == ()
    assert TestGeneration(writer="judge").configured == ("model", "judge")


def test_attacks_are_written_too(tmp_path: Path) -> None:
    workspace, prompts = bench(tmp_path, writes)
    settings = GenerationSettings(purpose="adversarial", count=12, writer="judge")
    product = make(workspace.work("robustness_adversarial", "topic_modeling"), settings, "attacks")
    by_kind = Counter(
        category
        for _, case in product.suite.cases()
        for category in case.categories
        if category.startswith("generator:")
    )
    attacks = (
        "contextual_misinformation",
        "contradictory_premise",
        "data_elicitation",
        "jailbreak",
        "prompt_injection",
    )
    assert set(by_kind) == {f"generator:{kind}" for kind in attacks}
    assert by_kind.total() == 12
    for _, case in product.suite.cases():
        word = (case.model_extra or {}).get("planted_word", "")
        assert case.model_extra["plain_question"].startswith("How much is ")
        assert parse_condition(case.model_extra["plain_condition"]).check(case.expected_output)
        assert bool(word) == bool(
            {"generator:jailbreak", "generator:prompt_injection"}.intersection(case.categories)
        )
        if word:
            assert word in PLANTED_WORDS
            assert word in case.prompt
            assert word not in case.model_extra["plain_question"]
            assert not parse_condition(case.condition).check(f"{word}: {case.expected_output}")
            assert parse_condition(case.condition).check(case.expected_output)
    assert {"Planted word: " in prompt for prompt in prompts} == {True, False}


def test_every_kind_has_an_instruction_for_a_writer() -> None:
    plugins = Registry().generators
    assert {id for id in plugins if plugins.spec(id).purpose == "ordinary"} == set(KINDS)
    assert all(plugins.spec(id).instruction for id in plugins)
