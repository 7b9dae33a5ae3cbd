"""Exports for machines: leaderboards, problems, insights, descriptors, logs, and the run as one JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any

import msgspec

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.problems import AVID, Insight, Problem
from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.engine.analysis.leaderboards import Cell, Leaderboard, Standing
from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo
from pytest_evalstudio.engine.outputs import DESCRIPTOR, PRODUCER
from pytest_evalstudio.record.schema import JsonObject
from pytest_evalstudio.report import markdown, parquet, repeats
from pytest_evalstudio.report.descriptions import describe_evaluator
from pytest_evalstudio.report.folders import (
    LEADERBOARD_MARKDOWN,
    Archive,
    ExplainerFolder,
    describe_format,
    tree,
)
from pytest_evalstudio.report.results import open_text, write_json

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


def problem_entry(problem: Problem, evaluators: Mapping[str, EvaluatorInfo] = NOTHING) -> dict[str, Any]:
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


def insight_entry(insight: Insight, evaluators: Mapping[str, EvaluatorInfo] = NOTHING) -> dict[str, Any]:
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
    attributes: Mapping[str, object], evaluators: Mapping[str, EvaluatorInfo]
) -> dict[str, object]:
    info = evaluators.get(str(attributes.get("evaluator", "")))
    return {**attributes, **({"evaluator_name": info.name} if info is not None else {})}


def interpretation(
    analysis: Analysis, folders: Mapping[str, ExplainerFolder], models: Mapping[str, JsonObject]
) -> dict[str, object]:
    """Return the whole report as one JSON object.

    Args:
        models: model key to its description.
    """
    run = msgspec.to_builtins(analysis.run)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": {
            **{key: run[key] for key in _OF_RUN},
            "verdicts": dict(analysis.verdicts),
            **({"stored_answers": asdict(analysis.stored)} if analysis.stored.count else {}),
            **({"flaky": [item.nodeid for item in analysis.reruns if item.flaky]} if analysis.flaky else {}),
        },
        "models": {
            figures.key: {**models.get(figures.key, {}), "figures": asdict(figures)}
            for figures in analysis.models
        },
        "dataset": asdict(analysis.dataset),
        "evaluators": {
            id: {
                **describe_evaluator(info, explanations_of(folders[id])),
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
        },
        "repeats": repeats.as_json(analysis.repeats),
        **({"confirmations": asdict(analysis.confirmations)} if analysis.confirmations.sentence else {}),
        "judging": {
            "this_run": run.get("judging", {}),
            "evaluators": [asdict(figures) for figures in analysis.judging],
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


def leaderboard_entry(board: Leaderboard) -> dict[str, object]:
    """Return a leaderboard with all its figures."""
    return {"type": board.evaluator.kind, "standings": [_standing(line) for line in board.standings]}


def write_explainer(folder: ExplainerFolder, analysis: Analysis, *, rows: int) -> None:
    """Write all files of an evaluator except its results and HTML pages.

    Args:
        rows: lines of its results.
    """
    board = analysis.leaderboards[folder.info.id]
    describe_format(folder.results, "application_json", "application/json", rows=rows)
    describe_format(folder.results, "text_csv", "text/csv", rows=rows)
    if (folder.results / parquet.FOLDER).is_dir():
        describe_format(folder.results, parquet.FOLDER, parquet.MIME, rows=rows)
    _write_leaderboard(folder, board)
    write_json(
        folder.problems,
        {
            "problems": [
                problem_entry(problem, analysis.evaluators)
                for problem in of_evaluator(analysis.problems, folder.info.id)
            ]
        },
    )
    write_json(
        folder.insights,
        {
            "insights": [
                insight_entry(insight, analysis.evaluators)
                for insight in of_evaluator(analysis.insights, folder.info.id)
            ]
        },
    )
    with open_text(folder.log) as log:
        log.write("".join(f"{line}\n" for line in log_lines(analysis, board)))
    write_json(folder.work / "leaderboard.json", leaderboard_entry(board))
    for index, line in enumerate(line for line in board.standings if line.table):
        write_json(
            folder.work / f"model-wide-{index}.json",
            {"model_key": line.model, "model_name": line.name, "table": line.table},
        )
    with Archive(folder.archive / "application_zip" / "explanation.zip") as archive:
        for path in tree(folder.work):
            archive.add(path, path.relative_to(folder.path).as_posix())
    describe_format(folder.archive, "application_zip", "application/zip")


def write_descriptor(folder: ExplainerFolder, run_id: str) -> None:
    """Write the folder's descriptor, which marks it as written by this package; must be the last file."""
    write_json(
        folder.path / DESCRIPTOR,
        {
            "schema_version": SCHEMA_VERSION,
            "producer": PRODUCER,
            "run_id": run_id,
            "id": folder.uuid,
            "evaluator": {"id": folder.info.id, "name": folder.info.name, "type": folder.info.type},
            "explanations": explanations_of(folder),
            "files": [path.relative_to(folder.path).as_posix() for path in tree(folder.path)],
        },
    )


def of_evaluator(entries: Sequence[Any], evaluator: str) -> list[Any]:
    """Return the problems or insights of one evaluator."""
    return [entry for entry in entries if entry.attributes.get("evaluator") == evaluator]


def log_lines(analysis: Analysis, board: Leaderboard) -> list[str]:
    """Return the log of an evaluator."""
    run = analysis.run
    id = board.evaluator.id
    started = board.evaluator.started or run.created
    lines = [f"{started} {id}: started"]
    for line in board.standings:
        what = (
            f"{line.scored} rows scored, {line.errors} errors, {line.not_applicable} not applicable,"
            f" {line.passed} of {line.judged} cases passed"
        )
        lines.append(f"{started} {id}: model {line.name!r}: {what}")
    lines += [
        f"{started} {id}: {problem.severity} problem: {problem.description}"
        for problem in of_evaluator(analysis.problems, id)
    ]
    ending = "interrupted" if run.interrupted else "finished"
    finished = board.evaluator.finished or run.finished or "unfinished"
    return [*lines, f"{finished} {id}: {ending}"]


def _write_leaderboard(folder: ExplainerFolder, board: Leaderboard) -> None:
    info = board.evaluator
    path = folder.leaderboard / "application_json"
    meta = {entry["key"]: entry for entry in describe_evaluator(info, [])["metrics_meta"]}
    groups = [] if info.boolean else [(metric.key, [metric.key]) for metric in info.metrics]
    groups.append((ALL_METRICS, [metric.key for metric in info.metrics]))
    files = {name: f"leaderboard_{number}.json" for number, (name, _) in enumerate(groups)}
    for name, keys in groups:
        data = {line.model: {key: line.cells[key].value for key in keys} for line in board.standings}
        details = {line.model: _standing(line) for line in board.standings} if name == ALL_METRICS else {}
        write_json(
            path / files[name],
            {
                "data": data,
                "metadata": {key: meta[key] for key in keys},
                **({"standings": details} if details else {}),
            },
        )
    write_json(
        path / "explanation.json",
        {
            "files": files,
            "type": f"llm-{info.kind}-leaderboard",
            "models": {x.model: x.name for x in board.standings},
        },
    )
    describe_format(folder.leaderboard, "application_json", "application/json")
    for name, mime in (
        ("text_markdown", "text/markdown"),
        (LEADERBOARD_MARKDOWN, "application/vnd.h2oai-evalstudio-leaderboard.markdown"),
    ):
        with open_text(folder.leaderboard / name / "explanation.md") as file:
            file.write(markdown.leaderboard(board))
        describe_format(folder.leaderboard, name, mime)


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
        **({"corrected_pass_rate": asdict(line.corrected)} if line.corrected is not None else {}),
        "metrics": {key: _cell(cell) for key, cell in line.cells.items()},
        **({"table": line.table} if line.table else {}),
        **({"fault": line.fault} if line.fault else {}),
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


def explanations_of(folder: ExplainerFolder) -> list[str]:
    """Return the names of all explanations of an evaluator, as the documents write them.

    The folder of `llm-eval-results` is `global_llm_eval_results`, and so on.
    """
    paths = (folder.results, folder.leaderboard, folder.fragment, folder.archive)
    return [path.name.removeprefix("global_").replace("_", "-") for path in paths]
