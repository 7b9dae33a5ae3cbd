"""Answers that arrived in a call that did not return."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable

from pytest_evalstudio.asking.answers import digest_of
from pytest_evalstudio.core.cases import Answer, Prompt


class InterruptedAnswers:
    """Keeps the answers of interrupted calls until their prompts come again.

    An item may be ended while its chunk is being asked, for instance by pytest-timeout. The next item of the
    chunk asks the same prompts. Each kept answer is returned once, so that a model without a cache still gets
    a repeated question twice.
    """

    def __init__(self) -> None:
        self._answers: defaultdict[str, deque[Answer]] = defaultdict(deque)

    def keep(self, pending: Iterable[tuple[Prompt, asyncio.Task[Answer]]]) -> None:
        """Keep the answers of tasks that have finished."""
        for prompt, task in pending:
            if task.done() and not task.cancelled() and task.exception() is None:
                self._answers[_identity(prompt)].append(task.result())

    def take(self, prompt: Prompt) -> Answer | None:
        """Remove and return a kept answer; None if there is none."""
        if not self._answers:
            return None
        identity = _identity(prompt)
        waiting = self._answers.get(identity)
        if not waiting:
            return None
        answer = waiting.popleft()
        if not waiting:
            del self._answers[identity]
        return answer


def _identity(prompt: Prompt) -> str:
    """Return a digest of the whole prompt; documents count by their names."""
    turns = [[turn.role, turn.content] for turn in prompt.conversation]
    return digest_of(
        [prompt.text, prompt.corpus, prompt.run, turns, prompt.sample, prompt.reply_schema, prompt.system]
    )
