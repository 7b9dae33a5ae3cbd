"""Shards: a part of the test cases, chosen by key, with each original and its perturbations together."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.plugin.items import EvalItem
from pytest_evalstudio.plugin.recorded import RecordedItem
from pytest_evalstudio.scoring.tasks import EvalTask

_FORM = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")


class Shard(NamedTuple):
    """The number of a shard, from 1, and how many there are."""

    number: int
    total: int


def parse_shard(text: str) -> Shard:
    """Return the shard of an option.

    Raises:
        ConfigurationError: if the option is malformed.

    >>> parse_shard("2/5")
    Shard(number=2, total=5)
    """
    match = _FORM.fullmatch(text.strip())
    shard = Shard(int(match[1]), int(match[2])) if match else None
    if shard is None or shard.number > shard.total:
        raise ConfigurationError(f"--evalstudio-shard {text}: write NUMBER/TOTAL, e.g. 2/5")
    return shard


def split(items: Sequence[pytest.Item], shard: Shard) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the items of a shard, and those of the others; other tests are in every shard."""
    items_of_shard: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        family = _family(item)
        is_kept = family is None or _number(family, shard.total) == shard.number
        (items_of_shard if is_kept else others).append(item)
    return items_of_shard, others


def _family(item: pytest.Item) -> str | None:
    if isinstance(item, RecordedItem):
        return item.family
    if not isinstance(item, EvalItem):
        return None
    return f"{item.file.nodeid}\0{_original(item.planned).key}"


def _original(task: EvalTask) -> EvalTask:
    ids = {id(task)}
    while task.source is not None and id(task.source) not in ids:
        task = task.source
        ids.add(id(task))
    return task


def _number(family: str, total: int) -> int:
    digest = hashlib.sha256(family.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % total + 1
