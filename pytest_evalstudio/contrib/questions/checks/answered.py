"""Answers of questions, found again in their sentences."""

from __future__ import annotations

import re

from pytest_evalstudio.contrib.questions.checks.retrieval import (
    bare_question,
    query_terms,
    stems,
    without_choices,
)
from pytest_evalstudio.contrib.questions.checks.wellformed import is_well_formed
from pytest_evalstudio.contrib.questions.parsing.pipeline import open_pipeline
from pytest_evalstudio.contrib.questions.parsing.statements import without_number
from pytest_evalstudio.contrib.questions.quantities import pattern, quantities_and_counts, unit_of
from pytest_evalstudio.contrib.questions.quantities.cases import sentences_of_cases
from pytest_evalstudio.core.plugins.generator import Draft

_LEAD = re.compile(r"^(?:Yes|No)\. |^[A-Z]\) ")
_SPLIT = re.compile(r";\s|,\s(?:and|while|whereas|but)\s")


def answers_back(draft: Draft) -> bool:
    """Report whether the answer of a draft is the one that its sentence gives to its question.

    A quantity must be the only one of its unit, in the part of the sentence that has the question's words,
    which the question does not state. Other words must be in the sentence, and not all in the question.
    """
    evidence = without_number(" ".join(draft.evidence.split()))
    if not evidence or evidence.startswith("|") or "\n" in draft.evidence or _LEAD.match(draft.answer):
        return True
    if quantities_and_counts(draft.answer) and len(draft.answer.split()) <= 8:
        return _is_only_quantity(draft, evidence)
    is_new = not set(stems(draft.answer)) <= set(stems(bare_question(draft.question)))
    return is_new and _plain(draft.answer) in _plain(evidence)


def question_problem(draft: Draft, pipeline_name: str) -> str:
    """Return why a question that a language model has written is not taken, "" if it is.

    Only a single sentence is checked: some kinds of question begin with statements of the asker.
    """
    pipeline = open_pipeline(pipeline_name)
    text = without_choices(draft.question)
    if pipeline is None or draft.plain or text.count("?") != 1 or re.search(r"[.!:;]\s", text):
        return ""
    if not is_well_formed(text, pipeline, draft.evidence):
        return "that are no well-formed question"
    if draft.evidence and not answers_back(draft):
        return "whose answer their evidence does not give"
    return ""


def _is_only_quantity(draft: Draft, evidence: str) -> bool:
    """Report whether no other quantity of the unit is in the part of a sentence that a question is about."""
    question = bare_question(draft.question)
    asked = quantities_and_counts(draft.answer)
    units = {unit_of(each.text) for each in asked if each.kind != "number"}
    words = set(query_terms(question))
    parts = [*_SPLIT.split(evidence), *sentences_of_cases(evidence)]
    holders = [part for part in parts if all(re.search(pattern(each.text), part) for each in asked)]
    best = max(holders or [evidence], key=lambda part: (len(words & set(stems(part))), -len(part)))
    if any(re.search(pattern(each.text), question) for each in asked):
        return False
    others = [
        each
        for each in quantities_and_counts(best)
        if unit_of(each.text) in units
        and not any(re.search(pattern(right.text), each.text) for right in asked)
        and not re.search(pattern(each.text), question)
    ]
    texts = draft.answer.split()
    return not others or any(each.text in draft.answer for each in others) or len(texts) > 4


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))
