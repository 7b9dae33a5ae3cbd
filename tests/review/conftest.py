"""Fixtures of the tests of reviews."""

from __future__ import annotations

from tests.mrm.conftest import extensions

__all__ = ["extensions"]
