"""Sources of answers beside the record of a run: optional parts bring them, such as scored tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from pytest_evalstudio.core.plugins.contrib import contribs, loaded

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits
    from pytest_evalstudio.analysis.comparison.results import Comparison
    from pytest_evalstudio.core.plugins.registry import Registry
    from pytest_evalstudio.report.build import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Answers of a source that are read where all of them would need too much memory.

    Attributes:
        keys: of their test cases; None for a random sample.
        sample: number of answers of the random sample.
        seed: of the sample.
    """

    keys: Collection[str] | None = None
    sample: int = 20_000
    seed: int = 0


class Source(Protocol):
    """Kind of source.

    Attributes:
        name: in messages, with its article: "a scored table".
    """

    name: str

    def recognises(self, path: str) -> bool:
        """Return True if a path or URL is one, complete or not."""

    def compare(
        self, base: str, new: str, *, models: Mapping[str, str], limits: ComparisonLimits
    ) -> Comparison:
        """Compare two of them; `models` has the names of models in `new` by those in `base`."""

    def compare_models(self, path: str, base: str, new: str, *, limits: ComparisonLimits) -> Comparison:
        """Compare two models of one of them."""

    def report(self, path: str, output: Path, *, rows: int, seed: int, registry: Registry) -> Report:
        """Build the report of one of them, with so many answers at random beside the worst."""

    def write_record(self, path: str, rows: Rows, folder: Path) -> Path:
        """Write the record of some of its answers, and return its path."""


def source_of(path: str) -> Source | None:
    """Return the source that a path or URL is, None for a record of a run."""
    sources: Iterator[Source] = (loaded(contrib.source) for contrib in contribs() if contrib.source)
    return next((source for source in sources if source.recognises(path)), None)


@contextmanager
def as_records(paths: Sequence[str], rows: Rows) -> Iterator[list[str]]:
    """Replace each source among paths by the record of some of its answers.

    Args:
        paths: records, folders of reports, results files and other sources.
        rows: answers that are read of the others.

    Raises:
        DataError: if a source is incomplete or damaged.
    """
    with TemporaryDirectory(prefix="evalstudio-") as folder:
        records = []
        for number, path in enumerate(paths):
            source = source_of(path)
            if source is not None:
                path = str(source.write_record(path, rows, Path(folder) / str(number)))
            records.append(path)
        yield records
