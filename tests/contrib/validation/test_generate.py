"""Test cases from documents without a workflow: quoted evidence, chosen topics, faults in clear words."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.validation.generate import generate_test_cases
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.suite import TestSuite

BANK = Path(__file__).parents[3] / "example_suites" / "bank" / "documents"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TestSuite]:
    folder = tmp_path_factory.mktemp("generated")
    path = folder / "suites" / "bank_suite.json"
    arguments = ["generate", str(BANK), "--count", "12", "-o", str(path), "--cache", str(folder / "cache")]
    assert main(arguments) == 0
    return path, TestSuite.load(path)


def test_every_case_quotes_its_evidence_or_is_out_of_scope(suite: tuple[Path, TestSuite]) -> None:
    cases = [case for _, case in suite[1].cases()]
    assert 3 <= len(cases) <= 12
    quoted = [case for case in cases if case.model_extra and case.model_extra.get("evidence")]
    assert len(quoted) >= 3
    for case in quoted:
        extra = case.model_extra or {}
        assert (
            extra["evidence"] in " ".join(extra["source_text"].split())
            or extra["evidence"] in extra["source_text"]
        )


def test_documents_are_named_from_the_suites_folder(suite: tuple[Path, TestSuite]) -> None:
    path, content = suite
    for document in content.tests[0].documents:
        assert (path.parent / document).resolve().is_file()
    assert main(["validate", str(path)]) == 0


def test_the_same_seed_gives_the_same_suite(suite: tuple[Path, TestSuite], tmp_path: Path) -> None:
    repeat = generate_test_cases(
        [BANK], count=12, name="Generated tests", cache=tmp_path, folder=suite[0].parent
    )
    assert [case.prompt for _, case in repeat.suite.cases()] == [case.prompt for _, case in suite[1].cases()]


def test_topics_are_chosen_by_their_ids(tmp_path: Path) -> None:
    generated = generate_test_cases([BANK], count=6, topics_included=["1"], cache=tmp_path)
    categories = [category for _, case in generated.suite.cases() for category in case.categories]
    assert {name for name in categories if name.startswith("topic:")} == {
        name for name in categories if name.startswith("topic:1_")
    }


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"documents": ["nowhere.md"]}, DataError, "no such file"),
        ({"count": 0}, ConfigurationError, "count = 0"),
        ({"seed": -1}, ConfigurationError, "seed = -1"),
        ({"topics_included": ["99"]}, ConfigurationError, "no topic named '99'"),
        ({"generators": ["riddle"]}, ConfigurationError, "no generator named 'riddle'"),
        ({"writer": "nobody"}, ConfigurationError, "nobody"),
    ],
)
def test_faults_are_told_in_the_users_words(tmp_path: Path, options, error, words: str) -> None:
    documents = options.pop("documents", [BANK])
    with pytest.raises(error, match=words):
        generate_test_cases(documents, cache=tmp_path, **options)


def test_a_folder_without_documents_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no document"):
        generate_test_cases([tmp_path], cache=tmp_path)


def test_a_named_pipeline_that_is_missing_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["generate", str(BANK), "--pipeline", "xx_absent", "-o", str(tmp_path / "bank_suite.json")]
    assert main(arguments) == 2
    assert "xx_absent" in capsys.readouterr().err
