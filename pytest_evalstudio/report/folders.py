"""Folders of each evaluator's files, their descriptions, and the archive."""

from __future__ import annotations

import os
import re
import shutil
import uuid
import zipfile
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo
from pytest_evalstudio.engine.outputs import EXPLAINER_PREFIX
from pytest_evalstudio.report import parquet
from pytest_evalstudio.report.results import write_json

LEADERBOARD_FOLDERS: Mapping[str, str] = {
    "heatmap": "global_llm_heatmap_leaderboard",
    "bool": "global_llm_bool_leaderboard",
    "classification": "global_llm_classification_leaderboard",
}
LEADERBOARD_MARKDOWN = "application_vnd_h2oai_evalstudio_leaderboard_markdown"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_COMPRESSION_LEVEL = 1


class ExplainerFolder:
    """The folder of one evaluator's results.

    Args:
        output: the report's folder.
        run_id: of the record's header.
    """

    def __init__(self, output: Path, run_id: str, info: EvaluatorInfo) -> None:
        self.info = info
        self.uuid = explainer_uuid(run_id, info.id)
        self.name = f"{EXPLAINER_PREFIX}{re.sub(r'[^A-Za-z0-9_.-]', '_', info.id)}_{self.uuid}"
        self.path = output / self.name
        self.results = self.path / "global_llm_eval_results"
        self.leaderboard = self.path / LEADERBOARD_FOLDERS[info.kind]
        self.fragment = self.path / "global_html_fragment"
        self.archive = self.path / "global_work_dir_archive"
        self.insights = self.path / "insights" / "insights_and_actions.json"
        self.problems = self.path / "problems" / "problems_and_actions.json"
        self.log = self.path / "log" / f"explainer_run_{self.uuid}.log"
        self.work = self.path / "work"

    @property
    def log_name(self) -> str:
        """Path of the log file in the folder."""
        return self.log.relative_to(self.path).as_posix()

    def files(self) -> list[tuple[str, str]]:
        """Return the exports to link: their titles, and their paths from the report's folder."""
        paths = [
            ("Results, JSON", self.results / "application_json" / "explanation.json"),
            ("Results, CSV", self.results / "text_csv" / "explanation.csv"),
            *(
                [("Results, Parquet", table)]
                if (table := self.results / parquet.FOLDER / "explanation.parquet").is_file()
                else []
            ),
            ("Leaderboard, JSON", self.leaderboard / "application_json" / "explanation.json"),
            ("Leaderboard, Markdown", self.leaderboard / "text_markdown" / "explanation.md"),
            ("Leaderboard, HTML", self.leaderboard / "text_html" / "explanation.html"),
            ("Problems, JSON", self.problems),
            ("Insights, JSON", self.insights),
            ("Work files, ZIP", self.archive / "application_zip" / "explanation.zip"),
            ("Log", self.log),
        ]
        return [(what, path.relative_to(self.path.parent).as_posix()) for what, path in paths]


def explainer_uuid(run_id: str, evaluator: str) -> str:
    """Return the uuid5 of a run's id and an evaluator's id.

    >>> explainer_uuid("00000000-0000-4000-8000-000000000001", "rouge")
    '707f1a06-6aee-5da1-9acb-fcc2bea5d163'
    """
    try:
        space = uuid.UUID(run_id)
    except ValueError:
        space = uuid.uuid5(uuid.NAMESPACE_URL, run_id)
    return str(uuid.uuid5(space, evaluator))


def describe_format(folder: Path, mime_folder: str, mime: str, **more: object) -> None:
    """Write the `.meta` file next to a format's folder: its MIME type and files."""
    files = sorted(path.name for path in (folder / mime_folder).iterdir())
    write_json(folder / f"{mime_folder}.meta", {"mime": mime, "files": files, **more})


class Archive:
    """ZIP archive whose bytes depend on the files only; a separate thread packs it.

    Use it as a context manager.

    Args:
        target: final path of the complete archive; an earlier file is replaced in one move.
    """

    def __init__(self, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        self._target = target
        self._unfinished = target.with_name(f"{target.name}.tmp")
        self._zip = zipfile.ZipFile(
            self._unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL
        )
        self._packer = ThreadPoolExecutor(1, thread_name_prefix="evalstudio-archive")
        self._tasks: list[Future[None]] = []

    def __enter__(self) -> Archive:
        return self

    def add(self, path: Path, name: str, *, compress: bool = True) -> None:
        """Have a file packed, in the order of the calls; it must not change from here on."""
        self._tasks.append(
            self._packer.submit(
                self._pack, path, name, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            )
        )

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        self._packer.shutdown(cancel_futures=kind is not None)
        self._zip.close()
        if kind is not None:
            self._unfinished.unlink()
            return
        for task in self._tasks:
            task.result()
        os.replace(self._unfinished, self._target)

    def _pack(self, path: Path, name: str, method: int) -> None:
        entry = zipfile.ZipInfo(name, _EPOCH)
        entry.compress_type = method
        entry.external_attr = 0o644 << 16
        entry.file_size = path.stat().st_size
        entry._compresslevel = _COMPRESSION_LEVEL  # type: ignore[attr-defined]  # open() of an entry has no other way to say it
        with open(path, "rb") as source, self._zip.open(entry, "w") as packed:
            shutil.copyfileobj(source, packed, 1 << 20)


def tree(folder: Path) -> list[Path]:
    """Return all files below a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
