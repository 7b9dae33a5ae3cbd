"""`evalstudio review`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINE, configuration_for, print_json, say
from pytest_evalstudio.cli.plugin_modules import add_plugin_option, registry_for

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.calibration.review.session import ReviewSession
    from pytest_evalstudio.contrib.calibration.review.source import ReviewSource

LABELS = "labels.csv"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    parser.add_argument(
        "place",
        metavar="WORKFLOW|REPORT",
        help="a workflow's file, or the folder of a report or its record.jsonl",
    )
    parser.add_argument(
        "--metric",
        metavar="KEY[,KEY...]",
        help="of a report: METRIC or EVALUATOR.METRIC, needed where there are several",
    )
    parser.add_argument(
        "--all",
        dest="every",
        action="store_true",
        help="of a report: all answers with a score, in random order",
    )
    parser.add_argument(
        "--budget",
        type=int,
        metavar="N",
        help="of a report: a random sample of N answers, whose labels narrow the pass rate's interval most",
    )
    parser.add_argument(
        "--estimate",
        action="store_true",
        help="of a report: print the pass rates corrected by the labels, and exit",
    )
    parser.add_argument("--json", action="store_true", help="with --estimate: for machines")
    parser.add_argument(
        "--labels", metavar="FILE", help=f"of a report: CSV file to keep the labels in (default: {LABELS})"
    )
    parser.add_argument(
        "--rater", default="", metavar="NAME", help="name of the rater; needed if several people label"
    )
    parser.add_argument("--blind", action="store_true", help="neither show nor export scores and verdict")
    parser.add_argument(
        "--adjudicator",
        action="store_true",
        help="decide on the answers on which raters are divided; needs --rater",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="of the page (default: any that is free)"
    )
    parser.add_argument("--no-browser", action="store_true", help="open no browser, only print the address")
    parser.add_argument(
        "--config", metavar="FILE", help="of a workflow: configuration file, in place of the nearest one"
    )
    parser.add_argument("--import", dest="read", metavar="CSV", help="read labels from a sheet, and exit")
    parser.add_argument(
        "--export", dest="write", metavar="CSV", help="write the answers to label as a sheet, and exit"
    )
    add_plugin_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.contrib.calibration.review.session import ReviewSession

    _check_options(arguments)
    path = Path(arguments.place)
    if arguments.estimate:
        return _estimate(arguments)
    source = _report(arguments) if path.is_dir() or path.suffix == ".jsonl" else _workflow(arguments)
    session = ReviewSession(
        source, rater=arguments.rater.strip(), blind=arguments.blind, adjudicator=arguments.adjudicator
    )
    if arguments.read:
        merged, others = session.read_sheet(Path(arguments.read))
        note = f"; {others} of other answers than those evaluated left out" if others else ""
        say(
            f"{arguments.read}: {merged.new} new labels, {merged.changed} changed, {merged.same} as they"
            f" were{note}"
        )
        say(*_told(session))
    if not session.state()["cases"]:
        say("raters are divided on no answer" if arguments.adjudicator else source.nothing)
        return FINE
    if arguments.write:
        say(
            f"wrote {session.write_sheet(Path(arguments.write))} answers to {arguments.write}; --import reads"
            " the labels"
        )
    if not (arguments.read or arguments.write):
        _serve(session, arguments)
    return FINE


def _check_options(arguments: argparse.Namespace) -> None:
    from pytest_evalstudio.core.errors import ConfigurationError

    if arguments.every and arguments.budget is not None:
        raise ConfigurationError("--all asks for all answers and --budget for a sample; give one of them")
    if arguments.json and not arguments.estimate:
        raise ConfigurationError("--json is for --estimate")
    if arguments.estimate and (arguments.read or arguments.write or arguments.budget is not None):
        raise ConfigurationError(
            "--estimate only reads labels; leave out --budget, --import and --export, or run them before"
        )


def _estimate(arguments: argparse.Namespace) -> int:
    from msgspec import to_builtins

    from pytest_evalstudio.contrib.calibration.review.pass_rates import corrected_pass_rates, pass_rate_lines
    from pytest_evalstudio.core.errors import ConfigurationError

    path = Path(arguments.place)
    if not (path.is_dir() or path.suffix == ".jsonl"):
        raise ConfigurationError(f"{path}: --estimate is for a report, its folder or its record.jsonl")
    # Labels of any answer count, whichever were drawn.
    arguments.every = True
    source = _report(arguments)
    result = corrected_pass_rates(source.population, source.labels)
    if arguments.json:
        print_json(to_builtins(result))
    else:
        say(*pass_rate_lines(result))
    return FINE


def _workflow(arguments: argparse.Namespace) -> ReviewSource:
    from pytest_evalstudio.core.errors import ConfigurationError
    from pytest_evalstudio.core.plugins.contrib import file_kinds, loaded

    if arguments.metric or arguments.every or arguments.labels or arguments.budget is not None:
        raise ConfigurationError(
            f"{arguments.place}: --metric, --all, --budget and --labels are for a report; a workflow says"
            " what is labelled, and where, in its steps.human_calibration"
        )
    target = next((kind.review for kind in file_kinds() if kind.review), "")
    if not target:
        raise ConfigurationError(f"{arguments.place}: no installed part has workflows; give a report")
    source: ReviewSource = loaded(target)(
        arguments.place, configuration_for(arguments.place, arguments.config), registry_for(arguments)
    )
    return source


def _report(arguments: argparse.Namespace) -> ReviewSource:
    from pytest_evalstudio.contrib.calibration.review.report_answers import ReportAnswers
    from pytest_evalstudio.core.errors import ConfigurationError

    if arguments.config:
        raise ConfigurationError(
            f"{arguments.place}: --config is for a workflow; a report contains its own configuration"
        )
    metrics = [name.strip() for name in (arguments.metric or "").split(",") if name.strip()]
    return ReportAnswers(
        arguments.place,
        metrics=metrics,
        labels=arguments.labels or LABELS,
        every=arguments.every,
        budget=arguments.budget,
    )


def _serve(session: ReviewSession, arguments: argparse.Namespace) -> None:
    from pytest_evalstudio.contrib.calibration.commands.serving import serve_page

    session.check_page()
    serve_page(
        session, arguments.port, with_browser=not arguments.no_browser, last_lines=lambda: _told(session)
    )


def _told(session: ReviewSession) -> list[str]:
    """Return how far the rater is and what happens next, as lines."""
    state = session.state()
    progress = f"{session.progress()}; {session.source.goes_on(complete=state['done'] >= state['wanted'])}"
    return [line for line in (progress, state["advice"]) if line]
