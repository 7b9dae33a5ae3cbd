"""`evalstudio plan`: the size of a suite from a pilot run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command import Result, evalstudio
from support.records import RecordBuilder, evaluator, metric, perturbed, score


def pilot(folder: Path, *repeats: str, **entry: object) -> Path:
    """A run of cases whose answers pass (+) or fail (-), e.g. `"++-"` for three repeats."""
    builder = RecordBuilder(evaluator("quality", **entry))
    for number, states in enumerate(repeats):
        add(builder, f"k{number}", states)
    builder.write(folder)
    return folder


def add(builder: RecordBuilder, key: str, states: str, model: str = "one", **row: object) -> None:
    passes = [state == "+" for state in states]
    rows = [
        {"outcomes": {"quality": score(float(passed))}, "cost": 0.5, "actual_duration": 2.0, **row}
        for passed in passes
    ]
    verdict = {
        "status": "score",
        "passed": sum(passes) * 2 >= len(passes),
        "scores": {"score": sum(passes) / len(passes)},
        "missed": [],
        "repeats": passes if len(passes) > 1 else [],
    }
    builder.add(key, model, *rows, verdicts={"quality": verdict})


def plan(folder: Path, *options: str) -> Result:
    return evalstudio("plan", str(folder), *options, folder=folder)


def test_answers_that_never_vary_take_more_cases_and_no_repeats(tmp_path: Path) -> None:
    pilot(tmp_path, *["+++"] * 32, *["---"] * 8)

    result = plan(tmp_path, "--drop", "0.1")

    lines = result.stdout.splitlines()
    assert result.returncode == 0
    assert lines[0] == "pass rate of one: 0.8 over 40 cases, 3 answers each"
    assert lines[1].startswith("variance of one answer: cases 0.16")
    assert lines[1].endswith("repeats 0 (0 %)")
    assert "more cases with 3 answers each; more repeats cannot replace them" in lines[-1]
    # 5 falls of 66 cases are 80 % likely at 10 % each: 26 more.
    (size,) = json.loads(plan(tmp_path, "--drop", "0.1", "--json").stdout)[0]["sizes"]
    assert size["cases"] == pytest.approx(66, abs=2)
    assert (size["repeats"], size["cost_usd"]) == (1, size["cases"] * 0.5)
    assert size["duration_s"] == size["cases"] * 2.0


def test_answers_that_vary_take_more_cases_or_more_repeats(tmp_path: Path) -> None:
    pilot(tmp_path, *["++-", "+-+", "+++", "-++"] * 20)

    process = plan(tmp_path, "--drop", "0.12")

    result = json.loads(plan(tmp_path, "--drop", "0.12", "--json").stdout)[0]
    assert result["current_power"] < 0.8 < result["noiseless_power"]
    assert result["repeated"]["cases"] == 80
    assert result["repeated"]["repeats"] > 3
    assert f"or 80 cases with {result['repeated']['repeats']} answers each" in process.stdout
    cases = [size["cases"] for size in result["sizes"]]
    assert cases == sorted(cases, reverse=True)


def test_a_pilot_without_repeats_gives_bounds(tmp_path: Path) -> None:
    pilot(tmp_path, *["+"] * 30, *["-"] * 10)

    process = plan(tmp_path, "--drop", "0.1")

    assert "variance: not split, since the pilot has one answer per question" in process.stdout
    assert "if they vary as much as they can; a pilot with runs = 3 shows which" in process.stdout
    result = json.loads(plan(tmp_path, "--drop", "0.1", "--json").stdout)[0]
    assert result["varying_cases"] > 2 * result["sizes"][0]["cases"]


def test_answers_that_vary_take_no_fewer_cases_than_constant_ones(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"), evaluator("other"), models=("one", "two"))
    for number in range(80):
        outcome = {"quality": score(0.6667 if number == 4 else 1.0)}
        for model in ("one", "two"):
            builder.add(f"k{number}", model, {"outcomes": outcome})
    builder.write(tmp_path)

    options = ("--drop", "0.1", "--metric", "quality", "--model", "one")
    result = json.loads(plan(tmp_path, *options, "--json").stdout)[0]

    assert result["current_power"] < 0.8
    assert result["varying_cases"] >= result["sizes"][0]["cases"] > 80
    assert "needed: 9 more cases if answers do not vary, 9 more cases if they vary" in (
        plan(tmp_path, *options).stdout
    )


def test_perturbations_belong_to_their_case(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"))
    for number in range(40):
        states = "++" if number % 5 else "--"
        add(builder, f"k{number}", states)
        add(builder, f"p{number}", states, **perturbed(f"k{number}", "comma:HIGH"))
    builder.write(tmp_path)

    result = json.loads(plan(tmp_path, "--drop", "0.1", "--json").stdout)[0]

    assert (result["cases"], result["items"]) == (40, 80)
    (size,) = result["sizes"]
    assert size["cases"] == pytest.approx(66, abs=2)
    assert size["answers"] == 2 * size["cases"]


def test_a_metric_where_lower_is_better_gets_worse_upwards(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality", metric("error", better="lower", range=[0.0, 1.0])))
    for number in range(30):
        outcome = {"quality": score(0.1 + 0.2 * (number % 2), "error")}
        builder.add(f"k{number}", "one", {"outcomes": outcome}, {"outcomes": outcome})
    builder.write(tmp_path)

    result = plan(tmp_path, "--drop", "0.1", "--metric", "quality.error")

    assert "quality.error of one: 0.2 over 30 cases, 2 answers each" in result.stdout
    assert "--drop 0.9: the quality.error of one is 0.2, so it can get worse by at most 0.8" in (
        plan(tmp_path, "--drop", "0.9", "--metric", "error").stderr
    )


def test_the_level_is_divided_as_a_comparison_does(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"), evaluator("other"), models=("one", "two"))
    for name in ("one", "two"):
        for number in range(10):
            add(builder, f"k{number}", "+", name)
    builder.write(tmp_path)

    result = json.loads(
        plan(tmp_path, "--drop", "0.3", "--metric", "quality", "--model", "two", "--json").stdout
    )

    assert [(each["model"], each["tests"], each["level"]) for each in result] == [("two", 4, 0.0125)]
    assert len(json.loads(plan(tmp_path, "--drop", "0.3", "--json").stdout)) == 2


def test_the_part_of_a_judge_is_not_known(tmp_path: Path) -> None:
    pilot(tmp_path, *["++-"] * 10, judge={"models": ["x"]})
    assert "the judge's part is not known" in plan(tmp_path, "--drop", "0.3").stdout


def test_an_even_drop_takes_fewer_cases_of_a_metric(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"))
    for number in range(40):
        rows = [{"outcomes": {"quality": score(0.7 + 0.1 * (number % 3) + noise)}} for noise in (0.0, 0.05)]
        builder.add(f"k{number}", "one", *rows)
    builder.write(tmp_path)
    options = ("--drop", "0.1", "--metric", "score", "--json")

    def cases(*more: str) -> int:
        return int(json.loads(plan(tmp_path, *options, *more).stdout)[0]["sizes"][0]["cases"])

    assert cases("--even") < cases() / 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--drop", "0"], "--drop 0: expected a number above 0"),
        (["--drop=-0.1"], "--drop -0.1: expected a number above 0"),
        (["--drop", "nan"], "--drop nan: expected a number above 0"),
        (["--drop", "0.1", "--power", "1"], "--power 1: expected a number between 0 and 1"),
        (["--drop", "0.1", "--alpha", "0"], "--alpha 0: expected a number between 0 and 1"),
        (["--drop", "0.1", "--model", "on"], "no model named 'on'"),
        (["--drop", "0.1", "--metric", "scor"], "no metric named 'scor'"),
        (["--drop", "0.9"], "so it can get worse by at most 0.5"),
    ],
)
def test_impossible_requests_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    pilot(tmp_path, "+", "-")
    result = plan(tmp_path, *options)
    assert result.returncode == 2
    assert message in result.stderr


def test_a_run_in_which_nothing_was_scored_is_refused(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"))
    builder.add("k", "one", verdict="not_run")
    builder.write(tmp_path)
    assert "pass rate: the run has no scores; give another run" in plan(tmp_path, "--drop", "0.1").stderr


def test_only_a_pilot_without_repeats_has_a_bound_for_answers_that_vary(tmp_path: Path) -> None:
    pilot(tmp_path, *["++"] * 8, *["--"] * 2)
    result = json.loads(plan(tmp_path, "--drop", "0.1", "--json").stdout)[0]
    assert result["varying_cases"] is None


def test_a_pilot_that_sees_the_drop_is_enough(tmp_path: Path) -> None:
    pilot(tmp_path, *["+"] * 100)
    result = plan(tmp_path, "--drop", "0.2")
    lines = result.stdout.splitlines()
    assert lines[0] == "pass rate of one: 1 over 100 cases, 1 answer each"
    assert lines[2] == (
        "a drop of 0.2 (some cases break) is seen with 80 % power by a paired test at 0.05; each of the two"
        " runs has"
    )
    # 5 falls of 33 cases are 80 % likely at 20 % each; an answer costs 0.5 USD and takes 2 s.
    assert lines[3] == "  33 cases with 1 answer each: 16.5 USD, 66 s of answering"
    assert lines[-1] == "enough: the pilot's cases and repeats see the drop"


def test_perturbations_are_counted_apart_from_cases(tmp_path: Path) -> None:
    builder = RecordBuilder(evaluator("quality"))
    for number in range(10):
        add(builder, f"k{number}", "++")
        add(builder, f"p{number}", "++", **perturbed(f"k{number}", "comma:HIGH"))
    builder.write(tmp_path)
    result = plan(tmp_path, "--drop", "0.2", "--even")
    assert "pass rate of one: 1 over 10 cases (20 items with perturbations), 2 answers each" in result.stdout
    assert "(every case loses the same share)" in result.stdout


def test_the_variance_is_split_into_shares(tmp_path: Path) -> None:
    """Each case passes once in two repeats: the variance is that of the repeats alone, 0.5."""
    pilot(tmp_path, *["+-"] * 30)
    result = plan(tmp_path, "--drop", "0.2")
    assert "variance of one answer: cases 0 (0 %), repeats 0.5 (100 %)" in result.stdout


def test_a_pilot_without_any_variance_has_shares_of_zero(tmp_path: Path) -> None:
    pilot(tmp_path, *["++"] * 30)
    result = plan(tmp_path, "--drop", "0.2")
    assert "variance of one answer: cases 0 (0 %), repeats 0 (0 %)" in result.stdout


def test_a_pilot_with_exactly_the_wanted_power_needs_no_more_repeats(tmp_path: Path) -> None:
    pilot(tmp_path, *["+-"] * 15, *["++"] * 15)
    [before] = json.loads(plan(tmp_path, "--drop", "0.2", "--json").stdout)
    power = before["current_power"]
    assert 0 < power < 1
    [exact] = json.loads(plan(tmp_path, "--drop", "0.2", "--power", repr(power), "--json").stdout)
    [above] = json.loads(plan(tmp_path, "--drop", "0.2", "--power", repr(power + 0.01), "--json").stdout)
    assert (exact["current_power"], exact["repeated"]) == (power, None)
    assert above["repeated"]["repeats"] > 2
