"""Files that models made, kept beside the lab of their answers."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.keys import Numbered


def keep_artifacts(rows: Iterable[Row], lab: Path) -> None:
    """Copy the files of rows beside a lab, and name them from there.

    The files of `fees_lab.json` are in `fees_lab_artifacts`, one folder per answer.
    """
    folder = lab.with_name(f"{lab.stem}_artifacts")
    for number, row in enumerate(rows, 1):
        paths = (row.model_extra or {}).get("artifacts")
        if not paths or not isinstance(paths, list):
            continue
        target = folder / str(number)
        target.mkdir(parents=True, exist_ok=True)
        copies: list[Path] = []
        unique_stems: dict[str, Numbered] = defaultdict(Numbered)
        for path in map(Path, paths):
            if path.is_file():
                # Turns of a conversation may make files of one name in folders of their own.
                name = f"{unique_stems[path.suffix](path.stem)}{path.suffix}"
                copies.append(Path(shutil.copy2(path, target / name)))
        assert row.model_extra is not None
        row.model_extra["artifacts"] = [path.relative_to(lab.parent).as_posix() for path in copies]
