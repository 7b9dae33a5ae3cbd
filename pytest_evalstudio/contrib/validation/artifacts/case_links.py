"""Links from findings to their cases in the reports of the steps."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import quote

from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.record.outputs import PAGE
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.writer import FILE


def case_links(run: WorkflowRun, keys: Collection[str]) -> dict[str, str]:
    """Return the addresses of cases, from the folder of the workflow's artifacts.

    A case that several steps have asked is linked in the first of their reports.

    Args:
        run: of the workflow.
        keys: of the cases; those that no record has are left out.
    """
    links: dict[str, str] = {}
    case_keys = set(keys)
    for spec in run.specs:
        record = run.folder_of(spec.id) / FILE
        # A record is read only while a case is missing.
        if not case_keys - links.keys() or not record.is_file():
            continue
        for item in RecordReader(record).outlines():
            if item.key in case_keys and item.key not in links:
                links[item.key] = f"{run.folder_of(spec.id).name}/{PAGE}#case={quote(item.nodeid, safe='')}"
    return links
