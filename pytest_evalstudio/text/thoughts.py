"""Answer and thoughts of a reasoning model, in one text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

ThoughtTags = bool | Sequence[str]
"""True for the tags of known models, False for texts that are answers as a whole, or two tags."""

THOUGHT_NAMES = (
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "scratchpad",
    "antthinking",
    "seed:think",
)
"""Names of elements that hold thoughts, as DeepSeek, Qwen, Claude, Seed and others write them."""

_TAG = re.compile(
    rf"<(?P<xml_end>/?)(?P<xml>{'|'.join(sorted(THOUGHT_NAMES, key=len, reverse=True))})>"
    r"|\[(?P<mistral_end>/?)(?P<mistral>THINK)\]"
    r"|◁(?P<kimi_end>/?)(?P<kimi>think)▷"
    r"|<\|(?:begin|(?P<openthinker_end>end))_of_(?P<openthinker>thought)\|>"
    r"|<\|(?:START|(?P<cohere_end>END))_(?P<cohere>THINKING)\|>"
    r"|<(?:\|(?P<gemma>channel)>thought\b|(?P<gemma_end>channel)\|>)",
    re.IGNORECASE,
)
_ANSWER_MARK = re.compile(r"<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_(?:RESPONSE|TEXT)\|>")
_HARMONY = re.compile(r"\s*<\|(?:start\|>\w+\s*<\|)?channel\|>")
_HARMONY_MESSAGE = re.compile(r"<\|channel\|>(?P<name>[^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>")
_HARMONY_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_BARE_START, _BARE_FINAL = "analysis", "assistantfinal"
"""Channels of Harmony whose special tokens a decoder has dropped."""
_QUOTES = "`\"'“”‘’«»"
_FENCE = "```"


class Reply(NamedTuple):
    """Text of a model with its thoughts apart.

    Attributes:
        text: the answer; the whole text, unchanged, where there are no thoughts.
        thoughts: without their tags, "" for none.
        unfinished: the opening tag of a thought that has no end, "" for none.
    """

    text: str
    thoughts: str = ""
    unfinished: str = ""


class _Tag(NamedTuple):
    family: str
    closes: bool
    start: int
    end: int


def split_thoughts(text: str, tags: ThoughtTags = True) -> Reply:
    r"""Split the text of a model into answer and thoughts.

    A thought begins at the beginning of the text or of a line, outside of code, and ends with the closing tag
    of the same kind. A closing tag alone ends a thought that began with the text: some services send only
    that. Tags in quotes are words.

    Args:
        text: of the model; time is linear in its length.
        tags: opening and closing tag in place of the usual ones; False for no thoughts.

    >>> split_thoughts("<think>Perhaps 15 USD? No.</think>It is free.")
    Reply(text='It is free.', thoughts='Perhaps 15 USD? No.', unfinished='')
    >>> split_thoughts("<think>Perhaps 15").unfinished
    '<think>'
    """
    if tags is False:
        return Reply(text)
    if tags is True:
        if _HARMONY.match(text):
            return _harmony(text)
        if text.startswith(_BARE_START) and _BARE_FINAL in text:
            thoughts, _, answer = text.removeprefix(_BARE_START).partition(_BARE_FINAL)
            return Reply(answer.strip(), thoughts.strip())
        return _split(text, _usual_tags(text))
    return _split(text, _own_tags(text, *tags))


def tags_fault(tags: ThoughtTags) -> str:
    """Return the reason why these are no tags of thoughts, "" if they are."""
    if isinstance(tags, bool) or (len(tags) == 2 and all(tags) and tags[0] != tags[1]):
        return ""
    return (
        f'thoughts = {list(tags)!r} is not an opening and a closing tag; write ["<think>", "</think>"], or'
        " false for none"
    )


def _usual_tags(text: str) -> Iterator[_Tag]:
    for match in _TAG.finditer(text):
        if match["gemma"] or match["gemma_end"]:
            yield _Tag("channel", bool(match["gemma_end"]), match.start(), match.end())
            continue
        name = match.lastgroup or ""
        kind = name.removesuffix("_end")
        yield _Tag(f"{kind} {match[kind].casefold()}", bool(match[f"{kind}_end"]), match.start(), match.end())


def _own_tags(text: str, opening: str, closing: str) -> Iterator[_Tag]:
    for match in re.finditer(f"(?P<opening>{re.escape(opening)})|{re.escape(closing)}", text):
        yield _Tag("", match["opening"] is None, match.start(), match.end())


def _split(text: str, tags: Iterator[_Tag]) -> Reply:
    answer: list[str] = []
    thoughts: list[str] = []
    opening: _Tag | None = None
    position = fences = 0
    is_line_start = True
    for tag in tags:
        if opening is not None:
            if tag.closes and tag.family == opening.family:
                thoughts.append(text[opening.end : tag.start])
                position, opening = tag.end, None
            continue
        fences += text.count(_FENCE, position, tag.start)
        is_code = fences % 2 == 1
        before, position = text[position : tag.start], tag.start
        if tag.closes and not thoughts and not is_code and not _is_quoted(text, tag):
            thoughts.append("".join((*answer, before)))
            answer, position, is_line_start = [], tag.end, True
            continue
        answer.append(before)
        is_line_start = _ends_blank(before, is_line_start)
        if not tag.closes and not is_code and is_line_start:
            opening = tag
    if not thoughts and opening is None:
        return Reply(text)
    unfinished = ""
    if opening is not None:
        thoughts.append(text[opening.end :])
        unfinished = text[opening.start : opening.end]
    else:
        answer.append(text[position:])
    said = _ANSWER_MARK.sub("", "".join(answer)).strip()
    return Reply(said, "\n\n".join(filter(None, map(str.strip, thoughts))), unfinished)


def _is_quoted(text: str, tag: _Tag) -> bool:
    # Tuples, since the empty text at an edge would be in every string.
    return text[tag.start - 1 : tag.start] in (*_QUOTES,) or text[tag.end : tag.end + 1] in (*_QUOTES,)


def _ends_blank(part: str, was_blank: bool) -> bool:
    """Return True if nothing visible stands in the last line of a part.

    Args:
        part: follows a line of which `was_blank` holds.
    """
    _, line_break, line = part.rpartition("\n")
    return not line.strip() and (bool(line_break) or was_blank)


def _harmony(text: str) -> Reply:
    """Return the channel `final` as the answer, the others as thoughts.

    Source: OpenAI, Harmony response format.
    """
    answer: list[str] = []
    thoughts: list[str] = []
    position = 0
    while message := _HARMONY_MESSAGE.search(text, position):
        end = _HARMONY_END.search(text, message.end())
        position = end.start() if end else len(text)
        channel = message["name"].split()[:1]
        (answer if channel == ["final"] else thoughts).append(text[message.end() : position].strip())
    unfinished = "" if answer else "<|channel|>"
    return Reply("\n\n".join(answer), "\n\n".join(filter(None, thoughts)), unfinished)
