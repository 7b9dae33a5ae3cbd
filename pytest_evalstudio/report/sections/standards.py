"""Evaluators of the run and their results for each part of a standard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalstudio.analysis.summary.assessment import assessments
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section
from pytest_evalstudio.report.standards import PARTS, Part, standards_of


@section("standards", title="Standards", order=20, tab="evidence")
def standards(content: Content) -> Mapping[str, Any] | None:
    """Show every part of NIST AI RMF and SR 11-7; nothing if no evaluator ran."""
    if not content.analysis.evaluators:
        return None
    lines = list(_lines(content))
    named = dict.fromkeys(line["part"].standard for line in lines)
    return {"groups": [(name, [line for line in lines if line["part"].standard == name]) for name in named]}


def _lines(content: Content) -> Iterator[dict[str, Any]]:
    served: dict[Part, list[dict[str, Any]]] = {part: [] for part in PARTS}
    for number, info in enumerate(content.analysis.evaluators.values(), 1):
        of_models = [each for _, each in assessments(content.analysis.leaderboards[info.id])]
        states = [each.state for each in of_models]
        entry = {
            "number": number,
            "name": info.name,
            "misses": states.count("misses"),
            "judged": states.count("misses") + states.count("meets"),
            "failing": sum(each.failing for each in of_models),
            "answers": sum(each.judged for each in of_models),
        }
        for part in standards_of(info.keywords):
            served.setdefault(part, []).append(entry)
    yield from ({"part": part, "evaluators": entries} for part, entries in served.items())
