"""Items of two runs in pairs: the class of each, and what differs between the outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import field

from pytest_evalstudio.analysis.comparison.calls import changed_tools, unpacked_calls
from pytest_evalstudio.analysis.comparison.changed_tests import changed_parts
from pytest_evalstudio.analysis.comparison.results import (
    ITEM_CLASSES,
    ChangedItems,
    ChangedTest,
    ItemChange,
    ItemClass,
    ScoreChange,
)
from pytest_evalstudio.analysis.comparison.sides import Identity, MetricName, Scores, Side, SideItem
from pytest_evalstudio.record.schema import EvaluatorEntry

_WITHOUT_VERDICT = frozenset({"skipped", "not_run"})
_VERDICTS = frozenset({"passed", "failed"})
_SETTLED: Mapping[tuple[str, str], ItemClass] = {
    ("passed", "failed"): "regressed",
    ("failed", "passed"): "fixed",
    ("failed", "failed"): "still_failing",
    ("passed", "passed"): "still_passing",
}

InScope = Callable[[Identity, SideItem], bool]
"""Predicate: the new run could have evaluated this item of the base run."""


def item_class(base: SideItem | None, new: SideItem | None) -> ItemClass | None:
    """Return the class of an item, None if neither run evaluated it, or a run's budget left it out.

    Args:
        base: the item in the base run, None if it is not there.
        new: the item in the new run, None if it is not there.
    """
    earlier = base.outcome if base is not None else "skipped"
    has_new_failure = base is not None and new is not None and bool(new_failures(base, new.failing))
    return class_of(earlier, new.outcome if new is not None else "skipped", has_new_failure=has_new_failure)


def new_failures(base: SideItem, failing: Iterable[str]) -> frozenset[str]:
    """Return the evaluators that fail an item and passed it in the base run, where others failed it."""
    return base.passing.intersection(failing) if base.outcome == "failed" else frozenset()


def class_of(earlier: str, outcome: str, *, has_new_failure: bool = False) -> ItemClass | None:
    """Return the class of an item by its outcomes, None if no run evaluated it, or a budget left it out.

    Args:
        earlier: outcome in the base run as in `SideItem`; "skipped" where it is not there.
        outcome: outcome in the new run; "skipped" where it is not there.
        has_new_failure: whether an evaluator that passed it in the base run fails it in the new one. An item
            that fails in both runs regresses then, since it has become worse in a second respect.
    """
    if earlier == outcome == "skipped" or "not_run" in (earlier, outcome):
        return None
    if outcome == "error":
        return "still_error" if earlier == "error" else "error_now"
    if earlier == "skipped":
        return "new"
    if outcome == "skipped":
        return "gone"
    if earlier == outcome == "failed" and has_new_failure:
        return "regressed"
    return "error_then" if earlier == "error" else _SETTLED[earlier, outcome]


def score_changes(
    base: Scores, new: Scores, evaluators: Mapping[str, EvaluatorEntry]
) -> Iterator[ScoreChange]:
    """Yield the primary and asserted metrics whose score differs."""
    return _score_changes(base, new, deciding_metrics(evaluators))


def deciding_metrics(evaluators: Mapping[str, EvaluatorEntry]) -> tuple[MetricName, ...]:
    """Return the primary and asserted metrics."""
    return tuple(
        (evaluator.id, metric.key)
        for evaluator in evaluators.values()
        for metric in evaluator.metrics
        if metric.primary or metric.decides
    )


def _score_changes(base: Scores, new: Scores, metrics: Sequence[MetricName]) -> Iterator[ScoreChange]:
    for name in metrics:
        earlier, now = base.get(name), new.get(name)
        if earlier != now:
            yield ScoreChange(evaluator=name[0], metric=name[1], base=earlier, new=now)


class Matched(msgspec.Struct):
    """Items of both runs.

    Attributes:
        pairs: by model, the items that both runs evaluated: base and new.
        changed_tests: items that both runs evaluated, by other questions, expectations or rules.
        tools: keys of passing items by kind of change, tool and model, of calls that differ.
        unchecked: keys of answered items by evaluator, metric and model that no longer scores them.
        knows_tests: whether all items of both runs have digests of their test cases.
        changed_cases: keys of those whose question or expectation differs.
        changed_attachments: keys of those whose images or files differ.
        answers, contexts, context_order, calls: what differs between the outputs.
        counts: number of items by class.
        changes: by class, the changes of the items that do not still pass.
    """

    pairs: dict[str, list[tuple[SideItem, SideItem]]] = field(default_factory=lambda: defaultdict(list))
    changed_tests: list[ChangedTest] = field(default_factory=list)
    tools: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    unchecked: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)
    knows_tests: bool = True
    changed_cases: list[str] = field(default_factory=list)
    changed_attachments: list[str] = field(default_factory=list)
    answers: Differences = field(default_factory=lambda: Differences())
    contexts: Differences = field(default_factory=lambda: Differences())
    calls: Differences = field(default_factory=lambda: Differences())
    context_order: Differences = field(default_factory=lambda: Differences())
    counts: dict[ItemClass, int] = field(default_factory=lambda: dict.fromkeys(ITEM_CLASSES, 0))
    changes: dict[ItemClass, list[ItemChange]] = field(default_factory=lambda: {k: [] for k in ITEM_CLASSES})


class Differences(msgspec.Struct):
    """Matched items that both runs know something of, and the keys of those that differ."""

    compared: int = 0
    keys: list[str] = field(default_factory=list)

    def result(self) -> ChangedItems:
        """Return the same as a part of a comparison."""
        return ChangedItems(
            compared=self.compared, changed=len(self.keys), keys=tuple(dict.fromkeys(self.keys))
        )


def match(base: Side, new: Side, *, in_scope: InScope | None = None) -> Matched:
    """Return the items of both runs, in one pass over the new run.

    Args:
        in_scope: items of the base run for which it is False are left out where the new run has not got them.
    """
    matched = Matched()
    metrics = deciding_metrics(new.run.evaluators)
    pairs = matched.pairs
    passing = shared = 0
    earlier_items = base.items

    def note(identity: Identity, earlier: SideItem | None, now: SideItem | None) -> None:
        kind = item_class(earlier, now)
        if kind is not None:
            matched.counts[kind] += 1
            matched.changes[kind].append(_change(identity, kind, earlier, now, metrics))

    for identity, now in new.items.items():
        earlier = earlier_items.get(identity)
        if earlier is not None:
            shared += 1
            still_passes = earlier.outcome == now.outcome == "passed"
            is_judged = still_passes or have_verdicts(earlier, now)
            parts = _changed_parts(matched, earlier, now) if is_judged else ()
            if parts and is_compared(earlier.outcome, now.outcome):
                matched.counts["test_changed"] += 1
                matched.changed_tests.append(_changed_test(identity, now, parts))
                continue
            if not parts and earlier.outcome in _VERDICTS and _is_answered(now):
                for name in metrics:
                    if earlier.scores.get(name) is not None and now.scores.get(name) is None:
                        matched.unchecked.setdefault((*name, identity[2]), []).append(identity[1])
            if is_judged and not parts:
                pairs[identity[2]].append((earlier, now))
                if still_passes and earlier.calls != now.calls and None not in (earlier.calls, now.calls):
                    for kind, tool in changed_tools(earlier.trajectory, now.trajectory):
                        matched.tools.setdefault((kind, tool, identity[2]), []).append(identity[1])
                _note_outputs(matched, identity[1], earlier, now)
            if still_passes:
                passing += 1  # most items, without the calls that the others need
                continue
        note(identity, earlier, now)
    matched.counts["still_passing"] += passing
    if shared < len(earlier_items):
        for identity, item in earlier_items.items():
            if identity not in new.items and (in_scope is None or in_scope(identity, item)):
                note(identity, item, None)
    return matched


def _changed_parts(matched: Matched, base: SideItem, new: SideItem) -> tuple[str, ...]:
    """Return what differs between the tests of an item; where that is not known, it is noted."""
    if base.digest and new.digest:
        return changed_parts(base.digest, new.digest)
    if is_compared(base.outcome, new.outcome):  # a test that did not end has no digest
        matched.knows_tests = False
    return ()


def _changed_test(identity: Identity, new: SideItem, parts: tuple[str, ...]) -> ChangedTest:
    file, key, model, _ = identity
    return ChangedTest(file=file, key=key, model=model, nodeid=new.nodeid, parts=parts, question=new.question)


def is_compared(base: str, new: str) -> bool:
    """Return whether both outcomes are verdicts on an answer."""
    return base in _VERDICTS and new in _VERDICTS


def _is_answered(item: SideItem) -> bool:
    """Return whether a model answered; an item without a verdict is skipped where nothing checks it."""
    return item.outcome in _VERDICTS or (item.outcome == "skipped" and item.answers is not None)


def have_verdicts(base: SideItem, new: SideItem) -> bool:
    """Return whether both runs evaluated an item."""
    return base.outcome not in _WITHOUT_VERDICT and new.outcome not in _WITHOUT_VERDICT


def _note_outputs(matched: Matched, key: str, base: SideItem, new: SideItem) -> None:
    is_known = bool(base.digest and new.digest)
    if base.case != new.case and not is_known:
        matched.changed_cases.append(key)
    if base.attachments != new.attachments and not is_known:
        matched.changed_attachments.append(key)
    if base.answers is not None and new.answers is not None:
        matched.answers.compared += 1
        if base.answers != new.answers:
            matched.answers.keys.append(key)
    if base.calls is not None and new.calls is not None and (base.calls or new.calls):
        matched.calls.compared += 1
        if base.calls != new.calls:
            matched.calls.keys.append(key)
    if base.context is not None and new.context is not None:
        matched.contexts.compared += 1
        matched.context_order.compared += 1
        if base.context != new.context:
            has_same_chunks = base.chunks == new.chunks and new.chunks is not None
            (matched.context_order if has_same_chunks else matched.contexts).keys.append(key)


def _change(
    identity: Identity,
    kind: ItemClass,
    base: SideItem | None,
    new: SideItem | None,
    metrics: Sequence[MetricName],
) -> ItemChange:
    file, key, model, _ = identity
    shown = new or base
    assert shown is not None
    return ItemChange(
        item_class=kind,
        nodeid=shown.nodeid,
        file=file,
        key=key,
        model=model,
        flaky=base is not None and base.flaky,
        scores=tuple(_score_changes(base.scores, new.scores, metrics)) if base and new else (),
        question=(new.question if new else "") or (base.question if base else ""),
        reason=new.reason if new else "",
        base_answer=base.answer if base else "",
        answer=new.answer if new else "",
        base_calls=unpacked_calls(base.trajectory) if base and new and base.calls != new.calls else (),
        calls=unpacked_calls(new.trajectory) if base and new and base.calls != new.calls else (),
    )
