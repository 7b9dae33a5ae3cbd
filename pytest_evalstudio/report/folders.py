"""Folders of each evaluator's files, their descriptions, and the archive."""

from __future__ import annotations

import os
import re
import shutil
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.record.outputs import EXPLAINER_PREFIX
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.report import parquet
from pytest_evalstudio.report.results import write_json

LEADERBOARD_FOLDERS: Mapping[str, str] = {
    "heatmap": "global_llm_heatmap_leaderboard",
    "bool": "global_llm_bool_leaderboard",
    "classification": "global_llm_classification_leaderboard",
}
PARQUET = f"global_llm_eval_results/{parquet.FOLDER}/explanation.parquet"
"""The only file of an evaluator that an installation may lack: it needs pyarrow."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Date of all entries, the earliest that ZIP has: the bytes of an archive depend on its files only."""
_COMPRESSION_LEVEL = 1


RESULTS = "global_llm_eval_results"
LOG = "log/explainer_run_{uuid}.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPath:
    """A file of an evaluator's folder, or several with numbers.

    Attributes:
        path: below the folder; `{board}` is the folder of the leaderboard, `{uuid}` that of the evaluator in
            the run, and `{n}` a number from 0 on.
        title: of its link for readers of the report; "" for a file that only the descriptor lists.
        mime: media type in the `.meta` file beside the file's folder; "" for a file without one.
    """

    path: str
    title: str = ""
    mime: str = ""


class ExplainerFolder:
    """The folder of one evaluator's results.

    Args:
        output: the report's folder.
        run_id: of the record's header.
        outputs: its files.
    """

    def __init__(
        self, output: Path, run_id: str, info: EvaluatorEntry, outputs: Sequence[OutputPath]
    ) -> None:
        self.info = info
        self.uuid = explainer_uuid(run_id, info.id)
        self.name = f"{EXPLAINER_PREFIX}{re.sub(r'[^A-Za-z0-9_.-]', '_', info.id)}_{self.uuid}"
        self.path = output / self.name
        self.results = self.path / RESULTS
        self.work = self.path / "work"
        self._outputs = outputs

    @property
    def log_name(self) -> str:
        """Path of the log file in the folder."""
        return LOG.format(uuid=self.uuid)

    def path_of(self, output: OutputPath, n: int = 0) -> Path:
        """Return the path of a file; of the nth one where there are several."""
        board = LEADERBOARD_FOLDERS[self.info.kind]
        return self.path / output.path.format(board=board, uuid=self.uuid, n=n)

    def files(self) -> list[tuple[str, str]]:
        """Return the exports to link: their titles, and their paths from the report's folder."""
        return [
            (output.title, path.relative_to(self.path.parent).as_posix())
            for output in self._outputs
            if output.title and ((path := self.path_of(output)).is_file() or output.path != PARQUET)
        ]

    def explanations(self) -> list[str]:
        """Return the names of all explanations of the evaluator, as the documents write them.

        The folder of `llm-eval-results` is `global_llm_eval_results`, and so on.
        """
        folders = [self.path_of(output).relative_to(self.path).parts[0] for output in self._outputs]
        return [
            name.removeprefix("global_").replace("_", "-")
            for name in dict.fromkeys(folders)
            if name.startswith("global_")
        ]


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
        # A fault of the packer is raised here, before an earlier archive is replaced.
        for task in self._tasks:
            task.result()
        os.replace(self._unfinished, self._target)

    def _pack(self, path: Path, name: str, method: int) -> None:
        entry = zipfile.ZipInfo(name, _EPOCH)
        entry.compress_type = method
        entry.external_attr = 0o644 << 16  # the mode of Unix; zipfile's own is 0600
        # By the size, zipfile decides before it writes whether the entry needs ZIP64.
        entry.file_size = path.stat().st_size
        entry._compresslevel = _COMPRESSION_LEVEL  # type: ignore[attr-defined]  # open() of an entry has no other way to say it
        with open(path, "rb") as source, self._zip.open(entry, "w") as packed:
            shutil.copyfileobj(source, packed, 1 << 20)


def tree(folder: Path) -> list[Path]:
    """Return all files below a folder."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
