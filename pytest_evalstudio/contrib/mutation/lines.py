"""A mutation test in words, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_evalstudio.contrib.mutation.results import MutationResult, Share, Survivor
from pytest_evalstudio.core.text import excerpt, short_key
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.text.figures import counted, percent, plural
from pytest_evalstudio.text.windows import change_windows, word_diff

_COLUMN = 34
_MAX_CASES = 10
_WHOLE = ("other_answer", "refusal", "language")


def mutation_lines(result: MutationResult, survivors: int = 10) -> Iterator[str]:
    """Yield the lines of a result.

    Args:
        survivors: number of damaged answers that are shown.
    """
    yield (
        f"{result.source}: {counted(result.answers, 'passing answer')} of"
        f" {counted(result.cases, 'case')}, damaged in {counted(len(result.kinds), 'way')}"
    )
    if result.failing:
        fails = plural(result.failing, "fails", "fail")
        yield f"left out: {counted(result.failing, 'answer')} that {fails} undamaged"
    if result.not_judged:
        yield (
            f"left out: {counted(result.not_judged, 'answer')} of which no evaluator here judges what"
            f" {plural(result.not_judged, 'it says', 'they say')}"
        )
    for id, reason in result.not_asked.items():
        yield f"left out: evaluator {id}, since {reason}"
    yield ""
    yield f"mutation score {_share(result.score)} damaged answers fail"
    yield f"false alarms {_share(result.false_alarms)} right answers in another form fail"
    yield from _table("by kind of damage", result.kinds)
    yield from _table("by evaluator, of the answers that it judges", result.evaluators)
    alarms = [share for share in result.harmless if share.failed]
    if alarms:
        yield from _table("false alarms by kind of form", alarms)
        yield from _worst_cases(result.alarms_by_case)
    if result.unjudged:
        yield f"without a verdict: {sum(result.unjudged.values())} damaged answers"
    if result.findings:
        yield ""
        yield "says nothing, or is too strict:"
        for finding in result.findings:
            yield f"  {finding.text}"
    if result.survivors:
        yield ""
        # `survivors` may be cut at MAX_SURVIVORS; the shares count all.
        shown, all_survivors = min(survivors, len(result.survivors)), result.score.total - result.score.failed
        yield f"mutants that no test fails, {shown:,} of {all_survivors:,}:"
        for survivor in result.survivors[:survivors]:
            yield from survivor_lines(survivor)


def survivor_lines(survivor: Survivor) -> Iterator[str]:
    """Yield a damaged answer that passes: where, what was done, and what would fail it."""
    # Texts are masked before they are cut: a part of a secret is not recognised as one.
    original, text = masked(survivor.original), masked(survivor.text)
    place = f"{excerpt(masked(survivor.question))} ({survivor.model}, {short_key(survivor.key)})"
    yield f"  {survivor.kind}: {place}"
    # Damaged calls leave the text as it is.
    if survivor.text == survivor.original:
        yield f"    {survivor.added}"
    elif survivor.kind in _WHOLE or text == original:
        yield f"    answer: {excerpt(text)}"
    else:
        yield f"    {word_diff(change_windows(original, text))}"
    if survivor.advice is not None:
        yield f"    to fail it: {survivor.advice.text}"


def _worst_cases(shares: Iterable[Share]) -> Iterator[str]:
    """Yield the cases with most false alarms; --json has all."""
    cases = sorted(
        (share for share in shares if share.failed), key=lambda share: (-(share.value or 0.0), share.name)
    )
    more = f", {_MAX_CASES} of {len(cases)}" if len(cases) > _MAX_CASES else ""
    yield f"false alarms by case{more}:"
    for share in cases[:_MAX_CASES]:
        yield f"  {share.name} ".ljust(_COLUMN) + _share(share)


def _table(title: str, shares: Iterable[Share]) -> Iterator[str]:
    yield f"{title}:"
    for share in sorted(shares, key=lambda share: (share.value or 0.0, share.name)):
        yield f"  {share.name} ".ljust(_COLUMN) + _share(share)


def _share(share: Share) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "–"
    bounds = f"[{percent(share.low)}, {percent(share.high)}]"
    return f"{percent(share.value)} {bounds}, {share.failed:,} of {share.total:,}"
