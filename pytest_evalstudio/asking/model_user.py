"""Simulated user that a judge model plays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_evalstudio.asking.dialogues import End, end_of, end_without_reply
from pytest_evalstudio.core.cases import Exchange
from pytest_evalstudio.core.conversations import SimulatedUser
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.judging import Flow, Judge, Question, independent
from pytest_evalstudio.core.replies import YES, choice, record, text
from pytest_evalstudio.hosts._threads import in_thread

OpenJudge = Callable[[], Judge]
PROMPT = "simulated_user"
_REPLY = record(
    has_goal=choice(
        "Does the person have what the goal asks for, or is it clear that the assistant refuses?"
    ),
    message=text("The person's next message to the assistant; an empty text where nothing is left to say."),
)
_ASSISTANT = re.compile(
    r"\W*(?:as an? (?:ai|language model|assistant)\b|how (?:can|may) i (?:help|assist) you"
    r"|(?:is there )?anything else i can (?:help|assist|do)\b|i(?:'m| am) (?:an ai|here to (?:help|assist)))",
    re.IGNORECASE,
)
"""Beginning of a message that an assistant writes, not a person who wants something."""


@dataclass(frozen=True, slots=True)
class ModelUser:
    """User whose messages a judge model writes.

    The model sees goal, facts, style and the conversation, and none of the case's expectations.

    Attributes:
        user: the person that is played.
        open_model: opens the model; None where no judge is configured.
    """

    user: SimulatedUser
    open_model: OpenJudge | None = field(default=None, compare=False)
    asks_model: ClassVar[bool] = True

    @property
    def max_messages(self) -> int:
        return self.user.max_turns

    async def message(self, exchanges: Sequence[Exchange]) -> str | End:
        if not exchanges and self.user.opening:
            return self.user.opening
        if exchanges and (end := end_of(self.user, exchanges)) is not None:
            return end
        if self.open_model is None:
            raise EvaluationError(
                "the user has no `replies`, so a judge model must play it; configure [judge]"
            )
        judge = self.open_model()
        # The judge waits for its own requests, which may run in the event loop of this coroutine.
        [[judgement, *_]] = await in_thread(lambda: judge.follow([lambda: _ask(self.user, exchanges)]))
        if judgement.fault is not None:
            raise EvaluationError(f"the judge model that plays the user did not reply: {judgement.fault}")
        has_goal, message = judgement.value
        if exchanges and has_goal and not self.user.stop_when:
            return End.DONE
        if not message.strip():
            return end_without_reply(self.user)
        if _ASSISTANT.match(message) or (exchanges and message == exchanges[-1].answer.text):
            raise EvaluationError(
                "the judge model that plays the user replied as the assistant; run the test again, or use"
                " another judge model"
            )
        return str(message)


def _ask(user: SimulatedUser, exchanges: Sequence[Exchange]) -> Flow[tuple[bool, str]]:
    said = [
        line for turn in exchanges for line in (f"person: {turn.prompt}", f"assistant: {turn.answer.text}")
    ]
    texts: dict[str, str | Sequence[str]] = {"goal": user.goal}
    texts |= {"fact": user.facts} if user.facts else {}
    texts |= {"style": user.style} if user.style else {}
    texts |= {"said": said} if said else {}
    [reply] = yield [Question(prompt=PROMPT, texts=texts, reply=_REPLY, consistency=independent)]
    return reply["has_goal"] == YES, reply["message"]
