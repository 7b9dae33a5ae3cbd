"""Files and folders of any store that fsspec opens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvalStudioError
from pytest_evalstudio.core.extras import import_extra
from pytest_evalstudio.core.reading import check_file
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.scoring.masking import masked

PURPOSE = "scoring a table"
EXTRA = "score"
_MESSAGE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder of a store.

    Attributes:
        fs: the fsspec file system.
        path: within it, without a trailing slash.
        name: as the user wrote it, without a login.
    """

    fs: Any
    path: str
    name: str

    @classmethod
    def of(cls, url: str, *, redirects: bool = True) -> Location:
        """Return the location of a path or URL.

        Args:
            url: path or URL.
            redirects: whether a web server may redirect to another address.

        Raises:
            ConfigurationError: if fsspec or the package of the store is not installed, or there is no such
                kind of store.
        """
        core = import_extra("fsspec.core", PURPOSE, extra=EXTRA)
        name = masked(url)
        with reaching(name):
            is_web = url.lower().startswith(("http://", "https://"))
            options = {"allow_redirects": False} if is_web and not redirects else {}
            fs, path = core.url_to_fs(url, **options)
        return cls(fs, path.rstrip("/") or "/", name.rstrip("/"))

    @property
    def is_local(self) -> bool:
        return "file" in self._protocols

    @property
    def is_web(self) -> bool:
        return "http" in self._protocols

    @property
    def _protocols(self) -> tuple[str, ...]:
        protocol = self.fs.protocol
        return (protocol,) if isinstance(protocol, str) else tuple(protocol)

    def child(self, name: str) -> Location:
        """Return a file or folder below this one."""
        return Location(self.fs, f"{self.path.rstrip('/')}/{name}", f"{self.name}/{name}")

    def exists(self) -> bool:
        with reaching(self.name):
            return bool(self.fs.exists(self.path))

    def is_folder(self) -> bool:
        with reaching(self.name):
            return bool(self.fs.isdir(self.path))

    def names(self) -> list[str]:
        """Return the names of what is directly in this folder, sorted; none where there is no folder."""
        with reaching(self.name):
            # fsspec keeps listings of stores; files may have been written since.
            self.fs.invalidate_cache(self.path)
            try:
                paths = self.fs.ls(self.path, detail=False)
            except (FileNotFoundError, NotADirectoryError):
                return []
        return sorted(name for path in paths if (name := path.rstrip("/").rpartition("/")[2]))

    def open(self) -> IO[bytes]:
        """Open the file for reading."""
        with reaching(self.name):
            self.check_file()
            file: IO[bytes] = self.fs.open(self.path, "rb")
        return file

    def read(self) -> bytes:
        """Return the content of the file."""
        with reaching(self.name):
            self.check_file()
            content: bytes = self.fs.cat_file(self.path)
        return content

    def check_file(self) -> None:
        """Refuse a pipe or device, which fsspec would wait for."""
        if self.is_local:
            check_file(self.path)

    def write(self, content: bytes) -> None:
        """Write the file whole or not at all; object stores do so by themselves."""
        with reaching(self.name):
            if self.is_local:
                path = Path(self.path)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
                return
            self.fs.pipe_file(self.path, content)

    def remove(self) -> None:
        """Remove the file, or the folder with all that is in it, if it is there."""
        with reaching(self.name):
            if self.fs.exists(self.path):
                self.fs.rm(self.path, recursive=True)


@contextmanager
def reaching(name: str) -> Iterator[None]:
    """Turn the faults of a store into one sentence each.

    Raises:
        ConfigurationError: if the store is not known, or its package is not installed.
        DataError: if the store or file cannot be reached.
    """
    try:
        yield
    except EvalStudioError:
        raise
    except FileNotFoundError:
        raise DataError("there is no such file or folder", source=name) from None
    except PermissionError as exc:
        raise DataError(
            f"the store refuses access; check the credentials ({_brief(exc)})", source=name
        ) from None
    except ImportError as exc:
        raise ConfigurationError(
            f"{name}: the package of this store is not installed: {_brief(exc)}"
        ) from None
    # fsspec raises ValueError for a protocol that it does not know.
    except ValueError as exc:
        raise ConfigurationError(
            f"{name}: {_brief(exc)}; give a path or a URL that fsspec opens, e.g. s3://"
        ) from None
    except OSError as exc:
        if exc.errno is None or isinstance(exc, ConnectionError | TimeoutError):
            raise _unreachable(name, exc) from None
        raise DataError(f"cannot be read or written: {exc.strerror or _brief(exc)}", source=name) from None
    except Exception as exc:  # each store raises errors of its own client
        raise _unreachable(name, exc) from None


def _unreachable(name: str, exc: Exception) -> DataError:
    return DataError(
        f"the store cannot be reached: {_brief(exc)}; check address and credentials", source=name
    )


def _brief(exc: Exception) -> str:
    lines = str(exc).strip().splitlines()
    name = type(exc).__name__
    return f"{name}: {masked(lines[0])[:_MESSAGE_CHARS]}" if lines else name
