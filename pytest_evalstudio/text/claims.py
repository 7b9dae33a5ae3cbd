"""Claims of a text: the units that evaluators of support and similarity compare.

Headings, leads and names of columns are structure. A short sentence without content of its own is judged
together with its neighbour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.numbers import CITATION, Figure, figures_of
from pytest_evalstudio.text.sentences import Unit, cells_of, split_units

SHORT_CHARS = 10
"""Sentences of at most this many characters ("Yes.") are joined to a neighbour."""
_STRUCTURE = ("heading", "lead", "header")
_WORD = re.compile(r"\w")
_NUMBER = re.compile(
    r"\d|[½¼¾⅓⅔]|\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty"
    r"|hundred|thousand|million|half|none|twice|once)\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:no|not|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t|false|wrong|incorrect)\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
)
"""Scripts without spaces between words, where ten characters are a long sentence."""
_CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w'’]*")
_OPENING_WORDS = """
a absolutely actually agreed all alright also an and as at but by certainly correct definitely done dear
exactly first for good great hello here hey hi hmm how however i if in indeed it next now of ok okay on
one or please really right second see so sorry sure thank thanks that the then there these they this true
two understood we welcome well what when yeah yep yes you your
"""
_OPENERS = frozenset(_OPENING_WORDS.split())


class Claim(NamedTuple):
    """Unit of a text that is compared, with what was joined to it.

    Attributes:
        start: index of its first character.
        end: index after its last character.
        text: what is compared; of a table row, its cells with the names of their columns.
    """

    start: int
    end: int
    text: str


def claims_of(text: str) -> list[Claim]:
    r"""Return the claims of a text, in order; [] for a text without words.

    >>> [claim.text for claim in claims_of("Here are the fees:\n- Fee: $99.\n- Term: 2 years")]
    ['Fee: $99.', 'Term: 2 years']
    >>> [claim.text for claim in claims_of("Of course. The card is free of charge.")]
    ['Of course. The card is free of charge.']
    >>> claims_of("| Card | Fee |\n|---|---|\n| Gold | 5 USD |")[0].text
    'Card: Gold; Fee: 5 USD'
    """
    return list(_claims(text))


@cached_by_text
def _claims(text: str) -> Sequence[Claim]:
    units = [unit for unit in split_units(text) if _WORD.search(text, unit.start, unit.end)]
    # A text of nothing but structure, e.g. a single heading, still has to be compared by something.
    content = [unit for unit in units if not _is_structure(unit, text)] or units
    return tuple(_joined(content, text))


def claim_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of the claims of a text."""
    return [(claim.start, claim.end) for claim in claims_of(text)]


def content_of(text: str) -> str:
    r"""Return a text of the same length with blanks in place of markers, citations and signs of structure.

    >>> content_of("1. It is free [2].\n2. Open")
    '   It is free    .    Open'
    """
    parts: list[str] = []
    position = 0
    for unit in split_units(text):
        parts += " " * (unit.start - position), text[unit.start : unit.end]
        position = unit.end
    return CITATION.sub(lambda match: " " * len(match[0]), "".join(parts)) + " " * (len(text) - position)


_LABEL = re.compile(
    r"(?:\*\*|__)?[\"']?[^\W_](?:[^:=\n|.!?;,]{0,38}[^\s:=\n|.!?;,])?\s?(?:=|[:：])(?:\*\*|__)?(?=\s|$)"
)
_CODE_KEY = re.compile(
    r"^[ \t]*[\"']?[^\W\d][\w .-]{0,40}[\"']?[ \t]?(?:=(?!=)|:(?=\s|$))|[\"'][\w .-]{1,40}[\"']\s?:",
    re.MULTILINE,
)
_MAX_LABEL_WORDS = 4


def statements_of(text: str) -> str:
    r"""Return a text of the same length with blanks in place of all that names and states nothing.

    These are markers and citations, headings and names of columns without a number, labels before a colon or
    an equals sign, and the first cells of rows with two cells.

    >>> statements_of("Fee: $99.\n- **Term:** 2 years")
    '     $99.             2 years'
    """
    content = content_of(text)
    hidden = [span for unit in split_units(text) for span in _labels(unit, content)]
    parts: list[str] = []
    position = 0
    for start, end in hidden:
        parts += content[position:start], " " * (end - start)
        position = end
    return "".join((*parts, content[position:]))


def _labels(unit: Unit, text: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a unit that are names."""
    if _is_structure(unit, text):
        yield unit.start, unit.end
    elif unit.kind == "row":
        first = text.find("|", unit.start + 1, unit.end)
        if len(cells_of(text[unit.start : unit.end])) == 2 and first > 0:
            yield unit.start, first
    elif unit.kind == "code":
        for match in _CODE_KEY.finditer(text[unit.start : unit.end]):
            yield unit.start + match.start(), unit.start + match.end()
    else:
        label = _LABEL.match(text, unit.start, unit.end)
        if label and len(label[0].split()) <= _MAX_LABEL_WORDS and label.end() < unit.end:
            yield unit.start, label.end()


@cached_by_text
def stated_figures(text: str) -> Sequence[Figure]:
    """Return the figures that a text states: those of markers and citations are structure."""
    return figures_of(content_of(text))


def _is_structure(unit: Unit, text: str) -> bool:
    """Return True for a unit that names what follows; a heading with a number says something itself."""
    return unit.kind in _STRUCTURE and not _NUMBER.search(text, unit.start, unit.end)


def says_something(sentence: str) -> bool:
    """Return True if a sentence, however short, has a number, a negation, a name or an ideograph.

    >>> [says_something(text) for text in ("Fee: $99.", "No.", "Paris.", "必须。", "Sure.", "It is so.")]
    [True, True, True, True, False, False]
    """
    return bool(
        _NUMBER.search(sentence)
        or _NEGATION.search(sentence)
        or _UNSPACED.search(sentence)
        or any(word.casefold() not in _OPENERS for word in _CAPITALISED.findall(sentence))
    )


def _joined(units: Sequence[Unit], text: str) -> list[Claim]:
    """Join short sentences that say nothing to the next one, those at the end to the one before."""
    claims: list[Claim] = []
    waiting: list[Claim] = []
    for unit in units:
        claim = Claim(unit.start, unit.end, _text_of(unit, text))
        is_short = unit.end - unit.start <= SHORT_CHARS and unit.kind in ("sentence", "item")
        if is_short and not says_something(claim.text):
            waiting.append(claim)
        else:
            claims.append(_one([*waiting, claim]))
            waiting = []
    if not claims:
        return waiting
    return [*claims[:-1], _one([claims[-1], *waiting])]


def _one(claims: Sequence[Claim]) -> Claim:
    if len(claims) == 1:
        return claims[0]
    return Claim(claims[0].start, claims[-1].end, " ".join(claim.text for claim in claims))


def _text_of(unit: Unit, text: str) -> str:
    content = text[unit.start : unit.end]
    if unit.kind != "row":
        return content
    cells = cells_of(content)
    if len(cells) != len(unit.names):
        return "; ".join(cell for cell in cells if cell)
    return "; ".join(
        f"{name}: {cell}" if name else cell for name, cell in zip(unit.names, cells, strict=True) if cell
    )
