"""The summary of a run as JSON, and the rule that no output computes one of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import pytest_evalstudio
from pytest_evalstudio.analysis.summary.results import summary_schema
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.report.build import build_report
from support.report_runs import lab_run, varied_run

PACKAGE = Path(pytest_evalstudio.__file__).parent
OUTPUTS = ("report", "plugin", "cli")
_COMPUTED = {
    "a pass rate": r"\bpassed\b[^=\n]*/ ",
    "a best model": r"\bmax\([^)]*(share|pass_rate|rank)\b",
    "an interval of passes": r"wilson_interval\(",
    "a fitness": r"\b(not )?fit with\b|\bnot fit\b",
    "short names": r"short_labels\(",
}
_ALLOWED = {
    # Labels of evaluators, which are not models.
    "report/sections/summary.py": "short names",
}


@pytest.mark.parametrize("run", [lab_run(cases=5), varied_run()])
def test_the_summary_meets_its_schema(tmp_path: Path, run) -> None:
    report = build_report(run.write(tmp_path), tmp_path / "report", {})
    summary = json.loads(report.data.read_text(encoding="utf-8"))["summary"]
    assert summary["schema_version"] == 1
    assert summary["verdict"]["headline"] == report.summary.verdict.headline
    Draft202012Validator(summary_schema()).validate(summary)


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "summary"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(summary_schema()))


def test_outputs_render_the_summary_and_compute_nothing() -> None:
    violations = []
    for package in OUTPUTS:
        files = [*(PACKAGE / package).rglob("*.py"), *(PACKAGE / package).rglob("*.html")]
        for path in files:
            name = path.relative_to(PACKAGE).as_posix()
            text = path.read_text(encoding="utf-8")
            for what, pattern in _COMPUTED.items():
                if _ALLOWED.get(name) != what and re.search(pattern, text):
                    violations.append(f"{name}: {what}")
    assert violations == []
