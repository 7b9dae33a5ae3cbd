"""Questions that the documents do not answer."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.checks.organisations import organisation_of
from pytest_evalstudio.contrib.questions.grammar.clauses import Clause, clauses
from pytest_evalstudio.contrib.questions.grammar.wording import uncapitalised
from pytest_evalstudio.contrib.questions.rules.amounts import quantity_questions
from pytest_evalstudio.contrib.questions.rules.facts import fact_questions
from pytest_evalstudio.contrib.questions.rules.refusals import REFUSAL, refusal_condition
from pytest_evalstudio.contrib.questions.rules.tables import cell_questions
from pytest_evalstudio.contrib.questions.words import lower_text, word_set
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator

_CITIES = ("Lisbon", "Toronto", "Nairobi", "Oslo", "Auckland", "Santiago")
_CITY_OF_TABLE = re.compile(r"\sin (London|Paris|Berlin|New York|Madrid|Rome)\?$")
_CODE = re.compile(r"\b(?P<letters>[A-Z]{1,3})(?P<digits>\d{1,3})\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_EARLIER = (9, 11, 13)
"""Years before the stated one: not the year before, which a report compares with."""
_FIRMS = word_set("company group bank society manufacturer insurer")


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
    answerable = [item.question for item in quantity_questions(sentence, corpus)]
    answerable += [fact.question for fact in fact_questions(sentence, corpus)]
    for question in answerable:
        yield from _with_earlier_year(question, corpus, rng)
        yield from _with_other_code(question, corpus, rng)
    for cell in cell_questions(sentence):
        yield from _with_other_city(cell.question, corpus, rng)
    for clause in clauses(sentence)[:1]:
        yield from _properties(clause, corpus)


def _with_earlier_year(question: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    year = _YEAR.search(question)
    if year is None:
        return
    candidates = (str(int(year[0]) - years) for years in _EARLIER)
    earlier = [name for name in candidates if name not in lower_text(corpus)]
    is_of_year = re.match(r"How (?:many|much)|What |By what ", question) and " will " not in question
    is_bound = re.search(r"\b(?:since|until|by)\s\S*$", question[: year.start()])
    if earlier and is_of_year and not is_bound:
        yield question[: year.start()] + rng.choice(earlier) + question[year.end() :]


def _with_other_code(question: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    code = _CODE.search(question)
    if code is None or "“" in question or not re.match(r"What (?:does|should you do)", question):
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


def _properties(clause: Clause, corpus: Corpus) -> Iterator[str]:
    """Yield questions for properties of the subject that the documents do not mention."""
    words = clause.subject.split()
    has_article = words[0].lower() == "the"
    is_definite = (has_article and len(words) <= 5) or all(word[0].isupper() for word in words)
    if not is_definite or clause.is_plural or re.search(r"\b(?:that|which|who)\b|\d", clause.subject):
        return
    text, subject = lower_text(corpus), uncapitalised(clause.subject, corpus)
    if clause.head in _FIRMS or (len(words) > 1 and clause.subject == _organisation(corpus)):
        if not re.search(r"\b(?:founded|established|set up|since)\b", text):
            yield f"When was {subject} founded?"
        if not re.search(r"\b(?:chief executive|managing director|ceo)\b", text):
            yield f"Who is the chief executive of {subject}?"
        if not re.search(r"\b(?:employs?|employees|staff|workforce|people)\b", text):
            yield f"How many people does {subject} employ?"
    is_thing = clause.verb == "weigh" and clause.voice == "active" and has_article
    if is_thing and not re.search(rf"\b{re.escape(clause.head)}\b[^.]*(?:£|€|\$|price|cost)", text):
        yield f"How much does {subject} cost?"


@functools.lru_cache(maxsize=1)
def _organisation(corpus: Corpus) -> str:
    return organisation_of(corpus.sentences)
