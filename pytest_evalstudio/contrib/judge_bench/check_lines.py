"""The result of judge-check in words, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.contrib.judge_bench.causes import is_low
from pytest_evalstudio.contrib.judge_bench.probes import PROBES
from pytest_evalstudio.formats.judge_checks import Flips, JudgeCheck, PrecisionRecall
from pytest_evalstudio.text.figures import figure, percent

_COLUMN = 24
_PROBE_COLUMN = 31


def check_lines(check: JudgeCheck) -> Iterator[str]:
    """Yield the lines of the result."""
    models = check.judge.get("models", ())
    judges = ", ".join(model.get("llm_model_name") or model.get("host", "") for model in models)
    yield (
        f"{check.evaluator}, judged by {judges}: {check.verdicts} verdicts on {check.answers} labelled"
        " answers"
    )
    if check.agreement is not None:
        yield "agreement with people".ljust(_COLUMN) + _with_interval(
            check.agreement, check.agreement_interval
        )
        yield "Cohen's kappa".ljust(_COLUMN) + (
            figure(check.kappa)
            if check.kappa_interval is None
            else _with_interval(check.kappa, check.kappa_interval)
        )
    if check.weighted_kappa is not None:
        yield "weighted kappa, grades".ljust(_COLUMN) + _with_interval(
            check.weighted_kappa, check.weighted_kappa_interval
        )
    if check.agreement is not None:
        yield from _of_kind("good", check.good)
        yield from _of_kind("bad", check.bad)
    for name, label in PROBES.items():
        yield f"flips: {label}".ljust(_PROBE_COLUMN) + _flips(check.flips.get(name, Flips()))
    yield (
        "parse failures".ljust(_COLUMN) + f"{check.parse_failures} ({figure(check.parse_failure_rate)}),"
        f" contradictions {check.contradictions}, repairs {figure(check.repair_rate)} of the calls"
    )
    yield "per verdict".ljust(_COLUMN) + _per_verdict(check)
    for fault in check.faults:
        yield f"without a verdict: {fault}"
    if is_by_chance(check):
        yield (
            "no better than chance: its verdicts and people's labels may agree by chance alone; let it decide"
            " nothing. Improve its prompt or model, or label more answers"
        )
    if is_low(check.kappa, check.agreement):
        yield f"agreement is low; {'causes' if check.causes else 'the probes show no cause'}:"
    elif check.causes:
        yield "weak points:"
    for cause in check.causes:
        yield f"  {cause.code}: {cause.text}"


def is_by_chance(check: JudgeCheck) -> bool:
    """Return True if the agreement of a judge with people is not more than chance.

    The interval of kappa reaches 0 or lies below it. Where all labels and verdicts are the same, kappa is not
    defined, and nothing is said.
    """
    if check.kappa is None:
        return False
    return check.kappa <= 0 or (check.kappa_interval is not None and check.kappa_interval[0] <= 0)


def _of_kind(kind: str, figures: PrecisionRecall) -> Iterator[str]:
    yield f"{kind} answers".ljust(_COLUMN) + (
        f"precision {_with_interval(figures.precision, figures.precision_interval)},"
        f" recall {_with_interval(figures.recall, figures.recall_interval)}"
    )


def _flips(flips: Flips) -> str:
    if not flips.compared or flips.rate is None or flips.interval is None:
        return "nothing to compare"
    low, high = flips.interval
    share = f"({percent(flips.rate)}, 95 % interval {figure(low)} to {figure(high)})"
    directions = f", {flips.to_pass} to pass, {flips.to_fail} to fail" if flips.flipped else ""
    return f"{flips.flipped} of {flips.compared} {share}{directions}"


def _per_verdict(check: JudgeCheck) -> str:
    tokens_in, tokens_out = (
        figure(tokens) for tokens in (check.input_tokens_per_verdict, check.output_tokens_per_verdict)
    )
    cost = check.cost_usd_per_verdict
    price = "cost not known" if cost is None else f"{figure(cost)} USD"
    return f"{figure(check.calls_per_verdict)} calls, {tokens_in} tokens in, {tokens_out} out, {price}"


def _with_interval(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return figure(None)
    return f"{figure(value)} (95 % interval {figure(interval[0])} to {figure(interval[1])})"
