"""Conversations with a model: each message of the user follows the answers before it."""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

from msgspec import Struct, structs

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Answer, EndOfConversation, Exchange, Prompt, Turn
from pytest_evalstudio.core.codes import worst_reason
from pytest_evalstudio.core.conversations import SimulatedUser
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.core.steps import Step
from pytest_evalstudio.core.tool_calls import call_text
from pytest_evalstudio.core.tracing import SpanStatus
from pytest_evalstudio.formats.condition import parse_condition

Ask = Callable[[Prompt], Awaitable[Answer]]


class End(enum.Enum):
    """End of a conversation in place of a further message.

    Attributes:
        DONE: the user has said everything, or has what it wants.
        MAX_TURNS: the limit is reached, and the condition that ends the conversation was never met.
        NO_REPLY: the user has no reply to the last answer, and this condition was never met.
    """

    DONE = ""
    MAX_TURNS = "max_turns"
    NO_REPLY = "no_reply"


class DialogueUser(Protocol):
    """Takes the part of the user.

    Attributes:
        asks_model: whether a model writes the messages.
    """

    asks_model: ClassVar[bool]

    @property
    def max_messages(self) -> int:
        """Return how many messages the user has at most."""
        ...

    async def message(self, exchanges: Sequence[Exchange]) -> str | End:
        """Return the next message, or the end of the conversation.

        Raises:
            EvalStudioError: if there is neither.
        """
        ...


class FixedTurns(Struct, frozen=True):
    """User whose messages are written down.

    Attributes:
        attachments: images and files of each message; () where no message has any.
    """

    asks_model: ClassVar[bool] = False
    messages: tuple[str, ...]
    attachments: tuple[tuple[Attachment, ...], ...] = ()

    @property
    def max_messages(self) -> int:
        return len(self.messages)

    def attached(self, turn: int) -> tuple[Attachment, ...]:
        """Return the images and files of a message; turns are counted from 0."""
        return self.attachments[turn] if turn < len(self.attachments) else ()

    async def message(self, exchanges: Sequence[Exchange]) -> str | End:
        return self.messages[len(exchanges)] if len(exchanges) < len(self.messages) else End.DONE


class ScriptedUser(Struct, frozen=True):
    """User that replies by conditions on the last answer."""

    asks_model: ClassVar[bool] = False
    user: SimulatedUser

    @property
    def max_messages(self) -> int:
        return self.user.max_turns

    async def message(self, exchanges: Sequence[Exchange]) -> str | End:
        if not exchanges:
            return self.user.opening
        if (end := end_of(self.user, exchanges)) is not None:
            return end
        text = exchanges[-1].answer.text
        matching = (reply.say for reply in self.user.replies if parse_condition(reply.when).check(text))
        return next(matching, self.user.otherwise) or end_without_reply(self.user)


def end_without_reply(user: SimulatedUser) -> End:
    """Return the end of a conversation in which the user has nothing more to say."""
    return End.NO_REPLY if user.stop_when else End.DONE


def end_of(user: SimulatedUser, exchanges: Sequence[Exchange]) -> End | None:
    """Return the end of a conversation by the last answer or by the number of turns; None to go on."""
    if user.stop_when and parse_condition(user.stop_when).check(exchanges[-1].answer.text):
        return End.DONE
    if len(exchanges) >= user.max_turns:
        return End.MAX_TURNS if user.stop_when else End.DONE
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """A conversation to be held with a model.

    Attributes:
        prompt: of the first turn; the later ones differ in text and earlier turns.
        user: takes the part of the user.
        key: tells conversations of one run apart whose first turns are the same.
        exchanges: turns that were held before.
        max_turns: turns after which to pause, those held before included; None for all.
    """

    prompt: Prompt
    user: DialogueUser
    key: str
    # Answers hold dictionaries, which have no hash.
    exchanges: tuple[Exchange, ...] = field(default=(), hash=False)
    max_turns: int | None = None

    @property
    def run(self) -> int:
        """Return the number of the repeat."""
        return self.prompt.run

    def next_prompt(self, exchanges: Sequence[Exchange], message: str, session: str) -> Prompt:
        """Return the prompt of a further turn."""
        return replace(
            self.prompt,
            text=message,
            conversation=(*self.prompt.conversation, *messages_of(exchanges)),
            session=session,
            attachments=self._attached(len(exchanges)),
        )

    def _attached(self, turn: int) -> tuple[Attachment, ...]:
        """Return the images and files of a turn; those of a simulated user come with its first message."""
        if isinstance(self.user, FixedTurns):
            return self.user.attached(turn)
        return self.prompt.attachments if turn == 0 else ()

    async def hold(self, ask: Ask, session: str) -> Answer:
        """Hold the conversation; it ends with its last turn, or with one that has no answer.

        Args:
            ask: returns the answer to a prompt.
            session: id of the conversation, until the service gives one of its own.

        """
        exchanges = list(self.exchanges)
        end = End.DONE
        while self.max_turns is None or len(exchanges) < self.max_turns:
            try:
                message = await self.user.message(exchanges)
            except EvalStudioError as exc:
                error = f"the simulated user has no message for turn {len(exchanges) + 1}: {exc}"
                return structs.replace(
                    joined_answer(exchanges) if exchanges else Answer(), text="", error=error
                )
            if isinstance(message, End):
                end = message
                break
            # The id that the service gave, where it gives one of its own.
            service_session = exchanges[-1].answer.session if exchanges else ""
            prompt = self.next_prompt(exchanges, message, service_session or session)
            answer = await ask(prompt)
            exchanges.append(Exchange(prompt=message, answer=answer, attachments=prompt.attachments))
            # Later messages would refer to an answer that is not there.
            if answer.error:
                break
        return joined_answer(exchanges, ended_by=end.value)


Request = Prompt | Dialogue
"""Request to a model: a single question, or a conversation."""


def planned_prompts(dialogue: Dialogue) -> list[Prompt]:
    """Return the prompts of a conversation without its answers, e.g. to estimate its cost.

    Messages that are not known before are taken to be as long as the first.
    """
    known = dialogue.user.messages if isinstance(dialogue.user, FixedTurns) else ()
    prompts: list[Prompt] = []
    earlier = dialogue.prompt.conversation
    for index in range(dialogue.user.max_messages):
        text = known[index] if known else dialogue.prompt.text
        prompts.append(replace(dialogue.prompt, text=text, conversation=earlier))
        earlier = (*earlier, Turn(role="user", content=text))
    return prompts


def messages_of(exchanges: Sequence[Exchange]) -> list[Turn]:
    """Return turns as messages; an answer without text is described by its calls of tools."""
    return [
        turn
        for exchange in exchanges
        for turn in (
            Turn(role="user", content=exchange.prompt, attachments=exchange.attachments),
            Turn(role="assistant", content=_said(exchange.answer)),
        )
    ]


def _said(answer: Answer) -> str:
    calls = (call_text(call.name, call.arguments, call.arguments_text) for call in answer.tool_calls)
    return answer.text or "\n".join(calls)


def joined_answer(exchanges: Sequence[Exchange], *, ended_by: EndOfConversation = "") -> Answer:
    """Return the answer of a whole conversation: the text of the last turn, the amounts of all.

    Args:
        exchanges: at least one.
        ended_by: reason for the end.
    """
    answers = [exchange.answer for exchange in exchanges]
    last = answers[-1]
    first_state = answers[0].state
    usage: Counter[str] = Counter()
    for answer in answers:
        usage.update(answer.usage)
    costs = [answer.cost_usd for answer in answers]
    stored = [answer.stored_at for answer in answers if answer.stored_at is not None]
    return structs.replace(
        last,
        error=f"turn {len(answers)}: {last.error}" if last.error else "",
        finish_reason=worst_reason(tuple(answer.finish_reason for answer in answers)),
        tool_calls=tuple(call for answer in answers for call in answer.tool_calls),
        steps=tuple(_joined_steps(answers)),
        artifacts=tuple(path for answer in answers for path in answer.artifacts),
        usage=dict(usage),
        # A sum without one of the turns would be too low, and look like the whole cost.
        cost_usd=math.fsum(cost for cost in costs if cost is not None) if None not in costs else None,
        duration_s=math.fsum(answer.duration_s for answer in answers),
        first_token_s=answers[0].first_token_s,
        retries=sum(answer.retries for answer in answers),
        stored_at=min(stored, default=None),
        state=structs.replace(last.state, before=first_state.before if first_state else None)
        if last.state
        else None,
        spans=min((answer.spans for answer in answers), key=_COMPLETENESS.index),
        turns=tuple(exchanges),
        ended_by=ended_by,
    )


# From the worst to the best: the spans of a conversation are as complete as those of its worst turn.
_COMPLETENESS: tuple[SpanStatus, ...] = ("missing", "incomplete", "complete", "")


def _joined_steps(answers: Sequence[Answer]) -> Iterator[Step]:
    """Yield the steps of all turns; calls are counted over all turns, chunks are the last turn's."""
    calls = 0
    for answer in answers:
        for step in answer.steps:
            if step.call is not None:
                step = structs.replace(step, call=step.call + calls)
            elif step.documents and answer is not answers[-1]:
                step = structs.replace(step, documents=())
            yield step
        calls += len(answer.tool_calls)
