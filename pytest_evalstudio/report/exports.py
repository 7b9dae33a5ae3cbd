"""Exports for machines: leaderboards, problems, insights, descriptors, logs, and the run as one JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import msgspec

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.judging import JudgingFigures
from pytest_evalstudio.analysis.leaderboards import Cell, Leaderboard, Standing
from pytest_evalstudio.analysis.shrunk import ShrunkFlips
from pytest_evalstudio.analysis.summary.results import RunSummary, as_json
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.json_data import non_empty
from pytest_evalstudio.core.problems import AVID, Insight, Problem
from pytest_evalstudio.record.schema import EvaluatorEntry, JsonObject
from pytest_evalstudio.report import repeats
from pytest_evalstudio.report.descriptions import describe_evaluator
from pytest_evalstudio.report.folders import ExplainerFolder
from pytest_evalstudio.text.figures import counted

SCHEMA_VERSION = 1
ALL_METRICS = "ALL_METRICS"
_OF_RUN = (
    "run_id",
    "created",
    "finished",
    "tool",
    "python",
    "interrupted",
    "exit_status",
    "settings",
    "files",
)


def problem_entry(problem: Problem, evaluators: Mapping[str, EvaluatorEntry] = NOTHING) -> dict[str, Any]:
    """Return a problem for JSON.

    Args:
        evaluators: by id; attributes name the evaluator of the problem by its id and its name.
    """
    return {
        "description": problem.description,
        "description_html": escape(problem.description),
        "severity": problem.severity,
        "problem_type": problem.problem_type,
        "problem_code": {"code": problem.avid, "text": AVID.get(problem.avid, "")},
        "attributes": _attributes(problem.attributes, evaluators),
        "actions": problem.actions,
        "resources": list(problem.resources),
    }


def insight_entry(insight: Insight, evaluators: Mapping[str, EvaluatorEntry] = NOTHING) -> dict[str, Any]:
    """Return an insight for JSON; see `problem_entry`."""
    return {
        "description": insight.description,
        "description_html": escape(insight.description),
        "insight_type": insight.insight_type,
        "attributes": _attributes(insight.attributes, evaluators),
        "actions": insight.actions,
        "resources": list(insight.resources),
    }


def _attributes(
    attributes: Mapping[str, object], evaluators: Mapping[str, EvaluatorEntry]
) -> dict[str, object]:
    info = evaluators.get(str(attributes.get("evaluator", "")))
    return {**attributes, **non_empty(evaluator_name=info.name if info is not None else None)}


def _coverage(analysis: Analysis) -> JsonObject:
    """Return what the run did not check: test cases, expectations and retrievals; {} if it checked all."""
    coverage = analysis.coverage
    figures: JsonObject = {
        "unchecked": coverage.unchecked,
        "unread_expectations": dict(coverage.unread),
        "incomplete_answers": dict(analysis.incomplete.reasons),
        "answers_without_chunks": sum(model.without_chunks for model in analysis.models),
    }
    return {name: value for name, value in figures.items() if value}


def interpretation(
    analysis: Analysis,
    summary: RunSummary,
    folders: Mapping[str, ExplainerFolder],
    models: Mapping[str, JsonObject],
) -> dict[str, object]:
    """Return the whole report as one JSON object.

    Args:
        summary: of the run.
        models: model key to its description.
    """
    run = msgspec.to_builtins(analysis.run)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            **{key: run[key] for key in _OF_RUN},
            "outcome": summary.verdict.outcome,
            "headline": summary.verdict.headline,
            "verdicts": dict(analysis.verdicts),
            **_coverage(analysis),
            **({"stored_answers": asdict(analysis.stored)} if analysis.stored.count else {}),
            **non_empty(flaky=[item.nodeid for item in analysis.reruns if item.flaky]),
        },
        "summary": as_json(summary),
        "models": {
            figures.key: {**models.get(figures.key, {}), "figures": asdict(figures)}
            for figures in analysis.models
        },
        "dataset": asdict(analysis.dataset),
        "evaluators": {
            id: {
                **describe_evaluator(info, folders[id].explanations(), span=analysis.run.spans.get(id)),
                "leaderboard": leaderboard_entry(analysis.leaderboards[id]),
                "most_difficult_prompts": [asdict(case) for case in analysis.hardest[id]],
            }
            for id, info in analysis.evaluators.items()
        },
        "problems": [problem_entry(problem, analysis.evaluators) for problem in analysis.problems],
        "insights": [insight_entry(insight, analysis.evaluators) for insight in analysis.insights],
        "flips": {
            "rates": [asdict(rate) for rate in analysis.flip_rates],
            "sensitivity": [asdict(curve) for curve in analysis.sensitivities],
            **_shrunk_flips(analysis.shrunk_flips),
        },
        "repeats": repeats.as_json(analysis.repeats),
        **({"confirmations": asdict(analysis.confirmations)} if analysis.confirmations.sentence else {}),
        "judging": {
            "this_run": run.get("judging", {}),
            "evaluators": [_judging_entry(figures) for figures in analysis.judging],
        },
        "gates": [
            {
                "gate": gate.gate.text,
                "met": gate.met,
                "values": dict(gate.values),
                "missed": list(gate.missed),
            }
            for gate in analysis.gates
        ],
        "results_files": {id: dict(folder.files()) for id, folder in folders.items()},
    }


def _judging_entry(figures: JudgingFigures) -> dict[str, object]:
    usage = msgspec.structs.asdict(figures.usage) | {"cost_usd": figures.cost_usd}
    del usage["over_budget"]  # its rows are in `not_asked`
    return {
        "evaluator": figures.evaluator,
        "rows": figures.rows,
        **usage,
        "not_asked": figures.not_asked,
        "not_asked_reason": figures.not_asked_reason,
    }


def _shrunk_flips(shrunk: ShrunkFlips) -> dict[str, object]:
    """Return the smallest edits of the flips, nothing where none was searched."""
    if not shrunk.total:
        return {}
    flips = [
        {
            "nodeid": flip.nodeid,
            "evaluator": flip.evaluator,
            "metric": flip.metric,
            "direction": flip.direction,
            **msgspec.structs.asdict(flip.smallest),
        }
        for flip in shrunk.listed
    ]
    return {"smallest_edits": {"calls": shrunk.calls, "ends": dict(shrunk.ends), "flips": flips}}


def leaderboard_entry(board: Leaderboard) -> dict[str, object]:
    """Return a leaderboard with all its figures."""
    return {"type": board.evaluator.kind, "standings": [_standing(line) for line in board.standings]}


def of_evaluator(entries: Sequence[Any], evaluator: str) -> list[Any]:
    """Return the problems or insights of one evaluator."""
    return [entry for entry in entries if entry.attributes.get("evaluator") == evaluator]


def log_lines(analysis: Analysis, board: Leaderboard) -> list[str]:
    """Return the log of an evaluator."""
    run = analysis.run
    id = board.evaluator.id
    span = run.spans.get(id)
    started = span.started if span is not None else run.created
    lines = [f"{started} {id}: started"]
    for line in board.standings:
        what = (
            f"{counted(line.scored, 'row')} scored, {counted(line.errors, 'error')}, "
            f"{line.not_applicable} not applicable, {line.passed} of {counted(line.judged, 'case')} passed"
        )
        lines.append(f"{started} {id}: model {line.name!r}: {what}")
    lines += [
        f"{started} {id}: {problem.severity} problem: {problem.description}"
        for problem in of_evaluator(analysis.problems, id)
    ]
    ending = "interrupted" if run.interrupted else "finished"
    finished = span.finished if span is not None else run.finished or "unfinished"
    return [*lines, f"{finished} {id}: {ending}"]


def _metric_groups(info: EvaluatorEntry) -> list[tuple[str, list[str]]]:
    """Return the name and the metric keys of each table of a leaderboard."""
    single = [] if info.boolean else [(metric.key, [metric.key]) for metric in info.metrics]
    return [*single, (ALL_METRICS, [metric.key for metric in info.metrics])]


def leaderboard_index(board: Leaderboard) -> dict[str, object]:
    """Return the file of each table of a leaderboard."""
    groups = _metric_groups(board.evaluator)
    return {
        "files": {name: f"leaderboard_{n}.json" for n, (name, _) in enumerate(groups)},
        "type": f"llm-{board.evaluator.kind}-leaderboard",
        "models": {line.model: line.name for line in board.standings},
    }


def leaderboard_tables(board: Leaderboard) -> list[dict[str, object]]:
    """Return a table per metric, and one of all metrics with all figures."""
    meta = {entry["key"]: entry for entry in describe_evaluator(board.evaluator, [])["metrics_meta"]}
    tables: list[dict[str, object]] = [
        {
            "data": {line.model: {key: line.cells[key].value for key in keys} for line in board.standings},
            "metadata": {key: meta[key] for key in keys},
        }
        for _, keys in _metric_groups(board.evaluator)
    ]
    if board.standings:
        tables[-1]["standings"] = {line.model: _standing(line) for line in board.standings}
    return tables


def model_wide_tables(board: Leaderboard) -> list[dict[str, object]]:
    """Return the data behind each model-wide figure, such as a confusion matrix."""
    return [
        {"model_key": line.model, "model_name": line.name, "table": line.table}
        for line in board.standings
        if line.table
    ]


def problem_entries(analysis: Analysis, evaluator: str) -> dict[str, object]:
    """Return the problems of an evaluator."""
    problems = of_evaluator(analysis.problems, evaluator)
    return {"problems": [problem_entry(problem, analysis.evaluators) for problem in problems]}


def insight_entries(analysis: Analysis, evaluator: str) -> dict[str, object]:
    """Return the insights of an evaluator."""
    insights = of_evaluator(analysis.insights, evaluator)
    return {"insights": [insight_entry(insight, analysis.evaluators) for insight in insights]}


def _standing(line: Standing) -> dict[str, object]:
    return {
        "model_key": line.model,
        "model_name": line.name,
        "scored": line.scored,
        "errors": line.errors,
        "not_applicable": line.not_applicable,
        "judged": line.judged,
        "passed": line.passed,
        "uncertain": line.uncertain,
        "pass_rate": line.pass_rate,
        "pass_interval": line.pass_interval,
        **non_empty(corrected_pass_rate=None if line.corrected is None else asdict(line.corrected)),
        "metrics": {key: _cell(cell) for key, cell in line.cells.items()},
        **non_empty(table=line.table, fault=line.fault),
    }


def _cell(cell: Cell) -> dict[str, object]:
    return {
        "value": cell.value,
        "interval": cell.interval,
        "n": cell.n,
        "total": cell.total,
        "rank": cell.rank,
        "passes": cell.passes,
    }
