"""Times and names of documents as records write them."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable

from pytest_evalstudio.scoring.identifiers import safe_identifier


def iso_time(seconds: float) -> str:
    """Return a time in seconds since the epoch as records write it."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")


def document_names(names: Iterable[str], folder: str) -> tuple[str, ...]:
    """Return names of documents, relative to the folder of the case where they are below it.

    The record is therefore the same on every machine.
    """
    prefix = folder.rstrip(os.sep) + os.sep
    return tuple(safe_identifier(name.removeprefix(prefix)) for name in names)
