"""Turns sections and templates into self-contained HTML in which no text of anybody's is markup."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from html import unescape
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.plugins.section import SectionSpec
from pytest_evalstudio.core.problems import AVID
from pytest_evalstudio.engine.analysis.leaderboards import Leaderboard
from pytest_evalstudio.engine.analysis.wording import rounded
from pytest_evalstudio.mrm.artifacts.summary import WorkflowSummary
from pytest_evalstudio.plots.radar import goodness
from pytest_evalstudio.report import assets
from pytest_evalstudio.report.commands import pytest_command
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.contributed import built_sections
from pytest_evalstudio.report.data.blocks import Block
from pytest_evalstudio.report.sections.evaluators import evaluator_part

HEAT_STEPS = 6


def page_pieces(
    content: Content,
    registry: Registry,
    more: Iterable[tuple[str, str]] = (),
    blocks: Iterable[Block] = (),
) -> Iterator[str]:
    """Yield the report's page, piece by piece.

    Args:
        registry: its sections are the parts of the page.
        more: titles and HTML of further sections.
        blocks: data for the page's scripts.
    """
    parts = [
        (spec, _markup(built if isinstance(built, str) else _rendered(spec, content, built)))
        for spec, built in built_sections(content, registry)
        if built is not None
    ]
    shared = {"script": _markup(assets.script()), "mark": _markup(assets.MARK), "blocks": blocks}
    further = [(title, _markup(html)) for title, html in more]
    return (
        _environment()
        .get_template("page.html")
        .generate(_shared(content, scripts=True) | shared | {"parts": parts, "more": further})
    )


def _rendered(spec: SectionSpec, content: Content, values: Mapping[str, object]) -> str:
    """Return a section of this package as its template renders it."""
    template = _environment().get_template(f"{spec.id}.html")
    return template.render(content=content, analysis=content.analysis, **values)


def render_evaluator(content: Content, id: str) -> str:
    """Render one evaluator's part as a separate page."""
    return _document("fragment.html", content, part=evaluator_part(content, id))


def render_leaderboard(content: Content, board: Leaderboard) -> str:
    """Render one leaderboard as a separate page."""
    return _document("leaderboard.html", content, board=board)


def render_workflow(summary: WorkflowSummary, artifacts: Mapping[str, str]) -> str:
    """Render a workflow as a separate page.

    Args:
        artifacts: names of files next to the page, with their descriptions.
    """
    shared = {"style": _markup(assets.style()), "policy": _markup(assets.policy(scripts=False))}
    return (
        _environment()
        .get_template("workflow.html")
        .render(shared | {"summary": summary, "artifacts": artifacts})
    )


def heat(metric: Metric, value: float | None) -> str:
    """Return the class of a cell's colour: h0 for the worst value to h6 for the best.

    Returns "" if there is no scale.

    Where the range has no worst end, the threshold is the middle of the scale.
    """
    share = goodness(metric, value)
    return "" if share is None else f"h{round(HEAT_STEPS * share)}"


def confusion_heat(count: int, of: int, right: bool) -> str:
    """Return the class of a confusion matrix's cell: blue for right answers, orange for wrong ones.

    The colour is deeper for a larger share of the row.

    >>> confusion_heat(8, 8, True), confusion_heat(4, 8, False), confusion_heat(0, 8, False)
    ('h6', 'h1', '')
    """
    if not count:
        return ""
    depth = min(3, math.ceil(3 * count / of))
    return f"h{3 + depth if right else 3 - depth}"


def _document(template: str, content: Content, **more: object) -> str:
    return _environment().get_template(template).render(_shared(content, scripts=False) | more)


def _shared(content: Content, *, scripts: bool) -> dict[str, object]:
    """Return the values that all templates need."""
    return {
        "content": content,
        "analysis": content.analysis,
        "style": _markup(assets.style()),
        "policy": _markup(assets.policy(scripts=scripts)),
    }


def _markup(text: str) -> Markup:
    """Return trusted markup of this package or of a plugin; never use it for text of a record."""
    return Markup(text)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytest_evalstudio.report"),
        autoescape=True,
        undefined=StrictUndefined,
        optimized=False,  # constant folding costs more than it saves: a process renders few pages
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., str]] = {
        "num": _number,
        "fixed": _fixed,
        "percent": _percent,
        "count": _count,
        "pretty": _pretty,
        "address": _address,
        "failure_list": _failure_list,
        "picture": _picture,
        "caption": _caption,
    }
    environment.filters.update(filters)
    environment.globals.update(
        heat=heat, confusion_heat=confusion_heat, pytest_command=pytest_command, avid_names=AVID
    )
    return environment


def _failure_list(part: Mapping[str, Any]) -> Markup:
    """Return the failures of an evaluator, rendered once for the page and the evaluator's fragment."""
    rendered: dict[str, Markup] = part["rendered"]
    info = part["info"]
    if info.id not in rendered:
        failed = _environment().get_template("failure.html").module.failed  # type: ignore[attr-defined]
        rendered[info.id] = _markup("".join(failed(failure, info) for failure in part["failures"]))
    return rendered[info.id]


def _number(value: Any) -> str:
    return "–" if value is None else rounded(value)


def _fixed(value: float | None) -> str:
    """Return a number with the same number of decimals as others in its column.

    >>> _fixed(0.5), _fixed(48.25)
    ('0.5000', '48.25')
    """
    if value is None or not math.isfinite(value):
        return _number(value)
    return f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _count(value: float) -> str:
    """Return a count with thin spaces between thousands.

    >>> _count(12345)
    '12\u202f345'
    """
    return f"{value:,.0f}".replace(",", "\u202f")


def _address(text: str) -> str:
    r"""Return a text percent-encoded for a URL, as the page's scripts encode it.

    >>> _address("a/b[c] \ud83d")
    'a%2Fb%5Bc%5D%20%EF%BF%BD'
    """
    return quote(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), safe="!'()*~")


def _picture(svg: str) -> str:
    """Return the data URL of a picture; its content cannot access the page."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8")).decode("ascii")


def _caption(svg: str) -> str:
    """Return the title of a picture.

    >>> _caption('<svg><title id="t">Fees &amp; cards</title></svg>')
    'Fees & cards'
    """
    return unescape(svg.partition("<title")[2].partition(">")[2].partition("</title>")[0])


def _pretty(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1 if isinstance(value, Mapping) else None)
