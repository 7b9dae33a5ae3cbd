"""Puts cases to evaluators, in batches, and turns everything that can go wrong into an outcome."""

from __future__ import annotations

import math
import re
import traceback
from collections.abc import Hashable, Sequence

from msgspec import structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import EvalStudioError, exception_text
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.outcome_check import checked, invalid
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.evaluator import WHATEVER_WAS_ASKED
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.scoring.accepted_outputs import alternatives, best_outcome, compares_each
from pytest_evalstudio.scoring.comparable import comparable_case
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.required_spans import without_spans
from pytest_evalstudio.text.unicode import valid_text

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_SPOKEN = {
    "question": "no question",
    "expected_output": "no expected output",
    "context": "no context",
    "actual_output": "no answer",
}


def score(selected: ConfiguredEvaluator, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
    """Return one outcome per case from one evaluator, in order.

    A case without an answer is an error. A case that lacks an input of the evaluator is not applicable, nor
    is one whose answer is empty, where the evaluator reads answers. Only the other cases reach the evaluator,
    with texts in a comparable form; judges read them as they are. Of several accepted answers, the best one
    decides.
    """
    if not compares_each(selected, cases):
        return _scored(selected, cases, tools)
    groups = [alternatives(case) for case in cases]
    outcomes = iter(_scored(selected, [case for group in groups for case in group], tools))
    return [best_outcome(selected, [next(outcomes) for _ in group]) for group in groups]


def _scored(selected: ConfiguredEvaluator, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
    """Return one outcome per case, which has one accepted answer or is read with all of them."""
    outcomes: list[Outcome | None] = [_without_asking(selected, case, tools) for case in cases]
    waiting = [index for index, outcome in enumerate(outcomes) if outcome is None]
    if JUDGE in selected.requires:
        compared = None
        scored = _ask(selected, [cases[index] for index in waiting], tools)
    else:
        # Rules make many small objects and no cycles: collections would take up to a third of their time.
        with uncollected():
            compared = [comparable_case(cases[index]) for index in waiting]
            scored = _ask(selected, [each.case for each in compared], tools)
    for number, (index, outcome) in enumerate(zip(waiting, scored, strict=True)):
        scored_outcome = outcome if compared is None else compared[number].original(outcome)
        outcomes[index] = _after_failure(cases[index], scored_outcome)
    return [outcome for outcome in outcomes if outcome is not None]


def _after_failure(case: Case, outcome: Outcome) -> Outcome:
    """Return the outcome of an answer that may have failed after its calls.

    Where the evaluator finds nothing wrong with the calls, the failure itself is the outcome.
    """
    if not case.error or outcome.status == "error":
        return outcome
    if outcome.status == "not_applicable":
        return _no_answer(case)
    return structs.replace(outcome, reason=f"{outcome.reason}; then the application failed: {case.error}")


def _no_answer(case: Case) -> Outcome:
    code = OutcomeCode.NOT_SUPPORTED if case.answer.not_supported else OutcomeCode.NO_ANSWER
    return Outcome.error(case.error, code)


def _without_asking(selected: ConfiguredEvaluator, case: Case, tools: Tools) -> Outcome | None:
    """Return the outcome of a case that the evaluator does not get, None for one that it judges."""
    if case.error:
        # The calls before the failure may be what made the application fail; see `_after_failure`.
        is_judged = selected.spec.judges_calls and (case.answer.tool_calls or case.answer.steps)
        return None if is_judged else _no_answer(case)
    for rule in (_without_spans, _without_text, _refusal_expected, _without_counterpart, _without_inputs):
        if (outcome := rule(selected, case)) is not None:
            return outcome
    return _too_long(case, tools) or _wordless(selected, case) or _inapplicable(selected, case)


def _without_spans(selected: ConfiguredEvaluator, case: Case) -> Outcome | None:
    return without_spans(case, selected.required_spans)


def _without_text(selected: ConfiguredEvaluator, case: Case) -> Outcome | None:
    if case.has_text or "actual_output" not in selected.needs:
        return None
    # With this code `responses` fails the case; an answer of calls alone is complete.
    if not case.is_answered:
        return Outcome.not_applicable("no answer: the text is empty", OutcomeCode.ANSWER_EMPTY)
    if selected.spec.applies_without_text:
        return None
    return Outcome.not_applicable("the answer calls tools or makes files, and has no text")


def _refusal_expected(selected: ConfiguredEvaluator, case: Case) -> Outcome | None:
    if case.expects != "refusal" or not judges_content(selected):
        return None
    return Outcome.not_applicable(
        "the case expects a refusal, which has no content to judge", OutcomeCode.REFUSAL_EXPECTED
    )


def _without_counterpart(selected: ConfiguredEvaluator, case: Case) -> Outcome | None:
    counterpart = case.counterpart
    if counterpart is None:
        return _counterpart_missing(selected, case) if selected.spec.compares else None
    if counterpart.error:
        return Outcome.error(
            f"the case that it is compared with, {counterpart.key!r}, was not answered: {counterpart.error}",
            OutcomeCode.COUNTERPART_FAILED,
        )
    if not _can_be_compared(selected, counterpart):
        return Outcome.not_applicable(
            f"the answer to {counterpart.key!r}, with which it is compared, is empty",
            OutcomeCode.NO_COUNTERPART,
        )
    return None


def _counterpart_missing(selected: ConfiguredEvaluator, case: Case) -> Outcome:
    compares = selected.spec.compares
    reason = f"it has no {compares}"
    if linked := case.sources(compares):
        reason = f"the answer to {linked[0]!r}, its {compares}, is missing or not comparable"
    return Outcome.not_applicable(reason, OutcomeCode.NO_COUNTERPART)


def _without_inputs(selected: ConfiguredEvaluator, case: Case) -> Outcome | None:
    missing = [need for need in selected.needs if _lacks(case, need)]
    if not missing:
        return None
    # Nothing retrieved is a fault of a RAG model, not a lack of the test case.
    if missing == ["context"] and case.is_rag:
        return _not_retrieved(selected)
    return Outcome.not_applicable(" and ".join(_SPOKEN[need] for need in missing), OutcomeCode.INPUT_MISSING)


def _too_long(case: Case, tools: Tools) -> Outcome | None:
    longest = max(
        sum(len(turn.content) for turn in case.conversation),
        len(case.question),
        len(case.actual_output),
        len(case.expected_output),
        # Lists are judged by their sums: evaluators compare with all of their parts.
        sum(map(len, case.accepted_outputs)),
        sum(map(len, case.context)),
    )
    if longest <= tools.max_text_chars:
        return None
    return Outcome.error(
        f"a text of {longest:,} characters is longer than max_text_chars = {tools.max_text_chars:,};"
        " raise it in the configuration",
        OutcomeCode.TEXT_TOO_LONG,
    )


def _wordless(selected: ConfiguredEvaluator, case: Case) -> Outcome | None:
    # "..." has no claim that could lack support; without this it would get the best score.
    if not selected.spec.measures_support or _LETTER_OR_DIGIT.search(case.actual_output):
        return None
    metrics = selected.evaluator.__evalstudio__.metrics  # without that of a calibration
    return Outcome.worst(metrics, "the answer has no words", code=OutcomeCode.ANSWER_WORDLESS)


def _inapplicable(selected: ConfiguredEvaluator, case: Case) -> Outcome | None:
    try:
        reason = selected.spec.inapplicable(selected.evaluator, case)
    except Exception as exc:
        return Outcome.error(fault(selected, exc))
    if reason is not None and not isinstance(reason, str):
        return invalid(selected.spec, f"{type(reason).__name__} as the reason of not_applicable, not a text")
    return Outcome.not_applicable(valid_text(reason)) if reason else None


def judges_content(selected: ConfiguredEvaluator) -> bool:
    """Return True if an evaluator judges the content of an answer or its context, which a refusal lacks.

    It then needs more than the answer, and is about neither privacy nor security nor fairness.
    """
    spec = selected.spec
    return not (
        spec.applies_to_refusals
        or spec.problem_type in WHATEVER_WAS_ASKED
        or set(selected.needs) <= {"actual_output"}
    )


def _not_retrieved(selected: ConfiguredEvaluator) -> Outcome:
    """Return the outcome of an answer that came without chunks from a model that retrieves.

    An evaluator whose worst score is infinite has none; the case fails all the same.
    """
    reason, code = "no chunk was retrieved", OutcomeCode.NOT_RETRIEVED
    metrics = selected.evaluator.__evalstudio__.metrics  # without that of a calibration
    outcome = Outcome.worst(metrics, reason, code=code)
    is_finite = math.isfinite(selected.evaluator.__evalstudio__.primary.worst)
    return outcome if is_finite else Outcome.not_applicable(reason, code)


def _can_be_compared(selected: ConfiguredEvaluator, answered: Case) -> bool:
    return answered.has_text or (selected.spec.applies_without_text and answered.is_answered)


def _lacks(case: Case, need: str) -> bool:
    """Return True if a declared input is absent.

    The evaluator itself checks the condition.
    """
    if need == "question":
        return not case.question.strip()
    if need == "expected_output":
        return not case.expected_output.strip()
    return need == "context" and not case.has_context


def _ask(selected: ConfiguredEvaluator, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
    if not cases:
        return []
    if tools.missing:
        return [Outcome.error(tools.missing, OutcomeCode.RESOURCE_MISSING)] * len(cases)
    try:
        outcomes = list(selected.evaluator.score(cases, tools))
    # An evaluator may run a library's command line, which ends by SystemExit; Ctrl+C still stops the run.
    except (Exception, SystemExit) as exc:
        # Scored again one by one: the exception does not say which case caused it.
        groups = _groups(selected, cases)
        if len(groups) == 1:
            return [Outcome.error(fault(selected, exc))] * len(cases)
        by_index = {
            index: outcome
            for group in groups
            for index, outcome in zip(
                group, _ask(selected, [cases[index] for index in group], tools), strict=True
            )
        }
        return [by_index[index] for index in range(len(cases))]
    spec = selected.evaluator.__evalstudio__  # without the metric of a calibration, which is added later
    return checked(spec, outcomes, len(cases))


def _groups(selected: ConfiguredEvaluator, cases: Sequence[Case]) -> list[list[int]]:
    """Return the indices of the cases that must be scored together.

    An exception in one group does not affect the others.
    """
    groups: dict[Hashable, list[int]] = {}
    for index, case in enumerate(cases):
        # Repeats of one question belong together where an evaluator compares them with each other.
        groups.setdefault(
            (case.model_key, case.question, case.conversation) if selected.spec.scope == "group" else index,
            [],
        ).append(index)
    return list(groups.values())


def fault(selected: ConfiguredEvaluator, exc: BaseException) -> str:
    """Describe the exception of an evaluator: its message, or the place where it was raised."""
    if isinstance(exc, EvalStudioError):
        return str(exc)
    frame = traceback.extract_tb(exc.__traceback__)[-1]
    return f"evaluator {selected.id} failed: {exception_text(exc)} ({frame.filename}:{frame.lineno})"
