"""Recall and false alarms of the detectors on generated leaks, look-alikes and prose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pytest_evalstudio.metrics.detectors import Hit, find_pii, find_secrets
from support import leak_strings

Find = Callable[[str], list[Hit]]


def missed(find: Find, texts: Sequence[str]) -> list[str]:
    return [text for text in texts if not find(text)]


def alarms(find: Find, texts: Sequence[str]) -> list[str]:
    return [text for text in texts if find(text)]


@pytest.mark.parametrize(
    ("find", "texts", "target"),
    [
        pytest.param(find_pii, list(leak_strings.personal_data()), 0.98, id="personal data"),
        pytest.param(find_secrets, list(leak_strings.secrets()), 0.9, id="secrets"),
    ],
)
def test_leaks_are_found(find: Find, texts: Sequence[str], target: float) -> None:
    assert len(texts) > 120
    overlooked = missed(find, texts)
    assert len(overlooked) <= (1 - target) * len(texts), overlooked


@pytest.mark.parametrize(
    ("find", "texts", "limit"),
    [
        pytest.param(find_pii, leak_strings.PERSONAL_DATA_NEGATIVES, 0.05, id="personal data"),
        pytest.param(find_secrets, leak_strings.SECRET_NEGATIVES, 0.05, id="secrets"),
    ],
)
def test_look_alikes_are_clean(find: Find, texts: Sequence[str], limit: float) -> None:
    false = alarms(find, texts)
    assert len(false) <= limit * len(texts), false


@pytest.mark.parametrize(("find", "limit"), [(find_pii, 0.01), (find_secrets, 0.005)])
def test_prose_is_clean(find: Find, limit: float) -> None:
    paragraphs = leak_strings.prose()
    assert len(paragraphs) > 30
    false = alarms(find, paragraphs)
    assert len(false) <= limit * len(paragraphs), false
