"""Facts of a span that rows are made of, in the same terms for all conventions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from pytest_evalstudio.core.tool_calls import ToolCall

Kind = Literal["agent", "chain", "model", "tool", "retrieval", "handover", "guardrail", ""]
"""Operation of a span; "" for one that rows have no use for."""


class ToolResult(Struct, frozen=True, gc=False):
    """Result of a tool in a message: the id of the call, and the text."""

    call: str
    text: str
    error: str = ""


class TraceMessage(Struct, frozen=True, gc=False):
    """Message of a model call.

    Attributes:
        role: "system", "user", "assistant" or "tool".
        unread: names of its parts that cannot be read.
    """

    role: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    unread: tuple[str, ...] = ()


class Document(Struct, frozen=True, gc=False):
    """Retrieved document.

    Attributes:
        source: its address or id.
        score: relevance as the retriever reports it.
    """

    text: str
    source: str = ""
    score: float | None = None


class Facts(Struct, frozen=True, kw_only=True, gc=False):
    """Facts of a span.

    Attributes:
        name: the model, tool, agent or index.
        inputs, outputs: messages of a model or agent.
        question, answer: texts of the span where it has no messages; the query of a retrieval.
        finish_reason: code of the reason for the end of an answer, see `core.codes`.
        usage: tokens by kind.
        cost_usd: None where the trace does not say it.
        call: of a tool; `says_arguments` is False where its arguments are not recorded.
        session: id of the conversation.
        unread: names of attributes whose values cannot be read.
    """

    kind: Kind = ""
    name: str = ""
    inputs: tuple[TraceMessage, ...] = ()
    outputs: tuple[TraceMessage, ...] = ()
    question: str = ""
    answer: str = ""
    served_model: str = ""
    request_id: str = ""
    finish_reason: str = ""
    usage: Mapping[str, int] = {}
    cost_usd: float | None = None
    call: ToolCall | None = None
    says_arguments: bool = True
    documents: tuple[Document, ...] = ()
    session: str = ""
    unread: tuple[str, ...] = ()


NO_FACTS = Facts()
