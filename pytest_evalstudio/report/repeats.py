"""Repeats in words and tables, for terminal, summary, page and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from pytest_evalstudio.analysis.repeats import (
    FlakyCase,
    MeanEstimate,
    RepeatAnalysis,
    RepeatFigures,
    StoppingFigures,
)
from pytest_evalstudio.text.figures import counted, figure, percent

HEAD = ("Evaluator", "Model", "Items", "Repeats", "Mean", "Min", "k", "pass@k", "pass^k")
FLAKY_HEAD = ("Flaky case", "Failed", "Rate")


def repeat_rows(repeats: RepeatAnalysis) -> Iterator[Sequence[str]]:
    """Yield the cells below `HEAD`: a row per evaluator, model and k."""
    for figures in repeats.figures:
        for number, passes in enumerate(figures.passes):
            shown = _first_cells(figures) if number == 0 else ("",) * 6
            yield (*shown, str(passes.k), estimate(passes.any_pass), estimate(passes.all_pass))


def flaky_rows(repeats: RepeatAnalysis) -> Iterator[Sequence[str]]:
    """Yield the cells below `FLAKY_HEAD`."""
    for case in repeats.flaky:
        yield case.nodeid, f"{case.failed} of {case.total} {case.over}", percent(case.rate)


def estimate(value: MeanEstimate | None) -> str:
    """Return a mean with its 95 % interval."""
    if value is None:
        return "–"
    between = f" [{figure(value.interval[0])}, {figure(value.interval[1])}]" if value.interval else ""
    return f"{figure(value.value)}{between}"


def stopping_lines(figures: StoppingFigures) -> Iterator[str]:
    """Yield the design of a sequential test with its exact error rates, and the calls that it saved."""
    design, good, bad = figures.design, figures.good, figures.bad
    yield (
        f"sequential test of {figures.name}: at most {design.max_runs} repeats, p0 {design.p0:g}, p1"
        f" {design.p1:g}, alpha {design.alpha:g}, beta {design.beta:g}"
    )
    yield (
        f"exact error rates: a case of pass rate {design.p0:g} fails with probability {figure(good.failed)}"
        f" (undecided {figure(good.undecided)}, mean {figure(good.mean_runs)}), one of {design.p1:g} passes"
        f" with probability {figure(bad.passed)} (undecided {figure(bad.undecided)}, mean"
        f" {figure(bad.mean_runs)})"
    )
    items, repeats = figures.items, counted(figures.asked, "repeat")
    yield (
        f"{counted(items['pass'], 'item')} decided to pass, {items['fail']:,} to fail,"
        f" {items['inconclusive']:,} inconclusive; {repeats}, {figures.saved:,} saved"
    )


def terminal_lines(repeats: RepeatAnalysis, listed: int) -> Iterator[str]:
    """Yield the lines of a terminal.

    Args:
        repeats: of the run.
        listed: maximum number of flaky cases.
    """
    for figures in repeats.figures:
        runs = _runs(figures)
        yield (
            f"repeats: {figures.evaluator}, {figures.name}: {runs} repeats, mean {estimate(figures.mean)},"
            f" min {estimate(figures.minimum)}"
        )
        for passes in figures.passes:
            yield (
                f"  pass@{passes.k} {estimate(passes.any_pass)}, pass^{passes.k} {estimate(passes.all_pass)}"
            )
    for stopping in repeats.stopping:
        first, *others = stopping_lines(stopping)
        yield first
        yield from (f"  {line}" for line in others)
    cases = [case for case in repeats.flaky if case.over == "repeats"]
    if cases:
        yield f"flaky: {_counted(cases)} passed in some repeats and failed in others"
        for case in cases[:listed]:
            yield f"  {case.nodeid}: {case.failed} of {case.total} repeats failed ({percent(case.rate)})"
        if len(cases) > listed:
            yield f"  ... and {len(cases) - listed} more in the report"


def as_json(repeats: RepeatAnalysis) -> dict[str, object]:
    """Return the repeats as JSON data."""
    return {
        "figures": [asdict(figures) for figures in repeats.figures],
        "flaky": [{**asdict(case), "rate": case.rate} for case in repeats.flaky],
        "flaky_items": repeats.flaky_items,
        "stopping": [asdict(figures) for figures in repeats.stopping],
    }


def _first_cells(figures: RepeatFigures) -> tuple[str, ...]:
    items = figures.passes[0].any_pass.items
    mean, minimum = estimate(figures.mean), estimate(figures.minimum)
    return figures.evaluator, figures.name, str(items), _runs(figures), mean, minimum


def _runs(figures: RepeatFigures) -> str:
    fewest, most = figures.fewest_runs, figures.most_runs
    return str(most) if fewest == most else f"{fewest} to {most}"


def _counted(cases: Sequence[FlakyCase]) -> str:
    return counted(len(cases), "test case")
