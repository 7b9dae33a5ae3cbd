"""Items that are no test cases, and have an entry of their own in the record's header."""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.plugin.payload import Payload
from pytest_evalstudio.plugin.private_api import FixtureItem, UsedFixtures


class RecordedItem(FixtureItem):
    """An item that writes its own entry of the record."""

    labels: tuple[str, ...] = ()
    """Labels of the models that it compares."""
    place_in_file: int | None = None
    """Place among the items of its file where later ones depend on earlier ones; None where none does."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_fixtures(UsedFixtures.of(self))

    def setup(self) -> None:
        self.set_up_fixtures()

    @property
    def family(self) -> str | None:
        """Return the name of the items that are in one shard with it; None for an item of every shard."""
        return None

    @property
    @abstractmethod
    def chunk_name(self) -> str:
        """Return the name of the chunk that stays on one xdist worker."""

    @abstractmethod
    def payload(self, report: pytest.TestReport) -> Payload:
        """Return the record's entry, personal data and secrets masked."""

    def open(self) -> None:
        """Open before the run what the item needs.

        Raises:
            ConfigurationError: if it is not available.
        """


def restore_order(items: list[pytest.Item]) -> None:
    """Put items that depend on earlier ones of their file in the order of the file.

    Plugins that shuffle or reverse tests move them otherwise. They take the places that the items of their
    file have; all other items stay where they are.

    Args:
        items: of the session; changed in place.
    """
    by_file: dict[Path, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        if isinstance(item, RecordedItem) and item.place_in_file is not None:
            by_file[item.path].append(position)
    for positions in by_file.values():
        in_order = sorted((items[position] for position in positions), key=_place_in_file)
        for position, item in zip(positions, in_order, strict=True):
            items[position] = item


def _place_in_file(item: pytest.Item) -> int:
    return getattr(item, "place_in_file", None) or 0
