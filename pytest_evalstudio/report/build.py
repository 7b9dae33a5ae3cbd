"""Builds the whole report from a run's record, in one pass over it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.contracts import Aggregates
from pytest_evalstudio.core.registry import Registry
from pytest_evalstudio.engine.analysis.aggregates import aggregates_of
from pytest_evalstudio.engine.analysis.analyse import Analysis, analyse
from pytest_evalstudio.engine.analysis.run_info import evaluators_of
from pytest_evalstudio.engine.record import FILE, read_header
from pytest_evalstudio.report import markdown, page
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.data.blocks import PageData
from pytest_evalstudio.report.data.columns import Columns
from pytest_evalstudio.report.data.texts import TextStore
from pytest_evalstudio.report.exports import interpretation, write_descriptor, write_explainer
from pytest_evalstudio.report.failures import FailureBook
from pytest_evalstudio.report.folders import ExplainerFolder, describe_format, pack, remove_stale, tree
from pytest_evalstudio.report.results import ResultsWriter, describe_evaluator, open_text, write_json
from pytest_evalstudio.report.sections import More, contributed_sections

PAGE = "interpretation.html"
DATA = "interpretation.json"
SUMMARY = "summary.md"
ARCHIVE = "evalstudio-report.zip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was built, and where it lies."""

    page: Path
    data: Path
    summary: Path
    archive: Path
    explainers: Mapping[str, Path]
    analysis: Analysis


def build_report(
    record: Path,
    output: Path,
    aggregates: Mapping[str, Aggregates] | None = None,
    *,
    storage_mb: float | None = None,
    more: Mapping[str, More] = NOTHING,
) -> Report:
    """Write everything that a run's record tells into a folder; what an earlier report wrote there is replaced.

    Args:
        record: the record, in the output folder or elsewhere.
        aggregates: evaluator id to the object whose `aggregate` gives its model-wide figures; those that the record's
            header names and this installation knows, where not given.
        storage_mb: megabytes that cache and output take, for the setting `storage.max_mb`.
        more: contributors of further sections, by name.

    Raises:
        DataError: if the file is no record.
    """
    header = read_header(record)
    if aggregates is None:
        aggregates = aggregates_of(header, Registry())
    evaluators = evaluators_of(header)
    output.mkdir(parents=True, exist_ok=True)
    remove_stale(output)
    folders = {id: ExplainerFolder(output, str(header.get("run_id", "")), info) for id, info in evaluators.items()}
    failures = FailureBook(header, evaluators)
    descriptions = {id: describe_evaluator(info, [folders[id].results.name]) for id, info in evaluators.items()}
    places = {id: folder.results for id, folder in folders.items()}
    with TextStore() as texts:
        data = PageData(Columns(header, evaluators), texts)
        with ResultsWriter(places, evaluators, header.get("models", {}), descriptions) as results:
            analysis = analyse(record, aggregates, storage_mb=storage_mb, also=(results.add, failures.add, data.add))
        content = Content(analysis, failures, folders, data.columns, record)
        for id, folder in folders.items():
            _write_pages(content, folder)
            write_explainer(folder, analysis, rows=results.rows[id])
            write_descriptor(folder, str(header.get("run_id", "")))
        write_json(output / DATA, interpretation(analysis, folders))
        _write_text(output / SUMMARY, markdown.summary(analysis))
        with open_text(output / PAGE) as file:
            file.writelines(page.page_pieces(content, contributed_sections(analysis, more), data.blocks(analysis)))
    _pack_all(record, output, folders)
    return Report(
        page=output / PAGE,
        data=output / DATA,
        summary=output / SUMMARY,
        archive=output / ARCHIVE,
        explainers={id: folder.path for id, folder in folders.items()},
        analysis=analysis,
    )


def _write_pages(content: Content, folder: ExplainerFolder) -> None:
    id = folder.info.id
    _write_text(folder.fragment / "text_html" / "explanation.html", page.render_evaluator(content, id))
    _write_text(folder.leaderboard / "text_html" / "explanation.html", page.render_leaderboard(content, content.analysis.leaderboards[id]))
    describe_format(folder.fragment, "text_html", "text/html")
    describe_format(folder.leaderboard, "text_html", "text/html")


def _write_text(path: Path, text: str) -> None:
    with open_text(path) as file:
        file.write(text)


def _pack_all(record: Path, output: Path, folders: Mapping[str, ExplainerFolder]) -> None:
    """The archive of all that was written, replaced in one move."""
    files = [(record, FILE), *((output / name, name) for name in (PAGE, DATA, SUMMARY))]
    files += [(path, path.relative_to(output).as_posix()) for folder in folders.values() for path in tree(folder.path)]
    unfinished = output / f"{ARCHIVE}.tmp"
    pack(unfinished, files)
    os.replace(unfinished, output / ARCHIVE)
