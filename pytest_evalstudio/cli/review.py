"""`evalstudio review`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.cli.common import Adds
    from pytest_evalstudio.mrm.review.session import ReviewSession


def add_to(add: Adds) -> None:
    """Declare the command."""
    parser = add("review", run, "Label the answers that a workflow's human calibration asks for, on a page on this machine or in a spreadsheet.")
    parser.add_argument("workflow", metavar="WORKFLOW")
    parser.add_argument("--rater", default="", metavar="NAME", help="who labels; give one where several people do")
    parser.add_argument("--blind", action="store_true", help="show neither scores nor verdict")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="of the page (default: any that is free)")
    parser.add_argument("--no-browser", action="store_true", help="open no browser, only print the address")
    parser.add_argument("--config", metavar="FILE", help="configuration file, in place of the nearest one")
    parser.add_argument("--import", dest="read", metavar="CSV", help="take labels from a sheet, and end")
    parser.add_argument("--export", dest="write", metavar="CSV", help="write what is to be labelled as a sheet, and end")


def run(arguments: argparse.Namespace) -> int:
    from pytest_evalstudio.core.registry import Registry
    from pytest_evalstudio.formats.files import read_source
    from pytest_evalstudio.formats.workflow import read_workflow
    from pytest_evalstudio.mrm.review.session import ReviewSession
    from pytest_evalstudio.mrm.workflow.run import WorkflowRun

    path = Path(arguments.workflow)
    found = WorkflowRun(read_workflow(read_source(path)), path, configuration_for(arguments.workflow, arguments.config), Registry())
    session = ReviewSession(found, f"pytest {arguments.workflow}", rater=arguments.rater.strip(), blind=arguments.blind)
    if arguments.read:
        merged, others = session.read_sheet(Path(arguments.read))
        left = f"; {others} of other answers than those evaluated left out" if others else ""
        print(f"{arguments.read}: {merged.new} new labels, {merged.changed} changed, {merged.same} as they were{left}")
        print(session.told())
    if arguments.write:
        print(f"wrote {session.write_sheet(Path(arguments.write))} answers to {arguments.write}; --import reads the labels")
    if not (arguments.read or arguments.write):
        _serve(session, arguments)
    return FINE


def _serve(session: ReviewSession, arguments: argparse.Namespace) -> None:
    import webbrowser

    from pytest_evalstudio.mrm.review.server import ReviewServer

    session.check_page()
    server = ReviewServer(session, arguments.port)
    print(session.told())
    print(f"the page is at {server.address} (for you alone; Ctrl-C ends it)", flush=True)
    if not arguments.no_browser:
        webbrowser.open(server.address)
    try:
        server.serve()
    except KeyboardInterrupt:
        state = session.state()
        again = f"`{session.command}` goes on" if state["done"] >= state["wanted"] else f"`evalstudio review {arguments.workflow}` goes on"
        print(f"\n{session.told()}; {again}")
