"""Questions of a language model pass the checks of a parse, as those of the rules do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.pipelines import PIPELINE, needs_pipeline
from support.writers import bench, facts, generated

pytestmark = [needs_pipeline, pytest.mark.filterwarnings("default")]


def question(text: str, prompt: str) -> dict[str, Any]:
    noun, price, sentence = facts(prompt)[0]
    return {"question": text.format(noun=noun), "answer": price, "evidence": [sentence]}


def says(*texts: str) -> Any:
    return lambda prompt: {"questions": [question(text, prompt) for text in texts]}


def test_a_good_question_is_taken_and_a_garbled_one_is_counted(tmp_path: Path) -> None:
    good, garbled = (
        "How much does the {noun} clause of the branch cost?",
        "How much the {noun} clause of the branch is costs are?",
    )
    workspace, _ = bench(tmp_path, says(good, garbled))
    result, cases = generated(workspace, generators=["numerical_reasoning"], count=4, pipeline=PIPELINE)
    assert cases
    assert all(case.prompt.startswith("How much does the ") for case in cases)
    assert any("that are no well-formed question" in note for note in result.notes)


def test_a_polite_request_of_two_sentences_is_not_parsed(tmp_path: Path) -> None:
    polite = "Good morning. I have a small question. What does the {noun} clause of the branch cost, please?"
    workspace, _ = bench(tmp_path, says(polite))
    _, cases = generated(workspace, generators=["numerical_reasoning"], count=2, pipeline=PIPELINE)
    assert cases


def test_without_a_pipeline_a_question_is_not_parsed(tmp_path: Path) -> None:
    workspace, _ = bench(tmp_path, says("How much the {noun} clause of the branch is costs are?"))
    _, cases = generated(workspace, generators=["numerical_reasoning"], count=2, pipeline="")
    assert cases
