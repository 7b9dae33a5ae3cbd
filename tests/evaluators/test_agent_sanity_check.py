"""Agent sanity check on real files."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.agent_sanity_check import AgentSanityCheck

Make = Callable[..., Case]


def pdf(*pages: str) -> bytes:
    """A PDF with the given page contents, made by hand."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(200, 200)
        if text:
            font = DictionaryObject(
                {
                    NameObject("/Type"): NameObject("/Font"),
                    NameObject("/Subtype"): NameObject("/Type1"),
                    NameObject("/BaseFont"): NameObject("/Helvetica"),
                }
            )
            page[NameObject("/Resources")] = DictionaryObject(
                {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
            )
            stream = DecodedStreamObject()
            stream.set_data(f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET".encode())
            page[NameObject("/Contents")] = writer._add_object(stream)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "case"
    (root / "out").mkdir(parents=True)
    (root / "out" / "ok.json").write_text('{"status": {"done": true}, "rows": [1, 2]}')
    (root / "out" / "bad.json").write_text('{"status": ')
    (root / "out" / "empty.txt").write_text("")
    (root / "out" / "notes.txt").write_text("all is well")
    (root / "out" / "table.csv").write_text("a,b\n1,2\n")
    (root / "out" / "ragged.csv").write_text("a,b\n1\n")
    (root / "out" / "ok.pdf").write_bytes(pdf("Report one", "Report two"))
    (root / "out" / "blank.pdf").write_bytes(pdf("Report one", ""))
    (root / "out" / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (root / "void").mkdir()
    (root / "out" / "latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    (root / "out" / "blank.json").write_text(" \n")
    (root / "out" / "nan.json").write_text("[NaN]")
    (root / "lines.csv").write_text('a,b\r\n"1\u2028\x0c2","3\n4"\r\n', encoding="utf-8", newline="")
    (root / "out" / "quote.csv").write_text('a,b\n"1"x,2\n')
    (tmp_path / "outside.txt").write_text("secret of another case")
    return root


@pytest.fixture
def check(folder: Path, case: Make, tools: Tools) -> Callable[..., Outcome]:
    def run(**extra: Any) -> Outcome:
        return AgentSanityCheck().score([case("done", folder=str(folder), extra=extra)], tools)[0]

    return run


@pytest.mark.parametrize(
    ("expected", "fault"),
    [
        ("out/ok.json", ""),
        ("out/bad.json", "is not JSON: Expecting value (line 1, column 12)"),
        ("out/empty.txt", "is empty"),
        ("out/none.txt", "is missing"),
        ("out/none*.txt", "nothing matches"),
        ("out/ok.pdf", ""),
        ("out/blank.pdf", "page 2 is empty"),
        ("out/broken.pdf", "is not a readable PDF"),
        ("out/table.csv", ""),
        ("lines.csv", ""),
        ("out/ragged.csv", "row 2 has 1 columns"),
        ("out", ""),
        ("void", "is an empty folder"),
        ({"path": "out", "type": "file"}, "is not a file"),
        ({"path": "out/ok.json", "type": "folder"}, "is not a folder"),
        ({"path": "out/notes.txt", "type": "json"}, "is not JSON"),
        ({"path": "out/notes.txt", "min_size": 1000}, "has 11 bytes, expected at least 1000"),
        ({"path": "out/empty.txt", "min_size": 0}, ""),
        ({"path": "out/notes.txt", "contains": ["well"]}, ""),
        ({"path": "out/notes.txt", "contains": ["ill"]}, "does not contain 'ill'"),
        ({"path": "out/ok.pdf", "contains": ["Report two"]}, ""),
        ({"path": "out/ok.json", "fields": {"/status/done": True, "/rows/1": 2}}, ""),
        ({"path": "out/ok.json", "fields": {"/status/done": 1}}, "field /status/done is True, expected 1"),
        ({"path": "out/ok.json", "fields": {"/rows/7": 2}}, "has no field /rows/7"),
        ({"path": "out/ok.json", "fields": {"/status": {"done": 1}}}, "field /status is {'done': True}"),
        ({"path": "out/ok.json", "json_schema": {"required": ["status"]}}, ""),
        (
            {"path": "out/ok.json", "json_schema": "/etc/hostname"},
            "cannot be compared with its json_schema: '/etc/hostname' leads out of the folder of the file;"
            " give a path below it",
        ),
        (
            {"path": "out/ok.json", "json_schema": {"required": ["name"]}},
            "breaks its schema: the whole: 'name' is a required property",
        ),
        ("../outside.txt", "is outside the folder"),
        ("/etc/hostname", "is outside the folder"),
        ("../*.txt", "is outside the folder"),
        ("out/\x00", "is outside the folder"),
        ({"path": "void", "type": "folder", "min_size": 0}, ""),
        ({"path": "out/latin.txt"}, "is not UTF-8 text (byte 3)"),
        ({"path": "out/blank.json"}, "is blank"),
        ({"path": "out/nan.json"}, "NaN is not a JSON value"),
        ({"path": "out/quote.csv"}, "is not CSV"),
        ({"path": "out/notes.txt", "fields": {"a": 1}}, "is not JSON"),
    ],
)
def test_an_expected_artifact(check: Callable[..., Outcome], expected: Any, fault: str) -> None:
    outcome = check(expected_artifacts=[expected])
    assert outcome.scores["agent_sanity"] == float(not fault)
    assert fault in outcome.reason
    assert len(outcome.findings) == bool(fault)
    if fault:
        assert (expected if isinstance(expected, str) else expected["path"]).split("\x00")[
            0
        ] in outcome.findings[0].description


def test_the_score_is_the_share_of_sane_artifacts(check: Callable[..., Outcome]) -> None:
    # of thirteen files, four are sane: ok.json, notes.txt, table.csv and ok.pdf
    outcome = check(artifacts="out")
    assert outcome.scores["agent_sanity"] == pytest.approx(4 / 13)
    assert len(outcome.findings) == 9


def test_one_file_counts_once(check: Callable[..., Outcome]) -> None:
    outcome = check(
        artifacts=["out/ok.json", "out/notes.txt"],
        expected_artifacts=[{"path": "out/ok.json", "fields": {"/rows/0": 9}}],
    )
    assert outcome.scores["agent_sanity"] == 1 / 2


def test_a_glob_checks_every_match(check: Callable[..., Outcome]) -> None:
    # ok.json of ok.json, bad.json, blank.json and nan.json
    outcome = check(expected_artifacts=[{"path": "out/*.json"}])
    assert outcome.scores["agent_sanity"] == 1 / 4


def test_a_link_to_elsewhere_is_not_followed(check: Callable[..., Outcome], folder: Path) -> None:
    (folder / "void" / "link.txt").symlink_to(folder.parent / "outside.txt")
    for extra in (
        {"artifacts": "void"},
        {"expected_artifacts": ["void/link.txt"]},
        {"artifacts": ["void/link.txt"]},
    ):
        outcome = check(**extra)
        assert outcome.scores["agent_sanity"] == 0.0
        assert "is outside the folder" in outcome.reason


@pytest.mark.parametrize(
    ("artifacts", "fault"),
    [
        ("void", "void (is an empty folder)"),
        (["nowhere.txt"], "is missing"),
        (["../outside.txt"], "is outside"),
        ('["out/empty.txt"]', "is empty"),
    ],
)
def test_declared_artifacts_must_be_there(check: Callable[..., Outcome], artifacts: Any, fault: str) -> None:
    outcome = check(artifacts=artifacts)
    assert outcome.scores["agent_sanity"] == 0.0
    assert fault in outcome.reason


@pytest.mark.parametrize("artifacts", [7, [7], "[broken"])
def test_artifacts_that_are_no_paths_are_an_error(check: Callable[..., Outcome], artifacts: Any) -> None:
    assert check(artifacts=artifacts).status == "error"


def test_without_artifacts_it_is_not_applicable(check: Callable[..., Outcome]) -> None:
    assert check().status == "not_applicable"


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"path": "a", "typ": "json"}, "Did you mean 'type'"),
        ({"type": "json"}, "with a path"),
        ({"path": "a", "type": "exe"}, "type is one of"),
        (7, "path"),
    ],
)
def test_a_malformed_entry_is_an_error(check: Callable[..., Outcome], entry: Any, fault: str) -> None:
    outcome = check(expected_artifacts=[entry])
    assert outcome.status == "error"
    assert fault in outcome.reason


def test_the_sessions_of_a_test_lab_are_searched(tmp_path: Path, case: Make, tools: Tools) -> None:
    message = tmp_path / "test_lab_1" / "completion_of_m_m_tc_c" / "chat_session_2" / "chat_message_1_x"
    message.mkdir(parents=True)
    (message / "good.json").write_text("{}")
    (message / "bad.json").write_text("{")
    evaluator = AgentSanityCheck(artifacts_dir=str(tmp_path))
    outcome, other = evaluator.score([case("done"), case("done", model_key="n")], tools)
    assert outcome.scores["agent_sanity"] == 1 / 2
    assert "bad.json" in outcome.reason
    assert other.status == "not_applicable"


def test_a_text_that_is_a_number_is_refused(check: Callable[..., Outcome]) -> None:
    outcome = check(expected_artifacts=[{"path": "out/notes.txt", "contains": 5}])
    assert outcome.status == "error"
    assert outcome.reason == "expected_artifacts: contains is a text or a list of texts, not int"
