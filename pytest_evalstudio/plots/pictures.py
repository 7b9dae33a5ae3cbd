"""Pictures that notebooks show and files keep."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_evalstudio.core.writing import write_whole

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Pictures:
    """SVG pictures by name; as the last expression of a cell, a notebook shows them.

    Attributes:
        svgs: name, e.g. the id of an evaluator, to the text of its picture.
    """

    svgs: Mapping[str, str] = field(repr=False)

    def _repr_html_(self) -> str:
        """Return the pictures below each other, for notebooks."""
        return "".join(f"<div>{svg}</div>" for svg in self.svgs.values())

    def save(self, folder: str | Path) -> list[Path]:
        """Write each picture as an SVG file into a folder; return the paths."""
        paths = []
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, svg in self.svgs.items():
            path = Path(folder) / f"{_UNSAFE.sub('_', name)}.svg"
            write_whole(path, svg.encode())
            paths.append(path)
        return paths
