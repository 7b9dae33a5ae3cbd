"""Figures and texts of an item for other plugins: properties, extras of pytest-html, diffs for editors."""

from __future__ import annotations

import functools
import html
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalstudio.core.codes import INCOMPLETE
from pytest_evalstudio.core.display import visible
from pytest_evalstudio.plugin.keys import SCORE
from pytest_evalstudio.record.codec import iso_time
from pytest_evalstudio.scoring.confirming import is_unconfirmed
from pytest_evalstudio.scoring.masking import masked, shown_line
from pytest_evalstudio.scoring.messages import short, shown_repeat
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.text.figures import figure

if TYPE_CHECKING:
    from pytest_evalstudio.core.outcomes import Verdict
    from pytest_evalstudio.scoring.plan import ConfiguredEvaluator

PREFIX = "evalstudio"
CASE = f"{PREFIX}.case"
MODEL = f"{PREFIX}.model"
BASELINE_CLASS = f"{PREFIX}.baseline.class"
EXTRAS = "extras"
"""Attribute of a report that pytest-html shows."""
DIFF_CHARS = 20_000
"""Longer texts are cut: a view that shows them stops responding."""


def set_properties(
    item: pytest.Item,
    results: Iterable[tuple[Result, Iterable[ConfiguredEvaluator]]],
    more: Iterable[tuple[str, str | float]] = (),
) -> None:
    """Replace our user properties of an item, which JUnit files and other plugins show.

    Args:
        results: each with the evaluators to show.
        more: further names, without the prefix, and values.
    """
    others = [pair for pair in item.user_properties if not pair[0].startswith(f"{PREFIX}.")]
    # Without such a file nobody sees the texts of passing items, and pytest keeps all properties to the end.
    option = item.config.option
    has_texts = getattr(option, "xmlpath", None) or getattr(option, "htmlpath", None)
    properties: list[tuple[str, str | float]] = []
    for result, evaluators in results:
        properties += _properties(result, evaluators)
        if has_texts and result.answers:
            properties += _texts(result)
    properties += [(f"{PREFIX}.{name}", value) for name, value in more]
    item.user_properties[:] = [*others, *properties]


def _texts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield question and answer, masked and shortened."""
    case = result.answers[shown_repeat(result)]
    yield f"{PREFIX}.question", visible(short(case.question))
    yield f"{PREFIX}.answer", visible(short(case.actual_output))


def _properties(
    result: Result, evaluators: Iterable[ConfiguredEvaluator]
) -> Iterator[tuple[str, str | float]]:
    task = result.task
    yield CASE, visible(task.key)
    yield _property("model", shown_line(task.model.label))
    stored = [case.answer.stored_at for case in result.answers if case.answer.stored_at is not None]
    if stored:
        yield _property("stored_answers", len(stored))
        yield _property("stored_at", iso_time(min(stored)))
    if result.response.reason:
        yield _property("code", result.response.code.value)
    if result.unchecked:
        yield _property("unchecked", "true")
    for reason in {case.answer.finish_reason: None for case in result.answers}:
        if reason in INCOMPLETE:
            yield _property("incomplete", reason)
    if result.unread:
        yield _property("unread", " ".join(result.unread))
    for selected in evaluators:
        yield from _verdict_properties(selected, result.verdicts[selected])


def _verdict_properties(selected: ConfiguredEvaluator, verdict: Verdict) -> Iterator[tuple[str, str | float]]:
    """Yield status, scores and thresholds of an evaluator."""
    if verdict.status != "score":
        yield _property(f"{selected.id}.status", verdict.status)
    for metric, value in verdict.scores.items():
        if value is not None:
            yield _property(f"{selected.id}.{metric}", value)
    for metric in sorted(selected.asserted):
        yield _property(f"{selected.id}.{metric}.threshold", selected.thresholds[metric])


@functools.lru_cache(maxsize=4096, typed=True)
def _property(name: str, value: str | float) -> tuple[str, str | float]:
    """Return a property; items that share it share its memory, since pytest keeps them to the end."""
    return f"{PREFIX}.{name}", value


def primary_scores(result: Result) -> str:
    """Return the primary scores of a result on one line, "" if nothing was scored."""
    parts = []
    for selected, verdict in result.verdicts.items():
        value = verdict.scores.get(selected.spec.primary.key) if verdict.status == "score" else None
        if value is not None:
            parts.append(f"{selected.id} {figure(value)}")
    if is_unconfirmed(result) and (repeats := result.confirmation) is not None:
        parts.append(f"passed on repetition: {repeats.failed} of {repeats.passed + repeats.failed} fail")
    return ", ".join(parts)


def show_figures(report: pytest.TestReport, config: pytest.Config, result: Result | None) -> None:
    """Attach the scores for `-v` and pytest-html to a report."""
    if result is None:
        return
    if config.getoption("verbose", 0) > 0:
        setattr(report, SCORE, primary_scores(result))
    if config.pluginmanager.hasplugin("html"):
        properties = [pair for pair in report.user_properties if str(pair[0]).startswith(f"{PREFIX}.")]
        setattr(report, EXTRAS, [*getattr(report, EXTRAS, []), _table(properties)])


def _table(properties: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return an extra of pytest-html."""
    rows = "".join(
        f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>"
        for name, value in properties
    )
    return {
        "name": PREFIX,
        "format_type": "html",
        "content": f"<table>{rows}</table>",
        "mime_type": None,
        "extension": None,
    }


def pass_on_comparison(config: pytest.Config, result: Result) -> None:
    """Pass the answer of a failing item and the expected one to plugins that show their difference.

    PyCharm's test view shows the difference of the last comparison of a failing test.
    """
    if not result.answers:
        return
    case = result.answers[shown_repeat(result)]
    if not (case.expected_output and case.has_text) or case.answer.turns:
        return
    # Without pytest's own implementation, which would compute a difference that nothing prints.
    assertion_plugin = config.pluginmanager.getplugin("assertion")
    call = config.pluginmanager.subset_hook_caller(
        "pytest_assertrepr_compare", remove_plugins=[assertion_plugin]
    )
    call(
        config=config,
        op="==",
        left=masked(case.actual_output)[:DIFF_CHARS],
        right=masked(case.expected_output)[:DIFF_CHARS],
    )
