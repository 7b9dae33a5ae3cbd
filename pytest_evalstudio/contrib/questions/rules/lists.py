"""Questions for lists: a sentence that ends with a colon, and its items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from pytest_evalstudio.contrib.questions.parsing.frames import frames
from pytest_evalstudio.contrib.questions.parsing.pipeline import open_pipeline
from pytest_evalstudio.contrib.questions.rules.composition import ask
from pytest_evalstudio.contrib.questions.rules.conditions import list_condition
from pytest_evalstudio.contrib.questions.rules.slots import make_fact
from pytest_evalstudio.contrib.questions.rules.wording import as_customer
from pytest_evalstudio.core.plugins.generator import Corpus, Draft

_MARK = re.compile(r"^(?:[-–•*]|\(?[a-z]\)|\d+[.)])\s")
_INLINE = re.compile(r"(?:^|;?\s)(?:[-–•]|\([a-z]\))\s(?=[a-z])")
"""Mark of an item in a text that has all items on one line."""
_NUMBER_OF_ITEMS = range(2, 7)
MAX_SENTENCES = 9
"""Sentences that decide: the introduction, the items, and what follows them."""
_MAX_ITEM_WORDS = 12
_MIN_WORDS = 3
"""Minimum length of what holds for all items: "not allowed" does not say where."""
_FOLLOWING = re.compile(
    r"The following\s(?:(?P<noun>[a-z]+s)\s)?(?P<aux>are|is|cannot be|must be|may not be)\s(?P<rest>.+)"
)
_UNCLEAR = re.compile(r"(?i)\b(?:it|they|them|this|these|those|such|following)\b")
_PLAIN_LEAD = re.compile(r"(?P<subject>You|We)\s(?P<aux>must|should|may|can)\s(?P<verb>[a-z]+)")
_OBJECT = "everything"
"""Stands for the list where its sentence is parsed."""


def list_draft(sentences: Sequence[str], corpus: Corpus) -> Draft | None:
    """Return the question for the list that the first sentence introduces and the others contain.

    Args:
        sentences: of a chunk.
        corpus: names the pipeline that parses the introduction.
    """
    items = _items(sentences[1:]) if sentences[0].endswith(":") else []
    question = _question(sentences[0].removesuffix(":"), corpus) if items else ""
    condition = list_condition(items) if question else ""
    fact = make_fact(question, "; ".join(items), condition) if condition else None
    if fact is None:
        return None
    count = 1 if _INLINE.match(sentences[1]) and len(_split(sentences[1])) > 1 else len(items)
    return Draft(
        question=fact.question,
        answer=fact.answer,
        condition=fact.condition,
        evidence="\n".join(sentences[: count + 1]),
    )


def _items(sentences: Sequence[str]) -> list[str]:
    """Return the items at the beginning of sentences; [] for no list, or one whose end is not sure."""
    items = _split(sentences[0]) if sentences else []
    if len(items) < 2:
        items = [_MARK.sub("", text) for text in takewhile(_is_item, sentences)]
        ends = [at for at, text in enumerate(items) if text.endswith(".")]
        if ends:
            items = items[: ends[0] + 1]
        elif len(items) == len(sentences):
            return []  # the chunk may end within the list
    items = [text.rstrip(";,. ") for text in items]
    is_short = all(len(text.split()) <= _MAX_ITEM_WORDS for text in items)
    return items if len(items) in _NUMBER_OF_ITEMS and is_short else []


def _is_item(text: str) -> bool:
    return _MARK.sub("", text)[:1].islower()


def _split(text: str) -> list[str]:
    """Return the items of a list on one line."""
    return [part for part in _INLINE.split(text) if part.strip()] if _INLINE.match(text) else []


def _question(lead: str, corpus: Corpus) -> str:
    """Return the question for the words before a list; "" where the rules are not sure."""
    if match := _FOLLOWING.fullmatch(lead):
        if _UNCLEAR.search(match["rest"]) or len(match["rest"].split()) < _MIN_WORDS:
            return ""
        if match["noun"]:
            return as_customer(f"Which {match['noun']} {match['aux']} {match['rest']}?")
        return as_customer(f"What {'is' if match['aux'] == 'are' else match['aux']} {match['rest']}?")
    lead = re.sub(r"\s(?:that|the following)$", "", lead)
    pipeline = open_pipeline(corpus.pipeline)
    doc = pipeline.parse(f"{lead} {_OBJECT}.") if pipeline is not None else None
    if pipeline is None or doc is None:
        match = _PLAIN_LEAD.fullmatch(lead)
        question = f"What {match['aux']} {match['subject'].lower()} {match['verb']}?" if match else ""
        return as_customer(question)
    for frame in frames(doc, pipeline.language)[:1]:
        if not frame.rest or frame.rest[-1].text != _OBJECT or frame.negation is not None:
            continue
        first = frame.subject[0] if frame.subject else None
        overrides = {first.i: first.text[0].lower() + first.text[1:]} if first is not None else {}
        return ask(replace(frame, overrides=overrides), "What", {frame.rest[-1].i})
    return ""
