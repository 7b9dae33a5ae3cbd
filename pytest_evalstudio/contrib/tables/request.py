"""The request of a scored table: sources, evaluators and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_evalstudio.contrib.tables.options import ScoreOptions
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import Configuration


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest(ScoreOptions):
    """A table that is to be scored.

    Attributes:
        sources: paths and URLs of Parquet, JSON Lines and CSV files, and of folders with them.
        output: path or URL of the scored table.
        config: names the evaluators and has their options, judges and models.
        mapping: field to column.
        keep: name of a kept column to its column in the sources.
        plugin_modules: modules that register plugins.
    """

    sources: tuple[str, ...]
    output: str
    config: Configuration
    mapping: Mapping[str, str] = field(default_factory=dict)
    keep: Mapping[str, str] = field(default_factory=dict)
    plugin_modules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ScoreOptions.__post_init__(self)
        if not self.sources:
            raise ConfigurationError("score: needs a source; give a file or folder")
