"""Sign-offs that the workflow of a run stores."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.record.schema import Run, SignOffEntry


def sign_offs_of(run: Run) -> Sequence[SignOffEntry]:
    """Return the last sign-off of each role, as the last step of the only workflow of a run found them.

    A run of several workflows has no sign-off of its own.
    """
    if len({entry.workflow for entry in run.steps.values()}) != 1:
        return ()
    return max(run.steps.values(), key=lambda entry: entry.number).sign_offs
