"""Steps of a procedure: found in a text by rules, compared, and aligned with those of another text."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Likeness = Literal["exact", "punctuation", "case", "articles", "spelling", "meaning", "mismatch"]
Edit = Literal["match", "mismatch", "insertion", "deletion"]

_ITEM = re.compile(
    r"[ \t]*(?:(?:\*\*|__)?(?i:step)[ \t]+\d{1,3}(?:\*\*|__)?["
    r" \t]*[:.)–—-](?:\*\*|__)?|\(?\d{1,3}[.)]|\(?[a-z][.)]|\(?[A-Z]\)|[-*+•‣◦▪–])"
    r"[ \t]+(?P<body>\S.*)"
)
_INLINE = re.compile(r"(?<![\w.,$€£])\(?(?P<number>\d{1,2})[.)][ \t]+(?=[^\W\d_])")
_RULE = re.compile(r"[ \t]*([-*_+][ \t]*){3,}$")
_CONNECTIVE = re.compile(
    r"(?:(?:first(?:ly)?(?: of all)?|second(?:ly)?|third(?:ly)?|fourth|fifth|next|then|now|after"
    r" that|afterwards|last(?:ly)?|finally"
    r"|to (?:start|begin)|and|please),?[ \t]+)+",
    re.IGNORECASE,
)
_IMPERATIVES = """
    accept activate add adjust agree allow apply approve arrange ask attach bring browse build call cancel change charge check choose clean
    clear click close collect combine complete configure confirm connect contact continue copy create cut deactivate delete deposit describe
    disable disconnect download drag draw drop edit enable enter execute fill find finish fold follow gather get give go heat hold identify
    import inform insert install keep launch leave lift load locate log make mark measure mix move name navigate notify open order paste pay
    pick place plug pour prepare press print provide pull push put read receive record register reject remove repeat replace reply report
    request reset restart restore return review rotate run save scan scroll search select send set show sign specify start stop store submit
    swipe switch tap tell test tighten transfer translate turn type uninstall unlock unplug update upload use verify visit wait wash wear
    withdraw write
"""  # noqa: E501
"""Verbs by which an English sentence that begins with one tells to do something."""
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_SIGNS_PER_EDIT = 3
_LONGEST_SPELT = 500


@dataclass(frozen=True, slots=True)
class Step:
    """A step and where it stands in its text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """A place of an alignment: index of the step of the truth, of the step beside it, or of both; and how
    alike these are.
    """

    edit: Edit
    truth: int | None
    own: int | None
    likeness: Likeness = "mismatch"


def find_steps(text: str, split_sentences: Callable[[str], list[tuple[int, int]]]) -> list[Step]:
    """The steps that a text lists, in order.

    A step is an item of a list: a line that begins with a number, a letter, "Step 3:" or a bullet, with the
    lines below that are indented; one of several consecutive numbers within a line; or, outside lists, an
    English sentence that tells to do something. Words that only say that a step comes next (then, finally)
    are not part of it.

    >>> from pytest_evalstudio.models.sentences import split_sentences
    >>> [step.text for step in find_steps("To pay: 1) Open the app. 2) Choose a card.", split_sentences)]
    ['Open the app.', 'Choose a card.']
    """
    found: list[Step] = []
    prose: list[tuple[int, int]] = []
    is_item, place = False, 0
    for line in text.splitlines(keepends=True):
        start, end = place, place + len(line.rstrip())
        place += len(line)
        item = None if _RULE.match(line) or _consecutive(list(_INLINE.finditer(line))) else _ITEM.match(line)
        if item is not None:
            found.append(_step(text, start + item.start("body"), end))
            is_item = True
        elif is_item and start < end and line[0] in " \t":
            found[-1] = _step(text, found[-1].start, end)
        else:
            is_item = False
            if prose and prose[-1][1] == start:
                prose[-1] = (prose[-1][0], place)
            else:
                prose.append((start, place))
    for start, end in prose:
        found += _in_prose(text, start, end, split_sentences)
    return sorted((step for step in found if re.search(r"\w", step.text)), key=lambda step: step.start)


def _in_prose(
    text: str, start: int, end: int, split_sentences: Callable[[str], list[tuple[int, int]]]
) -> list[Step]:
    part = text[start:end]
    numbers = _consecutive(list(_INLINE.finditer(part)))
    if numbers:
        ends = [*(number.start() for number in numbers[1:]), len(part)]
        before = _imperatives(text, start, start + numbers[0].start(), split_sentences)
        return before + [
            _step(text, start + number.end(), start + last)
            for number, last in zip(numbers, ends, strict=True)
        ]
    return _imperatives(text, start, end, split_sentences)


def _consecutive(numbers: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Numbers that count 1, 2, 3… through a text, two at least."""
    counted: list[re.Match[str]] = []
    for number in numbers:
        if int(number["number"]) == len(counted) + 1:
            counted.append(number)
    return counted if len(counted) > 1 else []


def _imperatives(
    text: str, start: int, end: int, split_sentences: Callable[[str], list[tuple[int, int]]]
) -> list[Step]:
    found = []
    for first, last in split_sentences(text[start:end]):
        step = _step(text, start + first, start + last)
        word = re.match(r"[a-z]+", step.text, re.IGNORECASE)
        if word and word[0].lower() in _imperative_verbs() and not step.text.endswith("?"):
            found.append(step)
    return found


@functools.lru_cache(maxsize=1)
def _imperative_verbs() -> frozenset[str]:
    return frozenset(_IMPERATIVES.split())


def _step(text: str, start: int, end: int) -> Step:
    """A step without the blanks around it and the connectives before it."""
    raw = text[start:end]
    lead = len(raw) - len(raw.lstrip())
    connective = _CONNECTIVE.match(raw, lead)
    if connective is not None and raw[connective.end() :].strip():
        lead = connective.end()
    body = raw[lead:].rstrip()
    return Step(" ".join(body.split()), start + lead, start + lead + len(body))


def merged(parts: Sequence[Sequence[str]]) -> list[str]:
    """Steps of consecutive parts of a procedure as one: what a part repeats of those before it stands there
    once.

    >>> merged([["open", "choose"], ["choose", "pay"], ["open", "choose"]])
    ['open', 'choose', 'pay']
    """
    found: list[str] = []
    for part in parts:
        if part and any(
            found[place : place + len(part)] == list(part) for place in range(len(found) - len(part) + 1)
        ):
            continue
        shared = next(
            (size for size in range(min(len(found), len(part)), 0, -1) if found[-size:] == list(part[:size])),
            0,
        )
        found += part[shared:]
    return found


def likeness(first: str, second: str) -> Likeness:
    """How alike two steps are, by the first rung of a ladder that holds: the same; but for punctuation; case;
    articles; spelling; or not.

    Each rung ignores what those before it ignore. Spelling: the shorter text, of 500 characters at most, has
    more than three per edit (Levenshtein).

    Source: A. Sudjianto, Evaluating Procedural Alignment and Sequence Detection, as H2O Eval Studio describes
        it.

    >>> likeness("Open the app.", "open an app"), likeness("Choose a colour", "choose a color"), likeness("Open", "Close")
    ('articles', 'spelling', 'mismatch')
    """  # noqa: E501
    if first == second:
        return "exact"
    ours, theirs = _forms(first), _forms(second)
    rungs: tuple[Likeness, ...] = ("punctuation", "case", "articles")
    for rung, own, other in zip(rungs, ours, theirs, strict=True):
        if own == other and own:
            return rung
    return "spelling" if _is_misspelt(ours[-1], theirs[-1]) else "mismatch"


@functools.lru_cache(maxsize=8192)
def _forms(text: str) -> tuple[str, str, str]:
    """A text without punctuation; and without case; and without articles."""
    plain = " ".join(_PUNCTUATION.sub(" ", text).split())
    folded = plain.casefold()
    return plain, folded, " ".join(_ARTICLE.sub(" ", folded).split())


def _is_misspelt(first: str, second: str) -> bool:
    """Whether the edit distance of two texts is less than a third of the shorter one's length.

    Source: Hyyrö, 2003 (Myers' bit-vector algorithm): a column of the table is two integers, its differences
        upwards and downwards.
    """
    shorter, longer = sorted((first, second), key=len)
    size, most = len(shorter), (len(shorter) - 1) // _SIGNS_PER_EDIT
    if not 0 < size <= _LONGEST_SPELT or len(longer) - size > most:
        return False
    places, full, last = _places(shorter), (1 << size) - 1, 1 << (size - 1)
    up, down, distance = full, 0, size
    for left, sign in zip(range(len(longer) - 1, -1, -1), longer, strict=True):
        same = places.get(sign, 0)
        level = same | down
        flat = (((same & up) + up) ^ up) | same
        rise, fall = down | ~(flat | up), up & flat
        distance += bool(rise & last) - bool(fall & last)
        if distance - left > most:
            return False
        rise = rise << 1 | 1
        up, down = (fall << 1 | ~(level | rise)) & full, rise & level & full
    return True


@functools.lru_cache(maxsize=8192)
def _places(text: str) -> dict[str, int]:
    """Sign to the places where it stands, as the bits of a number."""
    found: dict[str, int] = {}
    for place, sign in enumerate(text):
        found[sign] = found.get(sign, 0) | 1 << place
    return found


def align(
    truth: Sequence[str], own: Sequence[str], compare: Callable[[str, str], Likeness] = likeness
) -> list[Aligned]:
    """The cheapest way from one's own steps to the true ones; of several the one with the most matches.

    Args:
        truth: steps as they should be.
        own: steps as they are.
        compare: how alike two steps are; all but "mismatch" is a match and costs nothing.

    Returns:
        In order: matches, mismatches (one's own stands in place of the true one), insertions (a true step is
        to be put in), deletions (an own step is to be taken out), each of the latter three one edit.

    Source: Needleman and Wunsch, 1970; with these costs the distance of Levenshtein, 1966, over steps.

    >>> [one.edit for one in align(["open", "choose", "pay"], ["open", "pay", "smile"])]
    ['match', 'insertion', 'match', 'deletion']
    """
    found = {
        pair: compare(*pair) for pair in {(first, second) for first in set(truth) for second in set(own)}
    }
    costs = [[(place, 0) for place in range(len(own) + 1)]]
    for row, first in enumerate(truth, start=1):
        above, line = costs[-1], [(row, 0)]
        for column, second in enumerate(own, start=1):
            edits, unmatched = above[column - 1]
            diagonal = (
                (edits + 1, unmatched) if found[first, second] == "mismatch" else (edits, unmatched - 1)
            )
            down, right = above[column], line[-1]
            line.append(min(diagonal, (down[0] + 1, down[1]), (right[0] + 1, right[1])))
        costs.append(line)
    aligned = []
    row, column = len(truth), len(own)
    while row or column:
        here = costs[row][column]
        alike = found[truth[row - 1], own[column - 1]] if row and column else "mismatch"
        before = costs[row - 1][column - 1] if row and column else None
        if before is not None and here == (
            (before[0] + 1, before[1]) if alike == "mismatch" else (before[0], before[1] - 1)
        ):
            row, column = row - 1, column - 1
            aligned.append(Aligned("mismatch" if alike == "mismatch" else "match", row, column, alike))
        elif row and here == (costs[row - 1][column][0] + 1, costs[row - 1][column][1]):
            row -= 1
            aligned.append(Aligned("insertion", row, None))
        else:
            column -= 1
            aligned.append(Aligned("deletion", None, column))
    return aligned[::-1]
