"""Tasks: a task is one test case for one model, and corresponds to one pytest item."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.cases import NOTHING, Case, Relationship, Retrieval, Turn
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.display import UNSAFE
from pytest_evalstudio.core.expected import expectations_of
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.formats.attachments import attachments_of
from pytest_evalstudio.formats.conversations import plan_of
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.files import EvalFile
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.formats.lab import Model, TestLab, labels
from pytest_evalstudio.formats.packed import constant
from pytest_evalstudio.formats.source import CaseIdentity
from pytest_evalstudio.formats.suite import TestCase, TestSuite
from pytest_evalstudio.scoring.answer_rows import answer_of_row
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.stats.sequential import Sprt

_NOT_IN_NAMES = re.compile(rf"[\[\]/\s{UNSAFE}]|::|##+")
# The reference engine writes its errors in place of the answer; an answer may quote one.
_ERROR_ANSWER = re.compile(r"\A\s*(?:(?:LLM|MODEL) HOST )?INTERNAL ERROR")
UNNAMED_MODEL = "dataset"


@dataclass(frozen=True, slots=True, eq=False)
class ModelInfo:
    """A model as the record knows it; it equals itself alone.

    Attributes:
        key: what results are grouped by.
        label: display name; unique in its file.
        runs: how often each question is asked of it, the maximum where a test ends the asking.
        stopping: the test that ends the asking of a question; None for a fixed number of repeats.
        retrieves: whether it retrieves; None where only the context of its answers says.
        confirm: how often a regressed case is asked at most; None for the setting of the run.
        description: further fields of the record's header.
    """

    key: str
    label: str
    runs: int = 1
    stopping: Sprt | None = None
    retrieves: bool | None = None
    confirm: int | None = None
    description: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", safe_identifier(self.key))
        object.__setattr__(self, "label", safe_identifier(self.label))

    @property
    def first_runs(self) -> int:
        """Return how many repeats of a question are always asked for."""
        return self.runs if self.stopping is None else self.stopping.first_look


@dataclass(slots=True, eq=False)
class EvalTask:
    """One test case for one model.

    Attributes:
        case: the question; for a suite without an answer.
        answers: the answered rows of a lab or data set, one per repeat; () where the model is still to be
            asked.
        chosen: evaluators of the case's own; None for the run's choice.
        source: the original of a perturbed case, under the same model.
        related: by type of relationship, other cases under the same model that this one is linked to.
        attempt: number of the attempt at the test case, 1 for the first.
        policy: verdict on repeats, "" for that of the run.
        sample: distinguishes its questions from those of another task with the same texts, so that
            they are asked again; "" for none.
    """

    name: str
    model: ModelInfo
    case: Case
    answers: tuple[Case, ...] = ()
    chosen: tuple[ConfiguredEvaluator, ...] | None = None
    choice: Mapping[str, Mapping[str, Any]] | None = None
    xfail: str = ""
    skip: str = ""
    source: EvalTask | None = None
    related: Mapping[str, EvalTask] = field(default_factory=lambda: NOTHING)
    attempt: int = 1
    policy: str = ""
    sample: str = ""

    @property
    def key(self) -> str:
        return self.case.key

    @property
    def answered(self) -> bool:
        return bool(self.answers)


def answered_task(case: Case, selected: ConfiguredEvaluator) -> EvalTask:
    """Return the task of scoring one answered case by one evaluator."""
    return EvalTask(
        name=case.key,
        model=ModelInfo(key=case.model_key, label=case.model_name or case.model_key),
        case=case,
        answers=(case,),
        chosen=(selected,),
    )


@uncollected()
def tasks(
    file: EvalFile,
    folder: Path | str,
    models: Sequence[ModelInfo] = (),
    *,
    more: Callable[[list[EvalTask]], list[EvalTask]] | None = None,
) -> list[EvalTask]:
    """Return the tasks of a file, model by model, each original followed by its perturbations.

    Args:
        file: parsed file.
        folder: folder or URL where relative paths of the file start.
        models: the models for a suite; not used for labs and data sets.
        more: returns further tasks for those in the file.
    """
    content = file.content
    if isinstance(content, TestSuite):
        collected = _of_suite(content, str(folder), models, file.lines)
    elif isinstance(content, TestLab):
        collected = _of_rows(content.dataset.inputs, str(folder), _lab_models(content), file.lines)
    else:
        collected = _of_rows(content.inputs, str(folder), _dataset_models(content), file.lines)
    if more is not None:
        collected += more(collected)
    _link(collected)
    return _named(_families_together(collected))


def _of_suite(
    suite: TestSuite, folder: str, models: Sequence[ModelInfo], lines: Mapping[CaseIdentity, int]
) -> list[EvalTask]:
    task_list = []
    for position, (test, item) in enumerate(suite.cases(), 1):
        case = Case(
            key=safe_identifier(item.key),
            question=item.prompt,
            **_expectations(item),
            retrieval=item.retrieval,
            categories=tuple(
                map(safe_identifier, dict.fromkeys((*item.categories, *test.categories, *suite.categories)))
            ),
            relationships=_relationships(item.relationships),
            corpus=tuple(resolved(document, folder) for document in test.documents),
            test_key=safe_identifier(test.key),
            position=position,
            line=lines.get((item.key, "", 1), 0),
            conversation=turns_of(item.conversation),
            attachments=attachments_of(item.images, item.files, folder),
            plan=plan_of(item.turns, item.user, item.judge, item.on_failure, folder=folder),
            folder=folder,
            extra=item.model_extra or NOTHING,
        )
        task_list.append((item, case))
    return [
        EvalTask(
            name="",
            model=model,
            case=case,
            choice=item.evaluators,
            xfail=item.xfail,
            skip=item.skip,
            policy=item.policy or suite.policy,
        )
        for model in models
        for item, case in task_list
    ]


def resolved(document: str, folder: str) -> str:
    """Return a document of a corpus as an absolute path or as a URL."""
    # Two characters at least before "://": "C://" is a drive of Windows.
    if re.match(r"[a-z][a-z0-9+.-]+://", document, re.IGNORECASE):
        return document
    if re.match(r"https?://", folder):
        from urllib.parse import urljoin

        # Without the slash, urljoin would replace the last part of the folder.
        return urljoin(folder.rstrip("/") + "/", document)
    return os.path.normpath(os.path.join(folder, document))


def _of_rows(
    rows: Iterable[Row], folder: str, models: Mapping[str, ModelInfo], lines: Mapping[CaseIdentity, int]
) -> list[EvalTask]:
    by_model: dict[str, dict[str, list[Row]]] = {key: {} for key in models}
    for row in rows:
        by_model[row.model_key].setdefault(row.key, []).append(row)
    collected = []
    for model_key, by_key in by_model.items():
        model = models[model_key]
        for position, repeats in enumerate(by_key.values(), 1):
            # Files may have the repeats in any order; a stable sort keeps that of rows without a number.
            repeats.sort(key=lambda row: row.run or 1)
            answers = tuple(
                row_case(
                    row, model, folder, position, line=lines.get((row.key, row.model_key, row.run or 1), 0)
                )
                for row in repeats
            )
            first = repeats[0]
            collected.append(
                EvalTask(
                    name="",
                    model=model,
                    case=answers[0],
                    answers=answers,
                    choice=first.evaluators,
                    xfail=first.xfail,
                    skip=first.skip,
                    policy=first.policy,
                )
            )
    return collected


def row_case(row: Row, model: ModelInfo, folder: str, position: int = 0, line: int = 0) -> Case:
    """Return the case of a row; error answers of the reference engine become errors."""
    error = row.error or stated_error(row.actual_output)
    return Case(
        key=safe_identifier(row.key),
        question=row.input,
        answer=answer_of_row(row, error=error, folder=folder),
        **_expectations(row),
        categories=tuple(map(safe_identifier, row.categories)),
        relationships=_relationships(row.relationships) if row.relationships else (),
        corpus=tuple(row.corpus),
        test_key=safe_identifier(row.test_key),
        model_key=model.key,
        model_name=model.label,
        retrieval=row.retrieval,
        is_rag=is_rag(model.retrieves, row.context, row.retrieval),
        run=row.run or 1,
        position=position,
        line=line,
        conversation=turns_of(row.conversation),
        attachments=attachments_of(row.images, row.files, folder),
        plan=plan_of(row.turns, row.user, row.judge, row.on_failure, folder=folder),
        folder=folder,
        extra=row.model_extra or NOTHING,
    )


def stated_error(answer: str) -> str:
    """Return an answer of the reference engine that is the message of an error, "" for other answers."""
    # The substring first: it is much faster than the pattern, and nearly all answers lack it.
    return answer.strip() if "INTERNAL ERROR" in answer and _ERROR_ANSWER.search(answer) else ""


def is_rag(retrieves: bool | None, context: Sequence[str], retrieval: Retrieval = "") -> bool:
    """Return whether an answer is one of a RAG model.

    Args:
        retrieves: whether the model retrieves; None where nothing but its context says so.
        context: of the answer.
        retrieval: what the test case says; it takes precedence.
    """
    if retrieval == "required":
        return True
    return bool(context) if retrieves is None or retrieval == "optional" else retrieves


def _relationships(links: Iterable[Any]) -> tuple[Relationship, ...]:
    return tuple(
        Relationship(
            type=safe_identifier(link.type),
            target=safe_identifier(link.target),
            target_type=safe_identifier(link.target_type),
        )
        for link in links
    )


def _expectations(form: TestCase | Row) -> dict[str, Any]:
    calls = form.expected_tool_calls
    return expectations_of(
        form,
        condition=form.condition_text(),
        expected_tool_calls=None if calls is None else constant(calls),
    )


def turns_of(conversation: Iterable[Any]) -> tuple[Turn, ...]:
    """Return the turns of a file's row or test case for evaluators and hosts."""
    return tuple(Turn(role=turn.role, content=turn.content) for turn in conversation)


def _lab_models(lab: TestLab) -> dict[str, ModelInfo]:
    names = labels(lab.models)
    retrieving = _retrieving(lab.dataset.inputs)
    return {
        model.key: ModelInfo(
            key=model.key,
            label=names[model.key],
            retrieves=model.key in retrieving or None if model.is_rag() is None else model.is_rag(),
            description=_described(model),
        )
        for model in lab.models
    }


def _described(model: Model) -> dict[str, object]:
    return {**model.to_dict(), "host": "lab"}


def _dataset_models(dataset: LlmDataset) -> dict[str, ModelInfo]:
    keys = dict.fromkeys(row.model_key for row in dataset.inputs)
    retrieving = _retrieving(dataset.inputs)
    return {
        key: ModelInfo(
            key=key or UNNAMED_MODEL,
            label=key or UNNAMED_MODEL,
            # Not False: rows without a context do not say that the model retrieves nothing.
            retrieves=key in retrieving or None,
            description={"host": "dataset"},
        )
        for key in keys
    }


def _retrieving(rows: Iterable[Row]) -> set[str]:
    """Return the keys of the models that retrieved for any row: they were to retrieve for the others, too."""
    return {row.model_key for row in rows if row.context}


def _link(collected: Sequence[EvalTask]) -> None:
    by_identity = {(task.model.key, task.key): task for task in collected}
    for task in collected:
        if not task.case.relationships:
            continue
        related: dict[str, EvalTask] = {}
        for link in task.case.relationships:
            other = by_identity.get((task.model.key, link.target))
            # A case that names itself would be its own original, and never reach the root of its family.
            if other is not None and other is not task:
                # The first link of a type counts.
                related.setdefault(link.type, other)
        task.source = related.pop(SOURCE, None)
        if related:
            task.related = related


def _families_together(collected: Sequence[EvalTask]) -> list[EvalTask]:
    """Return the same tasks, each perturbation directly after its original."""
    # A perturbation is compared with its original, so both should be in one chunk of the run.
    children: dict[int, list[EvalTask]] = {}
    roots = []
    for task in collected:
        root = family_root(task)
        if root is task:
            roots.append(task)
        else:
            children.setdefault(id(root), []).append(task)
    return [member for root in roots for member in (root, *children.get(id(root), ()))]


def family_root(task: EvalTask) -> EvalTask:
    """Return the original of a chain of perturbations; a cycle ends at its member with the first name."""
    chain = [task]
    while chain[-1].source is not None:
        # Files can link cases in a circle; the choice by key is the same for each member.
        if chain[-1].source in chain:
            circle = chain[chain.index(chain[-1].source) :]
            return min(circle, key=lambda member: member.key)
        chain.append(chain[-1].source)
    return chain[-1]


def _named(collected: list[EvalTask]) -> list[EvalTask]:
    unique = Numbered()
    for task in collected:
        task.name = unique(f"{item_name(task.key)}[{item_name(task.model.label)}]")
    return collected


def item_name(text: str) -> str:
    """Return a key or label for a node id: without blanks, control characters and CI commands.

    >>> item_name("a/b c::d")
    'a_b_c_d'
    """
    return _NOT_IN_NAMES.sub("_", text)
