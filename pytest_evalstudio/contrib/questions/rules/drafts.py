"""Drafts of plain questions for the quantities and facts of an excerpt."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import takewhile

from pytest_evalstudio.contrib.questions.quantities import Kind, pattern, quantities
from pytest_evalstudio.contrib.questions.rules.conditions import stated_condition
from pytest_evalstudio.contrib.questions.rules.lists import MAX_SENTENCES, list_draft
from pytest_evalstudio.contrib.questions.rules.sentences import sentence_questions
from pytest_evalstudio.contrib.questions.rules.slots import Fact, QuantityQuestion
from pytest_evalstudio.contrib.questions.rules.tables import cell_questions
from pytest_evalstudio.contrib.questions.rules.wording import as_customer, uncapitalised
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt

NUMERICAL: tuple[Kind, ...] = ("money", "percent", "measure", "number")
TEMPORAL: tuple[Kind, ...] = ("date", "period")


def quantity_drafts(excerpt: Excerpt, corpus: Corpus, kinds: Container[Kind]) -> Iterator[Draft]:
    """Yield a draft for each quantity of some kinds that the sentences and tables of an excerpt state."""
    for number, sentence in enumerate(excerpt.sentences):
        yield from _item_drafts(excerpt.sentences[number : number + MAX_SENTENCES], corpus, kinds)
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


def _item_drafts(sentences: Sequence[str], corpus: Corpus, kinds: Container[Kind]) -> Iterator[Draft]:
    """Yield a draft for each quantity of the items that continue a sentence: "You must:"."""
    lead = sentences[0].removesuffix(":")
    if (
        not re.search(r"\s(?:must|shall|should|may|can|will|to)$", lead)
        or len(lead.split()) > _MAX_LEAD_WORDS
    ):
        return
    for item in takewhile(lambda text: text[:1].islower(), sentences[1:]):
        text = re.sub(r"[;,.](?:\s(?:and|or))?$", "", item)
        for amount in sentence_questions(f"{lead} {text}.", corpus).amounts:
            if amount.quantity.kind in kinds and amount.quantity.text in text:
                yield Draft(
                    question=amount.question,
                    answer=amount.answer,
                    condition=stated_condition(amount.answer, amount.quantity.text, amount.condition, text),
                    evidence=f"{sentences[0]}\n{item}",
                )


_LABELLED = re.compile(
    r"(?:[-–•*]\s|\(?[a-z\d]{1,2}[.)]\s)?(?P<label>[A-Za-z][^:;.|]{4,60}):\s(?P<value>[^:;|]{2,60}?)[.;,]?$"
)
_PRICED = re.compile(
    r"(?:[-–•*]\s)?(?P<things>[A-Z][a-z]+s(?: (?:of|for|with|up to) [\w ]{2,40})?)(?:, | – |\s?\.{3,}\s?)"
    r"(?P<value>[£$€]\d+(?:[.,]\d+)*(?: (?:each|per [a-z]+|an? [a-z]+))?)\.?"
)
"""Things with their price: "Books of 10 vouchers, £14."."""
_RATE = re.compile(r"(?:\s(?:each|per\s\w+|an?\s\w+))?$")
_MAX_WORDS, _MAX_LEAD_WORDS = 8, 14


def labelled_questions(sentence: str, corpus: Corpus) -> Iterator[QuantityQuestion]:
    """Yield the question for the single amount of money, or time limit, that follows a label."""
    text = " ".join(sentence.split())
    if (priced := _PRICED.fullmatch(text)) is not None:
        quantity = quantities(priced["value"])[0]
        yield QuantityQuestion(
            question=f"How much do {uncapitalised(priced['things'], corpus)} cost?",
            quantity=quantity,
            answer=priced["value"],
            condition=pattern(quantity.text),
        )
        return
    match = _LABELLED.fullmatch(text)
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
