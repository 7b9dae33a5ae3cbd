"""Smallest change of a suite that would fail a damaged answer, and not the original in any form."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator

from pytest_evalstudio.contrib.mutation.loosening import holds, loose_conditions, number_failing
from pytest_evalstudio.contrib.mutation.results import Advice
from pytest_evalstudio.contrib.mutation.right_variants import right_variants
from pytest_evalstudio.contrib.mutation.texts import Damage, names_in
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.metrics.grounding import tokens_of
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.text.figures import figure

# Kinds that change one word, such as "not", which says something only with the words after it.
_WORDS = ("negation", "quantifier")
# The kinds of `CALL_MUTATORS`.
_CALLS = ("dropped_call", "doubled_call", "other_argument", "other_order")
_NEXT_WORD = re.compile(r"\s*\S+")
_MAX_CHARS = 60
_MIN_GAP = 0.05
"""Least difference of two scores, as a share of the metric's range, between which a threshold is proposed."""


def advice_for(kind: str, damage: Damage, result: Result, original: Result) -> Advice | None:
    """Return a condition, a threshold or an evaluator that tells both answers apart.

    Args:
        kind: of the damage.
        result, original: of the damaged and of the original answer.
    """
    case = original.task.case
    if kind in _CALLS:
        text = "list the calls of the original answer as expected_tool_calls, for the evaluator tool_calls"
        return Advice(code="expectation", text=text)
    if condition := _separating_condition(kind, damage, case):
        return Advice(code="condition", text=f"add the condition {condition}")
    if advice := _threshold(result, original):
        return advice
    if strict := next(_separating_words(kind, damage, case), ""):
        text = f"add the condition {strict}, which also fails right answers in other words"
        return Advice(code="strict_condition", text=text)
    return _evaluator(kind, case)


def _separating_condition(kind: str, damage: Damage, case: Case) -> str:
    """Return a condition that tells both answers apart, and that no right answer in another form fails."""
    answer = case.actual_output
    variants = list(right_variants(answer, case.question))
    by_value = (
        condition
        for condition in loose_conditions(answer, case.question)
        if holds(condition, answer) and not holds(condition, damage.text)
    )
    candidates = itertools.chain(by_value, _separating_words(kind, damage, case))
    return next((each for each in candidates if not number_failing(each, variants)), "")


def _separating_words(kind: str, damage: Damage, case: Case) -> Iterator[str]:
    """Yield conditions of words that the original has and the damaged answer has not."""
    if words := _telling_stretch(kind, damage, case):
        yield f'"{words}"'


def _telling_stretch(kind: str, damage: Damage, case: Case) -> str:
    """Return words that the original has and the damaged answer has not, "" without any."""
    original = case.actual_output
    candidates = []
    if damage.removed and len(damage.removed) <= _MAX_CHARS:
        candidates += [_with_next(original, damage.removed, 2 if kind in _WORDS else 1), damage.removed]
    # Damage of the whole answer removes no words: all of the original are lost.
    lost = damage.removed or original
    for token in tokens_of(lost):
        if token.kind == "number":
            candidates.append(_with_next(lost, lost[token.start : token.end], 1))
    candidates += names_in([lost])
    for candidate in candidates:
        # A line as it is: a condition finds neither a line break nor other blanks than those of the answer.
        words = candidate.strip().partition("\n")[0].rstrip(".,;:!? \t\r")
        # A quotation mark would end the text in the condition.
        is_separating = words in original and not holds(f'"{words}"', damage.text)
        if words and '"' not in words and is_separating:
            return words
    return ""


def _with_next(text: str, words: str, count: int) -> str:
    start = text.find(words)
    end = start + len(words)
    for _ in range(count):
        following = _NEXT_WORD.match(text, end)
        if following is None or text[end - 1 : end] in (".", "!", "?"):
            break
        end = following.end()
    return text[start:end]


def _threshold(result: Result, original: Result) -> Advice | None:
    """Return a threshold halfway between the scores of both answers, of the metric that differs most."""
    best: tuple[float, str] | None = None
    for selected, verdict in original.verdicts.items():
        metric = selected.spec.primary
        before = verdict.scores.get(metric.key)
        after = result.verdicts[selected].scores.get(metric.key) if selected in result.verdicts else None
        size = metric.range[1] - metric.range[0]
        # A drop is compared as a share of the range, which an infinite one does not have.
        if before is None or after is None or not math.isfinite(size):
            continue
        drop = (before - after if metric.better == "higher" else after - before) / size
        limit = (before + after) / 2
        if drop >= _MIN_GAP and (best is None or drop > best[0]):
            current = selected.thresholds[metric.key]
            best = (
                drop,
                f"set the threshold of {selected.id}.{metric.key} to {figure(limit)} (now {figure(current)})",
            )
    return Advice(code="threshold", text=best[1]) if best else None


def _evaluator(kind: str, case: Case) -> Advice | None:
    if kind == "language":
        return Advice(code="evaluator", text="add the evaluator language_mismatch, or a condition")
    if case.context:
        return Advice(code="evaluator", text="add the evaluator lexical_groundedness or groundedness_signals")
    if case.expected_output:
        return Advice(code="evaluator", text="add the evaluator rouge or sentence_similarity")
    return Advice(code="expectation", text="give the case an expected output or a condition")
