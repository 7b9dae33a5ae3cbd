"""Drafts of plain questions for the quantities and facts of an excerpt."""

from __future__ import annotations

from collections.abc import Container, Iterator

from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.questions.grammar.statements import without_number
from pytest_evalstudio.questions.quantities import Kind
from pytest_evalstudio.questions.rules.amounts import quantity_questions
from pytest_evalstudio.questions.rules.conditions import keywords_condition
from pytest_evalstudio.questions.rules.facts import fact_questions
from pytest_evalstudio.questions.rules.tables import cell_questions, code_meanings, text_before_table

NUMERICAL: tuple[Kind, ...] = ("money", "percent", "measure", "number")
TEMPORAL: tuple[Kind, ...] = ("date", "period")


def quantity_drafts(excerpt: Excerpt, corpus: Corpus, kinds: Container[Kind]) -> Iterator[Draft]:
    """Yield a draft for each quantity of some kinds that the sentences and tables of an excerpt state."""
    for sentence in excerpt.sentences:
        cells = cell_questions(sentence, text_before_table(sentence, corpus))
        for item in (*quantity_questions(sentence, corpus), *cells):
            if item.quantity.kind in kinds:
                yield Draft(
                    question=item.question,
                    answer=item.answer,
                    condition=str(Regexp(item.condition)),
                    evidence=sentence,
                )


def fact_drafts(excerpt: Excerpt, corpus: Corpus) -> Iterator[Draft]:
    """Yield a draft for each fact that the sentences and tables of codes of an excerpt state."""
    for sentence in excerpt.sentences:
        for fact in fact_questions(sentence, corpus):
            yield Draft(
                question=fact.question,
                answer=without_number(sentence),
                condition=fact.condition,
                evidence=sentence,
            )
        for question, meaning in code_meanings(sentence):
            if condition := keywords_condition(meaning):
                yield Draft(question=question, answer=meaning, condition=condition, evidence=sentence)
