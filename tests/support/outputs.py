"""Refresh the outputs in README and docs from real runs: `python tests/support/outputs.py [PAGE …]`.

Files and commands of each page are entered in an empty folder, see `page_runs`. `--check` changes nothing,
prints the differences and exits with 1 if there are any. `--not-run` lists the blocks that are not run.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.page_runs import PageFault, Reader, blocks_of, readings, rewritten
from support.pages import PAGES, name_of, read


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help="part of the path of a page; all pages without it"
    )
    parser.add_argument("--check", action="store_true", help="print differences, and change nothing")
    parser.add_argument("--not-run", action="store_true", help="list the blocks that are not run")
    arguments = parser.parse_args()
    if arguments.not_run:
        list_blocks_not_run()
        return 0
    status = 0
    for name, pages in readings().items():
        if arguments.pages and not any(part in name_of(page) for part in arguments.pages for page in pages):
            continue
        if not refresh(name, pages, is_check=arguments.check):
            status = 1
    return status


def list_blocks_not_run() -> None:
    """Print place and reason of each block that is not run."""
    for page in PAGES:
        for block in blocks_of(page):
            if "not_run" in block.marks:
                sys.stdout.write(f"{block.place}: {block.marks['not_run']}\n")


def refresh(name: str, pages: list[Path], *, is_check: bool) -> bool:
    """Rewrite the outputs of pages that are read together; return False for a fault, or for a difference."""
    if not any(block.is_run for page in pages for block in blocks_of(page)):
        return True
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder).resolve())
        try:
            for page in pages:
                outputs = list(reader.enter(page))
                for output in outputs:
                    if output.fault:
                        sys.stderr.write(f"{output.fault}\n")
                        is_good = False
                before, after = read(page), rewritten(page, outputs)
                if before == after:
                    continue
                sys.stdout.write(f"{name_of(page)}: {'differs' if is_check else 'refreshed'}\n")
                if is_check:
                    sys.stdout.writelines(
                        difflib.unified_diff(before.splitlines(True), after.splitlines(True), n=0)
                    )
                    is_good = False
                else:
                    page.write_text(after, encoding="utf-8")
        except PageFault as fault:
            sys.stderr.write(f"{name}: {fault}\n")
            is_good = False
        finally:
            reader.close()
    return is_good


if __name__ == "__main__":
    sys.exit(main())
