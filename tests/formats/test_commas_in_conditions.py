"""A comma ends a value in braces of YAML: the message says how to write the condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.cli import main


def test_a_condition_cut_at_its_comma_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q_suite.yaml"
    text = 'tests:\n  - test_cases:\n      - {prompt: Limit?, condition: word("1,000 USD")}\n'
    path.write_text(text, encoding="utf-8")
    assert main(["validate", str(path)]) != 0
    output = "".join(capsys.readouterr())
    assert "in single quotes, e.g. condition: 'word(\"1,000 USD\")'" in output
    path.write_text(text.replace('word("1,000 USD")', "'word(\"1,000 USD\")'"), encoding="utf-8")
    assert main(["validate", str(path)]) == 0
