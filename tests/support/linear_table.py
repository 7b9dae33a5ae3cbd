"""Texts and measured functions of the test of linear time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

Function = Callable[[str], Any]

TEXTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "blanks": ("", " "),
        "newlines": ("", "\n"),
        "tabs": ("", "\t"),
        "blanks then letter": ("x", " "),
        "blank lines": ("", " \n"),
        "brackets": ("", "["),
        "images": ("", "!["),
        "links": ("", "[a]("),
        "heading of blanks": ("# ", " "),
        "headings": ("", "# "),
        "thoughts": ("", "<think>"),
        "fence of blanks": ("```", " "),
        "fences": ("", "``` "),
        "parentheses": ("", "("),
        "quotes": ("", '"'),
        "quoted letters": ("", '"a'),
        "backslashes": ("", "\\"),
        "optional letters": ("", "a?"),
        "letters": ("", "a"),
        "digits": ("", "1"),
        "at signs": ("", "@"),
        "full stops": ("", "."),
        "hyphens": ("", "-"),
        "addresses": ("", "a@"),
        "dotted addresses": ("", "a.b@c."),
        "urls": ("", "http://"),
        "logins": ("", "http://a:b"),
        "braces": ("", "{"),
        "double braces": ("", "{{"),
        "references": ("", "${a"),
        "negations": ("", "NOT "),
        "opened parentheses": ("", "((("),
        "less than": ("", "<"),
        "tags": ("", "<a "),
        "comments": ("", "<!--"),
        "attributes": ("", '<a b="'),
        "ended attributes": ("", '<a b=">'),
        "entities": ("", "&amp;"),
        "accents": ("a", "\u0301"),
        "emoji": ("", "\U0001f600"),
        "direction marks": ("", "\u202e"),
        "ideographs": ("", "\u4e2d"),
        "words": ("", "word "),
        "initials": ("", "A. "),
        "initials without blanks": ("", "A."),
        "commas": ("", ","),
        "semicolons": ("", ";"),
        "numbers": ("", "1,"),
        "decimals": ("", "1.5 "),
        "hexadecimal": ("", "0x"),
        "pairs of hexadecimal": ("", "0a "),
        "colons": ("", "::"),
        "apostrophes": ("", "a'"),
        "underscores": ("", "_"),
        "passwords": ("", "password: "),
        "certificates": ("", "-----BEGIN CERTIFICATE-----\n"),
        "numbered steps": ("", "1. do "),
        "rules": ("", "- "),
        "dates": ("", "1 March "),
        "amounts": ("", "$1 "),
        "scaled numbers": ("5", " m-5"),
        "sentences": ("", "The fee is 5. "),
        "unfinished sentence": ("A ", "is "),
        "front matter": ("---\n", "--- \n"),
        "carriage returns": ("", "\r"),
        "keys": ("", "a: {"),
        "anchors": ("", "- &a\n"),
        "null bytes": ("", "\0"),
    }
)
"""By name, the beginning of a text and what is repeated after it."""

FUNCTIONS: dict[str, Function] = {}
"""By name; each function takes a text."""
BOUNDS: dict[str, float] = {}
"""Seconds of CPU time for a million characters."""


def measured(name: str, seconds: float = 1.0) -> Callable[[Function], Function]:
    """Add a function to the table.

    Args:
        seconds: of CPU time that a million characters may take; more than one second only where a library
            takes it.
    """

    def add(function: Function) -> Function:
        FUNCTIONS[name] = function
        BOUNDS[name] = seconds
        return function

    return add


def text_of(name: str, size: int) -> str:
    """A text of a kind with a given number of characters."""
    start, repeated = TEXTS[name]
    return (start + repeated * (size // len(repeated) + 1))[:size]


def refused(function: Function, text: str) -> None:
    """Call a function that may refuse the text with an error for users."""
    from pytest_evalstudio.core.errors import EvalStudioError
    from pytest_evalstudio.core.plugins.host import HostFault

    try:
        function(text)
    except (EvalStudioError, HostFault, ValueError):
        return
