"""`evalstudio select`: what cases say about models, and a smaller suite."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio import TestSuite
from pytest_evalstudio.contrib.planning.selection import select
from support.command import Result, evalstudio
from support.pictures import png
from support.records import RecordBuilder, evaluator, perturbed, score

NAMES = ("small", "medium", "large", "largest")
VERDICTS = {
    "easy": "++++",
    "easy-again": "++++",
    "medium": "-+++",
    "moderate": "-+++",
    "demanding": "--++",
    "hard": "---+",
    "impossible": "----",
    "odd": "+---",
}
QUESTIONS = {"easy-again": "What is the fee of the gold card ?", "easy": "What is the fee of the gold card"}


def record(folder: Path, verdicts: dict[str, str] = VERDICTS, names: tuple[str, ...] = NAMES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    builder = RecordBuilder(evaluator("quality"), models=names)
    for key, states in verdicts.items():
        for name, state in zip(names, states, strict=True):
            row = {
                "outcomes": {"quality": score(float(state == "+"))},
                "input": QUESTIONS.get(key, f"The question {key}"),
                "corpus": [f"{key[:4]}.md"],
                "categories": ["fees"],
            }
            builder.add(key, name, row)
    builder.write(folder)
    return folder


def selected(folder: Path, *options: str) -> Result:
    return evalstudio("select", str(folder), *options, folder=folder)


def figures(folder: Path, *options: str) -> dict[str, dict[str, object]]:
    cases = json.loads(selected(folder, "--json", *options).stdout)["cases"]
    return {case["key"]: case for case in cases}


def test_cases_have_difficulty_and_discrimination(tmp_path: Path) -> None:
    cases = figures(record(tmp_path))

    assert [cases[key]["difficulty"] for key in VERDICTS] == [0.0, 0.0, 0.25, 0.25, 0.5, 0.75, 1.0, 0.75]
    assert [cases[key]["constant"] for key in VERDICTS] == ["passes", "passes", "", "", "", "", "fails", ""]
    values = np.asarray([[state == "+" for state in states] for states in VERDICTS.values()], dtype=float)
    for index, key in enumerate(VERDICTS):
        others = np.delete(values, index, axis=0).mean(axis=0)
        if np.ptp(values[index]):
            expected = stats.pearsonr(values[index], others).statistic
            assert cases[key]["discrimination"] == pytest.approx(expected)
        else:
            assert cases[key]["discrimination"] is None


def test_the_terminal_names_constant_redundant_and_odd_cases(tmp_path: Path) -> None:
    result = selected(record(tmp_path), "--budget", "3")

    assert result.returncode == 0
    assert "8 cases, 4 models, 4 model runs" in result.stdout
    assert "always passes: 2 cases: easy, easy-again" in result.stdout
    assert "always fails: 1 case: impossible" in result.stdout
    assert "redundant (words and verdicts of another case): 1 case: easy-again" in result.stdout
    assert "better models fail more often" not in result.stdout  # four models may be in this order by chance
    assert "selected: 3 cases with 4 of 8 documents and categories" in result.stdout
    assert "left out one at a time, 4 models: rank correlation" in result.stdout


def test_a_case_that_better_models_fail_is_named_beyond_chance(tmp_path: Path) -> None:
    names = tuple(f"model {number:02}" for number in range(16))
    verdicts = {f"step-{number}": "-" * number + "+" * (16 - number) for number in range(2, 15, 2)}
    # 15 ** 0.5 times the correlations: -3.4, -1.2 and -2.4; of one case of ten they take -2.58, of one alone
    # -1.64 (quantiles of the normal distribution).
    verdicts |= {"inverted": "+" * 8 + "-" * 8, "noise": "++-+-+--+-+--+-+", "unlucky": "+++-+++--+--+---"}

    result = selected(record(tmp_path, verdicts, names), "--budget", "3")

    cases = figures(tmp_path)
    assert cases["noise"]["discrimination"] < 0
    assert {key for key, case in cases.items() if case["favours_worse"]} == {"inverted"}
    assert "better models fail more often: 1 case: inverted" in result.stdout


def test_a_redundant_case_gives_way_to_another_of_its_difficulty() -> None:
    verdicts = np.asarray([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]])
    redundant = np.asarray([False, True, False])
    assert select(verdicts, [frozenset()] * 3, redundant, 2) == {0: 1, 2: 2}
    assert select(verdicts, [frozenset()] * 3, redundant, 9) == {0: 1, 1: 1, 2: 1}


def test_the_smaller_suite_leaves_out_the_redundant_case(tmp_path: Path) -> None:
    """Keep two of three passing cases where the second one repeats the first."""
    verdicts = {"easy": "+++", "easy-again": "+++", "easy-too": "+++"}
    cases = figures(record(tmp_path, verdicts, names=("one", "two", "three")), "--budget", "1")
    assert [key for key, case in cases.items() if case["weight"]] == ["easy"]


def test_cases_of_documents_that_are_not_covered_come_first() -> None:
    labels = [frozenset({name}) for name in "aaab"]
    selected_cases = select(np.asarray([[1.0], [1.0], [0.0], [0.0]]), labels, np.zeros(4, dtype=bool), 2)
    assert set(selected_cases) == {0, 3}


def test_the_middle_of_a_block_stands_for_it() -> None:
    verdicts = np.asarray([[1.0]] * 5 + [[0.0]] * 5)
    assert select(verdicts, [frozenset()] * 10, np.zeros(10, dtype=bool), 2) == {2: 5, 7: 5}


@pytest.mark.parametrize(
    ("question", "states", "is_redundant"),
    [
        ("What is the fee of the gold card ?", "++++", True),
        ("What is the fee of the gold card ?", "+++-", False),
        ("How long does a transfer to Spain take", "++++", False),
    ],
)
def test_a_case_is_redundant_with_the_words_and_the_verdicts_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, states: str, is_redundant: bool
) -> None:
    monkeypatch.setitem(QUESTIONS, "easy-again", question)
    folder = record(tmp_path, {**VERDICTS, "easy-again": states})
    assert bool(figures(folder)["easy-again"]["duplicate_of"]) is is_redundant


def test_a_check_has_a_correlation_where_pass_rates_differ(tmp_path: Path) -> None:
    checked = json.loads(selected(record(tmp_path / "a"), "--json", "--budget", "4").stdout)["check"]
    assert -1.0 <= checked["correlation"] <= 1.0
    verdicts = {f"k{number}": "+++" if number % 2 else "---" for number in range(8)}
    equal = record(tmp_path / "b", verdicts, names=("one", "two", "three"))
    assert json.loads(selected(equal, "--json", "--budget", "4").stdout)["check"]["correlation"] is None


def test_history_and_models_are_columns_and_perturbations_belong_to_their_case(tmp_path: Path) -> None:
    record(tmp_path / "history" / "a")
    builder = RecordBuilder(evaluator("quality"), models=("small",))
    outcome = {"outcomes": {"quality": score(0.0)}}
    builder.add("easy", "small", {**outcome, "outcomes": {"quality": score(1.0)}})
    builder.add("easy-p", "small", {**outcome, **perturbed("easy", "comma:HIGH")})
    (tmp_path / "b").mkdir()
    builder.write(tmp_path / "b")

    process = evalstudio("select", "history/a", "b", "--json", folder=tmp_path)

    result = json.loads(process.stdout)
    assert (result["models"], result["columns"]) == (4, 5)
    easy = next(case for case in result["cases"] if case["key"] == "easy")
    assert easy["difficulty"] == pytest.approx(0.1)  # passes four times, and half of the fifth


def test_two_models_are_not_validated(tmp_path: Path) -> None:
    result = selected(record(tmp_path, {"a": "+-", "b": "++"}, names=("one", "two")))
    assert "not validated: it takes 3 models that answered all cases" in result.stdout


def test_the_smaller_suite_has_the_selected_cases_and_their_perturbations(tmp_path: Path) -> None:
    record(tmp_path)
    suite = TestSuite(name="Bank")
    test = suite.add_test(documents=["fees.md"])
    for key in VERDICTS:
        test.add_case(f"The question {key}", key=key)
        link = {"type": "perturbation_source", "target": key}
        test.add_case(f"The question, {key}", key=f"{key}-p", relationships=[link])
    suite.save(tmp_path / "bank_suite.json")

    result = selected(tmp_path, "--budget", "2", "--suite", "bank_suite.json", "-o", "small_suite.json")

    keys = [case.key for _, case in TestSuite.load(tmp_path / "small_suite.json").cases()]
    keys_of_selection = [key for key, case in figures(tmp_path, "--budget", "2").items() if case["weight"]]
    assert result.returncode == 0
    assert "wrote small_suite.json: 4 cases" in result.stderr
    assert keys == [name for key in keys_of_selection for name in (key, f"{key}-p")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "0"], "--budget 0: expected a number of cases from 1"),
        (["-o", "small.json"], "--suite and --output belong together"),
    ],
)
def test_impossible_requests_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    result = selected(record(tmp_path), *options)
    assert result.returncode == 2
    assert message in result.stderr


def test_runs_without_cases_and_foreign_suites_are_refused(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"))
    builder.add("k", "one", verdict="not_run")
    builder.write(tmp_path)
    assert "the runs have 0 cases; expected 1 to 5,000" in selected(tmp_path).stderr

    record(tmp_path)
    suite = TestSuite(name="Other")
    suite.add_test(documents=[]).add_case("Another question", key="other")
    suite.save(tmp_path / "other_suite.json")
    result = selected(tmp_path, "--suite", "other_suite.json", "-o", "small.json")
    assert "has none of the selected cases; give the suite of the runs" in result.stderr


def test_a_case_that_was_never_run_counts_as_the_hardest() -> None:
    verdicts = np.asarray([[np.nan, np.nan], [1.0, 1.0], [0.5, 0.5], [0.0, 1.0]])
    assert list(select(verdicts, [frozenset()] * 4, np.zeros(4, dtype=bool), 4)) == [1, 2, 3, 0]


def test_blocks_of_unequal_size_differ_by_one_case() -> None:
    verdicts = np.linspace(1.0, 0.0, 11)[:, None]
    sizes = select(verdicts, [frozenset()] * 11, np.zeros(11, dtype=bool), 4)
    assert list(sizes.values()) == [2, 3, 3, 3]
    assert sum(sizes.values()) == 11


def test_cases_of_few_models_have_no_discrimination(tmp_path: Path) -> None:
    folder = record(tmp_path, {"a": "+-", "b": "-+"}, names=("one", "two"))
    assert [case["discrimination"] for case in figures(folder).values()] == [None, None]
    single_case = record(tmp_path / "alone", {"a": "+-+"}, names=("one", "two", "three"))
    assert figures(single_case)["a"]["discrimination"] is None


def test_six_keys_of_a_kind_are_shown_as_five(tmp_path: Path) -> None:
    verdicts = {f"k{number}": "+++" for number in range(6)} | {f"f{number}": "---" for number in range(5)}
    lines = selected(record(tmp_path, verdicts, names=("one", "two", "three"))).stdout.splitlines()
    assert "always passes: 6 cases: k0, k1, k2, k3, k4 …" in lines
    assert "always fails: 5 cases: f0, f1, f2, f3, f4" in lines


def test_a_near_duplicate_names_the_first_case_with_its_words(tmp_path: Path) -> None:
    cases = figures(record(tmp_path))
    assert [key for key, case in cases.items() if case["duplicate_of"]] == ["easy-again"]
    assert cases["easy-again"]["duplicate_of"] == "easy"


def test_the_check_leaves_out_one_model_after_the_other(tmp_path: Path) -> None:
    """One case of seven is selected by the five other models; figures by hand."""
    states = ("-+++++", "+-++++", "++-+++", "+++---", "---+--", "----+-", "-----+")
    verdicts = {f"case{number}": state for number, state in enumerate(states)}
    names = ("a", "b", "c", "d", "e", "f")
    result = selected(record(tmp_path, verdicts, names=names), "--budget", "1", "--json")
    check = json.loads(result.stdout)["check"]
    assert check["models"] == 6
    assert check["correlation"] == pytest.approx(-1)
    assert check["error"] == pytest.approx(4 / 7)


def test_images_that_the_folder_of_the_smaller_suite_lacks_are_named(tmp_path: Path) -> None:
    suite = TestSuite(name="S")
    test = suite.add_test(documents=[])
    for key in VERDICTS:
        test.add_case(f"The question {key}", key=key, images=[f"{key}.png"])
        (tmp_path / f"{key}.png").write_bytes(png())
    suite.save(tmp_path / "all_suite.json")
    folder = record(tmp_path / "runs")
    options = ("--suite", str(tmp_path / "all_suite.json"), "--budget", "1")
    same_folder = selected(folder, *options, "-o", str(tmp_path / "small.json"))
    other_folder = selected(folder, *options, "-o", str(folder / "small.json"))
    assert (same_folder.returncode, other_folder.returncode) == (0, 0), (
        same_folder.stderr + other_folder.stderr
    )
    assert "lacks" not in same_folder.stderr
    assert ".png, which its cases name; copy the files" in other_folder.stderr


@pytest.mark.filterwarnings("error")
def test_a_model_without_a_selected_case_has_no_estimate(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"), models=NAMES)
    for number in range(10):
        for name in NAMES:
            # The case in the middle is selected, and one model has no answer to it.
            if (number, name) != (4, "large"):
                passes = number < 4 + NAMES.index(name)
                builder.add(f"k{number}", name, {"outcomes": {"quality": score(float(passes))}})
    builder.write(tmp_path)
    result = selected(tmp_path, "--budget", "1")
    assert result.returncode == 0, result.stderr
    assert "RuntimeWarning" not in result.stderr
    assert "no estimate of large: no answer to a selected case; select more cases" in result.stdout
    assert "left out one at a time, 3 models: rank correlation" in result.stdout
    assert "nan" not in result.stdout
