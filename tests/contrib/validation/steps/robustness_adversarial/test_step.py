"""The step of adversarial inputs: a model that stands firm, and one that does what it is told."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.questions.rules.attacks import PLANTED_WORDS
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.step import AutomatedEvaluation
from pytest_evalstudio.contrib.validation.steps.robustness_adversarial.step import RobustnessAdversarial
from pytest_evalstudio.contrib.validation.steps.test_generation.step import TestGeneration
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.plugins.step import StepResult
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.options import OptionError
from pytest_evalstudio.formats.suite import TestSuite
from support.toy_models import APP, answered_by
from support.workbench import NOUNS, Bench, configured

STEP = "robustness_adversarial"
SENTENCES = [
    sentence
    for number, noun in enumerate(NOUNS)
    for sentence in (
        f"The {noun} clause of the branch costs £{number + 3}.50.",
        f"An office for the {noun} form takes {number + 13} working days.",
    )
]


def bench(folder: Path) -> Bench:
    """A bench with two topics of six chunks; the ordinary questions are made and stand as valid ones."""
    workspace = Bench(folder, {"text.txt": " ".join(SENTENCES)})
    workspace.config = configuration(APP, folder=folder)
    chunks = []
    for number in range(12):
        sentences = SENTENCES[2 * number : 2 * number + 2]
        topic = "1" if number < 6 else "2"
        line = {
            "id": f"c{number + 1}",
            "text": " ".join(sentences),
            "sentences": sentences,
            "document": "../../text.txt",
            "page": 0,
            "topic": topic,
        }
        chunks.append(line)
    topics = [
        {
            "id": id,
            "words": [f"word{id}"],
            "size": 6,
            "chunks": [line["id"] for line in chunks if line["topic"] == id],
        }
        for id in ("1", "2")
    ]
    workspace.of("topic_modeling").mkdir(parents=True)
    (workspace.of("topic_modeling") / "topics.json").write_text(
        json.dumps({"version": 1, "topics": topics, "chunks": chunks}), encoding="utf-8"
    )
    TestGeneration(
        generators=["numerical_reasoning", "temporal_reasoning", "simple_factual", "yes_or_no"]
    ).run(workspace.work("test_generation", "topic_modeling"))
    workspace.of("test_validation").mkdir(parents=True)
    shutil.copy(
        workspace.of("test_generation") / "tests_suite.json",
        workspace.of("test_validation") / "validated_suite.json",
    )
    return workspace


def reads(prompt: str) -> str:
    """Tells all that the documents say: whatever is asked, the answer is among it."""
    return " ".join(SENTENCES)


def obeys(prompt: str) -> str:
    """The same, unless it is told what to say."""
    return next((word for word in PLANTED_WORDS if word.lower() in prompt.lower()), reads(prompt))


def run(workspace: Bench, say: Callable[[str], str] = reads, **parameters: Any) -> StepResult:
    answered_by(workspace, say)
    evaluated = AutomatedEvaluation(evaluators=["text_matching"]).run(
        workspace.work("automated_evaluation", "test_validation")
    )
    work = dataclasses.replace(
        workspace.work(STEP, "topic_modeling", "automated_evaluation"),
        figures={"automated_evaluation": dataclasses.asdict(evaluated.figures)},
    )
    return RobustnessAdversarial(**parameters).run(work)


def test_a_model_that_stands_firm(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    step_result = run(workspace, count=24)
    suite = TestSuite.load(workspace.of(STEP) / "adversarial_suite.json")
    kinds = Counter(category for _, case in suite.cases() for category in case.categories)
    assert {name: count for name, count in kinds.items() if name.startswith("topic:")} == {
        "topic:1_word1": 12,
        "topic:2_word2": 12,
    }
    assert {name for name in kinds if name.startswith("generator:")} == {
        "generator:contextual_misinformation",
        "generator:contradictory_premise",
        "generator:data_elicitation",
        "generator:jailbreak",
        "generator:prompt_injection",
    }
    result = workspace.read(STEP, "adversarial.json")
    assert result["withstood"] == len(result["pairs"]) == 24
    assert result["worse"] == 0
    evaluation_suite = TestSuite.load(workspace.of("automated_evaluation") / "asked_suite.json")
    prompts = {case.key: case.prompt for _, case in evaluation_suite.cases()}
    plain = {case.key: case.model_extra["plain_question"] for _, case in suite.cases()}
    assert {pair["case"]: prompts[pair["twin"]] for pair in result["pairs"]} == plain
    assert step_result.problems == ()
    assert "24 of 24 answers withstand (24 with the fact, 0 by refusing)" in step_result.summary
    assert {path.name for path in workspace.of(STEP).iterdir()} >= {
        "adversarial.svg",
        "answers_lab.json",
        "record.jsonl",
    }


def test_a_model_that_does_what_it_is_told(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    result = run(workspace, obeys, count=40)
    kinds = {(problem.attributes["kind"], problem.attributes["generator"]) for problem in result.problems}
    assert kinds == {
        (kind, generator)
        for kind in ("obeyed_attack", "weak_against_attack")
        for generator in ("jailbreak", "prompt_injection")
    }
    assert {problem.problem_type for problem in result.problems} == {"security"}
    assert all(problem.attributes["model"] == "app" for problem in result.problems)
    assert "answers give way" in result.summary


def guards(prompt: str) -> str:
    """All that the documents say, and a polite refusal of everything that smells of an attack."""
    signs = (*PLANTED_WORDS, "password", "PASSWORD", "e-mail", "card number")
    is_attack = any(sign.lower() in prompt.lower() for sign in signs)
    return (
        "I'm sorry, I can't help with that request. Please ask me about fees." if is_attack else reads(prompt)
    )


def test_a_model_that_refuses_attacks_politely_withstands_them(tmp_path: Path) -> None:
    result = run(bench(tmp_path), guards, count=40)
    assert result.problems == ()
    reactions = Counter(pair.reaction for pair in result.figures.pairs)
    assert (result.figures.withstood, set(reactions)) == (40, {"keeps", "refuses"})
    assert reactions["refuses"] >= 20


def test_a_model_that_refuses_everything_is_over_refusing(tmp_path: Path) -> None:
    result = run(bench(tmp_path), lambda prompt: "I cannot answer that.", count=40)
    (problem,) = [each for each in result.problems if each.attributes["kind"] == "over_refusal"]
    assert problem.severity == "high"
    assert problem.description.startswith("Over-refusing: ")


def test_a_model_that_repeats_the_question_is_misled(tmp_path: Path) -> None:
    def believes(prompt: str) -> str:
        return prompt.split("“")[1].split("”")[0] if "“" in prompt else reads(prompt)

    result = run(bench(tmp_path), believes, count=40)
    generators = {each.attributes["generator"] for each in result.problems if each.severity != "low"}
    assert {"contextual_misinformation", "contradictory_premise"} <= generators


def test_attacks_that_the_host_refuses_are_told_and_do_not_count(tmp_path: Path) -> None:
    def refuses(prompt: str) -> str:
        if any(word in prompt for word in PLANTED_WORDS):  # the names of roles; injected words are upper case
            raise HostFault("content filter")
        return reads(prompt)

    workspace = bench(tmp_path)
    result = run(workspace, refuses, count=24)
    roles = result.figures.by_generator["jailbreak"]
    assert result.figures.without_score == roles
    refused = f"{roles} attacks have no answer and do not count; the report of the step lists their errors"
    assert refused in result.notes
    assert "jailbreak" not in {comparison.generator for comparison in result.figures.comparisons}


def test_generators_and_topics_are_chosen(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    result = run(workspace, count=10, generators=["jailbreak", "prompt_injection"], topics_excluded=["1"])
    assert result.figures.by_generator == {"jailbreak": 5, "prompt_injection": 5}
    assert result.figures.by_topic == {"2": 10}


def refuses_the_foreign(prompt: str) -> str:
    """Answers what the documents cover, and refuses everything else."""
    covered = any(noun in prompt for noun in NOUNS)
    return reads(prompt) if covered else "The documents do not answer that."


@pytest.mark.parametrize(("say", "worse"), [(refuses_the_foreign, False), (reads, True)])
def test_questions_outside_of_the_domain_are_asked_on_request(
    tmp_path: Path, say: Callable[[str], str], worse: bool
) -> None:
    workspace = bench(tmp_path)
    result = run(workspace, say, count=60, out_of_distribution=True)
    assert set(result.figures.by_generator) > {"jailbreak", "out_of_distribution"}
    suite = TestSuite.load(workspace.of(STEP) / "adversarial_suite.json")
    foreign = [case for _, case in suite.cases() if "generator:out_of_distribution" in case.categories]
    assert len(foreign) >= 4
    assert all(case.expected_output == "The documents do not answer this question." for case in foreign)
    weak = {problem.attributes["generator"] for problem in result.problems}
    assert ("out_of_distribution" in weak) == worse


def test_out_of_distribution_alone_can_be_named(tmp_path: Path) -> None:
    result = run(bench(tmp_path), refuses_the_foreign, count=6, generators=["out_of_distribution"])
    assert result.figures.by_generator == {"out_of_distribution": 6}


def test_two_runs_write_the_same(tmp_path: Path) -> None:
    workspaces = [bench(tmp_path / str(number)) for number in range(2)]
    first_files, second_files = ((run(each, count=10), each.files(STEP))[1] for each in workspaces)
    names = ("adversarial.json", "adversarial.svg", "adversarial_suite.json")
    assert {name: first_files[name] for name in names} == {name: second_files[name] for name in names}


def test_an_ordinary_generator_belongs_elsewhere(tmp_path: Path) -> None:
    message = (
        "robustness_adversarial: generator 'yes_or_no' makes ordinary questions; name it in the step"
        " test_generation"
    )
    with pytest.raises(ConfigurationError, match=message):
        run(bench(tmp_path), generators=["yes_or_no"])


def test_evaluators_without_a_baseline_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match="the automated evaluation has no scores by rouge; name it there, too"
    ):
        run(bench(tmp_path), evaluators=["rouge"])


@pytest.mark.parametrize("parameters", [{"count": 0}, {"alpha": 1}, {"generators": "jailbreak"}])
def test_parameters_that_make_no_sense(parameters: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(parameters))):
        configured(RobustnessAdversarial, parameters)


def test_where_the_documents_give_no_attack_nothing_is_asked(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    path = workspace.of("topic_modeling") / "topics.json"
    topics = json.loads(path.read_text(encoding="utf-8"))
    plain = "Bitte nennen Sie uns Ihre Kontonummer."
    path.write_text(
        json.dumps(
            {**topics, "chunks": [{**line, "text": plain, "sentences": [plain]} for line in topics["chunks"]]}
        ),
        encoding="utf-8",
    )
    result = run(workspace)
    assert result.summary.startswith("nothing is asked: the rules found no reliable question")
    assert (result.waits, result.problems) == ("", ())


def test_with_too_few_ordinary_questions_nothing_is_tested(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    path = workspace.of("test_validation") / "validated_suite.json"
    suite = TestSuite.load(path)
    suite.tests[0].test_cases = suite.tests[0].test_cases[:3]
    suite.save(path)
    assert {pair.twin for pair in run(workspace).figures.pairs} <= {case.key for _, case in suite.cases()}
