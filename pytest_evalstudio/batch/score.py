"""`score_table`: scoring of tables from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_evalstudio.batch.job import Progress, run_request
from pytest_evalstudio.batch.request import BATCH_ROWS, ScoreRequest
from pytest_evalstudio.batch.table.reader import ScoredTable
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.record.scored import TextsWord

DEFAULT_CACHE = ".evalstudio"


def score_table(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    evaluators: Sequence[str],
    output: str | os.PathLike[str],
    *,
    mapping: Mapping[str, str] | None = None,
    keep: Sequence[str] | Mapping[str, str] = (),
    config: Mapping[str, object] | None = None,
    folder: str | os.PathLike[str] = ".",
    engine: str = "local",
    workers: int | None = None,
    address: str = "",
    gpus_per_actor: float = 0.0,
    sample: int | None = None,
    by: Sequence[str] = (),
    seed: int = 0,
    texts: TextsWord = "all",
    batch_rows: int = BATCH_ROWS,
    resume: bool = False,
    overwrite: bool = False,
    plugin_modules: Sequence[str] = (),
    progress: Progress | None = None,
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
        engine: "local" for processes of this machine, "ray" for a Ray cluster.
        workers: processes or actors; one per core where not given.
        address: of the Ray cluster; one on this machine where not given.
        gpus_per_actor: GPUs that Ray reserves for each actor.
        sample: number of rows to score, drawn at random.
        by: columns whose values make the strata of the sample.
        seed: of the sample.
        texts: answers to keep: "all", "worst" or "none".
        batch_rows: maximum number of rows that are scored together.
        resume: continue an incomplete table.
        overwrite: replace an earlier table.
        plugin_modules: modules or files that register plugins.
        progress: called after each batch.

    Raises:
        ConfigurationError: for a wrong option, an unknown evaluator, or a missing package.
        DataError: for a source that cannot be read.
    """
    source_list = [sources] if isinstance(sources, str | os.PathLike) else sources
    base = Path(folder).absolute()
    settings = configuration({**(config or {}), "evaluators": list(evaluators)}, folder=base)
    request = ScoreRequest(
        sources=tuple(map(str, source_list)),
        output=str(output),
        config=settings,
        mapping=dict(mapping or {}),
        keep=dict(keep) if isinstance(keep, Mapping) else {name: name for name in keep},
        engine=engine,
        workers=workers,
        address=address,
        gpus_per_actor=gpus_per_actor,
        sample=sample,
        by=tuple(by),
        seed=seed,
        texts=texts,
        batch_rows=batch_rows,
        resume=resume,
        overwrite=overwrite,
        plugin_modules=tuple(plugin_modules),
        cache=base / (settings.cache or DEFAULT_CACHE),
    )
    return run_request(request, progress).table
