"""Findings of a mutation test: what says nothing, and what is too strict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from pytest_evalstudio.contrib.mutation.loosening import loose_conditions, number_failing
from pytest_evalstudio.contrib.mutation.mutants import Mutant
from pytest_evalstudio.contrib.mutation.results import MutationFinding
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.score import judges_content

_MIN_MUTANTS = 10
"""Damaged answers from which it is a finding that a metric or case fails none."""
_MAX_CONDITION_CHARS = 80


def findings(
    damaged: Sequence[tuple[Mutant, Result]],
    harmless: Sequence[tuple[Mutant, Result]],
    failed: Callable[[Mutant], bool],
) -> Iterator[MutationFinding]:
    """Yield the parts of a suite that say nothing, and conditions that fail right answers.

    Args:
        damaged: damaged answers with their results.
        harmless: right answers in another form with theirs.
        failed: whether a suite fails a changed answer.
    """
    yield from _strict_conditions(damaged, harmless)
    yield from _without_effect(damaged, failed)


def _strict_conditions(
    damaged: Sequence[tuple[Mutant, Result]], harmless: Sequence[tuple[Mutant, Result]]
) -> Iterator[MutationFinding]:
    """Yield the conditions that a right answer in another form does not meet, with a looser one."""
    by_condition: defaultdict[str, list[tuple[Mutant, bool]]] = defaultdict(list)
    for mutant, passed in _by_condition(harmless):
        by_condition[mutant.subject.row.condition_text()].append((mutant, passed))
    texts: defaultdict[str, list[tuple[Mutant, bool]]] = defaultdict(list)
    for mutant, passed in _by_condition(damaged):
        texts[mutant.subject.row.condition_text()].append((mutant, passed))
    for condition, verdicts in by_condition.items():
        unmet = [mutant for mutant, passed in verdicts if not passed]
        if unmet:
            shown = excerpt(condition, _MAX_CONDITION_CHARS)
            example = excerpt(masked(unmet[0].damage.text))
            fact = (
                f"the condition {shown} fails {len(unmet)} of {len(verdicts)} right answers in another form"
            )
            yield MutationFinding(
                code="condition_too_strict",
                subject=condition,
                text=f'{fact}, e.g. "{example}"; {_remedy(unmet, texts[condition])}',
                keys=tuple(dict.fromkeys(mutant.subject.row.key for mutant in unmet)),
            )


def _by_condition(results: Sequence[tuple[Mutant, Result]]) -> Iterator[tuple[Mutant, bool]]:
    """Yield the changed answers that a condition judges, and whether they meet it."""
    for mutant, result in results:
        for selected, verdict in result.verdicts.items():
            if (
                selected.id == "text_matching"
                and verdict.passed is not None
                and mutant.subject.row.condition_text()
            ):
                yield mutant, verdict.passed


def _remedy(unmet: Sequence[Mutant], damaged: Sequence[tuple[Mutant, bool]]) -> str:
    """Return how to loosen a condition, and what this costs in damaged answers."""
    row = unmet[0].subject.row
    loose = " AND ".join(loose_conditions(row.actual_output, row.input))
    texts = [row.actual_output, *(mutant.damage.text for mutant in unmet)]
    if not loose or number_failing(loose, texts):
        return "keep only words that every right answer has, or use value(…), affirms(…) or a judge"
    before = sum(not passed for _, passed in damaged)
    after = number_failing(loose, [mutant.damage.text for mutant, _ in damaged])
    return f"{loose} passes them, and fails {after} of {len(damaged)} damaged answers (now {before})"


def _without_effect(
    damaged: Sequence[tuple[Mutant, Result]], failed: Callable[[Mutant], bool]
) -> Iterator[MutationFinding]:
    by_condition: defaultdict[str, list[tuple[Mutant, bool]]] = defaultdict(list)
    by_metric: defaultdict[str, list[bool]] = defaultdict(list)
    names: dict[ConfiguredEvaluator, str] = {}
    by_case: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for mutant, result in damaged:
        by_case[mutant.case].append(failed(mutant))
        for selected, verdict in result.verdicts.items():
            if verdict.passed is None or not result.decides(selected):
                continue
            if judges_content(selected):  # no damage leaks anything
                if selected not in names:
                    names[selected] = _metric_name(selected)
                by_metric[names[selected]].append(not verdict.passed)
            if selected.id == "text_matching" and (condition := mutant.subject.row.condition_text()):
                by_condition[condition].append((mutant, not verdict.passed))
    for condition, verdicts in by_condition.items():
        is_met_by_all = not any(fails for _, fails in verdicts)
        kinds = {mutant.kind for mutant, _ in verdicts}
        # Slight damage may meet a condition rightly; another answer or a refusal should not.
        if is_met_by_all and {"other_answer", "refusal"} & kinds:
            keys = tuple(dict.fromkeys(mutant.subject.row.key for mutant, _ in verdicts))
            yield MutationFinding(
                code="condition_always_met",
                subject=condition,
                text=f"every damaged answer meets the condition {condition}",
                keys=keys,
            )
    for name, fails in by_metric.items():
        if len(fails) >= _MIN_MUTANTS and not any(fails):
            yield MutationFinding(
                code="threshold_never_missed",
                subject=name,
                text=f"none of {len(fails):,} damaged answers misses {name}",
            )
    for (_, key), fails in by_case.items():
        # A case has one damaged answer of each kind, so that half as many must do.
        if len(fails) >= _MIN_MUTANTS // 2 and not any(fails):
            yield MutationFinding(
                code="case_notices_nothing",
                subject=key,
                text=f"none of {len(fails)} damaged answers fails the case {key!r}",
                keys=(key,),
            )


def _metric_name(selected: ConfiguredEvaluator) -> str:
    metric = selected.spec.primary
    return f"{selected.id}.{metric.key} at the threshold {selected.thresholds[metric.key]:g}"
