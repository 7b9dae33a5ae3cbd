"""Styles and scripts of the page, one file per topic in `static/`, and the policy that allows them."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

STYLES = (
    "tokens",
    "page",
    "texts",
    "overview",
    "failures",
    "evaluators",
    "charts",
    "eye",
    "matrix",
    "panel",
    "calls",
    "workflow",
    "media",
)
SCRIPTS = (
    "dom",
    "numbers",
    "data",
    "address",
    "tabs",
    "copy",
    "words",
    "marks",
    "filters",
    "search",
    "table",
    "export",
    "matrix",
    "cards",
    "calls",
    "timeline",
    "attachments",
    "conversation",
    "others",
    "panel",
    "failures",
    "robustness",
    "heatmap",
    "ranked",
    "dots",
    "rings",
    "eye",
    "chooser",
    "start",
)
MARK = 'document.documentElement.classList.add("js");'
"""Runs before anything is shown: what needs scripts is hidden until here."""


@cache
def style() -> str:
    """Return the style sheet."""
    return "\n".join(_text("css", f"{name}.css") for name in STYLES)


@cache
def script() -> str:
    """Return the script: all files in one common scope."""
    return '(() => {\n"use strict";\n' + "\n".join(_text("js", f"{name}.js") for name in SCRIPTS) + "})();"


@cache
def card_style() -> str:
    """Return the style sheet of pages for paper."""
    return _text("css", "card.css")


@cache
def history_style() -> str:
    """Return the style sheet of the page of a history."""
    return "\n".join(_text("css", f"{name}.css") for name in ("tokens", "page", "charts", "history"))


def policy(*, scripts: bool, css: str | None = None) -> str:
    """Return a Content-Security-Policy that allows only the embedded styles, scripts and pictures.

    Args:
        scripts: True for a page with the script.
        css: style sheet of the page, if it is not the common one.
    """
    allowed = f"script-src {_hash(MARK)} {_hash(script())}; " if scripts else ""
    return (
        f"default-src 'none'; {allowed}style-src {_hash(css or style())}; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(folder: str, name: str) -> str:
    return (files("pytest_evalstudio.report") / "static" / folder / name).read_text(encoding="utf-8")
