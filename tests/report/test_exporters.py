"""An exporter that fails costs no other part of the report."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pytest_evalstudio.report import build
from pytest_evalstudio.report.build import build_report
from support.small_run import small_run

EXPORTERS: dict[str, tuple[str, str]] = {
    "evaluator rouge": ("pytest_evalstudio.report.build", "write_explainer"),
    build.DATA: ("pytest_evalstudio.report.build", "interpretation"),
    build.SUMMARY: ("pytest_evalstudio.report.markdown", "summary"),
    build.PAGE: ("pytest_evalstudio.report.page", "page_pieces"),
    "results": ("pytest_evalstudio.report.results.ResultsWriter", "add"),
    "failures": ("pytest_evalstudio.report.failures.FailureBook", "add"),
    "cases of the page": ("pytest_evalstudio.report.data.blocks.PageData", "add"),
    "Agent Evaluation": ("pytest_evalstudio.report.agent_evaluation.AgentEvaluation", "add"),
}


def raise_overflow(*_: object, **__: object) -> None:
    raise OverflowError("int too large\x1b")


@pytest.mark.parametrize("name", EXPORTERS)
def test_an_exporter_that_fails_is_a_warning_and_the_rest_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = small_run().write(tmp_path)
    monkeypatch.setattr(".".join(EXPORTERS[name]), raise_overflow)

    report = build_report(record, tmp_path / "out", {})

    assert f"{name} could not be written: OverflowError: int too large" in report.warnings[0]
    files = [file for file in (report.page, report.data, report.markdown) if file.name != name]
    assert all(file.stat().st_size for file in files)
    with zipfile.ZipFile(report.archive) as archive:
        assert archive.testzip() is None
        assert {"record.jsonl", *(file.name for file in files)} <= set(archive.namelist())
    assert not (tmp_path / "out" / name).exists()


def test_the_page_names_an_exporter_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_evalstudio.report.markdown.summary", raise_overflow)

    report = build_report(small_run().write(tmp_path), tmp_path / "out", {})

    assert "summary.md could not be written: OverflowError" in report.page.read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_still_ends_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pytest_evalstudio.report.markdown.summary", full)

    with pytest.raises(OSError, match="No space left"):
        build_report(small_run().write(tmp_path), tmp_path / "out", {})


def test_a_report_without_failures_has_no_warnings(tmp_path: Path) -> None:
    assert build_report(small_run().write(tmp_path), tmp_path / "out", {}).warnings == ()
