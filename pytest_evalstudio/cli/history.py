"""`evalstudio history`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, say

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.analysis.comparison.history import History


HISTORY = "evalstudio-history"
PAGE = Path(".evalstudio", "history.html")
"""Page that `--open` writes where no file is named; its folder is not under version control."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "places",
        nargs="*",
        default=[HISTORY],
        metavar="RECORD",
        help="records, baselines, report folders, or folders of these (default: %(default)s)",
    )
    parser.add_argument("--json", action="store_true", help="print the history as JSON")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write a page with trend, runs and the cases that flip"
    )
    parser.add_argument(
        "--open",
        action="store_true",
        help=f"write the page (default: {PAGE.as_posix()}) and open it in the browser",
    )
    parser.add_argument("--plots", metavar="DIR", help="write a picture per metric there")


def run(arguments: argparse.Namespace) -> int:
    """Print the history and return its exit status."""
    import msgspec

    from pytest_evalstudio.analysis.comparison.history import history, history_lines, record_files
    from pytest_evalstudio.core.display import visible_json
    from pytest_evalstudio.core.writing import write_whole
    from pytest_evalstudio.report.history import pictures

    content = history(record_files(arguments.places))
    if arguments.json:
        print(visible_json(msgspec.json.format(msgspec.json.encode(content), indent=2).decode()))
    else:
        say(*history_lines(content))
    if arguments.plots:
        folder = Path(arguments.plots)
        folder.mkdir(parents=True, exist_ok=True)
        drawn = pictures(content)
        for name, svg in drawn.items():
            write_whole(folder / f"{name}.svg", svg.encode())
        say(f"wrote {len(drawn)} pictures to {folder}", error=True)
    if arguments.output or arguments.open:
        _write_page(content, Path(arguments.output or PAGE), opens=arguments.open)
    return FINE


def _write_page(content: History, path: Path, *, opens: bool) -> None:
    """Write the page of a history, and open it in the default browser if that is asked for."""
    from pytest_evalstudio.core.writing import write_whole
    from pytest_evalstudio.report.history_page import history_page

    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, history_page(content).encode("utf-8", "replace"))
    say(f"wrote {path}", error=True)
    if opens:
        import webbrowser

        if not webbrowser.open(path.absolute().as_uri()):
            say(f"no browser can be started here; open {path} yourself", error=True)
