"""Output folders: locked during a run, with a manifest of the files that earlier runs wrote."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.core.reading import open_file, read_utf8
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.record.writer import FILE

MANIFEST = ".evalstudio-manifest.json"
LOCK = ".evalstudio-lock"
BUILDING = ".evalstudio-building"
UNFINISHED = ".evalstudio-unfinished.json"
"""Mark of a run that has not ended; see `asking.runs`."""
_STATE = (MANIFEST, LOCK, BUILDING, UNFINISHED)
PREVIOUS = "previous-report"
PAGE = "interpretation.html"
REPORT_FILES = (
    *(FILE, PAGE, "interpretation.json", "summary.md", "evalstudio-report.zip"),
    *("agent_evaluation.json", "agent_evaluation.jsonl", "comparison.json"),
)
EXPLAINER_PREFIX = "explainer_"
DESCRIPTOR = "result_descriptor.json"
PRODUCER = "pytest-evalstudio"
_OTHER_FOLDER = "choose another folder with --evalstudio-output (`evalstudio report`: -o)"
_LINK = "is a symbolic link, and files are not written through links"
_FOREIGN = "no earlier run wrote it, and it would be overwritten"
_PAGE_MARK = b'<p class="kicker">pytest-evalstudio</p>'
_RECORD_MARK = b'{"kind": "run", "schema_version": '
_PAGE_HEAD_BYTES = 1 << 20


class OutputFolder:
    """Output folder, in which only files of earlier runs are replaced or deleted.

    The manifest lists these files. In a folder without a manifest, e.g. the unpacked archive of a report,
    the report files count as listed if its record or page is of this package.

    Args:
        path: the folder; it may not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out of the folder.

        Raises:
            ConfigurationError: if another run uses it, or it cannot be used at all.
        """
        with ExitStack() as held:
            try:
                self.check([])
                self.path.mkdir(parents=True, exist_ok=True)
                held.enter_context(locked(self.path / LOCK, wait=False))
                for draft in self.path.glob(f".{MANIFEST}.*.tmp"):  # of a run that was killed
                    draft.unlink()
            except BlockingIOError:
                raise ConfigurationError(
                    f"{self.path}: the folder is in use by another run; {_OTHER_FOLDER}"
                ) from None
            except OSError as exc:
                fact = f"the folder cannot be written to ({exc.strerror or exc})"
                raise ConfigurationError(f"{self.path}: {fact}; {_OTHER_FOLDER}") from None
            yield

    def check(self, names: Iterable[str]) -> None:
        """Refuse to replace files that no earlier run wrote.

        Args:
            names: files and folders that are about to be written, relative to the folder.

        Raises:
            ConfigurationError: for the first of them that is foreign or a symbolic link.
        """
        # Only below the current folder: links above it are the machine's own.
        for path in _below_here(self.path):
            if path.is_symlink():
                raise ConfigurationError(f"{path}: {_LINK}; {_OTHER_FOLDER}")
        owned = self.owned()
        folders = {str(parent) for name in owned for parent in PurePosixPath(name).parents}
        for name in (*_STATE, *names):
            path = self.path / name
            if path.is_symlink():
                raise ConfigurationError(f"{path}: {_LINK}; {_OTHER_FOLDER}")
            is_ours = name in _STATE or name in owned or name in folders or self._is_left_empty(name)
            if path.exists() and not is_ours:
                raise ConfigurationError(f"{path}: {_FOREIGN}; {_OTHER_FOLDER}")

    def owned(self) -> frozenset[str]:
        """Return the files in the folder that earlier runs wrote, as relative POSIX paths."""
        listed = self._listed()
        names = self._recognised() if listed is None else listed
        return frozenset(name for name in names if self._is_plain_file(name))

    def list_files(self, names: Iterable[str]) -> None:
        """Replace the manifest."""
        content = {"producer": PRODUCER, "schema_version": 1, "files": sorted(set(names))}
        write_whole(self.path / MANIFEST, (json.dumps(content, indent=1) + "\n").encode())

    def set_aside(self, *, keep: frozenset[str] = frozenset()) -> None:
        """Move an earlier report into the folder `previous-report`; remove what an unfinished run left.

        Args:
            keep: files that stay where they are.
        """
        owned = self.owned()
        earlier = frozenset(name for name in owned if _is_below(name, PREVIOUS))
        current = owned - earlier - keep
        # Without a page the files are those of a run that did not finish: no report to set aside.
        if PAGE not in current:
            self._remove(current)
            self.list_files(owned - current)
            return
        self._remove(earlier)
        names = [f"{PREVIOUS}/{name}" for name in current]
        # Both places are listed during the move: where a run is killed, no file counts as foreign.
        self.list_files([*(owned - earlier), *names])
        # Remove the page first, and write it last: it is never in the folder without its files.
        _move(self.path, self.path / PREVIOUS, sorted(current, key=lambda name: name != PAGE))
        self._remove_empty_folders(current)
        self.list_files([*(keep & owned), *names])

    def remove_all(self) -> None:
        """Delete the files of our earlier runs, and the manifest."""
        self._remove(self.owned())
        for name in (MANIFEST, UNFINISHED):
            (self.path / name).unlink(missing_ok=True)

    def restore(self) -> None:
        """Move the report of `previous-report` back, after a run that left no report of its own."""
        owned = self.owned()
        earlier = {name.removeprefix(f"{PREVIOUS}/"): name for name in owned if _is_below(name, PREVIOUS)}
        if not earlier:
            return
        # Both places are listed, as in `set_aside`.
        self.list_files([*owned, *earlier])
        # The page last, so that it is never there without its files.
        _move(self.path / PREVIOUS, self.path, sorted(earlier, key=lambda name: name == PAGE))
        self._remove_empty_folders(earlier.values())
        self.list_files(earlier)

    @contextmanager
    def building(self) -> Iterator[Path]:
        """Provide an empty folder for a new report, and remove it at the end."""
        # Within the folder: files can be moved in one step only within one file system.
        draft = self.path / BUILDING
        _remove_tree(draft)
        draft.mkdir(parents=True)
        try:
            yield draft
        finally:
            _remove_tree(draft)

    def publish(self, draft: Path) -> None:
        """Move a finished report into the folder, its page last, in place of an earlier one.

        A record in the folder stays where it is.
        """
        names = [path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file()]
        self.check({name.split("/")[0] for name in names})
        self.set_aside(keep=frozenset([FILE]))
        valid_names = self.owned()
        self.list_files([*valid_names, *names])
        _move(draft, self.path, sorted(names, key=lambda name: (name == PAGE, name)))
        self._remove([name for name in valid_names if _is_below(name, PREVIOUS)])
        self._remove_empty_folders([f"{PREVIOUS}/{PAGE}"])  # of a run that was killed
        self.list_files([name for name in (*valid_names, *names) if not _is_below(name, PREVIOUS)])

    def _listed(self) -> list[str] | None:
        try:
            content = json.loads(read_utf8(self.path / MANIFEST))
            names = content["files"] if content["producer"] == PRODUCER else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # a damaged manifest lists nothing: then no file is taken for one of ours
            return None
        return [name for name in names if _is_name_of_ours(name)] if isinstance(names, list) else None

    def _recognised(self) -> list[str]:
        """Return the names of report files, by the record, the page and the descriptors in the folder."""
        is_report = _begins_with(self.path / FILE, _RECORD_MARK) or _holds(self.path / PAGE, _PAGE_MARK)
        names = list(REPORT_FILES) if is_report else []
        for folder in self.path.glob(f"{EXPLAINER_PREFIX}*"):
            if not folder.is_symlink() and _is_described(folder / DESCRIPTOR):
                names += [path.relative_to(self.path).as_posix() for path in folder.rglob("*")]
        return names

    def _is_plain_file(self, name: str) -> bool:
        """Return whether a name leads to a regular file, through no symbolic link."""
        path = self.path / name
        parents = [self.path / parent for parent in PurePosixPath(name).parents if str(parent) != "."]
        return path.is_file() and not any(part.is_symlink() for part in (path, *parents))

    def _is_left_empty(self, name: str) -> bool:
        """Return True for a folder without files, as a process leaves that is killed while it moves files."""
        return name not in REPORT_FILES and (self.path / name).is_dir() and not _files(self.path, name)

    def _remove(self, names: Iterable[str]) -> None:
        names = list(names)
        # The page first: without its files it would show a damaged report.
        for name in sorted(names, key=lambda name: PurePosixPath(name).name != PAGE):
            (self.path / name).unlink(missing_ok=True)
        self._remove_empty_folders(names)

    def _remove_empty_folders(self, names: Iterable[str]) -> None:
        folders = {parent for name in names for parent in PurePosixPath(name).parents if str(parent) != "."}
        # The deepest first, since a folder with folders in it is not empty.
        for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
            with suppress(OSError):  # the folder contains other files
                (self.path / folder).rmdir()


def _move(source: Path, target: Path, names: Sequence[str]) -> None:
    """Move files in their order from one folder to another.

    A folder in it that holds nothing else is renamed as a whole, when the first of its files is due.
    """
    members: dict[str, set[str]] = {}
    for name in names:
        top, slash, _ = name.partition("/")
        if slash:
            members.setdefault(top, set()).add(name)
    whole = {
        top for top, files in members.items() if not (target / top).exists() and _files(source, top) == files
    }
    moves = dict.fromkeys(top if (top := name.partition("/")[0]) in whole else name for name in names)
    for name in moves:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        os.replace(source / name, target / name)


def _files(folder: Path, top: str) -> set[str]:
    """Return the paths below a folder in `folder` that are no folders themselves, relative to `folder`."""
    return {
        path.relative_to(folder).as_posix()
        for path in (folder / top).rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


def _below_here(path: Path) -> list[Path]:
    """Return a folder and those of its parents that are below the current folder."""
    directory, absolute = Path.cwd(), Path(os.path.abspath(path))
    return [
        absolute,
        *(parent for parent in absolute.parents if parent != directory and parent.is_relative_to(directory)),
    ]


def _is_below(name: str, folder: str) -> bool:
    return name.startswith(f"{folder}/")


def _is_name_of_ours(name: object) -> bool:
    """Return True if a manifest's entry can be a file of this package.

    A manifest may have been copied together with files from elsewhere.
    """
    if not isinstance(name, str) or "\0" in name or "\\" in name:
        return False
    parts = name.split("/")
    if parts[0] == PREVIOUS:
        parts = parts[1:]
    if not parts or any(part in ("", ".", "..") for part in parts):
        return False
    return (len(parts) == 1 and parts[0] in REPORT_FILES) or (
        len(parts) > 1 and parts[0].startswith(EXPLAINER_PREFIX)
    )


def _begins_with(path: Path, mark: bytes) -> bool:
    try:
        with open_file(path) as file:
            return file.read(len(mark)) == mark
    except OSError:  # what cannot be read is not ours, and stays
        return False


def _holds(path: Path, mark: bytes) -> bool:
    try:
        with open_file(path) as file:
            return mark in file.read(_PAGE_HEAD_BYTES)
    except OSError:  # what cannot be read is not ours, and stays
        return False


def _is_described(descriptor: Path) -> bool:
    try:
        content = json.loads(read_utf8(descriptor))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("producer") == PRODUCER


def _remove_tree(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
