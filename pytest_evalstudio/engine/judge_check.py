"""Measures a judge: does it agree with people, with itself, and at what price."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.judging import JUDGE, Judging
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.asking.answers import AnswerCache
from pytest_evalstudio.engine.asking.judging import Judges
from pytest_evalstudio.engine.pipeline import Pipeline
from pytest_evalstudio.engine.scoring.model_provider import ModelProvider
from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.engine.scoring.tasks import answered_task, tasks
from pytest_evalstudio.engine.scoring.verdicts import verdict
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.files import read, read_source
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.stats.agreement import cohen_kappa
from pytest_evalstudio.stats.intervals import wilson_interval

Verdicts = dict[tuple[str, str], bool]


def check_judge(
    path: Path,
    labels: Labels,
    evaluator: str,
    *,
    config: Configuration,
    repeats: int = 1,
    cache: Path | None = None,
    registry: Registry | None = None,
) -> dict[str, Any]:
    """Judge labelled answers repeatedly and in other orders, and compare the verdicts.

    Args:
        path: lab or data set that has the answers.
        evaluator: id of the evaluator; it rates an answer as good if its primary metric meets the threshold.
        config: configuration with `judge` and the evaluator's options.
        repeats: number of additional judgements of each answer, without stored replies.
        cache: folder of stored replies; None to store none.

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
    known = registry or Registry()
    plan = Plan(known, config)
    selected = plan.alone(evaluator)
    if JUDGE not in selected.requires:
        raise ConfigurationError(
            f"evaluator {evaluator!r} asks no judge; `evalstudio evaluators` lists those that do under"
            " method: judge"
        )
    cases = _labelled(path, labels)
    bench = _Bench(
        plan,
        selected,
        config,
        ModelProvider(cache=cache, registry=known),
        known,
        AnswerCache(cache) if cache is not None else None,
    )
    with closing(bench):
        outcomes = bench.outcomes(cases)
        first = bench.verdicts(cases, outcomes)
        again = [
            bench.verdicts(cases, bench.outcomes(cases, repeat=number)) for number in range(2, repeats + 2)
        ]
        split = [case for case in cases if len(case.context) > 1]
        reversed_chunks = [
            dataclasses.replace(case, context=case.context[::-1], context_sources=case.context_sources[::-1])
            for case in split
        ]
        chunks = bench.verdicts(split, bench.outcomes(reversed_chunks))
        options = bench.verdicts(cases, bench.outcomes(cases, reverse_options=True))
    return {
        "evaluator": evaluator,
        "judge": dict(selected.judge),
        "labels": len(labels),
        "answers": len(cases),
        "verdicts": len(first),
        **_against_people(first, labels),
        "flips": {
            "repeats": _flips(first, again),
            "chunk_order": _flips(first, [chunks]),
            "option_order": _flips(first, [options]),
        },
        **_effort(outcomes),
    }


@dataclasses.dataclass
class _Bench:
    """Puts the same cases to the judge in several ways."""

    plan: Plan
    selected: ConfiguredEvaluator
    config: Configuration
    provider: ModelProvider
    registry: Registry
    cache: AnswerCache | None
    budgets: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        others = [requirement for requirement in self.selected.requires if requirement != JUDGE]
        if others:
            self.provider.open(self.config, [self.selected])

    def outcomes(
        self, cases: Sequence[Case], *, repeat: int = 1, reverse_options: bool = False
    ) -> list[Outcome]:
        """Return the outcomes of cases; repeats do not use stored replies and are not stored."""
        if not cases:
            return []
        judges = Judges(
            self.registry,
            self.cache if repeat == 1 else None,
            repeat=repeat,
            reverse_options=reverse_options,
            budgets=self.budgets,
        )
        with closing(judges):
            tools = dataclasses.replace(
                self.provider.tools(self.config), judge=judges.open(self.config, self.selected.own_judge)
            )
            pipeline = Pipeline(self.plan, provide=lambda _: tools)
            results = pipeline.evaluate([answered_task(case, self.selected) for case in cases])
        return [result.outcomes[0][self.selected] for result in results]

    def verdicts(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdicts:
        """Return, for each case, True if it passes; cases without a verdict are left out."""
        found = {}
        for case, outcome in zip(cases, outcomes, strict=True):
            passed = verdict(self.selected, [outcome]).passed
            if passed is not None:
                found[case.key, case.model_key] = passed
        return found

    def close(self) -> None:
        self.provider.close()
        if self.cache is not None:
            self.cache.close()


def _labelled(path: Path, labels: Labels) -> list[Case]:
    """Return the labelled cases of a file; of repeats, the first one."""
    file = read(read_source(path, str(path)))
    if file.errors:
        raise DataError("\n".join(map(str, file.errors)))
    found = [task.answers[0] for task in tasks(file, path.absolute().parent) if task.answered]
    cases = [case for case in found if (case.key, case.model_key) in labels]
    if not cases:
        example = (
            f"; the file has e.g. key {found[0].key!r}, model_key {found[0].model_key!r}"
            if found
            else ", and no answers either"
        )
        raise DataError(f"{path}: none of its answers has a label{example}")
    return cases


def _against_people(verdicts: Verdicts, labels: Labels) -> dict[str, Any]:
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


def _flips(first: Verdicts, others: Sequence[Verdicts]) -> dict[str, Any]:
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


def _effort(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    asked = [outcome for outcome in outcomes if outcome.judging is not None]
    spent = sum((outcome.judging for outcome in asked if outcome.judging is not None), Judging())
    is_priced = bool(spent.calls) and not spent.unpriced
    return {
        "parse_failures": sum(bool(outcome.judging and outcome.judging.unparsable) for outcome in asked),
        "parse_failure_rate": _share(
            sum(bool(outcome.judging and outcome.judging.unparsable) for outcome in asked), len(asked)
        ),
        "repair_rate": _share(spent.repairs, spent.calls - spent.repairs),
        "errors": sum(outcome.status == "error" for outcome in outcomes),
        "not_applicable": sum(outcome.status == "not_applicable" for outcome in outcomes),
        "calls_per_verdict": _share(spent.calls, len(asked)),
        "input_tokens_per_verdict": _share(spent.input_tokens, len(asked)),
        "output_tokens_per_verdict": _share(spent.output_tokens, len(asked)),
        "cost_usd_per_verdict": spent.cost_usd / len(asked) if is_priced and asked else None,
        "faults": list(dict.fromkeys(outcome.reason for outcome in outcomes if outcome.status == "error"))[
            :3
        ],
    }


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def told(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the result for a terminal."""
    judges = ", ".join(
        model.get("llm_model_name") or model.get("host", "") for model in found["judge"].get("models", ())
    )
    yield (
        f"{found['evaluator']}, judged by {judges}: {found['verdicts']} verdicts on {found['answers']}"
        " labelled answers"
    )
    if found["agreement"] is not None:
        yield (
            f"agreement with people   {found['agreement']:.3f}  95% interval"
            f" {_interval(found['agreement_interval'])}"
        )
        yield f"Cohen's kappa           {_number(found['kappa'])}"
        for kind in ("good", "bad"):
            yield (
                f"{kind} answers".ljust(24)
                + f"precision {_number(found[kind]['precision'])}, recall {_number(found[kind]['recall'])}"
            )
    for name, label in (
        ("repeats", "repeats"),
        ("chunk_order", "chunks in other order"),
        ("option_order", "choices in other order"),
    ):
        flips = found["flips"][name]
        if flips["compared"]:
            share = f"({flips['rate']:.1%}, 95% interval {_interval(flips['interval'])})"
            yield f"flips: {label}".ljust(31) + f"{flips['flipped']} of {flips['compared']} {share}"
        else:
            yield f"flips: {label}".ljust(31) + "nothing to compare"
    repairs = f"repairs {_number(found['repair_rate'])} of the calls"
    yield (
        f"parse failures          {found['parse_failures']} ({_number(found['parse_failure_rate'])}),"
        f" {repairs}"
    )
    cost = (
        "cost not known"
        if found["cost_usd_per_verdict"] is None
        else f"{found['cost_usd_per_verdict']:.6f} USD"
    )
    tokens = (
        f"{_number(found['input_tokens_per_verdict'], 0)} tokens in,"
        f" {_number(found['output_tokens_per_verdict'], 0)} out"
    )
    yield f"per verdict             {_number(found['calls_per_verdict'], 2)} calls, {tokens}, {cost}"
    for fault in found["faults"]:
        yield f"without a verdict: {fault}"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _interval(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}"
