"""Write the JSON Schemas of all formats, after a change of one: `python tests/support/schema_files.py`."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.formats.json_schemas import render, schema_kinds

FOLDER = Path(__file__).parents[2] / "pytest_evalstudio" / "formats" / "schemas"

if __name__ == "__main__":
    for kind in schema_kinds():
        (FOLDER / f"{kind}.schema.json").write_text(render(kind), encoding="utf-8")
