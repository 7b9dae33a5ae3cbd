"""Conversations that stop at a failing turn: they pause after each turn until it is scored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from msgspec import structs

from pytest_evalstudio.asking.dialogues import Dialogue, Request
from pytest_evalstudio.core.cases import Answer


class AskingModel(Protocol):
    """A model that holds conversations."""

    def end_conversations(self, dialogues: Sequence[Dialogue]) -> None: ...


Ask = Callable[[Sequence[Request]], list[Answer]]
FailingTurns = Callable[[Sequence[tuple[int, Answer]]], Sequence[bool]]
"""Returns which of the last turns fail; the answers are given with the indices of their requests."""


def ask_until_failure(
    model: AskingModel, requests: Sequence[Request], ask: Ask, failing: FailingTurns
) -> list[Answer]:
    """Return the answers to requests; paused conversations continue until a turn fails.

    Args:
        model: ends the paused conversations.
        requests: questions and conversations.
        ask: asks the model.
        failing: scores the last turns.
    """
    answers = ask(requests)
    paused = {
        index: request
        for index, request in enumerate(requests)
        if isinstance(request, Dialogue) and request.max_turns is not None
    }
    waiting = [index for index in paused if _is_paused(answers[index], paused[index])]
    while waiting:
        fails = failing([(index, answers[index]) for index in waiting])
        for index, failed in zip(waiting, fails, strict=True):
            if failed:
                answers[index] = structs.replace(answers[index], ended_by="failed_turn")
        waiting = [index for index, failed in zip(waiting, fails, strict=True) if not failed]
        for index in waiting:
            turns = answers[index].turns
            paused[index] = replace(paused[index], exchanges=turns, max_turns=len(turns) + 1)
        for index, answer in zip(waiting, ask([paused[index] for index in waiting]), strict=True):
            answers[index] = answer
        waiting = [index for index in waiting if _is_paused(answers[index], paused[index])]
    if paused:
        model.end_conversations(list(paused.values()))
    return answers


def _is_paused(answer: Answer, dialogue: Dialogue) -> bool:
    """Return True if a conversation may have a further turn."""
    return not answer.error and len(answer.turns) == dialogue.max_turns
