"""Regular expressions of users: size limits, and conversion for a package with time limits."""

from __future__ import annotations

import functools
import re
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError

MAX_PATTERN_CHARS = 10_000
MAX_PATTERN_DEPTH = 10
"""Maximum depth of nested groups; the time to compile nested repeats doubles with every level."""
_QUOTED_CHARS = 60


def excess(pattern: str) -> str:
    """Return how a pattern is larger than it may be, "" if it is not.

    >>> excess("(" * 11 + ")" * 11)
    'its groups are nested more than 10 deep; simplify it'
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"it has more than {MAX_PATTERN_CHARS:,} characters; shorten it"
    depth, at = 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "[":
            at = end_of_class(pattern, at)
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth > MAX_PATTERN_DEPTH:
                return f"its groups are nested more than {MAX_PATTERN_DEPTH} deep; simplify it"
        at += 1
    return ""


def end_of_class(text: str, start: int) -> int:
    """Index of the bracket that closes the character class opened at `start`, or the text's length."""
    at = start + 1
    if text[at : at + 1] == "^":
        at += 1
    if text[at : at + 1] == "]":
        at += 1
    while at < len(text) and text[at] != "]":
        at += 2 if text[at] == "\\" else 1
    return at


_QUANTIFIER = re.compile(r"\{(?:\d+|\d*,\d*)\}")
_ESCAPE = re.compile(r"\\(?:N\{[^}]*\}|.)", re.DOTALL)


@functools.lru_cache(maxsize=1024)
def compiled(pattern: str) -> Any:
    """Compile the pattern with the `regex` package, which supports time limits."""
    import regex

    if too_much := excess(pattern):
        raise EvaluationError(f"cannot search for {shortened(pattern)!r}: {too_much}")
    try:
        # V0 reads patterns as `re` does; V1 has sets within sets, and folds case in full.
        return regex.compile(_as_re_reads_it(pattern), regex.V0)
    except (regex.error, RecursionError, OverflowError, MemoryError) as exc:
        raise EvaluationError(f"cannot search for {shortened(pattern)!r}: {exc}") from None


def _as_re_reads_it(pattern: str) -> str:
    """Escape the characters that `re` takes literally and `regex` does not: {e<=1} and [[:alpha:]]."""
    out, at = [], 0
    while at < len(pattern):
        char = pattern[at]
        escape = _ESCAPE.match(pattern, at)
        if escape:
            out.append(escape[0])
            at = escape.end()
        elif char == "[":
            end = end_of_class(pattern, at)
            out.append(
                "["
                + re.sub(r"(\\.)|\[", lambda match: match[1] or "\\[", pattern[at + 1 : end], flags=re.DOTALL)
            )
            at = end
        else:
            literal_brace = char == "{" and not _QUANTIFIER.match(pattern, at)
            out.append("\\{" if literal_brace else char)
            at += 1
    return "".join(out)


def shortened(text: str) -> str:
    """Return a text for a message, cut where it is long."""
    return text if len(text) <= _QUOTED_CHARS else text[:_QUOTED_CHARS] + "…"
