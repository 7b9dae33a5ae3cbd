"""Fixtures for all tests, which reach no network but loopback, nor do the processes that they start.

Property tests take 50 fixed examples; `HYPOTHESIS_PROFILE=thorough` takes 2,000 random ones.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import pytest_evalstudio

NO_NETWORK = Path(__file__).parent / "no_network"

runpy.run_path(str(NO_NETWORK / "sitecustomize.py"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(NO_NETWORK), os.environ.get("PYTHONPATH", ""))))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the tests start many processes


_IMPORTED_WHEN_NEEDED = (
    "jinja2",
    "jsonschema",
    "nltk.tokenize.destructive",
    "numpy",
    "openai",
    "pydantic",
    "regex",
    "rouge_score.tokenize",
    "syntok.segmenter",
    "yaml",
)


hypothesis.settings.register_profile(
    "commit",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.register_profile(
    "thorough", hypothesis.settings.get_profile("commit"), max_examples=2_000, derandomize=False
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "commit"))


@pytest.fixture(scope="session")
def imported_modules() -> None:
    """Import the whole package.

    After a run in this process pytester forgets the modules that the run was the first to import, and some
    extension modules cannot be imported twice.
    """
    for module in pkgutil.walk_packages(pytest_evalstudio.__path__, "pytest_evalstudio."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in _IMPORTED_WHEN_NEEDED:
        importlib.import_module(name)


@pytest.fixture
def pytester(imported_modules: None, pytester: pytest.Pytester) -> pytest.Pytester:
    return pytester


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium on the path")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The script of axe-core: the file that AXE_CORE names."""
    place = os.environ.get("AXE_CORE", "")
    if not Path(place).is_file():
        pytest.skip("AXE_CORE names no axe.min.js; tox -e browser gets it by npm")
    return Path(place).read_text(encoding="utf-8")
