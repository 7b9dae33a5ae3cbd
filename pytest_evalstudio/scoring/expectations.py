"""Expectations that a test case states, and whether an evaluator has read them: a pass must mean a check."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence

from pytest_evalstudio.core.cases import EXTRA_EXPECTATIONS, Case
from pytest_evalstudio.core.conversations import PlannedTurn
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.core.plugins.registry import PluginRegistry
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.text.figures import counted

TEXT_EXPECTATIONS = ("condition", "expected_output", "expected_facts", "guidelines")
OTHER_EXPECTATIONS = ("expected_documents", "expected_chunks", "expected_tool_calls", "expected_state")
EXPECTATIONS = (*TEXT_EXPECTATIONS, *OTHER_EXPECTATIONS)
"""Fields of a case, and of a turn, that say what its answer should be."""
_values_of = operator.attrgetter(*EXPECTATIONS)
UNCHECKED_KEYS = 3
"""Keys of test cases in a message."""
READERS = 4
"""Names of evaluators in a message."""


@functools.lru_cache(maxsize=256)  # the same for thousands of cases
def expectations_read(selected: ConfiguredEvaluator) -> frozenset[str]:
    """Return the keys of a test case that an evaluator compares answers with."""
    return frozenset(selected.spec.expectations) | ({"expected_output", "condition"} & set(selected.needs))


def stated_expectations(case: Case, evaluators: Iterable[ConfiguredEvaluator] = ()) -> tuple[str, ...]:
    """Return the expectations that a case or one of its turns states.

    Args:
        case: answered or not.
        evaluators: those of the case; they may read further keys of it.
    """
    parts: list[Case | PlannedTurn] = [case]
    if case.plan is not None:
        parts += case.plan.turns
    stated = {name for part in parts for name in _stated_fields(part)}
    fields = [name for name in EXPECTATIONS if name in stated] if stated else []
    keys = dict.fromkeys(EXTRA_EXPECTATIONS)
    for selected in evaluators:
        keys |= dict.fromkeys(name for name in selected.spec.expectations if name not in EXPECTATIONS)
    return (*fields, *(key for key in keys if case.extra.get(key) not in (None, "", [])))


def _stated_fields(part: Case | PlannedTurn) -> Iterator[str]:
    for name, value in zip(EXPECTATIONS, _values_of(part), strict=True):
        if value:
            if not (value.__class__ is str and value.isspace()):
                yield name
        elif name == "expected_tool_calls" and value is not None:  # no tool is to be called
            yield name


def unread_expectations(result: Result) -> tuple[str, ...]:
    """Return the stated expectations that no evaluator has compared the answer with.

    A refusal that is expected replaces all other expectations. A perturbation that changes the meaning of a
    question leaves none.
    """
    if not _is_expected_to_answer(result):
        return ()
    compared = _compared_keys(result)
    return tuple(
        name for name in stated_expectations(result.task.case, result.verdicts) if name not in compared
    )


def is_unchecked(result: Result) -> bool:
    """Return True if nothing has checked whether the answer is right.

    A case with expectations is checked where an evaluator has read one of them. A case without any is checked
    where an evaluator that is no detector decides it.
    """
    if result.response.passed is not None or not _is_expected_to_answer(result):
        return False
    stated = stated_expectations(result.task.case, result.verdicts)
    if stated:
        return _compared_keys(result).isdisjoint(stated)
    return all(selected.spec.detector for selected in _deciding(result))


def _compared_keys(result: Result) -> set[str]:
    """Return the keys that evaluators have compared the answer with."""
    return {name for selected in _deciding(result) for name in expectations_read(selected)}


def _is_expected_to_answer(result: Result) -> bool:
    is_changed = result.origin is not None and not result.origin.meaning_kept
    return not (is_changed or result.expects_refusal)


def _deciding(result: Result) -> Iterator[ConfiguredEvaluator]:
    """Yield the evaluators that decide the item, or would if they had not failed."""
    for selected, verdict in result.verdicts.items():
        if verdict.status == "error" or verdict.passed is not None:
            yield selected


def may_be_unchecked(case: Case, evaluators: Iterable[ConfiguredEvaluator]) -> bool:
    """Return True if no evaluator can check a case, whatever its answer is; nothing is asked for this."""
    selected = tuple(evaluators)
    if case.expects == "refusal" or (case.plan is not None and _expects_refusals(case)):
        return False
    stated = stated_expectations(case, selected)
    if stated:
        read = {name for each in selected for name in expectations_read(each) if not _lacks(each, case)}
        return not read & set(stated)
    return all(each.spec.detector or _lacks(each, case) for each in selected)


def _expects_refusals(case: Case) -> bool:
    return case.plan is not None and any(turn.expects == "refusal" for turn in case.plan.turns)


def _lacks(selected: ConfiguredEvaluator, case: Case) -> bool:
    """Return True if an evaluator does not apply to a case, as far as its expectations say."""
    if case.plan is not None:
        return False
    try:
        return bool(selected.spec.inapplicable(selected.evaluator, case)) or (
            "expected_output" in selected.needs and not case.expected_output.strip()
        )
    except Exception:  # the fault of a plugin is reported where it scores
        return False


def unchecked_sentence(result: Result, specs: PluginRegistry[type, EvaluatorSpec]) -> str:
    """Return why a case is unchecked, and the evaluators that would check it.

    Args:
        result: of the case.
        specs: all known evaluators.
    """
    unread = unread_expectations(result)
    if not unread:
        return (
            "unchecked: the case states no expectation, and no selected evaluator judges its answer;"
            " state an expected_output, a condition or another expectation, or select such an evaluator"
        )
    return f"unchecked: no selected evaluator reads {' and '.join(unread)}{_applied(result, unread)}" + (
        f"; {remedy}" if (remedy := readers_sentence(unread, specs)) else ""
    )


def _applied(result: Result, unread: Iterable[str]) -> str:
    """Return why selected evaluators that read one of the expectations did not."""
    reasons = [
        f"{selected.id}: {verdict.reason}"
        for selected, verdict in result.verdicts.items()
        if verdict.status == "not_applicable" and expectations_read(selected) & set(unread)
    ]
    return f" ({'; '.join(reasons)})" if reasons else ""


def unchecked_line(
    cases: Iterable[tuple[Case, Sequence[ConfiguredEvaluator]]], specs: PluginRegistry[type, EvaluatorSpec]
) -> str:
    """Return which cases no evaluator can check, whatever their answers are; "" for none.

    Args:
        cases: each with its evaluators.
        specs: all known evaluators.
    """
    unchecked = [
        (case, stated_expectations(case, evaluators))
        for case, evaluators in cases
        if may_be_unchecked(case, evaluators)
    ]
    if not unchecked:
        return ""
    unread = dict.fromkeys(name for _, stated in unchecked for name in stated)
    readers = [f"{name}: {sentence}" for name in unread if (sentence := readers_sentence((name,), specs))]
    if not unread:
        readers = ["they state no expectation"]
    keys = ", ".join(repr(case.key) for case, _ in unchecked[:UNCHECKED_KEYS])
    more = len(unchecked) - UNCHECKED_KEYS
    hidden = f" and {more:,} more" if more > 0 else ""
    return (
        f"{counted(len(unchecked), 'test case')} unchecked: no selected evaluator judges {keys}{hidden}"
        f"{'; ' if readers else ''}{'; '.join(readers)}"
    )


@functools.lru_cache(maxsize=64)  # thousands of cases lack the same evaluators
def readers_sentence(unread: tuple[str, ...], specs: PluginRegistry[type, EvaluatorSpec]) -> str:
    """Return which evaluators read expectations, those without a model first; "" where none does."""
    names = set(unread)
    declared = [spec for spec in map(specs.spec, specs) if _declares(spec, names)]
    declared.sort(key=lambda spec: (bool(spec.requires), spec.id))
    if not declared:
        return ""
    shown = [spec.id for spec in declared[:READERS]]
    more = f" and {len(declared) - READERS} more" if len(declared) > READERS else ""
    plural = "" if len(declared) > 1 else "s"
    return f"{', '.join(shown)}{more} read{plural} it"


def _declares(spec: EvaluatorSpec, names: set[str]) -> bool:
    return bool(names & {*spec.expectations, *({"expected_output", "condition"} & set(spec.needs))})
