"""Revisions of a repository: files are read from git's objects, nothing is checked out and no hook runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.errors import DataError

_DEFAULT_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_TIMEOUT_S = 120
_COMMAND = (
    "git",
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
)
_LINK, _SUBMODULE = "120000", "160000"
"""Modes of entries of a tree."""
_BATCH_WORDS = 3
"""Words of the line before each object: digest, type and size."""
WORKING_TREE = ""
"""In place of a revision: the files of the working tree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """A git repository.

    Attributes:
        root: of the working tree.
        prefix: folder that the command was started in, relative to the root; "" for the root.
    """

    root: Path
    prefix: str

    @classmethod
    def of(cls, folder: Path) -> Repository:
        """Return the repository of a folder.

        Raises:
            DataError: if it is in none, or git is not installed.
        """
        try:
            root = _git(folder, "rev-parse", "--show-toplevel").strip()
        except DataError as exc:
            raise DataError(
                f"{exc.message}; run the command in the project's repository, with its history"
                " (`fetch-depth: 0` in GitHub Actions)",
                source=str(folder),
            ) from None
        prefix = _git(folder, "rev-parse", "--show-prefix").strip().rstrip("/")
        return cls(root=Path(root).resolve(), prefix=prefix)

    def commit(self, revision: str) -> str:
        """Return the commit of a revision.

        Raises:
            DataError: if there is none.
        """
        try:
            return _git(
                self.root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
            ).strip()
        except DataError:
            raise DataError(
                f"the repository has no revision {revision!r}; fetch it, or give another one"
            ) from None

    def default_base(self, head: str) -> str:
        """Return the commit that a revision has left the default branch at.

        Raises:
            DataError: if there is no default branch.
        """
        for branch in _DEFAULT_BRANCHES:
            try:
                return _git(self.root, "merge-base", branch, head or "HEAD").strip()
            except DataError:
                continue
        raise DataError(
            f"there is no default branch ({', '.join(_DEFAULT_BRANCHES)}); give the protected revision by"
            " --base REF"
        )

    @contextmanager
    def files_of(self, revision: str) -> Iterator[Path]:
        """Provide the files of a revision, or of the working tree, in a folder that is removed afterwards."""
        with tempfile.TemporaryDirectory(prefix="evalstudio-") as name:
            folder = Path(name).resolve() / "files"
            folder.mkdir()
            if revision == WORKING_TREE:
                self._copy_working_tree(folder)
            else:
                self._extract(revision, folder)
            yield folder

    def changed_files(self, base: str, head: str) -> dict[str, str]:
        """Return the paths of files that differ, each with git's letter: A, D, M, R, T."""
        revisions = [base] if head == WORKING_TREE else [base, head]
        text = _git(
            self.root,
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--name-status",
            "-z",
            "--no-renames",
            *revisions,
            "--",
        )
        parts = text.split("\0")
        files = dict(zip(parts[1::2], parts[::2], strict=False))
        if head == WORKING_TREE:
            untracked = _git(self.root, "ls-files", "-z", "--others", "--exclude-standard")
            files.update(dict.fromkeys(filter(None, untracked.split("\0")), "A"))
        return dict(sorted(files.items()))

    def text(self, revision: str, path: str) -> str | None:
        """Return the text of a file, None where the revision has no such file or it is no text."""
        if revision == WORKING_TREE:
            file = self.root / path
            if file.is_symlink() or not file.is_file():
                return None
            data = file.read_bytes()
        else:
            try:
                data = _git_bytes(self.root, "cat-file", "blob", f"{revision}:{path}")
            except DataError:
                return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None

    def _extract(self, revision: str, folder: Path) -> None:
        """Write the files of a revision as git stores them.

        `git archive` and check-outs obey attributes, which leave files out or run filters.
        """
        listing = _git_bytes(self.root, "ls-tree", "-r", "-z", "--full-tree", revision)
        entries = [_tree_entry(line) for line in listing.split(b"\0") if line]
        blobs = [(mode, digest, path) for mode, digest, path in entries if mode != _SUBMODULE]
        with _blobs(self.root) as read:
            for mode, digest, path in blobs:
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                content = read(digest)
                if mode == _LINK:
                    _link(folder, target, os.fsdecode(content))
                else:
                    target.write_bytes(content)

    def _copy_working_tree(self, folder: Path) -> None:
        names = _git(self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in filter(None, names.split("\0")):
            source = self.root / name
            if source.is_symlink() or not source.is_file():
                continue
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def _tree_entry(line: bytes) -> tuple[str, str, str]:
    """Return mode, digest and path of a line of `git ls-tree`."""
    head, _, path = line.partition(b"\t")
    mode, _, digest = head.decode("ascii").split()
    return mode, digest, os.fsdecode(path)


def _link(folder: Path, target: Path, destination: str) -> None:
    """Make a symbolic link; one that leads out of the folder is left out."""
    if Path(os.path.normpath(target.parent / destination)).is_relative_to(folder):
        target.symlink_to(destination)


@contextmanager
def _blobs(folder: Path) -> Iterator[Callable[[str], bytes]]:
    """Provide a function that returns the content of a blob by its digest, by one process of git."""
    process = subprocess.Popen(
        [*_COMMAND, "cat-file", "--batch"],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    requests, replies = process.stdin, process.stdout

    def read(digest: str) -> bytes:
        requests.write(f"{digest}\n".encode("ascii"))
        requests.flush()
        words = replies.readline().split()
        if len(words) != _BATCH_WORDS:
            raise DataError(
                f"the repository lacks the object {digest[:12]}; fetch it (`git fetch --refetch`)"
            )
        content = replies.read(int(words[2]))
        replies.read(1)
        return content

    try:
        yield read
    finally:
        requests.close()
        replies.close()
        process.wait()


def _git(folder: Path, *arguments: str) -> str:
    return _git_bytes(folder, *arguments).decode("utf-8", "surrogateescape")


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}


def _git_bytes(folder: Path, *arguments: str) -> bytes:
    """Run git without hooks, external programs of its configuration, prompts or optional locks.

    Raises:
        DataError: with git's message.
    """
    try:
        done = subprocess.run(
            [*_COMMAND, *arguments],
            cwd=folder,
            env=_environment(),
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise DataError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise DataError(f"git {arguments[0]} took more than {_TIMEOUT_S} s") from None
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise DataError(f"git {arguments[0]}: {message[-1] if message else 'failed'}")
    return done.stdout
