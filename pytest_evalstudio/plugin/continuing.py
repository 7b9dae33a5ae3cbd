"""Continuation of a run that was interrupted: its inputs, and the sentence that announces it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_evalstudio.asking.answers import AnswerCache, digest_of
from pytest_evalstudio.asking.runs import AskingRun, RunInputs, continuation_line, file_digests
from pytest_evalstudio.record.revision import revision
from pytest_evalstudio.scoring.answering import requests_of

if TYPE_CHECKING:
    from pytest_evalstudio.plugin.items import EvalItem
    from pytest_evalstudio.plugin.session import EvalSession


def run_inputs(
    evals: EvalSession, items: Sequence[EvalItem], others: Iterable[pytest.Item]
) -> RunInputs | None:
    """Return the inputs of a run; None if it asks no model.

    Args:
        evals: the session.
        items: test cases; those with answers in their file ask nothing.
        others: pairs of an arena, steps of workflows, and tests written in Python.
    """
    paths = dict.fromkeys(
        [*(item.path for item in items if not item.task.answered), *(item.path for item in others)]
    )
    if not paths:
        return None
    configurations = [evals.configuration(folder) for folder in sorted({path.parent for path in paths})]
    content = [config.model_dump(mode="json", exclude={"run"}) for config in dict.fromkeys(configurations)]
    root = evals.config.rootpath
    return RunInputs(
        configuration=digest_of(content),
        files=file_digests(sorted(paths), root),
        commit=revision(root).commit,
    )


def question_count(items: Iterable[EvalItem]) -> int:
    """Return the number of questions that the items ask at least."""
    return sum(len(requests_of(item.task)) for item in items if not item.task.answered)


def announcement(run: AskingRun, cache: Path, questions: int) -> str:
    """Return the line that announces a continuation, "" for a new run and where no answer is stored.

    Args:
        run: the run that asks.
        cache: folder of stored answers.
        questions: number of questions that the run asks at least.
    """
    if not run.is_continuation:
        return ""
    with AnswerCache(cache, read_only=True) as answers:
        stored = answers.count(run.id)
    return f"evalstudio: {continuation_line(run, stored, questions)}" if stored else ""
