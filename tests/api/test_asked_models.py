"""Models that scripts and notebooks ask, also from event loops."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalstudio import ConfigurationError, EvaluationError, eval_model
from pytest_evalstudio.api import asked_models
from support.openai_server import Reply, serve

CONFIG = """
[[model]]
name = "rag"
host = "scripted"
answers = { "What is the fee?" = "5 USD", "And the limit?" = "10 USD" }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalstudio.toml").write_text(CONFIG)
    yield tmp_path
    for model in asked_models._open_models.values():
        model.close()
    asked_models._open_models.clear()


def test_a_cell_awaits_an_answer() -> None:
    async def cell() -> str:
        return (await eval_model("rag").ask_async("What is the fee?", expected_output="5 USD")).actual_output

    assert asyncio.run(cell()) == "5 USD"
    assert asyncio.run(cell()) == "5 USD"  # on another loop


def test_several_questions_are_asked_at_the_same_time(folder: Path) -> None:
    with serve() as service:
        service.default = Reply("fine", delay_s=0.2)
        host = f'host = "openai_compatible"\nurl = "{service.url}"\nllm_model_name = "m"\n'
        (folder / "evalstudio.toml").write_text(f'[[model]]\nname = "m"\n{host}')
        ticks = 0

        async def cell() -> list[str]:
            nonlocal ticks
            asking = asyncio.create_task(eval_model("m").ask_all_async([f"{n}?" for n in range(4)]))
            while not asking.done():
                ticks += 1
                await asyncio.sleep(0.01)
            return [case.actual_output for case in await asking]

        assert asyncio.run(cell()) == ["fine"] * 4
        assert service.peak == 4
        assert ticks > 5  # the loop of the notebook is free meanwhile


def test_cells_share_the_open_model_until_its_table_changes(folder: Path) -> None:
    first = eval_model("rag")
    assert eval_model("rag") is first

    (folder / "evalstudio.toml").write_text(CONFIG.replace("5 USD", "7 USD"))

    assert eval_model("rag").ask("What is the fee?").actual_output == "7 USD"
    with pytest.raises(RuntimeError, match="closed"):
        first.ask("What is the fee?")


def test_synchronous_and_asynchronous_answers_are_equal() -> None:
    questions = ["What is the fee?", "And the limit?", "Else?"]
    model = eval_model("rag")

    cases = model.ask_all(questions, categories="fees")

    async_cases = asyncio.run(model.ask_all_async(questions, categories="fees"))
    assert [(case.question, case.actual_output, case.error) for case in cases] == [
        (case.question, case.actual_output, case.error) for case in async_cases
    ]
    assert async_cases[0].categories == ("fees",)


def test_a_budget_that_is_used_up_is_an_error(folder: Path) -> None:
    (folder / "evalstudio.toml").write_text(f"{CONFIG}budget = {{ calls = 1 }}\n")
    model = eval_model("rag")
    model.ask("What is the fee?")

    with pytest.raises(EvaluationError, match="was not asked"):
        asyncio.run(model.ask_async("And the limit?"))


def test_a_model_that_is_not_configured_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(ConfigurationError, match="rag"):
        eval_model("rga")


def test_a_model_that_was_closed_is_opened_anew() -> None:
    with eval_model("rag") as model:  # type: ignore[attr-defined]
        assert model.ask("What is the fee?").actual_output == "5 USD"
    assert eval_model("rag").ask("What is the fee?").actual_output == "5 USD"
