"""Conversations that are run, in files: turns with their expectations, and simulated users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pytest_evalstudio.core.cases import EndOfConversation
from pytest_evalstudio.core.conversations import (
    MAX_TURNS,
    ConversationPlan,
    JudgedTurns,
    OnFailure,
    PlannedTurn,
    ScriptedReply,
    SimulatedUser,
)
from pytest_evalstudio.core.errors import DataError, nearest
from pytest_evalstudio.core.expected import expectations_of
from pytest_evalstudio.formats.attachments import AttachedFiles, attachments_of
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.fields import (
    FormatModel,
    Text,
    Texts,
    list_or_empty,
    one_of,
)
from pytest_evalstudio.formats.shared_keys import AnswerKeys, ExpectationKeys
from pytest_evalstudio.formats.tool_calls import (
    with_steps,
)

MAX_TURNS_LIMIT = 100
"""Largest number of turns of a conversation: each one is a request, and its prompt repeats those before."""


def _condition(text: str) -> str:
    if text.strip():
        try:
            parse_condition(text)
        except DataError as exc:
            raise ValueError(exc.message) from None
    return text


class _Strict(FormatModel):
    """A part of a file whose unknown keys are errors, since an expectation would not be checked."""

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: object) -> object:
        names = list(cls.model_fields)
        for name in data if isinstance(data, Mapping) else ():
            if name not in names and not str(name).startswith("x-"):
                hint = nearest(str(name), names) or f"There are: {', '.join(names)}."
                raise ValueError(f"{name!r} is not a key here. {hint}")
        return data


class ConversationTurn(_Strict, ExpectationKeys):
    """Message of the user in a conversation that is run, with expectations of the answer to it.

    The expectations are those of `TestCase`. `evaluators` names those of the case's evaluators that score
    the turn; all do without it.
    """

    optional_keys: ClassVar[frozenset[str]] = frozenset(
        {
            "condition",
            "condition_on",
            "expects",
            "expected_output",
            "accepted_outputs",
            "expected_facts",
            "guidelines",
            "expected_documents",
            "expected_chunks",
            "expected_tool_calls",
            "expected_state",
            "evaluators",
            "images",
            "files",
        }
    )

    first_keys: ClassVar[tuple[str, ...]] = (
        "prompt",
        "images",
        "files",
        "condition",
        "condition_on",
        "expects",
    )

    prompt: str
    images: AttachedFiles = Field(default_factory=list)
    files: AttachedFiles = Field(default_factory=list)
    condition: Text = ""
    evaluators: list[str] | None = None

    @field_validator("prompt")
    @classmethod
    def _has_words(cls, prompt: str) -> str:
        if not prompt.strip():
            raise ValueError("the prompt is blank; write the user's message")
        return prompt

    @field_validator("condition")
    @classmethod
    def _can_be_parsed(cls, text: str) -> str:
        return _condition(text)

    def planned(self, folder: str | None = None) -> PlannedTurn:
        """Return the turn as the engine takes it.

        Args:
            folder: folder of the file, where the paths of images and files start; None where it has none.
        """
        calls = self.expected_tool_calls
        return PlannedTurn(
            prompt=self.prompt,
            attachments=attachments_of(self.images, self.files, folder),
            **expectations_of(self, expected_tool_calls=None if calls is None else tuple(calls)),
            evaluators=None if self.evaluators is None else tuple(self.evaluators),
        )


class UserReply(_Strict):
    """Reply of a simulated user: `say` is the message where an answer meets the condition `when`."""

    when: str
    say: str

    @field_validator("when")
    @classmethod
    def _can_be_parsed(cls, text: str) -> str:
        if not text.strip():
            raise ValueError('the condition is blank; write e.g. "\\"reservation number\\""')
        return _condition(text)


class User(_Strict):
    """Simulated user; see `core.conversations.SimulatedUser`."""

    optional_keys: ClassVar[frozenset[str]] = frozenset(
        {"goal", "facts", "style", "opening", "max_turns", "stop_when", "replies", "otherwise"}
    )

    goal: Text = ""
    facts: Texts = Field(default_factory=list)
    style: Text = ""
    opening: Text = ""
    max_turns: Annotated[int, Field(ge=1, le=MAX_TURNS_LIMIT)] = MAX_TURNS
    stop_when: Text = ""
    replies: Annotated[list[UserReply], BeforeValidator(list_or_empty)] = Field(default_factory=list)
    otherwise: Text = ""

    @field_validator("stop_when")
    @classmethod
    def _can_be_parsed(cls, text: str) -> str:
        return _condition(text)

    @model_validator(mode="after")
    def _can_begin(self) -> Self:
        if (self.replies or self.otherwise) and not self.opening.strip():
            raise ValueError("a scripted user has no first message; add `opening`")
        if not (self.replies or self.otherwise or self.goal.strip()):
            raise ValueError("the user has neither a script (`replies`) nor a `goal` for a model to play it")
        return self

    def simulated(self) -> SimulatedUser:
        """Return the user as the engine takes it."""
        return SimulatedUser(
            goal=self.goal,
            facts=tuple(self.facts),
            style=self.style,
            opening=self.opening,
            max_turns=self.max_turns,
            stop_when=self.stop_when,
            replies=tuple(ScriptedReply(when=reply.when, say=reply.say) for reply in self.replies),
            otherwise=self.otherwise,
        )


class AnsweredTurn(AnswerKeys, ConversationTurn):
    """Turn of a conversation with its answer, in the keys of a row."""

    optional_keys: ClassVar[frozenset[str]] = (
        ConversationTurn.optional_keys | AnswerKeys.optional_keys | {"context", "actual_duration", "cost"}
    )

    @model_validator(mode="before")
    @classmethod
    def _with_steps(cls, data: object) -> object:
        return with_steps(data)


Turns = Annotated[list[ConversationTurn], BeforeValidator(list_or_empty), Field(max_length=MAX_TURNS_LIMIT)]
AnsweredTurns = Annotated[
    list[AnsweredTurn], BeforeValidator(list_or_empty), Field(max_length=MAX_TURNS_LIMIT)
]
JudgedTurnsWord = Annotated[JudgedTurns | Literal[""], one_of("worst", "last")]
OnFailureWord = Annotated[OnFailure | Literal[""], one_of("continue", "stop")]
EndedBy = Annotated[EndOfConversation, one_of("max_turns", "no_reply", "failed_turn")]


def plan_of(
    turns: Sequence[ConversationTurn],
    user: User | None,
    judge: str = "",
    on_failure: str = "",
    *,
    folder: str | None = None,
) -> ConversationPlan | None:
    """Return the conversation of a test case or row; None for a single question.

    Args:
        folder: folder of the file, where the paths of images and files start; None where it has none.
    """
    if not turns and user is None:
        return None
    return ConversationPlan(
        turns=tuple(turn.planned(folder) for turn in turns),
        user=None if user is None else user.simulated(),
        judge="last" if judge == "last" else "worst",
        on_failure="stop" if on_failure == "stop" else "continue",
    )


def with_opening(data: object, key: str) -> object:
    """Return a test case or row whose question is the first message of its conversation, if it has one.

    Args:
        data: as in the file.
        key: of the question: "prompt" or "input".

    Raises:
        ValueError: if it has a question besides, both turns and a simulated user, or both turns and images
            or files.
    """
    if not isinstance(data, Mapping) or not (data.get("turns") or data.get("user")):
        return data
    turns, user = data.get("turns"), data.get("user")
    if turns and (data.get("images") or data.get("files")):
        raise ValueError(
            "a conversation with `turns` cannot have `images` or `files` of its own; move these into"
            " their turn"
        )
    if turns and user:
        raise ValueError("it has both `turns` and a `user`; keep one of them")
    opening = _opening(turns, user)
    if data.get(key) and data[key] != opening:
        raise ValueError(f"it has both {key!r} and a conversation; make {key!r} the first of its `turns`")
    return {**data, key: opening}


def _opening(turns: object, user: object) -> str:
    first = turns[0] if isinstance(turns, list) and turns else None
    if isinstance(first, Mapping | ConversationTurn):
        return str(first.get("prompt") or "?") if isinstance(first, Mapping) else first.prompt
    if isinstance(user, User):
        return user.opening or user.goal
    if isinstance(user, Mapping):
        return str(user.get("opening") or user.get("goal") or "?")
    return "?"  # what is wrong with the conversation is said of its own key
