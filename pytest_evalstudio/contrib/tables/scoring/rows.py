"""Tasks from the columns of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_evalstudio.contrib.tables.input.fields import chunks_of
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.tasks import UNNAMED_MODEL, EvalTask, ModelInfo, stated_error

NO_ANSWER = "the row has no answer"


def model_info(name: str) -> ModelInfo:
    """Return the model that a row names."""
    return ModelInfo(key=name or UNNAMED_MODEL, label=name or UNNAMED_MODEL, description={"host": "dataset"})


def tasks_of(table: Any, models: dict[str, ModelInfo]) -> list[EvalTask]:
    """Return a task with a given answer for each row of a batch.

    Args:
        table: Arrow table of a `sources.Batch`.
        models: the known models by name; those of the batch are added.
    """
    texts = {name: _texts(table, name) for name in ("key", "model", "input", "expected_output")}
    answers = table["actual_output"].to_pylist()
    conditions, errors = _texts(table, "output_condition"), _texts(table, "error")
    contexts = table["context"].to_pylist() if "context" in table.column_names else [None] * len(answers)
    tasks = []
    for index, (row_id, answer) in enumerate(zip(table["row_id"].to_pylist(), answers, strict=True)):
        name = texts["model"][index]
        model = models.get(name)
        if model is None:
            model = models[name] = model_info(name)
        error = errors[index] or (NO_ANSWER if answer is None else stated_error(answer))
        key = safe_identifier(texts["key"][index]) or str(row_id)
        context = chunks_of(contexts[index])
        case = Case(
            key=key,
            question=texts["input"][index],
            answer=Answer(text="" if error else answer, context=context, error=error),
            expected_output=texts["expected_output"][index],
            condition=conditions[index],
            model_key=model.key,
            model_name=model.label,
            is_rag=contexts[index] not in (None, ""),  # an empty list says that nothing was retrieved
            position=row_id + 1,
        )
        tasks.append(EvalTask(name=key, model=model, case=case, answers=(case,)))
    return tasks


def _texts(table: Any, name: str) -> Sequence[str]:
    if name not in table.column_names:
        return [""] * table.num_rows
    return ["" if value is None else value for value in table[name].to_pylist()]
