"""Requests that a service refuses for what they contain: too long a text, or one that its filter rejects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from pytest_evalstudio.core.plugins.host import HostFault


class Refusal(NamedTuple):
    """Reason for which a request is refused, and what helps.

    Attributes:
        cause: stable name, as in `HostFault`.
    """

    cause: str
    fact: str
    remedy: str


TOO_LONG = Refusal(
    "context_exceeded",
    "the request is longer than the model's context",
    "shorten the question or its documents, or choose a model with a longer context",
)
FILTERED = Refusal(
    "request_filtered",
    "the request was refused by the content filter of the service",
    "change the question, or the filter of the deployment",
)
CONTENT_CAUSES = frozenset({TOO_LONG.cause, FILTERED.cause})
_CODES: Mapping[str, Refusal] = {
    **dict.fromkeys(
        (
            "context_length_exceeded",  # OpenAI, Azure and most others
            "exceed_context_size_error",  # llama.cpp
            "context_window_exceeded",
            "ContextWindowExceededError",
            "string_above_max_length",
        ),
        TOO_LONG,
    ),
    **dict.fromkeys(
        (
            "content_filter",  # Azure
            "ResponsibleAIPolicyViolation",
            "content_policy_violation",
            "ContentPolicyViolationError",
            "moderation_blocked",
            "invalid_prompt",  # OpenAI's reasoning models
            "data_inspection_failed",  # Alibaba
        ),
        FILTERED,
    ),
}
_STATUSES = frozenset({400, 413, 422})
_MESSAGES: tuple[tuple[re.Pattern[str], Refusal], ...] = (
    (
        re.compile(
            r"context ?window ?exceeded|maximum context length|context[ _]length[ _]exceeded"
            r"|exceeds? the (?:available )?context (?:size|length|window)"
            r"|(?:prompt|input) is too long|exceeds the maximum number of tokens|too many input tokens"
            r"|longer than the maximum model length",
            re.IGNORECASE,
        ),
        TOO_LONG,
    ),
    (
        re.compile(
            r"content management policy|content ?policy ?violation|triggering [^.]{0,40}content filter"
            r"|(?:blocked|rejected|filtered) by (?:the |our )?(?:content|safety)",
            re.IGNORECASE,
        ),
        FILTERED,
    ),
)
"""Words of services and proxies that give no code of their own: Anthropic, Bedrock, Gemini, vLLM, LiteLLM."""
_MAX_CHARS = 20_000


def refusal_of(status: int, codes: frozenset[str], text: str) -> Refusal | None:
    """Return why a service refuses a request for its content, None where it does not.

    Codes decide; the message does where none of them is known.

    Args:
        status: HTTP status.
        codes: codes and types of the error, see `_faults.codes_of`.
        text: message of the service.
    """
    if status not in _STATUSES:
        return None
    for code, refusal in _CODES.items():
        if code in codes:
            return refusal
    text = text[:_MAX_CHARS]
    return next((refusal for pattern, refusal in _MESSAGES if pattern.search(text)), None)


def refusal_fault(refusal: Refusal, quoted_text: str) -> HostFault:
    """Return the fault of a refused request, which another attempt does not help.

    Args:
        quoted_text: of the service, on one line and without secrets.
    """
    return HostFault(f"{refusal.fact} ({quoted_text}); {refusal.remedy}", cause=refusal.cause)


def error_object(body: str) -> object:
    """Return the JSON of an error's body, of a list its first entry; None where it is not JSON."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value[0] if isinstance(value, list) and value else value
