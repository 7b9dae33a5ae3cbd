"""Conversations that are run: turns of a user, and users that are simulated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Struct
from msgspec.structs import replace

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.expected import Expected
from pytest_evalstudio.core.kept import Kept

JudgedTurns = Literal["worst", "last"]
"""Turns that decide a case: the worst of all, or the last alone."""
OnFailure = Literal["continue", "stop"]
"""Continuation of a conversation after a turn that fails."""
MAX_TURNS = 10
"""Default limit of the turns of a simulated user."""


class PlannedTurn(Expected, frozen=True, kw_only=True, omit_defaults=True):
    """Message of the user, with the expectations of the answer to it.

    Attributes:
        attachments: images and files that the message comes with.
        evaluators: ids of the evaluators that score the turn; None for those of the case.
    """

    prompt: str
    attachments: tuple[Attachment, ...] = ()
    evaluators: Annotated[tuple[str, ...] | None, Kept.PLAIN] = None


class ScriptedReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Reply of a simulated user to an answer.

    Attributes:
        when: condition on the answer; see `formats.condition`.
        say: the user's message.
    """

    when: str
    say: str


class SimulatedUser(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """User that is played by a script or by a judge model.

    Attributes:
        goal: what the user wants to reach; read by the model that plays the user.
        facts: what the user knows and says when asked.
        style: how the user writes.
        opening: first message; "" where a model is to write it.
        max_turns: messages of the user at most.
        stop_when: condition on the answer that ends the conversation; "" for none.
        replies: the script; the first reply whose condition the answer meets is said. A judge model plays the
            user where there are neither replies nor `otherwise`.
        otherwise: message where no reply matches; "" to end the conversation there.
    """

    goal: str = ""
    facts: tuple[str, ...] = ()
    style: str = ""
    opening: str = ""
    max_turns: int = MAX_TURNS
    stop_when: str = ""
    replies: tuple[ScriptedReply, ...] = ()
    otherwise: str = ""

    @property
    def is_scripted(self) -> bool:
        """Return True if the messages follow from the script, without a model."""
        return bool(self.replies or self.otherwise)


class ConversationPlan(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Conversation of a case.

    Attributes:
        turns: messages in order, the first one is the question of the case; () with a simulated user.
        user: the simulated user, None for fixed turns.
        judge: turns that decide the case.
        on_failure: whether the conversation continues after a turn that fails.
    """

    turns: tuple[PlannedTurn, ...] = ()
    user: SimulatedUser | None = None
    judge: JudgedTurns = "worst"
    on_failure: OnFailure = "continue"

    @property
    def messages(self) -> tuple[str, ...]:
        """Return the messages of the user that are known before: of fixed turns, or the first one."""
        if self.user is not None:
            return (self.user.opening,) if self.user.opening else ()
        return tuple(turn.prompt for turn in self.turns)

    def with_messages(self, messages: Sequence[str]) -> ConversationPlan:
        """Return the plan with other messages in place of those of `messages`."""
        if self.user is not None:
            return replace(self, user=replace(self.user, opening=messages[0]) if messages else self.user)
        turns = zip(self.turns, messages, strict=True)
        return replace(self, turns=tuple(replace(turn, prompt=message) for turn, message in turns))

    @property
    def evaluators_of_turns(self) -> tuple[str, ...]:
        """Return the ids of the evaluators that single turns name."""
        return tuple(dict.fromkeys(name for turn in self.turns for name in turn.evaluators or ()))
