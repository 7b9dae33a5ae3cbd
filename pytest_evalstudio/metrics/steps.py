"""Steps of a procedure: extraction by rules, comparison and alignment."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.text.folding import fold

Likeness = Literal["exact", "punctuation", "case", "articles", "spelling", "meaning", "mismatch"]
Edit = Literal["match", "mismatch", "insertion", "deletion"]

_ITEM = re.compile(
    r"[ \t]*(?:(?:\*\*|__)?(?i:step)[ \t]+\d{1,3}(?:\*\*|__)?["
    r" \t]*[:.)–—-](?:\*\*|__)?|\(?\d{1,3}[.)]|\(?[a-z][.)]|\(?[A-Z]\)|[-*+•‣◦▪–])"
    r"[ \t]+(?P<body>\S.*)"
)
# A digit, point or currency before the number makes it part of an amount, e.g. "$5.".
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
"""First words of English imperative sentences."""
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_SIGNS_PER_EDIT = 3
_LONGEST_SPELT = 500


@dataclass(frozen=True, slots=True)
class TextStep:
    """Step with its position in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Aligned:
    """Position of an alignment.

    Attributes:
        edit: operation that turns the actual steps into the true ones.
        truth: index of the true step; None for a deletion.
        actual: index of the actual step; None for an insertion.
        likeness: level at which the two steps are equal.
    """

    edit: Edit
    truth: int | None
    actual: int | None
    likeness: Likeness = "mismatch"


def find_steps(text: str, split_sentences: Callable[[str], list[tuple[int, int]]]) -> list[TextStep]:
    """Extract the steps of a procedure.

    A step is an item of a list: a line that begins with a number, a letter, "Step 3:" or a bullet, with its
    indented continuation lines; an item of a numbered list within a line; or, outside lists, an English
    imperative sentence. Connectives (then, finally) are not part of a step.

    Args:
        text: any text; time is linear in its length.
        split_sentences: returns start and end of each sentence.

    Returns:
        Steps in order.

    >>> text = "To pay: 1) Open the app. 2) Choose a card."
    >>> [step.text for step in find_steps(text, lambda part: [(0, len(part))])]
    ['Open the app.', 'Choose a card.']
    """
    items: list[tuple[int, int]] = []
    prose: list[tuple[int, int]] = []
    is_item, position = False, 0
    for line in text.splitlines(keepends=True):
        start, end = position, position + len(line.rstrip())
        position += len(line)
        item = _item(line) if start < end else None
        if item is not None:
            items.append((start + item.start("body"), end))
            is_item = True
        elif is_item and start < end and line[0] in " \t":
            items[-1] = (items[-1][0], end)
        else:
            is_item = False
            # Lines of one paragraph together, since sentences may go on in the next line.
            if prose and prose[-1][1] == start:
                prose[-1] = (prose[-1][0], position)
            else:
                prose.append((start, position))
    steps = [_step(text, start, end) for start, end in items]
    for start, end in prose:
        steps += _in_prose(text, start, end, split_sentences)
    return sorted((step for step in steps if re.search(r"\w", step.text)), key=lambda step: step.start)


def _item(line: str) -> re.Match[str] | None:
    """Return the match of a line that is one item of a list."""
    # "1. Open. 2. Pay." in one line has several items, which `_in_prose` divides.
    if _RULE.match(line) or _consecutive(list(_INLINE.finditer(line))):
        return None
    return _ITEM.match(line)


def _in_prose(
    text: str, start: int, end: int, split_sentences: Callable[[str], list[tuple[int, int]]]
) -> list[TextStep]:
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
    """Return the numbers that count 1, 2, 3…; [] for fewer than two."""
    counted: list[re.Match[str]] = []
    for number in numbers:
        if int(number["number"]) == len(counted) + 1:
            counted.append(number)
    return counted if len(counted) > 1 else []


def _imperatives(
    text: str, start: int, end: int, split_sentences: Callable[[str], list[tuple[int, int]]]
) -> list[TextStep]:
    steps = []
    for first, last in split_sentences(text[start:end]):
        step = _step(text, start + first, start + last)
        word = re.match(r"[a-z]+", step.text, re.IGNORECASE)
        if word and word[0].lower() in _imperative_verbs() and not step.text.endswith("?"):
            steps.append(step)
    return steps


@functools.lru_cache(maxsize=1)
def _imperative_verbs() -> frozenset[str]:
    return frozenset(_IMPERATIVES.split())


def _step(text: str, start: int, end: int) -> TextStep:
    """Return a step without surrounding white space and leading connectives."""
    raw = text[start:end]
    lead = len(raw) - len(raw.lstrip())
    connective = _CONNECTIVE.match(raw, lead)
    # "Next" alone is the step itself, e.g. a button.
    if connective is not None and raw[connective.end() :].strip():
        lead = connective.end()
    body = raw[lead:].rstrip()
    return TextStep(" ".join(body.split()), start + lead, start + lead + len(body))


def merged(parts: Sequence[Sequence[str]]) -> list[str]:
    """Join the steps of consecutive, possibly overlapping parts of a procedure.

    Args:
        parts: steps of each part.

    Returns:
        All steps in order, repeated ones at the seams once.

    >>> merged([["open", "choose"], ["choose", "pay"], ["open", "choose"]])
    ['open', 'choose', 'pay']
    """
    joined: list[str] = []
    for part in parts:
        shared = _overlap(joined, part)
        joined += part[shared:]
    return joined


def _overlap(steps: Sequence[str], part: Sequence[str]) -> int:
    """Return the length of the longest beginning of a part at the end of the steps; all of it if it occurs.

    Source: Knuth, Morris and Pratt, 1977; linear in the number of steps.
    """
    borders = [0]
    size = 0
    for position in range(1, len(part)):
        while size and part[position] != part[size]:
            size = borders[size - 1]
        size += part[position] == part[size]
        borders.append(size)
    size = 0
    for step in steps if part else ():
        while size and step != part[size]:
            size = borders[size - 1]
        size += step == part[size]
        if size == len(part):
            return size
    return size


def likeness(first: str, second: str) -> Likeness:
    """Compare two steps.

    Levels, each ignoring what the previous ones ignore: exact, punctuation, case, articles, spelling. Equal
    up to spelling: the shorter text, of at most 500 characters, has more than three characters per edit
    (Levenshtein).

    Args:
        first: text of a step.
        second: text of another step.

    Returns:
        The first level at which the steps are equal, else "mismatch".

    Source: A. Sudjianto, Evaluating Procedural Alignment and Sequence Detection, as described by H2O Eval
        Studio.

    >>> likeness("Open the app.", "open an app"), likeness("Choose a colour", "choose a color")
    ('articles', 'spelling')
    """
    if first == second:
        return "exact"
    first_forms, second_forms = _forms(first), _forms(second)
    levels: tuple[Likeness, ...] = ("punctuation", "case", "articles")
    for level, form, other in zip(levels, first_forms, second_forms, strict=True):
        if form == other and form:
            return level
    return "spelling" if _is_misspelt(first_forms[-1], second_forms[-1]) else "mismatch"


@functools.lru_cache(maxsize=8192)
def _forms(text: str) -> tuple[str, str, str]:
    """Return a text without punctuation, then without case, then without articles."""
    plain = " ".join(_PUNCTUATION.sub(" ", fold(text)).split())
    folded = plain.casefold()
    return plain, folded, " ".join(_ARTICLE.sub(" ", folded).split())


def _is_misspelt(first: str, second: str) -> bool:
    """Return True if the edit distance of two texts is less than a third of the shorter one's length.

    Source: Hyyrö, 2003 (Myers' bit-vector algorithm): two integers hold the vertical differences of a column.
    """
    shorter, longer = sorted((first, second), key=len)
    # With size − 1, so that there are more than three characters for each edit, not just three.
    size, most = len(shorter), (len(shorter) - 1) // _SIGNS_PER_EDIT
    if not 0 < size <= _LONGEST_SPELT or len(longer) - size > most:
        return False
    first_counts, second_counts = _unary_counts(shorter), _unary_counts(longer)
    if (second_counts & ~first_counts).bit_count() > most or (
        first_counts & ~second_counts
    ).bit_count() > most:
        return False  # an edit adds or removes one character at most
    positions, full, last = _places(shorter), (1 << size) - 1, 1 << (size - 1)
    up, down, distance = full, 0, size
    for remaining, sign in zip(range(len(longer) - 1, -1, -1), longer, strict=True):
        same = positions.get(sign, 0)
        level = same | down
        flat = (((same & up) + up) ^ up) | same
        rise, fall = down | ~(flat | up), up & flat
        distance += bool(rise & last) - bool(fall & last)
        # Each remaining character lowers the distance by 1 at most.
        if distance - remaining > most:
            return False
        rise = rise << 1 | 1
        up, down = (fall << 1 | ~(level | rise)) & full, rise & level & full
    return True


@functools.lru_cache(maxsize=8192)
def _unary_counts(text: str) -> int:
    """Return the number of each kind of character as that many bits; more than 16 count as 16."""
    counts = [0] * 32
    for char in text:
        counts[ord(char) % 32] += 1  # kinds that share a place hide differences, and never add one
    return sum((1 << min(count, 16)) - 1 << 16 * kind for kind, count in enumerate(counts))


@functools.lru_cache(maxsize=8192)
def _places(text: str) -> dict[str, int]:
    """Return the positions of each character as bits of an integer."""
    positions: dict[str, int] = {}
    for position, char in enumerate(text):
        positions[char] = positions.get(char, 0) | 1 << position
    return positions


def align(
    truth: Sequence[str], actual: Sequence[str], compare: Callable[[str, str], Likeness] = likeness
) -> list[Aligned]:
    """Align actual steps with the true steps at minimum cost; among equal costs with the most matches.

    Args:
        truth: expected steps.
        actual: steps to be aligned.
        compare: returns the likeness of two steps; every level but "mismatch" is a match without cost.

    Returns:
        Positions in order: matches, mismatches (an actual step replaces a true one), insertions (a true step
        is missing), deletions (an actual step is superfluous); each of the latter three is one edit.

    Source: Needleman and Wunsch, 1970; with these costs the distance of Levenshtein, 1966, over steps.

    >>> [position.edit for position in align(["open", "choose", "pay"], ["open", "pay", "smile"])]
    ['match', 'insertion', 'match', 'deletion']
    """
    # Each pair of different texts once: long procedures
    # repeat steps, and comparing them takes most of the time.
    levels = {
        pair: compare(*pair) for pair in {(first, second) for first in set(truth) for second in set(actual)}
    }
    costs = [[(column, 0) for column in range(len(actual) + 1)]]
    for row, first in enumerate(truth, start=1):
        above, line = costs[-1], [(row, 0)]
        for column, second in enumerate(actual, start=1):
            edits, unmatched = above[column - 1]
            diagonal = (
                # Negative, so that `min` prefers more matches among equal numbers of edits.
                (edits + 1, unmatched) if levels[first, second] == "mismatch" else (edits, unmatched - 1)
            )
            down, right = above[column], line[-1]
            line.append(min(diagonal, (down[0] + 1, down[1]), (right[0] + 1, right[1])))
        costs.append(line)
    aligned = []
    row, column = len(truth), len(actual)
    while row or column:
        cost = costs[row][column]
        alike = levels[truth[row - 1], actual[column - 1]] if row and column else "mismatch"
        before = costs[row - 1][column - 1] if row and column else None
        # The diagonal first: a mismatch is shown in place of an insertion and a deletion at equal cost.
        if before is not None and cost == (
            (before[0] + 1, before[1]) if alike == "mismatch" else (before[0], before[1] - 1)
        ):
            row, column = row - 1, column - 1
            aligned.append(Aligned("mismatch" if alike == "mismatch" else "match", row, column, alike))
        elif row and cost == (costs[row - 1][column][0] + 1, costs[row - 1][column][1]):
            row -= 1
            aligned.append(Aligned("insertion", row, None))
        else:
            column -= 1
            aligned.append(Aligned("deletion", None, column))
    return aligned[::-1]
