"""Public interface of the package: what steps of workflows use beside the generators of the registry."""

from __future__ import annotations

from pytest_evalstudio.contrib.questions.checks.answered import question_problem
from pytest_evalstudio.contrib.questions.checks.answers import AnswerChecks
from pytest_evalstudio.contrib.questions.checks.phrasing import is_natural
from pytest_evalstudio.contrib.questions.checks.retrieval import (
    ANSWERED,
    SentenceIndex,
    bare_question,
    stems,
    without_choices,
)
from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection, relevance, rivals
from pytest_evalstudio.contrib.questions.parsing.pipeline import (
    available_pipeline,
    missing_pipeline,
    pipeline_language,
)
from pytest_evalstudio.contrib.questions.parsing.tables import cell_statements, named_row
from pytest_evalstudio.contrib.questions.quantities import changed, pattern, quantities
from pytest_evalstudio.contrib.questions.rules.attacks import PLANTED_WORDS, attack, obedience, planted_word
from pytest_evalstudio.contrib.questions.rules.conditions import condition_of_answer, condition_without
from pytest_evalstudio.contrib.questions.rules.refusals import REFUSAL, refusal_condition
from pytest_evalstudio.contrib.questions.words import content_words, share_in, word_set

__all__ = [
    "ANSWERED",
    "PLANTED_WORDS",
    "REFUSAL",
    "AnswerChecks",
    "DraftSelection",
    "SentenceIndex",
    "attack",
    "available_pipeline",
    "bare_question",
    "cell_statements",
    "changed",
    "condition_of_answer",
    "condition_without",
    "content_words",
    "is_natural",
    "missing_pipeline",
    "named_row",
    "obedience",
    "pattern",
    "pipeline_language",
    "planted_word",
    "quantities",
    "question_problem",
    "refusal_condition",
    "relevance",
    "rivals",
    "share_in",
    "stems",
    "without_choices",
    "word_set",
]
