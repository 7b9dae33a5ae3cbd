"""Fixtures for all tests, which reach no network but loopback, nor do the processes that they start.

Property tests take 50 fixed examples; `HYPOTHESIS_PROFILE=thorough` takes 2,000 random ones.
"""

from __future__ import annotations

import gc
import importlib
import importlib.metadata
import os
import runpy
import shutil
import signal
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from _pytest.pytester import SysModulesSnapshot

from support.children import Children
from support.project import PreparedProjects

INSTALLED: dict[str, Any] = {}
"""Modules that are not of a test, by name; there are thousands, and each test looks through them."""
NO_NETWORK = Path(__file__).parent / "no_network"

runpy.run_path(str(NO_NETWORK / "sitecustomize.py"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(NO_NETWORK), os.environ.get("PYTHONPATH", ""))))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads of linear algebra would wait for each other
gc.set_threshold(700, 20, 50)  # a pass over what twenty thousand tests keep takes three seconds
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the tests start many processes
sys.dont_write_bytecode = False
# A client reads the certificates of 140 authorities when it is made; the services of the tests need none.
for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"):
    os.environ[name] = str(Path(__file__).parent / "data" / "tls" / "unused_authority.pem")
# A shell without job control lets programs in the background ignore Ctrl-C, and so do all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
with suppress(ImportError):
    # A run in this process restores `sys.meta_path`, from which the finder of `six.moves` would be missing.
    importlib.import_module("six")


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


def _cache_entry_points() -> None:
    """Read the entry points of installed packages once: each session in this process asks for all of them."""
    read = importlib.metadata.Distribution.entry_points.fget
    assert read is not None
    installed = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    points_by_path: dict[str, importlib.metadata.EntryPoints] = {}

    def entry_points(self: importlib.metadata.Distribution) -> importlib.metadata.EntryPoints:
        path = str(getattr(self, "_path", ""))
        if not path.startswith(installed):
            return read(self)
        if path not in points_by_path:
            points_by_path[path] = read(self)
        return points_by_path[path]

    importlib.metadata.Distribution.entry_points = property(entry_points)  # type: ignore[assignment]


_cache_entry_points()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test of an optional part that this checkout lacks."""
    for mark in item.iter_markers("part"):
        for name in mark.args:
            if find_spec(f"pytest_evalstudio.contrib.{name}") is None:
                pytest.skip(f"without the part {name}")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name binary values by their argument: files may hold the time, and pytest-xdist needs equal names."""
    return argname if isinstance(val, bytes) else None


@pytest.fixture
def pytester(pytester: Any, tmp_path_factory: pytest.TempPathFactory) -> pytest.Pytester:
    """Keep the installed modules that a run in this process imports, and forget those of other tests.

    pytester would forget all, and then there are two versions of their classes; extension modules cannot be
    imported twice.
    """
    temporary = str(tmp_path_factory.getbasetemp())

    def is_installed(name: str) -> bool:
        module = sys.modules.get(name)
        if INSTALLED.get(name) is module is not None:
            return True
        if str(getattr(module, "__file__", None) or "").startswith(temporary):
            return False
        INSTALLED[name] = module
        return True

    for name in [name for name in sys.modules if not is_installed(name)]:
        del sys.modules[name]
    take = partial(SysModulesSnapshot, preserve=is_installed)
    pytester._Pytester__take_sys_modules_snapshot = take
    pytester._sys_modules_snapshot = take()
    instance: pytest.Pytester = pytester
    return instance


@pytest.fixture(scope="session")
def project_store(tmp_path_factory: pytest.TempPathFactory) -> PreparedProjects:
    """Return the store of projects that several tests begin with."""
    return PreparedProjects(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def children() -> Iterator[Children]:
    """Start processes that end with the test."""
    with closing(Children()) as processes:
        yield processes


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return the browser: Chromium's headless shell, which opens a page in half the time, else Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
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


@pytest.fixture(autouse=True)
def _no_open_connections() -> Iterator[None]:
    """End the threads of services that wait for the next request of a client."""
    yield
    service = sys.modules.get("support.service")
    if service is not None:
        service.end_connections()


@pytest.fixture(autouse=True)
def _no_open_programs() -> Iterator[None]:
    """Close the programs that a test has left open, so that none resolves the imports of another test."""
    yield
    programs = sys.modules.get("pytest_evalstudio.core.programs")
    for program in list(programs._table.programs.values()) if programs is not None else ():
        program._users = 1
        program.close()
