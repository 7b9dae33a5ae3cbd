"""Conversations that stop at a failing turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_evalstudio.asking.dialogues import Dialogue, FixedTurns, Request
from pytest_evalstudio.core.cases import Answer, Exchange, Prompt
from pytest_evalstudio.scoring.stopping import ask_until_failure


class Model:
    """A model that holds as many turns as a dialogue allows, and notes which conversations end."""

    def __init__(self, broken: str = "") -> None:
        self.asked: list[list[int | None]] = []
        self.ended: list[Dialogue] = []
        self.broken = broken

    def end_conversations(self, dialogues: Sequence[Dialogue]) -> None:
        self.ended += dialogues

    def ask(self, requests: Sequence[Request]) -> list[Answer]:
        self.asked.append([each.max_turns if isinstance(each, Dialogue) else 0 for each in requests])
        return [self._answer(each) for each in requests]

    def _answer(self, request: Request) -> Answer:
        if not isinstance(request, Dialogue):
            return Answer(text="single")
        assert isinstance(request.user, FixedTurns)
        messages = request.user.messages[: request.max_turns]
        turns = tuple(Exchange(prompt=text, answer=Answer(text=text.upper())) for text in messages)
        error = "down" if messages[-1] == self.broken else ""
        return Answer(text=messages[-1].upper(), turns=turns, error=error)


def dialogue(*messages: str) -> Dialogue:
    return Dialogue(prompt=Prompt(text=messages[0]), user=FixedTurns(messages), key="k", max_turns=1)


def ask_all(model: Model, *requests: Request, failing: str = "") -> list[Answer]:
    def fails(turns: Sequence[tuple[int, Answer]]) -> list[bool]:
        return [answer.text in failing.upper() if failing else False for _, answer in turns]

    return ask_until_failure(model, requests, model.ask, fails)


def test_a_conversation_goes_on_turn_by_turn_while_none_fails() -> None:
    model = Model()
    [answer] = ask_all(model, dialogue("a", "b", "c"))
    assert ([turn.prompt for turn in answer.turns], answer.ended_by) == (["a", "b", "c"], "")
    assert model.asked == [[1], [2], [3], [4]]
    assert len(model.ended) == 1


def test_a_failing_turn_ends_its_conversation_alone() -> None:
    model = Model()
    first, second, single = ask_all(
        model, dialogue("a", "x", "c"), dialogue("d", "e"), Prompt(text="q"), failing="x"
    )
    assert ([turn.prompt for turn in first.turns], first.ended_by) == (["a", "x"], "failed_turn")
    assert ([turn.prompt for turn in second.turns], second.ended_by) == (["d", "e"], "")
    assert single.text == "single"
    assert model.asked == [[1, 1, 0], [2, 2], [3]]


def test_a_conversation_in_error_is_not_continued() -> None:
    model = Model(broken="b")
    [answer] = ask_all(model, dialogue("a", "b", "c"))
    assert (answer.error, model.asked) == ("down", [[1], [2]])


def test_conversations_without_a_stop_are_asked_once() -> None:
    model = Model()
    full_dialogue = replace(dialogue("a", "b"), max_turns=None)
    answers = ask_all(model, full_dialogue, Prompt(text="q"), failing="b")
    assert [answer.ended_by for answer in answers] == ["", ""]
    assert (model.asked, model.ended) == ([[None, 0]], [])
