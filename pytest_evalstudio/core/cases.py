"""Input of evaluators: one answer of one model to one question."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.codes import finish_reason
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.disturbances import Disturbance
from pytest_evalstudio.core.expected import Expected
from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.reported import Reported
from pytest_evalstudio.core.restored import Restored
from pytest_evalstudio.core.states import ApplicationState
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.text import is_blank
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.core.tracing import SpanStatus

NOTHING: Mapping[str, Any] = MappingProxyType({})
EXTRA_EXPECTATIONS = ("json_schema", "expected_artifacts")
"""Keys of a test case beside its fields that say what the answer should be."""
Retrieval = Literal["", "required", "optional"]
"""Need for retrieved chunks with an answer; "" for what the model's table says."""
EndOfConversation = Literal["", "max_turns", "no_reply", "failed_turn"]
"""Reason for the end of a conversation: "max_turns" and "no_reply" where the condition that ends it was never
met, and the limit is reached or the user has nothing more to say; "failed_turn" where it stops at a failing
turn; "" for its last turn."""


class Relationship(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A named link from one test case to another, e.g. from a perturbed case to its original."""

    type: Annotated[str, Kept.ID]
    target: Annotated[str, Kept.ID]
    target_type: Annotated[str, Kept.ID] = "test_case"


class Turn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Message of a conversation before the question.

    Attributes:
        role: "system", "user" or "assistant".
        attachments: images and files that the message comes with.
    """

    role: Annotated[str, Kept.PLAIN]
    content: str
    attachments: Annotated[tuple[Attachment, ...], Kept.NOT] = ()


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answer of a model to a question, as its host returns it.

    Attributes:
        text: what the model says.
        thoughts: reasoning of the model that is no part of its answer; never scored.
        context: retrieved chunks in the order of retrieval.
        context_sources: a URI per chunk, or empty.
        context_scores: relevance of each chunk as the host reports it, or empty.
        retrieves: whether the host says that it retrieves, also where no chunk came; None where only the
            context says so.
        duration_s: wall time of the request that succeeded, seconds.
        first_token_s: seconds until the first part of the text arrived; None if it was not streamed.
        cost_usd: None where the host does not say.
        usage: tokens by kind, e.g. {"input_tokens": 10, "output_tokens": 5}.
        served_model: the model that answered, as the service names it; "" where it does not.
        request_id: the service's id of the request, "" where it gives none.
        finish_reason: code of the reason for the end of the text: "stop", "length" (cut at a limit of
            tokens), "content_filter" (ended by the service's filter), "tool_calls", or the service's own; ""
            where it gives none. Of a conversation, that of an incomplete turn comes first.
        traceparent: trace and span of the answer as a W3C header; "" where they are not known.
        spans: whether the spans of the application have arrived; "" where none were awaited.
        retries: requests that failed before this one.
        artifacts: paths of files that the model made, as its host stored them; never taken from a file.
        tool_calls: calls of tools, in order.
        steps: all that the application did, in order, as far as its host says; () where it does not.
        error: reason for a missing answer; `text` is then empty.
        error_cause: stable name of the cause and its service, the same for answers that are missing for one
            cause; "" where only the reason tells.
        not_supported: whether the model was not asked, since its host cannot take an image or file of the
            question.
        not_asked: whether the model was not asked, since its budget is used up or its service refused access
            before; `error` says so.
        access_refused: whether it was not asked since its service refused access before.
        stored_at: seconds since the epoch at which an earlier run stored the answer; None for an answer of
            this run.
        session: the service's id of the conversation, where its reply gives one.
        state: of the application after the answer; None where the host does not give it.
        turns: all turns of a conversation that was run, the last one included; () for the answer to a single
            question. The text is then that of the last turn; calls, artifacts, tokens, seconds and cost are
            those of all turns.
        ended_by: reason for the end of a conversation, other than its last turn.
        closing_messages: messages of the user after the answer, which the model did not answer.
        grades: of a judge's reply, the probability of each grade; empty where the service gives none.
    """

    text: str = field(default="", name="actual_output")
    thoughts: Annotated[str, Kept.LONG] = ""
    context: tuple[str, ...] = ()
    context_sources: Annotated[tuple[str, ...], Kept.DOCUMENTS] = ()
    context_scores: tuple[float, ...] = ()
    duration_s: float = field(default=0.0, name="actual_duration")
    first_token_s: float | None = None
    cost_usd: float | None = field(default=None, name="cost")
    usage: Mapping[str, int] = {}
    served_model: Annotated[
        str, Kept.ID, Reported(meaning="Model that answered.", label="Model of the service", is_column=True)
    ] = ""
    request_id: Annotated[
        str,
        Kept.ID,
        Reported(meaning="Id of the request at the service.", label="Id of the request", is_column=True),
    ] = ""
    finish_reason: Annotated[
        str,
        Kept.ID,
        Reported(
            meaning="Reason for the end of the answer; one that was cut or filtered is named.",
            is_column=True,
            read=finish_reason,
        ),
    ] = ""
    traceparent: Annotated[str, Kept.TRACE] = ""
    spans: SpanStatus = ""
    retries: int = 0
    tool_calls: tuple[ToolCall, ...] = ()
    steps: tuple[Step, ...] = ()
    artifacts: Annotated[tuple[str, ...], Kept.NOT] = ()
    error: str = ""
    error_cause: Annotated[str, Kept.NOT] = ""
    not_supported: Annotated[bool, Kept.NOT] = False
    not_asked: Annotated[bool, Kept.NOT] = False
    access_refused: Annotated[bool, Kept.NOT] = False
    stored_at: float | None = None
    session: Annotated[
        str,
        Kept.ID,
        Reported(meaning="Id of the conversation, which the next request sends as `{{ session }}`."),
    ] = ""
    state: ApplicationState | None = None
    turns: tuple[Exchange, ...] = ()
    ended_by: EndOfConversation = ""
    closing_messages: tuple[str, ...] = ()
    grades: Annotated[Mapping[str, float], Kept.NOT] = {}
    retrieves: Annotated[bool | None, Kept.NOT] = None


class AnswerFields(TypedDict, total=False):
    """Fields of an answer other than its text, as keyword arguments of a case that is made by hand."""

    thoughts: str
    context: str | Iterable[str]
    context_sources: str | Iterable[str]
    context_scores: Iterable[float]
    duration_s: float
    first_token_s: float | None
    cost_usd: float | None
    usage: Mapping[str, int]
    served_model: str
    request_id: str
    finish_reason: str
    traceparent: str
    spans: SpanStatus
    retries: int
    tool_calls: Iterable[ToolCall | Mapping[str, Any]]
    steps: Iterable[Step]
    artifacts: str | Iterable[str]
    error: str
    error_cause: str
    not_supported: bool
    not_asked: bool
    access_refused: bool
    stored_at: float | None
    session: str
    state: ApplicationState | None
    turns: Iterable[Exchange]
    ended_by: EndOfConversation
    closing_messages: str | Iterable[str]
    grades: Mapping[str, float]
    retrieves: bool | None


class Exchange(PlannedTurn, frozen=True, kw_only=True, omit_defaults=True):
    """Message of the user in a conversation, and the answer to it; a record has its expectations, too."""

    answer: Answer


class CaseData(Expected, frozen=True, kw_only=True, omit_defaults=True):
    """Question with its data, as cases and rows of records have it.

    Attributes:
        question: the last message of the user; the answer to it is scored.
        retrieval: whether the answer must come with retrieved chunks; "" where the model says.
        is_rag: whether the model retrieves, so that its context is to be judged too; without any chunk the
            evaluators that need them fail the answer.
        conversation: the turns before the question, the first one first.
        attachments: images and files that the question comes with, images first.
        run: repeat number, 1 for the first.
    """

    question: str = field(default="", name="input")
    retrieval: Retrieval = ""
    categories: Annotated[tuple[str, ...], Kept.ID] = ()
    relationships: tuple[Relationship, ...] = ()
    corpus: Annotated[tuple[str, ...], Kept.DOCUMENTS] = ()
    is_rag: bool = False
    run: int = 1
    conversation: tuple[Turn, ...] = ()
    attachments: tuple[Attachment, ...] = ()


class Case(CaseData, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of one model to one question, with its data.

    The parts of the answer can be read from the case as well: `case.actual_output` is `case.answer.text`.

    Attributes:
        key: the test case's own key; the same key identifies a question for several models.
        answer: the model's answer; empty until it is known.
        plan: turns of the conversation that is run, or its simulated user; None for a single question.
        position: place among the test cases of its file, 1 for the first; 0 where it comes from no file.
        line: line of its file, from 1; 0 where that is not known. A perturbed case has that of its original.
        counterpart: the answered case that this one is compared with, for evaluators that declare which one
            they need.
        folder: where relative paths of the case resolve.
        extra: further keys of the row, as in the file.
    """

    key: str
    answer: Answer = Answer()
    test_key: str = ""
    model_key: str = ""
    model_name: str = ""
    position: int = 0
    line: int = 0
    plan: ConversationPlan | None = None
    counterpart: Case | None = None
    folder: str = "."
    extra: Mapping[str, Any] = {}

    @property
    def actual_output(self) -> str:
        """Return the text of the answer."""
        return self.answer.text

    @property
    def context(self) -> tuple[str, ...]:
        """Return the retrieved chunks in the order of retrieval."""
        return self.answer.context

    @property
    def context_sources(self) -> tuple[str, ...]:
        """Return a URI per chunk, or none."""
        return self.answer.context_sources

    @property
    def context_scores(self) -> tuple[float, ...]:
        """Return the relevance of each chunk as the host reports it, or none."""
        return self.answer.context_scores

    @property
    def duration_s(self) -> float:
        """Return the wall time of the request that succeeded, in seconds."""
        return self.answer.duration_s

    @property
    def cost_usd(self) -> float | None:
        """Return the cost of the answer, None where the host does not say."""
        return self.answer.cost_usd

    @property
    def usage(self) -> Mapping[str, int]:
        """Return the tokens by kind."""
        return self.answer.usage

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """Return the calls of tools, in order."""
        return self.answer.tool_calls

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Return the paths of files that the model made."""
        return self.answer.artifacts

    @property
    def all_outputs(self) -> tuple[str, ...]:
        """Return the expected output and the further accepted ones."""
        return (self.expected_output, *self.accepted_outputs)

    @property
    def reference(self) -> str:
        """Return the expected output as a judge reads it: several accepted ones as a numbered list."""
        if not self.accepted_outputs:
            return self.expected_output
        numbered = (f"{number}. {text}" for number, text in enumerate(self.all_outputs, 1))
        return "\n".join(("Each of these answers is right by itself:", *numbered))

    @property
    def error(self) -> str:
        """Return the reason for a missing answer, "" if there is an answer."""
        return self.answer.error

    @property
    def has_context(self) -> bool:
        """Return True if a retrieved chunk has a visible character."""
        return any(chunk.strip() for chunk in self.answer.context)

    @property
    def has_text(self) -> bool:
        """Return True if the answer has a visible character."""
        return not is_blank(self.answer.text)

    @property
    def is_answered(self) -> bool:
        """Return True if the model answered: by a text, by calling a tool or by making a file."""
        return self.has_text or bool(self.answer.tool_calls or self.answer.artifacts)

    @property
    def media(self) -> tuple[Attachment, ...]:
        """Return the images and files of the earlier turns and of the question."""
        earlier = (attachment for turn in self.conversation for attachment in turn.attachments)
        return (*earlier, *self.attachments)

    @property
    def all_media(self) -> tuple[Attachment, ...]:
        """Return the images and files of the question, and of the turns that are to be run."""
        turns = self.plan.turns if self.plan is not None else ()
        return (*self.media, *(attachment for turn in turns for attachment in turn.attachments))

    def with_answer(self, **changes: Any) -> Case:
        """Return the case with some fields of its answer changed."""
        return replace(self, answer=replace(self.answer, **changes))

    def sources(self, relationship: str) -> tuple[str, ...]:
        """Return the keys of the cases that this case links to with the given type of relationship."""
        return tuple(link.target for link in self.relationships if link.type == relationship)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Question for a host.

    Attributes:
        text: the question.
        corpus: documents of the test: absolute paths or URLs.
        run: repeat number, 1 for the first; a part of the answer's cache key.
        conversation: the turns before the question, the first one first; hosts of chat services send them as
            messages.
        sample: distinguishes questions with the same text that are to be answered separately, such as
            unchanged copies; a part of the answer's cache key.
        reply_schema: JSON Schema of the answer, for hosts that can enforce one; others ignore it.
        system: rules for the system role; only for hosts that declare `takes_system`.
        session: id of the conversation that the question is a turn of, the same for all its turns; "" for a
            single question. It is no part of the answer's cache key.
        graded: key of the grade in a judge's reply whose probabilities are wanted, for hosts that can give
            them; others ignore it.
        case: key, categories and own keys of the test case as JSON, for templates of prompts; never its
            expectations.
        attachments: images and files that the question comes with; only for hosts that declare their
            `media_types`.
        restored: parts of an earlier answer in place of the application's own; only for hosts that declare
            them by `restores`.
        disturbance: of the results of tools while this question is answered; for hosts that call the tools of
            an application in this process, or pass it on.
    """

    text: str
    corpus: tuple[str, ...] = ()
    run: int = 1
    conversation: tuple[Turn, ...] = ()
    sample: str = ""
    reply_schema: Mapping[str, Any] | None = None
    system: str = ""
    session: str = ""
    graded: str = ""
    case: str = ""
    attachments: tuple[Attachment, ...] = ()
    # Arguments of calls are dictionaries, which have no hash.
    restored: Restored | None = dataclasses.field(default=None, hash=False)
    disturbance: Disturbance | None = None

    @property
    def media(self) -> tuple[Attachment, ...]:
        """Return the images and files of the earlier turns and of the question."""
        earlier = (attachment for turn in self.conversation for attachment in turn.attachments)
        return (*earlier, *self.attachments)
