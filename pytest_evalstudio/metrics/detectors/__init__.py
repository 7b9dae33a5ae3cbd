"""Detectors of personal data and secrets, and their redaction."""

from __future__ import annotations

from pytest_evalstudio.metrics.detectors.pii import find_pii
from pytest_evalstudio.metrics.detectors.redact import redact, redact_identifier
from pytest_evalstudio.metrics.detectors.secrets import find_secrets
from pytest_evalstudio.metrics.detectors.spans import Hit, describe, mask

__all__ = [
    "Hit",
    "describe",
    "find_pii",
    "find_secrets",
    "mask",
    "redact",
    "redact_identifier",
]
