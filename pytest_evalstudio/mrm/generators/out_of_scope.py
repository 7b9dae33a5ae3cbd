"""Questions that the documents do not answer."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.mrm.generators._amounts import amounts_asked
from pytest_evalstudio.mrm.generators._facts import facts_asked
from pytest_evalstudio.mrm.generators._tables import cells_asked
from pytest_evalstudio.mrm.texts.clauses import Clause, clauses
from pytest_evalstudio.mrm.texts.organisations import organisation_of
from pytest_evalstudio.mrm.texts.statements import inside

ANSWER = "The documents do not answer this question."
_SOURCES = (
    r"(?:documents?|documentation|context|information|sources?|texts?|excerpts?|passages?|materials?|polic(?:y|ies)|manual|report|leaflet"
    r"|knowledge base|files?|data|sections?|pages?)"
)
_STATED = (
    r"(?:answered|addressed|available|contained|covered|defined|described|detailed|disclosed|discussed|documented|explained|found|given"
    r"|included|indicated|known|listed|mentioned|provided|recorded|reported|shown|specified|stated)"
)
_STATES = (
    r"(?:address|answer|contain|cover|describe|detail|disclose|discuss|explain|give|have|hold|include|indicate|list|mention|name|offer"
    r"|provide|report|reveal|say|show|specify|state|tell)"
)
_NOT = r"(?:not|n['’]t|never|nowhere)"
REFUSAL = (
    rf"(?is)\b{_SOURCES}\b[^.!?]{{0,60}}?\b(?:do|does|did|has|have|is|are)(?:\s{_NOT}|n['’]t)\s(?:\w+\s){{0,3}}?(?:{_STATES}|{_STATED}|\w*(?:address|relat|relevan)\w*)"
    rf"|\b(?:is|are|was|were|been|be|being)(?:\s{_NOT}|n['’]t)\s(?:\w+\s){{0,3}}?{_STATED}\b"
    rf"|\b{_NOT}\s(?:\w+\s){{0,2}}?{_STATED}\s(?:in|by|within|anywhere)\b|\b(?:none|neither)\sof\sthe\s{_SOURCES}"
    rf"|\b{_SOURCES}\sonly\s{_STATES}s?"
    rf"|\b(?:there\s(?:is|are)|contains?|have|has|had|find|found|provides?|gives?|includes?|offers?|with|see)"
    rf"\s(?:no|not any)\s"
    rf"(?:\w+\s){{0,3}}?(?:information|mention|details?|answer|data|reference|indication|statement|evidence|word)"
    rf"|\bno\s(?:\w+\s){{0,2}}?(?:information|mention|details?|reference|indication|evidence)\b[^.!?]{{0,60}}?\b(?:is|are|was|in|on|about|of|could|can)\b"
    rf"|\b(?:ca(?:n\s?not|n['’]t)|could(?:\snot|n['’]t)|unable\sto|not\sable\sto|not\spossible\sto|impossible\sto|unfortunately[^.!?]{{0,40}}not)\s(?:\w+\s){{0,2}}?(?:answer|find|determine|tell|say|help|provide|locate|give|confirm|identify|(?:be\s)?(?:answered|determined|found)|be\s(?:answered|determined|found))"
    rf"|\b(?:do|does|did)(?:\snot|n['’]t)\s(?:actually\s|currently\s)?(?:know|have)\b"
    rf"|\b(?:outside|beyond|out\sof|not\s(?:within|in|part\sof))\s(?:of\s)?(?:the\s)?(?:scope|(?:provided\s|given\s)?{_SOURCES})"
    rf"|\b(?:insufficient|not\senough|lacks?|lacking|missing)\s(?:\w+\s){{0,2}}?(?:information|details?|data|context)"
    rf"|\b(?:{_SOURCES})\b[^.!?]{{0,30}}\b(?:silent|say[s]?\snothing|mentions?\snothing|contains?\snothing)\b|\bnothing\s(?:about|on|in)\b"
)
"""Pattern of a statement that the documents do not have the answer."""
PLACES = ("Lisbon", "Toronto", "Nairobi", "Oslo", "Auckland", "Santiago")
_CODE = re.compile(r"\b(?P<letters>[A-Z]{1,3})(?P<digits>\d{1,3})\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FIRMS = frozenset({"company", "group", "bank", "society", "manufacturer", "insurer"})


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
            questions = list(dict.fromkeys(near_misses(sentence, corpus, rng)))
            for question in rng.sample(questions, min(len(questions), 1)):
                yield Draft(
                    question=question, answer=ANSWER, condition=refuses(f"{question} {sentence}"), evidence=""
                )


def refuses(known: str = "") -> str:
    """Return the condition that an answer says that the documents lack the answer, and states no new number.

    Args:
        known: text whose numbers an answer may repeat.
    """
    numbers = "|".join(sorted({re.escape(number) for number in re.findall(r"\d+(?:[.,]\d+)*", known)}))
    but = rf"(?!(?:{numbers})(?![\d]))" if numbers else ""
    invented = Regexp(rf"(?<![\w.,]){but}\d")
    return f"{Regexp(REFUSAL)} AND NOT {invented}"


def near_misses(sentence: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    """Yield questions like those that a sentence answers, for something that no document has."""
    answerable = [asked.question for asked in amounts_asked(sentence, corpus)]
    answerable += [fact.question for fact in facts_asked(sentence, corpus)]
    for question in answerable:
        yield from _changed(question, corpus, rng)
    for cell in cells_asked(sentence):
        place = re.search(r"\sin (London|Paris|Berlin|New York|Madrid|Rome)\?$", cell.question)
        if place:
            yield from _elsewhere(cell.question, place[1], corpus, rng)
    for clause in clauses(sentence)[:1]:
        yield from _properties(clause, corpus)


def _changed(question: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    """Yield the question with another year, code or place."""
    text = _text(corpus)
    if year := _YEAR.search(question):
        earlier = [str(int(year[0]) - back) for back in (9, 11, 13) if str(int(year[0]) - back) not in text]
        if (
            earlier
            and re.match(r"How (?:many|much)|What |By what ", question)
            and " will " not in question
            and not re.search(r"\b(?:since|until|by)\s\S*$", question[: year.start()])
        ):
            yield question[: year.start()] + rng.choice(earlier) + question[year.end() :]
    if code := _CODE.search(question):
        width = len(code["digits"])
        free = [
            name
            for number in range(10 ** (width - 1), 10**width)
            if (name := f"{code['letters']}{number}").lower() not in text
        ]
        if free and re.match(r"What (?:does|should you do)", question) and "“" not in question:
            yield question[: code.start()] + rng.choice(free) + question[code.end() :]


def _elsewhere(question: str, place: str, corpus: Corpus, rng: random.Random) -> Iterator[str]:
    free = [name for name in PLACES if name.lower() not in _text(corpus)]
    if free:
        yield question.replace(place, rng.choice(free))


def _properties(clause: Clause, corpus: Corpus) -> Iterator[str]:
    """Yield questions for properties of the subject that the documents do not mention."""
    text, words = _text(corpus), clause.subject.split()
    subject = inside(clause.subject, corpus)
    is_definite = (words[0].lower() == "the" and len(words) <= 5) or all(word[0].isupper() for word in words)
    if not is_definite or clause.is_plural or re.search(r"\b(?:that|which|who)\b|\d", clause.subject):
        return
    head = clause.head
    if head in _FIRMS or (len(words) > 1 and clause.subject == _organisation(corpus)):
        if not re.search(r"\b(?:founded|established|set up|since)\b", text):
            yield f"When was {subject} founded?"
        if not re.search(r"\b(?:chief executive|managing director|ceo)\b", text):
            yield f"Who is the chief executive of {subject}?"
        if not re.search(r"\b(?:employs?|employees|staff|workforce|people)\b", text):
            yield f"How many people does {subject} employ?"
    is_thing = clause.verb == "weigh" and clause.voice == "active" and words[0].lower() == "the"
    if is_thing and not re.search(rf"\b{re.escape(head)}\b[^.]*(?:£|€|\$|price|cost)", text):
        yield f"How much does {subject} cost?"


@functools.lru_cache(maxsize=1)
def _organisation(corpus: Corpus) -> str:
    return organisation_of(corpus.sentences)


@functools.lru_cache(maxsize=1)
def _text(corpus: Corpus) -> str:
    return " ".join(corpus.sentences).lower()
