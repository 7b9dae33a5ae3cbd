"""An external package, installed into a folder by its metadata alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pytest_evalstudio.core.plugins.registry import Registry
from support.project import Project

EXTERNAL = Path(__file__).parent / "external" / "acme_plugins.py"
PLUGINS = {
    "evaluator": "acme_brevity = acme_plugins:Brevity",
    "host": "acme_echo = acme_plugins:Echo",
    "perturbator": "acme_shout = acme_plugins:Shout",
    "step": "acme_inventory = acme_plugins:Inventory",
    "generator": "acme_repeat = acme_plugins:Repeat",
    "section": "acme_note = acme_plugins:note",
}


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages with the external one, on the path of subprocesses."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(EXTERNAL, folder)
    metadata = folder / "acme_plugins-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-plugins\nVersion: 1.0\n", encoding="utf-8"
    )
    groups = [f"[{kind.group}]\n{PLUGINS[kind.kind]}\n" for kind in Registry().kinds]
    (metadata / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    return folder


@pytest.fixture
def registrar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A conftest.py with the same plugins, in a folder without metadata."""
    folder = tmp_path_factory.mktemp("registrar")
    names = {line.partition(" = ")[0]: line.rpartition(":")[2] for line in PLUGINS.values()}
    adds = [f"    registry.add_{kind}({line.rpartition(':')[2]})" for kind, line in PLUGINS.items()]
    imports = ", ".join(names.values())
    shutil.copy(EXTERNAL, folder)
    lines = [
        f"from acme_plugins import {imports}",
        "",
        "",
        "def pytest_evalstudio_register(registry):",
        *adds,
        "",
    ]
    (folder / "conftest.py").write_text("\n".join(lines), encoding="utf-8")
    return folder / "conftest.py"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)
