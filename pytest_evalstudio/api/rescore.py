"""Scores the stored answers of a run again, which separates a change of the measure from one of the model."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import msgspec

from pytest_evalstudio.analysis.comparison.sides import Identity, Scores, Side
from pytest_evalstudio.api.evaluate import evaluate_lab
from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.attachments import AttachedFile, recorded
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.conversations import AnsweredTurn
from pytest_evalstudio.formats.dataset import LlmDataset, Row, row_expectations
from pytest_evalstudio.formats.lab import Model, TestLab
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.scoring.answer_rows import complete_row
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.plan import Plan, is_selector
from pytest_evalstudio.scoring.recording import item_scores

_MASKED = ("privacy", "security")
"""Problem types of evaluators that would see masked texts: a record holds no personal data and no secrets."""


def rescored(
    reader: RecordReader, side: Side, config: Configuration, *, registry: Registry, provider: ModelProvider
) -> Side:
    """Return a run with the scores that today's evaluators give to its answers.

    Evaluators of personal data and secrets are left out, because the answers in a record are masked.

    Args:
        reader: of the run or baseline.
        side: the same run.
        config: today's configuration; of its evaluators those of the run are used.

    Raises:
        ConfigurationError: if the answers were left out, or no evaluator of the run is configured.
    """
    if reader.run.baseline is not None and not reader.run.baseline.has_answers:
        raise ConfigurationError(
            f"{reader.path}: was saved without answers, which --rescore needs; save a baseline with them"
        )
    ids = [id for id, entry in reader.run.evaluators.items() if entry.problem_type not in _MASKED]
    if config.evaluators is not None and "all" not in config.evaluators:
        configured = config.evaluators
        # A selector names evaluators only together with what is available here.
        if any(map(is_selector, configured)):
            plan = Plan(registry, config, lacks=functools.partial(provider.lacks, config))
            configured = [selected.id for selected in plan.selected]
        ids = [id for id in ids if id in configured]
    if not ids:
        raise ConfigurationError(
            "--rescore: `evaluators` in the configuration contains no evaluator of the base run that"
            " can score it again; add one"
        )
    config = config.model_copy(update={"evaluators": ids})
    by_file: dict[str, list[Item]] = {}
    for item in reader.items():
        if item.rows:
            by_file.setdefault(item.file, []).append(item)
    scores: dict[Identity, Scores] = {}
    for file, items in by_file.items():
        results = evaluate_lab(
            lab_of_items(items), config, registry=registry, provider=provider, folder=config.folder
        )
        for result in results:
            model = result.task.model
            name = reader.run.model_name(model.key)
            for label in (name, model.key):
                scores[(file, result.task.key, label, 0)] = item_scores(result)
    return Side(
        side.run,
        {
            identity: msgspec.structs.replace(item, scores=scores.get(identity, {}))
            for identity, item in side.items.items()
        },
    )


def lab_of_items(items: Iterable[Item]) -> TestLab:
    """Return the recorded answers of a file as a lab."""
    rows: list[Row] = []
    models: dict[str, bool] = {}
    for item in items:
        for row in item.rows:
            models.setdefault(item.model_key, row.is_rag)
            lab_row = Row(
                key=item.key,
                test_key=item.test_key,
                model_key=item.model_key,
                input=row.question,
                corpus=list(row.corpus),
                categories=list(row.categories),
                **row_expectations(row),
                retrieval=row.retrieval,
                run=row.run,
                **_attached(row.attachments),
                judge=row.judge,
                turns=[
                    AnsweredTurn(
                        prompt=turn.prompt,
                        **_attached(turn.attachments),
                        **turn.expectations,
                        evaluators=None if turn.evaluators is None else list(turn.evaluators),
                    )
                    for turn in row.answer.turns
                ],
            )
            complete_row(lab_row, row.answer, "")
            rows.append(lab_row)
    return TestLab(
        dataset=LlmDataset(inputs=rows),
        models=[
            Model(key=key, name=key, llm_model_name=key, retrieves=is_rag) for key, is_rag in models.items()
        ],
    )


def _attached(attachments: Sequence[Attachment]) -> dict[str, list[AttachedFile]]:
    return {
        "images": recorded(attachments, is_image=True),
        "files": recorded(attachments, is_image=False),
    }
