"""The environments of tox: each file that a command names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r"\{tox_root\}\{/\}(tests(?:\{/\}[\w.-]+)*)")


def test_each_file_that_an_environment_names_exists():
    named = {name.replace("{/}", "/") for name in NAMED.findall((ROOT / "tox.ini").read_text("utf-8"))}
    assert "tests/hosts" in named
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
