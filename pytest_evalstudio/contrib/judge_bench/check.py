"""Measures a judge: does it agree with people, with itself, and at what price."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from pytest_evalstudio.contrib.judge_bench.bench import (
    Verdicts,
    check_verdicts,
    clusters_of,
    is_scale,
    labelled_cases,
    open_bench,
)
from pytest_evalstudio.contrib.judge_bench.causes import causes, is_low
from pytest_evalstudio.contrib.judge_bench.probes import Clusters, Identity, probes, share_by_question
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.judge_checks import JudgeCheck, PrecisionRecall, QuestionCounts
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.scoring.judge_identity import JudgeIdentity
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.stats.agreement import cohen_kappa, quadratic_kappa
from pytest_evalstudio.stats.resampling import cluster_interval, weighted_kappa, weighted_quadratic_kappa


def check_judge(
    path: Path,
    labels: Labels,
    evaluator: str,
    *,
    config: Configuration,
    repeats: int = 1,
    cache: Path | None = None,
    registry: Registry | None = None,
    prices: TokenPrices | None = None,
) -> JudgeCheck:
    """Judge labelled answers repeatedly, in other orders and with padding, and compare the verdicts.

    Args:
        path: lab or data set that has the answers.
        labels: 1 and 0 for good and bad; grades for an evaluator that grades on a scale, of which those that
            meet its threshold are good.
        evaluator: id of the evaluator; it rates an answer as good if its primary metric meets the threshold.
        config: configuration with `judge` and the evaluator's options.
        repeats: number of additional judgements of each answer, without stored replies.
        cache: folder of stored replies; None to store none.
        prices: of tokens, in place of the costs that the host reports.

    Raises:
        ConfigurationError: if the evaluator asks no judge, or no judge is configured.
        DataError: if no label fits an answer, or the judge has no verdict on any answer.
    """
    if repeats < 0:
        raise ConfigurationError(f"repeats = {repeats}: must be 0 or more")
    bench = open_bench(evaluator, config=config, registry=registry, cache=cache)
    grades: Labels | None = None
    if is_scale(bench.selected):
        grades, labels = labels, _good_and_bad(bench.selected, labels)
    with closing(bench):
        cases = labelled_cases(path, labels)
        clusters = clusters_of(cases)
        outcomes = bench.outcomes(cases)
        first = bench.verdicts(cases, outcomes)
        check_verdicts(str(path), evaluator, first, (outcome.reason for outcome in outcomes))
        probed = probes(bench, cases, first, repeats)
    identity = JudgeIdentity.of(bench.selected)
    against_people = _against_people(first, labels, clusters)
    is_agreement_low = is_low(against_people["kappa"], against_people["agreement"])
    return JudgeCheck(
        evaluator=identity.evaluator,
        type=identity.type,
        judge=dict(identity.judge),
        parameters=dict(identity.parameters),
        threshold=identity.threshold,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        labels=len(labels),
        answers=len(cases),
        verdicts=len(first),
        **against_people,
        **(_of_grades(cases, outcomes, grades, clusters, bench.selected) if grades else {}),
        flips={name: probe.figures(clusters) for name, probe in probed.items()},
        causes=list(causes(first, labels, probed, len(cases), is_agreement_low=is_agreement_low)),
        **_effort(outcomes, len(first), prices),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrices:
    """Prices of a service in US dollars per million tokens."""

    input_usd_per_million: float
    output_usd_per_million: float

    def cost_usd(self, spent: Judging) -> float:
        """Return the price of a judgement's tokens."""
        return (
            spent.input_tokens * self.input_usd_per_million
            + spent.output_tokens * self.output_usd_per_million
        ) / 1_000_000


def _good_and_bad(selected: ConfiguredEvaluator, grades: Labels) -> Labels:
    primary = selected.spec.primary
    limit = selected.thresholds[primary.key]
    return {identity: int(primary.passes(grade, limit)) for identity, grade in grades.items()}


def _of_grades(
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
    grades: Labels,
    clusters: Clusters,
    selected: ConfiguredEvaluator,
) -> dict[str, Any]:
    """Return the agreement of the judge's grades with those of people."""
    key = selected.spec.primary.key
    pairs = [
        (float(grades[case.key, case.model_key]), value, clusters[case.key, case.model_key])
        for case, outcome in zip(cases, outcomes, strict=True)
        if (value := outcome.scores.get(key)) is not None
    ]
    if not pairs:
        return {}
    people, judge, questions = (np.array(values) for values in zip(*pairs, strict=True))
    interval = cluster_interval(lambda weights: weighted_quadratic_kappa(people, judge, weights), questions)
    return {
        "weighted_kappa": quadratic_kappa(people.tolist(), judge.tolist()),
        "weighted_kappa_interval": interval,
    }


def _against_people(verdicts: Verdicts, labels: Labels, clusters: Clusters) -> dict[str, Any]:
    good = [identity for identity in verdicts if labels[identity] == 1]
    bad = [identity for identity in verdicts if labels[identity] != 1]
    passed = {identity for identity, verdict in verdicts.items() if verdict}
    agreed = {identity for identity in verdicts if (identity in passed) == (labels[identity] == 1)}
    agreement = share_by_question(list(verdicts), agreed, clusters)
    people = np.array([labels[identity] == 1 for identity in verdicts])
    judge = np.array([identity in passed for identity in verdicts])
    questions = np.array([clusters[identity] for identity in verdicts])
    return {
        "agreement": agreement.value,
        "agreement_interval": agreement.interval(),
        "kappa": cohen_kappa(people.tolist(), judge.tolist()),
        "kappa_interval": cluster_interval(lambda weights: weighted_kappa(people, judge, weights), questions),
        "good": _precision_recall(good, [each for each in verdicts if each in passed], clusters),
        "bad": _precision_recall(bad, [each for each in verdicts if each not in passed], clusters),
        "questions": _by_question(good, bad, passed, clusters),
    }


def _precision_recall(
    labelled: Sequence[Identity], judged: Sequence[Identity], clusters: Clusters
) -> PrecisionRecall:
    """Return the figures of one kind of answers.

    Args:
        labelled: answers that people call so.
        judged: answers that the judge calls so.
    """
    precision = share_by_question(judged, set(labelled), clusters)
    recall = share_by_question(labelled, set(judged), clusters)
    return PrecisionRecall(
        precision=precision.value,
        precision_interval=precision.interval(),
        recall=recall.value,
        recall_interval=recall.interval(),
    )


def _by_question(
    good: Sequence[Identity], bad: Sequence[Identity], passed: set[Identity], clusters: Clusters
) -> list[QuestionCounts]:
    counts: dict[int, dict[str, int]] = {}
    for name, identities in (("good", good), ("bad", bad)):
        for identity in identities:
            of_question = counts.setdefault(clusters[identity], {})
            of_question[name] = of_question.get(name, 0) + 1
            of_question[f"{name}_passed"] = of_question.get(f"{name}_passed", 0) + (identity in passed)
    return [QuestionCounts(**of_question) for _, of_question in sorted(counts.items())]


def _effort(outcomes: Sequence[Outcome], verdicts: int, prices: TokenPrices | None) -> dict[str, Any]:
    """Return what judging took; figures per verdict divide all of it by the verdicts that there are."""
    judged_outcomes = [outcome for outcome in outcomes if outcome.judging is not None]
    spent = sum((outcome.judging for outcome in judged_outcomes if outcome.judging is not None), Judging())
    # A cost that is known in part would look like the whole.
    is_priced = bool(spent.calls) and (prices is not None or not spent.unpriced)
    cost_usd = spent.cost_usd if prices is None else prices.cost_usd(spent)
    return {
        "parse_failures": sum(
            bool(outcome.judging and outcome.judging.unparsable) for outcome in judged_outcomes
        ),
        "parse_failure_rate": _share(
            sum(bool(outcome.judging and outcome.judging.unparsable) for outcome in judged_outcomes),
            len(judged_outcomes),
        ),
        "contradictions": sum(outcome.code == OutcomeCode.JUDGE_CONTRADICTORY for outcome in outcomes),
        # A repair is a call, too: the share is of the first calls.
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
