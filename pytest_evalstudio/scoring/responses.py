"""Verdict on a task's answers as such: an answer, a refusal or nothing, whatever their texts say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from pytest_evalstudio.core.cases import Case, EndOfConversation
from pytest_evalstudio.core.codes import INCOMPLETE, ItemCode, OutcomeCode, is_incomplete, worst_reason
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.repeats import PassPolicy
from pytest_evalstudio.core.text import is_blank
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.verdicts import counted_verdict
from pytest_evalstudio.stats.sequential import Sprt

IsRefusal = Callable[[Case], bool]
Outcomes = Sequence[Mapping[ConfiguredEvaluator, Outcome]]
"""Per repeat: evaluator to outcome."""


class ResponseVerdict(Struct, frozen=True, kw_only=True):
    """Verdict on the answers of one task.

    Attributes:
        passed: True if a refusal is expected and given, False if the answer is empty or no expected refusal;
            None where nothing is decided.
        code: why it fails, or `UNEXPECTED_REFUSAL`, which explains what the evaluators say.
        reason: the same in words, on one line.
    """

    passed: bool | None = None
    code: ItemCode = ItemCode.NONE
    reason: str = ""

    @property
    def fails(self) -> bool:
        return self.passed is False


UNDECIDED = ResponseVerdict()


def is_empty_answer(outcome: Outcome) -> bool:
    """Return True if an evaluator does not apply because the answer is empty."""
    return outcome.status == "not_applicable" and outcome.code == OutcomeCode.ANSWER_EMPTY


def response_states(
    answers: Sequence[Case], outcomes: Outcomes, expected_refusal: IsRefusal | None
) -> tuple[bool, ...]:
    """Return for each repeat whether there is the answer or the refusal that is expected.

    Args:
        answers: one per repeat; one in error counts as answered, since its error is reported.
        outcomes: of the same repeats.
        expected_refusal: recognises the refusal that the case expects; None where it expects an answer.

    Returns:
        () where an answer is expected and all repeats have one, or no evaluator reads answers.
    """
    states = tuple(
        bool(case.error)
        or not (
            _has_no_end(case)
            or _is_empty(case, of_repeat, expected_refusal)
            or (expected_refusal is not None and not expected_refusal(case))
        )
        for case, of_repeat in zip(answers, outcomes, strict=True)
    )
    # () tells callers that responses decide nothing, also where a repeat is in error.
    return () if expected_refusal is None and all(states) else states


def with_responses(states: Sequence[bool | None], responses: Sequence[bool]) -> Sequence[bool | None]:
    """Return the states of an evaluator's repeats; one without the expected response does not pass.

    Args:
        states: whether each repeat passes, None where the evaluator does not apply.
        responses: as `response_states` returns them.
    """
    # An evaluator that applies to no repeat must not fail by responses that fail the case anyway.
    if not responses or all(state is None for state in states):
        return states
    return [passes if is_good else False for passes, is_good in zip(states, responses, strict=True)]


def response_verdict(
    answers: Sequence[Case],
    outcomes: Outcomes,
    evaluator_states: Iterable[Sequence[bool | None]],
    policy: PassPolicy,
    stopping: Sprt | None,
    expected_refusal: IsRefusal | None,
) -> ResponseVerdict:
    """Return the verdict on the answers of a task.

    Where the mean of the repeats decides, one empty answer fails the task: a mean over the other repeats
    would hide it. Where repeats are counted, an empty one counts as a repeat that does not pass. The same
    holds for an answer in place of an expected refusal.

    Args:
        answers: one per repeat.
        outcomes: of the same repeats.
        evaluator_states: of each evaluator that decides: whether each repeat passes, None where it does not
            apply.
        policy: reaches the verdict from several repeats.
        stopping: the sequential test of the repeats, None without one.
        expected_refusal: recognises the refusal that the case expects; None where it expects an answer.
    """
    states = response_states(answers, outcomes, expected_refusal)
    if not states:
        return UNDECIDED
    if _passes(states, policy, stopping) and not any(
        _fails_together(of_evaluator, states, policy, stopping) for of_evaluator in evaluator_states
    ):
        return ResponseVerdict(passed=True) if expected_refusal is not None else UNDECIDED
    is_empty = [
        _is_empty(case, of_repeat, expected_refusal)
        for case, of_repeat in zip(answers, outcomes, strict=True)
    ]
    is_endless = list(map(_has_no_end, answers))
    empty, endless = is_empty.count(True), is_endless.count(True)
    answered = 0
    if expected_refusal is not None:
        # One by one: an empty answer may be the last one of a conversation without an end.
        answered = sum(not any(facts) for facts in zip(states, is_empty, is_endless, strict=True))
    reasons = []
    if empty:
        turn = next(filter(None, map(_first_empty_turn, answers)), 0)
        of_turn = f" in turn {turn}" if turn else ""
        reasons.append(f"no answer{_share(empty, states)}: the model returned an empty text{of_turn}")
    if endless:
        reasons.append(
            f"the conversation did not end{_share(endless, states)}: no answer meets stop_when"
            f"{_end_of_endless(answers)}"
        )
    if answered:
        reasons.append(f"no refusal{_share(answered, states)}: the case expects one, and the model answered")
    # An empty answer comes first: neither the end nor a refusal can be expected of nothing.
    code = ItemCode.REFUSAL_MISSING
    if empty:
        code = ItemCode.ANSWER_EMPTY
    elif endless:
        code = ItemCode.CONVERSATION_NOT_ENDED
    return ResponseVerdict(passed=False, code=code, reason="; ".join(reasons))


def incomplete_answer(answers: Sequence[Case]) -> ResponseVerdict | None:
    """Return the verdict on answers that were cut or filtered, None without any."""
    reasons = [case.answer.finish_reason for case in answers if not case.error]
    incomplete = [reason for reason in reasons if is_incomplete(reason)]
    if not incomplete:
        return None
    share = f" in {len(incomplete)} of {len(answers)} repeats" if len(answers) > 1 else ""
    reason = f"incomplete answer{share}: it was {INCOMPLETE[worst_reason(tuple(incomplete))]}"
    return ResponseVerdict(passed=False, code=ItemCode.ANSWER_INCOMPLETE, reason=reason)


def unexpected_refusal(answers: Sequence[Case], is_refusal: IsRefusal) -> ResponseVerdict:
    """Return the explanation of a failed task by refusals that it does not expect, if there are any."""
    refused = sum(not case.error and is_refusal(case) for case in answers)
    if not refused:
        return UNDECIDED
    # Without `passed`: it fails nothing by itself, and only explains failures of evaluators.
    return ResponseVerdict(
        code=ItemCode.UNEXPECTED_REFUSAL,
        reason=(
            f"unexpected refusal{_share(refused, answers)}: the model did not answer; a case for which that"
            ' is right says "expects": "refusal"'
        ),
    )


def not_retrieved(
    answers: Sequence[Case], deciding: Iterable[tuple[OutcomeCode, bool | None]]
) -> ResponseVerdict:
    """Return the explanation of a failed task by answers without chunks of a model that retrieves.

    Args:
        answers: one per repeat.
        deciding: code and verdict of each evaluator that decides.
    """
    if not any(code == OutcomeCode.NOT_RETRIEVED and passed is not True for code, passed in deciding):
        return UNDECIDED
    missing = sum(case.is_rag and not case.error and not case.has_context for case in answers)
    return ResponseVerdict(
        code=ItemCode.NOT_RETRIEVED,
        reason=(
            f"not retrieved{_share(missing, answers)}: no chunk came with the answer"
            ' (retrieval = "optional" allows that)'
        ),
    )


def _is_empty(
    case: Case, of_repeat: Mapping[ConfiguredEvaluator, Outcome], expected_refusal: IsRefusal | None
) -> bool:
    """Return True for an empty answer, if an evaluator reads answers or a refusal is expected."""
    if expected_refusal is not None and not case.error and not case.is_answered:
        return True
    return any(map(is_empty_answer, of_repeat.values()))


def _has_no_end(case: Case) -> bool:
    return not case.error and case.answer.ended_by in _ENDLESS


_ENDLESS: Mapping[EndOfConversation, str] = {
    "max_turns": " within max_turns",
    "no_reply": ", and the user has no reply to the last one",
}


def _end_of_endless(answers: Sequence[Case]) -> str:
    """Return how the conversations without an end stopped; "" where they differ."""
    ends = {case.answer.ended_by for case in answers if _has_no_end(case)}
    return _ENDLESS[ends.pop()] if len(ends) == 1 else ""


def _first_empty_turn(case: Case) -> int:
    """Return the number of the first turn without an answer, 0 for a single question."""
    turns = case.answer.turns if not case.error else ()
    return next(
        (
            number
            for number, turn in enumerate(turns, 1)
            # A turn of calls alone is an answer.
            if is_blank(turn.answer.text) and not turn.answer.tool_calls
        ),
        0,
    )


def _share(count: int, repeats: Sequence[object]) -> str:
    return "" if len(repeats) == 1 else f" in {count} of {len(repeats)} repeats"


def _passes(states: Sequence[bool], policy: PassPolicy, stopping: Sprt | None) -> bool:
    by_count = counted_verdict(states, policy, stopping)
    return all(states) if by_count is None else by_count


def _fails_together(
    of_evaluator: Sequence[bool | None], states: Sequence[bool], policy: PassPolicy, stopping: Sprt | None
) -> bool:
    """Return True if an evaluator's repeats fail together with the bad responses, and not without them."""
    together = with_responses(of_evaluator, states)
    return (
        counted_verdict(together, policy, stopping) is False
        and counted_verdict(of_evaluator, policy, stopping) is not False
    )
