"""Each block of the pages is run as it is written, or says why it cannot be run here."""

from __future__ import annotations

import collections
from pathlib import Path

import pytest

from support.page_runs import Reader, blocks_of, normalized, readings, unmarked
from support.pages import PAGES, ROOT, name_of

READINGS = readings()
NOT_RUN = {
    "docs/explanation/peers.md": 1,
    "docs/extend.md": 3,
    "docs/judge/agents.md": 2,
    "docs/judge/arena.md": 3,
    "docs/judge/judges.md": 1,
    "docs/judge/label-and-calibrate.md": 5,
    "docs/judge/red-team.md": 3,
    "docs/judge/suite-quality.md": 3,
    "docs/reference/commands.md": 3,
    "docs/run/baseline.md": 4,
    "docs/run/ci.md": 4,
    "docs/run/coding-agent.md": 4,
    "docs/run/model-services.md": 2,
    "docs/run/repeats.md": 1,
    "docs/scale/tables.md": 2,
    "docs/scale/traces.md": 3,
    "docs/start/documents-to-gate.md": 1,
    "docs/start/install.md": 3,
    "docs/start/your-application.md": 1,
    "docs/tutorials/validation.md": 1,
    "docs/validate/conclusion.md": 4,
    "docs/validate/guard.md": 2,
    "docs/validate/steps.md": 4,
    "docs/write/generate.md": 1,
}
"""Page to its number of blocks that cannot be run; `python tests/support/outputs.py --not-run` lists them."""


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_each_block_is_run_or_says_why_not(page: Path) -> None:
    locations = [block.place for block in unmarked(page)]
    assert not locations, "mark each block, see tests/support/page_runs.py"


def test_blocks_that_cannot_be_run_are_counted() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page) if "not_run" in block.marks]
    counted = collections.Counter(name_of(block.page) for block in blocks)
    reasons = "\n".join(f"{block.place}: {block.marks['not_run']}" for block in blocks)
    assert dict(counted) == NOT_RUN, reasons
    assert all(block.marks["not_run"] for block in blocks), reasons


@pytest.mark.parametrize("name", READINGS)
def test_a_command_follows_each_file(name: str) -> None:
    """A file that nothing reads shows nothing."""
    unused: dict[str, str] = {}
    for page in READINGS[name]:
        for block in blocks_of(page):
            if not block.is_run:
                continue
            folder = block.marks.get("folder", "")
            if "title" in block.marks:
                unused[folder] = block.place
            elif block.is_command or "output_of" in block.marks:
                unused.pop(folder, None)
    assert not unused


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [name for name, pages in READINGS.items() if any(b.is_run for page in pages for b in blocks_of(page))],
)
def test_a_page_does_what_it_says(name: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    try:
        for page in READINGS[name]:
            for output in reader.enter(page):
                assert not output.fault
                assert normalized(output.block.body) == normalized(output.text), (
                    f"{output.block.place}: run: python tests/support/outputs.py {page.relative_to(ROOT)}"
                )
    finally:
        reader.close()
