"""Identifiers and descriptions as records, node ids and messages may show them."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Mapping

from pytest_evalstudio.asking.secrets import MASK, looks_secret
from pytest_evalstudio.metrics.detectors import redact, redact_identifier

DIGEST_CHARS = 6
"""Enough to distinguish the masked keys of a file, too few to identify a phone or card number."""


@functools.lru_cache(maxsize=4096)
def safe_identifier(text: str) -> str:
    """Return a key, name, category or path without personal data and secrets.

    Where masking changes it, a short digest of the original follows, so that different identifiers stay
    different, and an identifier is the same in every run and file.

    >>> safe_identifier("fees-2024"), safe_identifier("jane@bank.com")
    ('fees-2024', '****@****.***-be4c75')
    """
    redacted = redact_identifier(text)
    if redacted == text:
        return text
    return f"{redacted}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:DIGEST_CHARS]}"


def safe_description(description: Mapping[str, object]) -> dict[str, object]:
    """Return a model's description without secret values; personal data and secrets in texts are masked."""
    return {name: _safe(value, name) for name, value in description.items()}


def _safe(value: object, name: str) -> object:
    if isinstance(value, str):
        return MASK if value and looks_secret(name) else redact(value)
    if isinstance(value, Mapping):
        # Below a secret's name all values are secret, whatever their own keys are.
        return {key: _safe(item, name if looks_secret(name) else str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_safe(item, name) for item in value]
    return value


def document_names(names: Iterable[str], folder: str) -> tuple[str, ...]:
    """Return names of documents, relative to the folder of the case where they are below it.

    The record is therefore the same on every machine.
    """
    prefix = folder.rstrip(os.sep) + os.sep
    return tuple(safe_identifier(name.removeprefix(prefix)) for name in names)
