"""Answers from a script, so that tests and demonstrations need no network."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.attachments import MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.hosts._callables import to_answer

Script = Mapping[str, Any] | Sequence[Any] | Callable[[Prompt], Any]


@host(
    "scripted",
    name="Scripted answers",
    kind="both",
    caches=False,
    deterministic=True,
    media_types=MEDIA_TYPES,
)
@dataclass(kw_only=True)
class Scripted:
    """Answers from a script: for tests and demonstrations without a network.

    Attributes:
        answers: prompt to answer; or answers in the order of asking; or a callable that gets the prompt. An
            answer is text or a mapping with `answer`, `context`, `context_sources`, `cost_usd`, `usage`,
            `error`.
        default: the answer to any other prompt; None for a fault.
        delay_s: seconds that each answer takes.
        fail_first: how many requests fail before the first answer.
        fault: the words of those failures.
        retry: whether those failures are of the kind that another try may heal.
        retry_after_s: seconds that those failures ask to wait.
    """

    answers: Script = field(default_factory=dict)
    default: str | None = None
    delay_s: float = 0.0
    fail_first: int = 0
    fault: str = "scripted failure"
    retry: bool = True
    retry_after_s: float | None = None
    prepared: list[tuple[str, ...]] = field(default_factory=list, init=False)
    asked: list[Prompt] = field(default_factory=list, init=False)
    peak: int = field(default=0, init=False)
    closed: bool = field(default=False, init=False)
    _busy: int = field(default=0, init=False)
    _answered: int = field(default=0, init=False)

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        self.prepared.append(corpus)

    async def answer(self, prompt: Prompt) -> Answer:
        self.asked.append(prompt)
        number = len(self.asked)
        self._busy += 1
        self.peak = max(self.peak, self._busy)
        try:
            await asyncio.sleep(self.delay_s)
            if number <= self.fail_first:
                raise HostFault(self.fault, retry=self.retry, retry_after_s=self.retry_after_s)
            return to_answer(await self._scripted(prompt), "the script")
        finally:
            self._busy -= 1

    async def close(self) -> None:
        self.closed = True

    async def _scripted(self, prompt: Prompt) -> Any:
        if callable(self.answers):
            answer = self.answers(prompt)
            return await answer if inspect.isawaitable(answer) else answer
        if isinstance(self.answers, Mapping):
            answer = self.answers.get(prompt.text, self.default)
        else:
            answer = self.answers[self._answered] if self._answered < len(self.answers) else self.default
            self._answered += 1
        if answer is None:
            raise HostFault(f"the script has no answer to {prompt.text!r}; add it, or give a default")
        return answer
