"""Mutation testing of a suite: damage passing answers, score them by its evaluators, count what fails."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_evalstudio.api.evaluate import evaluate_lab, verdict_word
from pytest_evalstudio.contrib.mutation.advice import advice_for
from pytest_evalstudio.contrib.mutation.calls import CALL_MUTATORS
from pytest_evalstudio.contrib.mutation.findings import findings
from pytest_evalstudio.contrib.mutation.mutants import Mutant
from pytest_evalstudio.contrib.mutation.results import FalseAlarm, MutationResult, Share, Survivor
from pytest_evalstudio.contrib.mutation.right_variants import RIGHT_VARIANTS
from pytest_evalstudio.contrib.mutation.subjects import Subject, SubjectGroup, Subjects
from pytest_evalstudio.contrib.mutation.texts import MUTATORS, Damage, MutationMaterial, names_in
from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.messages import misses
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.stats.clustered import clustered_share

KINDS = (*MUTATORS, *CALL_MUTATORS)
"""Kinds of damage."""
MAX_SURVIVORS = 1_000
_MAX_OTHERS = 20
"""Answers to other questions among which the most different one is looked for."""
_MAX_NAMES = 100
"""Names of all answers that can take the place of one."""
_RESPONSE = "answer as such"
"""Name of the rule on refusals and empty answers among the evaluators."""

Progress = Callable[[int, int], None]


def mutation_test(
    subjects: Subjects,
    *,
    registry: Registry,
    provider: ModelProvider,
    source: str,
    kinds: Sequence[str] = KINDS,
    seed: int = 0,
    progress: Progress | None = None,
) -> MutationResult:
    """Return how many damaged answers the evaluators fail.

    Args:
        subjects: the answers; those that fail undamaged are left out.
        provider: opens the models that evaluators use.
        source: of the answers, as the user names it.
        kinds: of damage, of KINDS.
        seed: of the choice of words; each answer is damaged once in each way.
        progress: called with the number of scored answers and their total, for each configuration.

    Raises:
        DataError: if no answer passes undamaged.
    """

    def scored(group: SubjectGroup, rows: Sequence[tuple[str, Subject, str]]) -> dict[str, Result]:
        results = evaluate_lab(
            _lab(rows),
            group.config,
            registry=registry,
            provider=provider,
            folder=group.folder,
            progress=progress,
        )
        return {result.task.key: result for result in results}

    originals: dict[str, Result] = {}
    passing: list[list[tuple[str, Subject]]] = []
    for number, group in enumerate(subjects.groups):
        judged = [subject for subject in group.answers if subject.is_judged]
        # The "a" ends the number of the group: "g1" alone is the beginning of "g10", too.
        rows = [(f"g{number}a{index}", subject) for index, subject in enumerate(judged)]
        originals |= scored(group, [(*row, row[1].row.actual_output) for row in rows]) if rows else {}
        passing.append([row for row in rows if verdict_word(originals[row[0]]) == "passed"])
    if not any(passing):
        raise DataError(f"{source}: {_why_none_passes(originals)}")
    with uncollected():
        mutants = list(_mutants(passing, kinds, seed))
    results: dict[str, Result] = {}
    for number, group in enumerate(subjects.groups):
        own = [mutant for mutant in mutants if mutant.row_key.startswith(f"g{number}a")]
        results |= (
            scored(group, [(each.row_key, each.subject, each.damage.text) for each in own]) if own else {}
        )
    return _result(mutants, results, originals, passing, subjects=subjects, source=source, seed=seed)


def _why_none_passes(originals: Mapping[str, Result]) -> str:
    first = next(iter(originals.values()), None)
    if first is None:
        return "no evaluator judges what its answers say; name one in the configuration"
    reason = (misses(first) or [verdict_word(first)])[0]
    question = excerpt(masked(first.task.case.question))
    return f"none of {len(originals):,} answers passes undamaged, e.g. {question!r}: {reason}"


def _mutants(
    groups: Sequence[Sequence[tuple[str, Subject]]], kinds: Sequence[str], seed: int
) -> Iterator[Mutant]:
    passing = [row for group in groups for row in group]
    texts = list(dict.fromkeys(subject.row.actual_output for _, subject in passing))
    names = tuple(names_in(texts)[:_MAX_NAMES])
    for key, subject in passing:
        row = subject.row
        case = subject.file, row.key
        rng = random.Random(f"{seed}/{subject.file}/{row.key}/{subject.model}")
        sample = rng.sample(texts, min(len(texts), _MAX_OTHERS))
        others = tuple(text for text in sample if text != row.actual_output)
        material = MutationMaterial(
            question=row.input, expected=row.expected_output, others=others, names=names
        )
        # An answer may be calls only, without a text to damage.
        tables = [(MUTATORS, False), (RIGHT_VARIANTS, True)] if row.actual_output.strip() else []
        for table, is_harmless in tables:
            for kind, mutate in table.items():
                if not is_harmless and (
                    # Where a refusal is expected, it is no damage.
                    kind not in kinds or (kind == "refusal" and row.expects == "refusal")
                ):
                    continue
                damage = mutate(row.actual_output, material, rng)
                if damage is not None and damage.text != row.actual_output:
                    yield Mutant(
                        subject=subject,
                        case=case,
                        kind=kind,
                        damage=damage,
                        row_key=f"{key}-{kind}",
                        is_harmless=is_harmless,
                    )
        for kind, mutate_calls in CALL_MUTATORS.items():
            changed = mutate_calls(tuple(row.tool_calls), rng) if kind in kinds else None
            if changed is not None:
                calls, words = changed
                yield Mutant(
                    subject=Subject(
                        # The steps hold the calls as they were.
                        row=row.model_copy(update={"tool_calls": list(calls), "steps": []}),
                        file=subject.file,
                        model=subject.model,
                        retrieves=subject.retrieves,
                    ),
                    case=case,
                    kind=kind,
                    damage=Damage(text=row.actual_output, added=words),
                    row_key=f"{key}-{kind}",
                )


@uncollected()
def _lab(rows: Sequence[tuple[str, Subject, str]]) -> TestLab:
    """Return a lab of answers: keys, what is answered, and texts."""
    lab = TestLab(name="mutation")
    keys = {
        retrieves: lab.add_model(f"retrieves {retrieves}", retrieves=retrieves).key
        for retrieves in dict.fromkeys(subject.retrieves for _, subject, _ in rows)
    }
    lab.dataset.inputs.extend(
        subject.row.model_copy(
            update={"key": key, "model_key": keys[subject.retrieves], "run": None, "actual_output": text}
        )
        for key, subject, text in rows
    )
    return lab


@uncollected()
def _result(
    mutants: Sequence[Mutant],
    results: Mapping[str, Result],
    originals: Mapping[str, Result],
    passing: Sequence[Sequence[tuple[str, Subject]]],
    *,
    subjects: Subjects,
    source: str,
    seed: int,
) -> MutationResult:
    judged = [(mutant, results[mutant.row_key]) for mutant in mutants]
    words = {mutant.row_key: verdict_word(result) for mutant, result in judged}
    damaged = [
        (mutant, result)
        for mutant, result in judged
        if not mutant.is_harmless and words[mutant.row_key] in ("passed", "failed")
    ]
    harmless = [
        (mutant, result)
        for mutant, result in judged
        if mutant.is_harmless and words[mutant.row_key] in ("passed", "failed")
    ]
    unjudged = Counter(
        mutant.kind
        for mutant, _ in judged
        if not mutant.is_harmless and words[mutant.row_key] not in ("passed", "failed")
    )

    def failed(mutant: Mutant) -> bool:
        return words[mutant.row_key] == "failed"

    # Keys are unique within a file only.
    files = Counter(key for _, key in {mutant.case for mutant in mutants})

    def case_name(mutant: Mutant) -> str:
        file, key = mutant.case
        return key if files[key] == 1 else f"{file}::{key}"

    survivors = [
        _survivor(mutant, result, originals[mutant.row_key.partition("-")[0]])
        for mutant, result in damaged
        if not failed(mutant)
    ]
    survivors.sort(key=lambda survivor: survivor.advice is None)
    return MutationResult(
        source=source,
        score=_share("all", [(mutant, failed(mutant)) for mutant, _ in damaged]),
        answers=sum(map(len, passing)),
        cases=len({mutant.case for mutant in mutants}),
        failing=len(originals) - sum(map(len, passing)),
        not_judged=sum(not subject.is_judged for group in subjects.groups for subject in group.answers),
        kinds=_shares(damaged, lambda mutant: mutant.kind, failed),
        evaluators=_by_evaluator(damaged),
        by_case=_shares(damaged, case_name, failed),
        false_alarms=_share("all", [(mutant, failed(mutant)) for mutant, _ in harmless]),
        harmless=_shares(harmless, lambda mutant: mutant.kind, failed),
        alarms_by_case=_shares(harmless, case_name, failed),
        alarms=tuple(_alarm(*each) for each in harmless if failed(each[0]))[:MAX_SURVIVORS],
        survivors=tuple(survivors[:MAX_SURVIVORS]),
        findings=tuple(findings(damaged, harmless, failed)),
        unjudged=dict(unjudged),
        not_asked=dict(subjects.not_asked),
        seed=seed,
    )


def _share(name: str, verdicts: Sequence[tuple[Mutant, bool]]) -> Share:
    """Return a share with its interval; damaged answers to one question belong together."""
    failed: Counter[tuple[str, str]] = Counter()
    totals: Counter[tuple[str, str]] = Counter()
    for mutant, fails in verdicts:
        totals[mutant.case] += 1
        failed[mutant.case] += fails
    share = clustered_share([failed[case] for case in totals], list(totals.values()))
    low, high = share.interval() or (None, None)
    return Share(name=name, failed=share.successes, total=share.total, low=low, high=high)


def _shares(
    damaged: Sequence[tuple[Mutant, Result]],
    name: Callable[[Mutant], str],
    failed: Callable[[Mutant], bool],
) -> tuple[Share, ...]:
    groups: defaultdict[str, list[tuple[Mutant, bool]]] = defaultdict(list)
    for mutant, _ in damaged:
        groups[name(mutant)].append((mutant, failed(mutant)))
    return tuple(_share(key, verdicts) for key, verdicts in groups.items())


def _by_evaluator(damaged: Sequence[tuple[Mutant, Result]]) -> tuple[Share, ...]:
    groups: defaultdict[str, list[tuple[Mutant, bool]]] = defaultdict(list)
    for mutant, result in damaged:
        for selected, verdict in result.verdicts.items():
            if verdict.passed is not None and result.decides(selected):
                groups[selected.id].append((mutant, not verdict.passed))
        if result.response.fails:
            groups[_RESPONSE].append((mutant, True))
    return tuple(_share(id, verdicts) for id, verdicts in groups.items())


def _alarm(mutant: Mutant, result: Result) -> FalseAlarm:
    row = mutant.subject.row
    return FalseAlarm(
        file=mutant.subject.file,
        key=row.key,
        model=mutant.subject.model,
        question=row.input,
        kind=mutant.kind,
        original=row.actual_output,
        text=mutant.damage.text,
        failing=tuple(
            selected.id
            for selected, verdict in result.verdicts.items()
            if verdict.passed is False and result.decides(selected)
        ),
    )


def _survivor(mutant: Mutant, result: Result, original: Result) -> Survivor:
    subject = mutant.subject
    return Survivor(
        file=subject.file,
        key=subject.row.key,
        model=subject.model,
        question=subject.row.input,
        kind=mutant.kind,
        original=original.task.case.actual_output,
        text=mutant.damage.text,
        removed=mutant.damage.removed,
        added=mutant.damage.added,
        passing=tuple(
            selected.id
            for selected, verdict in result.verdicts.items()
            if verdict.passed and result.decides(selected)
        ),
        advice=advice_for(mutant.kind, mutant.damage, result, original),
    )
