"""Types of an item of a run's record: rows, outcomes, verdicts and flips of a test case and model."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from pytest_evalstudio.core.cases import EndOfConversation, Retrieval
from pytest_evalstudio.core.flips import Confirmation, Flip
from pytest_evalstudio.core.outcomes import Outcome, Verdict
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.core.tracing import SpanStatus

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object with foreign keys: options of an evaluator, settings of a host, details of
an outcome.
"""
VerdictWord = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed", "not_run"]
"""`not_run`: the model was not asked, since its budget was used up or its service refused access."""
VERDICTS: tuple[VerdictWord, ...] = ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "not_run")


class Link(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A relationship from a test case to another one.

    Attributes:
        type: "perturbation_source" links a perturbed case to its original.
    """

    type: str
    target: str
    target_type: str


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Earlier turn of a conversation."""

    role: str
    content: str


class RecordedAttachment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Image or file that a message came with, without its bytes.

    Attributes:
        name: path relative to the folder of the case's file.
        media_type: by content, e.g. "image/png".
        size: bytes.
        sha256: of the content.
    """

    name: str
    media_type: str
    size: int
    sha256: str


class RecordedAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of an answer.

    Attributes:
        actual_duration: seconds of the successful request.
        thoughts: reasoning of the model, which is no part of its answer and is not scored.
        context_scores: relevance of each chunk as the host reports it, or empty.
        first_token_s: seconds until the first part of the answer; None where it was not streamed.
        served_model: the model that answered, as the service names it; "" where it does not.
        request_id: the service's id of the request, "" where it gives none.
        finish_reason: reason for the end of the text: "stop", "length", "content_filter", "tool_calls", or
            the service's own; "" where it gives none.
        traceparent: trace and span of the answer as a W3C header; "" where they are not known.
        spans: "complete", "incomplete" or "missing" where spans of the application were awaited; else "".
        cost: US dollars; None where the host does not report it.
        usage: tokens by kind.
        retries: requests that failed before the one that succeeded.
        tool_calls: calls of tools, in order.
        steps: all that the application did, in order, as far as its host says.
        error: reason for a missing answer, "" if there is an answer.
        session: the service's id of the conversation, where its reply gives one.
        state: of the application after the answer, JSON as text, cut after 20,000 characters; `state_before`
            that before the question or conversation.
        turns: all turns of a conversation that was run. The text is that of the last; calls, tokens, seconds
            and cost are those of all turns.
        ended_by: "max_turns" or "no_reply" where the condition that ends a conversation was never met,
            "failed_turn" where it stopped at a failing turn; "" for its last turn.
        closing_messages: messages of the user after the answer, which the model did not answer.
        stored: time at which an earlier run stored the answer, ISO 8601; "" for an answer of this run.
    """

    context: tuple[str, ...]
    context_sources: tuple[str, ...]
    actual_output: str
    actual_duration: float
    cost: float | None
    usage: dict[str, int]
    retries: int
    error: str
    context_scores: tuple[float, ...] = ()
    first_token_s: float | None = None
    served_model: str = ""
    request_id: str = ""
    finish_reason: str = ""
    traceparent: str = ""
    spans: SpanStatus = ""
    tool_calls: tuple[ToolCall, ...] = ()
    steps: tuple[Step, ...] = ()
    stored: str = ""
    session: str = ""
    state: str | None = None
    state_before: str | None = None
    turns: tuple[RecordedTurn, ...] = ()
    ended_by: EndOfConversation = ""
    closing_messages: tuple[str, ...] = ()
    thoughts: str = ""


class RecordedTurn(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Turn of a conversation that was run: the user's message, the answer to it, and its expectations.

    Attributes:
        attachments: images and files that the message came with.
        evaluators: ids of the evaluators that score the turn; None for all of the case.
    """

    prompt: str
    answer: RecordedAnswer
    attachments: tuple[RecordedAttachment, ...] = ()
    expected_output: str = ""
    accepted_outputs: tuple[str, ...] = ()
    output_condition: str = ""
    condition_on: str = ""
    expects: str = ""
    expected_facts: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    expected_documents: tuple[str, ...] = ()
    expected_chunks: tuple[str, ...] = ()
    expected_tool_calls: tuple[ExpectedToolCall, ...] | None = None
    expected_state: JsonObject = {}
    evaluators: tuple[str, ...] | None = None


class RecordRow(RecordedAnswer, frozen=True, kw_only=True, omit_defaults=True):
    """Answer of a model to a question: one repeat of an item.

    Attributes:
        run: number of the repeat, 1 for the first.
        is_rag: whether the model retrieves.
        condition_on: where the condition is to hold: "answer", "context" or "both"; "" for the default.
        expects: "refusal" where the case expects one.
        retrieval: "required" or "optional" where the case says whether chunks must be retrieved.
        expected_tool_calls: calls that the case expects; None where it says nothing of them.
        attachments: images and files that the question came with, images first.
        judge: "last" where the last turn of a conversation alone decides.
        plan: digest of the conversation that the case plans: turns, simulated user and expectations; "" for a
            single question.
        outcomes: evaluator id to its outcome.
    """

    run: int
    input: str
    corpus: tuple[str, ...]
    categories: tuple[str, ...]
    relationships: tuple[Link, ...]
    expected_output: str
    output_condition: str
    is_rag: bool
    condition_on: str = ""
    expects: str = ""
    retrieval: Retrieval = ""
    accepted_outputs: tuple[str, ...] = ()
    conversation: tuple[Message, ...] = ()
    attachments: tuple[RecordedAttachment, ...] = ()
    expected_facts: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()
    expected_documents: tuple[str, ...] = ()
    expected_chunks: tuple[str, ...] = ()
    expected_tool_calls: tuple[ExpectedToolCall, ...] | None = None
    expected_state: JsonObject = {}
    judge: str = ""
    plan: str = ""
    outcomes: dict[str, Outcome]

    def expected_by(self, evaluator: str) -> str:
        """Return the accepted answer that an evaluator's score is of; the first where it is of none alone."""
        outcome = self.outcomes.get(evaluator)
        if outcome is None or not 1 < outcome.accepted_output <= 1 + len(self.accepted_outputs):
            return self.expected_output
        return self.accepted_outputs[outcome.accepted_output - 2]


class Perturbation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Origin of a perturbed item.

    Attributes:
        by: perturbators with their intensities, in order.
        compared: evaluators that compared it with an original that is not part of the run.
    """

    by: tuple[str, ...]
    meaning_kept: bool
    compared: tuple[str, ...] = ()


class Attempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An attempt at an item that was run again.

    Attributes:
        duration_s: seconds.
        reason: headline of a failed or broken attempt.
        answers: the model's answers, one per repeat; none where the item was not evaluated.
        verdicts: by evaluator id.
    """

    verdict: VerdictWord
    duration_s: float
    reason: str = ""
    answers: tuple[str, ...] = ()
    verdicts: dict[str, Verdict] = {}


class CaseDigest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Short hashes of what a test case asks and expects, and of the rules that judge it.

    Attributes:
        parts: name of a part, e.g. "question" or "condition", to its hash; parts that a case has not are left
            out. The texts are masked, so that no secret can be guessed from a hash.
        thresholds: evaluator id to the hash of the thresholds that decide.
        options: evaluator id to the hash of the options that are not the defaults.
    """

    parts: dict[str, str] = {}
    thresholds: dict[str, str] = {}
    options: dict[str, str] = {}


class Item(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="item"):
    """Item: one test case for one model, or one check of a test written in Python.

    Attributes:
        index: place in the run, from 0.
        part: number of the check within its test; 0 for others.
        duration_s: seconds that pytest reports.
        file: path of the file, as in the node id.
        key: of the test case.
        code: what ended an item that has no outcome, e.g. "worker_crashed", or fails one whatever its
            evaluators say, e.g. "answer_empty"; "" for others. See `core.codes.ItemCode`.
        reason: headline of a failed or broken item.
        rows: one per repeat; none where the item was not evaluated.
        perturbed: None for an original.
        attempts: earlier attempts, where a plugin has run the item again.
        flaky: whether it passed after an attempt that did not, or its regression was not confirmed.
        confirmation: of a regressed item that was asked again; None for others.
        max_runs: repeats that a sequential test could have asked for; 0 without a test.
        unread: keys of expectations of the test case that no evaluator has compared the answer with.
        unchecked: whether nothing has checked that the answer is right.
        segments: values of the case's metadata by the names that the configuration gives, for comparisons.
        digest: of the test case; None in records of earlier versions, and where the item was not evaluated.
    """

    index: int
    nodeid: str
    verdict: VerdictWord
    duration_s: float
    part: int = 0
    file: str
    key: str
    test_key: str
    model_key: str
    code: str = ""
    reason: str
    rows: tuple[RecordRow, ...]
    verdicts: dict[str, Verdict]
    flips: tuple[Flip, ...]
    perturbed: Perturbation | None = None
    xfail: str = ""
    attempts: tuple[Attempt, ...] = ()
    flaky: bool = False
    confirmation: Confirmation | None = None
    max_runs: int = 0
    unread: tuple[str, ...] = ()
    unchecked: bool = False
    segments: dict[str, tuple[str, ...]] = {}
    digest: CaseDigest | None = None

    @property
    def identity(self) -> str:
        """Unique identity of the item in its run."""
        return f"{self.nodeid}#{self.part}"
