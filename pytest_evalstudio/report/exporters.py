"""Exporters of a report, of which one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import ParamSpec

from pytest_evalstudio.core.errors import exception_text

P = ParamSpec("P")


class Exports:
    """Runs the exporters of a report; one that fails does not stop the others, but a full disk does.

    Attributes:
        warnings: a line for each exporter that failed, with its name and the exception.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []

    @contextmanager
    def of(self, name: str, file: Path | None = None) -> Iterator[None]:
        """Run an exporter; a failure becomes a warning, and its unfinished file is removed.

        Raises:
            OSError: if the folder cannot be written.
        """
        try:
            yield
        except OSError:
            raise
        except Exception as exc:
            self._warn(name, exc)
            if file is not None:
                file.unlink(missing_ok=True)

    def _warn(self, name: str, fault: Exception) -> None:
        reason = exception_text(fault)
        self.warnings.append(f"{name} could not be written: {reason}; the rest of the report is complete")

    @contextmanager
    def open(self, name: str, exporter: AbstractContextManager[object]) -> Iterator[None]:
        """Keep an exporter open; a failure at its end becomes a warning."""
        with ExitStack() as stack:
            stack.enter_context(exporter)
            yield
            with self.of(name):
                stack.close()

    def guarded(self, name: str, consume: Callable[P, None]) -> Callable[P, None]:
        """Return a consumer of items that takes no more of them once it has failed."""
        failed = False

        def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
            nonlocal failed
            if failed:
                return
            # As `of`, which costs more than many a consumer when it is entered for each item.
            try:
                consume(*args, **kwargs)
            except OSError:
                raise
            except Exception as exc:
                failed = True
                self._warn(name, exc)

        return guarded
