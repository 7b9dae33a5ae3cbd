"""The environment that a step runs in: Python, the platform and the packages that its results rest on."""

from __future__ import annotations

import getpass
import os
import platform
from functools import cache
from importlib import metadata

PACKAGES = (
    "pytest-evalstudio",
    "pytest",
    "numpy",
    "scipy",
    "scikit-learn",
    "statsmodels",
    "hdbscan",
    "umap-learn",
    "spacy",
    "torch",
    "transformers",
    "sentence-transformers",
    "onnxruntime",
)
"""Packages that results of steps depend on; those that are not installed are left out."""


RAN_BY = "EVALSTUDIO_RAN_BY"
"""Environment variable with the name of the person who runs a workflow."""


def person() -> str:
    """Return the name of the person who runs the workflow: of the variable, else the account."""
    try:
        return os.environ.get(RAN_BY, "").strip() or getpass.getuser()
    except (OSError, KeyError, ImportError):  # an account without a name, e.g. in a container
        return ""


@cache
def environment() -> dict[str, str]:
    """Return names and versions of Python, platform and packages."""
    versions = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
