"""Options of `evalstudio score` and `score_table`, declared once; imports nothing that takes time."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_evalstudio.contrib.tables.scored_record import TextsWord

DEFAULT_CACHE = ".evalstudio"
BATCH_ROWS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """Options of a scored table.

    The metadata of a field are the arguments of its command line option, whose default may be a text.

    Raises:
        ConfigurationError: for a value that is not allowed, or that needs another option.
    """

    engine: str = field(
        default="local",
        metadata={
            "choices": ("local", "ray"),
            "help": "processes of this machine, or a Ray cluster (default: %(default)s)",
        },
    )
    workers: int | None = field(
        default=None,
        metadata={"type": int, "metavar": "N", "help": "processes or actors (default: one per core)"},
    )
    batch_rows: int = field(
        default=BATCH_ROWS,
        metadata={
            "type": int,
            "metavar": "N",
            "help": "rows that are scored together (default: %(default)s)",
        },
    )
    address: str = field(
        default="",
        metadata={"metavar": "URL", "help": "Ray cluster: auto or ray://HOST:PORT (default: this machine)"},
    )
    gpus_per_actor: float = field(
        default=0.0,
        metadata={"type": float, "metavar": "X", "help": "GPUs of each Ray actor (default: 0)"},
    )
    sample: int | None = field(
        default=None,
        metadata={"type": int, "metavar": "N", "help": "score a random sample of N rows"},
    )
    by: tuple[str, ...] = field(
        default=(),
        metadata={
            "default": "",
            "metavar": "NAME[,NAME...]",
            "help": "columns whose values make the sample's strata",
        },
    )
    seed: int = field(default=0, metadata={"type": int, "help": "of the sample (default: %(default)s)"})
    texts: TextsWord = field(
        default="all",
        metadata={
            "choices": ("all", "worst", "none"),
            "help": "answers to keep, masked: of all rows, of the worst, or none (default: %(default)s)",
        },
    )
    cache: Path | None = field(
        default=None,
        metadata={
            "default": DEFAULT_CACHE,
            "metavar": "DIR",
            "help": "folder of judges' replies and budgets (default: %(default)s)",
        },
    )
    resume: bool = field(
        default=False, metadata={"action": "store_true", "help": "continue an incomplete table"}
    )
    overwrite: bool = field(
        default=False, metadata={"action": "store_true", "help": "replace an earlier table"}
    )

    def __post_init__(self) -> None:
        for each in fields(ScoreOptions):
            value = getattr(self, each.name)
            choices = each.metadata.get("choices", (value,))
            if value not in choices:
                raise ConfigurationError(f"{each.name} = {value!r}: must be one of {', '.join(choices)}")
        for name in ("workers", "sample", "batch_rows"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigurationError(f"{name} = {value}: must be at least 1")
        if self.by and self.sample is None:
            raise ConfigurationError("--by: needs --sample; give the size of the sample")
        if self.engine != "ray" and (self.address or self.gpus_per_actor):
            raise ConfigurationError("--address and --gpus-per-actor: need --engine ray")
        # The cores of this machine say nothing about a cluster.
        if self.address and self.workers is None:
            raise ConfigurationError("--address: needs --workers; give the number of actors")


class ScoreKeywords(TypedDict, total=False):
    """Types of the options that `score_table` passes on, for type checkers; a test compares them."""

    engine: str
    workers: int | None
    batch_rows: int
    address: str
    gpus_per_actor: float
    sample: int | None
    seed: int
    texts: TextsWord
    resume: bool
    overwrite: bool
