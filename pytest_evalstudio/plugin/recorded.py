"""Items that are no test cases, and have an entry of their own in the record's header."""

from __future__ import annotations

from abc import abstractmethod

import pytest

from pytest_evalstudio.plugin.payload import Payload


class RecordedItem(pytest.Item):
    """An item that writes its own entry of the record."""

    labels: tuple[str, ...] = ()
    """Labels of the models that it compares."""

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
