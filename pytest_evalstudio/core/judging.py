"""Interface of LLM judges: questions, replies, and judgements of several steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import NOTHING, Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.json_data import non_empty

T = TypeVar("T")
Vote = Literal["majority", "mean"]

JUDGE = "judge"
"""Requirement of evaluators that ask a judge."""

PLACEHOLDERS: Mapping[str, str] = {
    name: text
    for text in ("question", "expected_output", "context", "actual_output")
    for name in (text, "INPUT" if text == "question" else text.upper())
}
"""Placeholders in a user's own prompt, and the names of the texts that replace them.

The names in capitals are those of the reference engine.
"""
PLACEHOLDER = re.compile("\\{(" + "|".join(PLACEHOLDERS) + ")\\}")
"""Pattern of a placeholder in braces."""


Consistency = Callable[[Mapping[str, Any]], str]
"""Returns how the parts of a reply contradict each other, "" if they agree."""


def independent(reply: Mapping[str, Any]) -> str:
    """Declare that no part of a reply says anything about another part."""
    return ""


class Question(Struct, frozen=True, kw_only=True):
    """Question for a judge.

    Attributes:
        prompt: name of the prompt's file, without its suffix.
        texts: name to a text, or to several that are numbered from 1: all that models, documents and data
            files say. They are fenced in the prompt, as data.
        settings: name to value of what the configuration's author wrote; a part of the prompt itself.
        reply: JSON Schema of the requested reply; its descriptions instruct the judge.
        consistency: check of the parts of a reply against each other. None if the reply has one choice,
            number or list at most; else it is declared, as `independent` where no parts can disagree.
        graded: name of the choice of whole numbers in the reply whose probabilities are wanted; "" for none.
        attachments: images and files that the judged question came with; see `with_attachments`.
        published: rewrites a reply in the form of a published procedure into that of `reply`, and returns any
            other one as it is; None where there is no such form.
    """

    prompt: str
    texts: Mapping[str, str | Sequence[str]]
    reply: Mapping[str, Any]
    consistency: Consistency | None = None
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    graded: str = ""
    attachments: tuple[Attachment, ...] = ()
    published: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None


class Example(Struct, frozen=True, kw_only=True):
    """Material that a person has judged, for the prompt of a judge.

    Attributes:
        texts: as in `Question`.
        verdict: the option of the reply that is right.
    """

    texts: Mapping[str, str | Sequence[str]]
    verdict: str


class JudgeFault(Exception):
    """A question to which a judge gave no usable reply.

    Args:
        message: what happened, without secrets.
        code: JUDGE_FAILED, JUDGE_UNREADABLE or JUDGE_CONTRADICTORY.
        raw: the reply that cannot be used, "" if there is none.
    """

    def __init__(self, message: str, *, code: OutcomeCode = OutcomeCode.JUDGE_FAILED, raw: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.raw = raw

    @property
    def unparsable(self) -> bool:
        """Return True if the judge did reply, but not in the form that was asked for."""
        return self.code == OutcomeCode.JUDGE_UNREADABLE


class Reply(Struct, frozen=True, kw_only=True):
    """Reply of a judge to one question.

    Attributes:
        content: the object, which follows the question's schema; empty after a fault.
        grades: probability of each grade, where the question asks for it and the service gives it.
        fault: reason for a missing reply.
    """

    content: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    grades: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    fault: JudgeFault | None = None

    def __getitem__(self, key: str) -> Any:
        """Return a value of the object.

        Raises:
            JudgeFault: if there is no reply; a flow that does not catch it ends with it.
        """
        if self.fault is not None:
            raise self.fault
        return self.content[key]


Flow = Generator[Sequence[Question], Sequence[Reply], T]
"""A judgement as a generator: it yields questions that can be asked concurrently and receives their replies.

Replies are in the order of the questions; the generator returns the result.
"""


class Judging(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Usage of a judgement; questions with stored replies count like others.

    Attributes:
        calls: questions, including repairs.
        repairs: repeated questions after a reply that could not be parsed or contradicted itself.
        unparsable: replies that could not be parsed after the repair.
        cost_usd: sum of the known costs.
        unpriced: calls without a cost from the host.
        over_budget: questions that were not asked because the budget was used up.
    """

    calls: int = 0
    repairs: int = 0
    unparsable: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    over_budget: int = 0

    def __add__(self, other: Judging) -> Judging:
        names = self.__struct_fields__
        return Judging(**{name: getattr(self, name) + getattr(other, name) for name in names})


class Judgement(Struct, frozen=True, kw_only=True):
    """Result of one judge for one case.

    Attributes:
        judge: display name of the judge.
        value: result of the flow; None after a fault.
        fault: fault that ended the flow.
        spent: usage of the flow.
    """

    judge: str
    value: Any = None
    fault: JudgeFault | None = None
    spent: Judging = field(default_factory=Judging)


def with_attachments(flow: Flow[T], attachments: tuple[Attachment, ...]) -> Flow[T]:
    """Return a judgement whose questions name the images and files of the judged case.

    Args:
        flow: the judgement.
        attachments: of the case; without any, the flow itself is returned.
    """
    return _attached(flow, attachments) if attachments else flow


def _attached(flow: Flow[T], attachments: tuple[Attachment, ...]) -> Flow[T]:
    try:
        questions = next(flow)
        while True:
            replies = yield [replace(question, attachments=attachments) for question in questions]
            questions = flow.send(replies)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        flow.close()


class Judge(Protocol):
    """Judge model, or a panel of judge models.

    Attributes:
        vote: rule that combines a panel's judgements.
        members: number of models that judge each case.
    """

    @property
    def name(self) -> str: ...

    @property
    def vote(self) -> Vote: ...

    @property
    def members(self) -> int: ...

    def follow(self, flows: Sequence[Callable[[], Flow[T]]]) -> list[list[Judgement]]:
        """Return the judgements of each judge on each flow; all flows of all judges run concurrently.

        Args:
            flows: makers of flows, called once for each judge.
        """
        ...


def asked_texts(case: Case) -> dict[str, str | list[str]]:
    """Return the question of a case and its earlier turns, if any, for a prompt."""
    turns = [f"{turn.role}: {turn.content}" for turn in case.conversation]
    return {**non_empty(earlier_turn=turns), "question": case.question}
