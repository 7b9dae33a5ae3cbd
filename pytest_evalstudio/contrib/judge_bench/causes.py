"""Causes of a judge's low agreement with people, as far as its probes show them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_evalstudio.contrib.judge_bench.bench import Verdicts
from pytest_evalstudio.contrib.judge_bench.probes import (
    CHUNK_ORDER,
    OPTION_ORDER,
    PADDING,
    REPEATS,
    Identity,
    JudgeProbe,
)
from pytest_evalstudio.formats.judge_checks import Cause, CauseCode
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.sign_flip import sign_test

LOW_KAPPA = 0.6
"""Agreement below it is moderate at most (Landis and Koch, 1977)."""
LOW_AGREEMENT = 0.8
"""Used where kappa is not defined: all labels, or all verdicts, are the same."""
MIN_FLIPS = 0.01
"""A probe is named if its lower bound of flips is higher."""
MISSING = 0.1
"""Share of answers without a verdict from which on it is named."""
P_VALUE = 0.05
PROBE_P_VALUE = 0.02
"""p value below which a probe is named. By chance, one of the three is for 3 % of noisy judges at most."""
_CODES: Mapping[str, CauseCode] = {
    OPTION_ORDER: CauseCode.OPTION_ORDER,
    CHUNK_ORDER: CauseCode.CHUNK_ORDER,
    PADDING: CauseCode.PADDING,
    REPEATS: CauseCode.NOISE,
}
_CHANGES: Mapping[str, str] = {
    OPTION_ORDER: "the options are in the other order",
    CHUNK_ORDER: "the chunks are in the other order",
    PADDING: "the answer is padded",
}
_REMEDIES: Mapping[CauseCode, str] = {
    CauseCode.OPTION_ORDER: "take another model, or a panel",
    CauseCode.CHUNK_ORDER: "take another model, or a panel",
    CauseCode.PADDING: "take another model, or say in the prompt that courtesies do not count",
    CauseCode.NOISE: "take another model, or a panel; check temperature and seed",
    CauseCode.NO_VERDICT: "read the faults; set structured_output, or raise max_tokens",
    CauseCode.LENIENT: "run judge-tune, or state in the prompt when an answer fails",
    CauseCode.STRICT: "run judge-tune, or state in the prompt when an answer passes",
    CauseCode.CRITERIA: "read the disagreements: prompt and labels may follow other criteria; run judge-tune",
}


def is_low(kappa: float | None, agreement: float | None) -> bool:
    """Return whether the agreement of a judge with people is low."""
    if agreement is None:
        return False
    return agreement < LOW_AGREEMENT if kappa is None else kappa < LOW_KAPPA


def causes(
    first: Verdicts,
    labels: Mapping[Identity, int],
    probes: Mapping[str, JudgeProbe],
    answers: int,
    *,
    is_agreement_low: bool,
) -> Iterator[Cause]:
    """Yield the weak points of a judge; probes that explain most disagreements come first.

    Args:
        first: verdicts without a change.
        labels: 1 (good) or 0 (bad).
        probes: by name.
        answers: number of labelled answers, with and without a verdict.
        is_agreement_low: look for causes beyond the probes, too.
    """
    wrong = {identity for identity, passed in first.items() if passed != (labels[identity] == 1)}
    of_probes = [
        cause for name, probe in probes.items() if (cause := _of_probe(name, probe, probes[REPEATS], wrong))
    ]
    yield from sorted(of_probes, key=lambda cause: -cause.explained)
    if is_agreement_low:
        yield from _of_answers(first, answers, wrong)
        steady = wrong.difference(*(probe.flipped for probe in probes.values()))
        yield from _of_steady(first, steady, wrong, is_named=bool(of_probes))


def _of_answers(first: Verdicts, answers: int, wrong: set[Identity]) -> Iterator[Cause]:
    missing = answers - len(first)
    if missing > MISSING * answers:
        fact = f"{missing} of {answers} answers have no verdict"
        yield _cause(CauseCode.NO_VERDICT, fact, 0, wrong)


def _of_steady(
    first: Verdicts, steady: set[Identity], wrong: set[Identity], *, is_named: bool
) -> Iterator[Cause]:
    """Yield the cause of disagreements that are the same in every probe."""
    passing = sum(first[identity] for identity in steady)
    failing = len(steady) - passing
    of_all = f"of {len(wrong)} disagreements"
    if sign_test(passing, failing) > P_VALUE:
        if steady and not is_named:
            fact = f"{len(steady)} {of_all} are the same in every probe"
            yield _cause(CauseCode.CRITERIA, fact, len(steady), wrong)
    elif passing > failing:
        fact = f"{passing} {of_all} are bad answers that pass in every probe"
        yield _cause(CauseCode.LENIENT, fact, passing, wrong)
    else:
        fact = f"{failing} {of_all} are good answers that fail in every probe"
        yield _cause(CauseCode.STRICT, fact, failing, wrong)


def _of_probe(name: str, probe: JudgeProbe, repeats: JudgeProbe, wrong: set[Identity]) -> Cause | None:
    """Return the cause that a probe shows: more flips than when the same is asked again."""
    compared, flipped = probe.compared, probe.flipped
    if not compared or wilson_interval(len(flipped), len(compared))[0] <= MIN_FLIPS:
        return None
    counts = f"{len(flipped)} of {len(compared)}"
    if name != REPEATS:
        noise = repeats.once
        common = set(compared) & set(noise.compared)
        by_probe = len(common & (set(flipped) - set(noise.flipped)))
        by_noise = len(common & (set(noise.flipped) - set(flipped)))
        # Without further rounds, there is no noise to compare with.
        if common and (by_probe <= by_noise or sign_test(by_probe, by_noise) > PROBE_P_VALUE):
            return None
        fact = f"{counts} verdicts flip where {_CHANGES[name]}"
        if common:
            fact += f", {len(noise.flipped)} of {len(noise.compared)} where they are asked for again"
        fact += _direction(name, probe)
    else:
        fact = f"{counts} verdicts flip where they are asked for again"
    explained = len(wrong & set(flipped))
    fact += f"; {explained} of {len(wrong)} disagreements are among them" if wrong else ""
    return _cause(_CODES[name], fact, explained, wrong)


def _direction(name: str, probe: JudgeProbe) -> str:
    """Return which side the flips prefer, "" where they prefer none."""
    flipped = probe.flipped
    to_fail = sum(probe.first[identity] for identity in flipped)
    to_pass = len(flipped) - to_fail
    # Chunks have no side that a verdict could prefer.
    if name == CHUNK_ORDER or sign_test(to_pass, to_fail) > P_VALUE:
        return ""
    if name == PADDING:
        return f": {max(to_pass, to_fail)} of them to {'pass' if to_pass > to_fail else 'fail'}"
    # The first option of a choice is that of a case that passes, so that reversing it moves it to the end.
    side = "first" if to_fail > to_pass else "last"
    return f": {max(to_pass, to_fail)} of them to the option that is named {side}"


def _cause(code: CauseCode, fact: str, explained: int, wrong: set[Identity]) -> Cause:
    text = f"{fact}. Remedy: {_REMEDIES[code]}"
    return Cause(code=code, explained=explained, disagreements=len(wrong), text=text)
