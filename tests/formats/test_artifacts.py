"""Files that models made, beside a lab."""

from __future__ import annotations

from pytest_evalstudio.formats.artifacts import keep_artifacts
from pytest_evalstudio.formats.dataset import Row


def test_files_of_one_name_are_kept_apart(tmp_path):
    contents = {"first": "1", "second": "2"}
    for folder, content in contents.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "r.csv").write_text(content)
    row = Row(artifacts=[str(tmp_path / folder / "r.csv") for folder in contents])
    keep_artifacts([row], tmp_path / "fees_lab.json")
    kept = row.model_extra["artifacts"]
    assert kept == ["fees_lab_artifacts/1/r.csv", "fees_lab_artifacts/1/2_r.csv"]
    assert [(tmp_path / path).read_text() for path in kept] == ["1", "2"]
