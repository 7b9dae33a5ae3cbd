"""`score_table`: scoring of tables from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from pytest_evalstudio.contrib.tables.job import Progress, run_request
from pytest_evalstudio.contrib.tables.options import DEFAULT_CACHE, ScoreKeywords
from pytest_evalstudio.contrib.tables.request import ScoreRequest
from pytest_evalstudio.contrib.tables.table.reader import ScoredTable
from pytest_evalstudio.formats.config import configuration


def score_table(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    evaluators: Sequence[str],
    output: str | os.PathLike[str],
    *,
    mapping: Mapping[str, str] | None = None,
    keep: Sequence[str] | Mapping[str, str] = (),
    config: Mapping[str, object] | None = None,
    folder: str | os.PathLike[str] = ".",
    by: Sequence[str] = (),
    plugin_modules: Sequence[str] = (),
    progress: Progress | None = None,
    **options: Unpack[ScoreKeywords],
) -> ScoredTable:
    """Score the answers of tables, and write the scores and their aggregates as a scored table.

    Needs the extra `score`. With several workers, a script calls it under `if __name__ == "__main__":`.

    Args:
        sources: paths or URLs of Parquet, JSON Lines and CSV files, or of folders with them.
        evaluators: ids.
        output: folder of the scored table, as path or URL.
        mapping: field (`input`, `actual_output`, `context`, ...) to column; a column of the same name needs
            none.
        keep: columns by whose values the scores are also aggregated.
        config: configuration keys, e.g. {"evaluator": {"rouge": {"threshold": 0.3}}}.
        folder: where relative paths of the configuration start.
        by: columns whose values make the strata of the sample.
        plugin_modules: modules or files that register plugins.
        progress: called after each batch.
        options: further ones of `evalstudio score`, with underscores, e.g. batch_rows=500.

    Raises:
        ConfigurationError: for a wrong option, an unknown evaluator, or a missing package.
        DataError: for a source that cannot be read, or if all sources together have no rows.
    """
    base = Path(folder).absolute()
    settings = configuration({**(config or {}), "evaluators": list(evaluators)}, folder=base)
    request = ScoreRequest(
        sources=tuple(map(str, [sources] if isinstance(sources, str | os.PathLike) else sources)),
        output=str(output),
        config=settings,
        mapping=dict(mapping or {}),
        keep=dict(keep) if isinstance(keep, Mapping) else {name: name for name in keep},
        plugin_modules=tuple(plugin_modules),
        cache=base / (settings.cache or DEFAULT_CACHE),
        by=tuple(by),
        **options,
    )
    return run_request(request, progress).table
