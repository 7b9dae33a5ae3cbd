"""Measuring a judge: against people, against itself, and what it takes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from pytest_evalstudio.contrib.judge_bench.check import TokenPrices, check_judge
from pytest_evalstudio.contrib.judge_bench.check_lines import check_lines, is_by_chance
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.judge_checks import JudgeCheck
from pytest_evalstudio.stats.agreement import cohen_kappa
from pytest_evalstudio.stats.intervals import wilson_interval
from support.judging import reply_for

PROMPT = "Is {actual_output} borne out by {context}?"
LABELS = {"a": 1, "b": 1, "c": 1, "d": 0, "e": 0, "f": 0}
HARSH = {"a": "true", "b": "true", "c": "false", "d": "false", "e": "false", "f": "true"}
"""Against the labels: two good answers found and one missed, two bad ones found and one missed."""


def setting(tmp_path: Path, labels: Mapping[str, int] = LABELS) -> tuple[Path, dict[tuple[str, str], int]]:
    rows = [
        {
            "key": key,
            "input": "Q?",
            "expected_output": "E.",
            "actual_output": f"Answer {key}.",
            "context": [f"One {key}.", f"Two {key}."],
            "model_key": "m",
        }
        for key in labels
    ]
    lab = tmp_path / "answers_lab.json"
    lab.write_text(
        json.dumps(
            {"dataset": {"inputs": rows}, "models": [{"key": "m", "name": "m", "model_type": "h2ogpte"}]}
        ),
        encoding="utf-8",
    )
    return lab, {(key, "m"): label for key, label in labels.items()}


def check(
    tmp_path: Path,
    judge: Callable[..., Any],
    *,
    repeats: int = 0,
    cache: bool = False,
    prices: TokenPrices | None = None,
    evaluator: Mapping[str, Any] = {"type": "byop", "prompt": PROMPT},
    **table: Any,
) -> dict[str, Any]:
    lab, labels = setting(tmp_path)
    config = configuration(
        {
            "judge": {"host": "python", "target": judge, "cache": cache, **table},
            "evaluator": {"support": dict(evaluator)},
        },
        folder=tmp_path,
    )
    return check_judge(
        lab, labels, "support", config=config, repeats=repeats, cache=tmp_path / "cache", prices=prices
    ).model_dump()


def lines(result: Mapping[str, Any]) -> list[str]:
    return list(check_lines(JudgeCheck.model_validate(result)))


def of(prompt: str) -> str:
    """The key of the case that a prompt is about."""
    return next(key for key in LABELS if f"Answer {key}." in prompt)


def harsh(prompt: str) -> str:
    return HARSH[of(prompt)]


def test_agreement_with_people_by_hand(tmp_path: Path) -> None:
    result = check(tmp_path, harsh)
    assert (result["answers"], result["verdicts"]) == (6, 6)
    assert result["agreement"] == pytest.approx(4 / 6)
    assert result["kappa"] == pytest.approx((4 / 6 - 0.5) / 0.5)
    thirds = pytest.approx(wilson_interval(2, 3))
    for kind in ("good", "bad"):
        assert result[kind] == {
            "precision": pytest.approx(2 / 3),
            "precision_interval": thirds,
            "recall": pytest.approx(2 / 3),
            "recall_interval": thirds,
        }
    assert result["agreement_interval"] == pytest.approx(wilson_interval(4, 6))
    assert [(each["good"], each["good_passed"]) for each in result["questions"]].count((1, 1)) == 2
    assert [(each["bad"], each["bad_passed"]) for each in result["questions"]].count((1, 1)) == 1


def test_a_steady_judge_flips_nowhere(tmp_path: Path) -> None:
    result = check(tmp_path, harsh, repeats=2)
    assert [(flips["compared"], flips["flipped"]) for flips in result["flips"].values()] == [(6, 0)] * 3 + [
        (0, 0)
    ]


def test_a_judge_that_changes_its_mind_is_found_out(tmp_path: Path) -> None:
    counts: dict[str, int] = {}

    def moody(prompt: str) -> str:
        key = of(prompt)
        counts[prompt] = counts.get(prompt, 0) + 1
        return "false" if key == "a" and counts[prompt] == 3 else HARSH[key]

    result = check(tmp_path, moody, repeats=3, cache=True)
    assert (result["flips"]["repeats"]["flipped"], result["flips"]["repeats"]["rate"]) == (
        1,
        pytest.approx(1 / 6),
    )
    assert result["agreement"] == pytest.approx(4 / 6), "the first round is compared with the labels"


def test_repeats_pass_by_what_is_stored(tmp_path: Path) -> None:
    prompts: list[str] = []

    def counting(prompt: str) -> str:
        prompts.append(prompt)
        return harsh(prompt)

    check(tmp_path, counting, cache=True)
    first = len(prompts)
    check(tmp_path, counting, cache=True)
    assert (first, len(prompts)) == (18, 18), (
        "as it is, chunks reversed, choices reversed; then all from what is stored"
    )
    check(tmp_path, counting, cache=True, repeats=2)
    assert len(prompts) == 18 + 2 * 6


def test_a_judge_that_minds_the_order_of_chunks_is_found_out(tmp_path: Path) -> None:
    def first_chunk(prompt: str) -> str:
        return "true" if prompt.index("One ") < prompt.index("Two ") else "false"

    flips = check(tmp_path, first_chunk)["flips"]
    assert (flips["chunk_order"]["flipped"], flips["option_order"]["flipped"]) == (6, 0)


def test_a_judge_that_takes_the_first_choice_is_found_out(tmp_path: Path) -> None:
    def first_choice(prompt: str) -> str:
        return "true" if prompt.rindex('"true"') < prompt.rindex('"false"') else "false"

    flips = check(tmp_path, first_choice)["flips"]
    assert (flips["chunk_order"]["flipped"], flips["option_order"]["flipped"]) == (0, 6)


def test_replies_that_cannot_be_read_are_counted_and_are_no_verdicts(tmp_path: Path) -> None:
    result = check(tmp_path, lambda prompt: "hm" if of(prompt) == "c" else harsh(prompt))
    assert (result["verdicts"], result["parse_failures"], result["parse_failure_rate"]) == (
        5,
        1,
        pytest.approx(1 / 6),
    )
    assert result["repair_rate"] == pytest.approx(1 / 6)
    assert result["agreement"] == pytest.approx(4 / 5)
    assert "could not be read" in result["faults"][0]


def test_the_price_of_a_verdict(tmp_path: Path) -> None:
    def priced(prompt: str) -> dict[str, Any]:
        return {
            "answer": harsh(prompt),
            "cost_usd": 0.002,
            "usage": {"input_tokens": 300, "output_tokens": 4},
        }

    result = check(tmp_path, priced)
    assert result["cost_usd_per_verdict"] == pytest.approx(0.002)
    assert (
        result["calls_per_verdict"],
        result["input_tokens_per_verdict"],
        result["output_tokens_per_verdict"],
    ) == (1.0, 300.0, 4.0)
    assert check(tmp_path, harsh)["cost_usd_per_verdict"] is None


def test_the_price_of_a_verdict_by_the_prices_of_tokens(tmp_path: Path) -> None:
    def counted(prompt: str) -> dict[str, Any]:
        word = "hm" if of(prompt) == "c" else harsh(prompt)
        return {"answer": word, "usage": {"input_tokens": 1000, "output_tokens": 100}}

    prices = TokenPrices(input_usd_per_million=1.0, output_usd_per_million=10.0)
    result = check(tmp_path, counted, prices=prices)
    assert result["verdicts"] == 5
    assert result["cost_usd_per_verdict"] == pytest.approx(7 * 0.002 / 5), "six questions and a repair"


@pytest.mark.parametrize(
    "evaluator",
    [
        pytest.param(
            {"type": "byop", "prompt": "Is {actual_output} polite?"}, id="a judge that sees no chunks"
        ),
        pytest.param({"type": "chunk_relevance_judge"}, id="each chunk by itself"),
        pytest.param({"type": "context_precision"}, id="a metric that depends on the order"),
    ],
)
def test_there_are_no_flips_of_chunks_where_their_order_says_nothing(
    tmp_path: Path, evaluator: dict[str, Any]
) -> None:
    def judge(prompt: str, reply_schema: Mapping[str, Any]) -> str:
        return json.dumps(reply_for(reply_schema, good="One " in prompt))

    result = check(tmp_path, judge, evaluator=evaluator)
    assert result["verdicts"] == 6
    assert result["flips"]["chunk_order"]["compared"] == 0
    assert "flips: chunks in other order   nothing to compare" in lines(result)


def test_one_budget_serves_all_rounds(tmp_path: Path) -> None:
    prompts: list[str] = []

    def counting(prompt: str) -> str:
        prompts.append(prompt)
        return harsh(prompt)

    check(tmp_path, counting, max_calls=8)
    assert len(prompts) == 8


def test_what_was_found_reads_well(tmp_path: Path) -> None:
    text = "\n".join(lines(check(tmp_path, harsh, repeats=1)))
    assert "agreement with people   0.6667" in text
    assert "Cohen's kappa           0.3333" in text
    assert "0 of 6" in text


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_kappa_is_scikit_learns(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [rating for rating, _ in pairs], [other for _, other in pairs]
    result = cohen_kappa(first, second)
    if result is None:
        assert len({*first, *second}) == 1
    else:
        assert result == pytest.approx(cohen_kappa_score(first, second, labels=[False, True]))


def test_labels_of_other_answers_are_an_error(tmp_path: Path) -> None:
    lab, _ = setting(tmp_path)
    with pytest.raises(
        DataError, match=r"no label belongs to one of its answers; the file has e\.g\. key 'a', model_key 'm'"
    ):
        check_judge(
            lab,
            {("z", "m"): 1},
            "sexism",
            config=configuration({"judge": {"host": "python", "target": harsh}}),
        )


def test_an_evaluator_without_a_judge_is_an_error(tmp_path: Path) -> None:
    lab, labels = setting(tmp_path)
    with pytest.raises(ConfigurationError, match="'rouge' does not ask a judge"):
        check_judge(
            lab, labels, "rouge", config=configuration({"judge": {"host": "python", "target": harsh}})
        )


def test_no_judge_is_an_error_that_says_how_to_get_one(tmp_path: Path) -> None:
    lab, labels = setting(tmp_path)
    with pytest.raises(ConfigurationError, match="none is configured"):
        check_judge(lab, labels, "sexism", config=configuration({}))


def by_label(prompt: str) -> str:
    return "true" if LABELS[of(prompt)] else "false"


def inverted(prompt: str) -> str:
    return "false" if LABELS[of(prompt)] else "true"


@pytest.mark.parametrize(
    ("judge", "is_chance"),
    [(by_label, False), (inverted, True), (lambda prompt: "true", True), (lambda prompt: "false", True)],
    ids=["perfect", "inverted", "always yes", "always no"],
)
def test_a_judge_that_is_no_better_than_chance_is_named(
    tmp_path: Path, judge: Callable[[str], str], is_chance: bool
) -> None:
    result = check(tmp_path, judge)
    text = "\n".join(lines(result))
    assert is_by_chance(JudgeCheck.model_validate(result)) is is_chance
    assert ("no better than chance" in text) is is_chance


def test_kappa_has_an_interval_by_question(tmp_path: Path) -> None:
    result = check(tmp_path, harsh)
    low, high = result["kappa_interval"]
    assert -1 <= low < result["kappa"] < high <= 1
    assert low < 0  # six answers leave chance open
