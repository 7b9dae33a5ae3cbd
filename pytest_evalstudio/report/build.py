"""Builds the whole report from a run's record, in one pass over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_evalstudio.analysis.aggregates import aggregates_of
from pytest_evalstudio.analysis.analyse import Analysis, analyse
from pytest_evalstudio.analysis.causes import CauseKey
from pytest_evalstudio.analysis.comparison.results import Comparison, as_json
from pytest_evalstudio.analysis.population import Population
from pytest_evalstudio.analysis.summary.extras import RunExtra, extras_of
from pytest_evalstudio.analysis.summary.results import RunSummary, summarise
from pytest_evalstudio.core.cases import NOTHING
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.contrib import is_artifact
from pytest_evalstudio.core.plugins.evaluator import Aggregates
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.plots.labels import natural_key
from pytest_evalstudio.record.outputs import PAGE, REPORT_FILES, OutputFolder
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, Run
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.report import markdown, page
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.contributed import More, contributed_sections
from pytest_evalstudio.report.data.blocks import PageData
from pytest_evalstudio.report.data.columns import Columns
from pytest_evalstudio.report.data.texts import TextStore
from pytest_evalstudio.report.explainer import write_explainer
from pytest_evalstudio.report.exporters import Exports
from pytest_evalstudio.report.exports import interpretation
from pytest_evalstudio.report.failed_items import FailedItems
from pytest_evalstudio.report.failures import FailureBook
from pytest_evalstudio.report.folders import Archive, tree
from pytest_evalstudio.report.results import open_text, write_json
from pytest_evalstudio.report.row_files import explainer_folders, row_writer
from pytest_evalstudio.report.thresholds import thresholds_in_force

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.comparison.history import History

DATA = "interpretation.json"
SUMMARY = "summary.md"
COMPARISON = "comparison.json"
ARCHIVE = "evalstudio-report.zip"
Consumer = Callable[[Item], None]
COMPRESSED = (".zip", ".parquet")
"""Suffixes of files that do not shrink again."""
LARGE_PAGE = 2_000_000
"""Bytes from which on a page consists of compressed data, which does not shrink again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The built report and its location.

    Attributes:
        markdown: path of the summary for CI jobs and pull requests.
        summary: what the run means.
        warnings: a line for each exporter that failed; its file is missing or incomplete.
    """

    page: Path
    data: Path
    markdown: Path
    archive: Path
    explainers: Mapping[str, Path]
    analysis: Analysis = field(repr=False)
    summary: RunSummary = field(repr=False)
    warnings: tuple[str, ...] = ()
    extras: tuple[RunExtra, ...] = field(default=(), repr=False)

    def _repr_html_(self) -> str:
        """Return verdict, first findings and the address of the page, for notebooks."""
        from pytest_evalstudio.report.notebook import report_html

        return report_html(self.summary, self.page)


def build_report(
    record: str | Path,
    output: str | Path,
    aggregates: Mapping[str, Aggregates] | None = None,
    *,
    storage_mb: float | None = None,
    more: Mapping[str, More] = NOTHING,
    registry: Registry | None = None,
    comparison: Comparison | None = None,
    history: History | None = None,
    attached: Sequence[object] = (),
    population: Population | None = None,
    root: str | Path | None = None,
    parquet: bool = False,
) -> Report:
    """Build the report of a record in a folder and replace an earlier report.

    The files are built aside and moved into the folder when all are complete, the page last. An interrupted
    build leaves no page of its own. The caller keeps other processes out of the folder; see
    `OutputFolder.locked`.

    Args:
        record: the record, in the output folder or elsewhere.
        aggregates: evaluator id to the object whose `aggregate` gives its model-wide figures; those that the
            record's header names and this installation knows, where not given.
        storage_mb: megabytes that cache and output take, for the setting `storage.max_mb`.
        more: contributors of further sections, by name.
        registry: known evaluators and sections; a fresh one where not given.
        comparison: of the run with its baseline.
        history: of earlier runs and this one.
        attached: results of optional parts for their sections, each of a class of its own.
        population: figures of all rows, where the record is an excerpt of them.
        root: folder where the paths of node ids start; images of cases are read below it and shown if they
            have the digest in the record. None to read no file.
        parquet: whether the results are written as Parquet, too; it needs pyarrow.

    Raises:
        DataError: if the file is not a record.
        ConfigurationError: if a file would be replaced that no earlier run wrote, or the folder holds the
            record of another run.
    """
    record, output = Path(record), Path(output)
    run = read_run(record)
    known = registry or Registry()
    target = OutputFolder(output)
    target.check(name for name in REPORT_FILES if name != FILE)
    _check_record(output, record, run)
    inputs = _Inputs(
        record=record,
        run=run,
        evaluators=run.evaluators,
        aggregates=aggregates_of(run, known) if aggregates is None else aggregates,
        storage_mb=storage_mb,
        more=more,
        registry=known,
        comparison=comparison,
        history=history,
        attached=tuple(attached),
        extras=extras_of(run),
        population=population,
        root=None if root is None else Path(root),
        parquet=parquet,
    )
    with target.building() as draft:
        content = _write_files(draft, inputs)
        target.publish(draft)
    return _report(output, inputs, content)


def _report(output: Path, inputs: _Inputs, content: Content) -> Report:
    folders = explainer_folders(output, inputs.run)
    return Report(
        page=output / PAGE,
        data=output / DATA,
        markdown=output / SUMMARY,
        archive=output / ARCHIVE,
        explainers={id: folder.path for id, folder in folders.items()},
        analysis=content.analysis,
        summary=content.summary,
        warnings=tuple(content.warnings),
        extras=inputs.extras,
    )


def _check_record(output: Path, record: Path, run: Run) -> None:
    """Refuse to write a report next to the record of another run."""
    other = output / FILE
    if not other.is_file() or other.samefile(record):
        return
    if read_run(other).run_id != run.run_id:
        raise ConfigurationError(
            f"{output}: contains the record of another run; choose another folder for this report"
        )


class _Inputs(Struct, frozen=True, kw_only=True):
    """Content and options of a report; the attributes are those of `build_report`."""

    record: Path
    run: Run
    evaluators: Mapping[str, EvaluatorEntry]
    aggregates: Mapping[str, Aggregates]
    storage_mb: float | None
    more: Mapping[str, More]
    registry: Registry
    comparison: Comparison | None
    history: History | None
    attached: tuple[object, ...]
    extras: tuple[RunExtra, ...]
    population: Population | None
    root: Path | None
    parquet: bool


@uncollected()
def _write_files(output: Path, inputs: _Inputs) -> Content:
    """Write all files of a report into an empty folder; return what they are made of."""
    run, evaluators = inputs.run, inputs.evaluators
    folders = explainer_folders(output, run)
    exports = Exports()
    with Archive(output / ARCHIVE) as archive, TextStore() as texts:
        archive.add(inputs.record, FILE)
        failures = FailureBook(run, evaluators)
        is_table = inputs.population is not None
        failed = FailedItems(run, evaluators, inputs.comparison, folds_answers=is_table)
        columns = Columns(run, evaluators, inputs.comparison)
        data = PageData(columns, texts, evaluators, inputs.comparison, root=inputs.root)
        with row_writer(inputs.record, output, run, has_parquet=inputs.parquet) as row_files:
            consumers = {"failures": failures.add, "cases of the page": data.add}
            analysis = _analyse(
                inputs,
                [*row_files.consumers, *(exports.guarded(*consumer) for consumer in consumers.items())],
                exports.guarded("failed items", failed.add),
            )
        exports.warnings += row_files.files.warnings
        # The largest files first: they are packed while the others are written.
        packed = dict.fromkeys(path for folder in folders.values() for path in tree(folder.results))
        _pack(archive, output, packed)
        is_step = is_artifact(inputs.record)
        summary = summarise(analysis, inputs.comparison, inputs.extras, is_step=is_step)
        content = Content(
            analysis,
            summary=summary,
            failed=failed,
            groups=failed.groups(summary.causes),
            thresholds=thresholds_in_force(analysis, data.columns, inputs.registry),
            failures=failures,
            folders=folders,
            columns=data.columns,
            record=inputs.record,
            warnings=exports.warnings,
            comparison=inputs.comparison,
            history=inputs.history,
            attached=inputs.attached,
            extras=inputs.extras,
            tools=data.tools,
        )
        for id, folder in folders.items():
            with exports.of(f"evaluator {id}"):
                write_explainer(content, folder, rows=row_files.files.rows.get(id, 0))
            _pack(archive, output, (path for path in tree(folder.path) if path not in packed))
        with exports.of(DATA, output / DATA):
            write_json(output / DATA, interpretation(analysis, summary, folders, row_files.files.models))
        _write_summaries(output, content, exports)
        _write_page(output / PAGE, content, inputs, data, exports)
        for name in (PAGE, DATA, SUMMARY, COMPARISON, *row_files.files.agent_evaluation):
            if (output / name).is_file():
                is_small = name != PAGE or (output / name).stat().st_size < LARGE_PAGE
                archive.add(output / name, name, compress=is_small)
    return content


def _analyse(
    inputs: _Inputs, consumers: Iterable[Consumer], on_failure: Callable[[Item, CauseKey], None]
) -> Analysis:
    """Analyse the record while the consumers take its items; models are in natural order."""
    analysis = analyse(
        inputs.record,
        inputs.aggregates,
        storage_mb=inputs.storage_mb,
        also=tuple(consumers),
        on_failure=on_failure,
        terms={term: value for extra in inputs.extras for term, value in extra.term_values().items()},
        population=inputs.population,
    )
    # model-2 before model-10
    models = sorted(analysis.models, key=lambda model: (natural_key(model.name), model.key))
    return replace(analysis, models=tuple(models))


def _write_summaries(output: Path, content: Content, exports: Exports) -> None:
    with exports.of(SUMMARY, output / SUMMARY):
        _write_text(output / SUMMARY, markdown.summary(content))
    if content.comparison is not None:
        with exports.of(COMPARISON, output / COMPARISON):
            _write_text(output / COMPARISON, as_json(content.comparison) + "\n")


def _write_page(path: Path, content: Content, inputs: _Inputs, data: PageData, exports: Exports) -> None:
    with exports.of(PAGE, path), open_text(path) as file:
        sections = contributed_sections(content.analysis, inputs.more)
        file.writelines(
            page.page_pieces(
                content, inputs.registry, sections, data.blocks(content.analysis, content.summary)
            )
        )


def _pack(archive: Archive, output: Path, files: Iterable[Path]) -> None:
    for path in files:
        archive.add(path, path.relative_to(output).as_posix(), compress=path.suffix not in COMPRESSED)


def _write_text(path: Path, text: str) -> None:
    with open_text(path) as file:
        file.write(text)
