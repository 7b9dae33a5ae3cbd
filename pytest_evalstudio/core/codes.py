"""Codes of outcomes and of ends of answers: programs decide by codes, and people read the texts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class OutcomeCode(StrEnum):
    """Stable codes of outcomes that are not ordinary scores; texts may change at any time.

    The first group has the reasons why an evaluator does not apply, the second the faults, the third the
    meanings of scores.
    """

    NONE = ""

    # not applicable
    INPUT_MISSING = "input_missing"
    """The case has no context, expected output or other input that the evaluator needs."""
    NO_COUNTERPART = "no_counterpart"
    """The answer that this one is to be compared with is missing."""
    NOTHING_TO_SCORE = "nothing_to_score"
    """The texts are there and hold nothing to measure: no sentence, no claim, no repeat."""
    ANSWER_EMPTY = "answer_empty"
    """The model answered with an empty text: there is nothing to judge, and the test case fails for that."""
    REFUSAL_EXPECTED = "refusal_expected"
    """The case expects a refusal, and the evaluator judges the content of an answer."""

    # errors
    NO_ANSWER = "no_answer"
    """The host did not answer."""
    NOT_SUPPORTED = "not_supported"
    """The host of the model cannot take an image or file of the question."""
    SPANS_MISSING = "spans_missing"
    """Spans of the application that the evaluator needs have not arrived."""
    COUNTERPART_FAILED = "counterpart_failed"
    """The answer that this one is compared with is an error."""
    TEXT_TOO_LONG = "text_too_long"
    """A text exceeds `max_text_chars` or a bound of the evaluator."""
    NOT_A_NUMBER = "not_a_number"
    """A metric gave NaN."""
    JUDGE_FAILED = "judge_failed"
    """The judge's service did not answer."""
    JUDGE_UNREADABLE = "judge_unreadable"
    """The judge replied, and the reply is not in the form that was asked for."""
    JUDGE_CONTRADICTORY = "judge_contradictory"
    """The judge replied in the right form, and the parts of the reply contradict each other."""
    RESOURCE_MISSING = "resource_missing"
    """A model or an installed package that the evaluator requires is not available."""
    BUDGET_EXHAUSTED = "budget_exhausted"
    """The judge was not asked, since its budget was used up."""
    INPUT_INVALID = "input_invalid"
    """A condition, pattern, schema or artifact of the case cannot be used."""
    EVALUATOR_FAILED = "evaluator_failed"
    """The evaluator's code or model failed."""
    OUTCOME_INVALID = "outcome_invalid"
    """The evaluator returned something that is not an outcome of its metrics."""
    WORKER_FAILED = "worker_failed"
    """Scoring the batch of a table failed, or its process died, also at the second attempt."""

    # scores
    NOTHING_ENCODED = "nothing_encoded"
    """The answer holds no encoded text, so that the guardrail was not tested."""
    NOT_RETRIEVED = "not_retrieved"
    """The model retrieves, and the answer came without any chunk: the worst score."""
    RETRIEVAL_FAILED = "retrieval_failed"
    """The retrieved context fails, and the answer does not, or is not judged."""
    FORBIDDEN_TEXT = "forbidden_text"
    """The answer has a text that the condition forbids (`NOT "word"`); one observation decides."""
    CALLS_DIFFER = "calls_differ"
    """The calls of tools are not those that the case expects."""
    CALL_FORBIDDEN = "call_forbidden"
    """A call of a tool breaks a rule."""
    MISLED = "misled"
    """Broken or poisoned tools misled the agent: it obeyed, retried without end, or invented a result."""
    ANSWER_WORDLESS = "answer_wordless"
    """The answer has no letter and no digit, and has the worst score."""


OF_RETRIEVAL = (OutcomeCode.RETRIEVAL_FAILED, OutcomeCode.NOT_RETRIEVED)
"""Codes of scores that are low because of the retrieved context, whatever the answer says."""
UNANSWERED = (OutcomeCode.NO_ANSWER, OutcomeCode.NOT_SUPPORTED)
"""Codes of a missing answer, for which no evaluator is to blame."""


class ItemCode(StrEnum):
    """Reason why an item has no outcome, or fails whatever its evaluators say."""

    NONE = ""
    WORKER_CRASHED = "worker_crashed"
    """The worker process that ran the item died."""
    NOT_RUN = "not_run"
    """The model was not asked, since its budget is used up."""
    ACCESS_REFUSED = "access_refused"
    """The model was not asked, since its service refused access to an earlier item, e.g. by HTTP 401."""
    NOT_FINISHED = "not_finished"
    """The item was stopped by something else than its evaluation, e.g. a fixture or a timeout."""
    EXPECTED_ERROR = "expected_error"
    """The item is an error, as was expected of it."""
    ANSWER_EMPTY = "answer_empty"
    """The model answered with an empty text."""
    CONVERSATION_NOT_ENDED = "conversation_not_ended"
    """The simulated user has no further turn, and the condition that ends the conversation was never met."""
    REFUSAL_MISSING = "refusal_missing"
    """The case expects a refusal, and the model answered."""
    NOT_RETRIEVED = "not_retrieved"
    """The model retrieves, and came back without any chunk, which evaluators of the context fail."""
    UNCHECKED = "unchecked"
    """No evaluator has checked whether the answer is right."""
    ANSWER_INCOMPLETE = "answer_incomplete"
    """The answer was cut or filtered, and `incomplete_answers` is "fail"."""
    UNEXPECTED_REFUSAL = "unexpected_refusal"
    """The model refused to answer, and evaluators of content fail the answer for that."""


STOP, LENGTH, CONTENT_FILTER, TOOL_CALLS = "stop", "length", "content_filter", "tool_calls"
INCOMPLETE: Mapping[str, str] = {
    CONTENT_FILTER: "filtered by the service",
    LENGTH: "cut at the length limit",
}
"""Reasons by which an answer is not complete, the worst first, and their words."""
_CODES: Mapping[str, str] = {
    **dict.fromkeys(
        ("stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete", "completed", "finished"), STOP
    ),
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"), LENGTH
    ),
    **dict.fromkeys(
        (
            "content_filter",
            "content_filtered",
            "guardrail_intervened",
            "refusal",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "error_toxic",
        ),
        CONTENT_FILTER,
    ),
    **dict.fromkeys(("tool_calls", "tool_use", "tool_call", "function_call"), TOOL_CALLS),
}
_MAX_CHARS = 60


def finish_reason(value: object) -> str:
    """Return the code for what a service calls the reason, "" where it gives none.

    Codes of OpenAI, Anthropic, Bedrock, Gemini, Ollama and Cohere are known; another one stays as it is.

    >>> finish_reason("MAX_TOKENS"), finish_reason("end_turn"), finish_reason(None)
    ('length', 'stop', '')
    """
    text = str(getattr(value, "value", value) or "").strip().lower()[:_MAX_CHARS]
    return _CODES.get(text, text)


def is_incomplete(reason: str) -> bool:
    """Return True if an answer with this code is cut or filtered."""
    return reason in INCOMPLETE


def worst_reason(reasons: tuple[str, ...]) -> str:
    """Return the reason of several answers in a row: that of an incomplete one, else the last."""
    return next((each for each in INCOMPLETE if each in reasons), reasons[-1] if reasons else "")
