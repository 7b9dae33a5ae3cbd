"""Plain text of Markdown and HTML, in time that is linear in the text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping

from pytest_evalstudio.hosts._text_tables import CELL, MARKS, ROW, TABLE, with_text_tables, without_marks
from pytest_evalstudio.metrics.function_words import FUNCTION_WORDS

_HYPHENATED = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
_EMPHASIS = re.compile(r"\*\*|__|`")
_LONGEST_EMPHASIS = 200  # a bound makes the pattern linear
_LIGHT_EMPHASIS = re.compile(
    rf"(?<![\w*])\*(?=\S)(?P<stars>[^*\n]{{1,{_LONGEST_EMPHASIS}}})(?<=\S)\*(?![\w*])"
    rf"|(?<![\w_])_(?=\S)(?P<lines>[^_\n]{{1,{_LONGEST_EMPHASIS}}})(?<=\S)_(?![\w_])"
)
"""Text between single marks; names such as `max_tokens` have theirs within words."""
_NUMBERED = re.compile(r"[0-9]{1,9}[.)]")
_RULES = ("-", "*", "_")
_RULE_MARKS, _MIN_RULE_CHARS = "=-~_*#", 3
_BLANKS = " \t"
_LINK_MARKS = re.compile(r"!?\[|\]\(?|\)")
_MAX_HEADING_CHARS = 60
_MAX_TAG_CHARS = 100_000
MAX_OPEN_TAGS = 100
"""Silent tags that are counted; deeper nesting is not a page that people read."""

Tick = Callable[[], None]
"""Called again and again during a conversion; it raises when time is up."""


def _nothing() -> None:
    """Let a conversion go on."""


def unwrap(text: str) -> str:
    r"""Return the text with each paragraph on one line and a blank line between paragraphs.

    Words that are hyphenated at the end of a line are joined. A heading directly above its text, or above a
    line that underlines it, is a paragraph of its own.

    >>> unwrap("a hyphen-\nated word,\nand more\n\n\nnext")
    'a hyphenated word, and more\n\nnext'
    >>> unwrap("Opening hours\nThe office is open from nine to five.")
    'Opening hours\n\nThe office is open from nine to five.'
    >>> unwrap("Fees\n====\nCards are free.")
    'Fees\n\nCards are free.'
    """
    written = [line.strip(_BLANKS) for line in _HYPHENATED.sub("", lines(text)).split("\n")]
    paragraphs: list[list[str]] = [[]]
    for line, following in zip(written, [*written[1:], ""], strict=True):
        if not line or _is_rule(line):
            paragraphs.append([])
            continue
        is_heading = not paragraphs[-1] and _is_heading(line, following)
        paragraphs[-1] += line.split()
        if is_heading:
            paragraphs.append([])
    return "\n\n".join(" ".join(words) for words in paragraphs if words)


def _is_rule(line: str) -> bool:
    """Return whether a line underlines a heading or divides parts of a text: "=====", "-----"."""
    return len(line) >= _MIN_RULE_CHARS and line[0] in _RULE_MARKS and set(line) == {line[0]}


def _is_heading(line: str, following: str) -> bool:
    """Report whether a line is a heading above the line that follows: short, capitalised, not ended.

    In wrapped text the first word of the line that follows has no room on the line; below a heading it has.
    """
    return (
        len(line) <= _MAX_HEADING_CHARS
        and len(line) + 1 + len(following.partition(" ")[0]) <= len(following)
        and line[0].isupper()
        and following[0].isupper()
        and line[-1].isalnum()
        and line.rpartition(" ")[2].casefold() not in FUNCTION_WORDS
    )


def lines(text: str) -> str:
    """Return the text with line feeds as its only line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def plain_markdown(text: str, tick: Tick = _nothing) -> str:
    r"""Return the text of a Markdown document without its marks.

    >>> plain_markdown("# Fees #\nSee [the list](http://x/y).\n\n- one")
    'Fees\n\nSee the list.\n\none'
    >>> plain_markdown("The *board* sets max_tokens and _fees_; 2 * 3 * 4")
    'The board sets max_tokens and fees; 2 * 3 * 4'
    """
    converted = []
    for line in _without_front_matter(lines(text).split("\n")):
        tick()
        converted.append(_block(_without_links(line)))
    text = _EMPHASIS.sub("", with_text_tables("\n".join(converted)))
    return unwrap(_LIGHT_EMPHASIS.sub(lambda match: match["stars"] or match["lines"], text))


def _without_front_matter(content: list[str]) -> list[str]:
    if content[0] != "---":
        return content
    end = next((index for index in range(1, len(content)) if content[index] == "---"), 0)
    return content[end + 1 :] if end else content


def _without_links(line: str) -> str:
    """Return the line with each `[text](address)` and `![text](address)` replaced by its text."""
    if "](" not in line:
        return line
    pieces: list[str] = []
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
    """Return a line without the mark of a heading, list item, code fence or rule."""
    stripped = line.strip(_BLANKS)
    if stripped.startswith(("```", "~~~")) or (len(stripped) >= 3 and set(stripped) <= set(_RULES)):
        return ""
    hashes = len(stripped) - len(stripped.lstrip("#"))
    if 1 <= hashes <= 6 and line.find("#") <= 3 and stripped[hashes : hashes + 1] in (" ", "\t"):
        heading = stripped[hashes:].strip(_BLANKS).rstrip(" \t#")
        return f"\n{_without_list_mark(heading) or heading}\n"
    item = _without_list_mark(stripped)
    return line if item is None else f"\n{item}"


def _without_list_mark(text: str) -> str | None:
    """Return the text of a list item without its bullet or number; None if it is not a list item."""
    if text[:2] in ("- ", "* ", "+ ", "-\t", "*\t", "+\t"):
        return text[2:].lstrip(_BLANKS)
    number = _NUMBERED.match(text)
    if number and text[number.end() : number.end() + 1] in (" ", "\t"):
        return text[number.end() :].lstrip(_BLANKS)
    return None


def plain_html(text: str, tick: Tick = _nothing) -> str:
    r"""Return the text of an HTML page that a reader sees.

    The tags are read here and not by `html.parser`, whose time grows with the square of a page of unfinished
    tags or comments.

    >>> plain_html("<h1>Fees</h1><script>1 < 2</script><p>Cards <b>are</b> free &amp; fast.")
    'Fees\n\nCards are free & fast.'
    """
    page = _Page()
    at = 0
    while (start := text.find("<", at)) >= 0:
        tick()
        mark = _MARKUP.match(text, start)
        # A "<" of plain text, e.g. "a < b".
        if mark is None:
            end = text.find("<", start + 1)
            end = len(text) if end < 0 else end
            page.add(text[at:end])
            at = end
            continue
        page.add(text[at:start])
        if mark[0] == "<!--":
            at = _after(text, "-->", start + 4)
        elif mark["name"] is None:
            at = _after(text, ">", start)
        else:
            at = _after_tag(text, mark.end())
            name = mark["name"].lower()
            page.tag(name, closes=bool(mark["closes"]))
            if name in _RAW and not mark["closes"]:
                closing = _RAW[name].search(text, at)
                at = closing.start() if closing else len(text)
    page.add(text[at:])
    return unwrap(without_marks("".join(page.pieces)))


_MARKUP = re.compile(r"<(?:!--|[!?]|(?P<closes>/?)(?P<name>[A-Za-z][A-Za-z0-9:-]*))")
_RAW = {name: re.compile(f"</{name}", re.IGNORECASE) for name in ("script", "style")}
"""Elements whose content has no tags, and how they end."""
_TAG_PART = re.compile(r"""=[ \t\n\f]*"[^"]*"|=[ \t\n\f]*'[^']*'|>""")


def _after(text: str, mark: str, start: int) -> int:
    """Return the index after the next mark, or the end of the text if there is none, as browsers do."""
    end = text.find(mark, start)
    return len(text) if end < 0 else end + len(mark)


def _after_tag(text: str, start: int) -> int:
    """Return the index after a tag, whose quoted values may contain `>`."""
    simple = text.find(">", start)
    if simple < 0:
        return len(text)
    # Without a value there can be no quoted ">".
    if "=" not in text[start:simple]:
        return simple + 1
    # The bound keeps a page of unclosed quotes linear.
    for part in _TAG_PART.finditer(text, start, start + _MAX_TAG_CHARS):
        if part[0] == ">":
            return part.end()
    return simple + 1


class _Page:
    """Collects the text between tags."""

    SILENT = frozenset({"script", "style", "noscript", "template", "svg", "head"})
    INLINE = frozenset(
        "a abbr b cite code em font i img kbd mark q s small span strong sub sup time u var".split()  # noqa: SIM905
    )
    MARKS: Mapping[str, str] = {"td": CELL, "th": CELL, "tr": ROW, "br": " "}
    """Replacements of opening tags."""
    PARTS = frozenset({"tbody", "thead", "tfoot", "colgroup", "col"})
    """Tags of a table that leave nothing."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._silent: list[str] = []

    def add(self, text: str) -> None:
        if text and not self._silent:
            self.pieces.append(html.unescape(text).replace("\n", " ").translate(MARKS))

    def tag(self, name: str, *, closes: bool) -> None:
        if name == "body" and not closes:
            self._silent.clear()  # an unclosed head
        if name in self.SILENT:
            if closes and name in self._silent:
                # Elements inside that were not closed end with it.
                del self._silent[self._silent.index(name) :]
            elif not closes and len(self._silent) < MAX_OPEN_TAGS:
                self._silent.append(name)
        if name in self.MARKS:
            self.pieces.append(" " if closes else self.MARKS[name])
        elif name == "table":
            self.pieces.append(f"\n\n{TABLE}")
        elif name in self.PARTS:
            self.pieces.append(" ")
        elif name not in self.INLINE:
            self.pieces.append("\n\n")
