"""Questions that the documents do not answer."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.checks.organisations import organisation_of
from pytest_evalstudio.contrib.questions.rules.refusals import REFUSAL, refusal_condition
from pytest_evalstudio.contrib.questions.rules.sentences import sentence_questions
from pytest_evalstudio.contrib.questions.rules.slots import Fact
from pytest_evalstudio.contrib.questions.rules.tables import cell_questions
from pytest_evalstudio.contrib.questions.words import lower_text
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator

_CITIES = ("Lisbon", "Toronto", "Nairobi", "Oslo", "Auckland", "Santiago")
_CITY_OF_TABLE = re.compile(r"\s(?:in|for) (London|Paris|Berlin|New York|Madrid|Rome)\?$")
_CODE = re.compile(r"\b(?P<letters>[A-Z]{1,3})(?P<digits>\d{1,3})\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_EARLIER = (9, 11, 13)
"""Years before the stated one: not the year before, which a report compares with."""
_FIRM = re.compile(
    r"\b(?:Bank|Society|Company|Group|Ltd|plc|Water|Council|Trust|Association|Co-operative|Museum|University|Hospital"
    r"|Clinic|Energy|Insurance|Union)\b"
)
_ABSENT = (
    ("When was {name} founded?", r"\b(?:founded|established|set up|since)\b"),
    ("Who is the chief executive of {name}?", r"\b(?:chief executive|managing director|ceo)\b"),
    ("How many people does {name} employ?", r"\b(?:employs?|employees|staff|workforce)\b"),
)
"""Question for a property of an organisation, and the words of documents that may answer it."""


@generator(
    "out_of_scope",
    name="Out of scope",
    unanswerable=True,
    instruction=(
        "Each question is one that a reader of the excerpt might well ask next, near its subject, and that"
        " the excerpt does not answer. Ask for something so specific that no other page of the same documents"
        " is likely to answer it either. The answer is “The documents do not answer this question.” and the"
        " evidence is an empty list."
    ),
)
@dataclass(frozen=True)
class OutOfScope:
    """Ask for a fact near those of the documents that they lack: another year, code, place or property."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for sentence in excerpt.sentences:
            questions = list(dict.fromkeys(_near_misses(sentence, corpus, rng)))
            for question in rng.sample(questions, min(len(questions), 1)):
                yield Draft(
                    question=question,
                    answer=REFUSAL,
                    condition=refusal_condition(f"{question} {sentence}"),
                    evidence="",
                )


def _near_misses(sentence: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    """Yield questions like those that a sentence answers, for something that no document has."""
    items = sentence_questions(sentence, corpus)
    answerable = [item.question for item in items.amounts] + [fact.question for fact in items.facts]
    cells = list(cell_questions(sentence, corpus))
    answerable += [cell.question for cell in cells if isinstance(cell, Fact)]
    for question in answerable:
        yield from _with_earlier_year(question, corpus, rng)
        yield from _with_other_code(question, corpus, rng)
    for cell in cells:
        yield from _with_earlier_year(cell.question, corpus, rng)
        yield from _with_other_city(cell.question, corpus, rng)
    name = _organisation(corpus)
    if name and _FIRM.search(name) and sentence.startswith(f"{name} "):
        text = lower_text(corpus)
        yield from (question.format(name=name) for question, words in _ABSENT if not re.search(words, text))


def _with_earlier_year(question: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    year = _YEAR.search(question)
    if year is None:
        return
    candidates = (str(int(year[0]) - years) for years in _EARLIER)
    earlier = [name for name in candidates if name not in lower_text(corpus)]
    is_of_year = re.match(r"How (?:many|much)|What |By what ", question) and not re.search(
        r"\b(?:will|expect)\b", question
    )
    is_bound = re.search(r"\b(?:since|until|by)\s\S*$", question[: year.start()])
    if earlier and is_of_year and not is_bound:
        yield question[: year.start()] + rng.choice(earlier) + question[year.end() :]


def _with_other_code(question: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    code = _CODE.search(question)
    if code is None or "“" in question or not re.match(r"What (?:does|should I do)", question):
        return
    width = len(code["digits"])
    codes = (f"{code['letters']}{number}" for number in range(10 ** (width - 1), 10**width))
    free = [name for name in codes if name.lower() not in lower_text(corpus)]
    if free:
        yield question[: code.start()] + rng.choice(free) + question[code.end() :]


def _with_other_city(question: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    city = _CITY_OF_TABLE.search(question)
    free = [name for name in _CITIES if name.lower() not in lower_text(corpus)]
    if city and free:
        yield question.replace(city[1], rng.choice(free))


@functools.lru_cache(maxsize=1)
def _organisation(corpus: Corpus) -> str:
    return organisation_of(corpus.sentences)
