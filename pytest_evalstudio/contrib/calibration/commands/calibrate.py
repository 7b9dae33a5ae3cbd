"""`evalstudio calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_evalstudio.cli.common import FINDINGS, FINE, print_json, say
from pytest_evalstudio.core.numbers import DEFAULT_SEED

if TYPE_CHECKING:
    import argparse

    from pytest_evalstudio.contrib.calibration.fit.results import CalibrationFigures
    from pytest_evalstudio.contrib.calibration.labelling.label_report import LabelReport
    from pytest_evalstudio.record.score_table import TableAnswer


def add_to(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.set_defaults(command=run)
    _add_inputs(parser)
    parser.add_argument(
        "--method",
        default="logistic",
        metavar="logistic|isotonic|ordinal|multinomial|boosting",
        help="how scores become probabilities (default: logistic)",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        default=0.1,
        metavar="X",
        help="share of conformal sets that may miss people's label (default: 0.1)",
    )
    parser.add_argument(
        "--good",
        type=int,
        metavar="LEVEL",
        help="the lowest level that counts as good, for labels with more than two levels",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help=f"of the division into folds and halves (default: {DEFAULT_SEED})",
    )
    _add_rule_options(parser)
    parser.add_argument(
        "--coverage",
        default="class",
        metavar="class|marginal",
        help="conformal sets hold people's label in 1 − alpha of the good and of the bad answers, or of all"
        " together"
        " (default: class)",
    )
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the calibration, for `calibration = FILE` in the configuration",
    )


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results",
        nargs="+",
        metavar="RESULTS",
        help="explanation.json of an evaluator, record.jsonl, the folder of a report, or a scored table",
    )
    parser.add_argument(
        "labels",
        nargs="?",
        metavar="LABELS",
        help="CSV with the columns key, model_key, label (1 good, 0 bad, or levels, higher for better)",
    )
    parser.add_argument(
        "--labels", dest="labels_file", metavar="FILE", help="the labels, in place of the last argument"
    )
    parser.add_argument(
        "--metric",
        required=True,
        metavar="KEY[,KEY...]",
        help="METRIC or EVALUATOR.METRIC; several are combined into one score",
    )
    parser.add_argument(
        "--choose",
        action="store_true",
        help="calibrate the one metric that agrees best with the labels, instead of combining them",
    )


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    target = parser.add_mutually_exclusive_group()
    target.add_argument(
        "--max-type-i",
        type=float,
        metavar="X",
        help="largest share of good answers that may fail; as few bad answers as possible pass",
    )
    target.add_argument(
        "--max-type-ii",
        type=float,
        metavar="X",
        help="largest share of bad answers that may pass; as few good answers as possible fail (default:"
        " the mean of"
        " both error rates is smallest)",
    )
    target.add_argument(
        "--cost",
        metavar="A:B",
        help="costs of a good answer that fails and of a bad one that passes; the expected cost is smallest",
    )


def _labels(arguments: argparse.Namespace) -> Path:
    """Return the file of labels, which is the last argument where no option names it."""
    from pytest_evalstudio.core.errors import ConfigurationError

    if arguments.labels_file:
        return Path(arguments.labels_file)
    if len(arguments.results) < 2:
        raise ConfigurationError("calibrate: name the CSV of the labels after the results, or with --labels")
    return Path(arguments.results.pop())


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit status."""
    from pytest_evalstudio.analysis.stored_scores import read_scores
    from pytest_evalstudio.cli.sources import Rows, as_records
    from pytest_evalstudio.contrib.calibration.fit.calibrate import calibrate
    from pytest_evalstudio.contrib.calibration.fit.decision import risk_rule
    from pytest_evalstudio.contrib.calibration.labelling.agreement import agreement
    from pytest_evalstudio.contrib.calibration.labelling.label_report import LabelReport
    from pytest_evalstudio.contrib.calibration.labelling.outdated import without_outdated
    from pytest_evalstudio.contrib.calibration.labelling.segments import segment_labels
    from pytest_evalstudio.core.errors import ConfigurationError, DataError
    from pytest_evalstudio.formats.labels import majority, read_labels, read_ratings
    from pytest_evalstudio.text.figures import counted

    metrics = [name.strip() for name in arguments.metric.split(",") if name.strip()]
    if not metrics:
        raise ConfigurationError("--metric is empty; give one or more metrics, e.g. --metric groundedness")
    rule = risk_rule(arguments.max_type_i, arguments.max_type_ii, arguments.cost)
    path = _labels(arguments)
    if not path.exists():
        raise ConfigurationError(
            f"{path}: there is no such file; make it with `evalstudio review {arguments.results[0]} --all`"
        )
    # Called for its errors: it refuses a file on whose labels raters never agree.
    read_labels(path, levels=True)
    rated = read_ratings(path, levels=True)
    with as_records(arguments.results, Rows(keys={rating.key for rating in rated})) as records:
        scores = read_scores(records)
    ratings, outdated = without_outdated(rated, scores)
    labels, divided = majority(ratings)
    if not labels:
        others = f", and raters disagree on {len(divided)}" if divided else ""
        raise DataError(
            f"{path}: no label can be used: the answers of {counted(outdated, 'label')} have"
            f" changed since{others}; label them again"
        )
    calibration = calibrate(
        scores,
        labels,
        metrics,
        method=arguments.method,
        alpha=arguments.alpha,
        seed=arguments.seed,
        good_from=arguments.good,
        rule=rule,
        coverage=arguments.coverage,
        chooses=arguments.choose,
    )
    with_scores = [answer for answer in scores.answers.values() if _has_scores(answer, calibration.figures)]
    report = LabelReport(
        divided=divided,
        outdated=outdated,
        agreement=agreement(ratings, calibration.figures.good_from),
        segments=segment_labels(with_scores, labels),
    )
    _print_figures(calibration.figures, report, as_json=arguments.json)
    if not calibration.figures.is_accepted:
        if arguments.output:
            say(f"{arguments.output}: not written, because the calibration is refused", error=True)
        return FINDINGS
    if arguments.output:
        calibration.save(Path(arguments.output))
        if not arguments.json:
            say(f"wrote {arguments.output}")
    return FINE


def _has_scores(answer: TableAnswer, figures: CalibrationFigures) -> bool:
    return all(answer.score(metric) is not None for metric in figures.metrics)


def _print_figures(figures: CalibrationFigures, report: LabelReport, *, as_json: bool) -> None:
    from dataclasses import asdict

    from pytest_evalstudio.contrib.calibration.fit.description import describe
    from pytest_evalstudio.contrib.calibration.labelling.agreement import agreement_lines
    from pytest_evalstudio.contrib.calibration.labelling.segments import segment_lines

    if as_json:
        print_json({**asdict(figures), "accepted": figures.is_accepted, **asdict(report)})
        return
    if report.outdated:
        say(f"left out: {report.outdated} labels of answers whose text has changed since")
    if report.divided:
        say(f"left out: {len(report.divided)} answers on which raters are divided")
    say(*describe(figures))
    say(*agreement_lines(report.agreement), *segment_lines(report.segments))
