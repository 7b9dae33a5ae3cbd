"""Answers that play in an arena."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.api.labs import LabBuilder
from pytest_evalstudio.asking.runs import AskingRun
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.files import EvalFile
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.scoring.tasks import tasks

_UNKNOWN_ANSWER = " ".join(["word"] * 100)
"""Stands in for an answer that has not been asked for yet, in an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAnswers:
    """Answers of models to the questions of a suite.

    Attributes:
        cases: one per question and model.
        stored: number of answers that an earlier run stored.
        missing: number of answers that an estimate does not know, since no model is asked.
    """

    cases: list[Case]
    stored: int
    missing: int = 0


def answers_of(file: EvalFile, folder: Path) -> list[Case]:
    """Return the answered cases that play: one per question and model, without perturbed copies.

    Copies of a question would count it several times; skipped cases do not play either.
    """
    return [
        task.answers[0]
        for task in tasks(file, folder)
        if task.answered and task.source is None and not task.skip
    ]


def playing_part(suite: TestSuite) -> TestSuite:
    """Return a suite without perturbed copies and skipped cases, which do not play."""
    keys = {case.key for _, case in suite.cases()}
    part = suite.model_copy(deep=True)
    for test in part.tests:
        test.test_cases = [
            case
            for case in test.test_cases
            if not case.skip
            and not any(
                # A source outside of the suite is no question that would count twice.
                link.type == SOURCE and link.target in keys and link.target != case.key
                for link in case.relationships
            )
        ]
    return part


def asked_answers(
    suite: TestSuite,
    config: Configuration,
    *,
    documents: str | Path | None,
    cache: Path,
    registry: Registry,
    judges: Collection[str] = (),
    run: AskingRun | None = None,
    is_estimate: bool = False,
) -> AskedAnswers:
    """Return the answers of the configured models to the questions of a suite.

    Args:
        suite: the questions.
        config: the models, in `[[model]]` tables.
        documents: folder or URL where relative documents of the suite start.
        cache: folder of stored answers.
        registry: registry of plugins.
        judges: names of the models that judge, and do not play.
        run: the run that asks; a new one where not given.
        is_estimate: ask no model; a text of usual length stands in for an answer that is not stored.
    """
    tables = [{"name": table.name, **table.settings} for table in config.model if table.name not in judges]
    with LabBuilder(
        playing_part(suite),
        tables,
        folder=config.folder,
        documents=documents,
        cache=cache,
        registry=registry,
        run=run,
        allow_private_hosts=config.allow_private_hosts,
    ) as builder:
        if is_estimate:
            lab, missing = builder.stored_dataset()
        else:
            lab, missing = builder.complete_dataset(), []
    for row in missing:
        row.actual_output = _UNKNOWN_ANSWER
    cases = answers_of(EvalFile(kind="lab", content=lab), Path(config.folder))
    return AskedAnswers(cases=cases, stored=builder.stored, missing=len(missing))
