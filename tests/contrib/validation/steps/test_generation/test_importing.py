"""Own questions in place of generated ones, also on documents that the rules cannot ask about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.validation.steps.test_generation.step import TestGeneration
from pytest_evalstudio.contrib.validation.steps.test_validation.step import TestValidation
from pytest_evalstudio.contrib.validation.steps.topic_modeling.step import TopicModeling
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.suite import TestSuite
from support import pictures
from support.workbench import Bench

GERMAN = """Die Jahresgebühr der Goldkarte beträgt 30 Euro. Die Gebühr wird im Januar eingezogen.

Verlorene Karten sperrt der Nachtdienst unter der Nummer 116 116. Eine Ersatzkarte kommt nach fünf Tagen.
"""
CASES = [
    {
        "key": "fee",
        "prompt": "Was kostet die Goldkarte im Jahr?",
        "expected_output": "30 Euro",
        "condition": '"30"',
    },
    {
        "key": "lost",
        "prompt": "Wer sperrt Karten?",
        "expected_output": "der Nachtdienst",
        "categories": ["topic:x"],
    },
    {
        "key": "none",
        "prompt": "Wer führt die Bank?",
        "expected_output": "Das steht nicht da.",
        "expects": "refusal",
    },
]


def bench(folder: Path, cases: list[dict[str, object]] = CASES) -> Bench:
    workspace = Bench(folder, {"karten.md": GERMAN})
    content = {"name": "Eigene", "tests": [{"documents": [], "test_cases": cases}]}
    (folder / "own_suite.json").write_text(json.dumps(content), encoding="utf-8")
    TopicModeling(vectors="tf-idf").run(workspace.work("topic_modeling"))
    return workspace


def test_own_questions_on_a_german_document_get_chunk_and_topic_and_stay_valid(tmp_path: Path) -> None:
    workspace = bench(tmp_path)
    result = TestGeneration(suite="own_suite.json").run(workspace.work("test_generation", "topic_modeling"))
    assert result.summary == "3 test cases of own_suite.json, 2 with a chunk of the documents"
    suite = TestSuite.load(workspace.of("test_generation") / "tests_suite.json")
    fee, orphan, none = (case for _, case in suite.cases())
    assert "Goldkarte" in (fee.model_extra or {})["source_text"]
    assert fee.categories[0] == "generator:imported"
    assert fee.categories[1].startswith("topic:")
    assert orphan.categories == ["topic:x", "generator:imported"], "its own topic stays"
    assert "source_text" not in (none.model_extra or {})
    validation = TestValidation(vectors="tf-idf").run(
        workspace.work("test_validation", "test_generation", "topic_modeling")
    )
    assert validation.figures.valid == 3


def test_a_suite_without_cases_is_named(tmp_path: Path) -> None:
    workspace = bench(tmp_path, [])
    with pytest.raises(DataError, match="own_suite"):
        TestGeneration(suite="own_suite.json").run(workspace.work("test_generation", "topic_modeling"))


def test_a_suite_outside_of_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="suite: "):
        TestGeneration(suite="../own_suite.json").reads(tmp_path, tmp_path)


def test_a_case_with_an_image_is_refused_with_the_remedy(tmp_path: Path) -> None:
    workspace = bench(tmp_path, [{**CASES[0], "images": ["chart.png"]}])
    (tmp_path / "chart.png").write_bytes(pictures.png())
    with pytest.raises(DataError, match=r"test case 'fee' has images or files, .* run the suite with pytest"):
        TestGeneration(suite="own_suite.json").run(workspace.work("test_generation", "topic_modeling"))
