"""How often variations of a question turn its verdict: by perturbator, topic and kind of question, held
against unchanged copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytest_evalstudio.core.outcomes import Severity
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.paired import matched_failures, wilcoxon_drop

HIGH_SHARE, MEDIUM_SHARE = 0.3, 0.1
"""Pass-to-fail flips among the cases from which on a problem is severe, and one of medium severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """A varied question beside its original: what the same evaluators said of the answers to both.

    Attributes:
        perturbator: "comma:MEDIUM"; chained ones are joined by "+".
        is_copy: whether the question was asked again as it was.
        failed_before, failed: whether an evaluator failed the answer to the original, and to the variation.
        scores: `evaluator.metric` to the score of the original and of the variation.
        flips: `evaluator.metric` to "pass_to_fail" or "fail_to_pass".
        compared: metrics that can flip and that have both scores.
    """

    key: str
    original: str
    perturbator: str
    meaning_kept: bool
    is_copy: bool
    categories: tuple[str, ...]
    failed_before: bool
    failed: bool
    scores: Mapping[str, tuple[float, float]]
    flips: Mapping[str, str]
    compared: tuple[str, ...]

    @property
    def direction(self) -> str:
        return "" if self.failed == self.failed_before else "pass_to_fail" if self.failed else "fail_to_pass"


def find_flips(found: Sequence[Variation], metrics: Mapping[str, str], *, alpha: float) -> dict[str, Any]:
    """Count flips, and test which perturbators do more than a question asked again does.

    A case flips where the answer to the original passes all its evaluators and that to the variation does
    not, or the other way round. Two families of one-sided tests, each corrected by Holm and held against
    alpha / 2, so that where no perturbator matters the chance of any false finding is at most alpha: that an
    answer to the variation fails no more often than those to the original and to its copies (exact, within
    cases); and that scores are no lower than the original's (signed ranks). Perturbators that change the
    meaning are counted apart and not tested: there another answer may be the right one.

    Args:
        metrics: those whose drop is tested, to "higher" or "lower", whichever is better.

    Returns:
        JSON-ready figures.
    """
    copies = [one for one in found if one.is_copy]
    kept = [one for one in found if one.meaning_kept and not one.is_copy]
    changed = [one for one in found if not one.meaning_kept]
    controls = _controls(copies)
    by_name = _grouped(kept, _perturbator)
    rows = [_row(name, mine) | {"drops": _drops(mine, metrics)} for name, mine in by_name.items()]
    for row in rows:
        own = [
            (one.failed, [one.failed_before, *controls.get(one.original, [])]) for one in by_name[row["name"]]
        ]
        row["p_value"] = matched_failures(own)
    for row, adjusted in zip(rows, holm([row["p_value"] for row in rows]), strict=True):
        row |= {"p_adjusted": adjusted, "beyond_chance": adjusted <= alpha / 2}
    drops = [drop for row in rows for drop in row["drops"]]
    for drop, adjusted in zip(drops, holm([drop["p_value"] for drop in drops]), strict=True):
        drop |= {"p_adjusted": adjusted, "lower": adjusted <= alpha / 2}
    return {
        "alpha": alpha,
        "tests": (
            "exact test of failures within cases, against the original and its copies; Wilcoxon signed-rank"
            " test of scores; one-sided, Holm"
        ),
        "by_perturbator": rows,
        "copies": _row("copy", copies) if copies else None,
        "meaning_changed": [_row(name, mine) for name, mine in _grouped(changed, _perturbator).items()],
        "by_topic": _by_category(kept, "topic:"),
        "by_kind": _by_category(kept, "generator:"),
        "flips": [_told(one) for one in found if one.direction or one.flips],
    }


def problems(found: Mapping[str, Any], step: str, model: str) -> list[Problem]:
    """A problem for each perturbator that does more than chance: it makes answers fail, or lowers their
    scores.
    """
    return [_problem(row, found, step, model) for row in found["by_perturbator"] if is_beyond(row)]


def is_beyond(row: Mapping[str, Any]) -> bool:
    """Report whether a perturbator turns more verdicts than chance."""
    return bool(row["beyond_chance"]) or any(drop["lower"] for drop in row["drops"])


def _problem(row: Mapping[str, Any], found: Mapping[str, Any], step: str, model: str) -> Problem:
    cases, turned = row["cases"], row["pass_to_fail"]
    low, high = row["pass_to_fail_interval"]
    said = []
    if row["beyond_chance"]:
        again = found["copies"]
        noise = (
            f", against {again['pass_to_fail']} of {again['cases']} when asked again unchanged"
            if again
            else ""
        )
        said.append(
            f"turns {turned} of {cases} cases from pass to fail ({turned / cases:.0%}, 95 % interval"
            f" {low:.0%} to {high:.0%}; adjusted p {row['p_adjusted']:.2g}){noise}"
        )
    lower = [drop for drop in row["drops"] if drop["lower"]]
    said += [
        f"worsens {drop['metric']} by {drop['mean']:.3g} on average of {drop['cases']} cases (adjusted p"
        f" {drop['p_adjusted']:.2g})"
        for drop in lower
    ]
    return Problem(
        description=f"Perturbator {row['name']} {' and '.join(said)}.",
        severity=_severity(turned / cases),
        problem_type="robustness",
        avid="P0200",
        attributes={
            "kind": "sensitive_to_perturbator",
            "step": step,
            "model": model,
            "perturbator": row["name"],
            "cases": cases,
            "pass_to_fail": turned,
            "fail_to_pass": row["fail_to_pass"],
            "interval": [low, high],
            "p_adjusted": row["p_adjusted"],
            "metrics": [drop["metric"] for drop in lower],
            "test_case_keys": row["pass_to_fail_keys"],
        },
        actions=(
            "Read the flipped cases beside their originals. Normalise questions before retrieval (spelling,"
            " punctuation), or retrieve by meaning in place of words; then run the step again with more"
            " cases."
        ),
    )


def _severity(share: float) -> Severity:
    return "high" if share >= HIGH_SHARE else "medium" if share >= MEDIUM_SHARE else "low"


def _controls(copies: Sequence[Variation]) -> dict[str, list[bool]]:
    found: dict[str, list[bool]] = {}
    for one in copies:
        found.setdefault(one.original, []).append(one.failed)
    return found


def _grouped(
    found: Sequence[Variation], names: Callable[[Variation], Sequence[str]]
) -> dict[str, list[Variation]]:
    groups: dict[str, list[Variation]] = {}
    for one in found:
        for name in names(one):
            groups.setdefault(name, []).append(one)
    return dict(sorted(groups.items()))


def _perturbator(one: Variation) -> Sequence[str]:
    return (one.perturbator,)


def _row(name: str, mine: Sequence[Variation]) -> dict[str, Any]:
    """The flips of one perturbator: each case once, but for copies, of which a case may have several."""
    turned = {
        direction: [one.key for one in mine if one.direction == direction]
        for direction in ("pass_to_fail", "fail_to_pass")
    }
    counts = {direction: len(keys) for direction, keys in turned.items()}
    total = sum(counts.values())
    return {
        "name": name,
        "cases": len(mine),
        "passed_before": sum(not one.failed_before for one in mine),
        **counts,
        "rate": total / len(mine),
        "interval": list(wilson_interval(total, len(mine))),
        "pass_to_fail_interval": list(wilson_interval(counts["pass_to_fail"], len(mine))),
        "pass_to_fail_keys": turned["pass_to_fail"],
        "metrics": _metrics(mine),
    }


def _metrics(mine: Sequence[Variation]) -> dict[str, dict[str, int]]:
    """By metric how many comparisons there are, and how many flip which way."""
    names = sorted({metric for one in mine for metric in one.compared})
    return {
        name: {
            "compared": sum(name in one.compared for one in mine),
            **{
                way: sum(one.flips.get(name) == way for one in mine)
                for way in ("pass_to_fail", "fail_to_pass")
            },
        }
        for name in names
    }


def _by_category(kept: Sequence[Variation], prefix: str) -> list[dict[str, Any]]:
    """The cases of each category, an original once: how many some perturbator turns. Variations of one case
    are no independent witnesses.
    """
    groups = _grouped(
        kept,
        lambda one: [
            category.removeprefix(prefix) for category in one.categories if category.startswith(prefix)
        ],
    )
    rows = []
    for name, mine in groups.items():
        cases = {one.original for one in mine}
        turned = {one.original for one in mine if one.direction}
        rows.append(
            {
                "name": name,
                "cases": len(cases),
                "flipped": len(turned),
                "rate": len(turned) / len(cases),
                "interval": list(wilson_interval(len(turned), len(cases))),
                "variations": len(mine),
                "pass_to_fail": sum(one.direction == "pass_to_fail" for one in mine),
                "fail_to_pass": sum(one.direction == "fail_to_pass" for one in mine),
            }
        )
    return rows


def _drops(mine: Sequence[Variation], metrics: Mapping[str, str]) -> list[dict[str, Any]]:
    found = []
    for metric, better in metrics.items():
        pairs = [one.scores[metric] for one in mine if metric in one.scores]
        if not pairs:
            continue
        before, after = np.array(pairs, dtype=np.float64).T * (1.0 if better == "higher" else -1.0)
        found.append(
            {
                "metric": metric,
                "cases": len(pairs),
                "mean": float((before - after).mean()),
                "worse": int((before > after).sum()),
                "better": int((before < after).sum()),
                "p_value": wilcoxon_drop(before, after),
            }
        )
    return found


def _told(one: Variation) -> dict[str, Any]:
    return {
        "key": one.key,
        "original": one.original,
        "perturbator": one.perturbator,
        "meaning_kept": one.meaning_kept,
        "direction": one.direction,
        "metrics": {
            metric: {"direction": way, "before": one.scores[metric][0], "after": one.scores[metric][1]}
            for metric, way in one.flips.items()
        },
    }
