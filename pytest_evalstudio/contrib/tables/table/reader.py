"""Reader of scored tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from pytest_evalstudio.contrib.tables.scored_record import (
    AnswerRow,
    PartEntry,
    ScoredManifest,
    decode_manifest,
)
from pytest_evalstudio.contrib.tables.sketches import check_sketch
from pytest_evalstudio.contrib.tables.table.columns import DIGESTS, ROW_ID, answer_schema, score_schema
from pytest_evalstudio.contrib.tables.table.recognition import MANIFEST, PROGRESS
from pytest_evalstudio.contrib.tables.table.storage import EXTRA, PURPOSE, Location, reaching
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.extras import import_extra

if TYPE_CHECKING:
    import os

SCORES = "scores"
ANSWERS = "answers"


def distinct_rows(answers: Mapping[int, AnswerRow], row_ids: Sequence[int]) -> list[int]:
    """Return rows without those that repeat model, question and answer; rows without texts stay."""
    texts: dict[object, int] = {}
    for row_id in row_ids:
        answer = answers.get(row_id)
        key = (answer.model, answer.input, answer.actual_output) if answer is not None else row_id
        texts.setdefault(key, row_id)
    return list(texts.values())


class ScoredTable:
    """A complete scored table.

    Attributes:
        location: its folder.
        manifest: its header, with the aggregates.
    """

    def __init__(self, location: Location, manifest: ScoredManifest) -> None:
        self.location = location
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, redirects: bool = True) -> Self:
        """Open a scored table by its path or URL.

        Args:
            path: of the table.
            redirects: whether a web server may redirect to another address.

        Raises:
            DataError: if it is incomplete, no scored table, or of another version.
        """
        location = Location.of(str(path), redirects=redirects)
        manifest = location.child(MANIFEST)
        if not manifest.exists():
            if location.child(PROGRESS).exists():
                raise DataError(
                    f"is incomplete: it has no {MANIFEST}; finish it by the same `evalstudio score` command"
                    " with --resume",
                    source=location.name,
                )
            raise DataError(
                f"is not a scored table: it has no {MANIFEST}; give a folder that `evalstudio score` wrote",
                source=location.name,
            )
        try:
            content = decode_manifest(manifest.read())
            _check_parts(content)
            _check_sketches(content)
            return cls(location, content)
        except ValueError as exc:
            raise DataError(
                f"is not the manifest of a scored table: {exc}; run `evalstudio score` again",
                source=manifest.name,
            ) from None

    def scores(self, columns: Sequence[str] | None = None, filter: Any = None) -> Iterator[Any]:
        """Return the rows of `scores/` as Arrow record batches.

        Args:
            columns: names; all where not given.
            filter: `pyarrow.dataset` expression.

        Raises:
            DataError: if a file is missing or corrupt.
        """
        schema = score_schema(self.manifest.groups)
        return self._batches(self.manifest.scores, schema, columns, filter)

    def answers(
        self, columns: Sequence[str] | None = None, filter: Any = None, *, row_ids: Collection[int] = ()
    ) -> Iterator[Any]:
        """Return the rows of `answers/` as Arrow record batches.

        Args:
            columns: names; all where not given.
            filter: `pyarrow.dataset` expression.
            row_ids: read only files that may have one of these; all files where not given.

        Raises:
            DataError: if a file is missing or corrupt, or has no digest of an answer.
        """
        parts = self.manifest.answer_parts
        if row_ids:
            sorted_ids = sorted(row_ids)
            parts = tuple(part for part in parts if _has_any(part, sorted_ids))
        for batch in self._batches(parts, answer_schema(self.manifest.groups), columns, filter):
            for name in DIGESTS:
                if name in batch.schema.names and batch[name].null_count:
                    raise DataError(
                        f"{ANSWERS}/ has answers without {name}; run `evalstudio score` again",
                        source=self.location.name,
                    )
            yield batch

    def answers_of(self, row_ids: Collection[int]) -> dict[int, AnswerRow]:
        """Return the answers with these row ids, as far as the table has them."""
        if not row_ids:
            return {}
        dataset = import_extra("pyarrow.dataset", PURPOSE, extra=EXTRA)
        mask = dataset.field(ROW_ID).isin(list(row_ids))
        rows = {}
        for batch in self.answers(filter=mask, row_ids=row_ids):
            for values in batch.to_pylist():
                groups = {name: values.pop(name) or "" for name in self.manifest.groups}
                context = tuple(values.pop("context") or ())
                # None of a digest means that it is unknown; None of a text is an empty text.
                digests = {name: values.pop(name) for name in DIGESTS}
                texts: dict[str, Any] = {
                    name: "" if value is None else value for name, value in values.items()
                }
                rows[values[ROW_ID]] = AnswerRow(**texts, **digests, context=context, groups=groups)
        return rows

    def _batches(
        self, parts: Sequence[PartEntry], schema: Any, columns: Sequence[str] | None, filter: Any
    ) -> Iterator[Any]:
        if not parts:
            return
        dataset = import_extra("pyarrow.dataset", PURPOSE, extra=EXTRA)
        paths = [f"{self.location.path.rstrip('/')}/{part.path}" for part in parts]
        with reaching(self.location.name):
            # With the schema, columns that older tables lack are null.
            source = dataset.dataset(paths, schema=schema, format="parquet", filesystem=self.location.fs)
            names = list(columns) if columns is not None else None
            yield from source.to_batches(columns=names, filter=filter)


def _check_parts(manifest: ScoredManifest) -> None:
    """Check that the files of a table are below it.

    Raises:
        ValueError: for the first that is not.
    """
    for part in (*manifest.scores, *manifest.answer_parts):
        steps = part.path.split("/")
        # Also absolute paths, and drives and separators of Windows.
        if "" in steps or ".." in steps or "\\" in part.path or ":" in part.path:
            raise ValueError(f"{part.path!r} is not a file below the table")
        if not 0 <= part.first_row <= part.last_row + 1:
            raise ValueError(
                f"{part.path!r} ends at row {part.last_row}, before its first row {part.first_row}"
            )


def _check_sketches(manifest: ScoredManifest) -> None:
    """Check that sketches can be read, and that each stratum with values has one.

    Raises:
        ValueError: for the first aggregate where it is not so.
    """
    for entry in manifest.aggregates:
        for sketch in (entry.sketch, *(stratum.sketch for stratum in entry.strata)):
            try:
                check_sketch(sketch)
            except ValueError:
                raise ValueError(
                    f"a sketch of the values of {entry.evaluator}.{entry.metric} is damaged"
                ) from None
        if any(stratum.n and not stratum.sketch for stratum in entry.strata):
            raise ValueError(f"a stratum of {entry.evaluator}.{entry.metric} has no sketch of its values")


def _has_any(part: PartEntry, ordered: Sequence[int]) -> bool:
    """Return True if one of the ordered row ids is between the first and the last row of a file."""
    from bisect import bisect_left

    index = bisect_left(ordered, part.first_row)
    return index < len(ordered) and ordered[index] <= part.last_row
