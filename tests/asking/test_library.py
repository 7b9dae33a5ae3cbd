"""Libraries of suites: listed, searched, sampled and added to; in a folder or at a URL."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pytest_evalstudio.asking.library import Library, create_library
from pytest_evalstudio.cli import main
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.suite import TestSuite
from support import pictures

EXAMPLES = Path(__file__).parents[2] / "example_suites"


@pytest.fixture
def url() -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(EXAMPLES))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def a_suite(folder: Path, document: str = "docs/fees.md") -> Path:
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "fees.md").write_text("A card costs 5 euros.")
    suite = TestSuite(name="Fees", description="About fees")
    test = suite.add_test([document])
    for number in range(6):
        test.add_case(f"Fee {number}?", key=f"fee-{number}", categories=["fees"])
    path = folder / "fees_suite.json"
    suite.save(path)
    return path


def test_the_examples_are_a_library_whose_index_is_right() -> None:
    library = Library(EXAMPLES)
    assert len(library.entries) >= 4
    for entry in library.entries:
        suite = library.suite(entry.name)
        assert (suite.name, len(suite.cases())) == (entry.name, entry.cases)


def test_a_search_needs_all_words(capsys: pytest.CaptureFixture[str]) -> None:
    hits = list(Library(EXAMPLES).search("overdraft"))
    assert hits
    assert all("overdraft" in hit.prompt.lower() or hit.suite.startswith("Northfold") for hit in hits)
    assert main(["library", "search", "zebra overdraft", "-l", str(EXAMPLES)]) == 1


def test_an_address_is_masked_before_a_found_prompt_is_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = TestSuite(name="Mails")
    suite.add_test().add_case(f"Zebra {'x' * 84} jane.doe@northfold-bank.com", key="mail")
    suite.save(tmp_path / "mails_suite.json")
    library = create_library(tmp_path / "library")
    library.add(tmp_path / "mails_suite.json", licence="MIT", source="tests")
    assert main(["library", "search", "zebra", "-l", str(tmp_path / "library")]) == 0
    assert "jane" not in capsys.readouterr().out


def test_a_sample_is_reproducible_and_names_licence_and_source(tmp_path: Path) -> None:
    library = Library(EXAMPLES)
    samples = [library.sample(6, seed=seed).to_dict() for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    out = tmp_path / "sampled_suite.json"
    arguments = ["library", "sample", "-n", "6", "--seed", "1", "-l", str(EXAMPLES), "-o", str(out)]
    assert main(arguments) == 0
    assert main(["validate", str(out)]) == 0
    cases = [case for _, case in TestSuite.load(out).cases()]
    assert len(cases) == 6
    assert {(case.model_extra or {})["licence"] for case in cases} == {"Apache-2.0"}


def test_documents_of_a_sample_are_found(tmp_path: Path) -> None:
    suite = Library(EXAMPLES).sample(3, ["Northfold Bank assistant"])
    assert all(Path(document).is_file() for test in suite.tests for document in test.documents)


def test_a_sample_takes_all_where_there_are_fewer() -> None:
    library = Library(EXAMPLES)
    name = library.entries[0].name
    assert len(library.sample(1000, [name]).cases()) == library.entries[0].cases


def test_a_library_at_a_url_is_read_and_not_changed(url: str, tmp_path: Path) -> None:
    library = Library(url, cache=tmp_path)
    assert [entry.name for entry in library.entries] == [entry.name for entry in Library(EXAMPLES).entries]
    suite = library.sample(3, ["Northfold Bank assistant"])
    assert all(document.startswith(url) for test in suite.tests for document in test.documents)
    with pytest.raises(ConfigurationError, match="cannot be changed"):
        library.add(a_suite(tmp_path / "new"), licence="MIT", source="us")


def test_a_suite_is_added_with_its_documents(tmp_path: Path) -> None:
    library = create_library(tmp_path / "library")
    library.add(a_suite(tmp_path / "new"), licence="MIT", source="us")
    second_library = Library(tmp_path / "library")
    [entry] = second_library.entries
    assert (entry.name, entry.licence, entry.source, entry.cases) == ("Fees", "MIT", "us", 6)
    [test] = second_library.sample(2).tests
    assert Path(test.documents[0]).read_text() == "A card costs 5 euros."


def test_a_suite_is_added_with_its_images_and_a_sample_draws_none_of_them(tmp_path: Path) -> None:
    path = a_suite(tmp_path / "mine")
    (path.parent / "chart.png").write_bytes(pictures.png())
    suite = TestSuite.load(path)
    suite.tests[0].add_case("Which colour?", key="colour", images=["chart.png"])
    suite.save(path)
    library = create_library(tmp_path / "library")
    library.add(path, licence="MIT", source="mine")
    assert len(library.suite("Fees").cases()) == 7
    assert (tmp_path / "library" / "fees_suite" / "chart.png").read_bytes() == pictures.png()
    assert "colour" not in {case.key for _, case in library.sample(7).cases()}


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    library = create_library(tmp_path / "library")
    path = a_suite(tmp_path / "new")
    library.add(path, licence="MIT", source="us")
    with pytest.raises(ConfigurationError, match="already"):
        library.add(path, licence="MIT", source="us")


@pytest.mark.parametrize(("licence", "source"), [("", "us"), ("MIT", " ")])
def test_licence_and_source_are_needed(tmp_path: Path, licence: str, source: str) -> None:
    with pytest.raises(ConfigurationError, match="give a licence and a source"):
        create_library(tmp_path / "library").add(a_suite(tmp_path / "new"), licence=licence, source=source)


@pytest.mark.parametrize("document", ["../secret.md", "/etc/passwd", "docs/nothing.md"])
def test_documents_from_elsewhere_are_refused(tmp_path: Path, document: str) -> None:
    library = create_library(tmp_path / "library")
    with pytest.raises(DataError, match="below the suite's folder"):
        library.add(a_suite(tmp_path / "new", document), licence="MIT", source="us")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not JSON"),
        ('{"suites": [{"name": "a"}]}', "suites.0.file"),
        ('{"suites": [{"name": "a", "file": "f"}, {"name": "a", "file": "g"}]}', "the same name"),
        ('{"suits": []}', "suits"),
    ],
)
def test_a_malformed_index_is_an_error_with_its_place(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "library.json").write_text(content)
    with pytest.raises(DataError, match=words):
        Library(tmp_path)


@pytest.mark.parametrize("file", ["../../etc/passwd", "/etc/passwd", "http://evil.example/s.json"])
def test_an_index_names_only_files_beside_it(tmp_path: Path, file: str) -> None:
    (tmp_path / "library.json").write_text(json.dumps({"suites": [{"name": "a", "file": file}]}))
    with pytest.raises(DataError, match="below the folder of the index"):
        Library(tmp_path).suite("a")


def test_an_unknown_suite_and_no_library_are_usage_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "s.json")
    assert main(["library", "sample", "-s", "Nope", "-l", str(EXAMPLES), "-o", out]) == 2
    assert "no suite of the library named 'Nope'" in capsys.readouterr().err
    assert main(["library", "list", "-l", str(tmp_path)]) == 2
    assert "there is no library here" in capsys.readouterr().err
    assert main(["library", "sample", "-n", "0", "-l", str(EXAMPLES), "-o", out]) == 2
