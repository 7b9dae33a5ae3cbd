"""Reasons for the end of an answer, as codes that are the same for all services."""

from __future__ import annotations

from collections.abc import Mapping

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
_CUT = "cut_at_length"
"""Kind of tokens by which earlier versions marked a cut answer."""
_MAX_CHARS = 60


def finish_reason(value: object) -> str:
    """Return the code for what a service calls the reason, "" where it gives none.

    Codes of OpenAI, Anthropic, Bedrock, Gemini, Ollama and Cohere are known; another one stays as it is.

    >>> finish_reason("MAX_TOKENS"), finish_reason("end_turn"), finish_reason(None)
    ('length', 'stop', '')
    """
    text = str(getattr(value, "value", value) or "").strip().lower()[:_MAX_CHARS]
    return _CODES.get(text, text)


def reason_in(reason: str, usage: Mapping[str, int]) -> str:
    """Return the reason of a stored answer; earlier versions marked a cut answer in its usage."""
    return reason or (LENGTH if usage.get(_CUT) else "")


def is_incomplete(reason: str) -> bool:
    """Return True if an answer with this code is cut or filtered."""
    return reason in INCOMPLETE


def worst_reason(reasons: tuple[str, ...]) -> str:
    """Return the reason of several answers in a row: that of an incomplete one, else the last."""
    return next((each for each in INCOMPLETE if each in reasons), reasons[-1] if reasons else "")
