"""A model for tests of steps: a function answers, and what it was asked is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import host
from support.workbench import Bench


def answered_by(bench: Bench, say: Callable[[str], str]) -> list[str]:
    """Have a function answer the workflow's questions; it is configured as the model "app" of the host "toy".

    Returns:
        The questions, as they are asked; what comes from the cache is not among them.
    """
    questions: list[str] = []

    @host("toy", name="Toy", kind="both")
    @dataclass(kw_only=True)
    class Toy:
        """Answers what a function says."""

        async def prepare(self, corpus: tuple[str, ...]) -> None:
            """Nothing to prepare."""

        async def answer(self, prompt: Prompt) -> Answer:
            questions.append(prompt.text)
            return Answer(text=say(prompt.text))

        async def close(self) -> None:
            """Nothing to close."""

    bench.registry.add_host(Toy)
    return questions


APP = {"model": [{"name": "app", "host": "toy"}]}
"""The configuration of a bench for it."""
