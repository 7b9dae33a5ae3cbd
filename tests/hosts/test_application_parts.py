"""Retrieval and generation of an application, and recorded results of its tools."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.recorded_tools import recorded_tool
from pytest_evalstudio.core.restored import Restored
from pytest_evalstudio.core.tool_calls import ToolCall

APP = """
def retrieve(prompt, top_k=1):
    return [{"text": f"chunk {n} on {prompt}", "source": f"doc#{n}", "score": 0.5} for n in range(top_k)]


def generate(prompt, context, style="plain"):
    return f"{style}: {' | '.join(context)}"


def whole(prompt):
    return {"answer": "as a whole", "context": []}
"""


def ask(folder: Path, prompt: Prompt, **settings: Any) -> Answer:
    (folder / "parts_app.py").write_text(APP, encoding="utf-8")
    settings = {
        "host": "python",
        "retrieve": "parts_app:retrieve",
        "generate": "parts_app:generate",
        **settings,
    }
    with open_model("m", settings, Registry(), folder=folder, cache=None) as session:
        return session.ask([prompt])[0]


def test_both_parts_are_the_application_without_a_target(tmp_path: Path) -> None:
    answer = ask(tmp_path, Prompt(text="fees"), parameters={"top_k": 2, "style": "short"})
    assert answer.text == "short: chunk 0 on fees | chunk 1 on fees"
    assert (answer.context_sources, answer.context_scores) == (("doc#0", "doc#1"), (0.5, 0.5))
    assert answer.retrieves


def test_restored_chunks_take_the_place_of_the_retrieval(tmp_path: Path) -> None:
    prompt = Prompt(text="fees", restored=Restored(chunks=("earlier",), sources=("old#1",)))
    answer = ask(tmp_path, prompt, target="parts_app:whole")
    assert (answer.text, answer.context, answer.context_sources) == (
        "plain: earlier",
        ("earlier",),
        ("old#1",),
    )


def test_the_target_answers_an_ordinary_question(tmp_path: Path) -> None:
    assert ask(tmp_path, Prompt(text="fees"), target="parts_app:whole").text == "as a whole"


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"parameters": {"top_n": 2}}, "top_k"),
        ({"generate": ""}, "without `generate`"),
        ({"generate": "parts_app:retrieve"}, "no parameter 'context'"),
        ({"retrieve": "", "generate": ""}, "target: must be given"),
        ({"state": "parts_app:whole"}, "need `target`"),
    ],
)
def test_parts_that_cannot_be_called_are_refused(
    tmp_path: Path, settings: dict[str, Any], fault: str
) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        ask(tmp_path, Prompt(text="fees"), **settings)


def test_a_recorded_result_takes_the_place_of_a_call() -> None:
    calls: list[str] = []

    @recorded_tool
    def get_rate(currency: str) -> float:
        calls.append(currency)
        return 9.0

    async def agent(prompt: str) -> str:
        return f"{get_rate(currency='NOK')} {get_rate('SEK')}"

    async def answer_for(restored: Restored | None) -> Answer:
        settings = {"host": "python", "target": agent}
        with open_model("m", settings, Registry(), folder=Path(), cache=None) as session:
            return (await session.ask_async([Prompt(text="q", restored=restored)]))[0]

    recorded = (
        ToolCall(name="get_rate", arguments={"currency": "NOK"}, result="0.9"),
        ToolCall(name="get_rate", arguments={"currency": "SEK"}, result='"none"'),
    )
    assert asyncio.run(answer_for(None)).text == "9.0 9.0"
    assert asyncio.run(answer_for(Restored(calls=recorded))).text == "0.9 none"
    assert calls == ["NOK", "SEK"]
    refused = asyncio.run(answer_for(Restored(calls=recorded[:1])))
    assert 'get_rate(currency="SEK")' in refused.error
    assert calls == ["NOK", "SEK"]
    live = asyncio.run(answer_for(Restored(calls=recorded[:1], live_tools=frozenset({"get_rate"}))))
    assert live.text == "0.9 9.0"
