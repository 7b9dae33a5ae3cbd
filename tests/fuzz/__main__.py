"""`python -m tests.fuzz --count 600`: breaks files, runs the commands of users on them, and prints what ended
as it must not.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.runner import fuzz

parser = argparse.ArgumentParser(description="Fuzz test of all file formats.")
parser.add_argument("--count", type=int, default=600, help="files")
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
with tempfile.TemporaryDirectory() as folder:
    figures = fuzz(arguments.count, Path(folder), seed=arguments.seed)
for fault in figures.faults:
    print(f"- {fault}\n")
statuses = ", ".join(f"{status}: {number}" for status, number in sorted(figures.statuses.items()))
print(
    f"{figures.files} files, {figures.commands} commands, exit statuses {statuses}, slowest"
    f" {figures.slowest_s:.1f} s, {len(figures.faults)} faults"
)
sys.exit(bool(figures.faults))
