"""Test cases of files as parameters of tests in Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import DataError, ThresholdMissed
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo, tasks

_UNASKED = ModelInfo(key="", label="")
"""Model of the cases of a suite, which the test itself asks."""


def eval_suite(path: str | Path) -> list[Any]:
    """Return the test cases of a suite, lab or data set for `pytest.mark.parametrize`.

    Each is a `pytest.param` of one `Case` with its key as id; `skip` and `xfail` of the file are its marks.
    The cases of a suite are to be asked, those of a lab or data set have their answers. A test chooses its
    evaluators itself: those that a case names in the file are not used.

    Args:
        path: a relative one starts at the folder of the file that calls.

    Raises:
        DataError: if the file is no suite, lab or data set, or one of its cases is wrong.

    Example: @pytest.mark.parametrize("case", eval_suite("fees_suite.yaml")).
    """
    __tracebackhide__ = True
    # Python has no other way to the calling file; in a notebook there is none.
    caller = sys._getframe(1).f_globals.get("__file__")
    folder = Path(caller).parent if caller else Path.cwd()
    file = read(read_source(folder / path, str(path)))
    if file.errors:
        raise DataError("\n".join(map(str, file.errors)))
    of_models = tasks(file, (folder / path).absolute().parent, [_UNASKED])
    has_models = len({task.model.key for task in of_models}) > 1
    return [
        _parameter(task, answered, name=task.name if has_models else task.key)
        for task in of_models
        for answered in task.answers or (task.case,)
    ]


def _parameter(task: EvalTask, case: Any, *, name: str) -> Any:
    marks: list[pytest.MarkDecorator] = []
    if task.skip:
        marks.append(pytest.mark.skip(reason=task.skip))
    if task.xfail:
        marks.append(pytest.mark.xfail(reason=task.xfail, raises=ThresholdMissed))
    id = f"{name}-{case.run}" if len(task.answers) > 1 else name
    return pytest.param(case, id=id, marks=marks)
