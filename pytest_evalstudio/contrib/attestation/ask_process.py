"""Process that asks an application: the models of a protected revision, with the code of the tree under test.

It runs in a folder with the files of that tree. No conftest.py and no plugin of the tree is loaded, and it
gets no expectations.

Usage: python -P -m pytest_evalstudio.contrib.attestation.ask_process REQUEST RESULT
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.runs import AskingRun, fixed_run
from pytest_evalstudio.contrib.attestation.exchange import (
    Asked,
    AskRequest,
    Question,
    StoredAnswers,
    read,
    write,
)
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.scoring.answering import answered, requests_of
from pytest_evalstudio.scoring.recording import row_entry
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo


def asked(request: AskRequest) -> Asked:
    """Return the answers of the applications; a model that cannot be opened is a fault."""
    by_model: dict[tuple[str, str], list[Question]] = {}
    for question in request.questions:
        by_model.setdefault((question.model, question.folder), []).append(question)
    answers: list[StoredAnswers] = []
    faults: dict[str, str] = {}
    for (model, _), questions in by_model.items():
        try:
            answers += _answers_of(questions)
        except ConfigurationError as exc:
            faults[model] = str(exc)
    return Asked(answers=tuple(answers), faults=faults)


def _answers_of(questions: Sequence[Question]) -> list[StoredAnswers]:
    """Return the answers of one model.

    Raises:
        ConfigurationError: if it cannot be opened.
    """
    first = questions[0]
    session = open_model(
        first.model,
        first.settings,
        Registry(),
        folder=(Path.cwd() / first.folder).resolve(),
        cache=None,
        run=fixed_run(AskingRun.new()),
    )
    try:
        info = ModelInfo(key=session.key, label=first.model)
        requests = [
            requests_of(EvalTask(name="", model=info, case=question.case), 1, question.runs)
            for question in questions
        ]
        replies = iter(session.ask([request for group in requests for request in group]))
        return [
            StoredAnswers(
                nodeid=question.nodeid,
                file=question.file,
                is_perturbed=question.is_perturbed,
                key=question.case.key,
                model=question.model,
                rows=tuple(
                    row_entry(
                        answered(
                            question.case,
                            next(replies),
                            info,
                            run,
                            retrieves=session.retrieves,
                            retrieval=session.retrieval,
                        ),
                        {},
                    )
                    for run, _ in enumerate(group, 1)
                ),
            )
            for question, group in zip(questions, requests, strict=True)
        ]
    finally:
        session.close()


def main(request_path: str, result_path: str) -> int:
    """Ask; return 0."""
    request = read(Path(request_path), AskRequest)
    sys.path[:0] = [str((Path.cwd() / path).resolve()) for path in request.search_path]
    write(Path(result_path), asked(request))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
