"""Labels and answers on disk, for evaluators whose model-wide figures are not means of rows."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO

from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.evaluator import ScoredRow
from pytest_evalstudio.record.schema import RecordRow

_IN_MEMORY = 1 << 20  # small runs write no temporary file


class Spool:
    """The scored rows of some evaluators by model; beyond a megabyte each they wait on disk.

    Args:
        evaluators: ids of the evaluators whose rows are kept; those of all others are not.
    """

    def __init__(self, evaluators: Iterable[str]) -> None:
        self._files: dict[str, dict[str, IO[str]]] = {id: {} for id in evaluators}
        self._open = ExitStack()

    def __contains__(self, evaluator: object) -> bool:
        return evaluator in self._files

    def add(self, evaluator: str, model: str, key: str, row: RecordRow, outcome: Outcome) -> None:
        """Keep one scored row if its evaluator aggregates rows."""
        files = self._files.get(evaluator)
        if files is None:
            return
        file = files.get(model)
        if file is None:
            spooled = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, mode="w+", encoding="utf-8")  # noqa: SIM115 (the stack closes it)
            file = files[model] = self._open.enter_context(spooled)
        # The escapes of json keep a row on one line, and half a surrogate pair out of the UTF-8 file.
        file.write(
            json.dumps([key, row.expected_by(evaluator), row.answer.text, outcome.scores, outcome.sketch])
            + "\n"
        )

    def rows(self, evaluator: str, model: str) -> Iterator[ScoredRow]:
        """Yield the kept rows of one model, in the order in which they were added."""
        file = self._files[evaluator].get(model)
        if file is None:
            return
        file.seek(0)
        for line in file:
            key, expected, actual, scores, sketch = json.loads(line)
            yield ScoredRow(
                key=key, expected_output=expected, actual_output=actual, scores=scores, sketch=sketch
            )

    def close(self) -> None:
        self._open.close()
