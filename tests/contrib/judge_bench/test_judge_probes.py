"""Probes of judges with known faults: each is seen and named, and a perfect judge has none."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_evalstudio.contrib.judge_bench.bench import is_english, pad
from pytest_evalstudio.contrib.judge_bench.causes import causes
from pytest_evalstudio.contrib.judge_bench.check import check_judge
from pytest_evalstudio.contrib.judge_bench.check_lines import check_lines
from pytest_evalstudio.contrib.judge_bench.probes import PROBES, JudgeProbe
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.judge_checks import CauseCode, JudgeCheck
from pytest_evalstudio.judges.parsing import read_reply

pytestmark = pytest.mark.slow

CASES = 150
Judge = Callable[[int, str, Mapping[str, Any]], str]
"""Number of the case, prompt and schema to the option that is chosen."""


def is_good(number: int) -> bool:
    return number % 2 == 0


def right(number: int) -> str:
    return "yes" if is_good(number) else "no"


def check_of(folder: Path, judge: Judge, *, models: int = 1, repeats: int = 1, **table: Any) -> JudgeCheck:
    """The check of a judge of correctness on 150 answers, half of them good."""
    rows = [
        {
            "key": f"case-{number}",
            "input": f"What is in box number {number}?",
            "expected_output": f"There is the ball {number} in it.",
            "actual_output": f"In the box there is the {'ball' if is_good(number) else 'cube'} {number}. ",
            "model_key": f"m{model}",
        }
        for model in range(models)
        for number in range(CASES // models)
    ]
    keys = [{"key": f"m{model}", "name": f"m{model}", "model_type": "h2ogpte"} for model in range(models)]
    lab = folder / "answers_lab.json"
    lab.write_text(json.dumps({"dataset": {"inputs": rows}, "models": keys}), encoding="utf-8")
    labels = {(str(row["key"]), str(row["model_key"])): int("ball" in row["actual_output"]) for row in rows}

    def target(prompt: str, reply_schema: Mapping[str, Any]) -> str:
        number = int(prompt.rpartition("box number ")[2].partition("?")[0])
        rating = judge(number, prompt, reply_schema)
        return json.dumps({"rationale": "so", "rating": rating})

    config = configuration(
        {"judge": {"host": "python", "target": target, "cache": False, **table}}, folder=folder
    )
    return check_judge(lab, labels, "correctness_judge", config=config, repeats=repeats)


def codes(check: JudgeCheck) -> list[CauseCode]:
    return [cause.code for cause in check.causes]


def first_option(schema: Mapping[str, Any]) -> str:
    return str(schema["properties"]["rating"]["enum"][0])


def test_a_perfect_judge_has_no_weak_point(tmp_path: Path) -> None:
    check = check_of(tmp_path, lambda number, prompt, schema: right(number))
    assert (check.agreement, check.kappa) == (1.0, 1.0)
    assert {name: (flips.compared, flips.flipped) for name, flips in check.flips.items()} == {
        "repeats": (CASES, 0),
        "chunk_order": (0, 0),
        "option_order": (CASES, 0),
        "padding": (CASES, 0),
    }
    assert check.causes == []
    assert not any("weak" in line or "agreement is low" in line for line in check_lines(check))


def test_a_judge_that_picks_the_first_option_of_the_schema_in_a_fifth_of_the_cases_is_seen(
    tmp_path: Path,
) -> None:
    check = check_of(
        tmp_path,
        lambda number, prompt, schema: first_option(schema) if number % 5 == 0 else right(number),
    )
    flips = check.flips["option_order"]
    assert (flips.compared, flips.flipped, flips.to_pass, flips.to_fail) == (CASES, 30, 0, 30)
    assert check.agreement == pytest.approx(1 - 15 / CASES)
    assert codes(check) == [CauseCode.OPTION_ORDER]
    [cause] = check.causes
    assert (cause.explained, cause.disagreements) == (15, 15)
    text = "\n".join(check_lines(check))
    assert "flips: options in other order  30 of 150 (20 %" in text
    assert "weak points:\n  option_order: 30 of 150 verdicts flip" in text
    assert "30 of them to the option that is named first" in text


@pytest.mark.parametrize(
    "choose",
    [
        pytest.param(lambda prompt, schema: first_option(schema), id="the schema"),
        pytest.param(
            lambda prompt, schema: "yes" if prompt.index("- yes:") < prompt.index("- no:") else "no",
            id="the criteria",
        ),
        pytest.param(
            lambda prompt, schema: "yes" if prompt.rindex('"yes" or') > 0 else "no",
            id="the form of the reply",
        ),
    ],
)
def test_each_place_that_names_the_options_is_reversed(
    tmp_path: Path, choose: Callable[[str, Mapping[str, Any]], str]
) -> None:
    def judge(number: int, prompt: str, schema: Mapping[str, Any]) -> str:
        try:
            return choose(prompt, schema)
        except ValueError:
            return "no"

    check = check_of(tmp_path, judge)
    assert check.flips["option_order"].flipped == CASES
    assert codes(check)[0] == CauseCode.OPTION_ORDER
    assert any("agreement is low; causes:" in line for line in check_lines(check))


def test_a_judge_that_follows_the_last_example_is_seen(tmp_path: Path) -> None:
    examples = [
        {"texts": {"question": "Q?", "answer": "A."}, "verdict": verdict} for verdict in ("yes", "no")
    ]
    (tmp_path / "examples.json").write_text(
        json.dumps({"evaluator": "correctness_judge", "prompt": "correctness_judge", "examples": examples})
    )

    def judge(number: int, prompt: str, schema: Mapping[str, Any]) -> str:
        before = prompt.partition("The material of this task")[0]
        return before.rpartition('"rating": "')[2].partition('"')[0]

    check = check_of(tmp_path, judge, examples="examples.json")
    assert check.flips["option_order"].flipped == CASES


def test_a_judge_that_prefers_long_answers_is_named(tmp_path: Path) -> None:
    def judge(number: int, prompt: str, schema: Mapping[str, Any]) -> str:
        is_long = "have a pleasant day" in prompt
        return "yes" if is_long and number % 3 else right(number)

    check = check_of(tmp_path, judge)
    flips = check.flips["padding"]
    assert (flips.compared, flips.to_fail) == (CASES, 0)
    assert flips.flipped == flips.to_pass == 50
    assert codes(check) == [CauseCode.PADDING]
    assert "50 of them to pass" in check.causes[0].text


def test_a_noisy_judge_is_noisy_and_nothing_else(tmp_path: Path) -> None:
    calls: dict[str, int] = {}

    def judge(number: int, prompt: str, schema: Mapping[str, Any]) -> str:
        calls[prompt] = calls.get(prompt, 0) + 1
        byte = hashlib.sha256(f"{prompt}{calls[prompt]}".encode()).digest()[0]
        return right(number) if byte < 166 else right(number + 1)

    check = check_of(tmp_path, judge)
    assert codes(check) == [CauseCode.NOISE]
    assert check.flips["option_order"].flipped > 40
    assert "agreement is low; causes:" in "\n".join(check_lines(check))


def test_a_judge_that_passes_everything_is_lenient(tmp_path: Path) -> None:
    check = check_of(tmp_path, lambda number, prompt, schema: "yes")
    assert (check.agreement, check.kappa) == (0.5, 0.0)
    assert codes(check) == [CauseCode.LENIENT]
    assert check_of(tmp_path, lambda number, prompt, schema: "no").causes[0].code == CauseCode.STRICT


def test_a_steady_judge_of_another_opinion_is_named_so(tmp_path: Path) -> None:
    check = check_of(
        tmp_path, lambda number, prompt, schema: right(number + 1) if number % 3 == 0 else right(number)
    )
    assert check.kappa is not None
    assert check.kappa < 0.6
    assert codes(check) == [CauseCode.CRITERIA]


def test_a_judge_without_verdicts_is_named(tmp_path: Path) -> None:
    def judge(number: int, prompt: str, schema: Mapping[str, Any]) -> str:
        return "perhaps" if number % 3 == 0 else "yes"

    check = check_of(tmp_path, judge, repeats=0)
    assert check.verdicts == 100
    assert codes(check)[0] == CauseCode.NO_VERDICT


def test_answers_to_one_question_do_not_narrow_the_intervals(tmp_path: Path) -> None:
    """Five models gave the same answers, so that there are thirty questions and not 150 answers."""
    single, fivefold = (
        check_of(
            tmp_path,
            lambda number, prompt, schema: right(number + 1) if number % 4 == 0 else right(number),
            models=models,
            repeats=0,
        )
        for models in (1, 5)
    )
    assert len(single.questions) == CASES
    assert len(fivefold.questions) == 30
    for check, width in ((single, 0.16), (fivefold, 0.3)):
        assert check.agreement_interval is not None
        assert check.agreement_interval[1] - check.agreement_interval[0] == pytest.approx(width, abs=0.05)
        assert check.good.recall_interval is not None
        assert check.bad.precision_interval is not None


def test_padding_says_nothing_and_is_english() -> None:
    assert is_english(pad("It is five euros."))
    assert not is_english("Das Konto kostet fünf Euro im Monat und ist für Schüler frei.")
    assert not is_english("42")
    assert pad("It is five euros.").count("It is five euros.") == 1


def test_the_reader_takes_options_in_either_order() -> None:
    schema = {"type": "object", "properties": {"rating": {"enum": ["no", "yes"]}}, "required": ["rating"]}
    assert read_reply('{"rating": true}', schema) == {"rating": "yes"}


@pytest.mark.slow
def test_a_noisy_judge_is_rarely_called_something_else() -> None:
    rng = np.random.default_rng(2)
    labels = {(f"k{number}", "m"): number % 2 for number in range(100)}
    alarms = 0
    for _ in range(300):
        rounds = [
            {identity: bool(label) != (rng.random() < 0.1) for identity, label in labels.items()}
            for _ in range(5)
        ]
        first = rounds[0]
        probes = {
            name: JudgeProbe(first=first, rounds=[other])
            for name, other in zip(PROBES, rounds[1:], strict=True)
        }
        results = [
            cause.code
            for cause in causes(first, labels, probes, len(labels), is_agreement_low=False)
            if cause.code != CauseCode.NOISE
        ]
        alarms += bool(results)
    assert alarms / 300 <= 0.05
