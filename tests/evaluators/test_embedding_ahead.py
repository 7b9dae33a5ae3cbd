"""Embedding while the judge is still being asked: nothing changes but the time it takes."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer, Case, Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators import _embedding_ahead
from pytest_evalstudio.text.sentences import split_sentences
from support.embedders import WordEmbedder
from support.judging import SaidByTest, panel_of

CASES = [Case(key=f"c{n}", question=f"What is {n}?", answer=Answer(text=f"It is {n}.")) for n in range(20)]


class Noting(WordEmbedder):
    """Remembers the texts of each call, and the thread."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[tuple[str, list[str]]] = []

    def encode(self, texts: Any) -> Any:
        self.noted.append((threading.current_thread().name, list(texts)))
        return super().encode(texts)


def replied(prompt: Prompt) -> Any:
    return {"questions": ["What is it?", "How?", "Why?"], "noncommittal": "no"}


def outcomes_of(embedder: Any, say: Any = replied) -> list[Any]:
    judge = panel_of(SaidByTest(say))
    tools = Tools(split_sentences=split_sentences, embedder=embedder, judge=judge)
    return Registry().evaluators.get("answer_relevancy")().score(CASES, tools)


@pytest.fixture
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_evalstudio.evaluators import _judged

    for module in (_embedding_ahead, _judged):
        monkeypatch.setattr(module, "GROUP", 8)


@pytest.mark.usefixtures("small_groups")
def test_groups_of_consecutive_cases_are_embedded_in_the_background() -> None:
    embedder = Noting()
    outcomes_of(embedder)
    ahead = [texts for thread, texts in embedder.noted if thread.startswith("evalstudio-embedding")]
    questions = {"What is it?", "How?", "Why?"}
    groups = [{case.question for case in CASES[start : start + 8]} for start in (0, 8, 16)]
    assert set(ahead[0]) == groups[0], "the model is loaded after the first reply"
    assert sorted(map(sorted, ahead[1:])) == sorted(sorted(group | questions) for group in groups)


@pytest.mark.usefixtures("small_groups")
def test_the_model_is_not_loaded_before_a_reply_has_come() -> None:
    embedder = Noting()
    loaded_before: list[int] = []

    def counting_reply(prompt: Prompt) -> Any:
        loaded_before.append(len(embedder.noted))
        return replied(prompt)

    outcomes_of(embedder, counting_reply)
    assert loaded_before[0] == 0


def test_a_small_batch_is_embedded_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Noting()
    outcomes_of(embedder)
    assert len(embedder.noted) == 1


@pytest.mark.usefixtures("small_groups")
def test_judgements_that_fail_do_not_hold_up_their_group() -> None:
    def fails(prompt: Prompt) -> Any:
        return Answer(error="down") if "It is 3." in prompt.text else replied(prompt)

    embedder = Noting()
    results = outcomes_of(embedder, fails)
    assert [outcome.status for outcome in results].count("error") == 1
    assert len([1 for thread, _ in embedder.noted if thread.startswith("evalstudio-embedding")]) == 4


@pytest.mark.usefixtures("small_groups")
def test_an_embedder_that_fails_is_reported_by_the_evaluator() -> None:
    class Broken(WordEmbedder):
        def encode(self, texts: Any) -> Any:
            raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        outcomes_of(Broken())
