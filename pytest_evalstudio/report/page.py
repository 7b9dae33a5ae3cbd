"""Turns sections and templates into self-contained HTML in which no text of anybody's is markup."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import unescape
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from msgspec import Struct

from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.analysis.summary.assessment import assess
from pytest_evalstudio.analysis.summary.findings import RunFinding
from pytest_evalstudio.analysis.summary.verdict import run_name
from pytest_evalstudio.analysis.wording import p_text
from pytest_evalstudio.core.outcomes import SEVERITIES, Severity
from pytest_evalstudio.core.plugins.contrib import contribs
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.plugins.section import TABS, SectionSpec
from pytest_evalstudio.core.problems import AVID
from pytest_evalstudio.core.text import short_key
from pytest_evalstudio.record.problems import problem_groups
from pytest_evalstudio.report import assets
from pytest_evalstudio.report.bytecode import TemplateBytecode
from pytest_evalstudio.report.commands import pytest_command
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.contributed import built_sections
from pytest_evalstudio.report.data.blocks import Block
from pytest_evalstudio.report.sections.evaluators import evaluator_part
from pytest_evalstudio.text.figures import counted, figure, percent


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
        (spec, trusted_markup(built if isinstance(built, str) else _rendered(spec, content, built)))
        for spec, built in built_sections(content, registry)
        if built is not None
    ]
    further = [(title, trusted_markup(html)) for title, html in more]
    shared = {
        "script": trusted_markup(assets.script()),
        "mark": trusted_markup(assets.MARK),
        "blocks": blocks,
        "name": run_name(content.analysis),
        "tabs": list(_tabs(content, parts, has_more=bool(further))),
        "more": further,
    }
    return environment().get_template("page.html").generate(_shared(content, scripts=True) | shared)


class Tab(Struct, frozen=True, kw_only=True):
    """A tab of the page.

    Attributes:
        anchor: id of its element; differs from `id` where the first section has that id.
        count: figure next to the title, 0 for none.
    """

    id: str
    title: str
    anchor: str
    parts: list[tuple[SectionSpec, Markup]]
    count: int = 0


def _tabs(content: Content, parts: list[tuple[SectionSpec, Markup]], *, has_more: bool) -> Iterator[Tab]:
    """Yield the tabs that have a section, in their order."""
    for id, title in TABS.items():
        of_tab = [part for part in parts if part[0].tab == id]
        if of_tab or (id == "more" and has_more):
            yield Tab(
                id=id,
                title=title,
                anchor=f"tab-{id}" if of_tab and of_tab[0][0].id == id else id,
                parts=of_tab,
                count=content.summary.failures if id == "failures" else 0,
            )


def _rendered(spec: SectionSpec, content: Content, values: Mapping[str, object]) -> str:
    """Return a section of this package as its template renders it."""
    template = environment().get_template(f"{spec.id}.html")
    return template.render(content=content, analysis=content.analysis, **values)


def _template_packages() -> list[str]:
    """Return the packages with templates, this one first: no optional part replaces one of its own."""
    parts = [contrib.templates for contrib in contribs() if contrib.templates]
    return ["pytest_evalstudio.report", *parts]


def compile_templates() -> None:
    """Compile all templates ahead; this takes a tenth of a second."""
    templates = environment()
    for name in templates.list_templates():
        templates.get_template(name)


def render_evaluator(content: Content, id: str) -> str:
    """Render one evaluator's part as a separate page."""
    return _document("fragment.html", content, part=evaluator_part(content, id))


def render_leaderboard(content: Content, board: Leaderboard) -> str:
    """Render one leaderboard as a separate page."""
    return _document("leaderboard.html", content, board=board)


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
    return environment().get_template(template).render(_shared(content, scripts=False) | more)


def _shared(content: Content, *, scripts: bool) -> dict[str, object]:
    """Return the values that all templates need."""
    return {
        "content": content,
        "analysis": content.analysis,
        "style": trusted_markup(assets.style()),
        "policy": trusted_markup(assets.policy(scripts=scripts)),
    }


def trusted_markup(text: str) -> Markup:
    """Return trusted markup of this package or of a plugin; never use it for text of a record."""
    return Markup(text)


@cache
def environment() -> Environment:
    """Return the environment of all templates, those of optional parts included."""
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in _template_packages()]),
        autoescape=True,
        undefined=StrictUndefined,
        optimized=False,  # constant folding costs more than it saves: a process renders few pages
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=TemplateBytecode("trimmed"),
    )
    filters: dict[str, Callable[..., str]] = {
        "num": figure,
        "percent": percent,
        "count": _count,
        "many": counted,
        "short_key": short_key,
        "pretty": _pretty,
        "address": _address,
        "failure_list": _failure_list,
        "picture": _picture,
        "caption": _caption,
        "short": _short,
        "worst": _worst,
        "whole_percent": _whole_percent,
        "finding_filter": _finding_filter,
        "p_text": p_text,
        "with_code": _with_code,
    }
    templates.filters.update(filters, problem_groups=problem_groups)
    templates.globals.update(
        assess=assess, confusion_heat=confusion_heat, pytest_command=pytest_command, avid_names=AVID
    )
    return templates


def _failure_list(part: Mapping[str, Any]) -> Markup:
    """Return the failures of an evaluator, rendered once for the page and the evaluator's fragment."""
    rendered: dict[str, Markup] = part["rendered"]
    info = part["info"]
    if info.id not in rendered:
        failed = environment().get_template("failure.html").module.failed  # type: ignore[attr-defined]
        rendered[info.id] = trusted_markup("".join(failed(failure, info) for failure in part["failures"]))
    return rendered[info.id]


def _with_code(text: str) -> Markup:
    """Return a sentence whose names in backticks, as on a terminal, are code.

    >>> _with_code("`<a>` is gone")
    Markup('<code>&lt;a&gt;</code> is gone')
    """
    parts = [escape(part) for part in text.split("`")]
    if len(parts) % 2 == 0:  # a backtick of the text itself
        return escape(text)
    return trusted_markup(
        "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
    )


def _worst(severities: Sequence[Severity]) -> str:
    return min(severities, key=SEVERITIES.index)


def _short(value: float) -> str:
    """Return a number for a cell of a heatmap: two decimals, or three digits.

    >>> _short(0.8576), _short(0.98765), _short(41.22), _short(1.0)
    ('0.86', '0.99', '41.2', '1')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.2f}" if abs(value) < 10 else f"{value:.3g}"
    return text.rstrip("0").rstrip(".") if "." in text and float(text) in (0, 1) else text


def _whole_percent(value: float | None) -> str:
    """Return a share as a whole percentage; only all is 100, only none is 0.

    >>> _whole_percent(0.996), _whole_percent(1.0), _whole_percent(0.004)
    ('99 %', '100 %', '1 %')
    """
    if value is None:
        return "–"
    shown = round(100 * value)
    if value < 1:
        shown = min(99, shown)
    return f"{max(1, shown) if value > 0 else shown} %"


def _finding_filter(finding: RunFinding) -> str:
    """Return the address of the cases of a finding within the matrix."""
    return urlencode(finding.filters)


def _count(value: float) -> str:
    """Return a count with separators of thousands.

    >>> _count(12345)
    '12,345'
    """
    return f"{value:,.0f}"


def _address(text: str) -> str:
    r"""Return a text percent-encoded for a URL, as the page's scripts encode it.

    >>> _address("a/b[c] \ud83d")
    'a%2Fb%5Bc%5D%20%EF%BF%BD'
    """
    # With these characters quote leaves the same ones as JavaScript's encodeURIComponent.
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
