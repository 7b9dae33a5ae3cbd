"""The commands of the tutorials print the lines that their pages show."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.pages import ROOT, tutorials

TUTORIALS = tutorials()
LEFT_OUT = shutil.ignore_patterns("*_artifacts", "evalstudio-report", ".evalstudio")
FOLDERS = (str(Path(sys.executable).parent), os.environ["PATH"])


@pytest.mark.slow
@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_prints_what_its_page_says(name: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "example_suites", tmp_path / "example_suites", ignore=LEFT_OUT)
    printed = ""
    for block in TUTORIALS[name]:
        if block.title:
            file = tmp_path / block.title
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.body, encoding="utf-8")
        elif block.language == "sh":
            printed = run(block.body, tmp_path)
        else:
            missing = [line for line in block.body.splitlines() if line not in printed]
            assert not missing, printed


def run(commands: str, folder: Path) -> str:
    """Return what commands of the shell print, whatever their exit status."""
    environment = {**os.environ, "PATH": os.pathsep.join(FOLDERS), "NO_COLOR": "1"}
    result = subprocess.run(
        ["bash", "-c", commands],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return result.stdout + result.stderr
