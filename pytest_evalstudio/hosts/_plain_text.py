"""Plain text of Markdown and HTML, in time that is linear in the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

_HYPHENATED = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
_EMPHASIS = re.compile(r"\*\*|__|`")
_NUMBERED = re.compile(r"[0-9]{1,9}[.)]")
_RULES = ("-", "*", "_")
_BLANKS = " \t"
_LINK_MARKS = re.compile(r"!?\[|\]\(?|\)")
MAX_OPEN_TAGS = 100
"""Silent tags that are counted; deeper nesting is not a page that people read."""

Tick = Callable[[], None]
"""Called again and again during a conversion; it raises when time is up."""


def _nothing() -> None:
    """Let a conversion go on."""


def unwrap(text: str) -> str:
    """Return the text with each paragraph on one line, a blank line between; words broken over two lines are joined.

    >>> unwrap("a hyphen-\\nated word,\\nand more\\n\\n\\nnext")
    'a hyphenated word, and more\\n\\nnext'
    """
    joined = _HYPHENATED.sub("", lines(text))
    paragraphs: list[list[str]] = [[]]
    for line in joined.split("\n"):
        if line.strip(_BLANKS):
            paragraphs[-1] += line.split()
        elif paragraphs[-1]:
            paragraphs.append([])
    return "\n\n".join(" ".join(words) for words in paragraphs if words)


def lines(text: str) -> str:
    """Return the text with line feeds as its only line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def plain_markdown(text: str, tick: Tick = _nothing) -> str:
    """Return the text of a Markdown document without its marks.

    >>> plain_markdown("# Fees #\\nSee [the list](http://x/y).\\n\\n- one")
    'Fees\\n\\nSee the list.\\n\\none'
    """
    converted = []
    for line in _without_front_matter(lines(text).split("\n")):
        tick()
        converted.append(_block(_without_links(line)))
    return unwrap(_EMPHASIS.sub("", "\n".join(converted)))


def _without_front_matter(content: list[str]) -> list[str]:
    if content[0] != "---":
        return content
    end = next((place for place in range(1, len(content)) if content[place] == "---"), 0)
    return content[end + 1 :] if end else content


def _without_links(line: str) -> str:
    """The line with each `[text](address)` and `![text](address)` replaced by its text."""
    if "](" not in line:
        return line
    pieces = []
    done = 0
    opening: re.Match[str] | None = None
    text = ""
    is_address = False
    for mark in _LINK_MARKS.finditer(line):
        if is_address:
            if mark[0] == ")" and opening is not None:
                pieces += line[done : opening.start()], text
                done = mark.end()
                opening, is_address = None, False
        elif mark[0] in ("[", "!["):
            opening = mark
        elif mark[0] == "](" and opening is not None:
            text = line[opening.end() : mark.start()]
            is_address = True
        elif mark[0] != ")":
            opening = None
    return "".join(pieces) + line[done:]


def _block(line: str) -> str:
    """A line without the mark of a heading, list item, code fence or rule."""
    stripped = line.strip(_BLANKS)
    if stripped.startswith(("```", "~~~")) or (len(stripped) >= 3 and set(stripped) <= set(_RULES)):
        return ""
    hashes = len(stripped) - len(stripped.lstrip("#"))
    if 1 <= hashes <= 6 and line.find("#") <= 3 and stripped[hashes : hashes + 1] in (" ", "\t"):
        return "\n" + stripped[hashes:].strip(_BLANKS).rstrip(" \t#") + "\n"
    if stripped[:2] in ("- ", "* ", "+ ", "-\t", "*\t", "+\t"):
        return "\n" + stripped[2:].lstrip(_BLANKS)
    number = _NUMBERED.match(stripped)
    if number and stripped[number.end() : number.end() + 1] in (" ", "\t"):
        return "\n" + stripped[number.end() :].lstrip(_BLANKS)
    return line


def plain_html(text: str, tick: Tick = _nothing) -> str:
    """Return the text of an HTML page that a reader sees."""
    parser = _TextOfHTML(tick)
    parser.feed(text)
    parser.close()
    return parser.text()


class _TextOfHTML(HTMLParser):
    """The text of a page, paragraph by paragraph."""

    SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
    INLINE = frozenset(
        "a abbr b cite code em font i img kbd mark q s small span strong sub sup time u var".split()  # noqa: SIM905
    )
    CELLS = frozenset({"td", "th"})

    def __init__(self, tick: Tick) -> None:
        super().__init__(convert_charrefs=True)
        self._tick = tick
        self._pieces: list[str] = []
        self._silent: list[str] = []

    def text(self) -> str:
        return unwrap("".join(self._pieces))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tick()
        if tag == "body":
            self._silent.clear()  # a head that nobody closed
        if tag in self.SILENT and len(self._silent) < MAX_OPEN_TAGS:
            self._silent.append(tag)
        self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.SILENT and tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        self._separate(tag)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._pieces.append(data.replace("\n", " "))

    def _separate(self, tag: str) -> None:
        if tag in self.CELLS or tag == "br":
            self._pieces.append(" ")
        elif tag not in self.INLINE:
            self._pieces.append("\n\n")
