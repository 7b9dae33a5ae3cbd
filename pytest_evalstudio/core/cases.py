"""What evaluators see of the world: one answer of one model to one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Relationship:
    """A named link from one test case to another, e.g. from a perturbed case to its original."""

    type: str
    target: str
    target_type: str = "test_case"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation that went before the question.

    Attributes:
        role: "system", "user" or "assistant".
    """

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer of one model to one question, with what is known about it.

    Attributes:
        key: the test case's own key (one key stands for one question under several models).
        question: the last message of the user; what is judged is the answer to it.
        conversation: the turns before the question, the first one first.
        condition: source text of the boolean condition, "" where there is none.
        is_rag: whether the model retrieves, so that its context is to be judged too.
        run: repeat number, 1 for the first.
        position: place among the test cases of its file, 1 for the first; 0 where it comes from no file.
        line: line of its file, from 1; 0 where that is not known. A perturbed case has that of its original.
        cost_usd: None where the host does not say.
        tool_calls: tools that the model called, as JSON objects of the host's own form.
        error: why there is no answer, "" where there is one.
        counterpart: the answered case that this one is compared with, for evaluators that declare which one
            they need.
        folder: where relative paths of the case resolve.
        extra: further keys of the row, as they stand in the file.
    """

    key: str
    question: str
    actual_output: str = ""
    expected_output: str = ""
    context: tuple[str, ...] = ()
    context_sources: tuple[str, ...] = ()
    condition: str = ""
    categories: tuple[str, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    corpus: tuple[str, ...] = ()
    test_key: str = ""
    model_key: str = ""
    model_name: str = ""
    is_rag: bool = False
    run: int = 1
    position: int = 0
    line: int = 0
    duration_s: float = 0.0
    cost_usd: float | None = None
    usage: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    retries: int = 0
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    expected_documents: tuple[str, ...] = ()
    expected_facts: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    conversation: tuple[Turn, ...] = ()
    counterpart: Case | None = None
    folder: str = "."
    extra: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def sources(self, relationship: str) -> tuple[str, ...]:
        """Keys of the cases that this one is linked to by a relationship of that type."""
        return tuple(link.target for link in self.relationships if link.type == relationship)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question as a host gets it.

    Attributes:
        text: the question.
        corpus: documents of the test: absolute paths or URLs.
        run: repeat number, 1 for the first; a part of the answer's cache key.
        conversation: the turns before the question, the first one first; hosts of chat services send them as
            messages.
        sample: tells apart questions of one text that are to be answered anew, such as unchanged copies; a
            part of the answer's cache key.
        reply_schema: JSON Schema that the answer is to follow, for hosts that can be held to one; others
            ignore it.
    """

    text: str
    corpus: tuple[str, ...] = ()
    run: int = 1
    conversation: tuple[Turn, ...] = ()
    sample: str = ""
    reply_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a host said.

    Attributes:
        context: retrieved chunks in the order of retrieval.
        context_sources: a URI per chunk, or empty.
        duration_s: wall time of the request that succeeded, seconds.
        cost_usd: None where the host does not say.
        usage: tokens by kind, e.g. {"input_tokens": 10, "output_tokens": 5}.
        retries: requests that failed before this one.
        tool_calls: tools that the model called, as JSON objects of the host's own form.
        error: why there is no answer; then `text` is empty.
    """

    text: str = ""
    context: tuple[str, ...] = ()
    context_sources: tuple[str, ...] = ()
    duration_s: float = 0.0
    cost_usd: float | None = None
    usage: Mapping[str, int] = field(default_factory=lambda: NOTHING)
    retries: int = 0
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
