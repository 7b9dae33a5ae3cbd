"""Controls: right answers must pass and wrong ones fail; what they contradict is repaired or named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.methods.controls.answers import control_answers
from pytest_evalstudio.contrib.validation.methods.controls.deciding import DecidingMetric
from pytest_evalstudio.contrib.validation.methods.controls.results import (
    ControlFile,
    ControlScore,
    judge_controls,
    read_controls,
)
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.step import AutomatedEvaluation
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from support.rating_judges import Says
from support.workbench import Bench

STEP = "automated_evaluation"
FEE = "The annual fee is 30 USD."
CHECK = "Lost cards are blocked by the night desk."
YES_NO = DecidingMetric(metric="match.passes", better="higher", threshold=0.5, basis="yes_or_no")
SCORE = DecidingMetric(metric="overlap.f1", better="higher", threshold=0.5, basis="set")


def case(key: str, prompt: str, answer: str, condition: str, evidence: str, **keys: Any) -> dict[str, Any]:
    return {
        "key": key,
        "prompt": prompt,
        "expected_output": answer,
        "condition": condition,
        "evidence": evidence,
        "source_text": evidence,
        "source_chunk": f"chunk {evidence[:6]}",
        **keys,
    }


AMOUNT = case("amount", "What is the annual fee?", "30 USD", '"30 USD"', FEE)
WHO = case("who", "Who blocks lost cards?", "the night desk", '"night desk"', CHECK)


def run(
    folder: Path, *cases: dict[str, Any], config: dict[str, Any] | None = None, **parameters: Any
) -> tuple[EvaluationResults, TestSuite]:
    """Return the results of the step, and the suite that it asked."""
    bench = Bench(folder, {"fees.md": f"{FEE} {CHECK}"}, config=config)
    suite = TestSuite.model_validate(
        {"name": "Fees", "tests": [{"documents": [str(folder / "fees.md")], "test_cases": list(cases)}]}
    )
    bench.of("test_validation").mkdir(parents=True)
    suite.save(bench.of("test_validation") / "validated_suite.json")
    step = AutomatedEvaluation(**{"evaluators": ["text_matching"], **parameters})
    results = step.run(bench.work(STEP, "test_validation")).figures
    assert isinstance(results, EvaluationResults)
    assert read_controls(bench.of(STEP)).answers
    return results, TestSuite.load(bench.of(STEP) / "asked_suite.json")


def test_an_evaluation_without_its_controls_is_refused(tmp_path: Path) -> None:
    fact = r"controls\.json: cannot be read: No such file or directory; run automated_evaluation again"
    with pytest.raises(DataError, match=fact):
        read_controls(tmp_path)


def texts(*cases: dict[str, Any]) -> dict[str, str]:
    """Return the controls of the first case by name."""
    parsed = [TestCase.model_validate(each) for each in cases]
    return {answer.control: answer.text for answer in control_answers(parsed) if answer.case is parsed[0]}


def test_the_controls_of_a_quantity() -> None:
    assert texts(AMOUNT, WHO) == {
        "expected_answer": "30 USD",
        "supporting_sentence": FEE,
        "full_sentence": "According to the document, the answer is 30 USD.",
        "paraphrase": "$30",
        "wrong_answer": "60 USD",
        "unrelated_sentence": CHECK,
        "silence": "",
        "refusal": "I am sorry, but I do not know the answer.",
    }


@pytest.mark.parametrize(
    ("answer", "prompt", "control", "text"),
    [
        ("Yes. It is 30 USD.", "Is the fee 30 USD?", "wrong_answer", "No."),
        ("Yes. It is 30 USD.", "Is the fee 30 USD?", "supporting_sentence", f"Yes. {FEE}"),
        ("B) 30 USD", "What is the fee? A) 5 USD B) 30 USD", "wrong_answer", "A) 5 USD"),
        ("in May 2023", "When did it begin?", "wrong_answer", "in May 2020"),
        ("30 minutes", "How long does it take?", "paraphrase", "Half an hour"),
        (
            "Yes. If it rains, we close.",
            "Do you close if it rains?",
            "paraphrase",
            "Yes. We close if it rains.",
        ),
    ],
)
def test_the_form_of_the_question_shapes_the_controls(
    answer: str, prompt: str, control: str, text: str
) -> None:
    assert texts(case("k", prompt, answer, "", FEE), WHO)[control] == text


def test_a_number_beside_the_question_is_no_control() -> None:
    sentence = "The desk blocks cards within 2 hours of the call."
    assert "wrong_answer" not in texts(case("k", "Who blocks cards?", sentence, '"desk"', sentence), WHO)


def test_where_a_refusal_is_right_refusals_must_pass(tmp_path: Path) -> None:
    refusal = "The documents do not answer this question."
    out_of_scope = case("none", "What is the fee of 1912?", refusal, '"not answer"', "", expects="refusal")
    assert set(texts(out_of_scope, WHO)) == {
        "expected_answer",
        "full_sentence",
        "unrelated_sentence",
        "silence",
    }
    results, _ = run(tmp_path, out_of_scope, AMOUNT, WHO)
    assert results.controls.cases == {}


def test_conditions_that_hold_contradict_nothing(tmp_path: Path) -> None:
    results, questions = run(tmp_path, AMOUNT, WHO)
    assert [(count.control, count.tested, count.contradicted) for count in results.controls.counts] == [
        *(("expected_answer", 2, 0), ("supporting_sentence", 2, 0)),
        *(("full_sentence", 2, 0), ("paraphrase", 1, 0)),
        *(("wrong_answer", 1, 0), ("unrelated_sentence", 2, 0), ("silence", 2, 0), ("refusal", 2, 0)),
    ]
    assert [each.key for _, each in questions.cases()] == ["amount", "who"]


def test_a_condition_on_the_answer_is_not_checked_on_the_chunk(tmp_path: Path) -> None:
    question = case("yes", "Is the fee 30 USD?", f"Yes. {FEE}", r'regexp("(?i)^\W*Yes\b")', FEE)
    results, questions = run(tmp_path, question, WHO)
    assert (results.controls.repaired, results.controls.cases) == (("yes",), {})
    assert [each.condition_on for _, each in questions.cases()] == ["answer", ""]


@pytest.mark.parametrize(
    ("condition", "controls"),
    [
        pytest.param('"a word that no answer has"', ("expected_answer",), id="no right answer meets it"),
        pytest.param('NOT "zebra"', ("wrong_answer", "unrelated_sentence"), id="wrong answers meet it"),
    ],
)
def test_a_contradicted_case_is_left_out_by_name(
    tmp_path: Path, condition: str, controls: tuple[str, ...]
) -> None:
    results, questions = run(tmp_path, case("bad", "What is it?", "30 USD", condition, FEE), WHO)
    assert set(controls) <= set(results.controls.cases["bad"])
    assert [each.key for _, each in questions.cases()] == ["who"]
    assert (results.controls.share, results.controls.refuses) == (0.5, True)


def test_a_threshold_that_fails_full_sentences_is_left_out_and_not_the_cases(tmp_path: Path) -> None:
    results, questions = run(
        tmp_path, AMOUNT, WHO, evaluators=["text_matching", "rouge"], thresholds={"rouge": 0.75}
    )
    assert results.controls.thresholds == {"rouge.rouge_l": 1.0}
    assert results.controls.cases == {}
    assert len(questions.cases()) == 2


def test_a_threshold_that_nobody_set_does_not_decide(tmp_path: Path) -> None:
    results, _ = run(tmp_path, AMOUNT, WHO, evaluators=["text_matching", "rouge"])
    assert [metric.metric for metric in results.deciding] == ["text_matching.model_passes"]
    assert results.undecided == ("rouge.rouge_l",)


@pytest.mark.parametrize(("budget", "calls"), [(0, 0), (5, 3)])
def test_a_judge_scores_as_many_controls_as_its_budget_allows(
    tmp_path: Path, budget: int, calls: int
) -> None:
    judge = Says("yes")
    results, _ = run(
        tmp_path,
        AMOUNT,
        WHO,
        config={"judge": {"host": "python", "target": judge}},
        evaluators=["text_matching", "correctness_judge"],
        thresholds={"correctness_judge": 0.5},
        max_judged_controls=budget,
    )
    assert len(judge.prompts) == calls + 2, (
        "and the two answers of the model; two of five controls are silent"
    )
    reason = "its judge has no budget for controls (`max_judged_controls`)"
    assert results.controls.not_controlled == ({} if budget else {"correctness_judge": reason})
    assert results.controls.cases == {}


def score(key: str, control: str, **scores: float) -> ControlScore:
    by_metric = {name.replace("_", "."): value for name, value in scores.items()}
    return ControlScore(key=key, control=control, text="", response=None, scores=by_metric)


def test_five_percent_of_the_cases_are_the_limit_of_a_threshold() -> None:
    answers = [score(str(number), "paraphrase", overlap_f1=float(number > 0)) for number in range(20)]
    twenty = judge_controls(ControlFile(answers=tuple(answers)), [SCORE], {})
    assert (twenty.thresholds, list(twenty.cases), twenty.refuses) == ({}, ["0"], False)
    nineteen = judge_controls(ControlFile(answers=tuple(answers[:19])), [SCORE], {})
    assert nineteen.thresholds == {"overlap.f1": pytest.approx(1 / 19, abs=1e-6)}


def test_a_wrong_answer_that_a_metric_without_control_may_fail_contradicts_nothing() -> None:
    file = ControlFile(answers=(score("a", "refusal", match_passes=1.0),))
    assert judge_controls(file, [YES_NO], {}).cases == {"a": ("refusal",)}
    assert judge_controls(file, [YES_NO, SCORE], {}).cases == {}
