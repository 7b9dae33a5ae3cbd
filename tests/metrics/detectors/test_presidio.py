"""Presidio with a small spaCy pipeline that a rule list stands in for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio import LlmDataset, evaluate
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError

pytest.importorskip("presidio_analyzer", exc_type=ImportError)
pytestmark = pytest.mark.filterwarnings("default")
NAMES = {"PERSON": "Jane Doe", "GPE": "Springfield", "ORG": "Acme Corp"}


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A blank English pipeline that knows three names."""
    import spacy

    folder = tmp_path_factory.mktemp("pipeline") / "names"
    language = spacy.blank("en")
    ruler: Any = language.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": label, "pattern": name} for label, name in NAMES.items()])
    language.to_disk(folder)
    return folder


def kinds(text: str, pipeline: Path, **options: Any) -> list[tuple[str, str]]:
    from pytest_evalstudio.metrics.detectors.presidio import find_pii_with_presidio

    settings = {"language": "en", "entities": (), "min_score": 0.4, **options}
    hits = find_pii_with_presidio(text, pipeline=str(pipeline), **settings)
    return [(hit.kind, text[hit.start : hit.end]) for hit in hits]


def test_names_places_and_organisations_are_reported(pipeline: Path) -> None:
    assert kinds("Jane Doe of Acme Corp lives in Springfield.", pipeline) == [
        ("name of a person", "Jane Doe"),
        ("organisation", "Acme Corp"),
        ("address or place", "Springfield"),
    ]


def test_the_formats_of_the_rules_are_reported_as_well(pipeline: Path) -> None:
    assert kinds("Jane Doe, jane@acme.io", pipeline) == [
        ("name of a person", "Jane Doe"),
        ("e-mail address", "jane@acme.io"),
    ]


def test_look_alikes_hide_no_name(pipeline: Path) -> None:
    text = "It was Jane\u00a0Do\u200be, card 4012\u202f8888\u202f8888\u202f1881."
    name, card = kinds(text, pipeline)
    assert name == ("name of a person", "Jane\u00a0Do\u200be")
    assert card[1] == "4012\u202f8888\u202f8888\u202f1881"
    assert kinds("It was Jan\u00a0Do\u200be.", pipeline) == []


def test_entities_can_be_chosen(pipeline: Path) -> None:
    text = "Jane Doe of Acme Corp"
    assert kinds(text, pipeline, entities=("PERSON",)) == [("name of a person", "Jane Doe")]


def test_ordinary_text_is_clean(pipeline: Path) -> None:
    assert kinds("Rates rose on 2023-01-01, see https://bank.test/a and 10.0.0.1.", pipeline) == []


def test_no_secret_is_shown(pipeline: Path) -> None:
    from pytest_evalstudio.metrics.detectors.presidio import find_pii_with_presidio

    (hit,) = find_pii_with_presidio(
        "Jane Doe", pipeline=str(pipeline), language="en", entities=(), min_score=0.4
    )
    assert hit.masked == "**** ***"


def test_the_evaluator_reports_a_name(pipeline: Path) -> None:
    options = {"detector": "presidio", "spacy_pipeline": pipeline.name}
    dataset = LlmDataset()
    dataset.add_input("Who?", key="q", actual_output="It was Jane Doe.", model_key="m")
    results = evaluate(
        dataset, ["pii_leakage"], config={"evaluator": {"pii_leakage": options}}, folder=pipeline.parent
    )
    assert results.verdicts() == {"q[m]": "failed"}


def test_a_pipeline_must_be_named() -> None:
    dataset = LlmDataset()
    dataset.add_input("Who?", key="q", actual_output="Jane", model_key="m")
    with pytest.raises(ConfigurationError, match="spacy_pipeline"):
        evaluate(dataset, ["pii_leakage"], config={"evaluator": {"pii_leakage": {"detector": "presidio"}}})


def test_a_missing_pipeline_is_not_downloaded(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="cannot be loaded with the spaCy pipeline 'no_such_pipeline'"):
        kinds("Jane", tmp_path / "no_such_pipeline")
