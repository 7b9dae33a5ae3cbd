"""The page's own styles and scripts: one file per thing in `static/`, put together here, and the policy that
allows them alone.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

STYLES = ("tokens", "page", "summary", "evaluators", "charts", "eye", "cases", "panel", "media")
SCRIPTS = (
    "dom",
    "numbers",
    "data",
    "address",
    "copy",
    "marks",
    "panel",
    "filters",
    "search",
    "table",
    "cases",
    "bars",
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
    """The style sheet."""
    return "\n".join(_text("css", f"{name}.css") for name in STYLES)


@cache
def script() -> str:
    """The script: all files in one scope of their own."""
    return '(() => {\n"use strict";\n' + "\n".join(_text("js", f"{name}.js") for name in SCRIPTS) + "})();"


def policy(*, scripts: bool) -> str:
    """A Content-Security-Policy that lets nothing be loaded, nothing run but what stands in the page from
    here, and no picture from elsewhere.
    """
    allowed = f"script-src {_hash(MARK)} {_hash(script())}; " if scripts else ""
    return (
        f"default-src 'none'; {allowed}style-src {_hash(style())}; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(folder: str, name: str) -> str:
    return (files("pytest_evalstudio.report") / "static" / folder / name).read_text(encoding="utf-8")
