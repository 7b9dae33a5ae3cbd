"""Foreign texts in Markdown."""

from __future__ import annotations

import re
import unicodedata

from pytest_evalstudio.core.text import excerpt

_SPECIAL = re.compile(r"([\\`*_\[\]|~])")


def escaped(text: str, limit: int = 400) -> str:
    r"""Return a foreign text as plain words: without markup, HTML, links, mentions and direction changes.

    Args:
        text: any text.
        limit: most characters of it.

    >>> escaped("a|b <script> @team [x](http://y)")
    'a\\|b &lt;script> &#64;team \\[x\\](http&#58;//y)'
    """
    line = "".join(char for char in excerpt(text, limit) if unicodedata.category(char) not in ("Cc", "Cf"))
    line = _SPECIAL.sub(r"\\\1", line.replace("&", "&amp;"))
    return (
        line.replace("<", "&lt;").replace("@", "&#64;").replace("://", "&#58;//").replace("www.", "www&#46;")
    )


def whole(text: str) -> str:
    """Return a foreign text of any length as plain words; see `escaped`."""
    return escaped(text, limit=len(text) + 1)


def code(text: str) -> str:
    """Return a text of one line as code, whatever backticks it has.

    >>> code("a`b")
    '``a`b``'
    """
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"
