"""Labs without some answers, e.g. labs of perturbed questions: their models are asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.api.labs import describe_session, documents_location, host_settings
from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.dialogues import Request
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.lab_models import UNTRUSTED, LabModel, LabTrust, settings_of_lab_model
from pytest_evalstudio.asking.prompts import case_variables, prompt_of
from pytest_evalstudio.asking.resolve import ModelSession, Progress
from pytest_evalstudio.asking.runs import AskingRun, fixed_run
from pytest_evalstudio.asking.spending import budget_of
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.disturbances import disturbance_of
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.attachments import attachments_of
from pytest_evalstudio.formats.conversations import plan_of
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.lab import Model, TestLab, labels
from pytest_evalstudio.scoring.answer_rows import complete_row
from pytest_evalstudio.scoring.answering import request_of
from pytest_evalstudio.scoring.tasks import resolved, turns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedRows:
    """Result of asking the unanswered questions of a lab.

    Attributes:
        rows: new rows; one that could not be answered says why in its `error`.
        not_asked: reason for each question that was not asked: the budget of its model was used up, or its
            service refused access.
        stored: number of answers that an earlier run stored.
    """

    rows: list[Row]
    not_asked: list[str]
    stored: int


def missing_rows(lab: TestLab) -> list[Row]:
    """Return the rows of `raw_dataset` that have no answer in `dataset`."""
    answered = {(row.key, row.model_key, row.run or 1) for row in lab.dataset.inputs}
    return [row for row in lab.raw_dataset.inputs if (row.key, row.model_key, row.run or 1) not in answered]


def complete_lab(
    lab: TestLab,
    tables: Sequence[Mapping[str, object]],
    *,
    folder: str | Path = ".",
    documents: str | Path | None = None,
    cache: str | Path | None = None,
    registry: Registry | None = None,
    run: AskingRun | None = None,
    allow_private_hosts: bool = False,
    trust: LabTrust = UNTRUSTED,
    progress: Progress | None = None,
) -> CompletedRows:
    """Ask a lab's models the unanswered questions, and add the answers to its data set.

    Args:
        tables: `[[model]]` tables.
        folder, documents, cache, registry, run, allow_private_hosts: as of `LabBuilder`.
        trust: whether the lab's own description of a model may be used where no table has the model's name.

    Raises:
        ConfigurationError: for a model without a table whose description in the lab may not be used.
    """
    plugins = registry or Registry()
    home = Path(folder).absolute()
    location = documents_location(documents, home)
    waiting = missing_rows(lab)
    # Before any model is opened: one without a table stops the command before it has cost anything.
    model_tables = _tables_of(lab, {row.model_key for row in waiting}, tables, plugins, trust)
    questions = {
        (row.key, row.model_key): row.input for row in (*lab.raw_dataset.inputs, *lab.dataset.inputs)
    }
    source = fixed_run(run)
    store = AnswerCache(Path(cache)) if cache is not None else None
    completed: list[CompletedRows] = []
    try:
        for key, table in model_tables.items():
            # Copies, since the raw data set keeps its rows without answers.
            rows = [row.model_copy(deep=True) for row in waiting if row.model_key == key]
            with open_model(
                str(table["name"]),
                host_settings(table),
                plugins,
                folder=home,
                cache=store,
                run=source,
                allow_private_hosts=allow_private_hosts,
                budget=budget_of(table),
            ) as session:
                requests = [_request(row, questions, location) for row in rows]
                completed.append(_completed(rows, session.ask(requests, progress=progress), location))
                _describe(lab, key, session, location)
    finally:
        if store is not None:
            store.close()
    result = CompletedRows(
        rows=[row for part in completed for row in part.rows],
        not_asked=[reason for part in completed for reason in part.not_asked],
        stored=sum(part.stored for part in completed),
    )
    lab.dataset.inputs += result.rows
    return result


def _completed(rows: Sequence[Row], answers: Sequence[Answer], location: str) -> CompletedRows:
    """Write a model's answers into its rows."""
    answered = [(row, answer) for row, answer in zip(rows, answers, strict=True) if not answer.not_asked]
    for row, answer in answered:
        complete_row(row, answer, location)
    return CompletedRows(
        rows=[row for row, _ in answered],
        not_asked=[answer.error for answer in answers if answer.not_asked],
        stored=sum(answer.stored_at is not None for _, answer in answered),
    )


def _tables_of(
    lab: TestLab,
    model_keys: Collection[str],
    tables: Sequence[Mapping[str, object]],
    registry: Registry,
    trust: LabTrust,
) -> dict[str, Mapping[str, object]]:
    """Return the table of each model by its key."""
    names = labels(lab.models)
    by_name = {str(table["name"]): table for table in tables}
    return {
        model.key: _table_of(model, names[model.key], by_name, registry, trust)
        for model in lab.models
        if model.key in model_keys
    }


def _table_of(
    model: Model, label: str, tables: Mapping[str, Mapping[str, object]], registry: Registry, trust: LabTrust
) -> Mapping[str, object]:
    """Return the table of the configured model of that name, else the lab's own description as a table."""
    if label in tables:
        return tables[label]
    described = LabModel(name=label, host=model.model_type, parameters=model.model_cfg)
    return {**settings_of_lab_model(described, registry, trust, configured=tables), "name": label}


def _describe(lab: TestLab, key: str, session: ModelSession, folder: str) -> None:
    """Note in the lab what is known of a model, and whether it retrieves where the lab does not say so."""
    for model in lab.models:
        if model.key == key:
            describe_session(model, session, folder)
            if model.retrieves is None:
                model.retrieves = session.retrieves


def _request(row: Row, questions: Mapping[tuple[str, str], str], folder: str) -> Request:
    sources = [(link.target, row.model_key) for link in row.relationships if link.type == SOURCE]
    prompt = prompt_of(
        row.input,
        key=row.key,
        corpus=tuple(resolved(document, folder) for document in row.corpus),
        run=row.run or 1,
        conversation=turns_of(row.conversation),
        originals=[questions[source] for source in sources if source in questions],
        case=case_variables(row.key, row.categories, row.model_extra),
        attachments=attachments_of(row.images, row.files, folder),
        disturbance=disturbance_of(row.categories),
    )
    return request_of(prompt, plan_of(row.turns, row.user, row.judge, folder=folder), row.key)
