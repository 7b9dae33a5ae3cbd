"""Digests under the key of a hidden half: membership, noise, and the seal of the ledger."""

from __future__ import annotations

import hashlib
import hmac
import json

from pytest_evalstudio.stats.holdout import laplace_quantile

_BITS = 53  # of a float between 0 and 1


def keyed_digest(key: bytes, *parts: str) -> bytes:
    """Return the HMAC-SHA256 of texts, which no other texts have."""
    return hmac.new(key, json.dumps(parts).encode(), hashlib.sha256).digest()


def keyed_share(key: bytes, *parts: str) -> float:
    """Return a number between 0 and 1, both excluded, that looks random to whoever lacks the key."""
    number = int.from_bytes(keyed_digest(key, *parts)[:8]) >> (64 - _BITS)
    return (number + 0.5) / float(1 << _BITS)


def keyed_noise(key: bytes, scale: float, *parts: str) -> tuple[float, float, float]:
    """Return the noise of an answer by Thresholdout: of its threshold, its comparison and its value.

    The same parts have the same noise, so that asking again averages nothing.
    """
    scales = {"threshold": 2 * scale, "comparison": 4 * scale, "value": scale}
    first, second, third = (
        laplace_quantile(keyed_share(key, "noise", name, *parts), each) for name, each in scales.items()
    )
    return first, second, third
