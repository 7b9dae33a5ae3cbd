r"""Foreign text made safe for terminals and CI logs.

Answers, prompts, keys and error messages come from models and files. Written as they are, their control
characters could move the cursor, recolour or hide output, and their lines could be commands to a CI runner:
GitHub reads lines that start with `::` and any `##[`, Azure reads `##vso[` and `##[`. The functions here show
such characters as escapes (`\x1b`, `\u202e`) and break up such commands.
"""

from __future__ import annotations

import re

# The inside of a character class: C0, DEL, C1; Arabic letter mark, left-to-right and right-to-left marks;
# line and paragraph
# separators with the bidirectional embeddings; bidirectional isolates; byte order mark; lone surrogates;
# interlinear annotation; tags.
UNSAFE = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f"  # noqa: E501
_FRAGMENT = re.compile(f"[{UNSAFE}]")
_BLOCK = re.compile(f"(?![\n\t])[{UNSAFE}]")
_LINE_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_INLINE_COMMAND = re.compile(r"#(?=#(?:vso)?\[)", re.IGNORECASE)


def visible(text: str) -> str:
    r"""Return a text as one safe line: line breaks and tabs are shown as escapes, too.

    Args:
        text: any text; time is linear in its length.

    >>> print(visible("red \x1b[31m\n::error::"))
    red \x1b[31m\n::error::
    >>> print(visible(" ::error::"), visible("##vso[task]"))
     \x3a:error:: \x23#vso[task]
    """
    return _without_commands(text if _is_plain(text) else _FRAGMENT.sub(_escape, text))


def visible_lines(text: str) -> str:
    r"""Return a text of several safe lines; line breaks and tabs stay.

    Args:
        text: any text; time is linear in its length.

    >>> print(visible_lines("a\x07\n  ::error::"))
    a\x07
      \x3a:error::
    """
    return _without_commands(text if _is_plain(text.replace("\n", "")) else _BLOCK.sub(_escape, text))


def visible_json(text: str) -> str:
    r"""Return JSON text whose strings are safe to print; it decodes to the same value.

    >>> print(visible_json('["\u202e", "##[error]"]'))
    ["\u202e", "\u0023#[error]"]
    """
    return _INLINE_COMMAND.sub(r"\\u0023", _BLOCK.sub(_json_escape, text))


def printable(text: str, encoding: str | None) -> str:
    r"""Return a text with the characters that an encoding lacks as escapes.

    >>> print(printable("5 €", "ascii"))
    5 \u20ac
    """
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)


def _is_plain(text: str) -> bool:
    """Return True for most texts that have no unsafe character, in less time than a pattern takes."""
    return text.isascii() and text.isprintable()


def _without_commands(text: str) -> str:
    if "::" in text:
        text = _LINE_COMMAND.sub(r"\1\\x3a", text)
    return _INLINE_COMMAND.sub(r"\\x23", text) if "##" in text else text


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    return _ESCAPES.get(char) or (
        f"\\x{ord(char):02x}" if char < "\x80" else char.encode("ascii", "backslashreplace").decode()
    )


def _json_escape(match: re.Match[str]) -> str:
    data = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
