"""Drafts of plain questions for the quantities and facts of an excerpt."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from pytest_evalstudio.contrib.questions.quantities import Kind, pattern, quantities
from pytest_evalstudio.contrib.questions.rules.conditions import stated_condition
from pytest_evalstudio.contrib.questions.rules.fact import Fact
from pytest_evalstudio.contrib.questions.rules.lists import MAX_SENTENCES, list_draft
from pytest_evalstudio.contrib.questions.rules.sentences import sentence_questions
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion
from pytest_evalstudio.contrib.questions.rules.tables import cell_questions
from pytest_evalstudio.contrib.questions.rules.wording import as_customer, uncapitalised
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt

NUMERICAL: tuple[Kind, ...] = ("money", "percent", "measure", "number")
TEMPORAL: tuple[Kind, ...] = ("date", "period")


def quantity_drafts(excerpt: Excerpt, corpus: Corpus, kinds: Container[Kind]) -> Iterator[Draft]:
    """Yield a draft for each quantity of some kinds that the sentences and tables of an excerpt state."""
    for sentence in excerpt.sentences:
        cells = [cell for cell in cell_questions(sentence, corpus) if isinstance(cell, QuantityQuestion)]
        labelled = labelled_questions(sentence, corpus)
        for item in (*sentence_questions(sentence, corpus).amounts, *labelled, *cells):
            if item.quantity.kind in kinds:
                yield Draft(
                    question=item.question,
                    answer=item.answer,
                    condition=stated_condition(item.answer, item.quantity.text, item.condition, sentence),
                    evidence=sentence,
                )


def fact_drafts(excerpt: Excerpt, corpus: Corpus) -> Iterator[Draft]:
    """Yield a draft for each fact that the sentences, lists and tables of an excerpt state."""
    for number, sentence in enumerate(excerpt.sentences):
        if draft := list_draft(excerpt.sentences[number : number + MAX_SENTENCES], corpus):
            yield draft
        cells = [cell for cell in cell_questions(sentence, corpus) if isinstance(cell, Fact)]
        for fact in (*sentence_questions(sentence, corpus).facts, *cells):
            yield Draft(
                question=fact.question,
                answer=fact.answer,
                condition=fact.condition,
                evidence=sentence,
            )


_LABELLED = re.compile(
    r"(?:[-–•*]\s|\(?[a-z\d]{1,2}[.)]\s)?(?P<label>[A-Za-z][^:;.|]{4,60}):\s(?P<value>[^:;|]{2,60}?)[.;,]?$"
)
_RATE = re.compile(r"(?:\s(?:each|per\s\w+|an?\s\w+))?$")
_MAX_WORDS = 8


def labelled_questions(sentence: str, corpus: Corpus) -> Iterator[QuantityQuestion]:
    """Yield the question for the single amount of money, or time limit, that follows a label."""
    match = _LABELLED.fullmatch(" ".join(sentence.split()))
    if match is None or len(match["label"].split()) > _MAX_WORDS or quantities(match["label"]):
        return
    value = match["value"]
    hits = quantities(value)
    if len(hits) != 1:
        return
    quantity, before = hits[0], value[: hits[0].start].strip()
    rate = _RATE.fullmatch(value[quantity.end :])
    is_limit = quantity.kind == "period" and before == "within"
    if rate is None or not (is_limit or (quantity.kind == "money" and not before)):
        return
    label = as_customer(uncapitalised(match["label"], corpus))
    noun = "time limit" if is_limit else "charge"
    yield QuantityQuestion(
        question=f"What is the {noun} for {label}?",
        quantity=quantity,
        answer=value if is_limit else f"{quantity.text}{rate.group()}",
        condition=pattern(quantity.text),
    )
