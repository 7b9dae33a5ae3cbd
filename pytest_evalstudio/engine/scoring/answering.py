"""From a task to the prompts of its repeats, and from an answer to the case that evaluators take."""

from __future__ import annotations

import dataclasses

from pytest_evalstudio.core.cases import Answer, Case, Prompt
from pytest_evalstudio.engine.asking.prompts import prompt_of
from pytest_evalstudio.engine.scoring.tasks import EvalTask, ModelInfo, is_rag


def prompts_of(task: EvalTask, first: int = 1, count: int | None = None) -> list[Prompt]:
    """Return the prompts of a task whose model is to be asked, one per repeat.

    Args:
        task: the question and its model.
        first: number of the first repeat.
        count: number of repeats; those that are always asked for where not given.
    """
    case, source = task.case, task.source
    return [
        prompt_of(
            case.question,
            key=case.key,
            corpus=case.corpus,
            run=run,
            conversation=case.conversation,
            originals=(source.case.question,) if source is not None else (),
            attempt=task.attempt,
        )
        for run in range(first, first + (task.model.first_runs if count is None else count))
    ]


def answered(case: Case, answer: Answer, model: ModelInfo, run: int, *, retrieves: bool | None) -> Case:
    """Return the case of a question with a model's answer, as evaluators take it."""
    return dataclasses.replace(
        case,
        answer=answer,
        model_key=model.key,
        model_name=model.label,
        is_rag=is_rag(retrieves, answer.context),
        run=run,
    )
