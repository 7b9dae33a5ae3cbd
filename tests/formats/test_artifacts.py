"""Files that models made, beside a lab."""

from __future__ import annotations

from pytest_evalstudio.formats.artifacts import keep_artifacts
from pytest_evalstudio.formats.dataset import Row


def test_files_of_one_name_are_kept_apart(tmp_path):
    paths = [tmp_path / name for name in ("first/r-2.csv", "first/r.csv", "first/r.txt", "second/r.csv")]
    for number, path in enumerate(paths):
        path.parent.mkdir(exist_ok=True)
        path.write_text(str(number))
    row = Row(artifacts=list(map(str, paths)))
    keep_artifacts([row], tmp_path / "fees_lab.json")
    copies = row.model_extra["artifacts"]
    assert copies == [f"fees_lab_artifacts/1/{name}" for name in ("r-2.csv", "r.csv", "r.txt", "r-3.csv")]
    assert [(tmp_path / path).read_text() for path in copies] == ["0", "1", "2", "3"]
