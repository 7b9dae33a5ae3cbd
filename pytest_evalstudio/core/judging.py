"""The seam of LLM judges: what evaluators ask, what they get, and how a judgement of several steps is
written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from pytest_evalstudio.core.cases import NOTHING

T = TypeVar("T")
Vote = Literal["majority", "mean"]

JUDGE = "judge"
"""What an evaluator requires that asks a judge."""

PLACEHOLDERS: Mapping[str, str] = {
    name: text
    for text in ("question", "expected_output", "context", "actual_output")
    for name in (text, "INPUT" if text == "question" else text.upper())
}
"""What may stand in braces in a user's own prompt, by the name of the text that it stands for; the capitals
are the reference engine's.
"""
PLACEHOLDER = re.compile("\\{(" + "|".join(PLACEHOLDERS) + ")\\}")
"""One of them in its braces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a judge is asked.

    Attributes:
        prompt: name of the prompt's file, without its ending.
        texts: name to a text, or to several that are numbered from 1: all that models, documents and data
            files say. They stand fenced in the prompt, as data.
        settings: name to value of what the configuration's author wrote; a part of the prompt itself.
        reply: JSON Schema of the object that is to be replied; its descriptions tell the judge what to write.
    """

    prompt: str
    texts: Mapping[str, str | Sequence[str]]
    reply: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
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
        unparsable: whether the judge did reply, but not in the form that was asked for.
        raw: that reply.
    """

    def __init__(self, message: str, *, unparsable: bool = False, raw: str = "") -> None:
        super().__init__(message)
        self.unparsable = unparsable
        self.raw = raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a judge said to one question.

    Attributes:
        content: the object, as the question's schema has it; empty where there is a fault.
        fault: why there is none.
    """

    content: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    fault: JudgeFault | None = None

    def __getitem__(self, key: str) -> Any:
        """A value of the object.

        Raises:
            JudgeFault: if there is none; a flow that does not catch it ends with it.
        """
        if self.fault is not None:
            raise self.fault
        return self.content[key]


Flow = Generator[Sequence[Question], Sequence[Reply], T]
"""A judgement: yields questions that can be asked at the same time, is sent their replies in order, returns
what it made of them.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """What a judgement took; questions whose replies were stored already count like others.

    Attributes:
        calls: questions, repairs among them.
        repairs: questions that asked for an unparsable reply once more.
        unparsable: replies that could not be read even then.
        cost_usd: what is known of it.
        unpriced: calls whose cost the host did not say.
        over_budget: questions that were not asked, since the budget was used up.
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
        return Judging(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What one judge made of one case.

    Attributes:
        judge: its name, as people read it.
        found: what the flow returned; None where there is a fault.
        fault: what ended the flow.
        spent: what it took.
    """

    judge: str
    found: Any = None
    fault: JudgeFault | None = None
    spent: Judging = field(default_factory=Judging)


class Judge(Protocol):
    """One model that judges, or a panel of them.

    Attributes:
        vote: how a panel's judgements become one.
        members: number of models that judge each case.
    """

    @property
    def name(self) -> str: ...

    @property
    def vote(self) -> Vote: ...

    @property
    def members(self) -> int: ...

    def follow(self, flows: Sequence[Callable[[], Flow[T]]]) -> list[list[Judgement]]:
        """The judgement of each judge on each flow; all flows of all judges go on at the same time.

        Args:
            flows: makers of flows, called once for each judge.
        """
        ...
