"""Standard runs need no more function calls than the numbers under version control; see the script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.benchmarks import budget


@pytest.mark.slow
def test_no_standard_run_exceeds_its_budget(capsys: pytest.CaptureFixture[str]) -> None:
    if budget.VERSION not in json.loads(budget.FILE.read_text(encoding="utf-8")):
        pytest.skip(f"no budget for Python {budget.VERSION}; enter one with budget.py --write")
    status = budget.main(write=False)
    assert status == 0, capsys.readouterr().out


@pytest.mark.slow
def test_a_run_that_needs_six_percent_more_calls_fails(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(budget, "RUNS", {"starter suite": budget.RUNS["starter suite"]})
    monkeypatch.setattr(budget, "FILE", tmp_path / "budget.json")
    budget.FILE.write_text("{}", encoding="utf-8")
    budget.main(write=True)
    calls = json.loads(budget.FILE.read_text(encoding="utf-8"))[budget.VERSION]["starter suite"]
    budget.FILE.write_text(json.dumps({budget.VERSION: {"starter suite": calls / 1.06}}), encoding="utf-8")
    assert budget.main(write=False) == 1
    budget.FILE.write_text(json.dumps({budget.VERSION: {"starter suite": calls / 1.04}}), encoding="utf-8")
    assert budget.main(write=False) == 0
