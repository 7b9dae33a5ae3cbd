"""Turns sections and templates into self-contained HTML in which no text of anybody's is markup."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.engine.analysis.leaderboards import Leaderboard
from pytest_evalstudio.engine.analysis.wording import rounded
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import all_sections
from pytest_evalstudio.report.sections.evaluators import evaluator_part

HEAT_STEPS = 6
STANDARDS: Mapping[str, str] = {"nist-ai-rmf-": "NIST AI RMF", "sr-11-7-": "SR 11-7"}
"""What keywords of standards begin with."""


def render_page(content: Content, more: Iterable[tuple[str, str]] = ()) -> str:
    """The report's page.

    Args:
        more: titles and HTML of further sections.
    """
    built = [(section, section.build(content)) for section in all_sections()]
    shown = [(section, more) for section, more in built if more is not None]
    parts = [
        (section, _markup(_environment().get_template(f"{section.id}.html").render(content=content, analysis=content.analysis, **more)))
        for section, more in shown
    ]
    return _document("page.html", content, parts=parts, more=[(title, _markup(html)) for title, html in more])


def render_evaluator(content: Content, id: str) -> str:
    """One evaluator's part as a page of its own."""
    return _document("fragment.html", content, part=evaluator_part(content, id))


def render_leaderboard(content: Content, board: Leaderboard) -> str:
    """One leaderboard as a page of its own."""
    return _document("leaderboard.html", content, board=board)


def heat(metric: Metric, value: float | None) -> str:
    """The class of a cell's colour: from h0, the worst value, to h6, the best; "" where no scale can be given.

    Where the range has no worst end, the threshold is the middle of the scale.
    """
    if value is None or not math.isfinite(value):
        return ""
    best = metric.range[1] if metric.better == "higher" else metric.range[0]
    worst = metric.worst if math.isfinite(metric.worst) else 2 * metric.threshold - best
    if not math.isfinite(best) or not math.isfinite(worst) or best == worst:
        return ""
    share = min(1.0, max(0.0, (value - worst) / (best - worst)))
    return f"h{round(HEAT_STEPS * share)}"


def _document(template: str, content: Content, **more: Any) -> str:
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        _environment().get_template(template).render(content=content, analysis=content.analysis, style=_markup(style), policy=_markup(policy), **more)
    )


def _markup(text: str) -> Markup:
    """Markup of ours or of a contributor's; never a text from a record."""
    return Markup(text)


@cache
def _style() -> str:
    return (files("pytest_evalstudio.report") / "static" / "report.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytest_evalstudio.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(
        num=_number, fixed=_fixed, percent=_percent, count=_count, pretty=_pretty, standards=_standards, failure_list=_failure_list
    )
    environment.globals.update(heat=heat)
    return environment


def _failure_list(part: Mapping[str, Any]) -> Markup:
    """The failures of an evaluator, rendered once for the page and the evaluator's own fragment."""
    rendered: dict[str, Markup] = part["rendered"]
    info = part["info"]
    if info.id not in rendered:
        failed = _environment().get_template("evaluator.html").module.failed  # type: ignore[attr-defined]
        rendered[info.id] = _markup("".join(failed(failure, info) for failure in part["failures"]))
    return rendered[info.id]


def _number(value: Any) -> str:
    return "–" if value is None else rounded(value)


def _fixed(value: float | None) -> str:
    """A number of a column: as many decimals as its neighbours have.

    >>> _fixed(0.5), _fixed(48.25)
    ('0.5000', '48.25')
    """
    if value is None or not math.isfinite(value):
        return _number(value)
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def _standards(keywords: Sequence[str]) -> list[tuple[str, str]]:
    """The standards among an evaluator's keywords, with the parts of them that it serves.

    >>> _standards(["evaluation-method-ngram", "nist-ai-rmf-valid-and-reliable", "sr-11-7-outcomes-analysis"])
    [('NIST AI RMF', 'valid and reliable'), ('SR 11-7', 'outcomes analysis')]
    """
    found = []
    for prefix, name in STANDARDS.items():
        parts = [word.removeprefix(prefix).replace("-", " ") for word in keywords if word.startswith(prefix)]
        if parts:
            found.append((name, ", ".join(parts)))
    return found


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _count(value: float) -> str:
    """A count with thin spaces between thousands.

    >>> _count(12345)
    '12\u202f345'
    """
    return f"{value:,.0f}".replace(",", "\u202f")


def _pretty(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, Mapping) else None)
