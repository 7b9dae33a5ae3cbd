"""The request of a scored table: sources, evaluators and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.record.scored import TextsWord

BATCH_ROWS = 1_000
ENGINES = ("local", "ray")
TEXTS: tuple[TextsWord, ...] = ("all", "worst", "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """A table that is to be scored.

    Attributes:
        sources: paths and URLs of Parquet, JSON Lines and CSV files, and of folders with them.
        output: path or URL of the scored table.
        config: names the evaluators and has their options, judges and models.
        mapping: field to column.
        keep: name of a kept column to its column in the sources.
        engine: "local" or "ray".
        workers: processes or actors; None for one per core.
        address: of a Ray cluster; "" for one on this machine.
        gpus_per_actor: GPUs that Ray reserves for each actor.
        sample: size of a sample; None for all rows.
        by: names whose values make the strata of the sample.
        texts: answers to keep: "all", "worst" or "none".
        batch_rows: maximum number of rows that are scored together.
        resume: continue an incomplete table.
        overwrite: replace an earlier table.
        plugin_modules: modules that register plugins.
        cache: folder of judges' replies; None to keep none.
    """

    sources: tuple[str, ...]
    output: str
    config: Configuration
    mapping: Mapping[str, str] = field(default_factory=dict)
    keep: Mapping[str, str] = field(default_factory=dict)
    engine: str = "local"
    workers: int | None = None
    address: str = ""
    gpus_per_actor: float = 0.0
    sample: int | None = None
    by: tuple[str, ...] = ()
    seed: int = 0
    texts: TextsWord = "all"
    batch_rows: int = BATCH_ROWS
    resume: bool = False
    overwrite: bool = False
    plugin_modules: tuple[str, ...] = ()
    cache: Path | None = None

    def __post_init__(self) -> None:
        for name, options in (("engine", ENGINES), ("texts", TEXTS)):
            if getattr(self, name) not in options:
                raise ConfigurationError(
                    f"{name} = {getattr(self, name)!r}: must be one of {', '.join(options)}"
                )
        for name in ("workers", "sample", "batch_rows"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError(f"{name} = {value}: must be at least 1")
        if self.by and self.sample is None:
            raise ConfigurationError("--by: needs --sample; give the size of the sample")
        if self.engine != "ray" and (self.address or self.gpus_per_actor):
            raise ConfigurationError("--address and --gpus-per-actor: need --engine ray")
        if self.address and self.workers is None:
            raise ConfigurationError("--address: needs --workers; give the number of actors")
        if not self.sources:
            raise ConfigurationError("score: needs a source; give a file or folder")
