"""Measures a judge: does it agree with people, with itself, and at what price."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.judge_bench import Verdicts, labelled_cases, open_bench
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.stats.agreement import cohen_kappa
from pytest_evalstudio.stats.intervals import wilson_interval


def check_judge(
    path: Path,
    labels: Labels,
    evaluator: str,
    *,
    config: Configuration,
    repeats: int = 1,
    cache: Path | None = None,
    registry: Registry | None = None,
    prices: Prices | None = None,
) -> dict[str, object]:
    """Judge labelled answers repeatedly and in other orders, and compare the verdicts.

    Args:
        path: lab or data set that has the answers.
        evaluator: id of the evaluator; it rates an answer as good if its primary metric meets the threshold.
        config: configuration with `judge` and the evaluator's options.
        repeats: number of additional judgements of each answer, without stored replies.
        cache: folder of stored replies; None to store none.
        prices: of tokens, in place of the costs that the host reports.

    Returns:
        Counts; `agreement` with people, its 95 % interval (Wilson), Cohen's `kappa`; `precision` and `recall`
        for good answers and for bad ones; `flips` over repeats, over the chunks of the context in the other
        order, and over the choices of the reply in the other order: {compared, flipped, rate, interval};
        `parse_failure_rate`; calls, tokens and US dollars per verdict. Unavailable figures are None.

    Raises:
        ConfigurationError: if the evaluator asks no judge, or no judge is configured.
        DataError: if no label fits an answer.
    """
    if repeats < 0:
        raise ConfigurationError(f"repeats = {repeats}: must be 0 or more")
    bench = open_bench(evaluator, config=config, registry=registry, cache=cache)
    with closing(bench):
        cases = labelled_cases(path, labels)
        outcomes = bench.outcomes(cases)
        first = bench.verdicts(cases, outcomes)
        chunks = bench.with_chunks_reversed(cases)
        again = [
            bench.verdicts(cases, bench.outcomes(cases, repeat=number)) for number in range(2, repeats + 2)
        ]
        options = bench.verdicts(cases, bench.outcomes(cases, reverse_options=True))
    return {
        "evaluator": evaluator,
        "judge": dict(bench.selected.judge),
        "labels": len(labels),
        "answers": len(cases),
        "verdicts": len(first),
        **_against_people(first, labels),
        "flips": {
            "repeats": _flips(first, again),
            "chunk_order": _flips(first, [chunks]),
            "option_order": _flips(first, [options]),
        },
        **_effort(outcomes, len(first), prices),
    }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a service in US dollars per million tokens."""

    input_usd_per_million: float
    output_usd_per_million: float

    def cost_usd(self, spent: Judging) -> float:
        """Return the price of a judgement's tokens."""
        return (
            spent.input_tokens * self.input_usd_per_million
            + spent.output_tokens * self.output_usd_per_million
        ) / 1_000_000


def _against_people(verdicts: Verdicts, labels: Labels) -> dict[str, object]:
    pairs = [(labels[identity] == 1, passed) for identity, passed in verdicts.items()]
    agreed = sum(label == passed for label, passed in pairs)
    return {
        "agreement": _share(agreed, len(pairs)),
        "agreement_interval": wilson_interval(agreed, len(pairs)) if pairs else None,
        "kappa": cohen_kappa([label for label, _ in pairs], [passed for _, passed in pairs]),
        "good": _precision_recall(pairs, is_good=True),
        "bad": _precision_recall(pairs, is_good=False),
    }


def _precision_recall(pairs: Sequence[tuple[bool, bool]], *, is_good: bool) -> dict[str, float | None]:
    hits = sum(label == passed == is_good for label, passed in pairs)
    return {
        "precision": _share(hits, sum(passed == is_good for _, passed in pairs)),
        "recall": _share(hits, sum(label == is_good for label, _ in pairs)),
    }


def _flips(first: Verdicts, others: Sequence[Verdicts]) -> dict[str, object]:
    """Count the cases whose verdict differs in at least one of several further rounds.

    Only cases with a verdict in all rounds are compared.
    """
    compared = [identity for identity in first if others and all(identity in other for other in others)]
    flipped = sum(any(other[identity] != first[identity] for other in others) for identity in compared)
    return {
        "compared": len(compared),
        "flipped": flipped,
        "rate": _share(flipped, len(compared)),
        "interval": wilson_interval(flipped, len(compared)) if compared else None,
    }


def _effort(outcomes: Sequence[Outcome], verdicts: int, prices: Prices | None) -> dict[str, object]:
    """Return what judging took; figures per verdict divide all of it by the verdicts that there are."""
    asked = [outcome for outcome in outcomes if outcome.judging is not None]
    spent = sum((outcome.judging for outcome in asked if outcome.judging is not None), Judging())
    is_priced = bool(spent.calls) and (prices is not None or not spent.unpriced)
    cost_usd = spent.cost_usd if prices is None else prices.cost_usd(spent)
    return {
        "parse_failures": sum(bool(outcome.judging and outcome.judging.unparsable) for outcome in asked),
        "parse_failure_rate": _share(
            sum(bool(outcome.judging and outcome.judging.unparsable) for outcome in asked), len(asked)
        ),
        "repair_rate": _share(spent.repairs, spent.calls - spent.repairs),
        "errors": sum(outcome.status == "error" for outcome in outcomes),
        "not_applicable": sum(outcome.status == "not_applicable" for outcome in outcomes),
        "calls_per_verdict": _share(spent.calls, verdicts),
        "input_tokens_per_verdict": _share(spent.input_tokens, verdicts),
        "output_tokens_per_verdict": _share(spent.output_tokens, verdicts),
        "cost_usd_per_verdict": _share(cost_usd, verdicts) if is_priced else None,
        "faults": list(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.status == "error"))[
            :3
        ],
    }


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def check_lines(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the result for a terminal."""
    judges = ", ".join(
        model.get("llm_model_name") or model.get("host", "") for model in figures["judge"].get("models", ())
    )
    yield (
        f"{figures['evaluator']}, judged by {judges}: {figures['verdicts']} verdicts on {figures['answers']}"
        " labelled answers"
    )
    if figures["agreement"] is not None:
        yield (
            f"agreement with people   {figures['agreement']:.3f}  95% interval"
            f" {_interval(figures['agreement_interval'])}"
        )
        yield f"Cohen's kappa           {_number(figures['kappa'])}"
        for kind in ("good", "bad"):
            yield (
                f"{kind} answers".ljust(24) + f"precision {_number(figures[kind]['precision'])},"
                f" recall {_number(figures[kind]['recall'])}"
            )
    for name, label in (
        ("repeats", "repeats"),
        ("chunk_order", "chunks in other order"),
        ("option_order", "choices in other order"),
    ):
        flips = figures["flips"][name]
        if flips["compared"]:
            share = f"({flips['rate']:.1%}, 95% interval {_interval(flips['interval'])})"
            yield f"flips: {label}".ljust(31) + f"{flips['flipped']} of {flips['compared']} {share}"
        else:
            yield f"flips: {label}".ljust(31) + "nothing to compare"
    repairs = f"repairs {_number(figures['repair_rate'])} of the calls"
    yield (
        f"parse failures          {figures['parse_failures']} ({_number(figures['parse_failure_rate'])}),"
        f" {repairs}"
    )
    cost = (
        "cost not known"
        if figures["cost_usd_per_verdict"] is None
        else f"{figures['cost_usd_per_verdict']:.6f} USD"
    )
    tokens = (
        f"{_number(figures['input_tokens_per_verdict'], 0)} tokens in,"
        f" {_number(figures['output_tokens_per_verdict'], 0)} out"
    )
    yield f"per verdict             {_number(figures['calls_per_verdict'], 2)} calls, {tokens}, {cost}"
    for fault in figures["faults"]:
        yield f"without a verdict: {fault}"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}"
