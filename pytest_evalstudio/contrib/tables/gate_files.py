"""Files with gates over scored tables, for `evalstudio validate`."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.cli.common import configuration_for
from pytest_evalstudio.contrib.tables.gates.access import TableAccess
from pytest_evalstudio.contrib.tables.gates.checks import GatedTable
from pytest_evalstudio.contrib.tables.scores_file import read_scores_file
from pytest_evalstudio.core.plugins.registry import Registry


def validate_gates(path: Path, name: str, registry: Registry) -> str:
    """Check a file with gates, its gates and its tables, and describe it.

    Raises:
        DataError: if the file, a gate or a table is wrong.
    """
    access = TableAccess.of(configuration_for(name))
    gated = GatedTable(read_scores_file(path, name), path.parent, access=access)
    return f"gates over a scored table, {len(gated.checks)} checks of {len(gated.models)} models"
