"""Judges of evaluators: who gets one, by which host it is asked, and what is masked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.plan import Plan


@host("yes", name="Yes", kind="llm")
@dataclass(kw_only=True)
class Yes:
    """Agrees."""

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        """Nothing to prepare."""

    async def answer(self, prompt: Prompt) -> Answer:
        return Answer(text='{"reason": "so", "verdict": true}')

    async def close(self) -> None:
        """Nothing to close."""


def test_a_judge_may_be_asked_by_a_host_of_the_session(tmp_path: Path) -> None:
    registry = Registry()
    registry.add_host(Yes)
    settings = configuration({"judge": {"host": "yes"}}, folder=tmp_path)
    selected = Plan(registry, settings).get("correctness_judge")
    assert "no host named 'yes'" in ModelProvider().lacks(settings, selected)
    provider = ModelProvider(registry=registry)
    assert provider.lacks(settings, selected) == ""
    provider.close()


def test_only_an_evaluator_that_asks_a_judge_gets_it(tmp_path: Path) -> None:
    judge = {"judge": {"host": "python", "target": lambda prompt: "{}"}}
    settings = configuration(judge, folder=tmp_path)
    plan, provider = Plan(Registry(), settings), ModelProvider()
    assert provider.spent() == {}
    assert provider.warnings() == []
    assert provider.tools_of(settings, plan.get("rouge")).judge is None
    assert provider.tools_of(settings, plan.get("correctness_judge")).judge is not None
    assert provider.spent() == {"calls": 0, "cost_usd": 0, "input_tokens": 0, "output_tokens": 0}
    provider.close()


def test_secrets_of_open_judges_are_masked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "correct-horse-battery")
    table = {"host": "openai_compatible", "url": "http://127.0.0.1:1/v1", "llm_model_name": "m"}
    settings = configuration({"judge": {**table, "api_key": "${JUDGE_KEY}"}}, folder=tmp_path)
    provider = ModelProvider()
    text = "the key is correct-horse-battery"
    assert provider.mask(text) == text
    provider.tools_of(settings, Plan(Registry(), settings).get("correctness_judge"))
    assert "correct-horse-battery" not in provider.mask(text)
    provider.close()
