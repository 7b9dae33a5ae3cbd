"""For all tests: no network but loopback, in them and in the processes they start."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

NO_NETWORK = Path(__file__).parent / "no_network"

runpy.run_path(str(NO_NETWORK / "sitecustomize.py"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(NO_NETWORK), os.environ.get("PYTHONPATH", ""))))
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the tests start many processes
