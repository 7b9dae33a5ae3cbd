"""Files of an evaluator's folder, declared in one table, and their writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.record.outputs import DESCRIPTOR, PRODUCER
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.report import markdown, page, parquet
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.exports import (
    SCHEMA_VERSION,
    insight_entries,
    leaderboard_entry,
    leaderboard_index,
    leaderboard_tables,
    log_lines,
    model_wide_tables,
    problem_entries,
)
from pytest_evalstudio.report.folders import (
    LOG,
    PARQUET,
    RESULTS,
    Archive,
    ExplainerFolder,
    OutputPath,
    describe_format,
    tree,
)
from pytest_evalstudio.report.results import open_text, write_json


class Explainer(Struct, frozen=True, kw_only=True):
    """Content of an evaluator's folder."""

    folder: ExplainerFolder
    content: Content

    @property
    def id(self) -> str:
        """Return the evaluator's id."""
        return self.folder.info.id

    @property
    def board(self) -> Leaderboard:
        """Return the evaluator's leaderboard."""
        return self.content.analysis.leaderboards[self.id]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output(OutputPath):
    """A file of an evaluator's folder and its writer: at most one of the four last attributes.

    Attributes:
        text: returns a text.
        json: returns an object of JSON.
        each: returns the objects of several numbered files.
        pack: returns the files of an archive.
    """

    text: Callable[[Explainer], str] | None = None
    json: Callable[[Explainer], object] | None = None
    each: Callable[[Explainer], Sequence[object]] | None = None
    pack: Callable[[Explainer], Sequence[Path]] | None = None

    def write(self, explainer: Explainer) -> None:
        """Write the file or files; results are written while the items are read."""
        path = explainer.folder.path_of(self)
        if self.text is not None:
            with open_text(path) as file:
                file.write(self.text(explainer))
        elif self.json is not None:
            write_json(path, self.json(explainer))
        elif self.each is not None:
            for n, content in enumerate(self.each(explainer)):
                write_json(explainer.folder.path_of(self, n), content)
        elif self.pack is not None:
            with Archive(path) as archive:
                for part in self.pack(explainer):
                    archive.add(part, part.relative_to(explainer.folder.path).as_posix())


def _board_markdown(explainer: Explainer) -> str:
    return markdown.leaderboard(explainer.board)


OUTPUTS = (
    Output(
        path=f"{RESULTS}/application_json/explanation.json", title="Results, JSON", mime="application/json"
    ),
    Output(path=f"{RESULTS}/text_csv/explanation.csv", title="Results, CSV", mime="text/csv"),
    Output(path=PARQUET, title="Results, Parquet", mime=parquet.MIME),
    Output(
        path="{board}/application_json/explanation.json",
        title="Leaderboard, JSON",
        mime="application/json",
        json=lambda explainer: leaderboard_index(explainer.board),
    ),
    Output(
        path="{board}/application_json/leaderboard_{n}.json",
        mime="application/json",
        each=lambda explainer: leaderboard_tables(explainer.board),
    ),
    Output(
        path="{board}/text_markdown/explanation.md",
        title="Leaderboard, Markdown",
        mime="text/markdown",
        text=_board_markdown,
    ),
    Output(
        path="{board}/application_vnd_h2oai_evalstudio_leaderboard_markdown/explanation.md",
        mime="application/vnd.h2oai-evalstudio-leaderboard.markdown",
        text=_board_markdown,
    ),
    Output(
        path="{board}/text_html/explanation.html",
        title="Leaderboard, HTML",
        mime="text/html",
        text=lambda explainer: page.render_leaderboard(explainer.content, explainer.board),
    ),
    Output(
        path="global_html_fragment/text_html/explanation.html",
        mime="text/html",
        text=lambda explainer: page.render_evaluator(explainer.content, explainer.id),
    ),
    Output(
        path="problems/problems_and_actions.json",
        title="Problems, JSON",
        json=lambda explainer: problem_entries(explainer.content.analysis, explainer.id),
    ),
    Output(
        path="insights/insights_and_actions.json",
        title="Insights, JSON",
        json=lambda explainer: insight_entries(explainer.content.analysis, explainer.id),
    ),
    Output(path="work/leaderboard.json", json=lambda explainer: leaderboard_entry(explainer.board)),
    Output(path="work/model-wide-{n}.json", each=lambda explainer: model_wide_tables(explainer.board)),
    Output(  # after the files of `work`
        path="global_work_dir_archive/application_zip/explanation.zip",
        title="Work files, ZIP",
        mime="application/zip",
        pack=lambda explainer: tree(explainer.folder.work),
    ),
    Output(
        path=LOG,
        title="Log",
        text=lambda explainer: "".join(
            f"{line}\n" for line in log_lines(explainer.content.analysis, explainer.board)
        ),
    ),
)
"""Files of an evaluator, in the order of writing and of their links; the descriptor comes last."""


def outputs_of(info: EvaluatorEntry) -> tuple[Output, ...]:
    """Return the files of an evaluator: without its results where the configuration leaves them out."""
    return tuple(
        output for output in OUTPUTS if info.save_llm_result or not output.path.startswith(f"{RESULTS}/")
    )


def write_explainer(content: Content, folder: ExplainerFolder, *, rows: int) -> None:
    """Write all files of an evaluator except its results, which already exist.

    Args:
        rows: lines of its results.
    """
    explainer = Explainer(folder=folder, content=content)
    for output in OUTPUTS:
        output.write(explainer)
    formats = {folder.path_of(output).parent: output.mime for output in OUTPUTS if output.mime}
    for path, mime in formats.items():
        if path.is_dir():
            figures = {"rows": rows} if path.parent == folder.results else {}
            describe_format(path.parent, path.name, mime, **figures)
    _write_descriptor(folder, content.analysis.run.run_id)


def _write_descriptor(folder: ExplainerFolder, run_id: str) -> None:
    """Write the folder's descriptor, which marks it as written by this package; must be the last file."""
    write_json(
        folder.path / DESCRIPTOR,
        {
            "schema_version": SCHEMA_VERSION,
            "producer": PRODUCER,
            "run_id": run_id,
            "id": folder.uuid,
            "evaluator": {"id": folder.info.id, "name": folder.info.name, "type": folder.info.type},
            "explanations": folder.explanations(),
            "files": [path.relative_to(folder.path).as_posix() for path in tree(folder.path)],
        },
    )
