"""Drift of a judge: its verdicts on the canary set now, compared with earlier ones."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from pytest_evalstudio.analysis.wording import p_text
from pytest_evalstudio.contrib.judge_bench.bench import check_verdicts, open_bench
from pytest_evalstudio.contrib.judge_bench.canary_file import CanaryRecord, canary_set
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.scoring.judge_identity import JudgeIdentity
from pytest_evalstudio.stats.drift import Repeats, drift, loss
from pytest_evalstudio.text.figures import percent

P_VALUE = 0.05
MAX_REPEATS = 9
LISTED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """An answer whose verdicts differ between two records.

    Attributes:
        before, after: share of the rounds in which it passes.
    """

    key: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Comparison of two records of the canary set.

    Attributes:
        compared: answers with a verdict in both.
        lost: answers with a verdict in the earlier record only.
        changed: answers whose share of passes differs, the largest difference first.
        p: of the exact test that nothing changed but by noise.
        missing_before, missing_after: share of the rounds of all answers that have no verdict.
        p_lost: of the exact test that verdicts are missing no more often than before.
        differences: of the judge's configuration, in words.
    """

    compared: int
    lost: int
    changed: tuple[Changed, ...]
    p: float
    missing_before: float
    missing_after: float
    p_lost: float
    differences: tuple[str, ...]

    @property
    def is_drift(self) -> bool:
        """Return whether the verdicts changed beyond noise, or are missing now."""
        # Where most verdicts are missing, too few are left to compare.
        return min(self.p, self.p_lost) <= P_VALUE or self.lost > self.compared


def judge_canary(
    evaluator: str, *, config: Configuration, repeats: int = 1, registry: Registry | None = None
) -> CanaryRecord:
    """Judge the canary set; stored replies are neither used nor written, since they would hide a drift.

    Args:
        evaluator: its id.
        config: configuration with `judge` and the evaluator's options.
        repeats: number of additional rounds, which show the noise.

    Raises:
        ConfigurationError: if the evaluator asks no judge, or no judge is configured.
    """
    if not 0 <= repeats <= MAX_REPEATS:
        raise ConfigurationError(f"repeats = {repeats}: must be from 0 to {MAX_REPEATS}")
    bench = open_bench(evaluator, config=config, registry=registry, cache=None)
    content, digest = canary_set()
    cases = content.cases()
    with closing(bench):
        outcomes = [bench.outcomes(cases, repeat=number) for number in range(1, repeats + 2)]
        rounds = [bench.verdicts(cases, of_round) for of_round in outcomes]
    faults = (
        outcome.reason
        for of_round, verdicts in zip(outcomes, rounds, strict=True)
        for case, outcome in zip(cases, of_round, strict=True)
        if (case.key, case.model_key) not in verdicts
    )
    identity = JudgeIdentity.of(bench.selected)
    return CanaryRecord(
        evaluator=identity.evaluator,
        type=identity.type,
        set=digest,
        judge=dict(identity.judge),
        parameters=dict(identity.parameters),
        threshold=identity.threshold,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        verdicts={
            case.key: [verdicts.get((case.key, case.model_key)) for verdicts in rounds] for case in cases
        },
        fault=next(faults, ""),
    )


def check_judged(record: CanaryRecord) -> None:
    """Check that a new record has verdicts, without which later ones cannot be compared with it.

    Raises:
        DataError: if no answer has a verdict.
    """
    judged = [key for key, rounds in record.verdicts.items() if set(rounds) != {None}]
    check_verdicts("canary set", record.evaluator, judged, [record.fault])


def check_comparable(before: CanaryRecord, evaluator: str) -> None:
    """Check that a record can be compared with a new one.

    Raises:
        ConfigurationError: if it is of another evaluator or set, or has no verdicts.
    """
    if before.evaluator != evaluator:
        raise ConfigurationError(
            f"the earlier record is of evaluator {before.evaluator!r}, not {evaluator!r}; give each evaluator"
            " a file of its own"
        )
    _, present = canary_set()
    if before.set != present:
        raise ConfigurationError(
            f"the earlier record is of another canary set ({before.set}, now {present}): the set is a part"
            " of this package; replace the record with --update"
        )
    if before.unjudged == len(before.verdicts):
        raise ConfigurationError("the earlier record has no verdict; replace it with --update")


def compare_canaries(before: CanaryRecord, after: CanaryRecord) -> Drift:
    """Compare two records that `check_comparable` accepts.

    Where a verdict is missing, there are two tests, and each p is doubled (Bonferroni).
    """
    changed = []
    counts = []
    present = []
    lost = 0
    for key, rounds in before.verdicts.items():
        earlier = [verdict for verdict in rounds if verdict is not None]
        later = [verdict for verdict in after.verdicts.get(key, ()) if verdict is not None]
        present.append(Repeats(len(earlier), len(rounds), len(later), len(after.verdicts.get(key, ()))))
        if earlier and not later:
            lost += 1
        if not earlier or not later:
            continue
        counts.append(Repeats(sum(earlier), len(earlier), sum(later), len(later)))
        shares = sum(earlier) / len(earlier), sum(later) / len(later)
        if shares[0] != shares[1]:
            changed.append(Changed(key=key, before=shares[0], after=shares[1]))
    missing_before, missing_after = _missing(before), _missing(after)
    # Without missing verdicts, the second test can say nothing, and costs no correction.
    tests = 2 if missing_before or missing_after else 1
    return Drift(
        compared=len(counts),
        lost=lost,
        changed=tuple(sorted(changed, key=lambda each: -abs(each.after - each.before))),
        p=min(1.0, tests * drift(counts)),
        missing_before=missing_before,
        missing_after=missing_after,
        p_lost=min(1.0, tests * loss(present)),
        differences=tuple(_identity(before).differences(_identity(after))),
    )


def canary_lines(record: CanaryRecord) -> Iterator[str]:
    """Yield the lines of a record for a terminal."""
    firsts = {key: rounds[0] for key, rounds in record.verdicts.items() if rounds and rounds[0] is not None}
    rounds = max(map(len, record.verdicts.values()), default=0)
    yield (
        f"canary set: {len(firsts)} of {len(record.verdicts)} answers have a verdict of {record.evaluator},"
        f" {sum(firsts.values())} pass; {rounds} rounds"
    )
    if record.fault:
        yield f"without a verdict: {record.fault}"
    labels = canary_set()[0].labels(record.type)
    labelled = [key for key in firsts if key in labels]
    if labelled:
        wrong = [key for key in labelled if firsts[key] != labels[key]]
        yield f"agreement with the set's labels: {len(labelled) - len(wrong)} of {len(labelled)}" + (
            f"; not on {_listed(wrong)}" if wrong else ""
        )
    unsteady = [key for key, verdicts in record.verdicts.items() if len({*verdicts} - {None}) > 1]
    if unsteady:
        yield f"noise: {len(unsteady)} answers pass in some rounds only: {_listed(unsteady)}"


def drift_lines(comparison: Drift, since: str) -> Iterator[str]:
    """Yield the lines of a comparison for a terminal.

    Args:
        since: when the earlier record was written.
    """
    to_pass = sum(each.after > each.before for each in comparison.changed)
    counts = f"{len(comparison.changed)} of {comparison.compared} verdicts changed since {since}"
    directions = (
        f", {to_pass} to pass, {len(comparison.changed) - to_pass} to fail" if comparison.changed else ""
    )
    verdict = "no drift"
    if comparison.is_drift:
        verdict = "drift"
    elif comparison.changed or comparison.missing_after > comparison.missing_before:
        verdict = "no drift beyond noise"
    yield f"{verdict}: {counts}{directions} ({p_text(comparison.p)})"
    for each in comparison.changed[:LISTED]:
        yield f"  {each.key}: passed in {percent(each.before)} of the rounds, now in {percent(each.after)}"
    if len(comparison.changed) > LISTED:
        yield f"  … and {len(comparison.changed) - LISTED} more"
    if comparison.missing_after > comparison.missing_before:
        yield (
            f"without a verdict: {percent(comparison.missing_before)} of the rounds, now"
            f" {percent(comparison.missing_after)} ({p_text(comparison.p_lost)}); {comparison.lost} answers"
            " in no round now"
        )
    for difference in comparison.differences:
        yield f"configuration: {difference}"


def _missing(record: CanaryRecord) -> float:
    verdicts = [verdict for rounds in record.verdicts.values() for verdict in rounds]
    return verdicts.count(None) / len(verdicts) if verdicts else 0.0


def _identity(record: CanaryRecord) -> JudgeIdentity:
    return JudgeIdentity(
        evaluator=record.evaluator,
        type=record.type,
        judge=record.judge,
        parameters=record.parameters,
        threshold=record.threshold,
    )


def _listed(keys: list[str]) -> str:
    more = f" and {len(keys) - LISTED} more" if len(keys) > LISTED else ""
    return ", ".join(keys[:LISTED]) + more
