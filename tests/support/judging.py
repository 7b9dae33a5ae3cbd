"""A judge for tests: a function in place of a model, with the replies that a test scripts."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.judges.panel import Panel
from pytest_evalstudio.judges.prompts import Prompts

Script = Mapping[str, Any] | Callable[..., Any]
_REGISTRY = Registry()
"""Shared by all outcomes: a new registry would look through all modules of plugins for each."""


class ScriptedJudge:
    """Replies by the words of a prompt.

    Args:
        script: words of a prompt to the reply, a value that becomes JSON, or text as it is; several replies
            in a list of the type `Replies` are given one after the other.
    """

    def __init__(self, script: Mapping[str, Any]) -> None:
        self._script = script
        self._next: dict[str, int] = {}
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        actual = self._reply_to(prompt)
        return actual if isinstance(actual, str) else json.dumps(actual)

    def _reply_to(self, prompt: str) -> Any:
        for words, reply in self._script.items():
            if words in prompt:
                if isinstance(reply, Replies):
                    place = self._next.get(words, 0)
                    self._next[words] = place + 1
                    return reply[min(place, len(reply) - 1)]
                return reply
        raise AssertionError(f"no reply for:\n{prompt}")


class Replies(list[Any]):
    """Replies that come one after the other."""


def outcomes(
    evaluator: str,
    script: Script,
    *rows: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    judge: Mapping[str, Any] | None = None,
    **more: Any,
) -> list[Outcome]:
    """Outcomes of rows under one evaluator, judged by a script."""
    target = ScriptedJudge(script) if isinstance(script, Mapping) else script
    dataset = LlmDataset()
    for number, row in enumerate(rows):
        dataset.add_input(
            row.get("input", "Why?"),
            key=f"case-{number}",
            **{key: value for key, value in row.items() if key != "input"},
        )
    table = {"host": "python", "target": target, **(judge or {})}
    config: dict[str, Any] = {
        "judge": {key: value for key, value in table.items() if value is not None},
        **more,
    }
    if options:
        config["evaluator"] = {evaluator: dict(options)}
    results = evaluate(dataset, [evaluator], config=config, registry=_REGISTRY)
    return [next(iter(result.outcomes[0].values())) for result in results]


def outcome(evaluator: str, script: Script, row: Mapping[str, Any], **more: Any) -> Outcome:
    """The outcome of one row."""
    return outcomes(evaluator, script, row, **more)[0]


def unfenced(prompt: str) -> str:
    """A prompt without what stands between its fences: all that a judge may follow.

    Examples have a mark of their own, which is announced before that of the material.
    """
    marks: list[str] = []
    while mark := re.search(r"begins with <<<(?!" + "|".join(marks or ["-"]) + ")([0-9a-f]{32})", prompt):
        marks.append(mark[1])
        prompt = re.sub(rf"^<<<{mark[1]} .*?^{mark[1]}>>>$", "", prompt, flags=re.DOTALL | re.MULTILINE)
    assert marks, "the prompt announces no fence"
    return prompt


def verdicts(what: str, words: Iterable[str]) -> dict[str, Any]:
    """The reply to a question about several numbered texts."""
    return {
        "verdicts": [{what: number, "reason": "so", "verdict": word} for number, word in enumerate(words, 1)]
    }


def reply_for(schema: Mapping[str, Any], *, good: bool) -> Any:
    """A value of a schema's form: of the choices the first or the last, of numbers the greatest or the least,
    lists as short as may be.
    """
    if "enum" in schema:
        return schema["enum"][0 if good else -1]
    match schema.get("type"):
        case "object":
            return {name: reply_for(part, good=good) for name, part in schema["properties"].items()}
        case "array":
            items = [reply_for(schema["items"], good=good) for _ in range(schema.get("minItems", 1))]
            for place, item in enumerate(items, 1):
                for name in ("claim", "sentence", "statement", "chunk"):
                    if isinstance(item, dict) and isinstance(item.get(name), int):
                        item[name] = place
            return items
        case "number" | "integer":
            return schema.get("maximum", 1) if good else schema.get("minimum", 0)
    return "a statement"


class SaidByTest:
    """A model that judges without a host.

    Args:
        say: prompt to an object, which is replied as JSON, to a text, which is replied as it is, or to an
            Answer.
    """

    name = "test"
    stores = False
    takes_system = False
    concurrency = 8

    def __init__(self, say: Callable[[Prompt], Any]) -> None:
        self._say = say
        self.asked: list[str] = []

    async def answer(
        self,
        prompt: Prompt,
        *,
        admit: Callable[[], Awaitable[str]],
        accept: Callable[[Answer], bool],
        priority: int,
    ) -> Answer:
        if reason := await admit():
            return Answer(error=reason)
        self.asked.append(prompt.text)
        reply = self._say(prompt)
        return (
            reply
            if isinstance(reply, Answer)
            else Answer(text=reply if isinstance(reply, str) else json.dumps(reply))
        )

    def keep(self, prompt: Prompt, answer: Answer) -> None:
        """Nothing is kept."""

    def forget(self, prompt: Prompt) -> None:
        """Nothing is kept."""


def panel_of(*models: SaidByTest) -> Panel:
    """Judges for tests that lend tools themselves; they are asked in this thread."""
    return Panel(models, Prompts(), run=asyncio.run)
