"""Compares two sides: classes of items, metrics, and what else differs."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec import field

from pytest_evalstudio.comparison.metrics import Limits, compare_metrics, compare_operations, overall
from pytest_evalstudio.comparison.results import (
    ITEM_CLASSES,
    PARTS,
    Comparison,
    ItemChange,
    ItemClass,
    MetricComparison,
    Part,
    ScoreChange,
)
from pytest_evalstudio.comparison.sides import Identity, MetricName, Scores, Side, SideItem
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.record.schema import EvaluatorEntry, ModelEntry, Run

_WITHOUT_VERDICT = frozenset({"skipped", "not_run"})
_SETTLED: Mapping[tuple[str, str], ItemClass] = {
    ("passed", "failed"): "regressed",
    ("failed", "passed"): "fixed",
    ("failed", "failed"): "still_failing",
    ("passed", "passed"): "still_passing",
}


def compare(base: Side, new: Side, *, limits: Limits | None = None) -> Comparison:
    """Return the comparison of two runs.

    Args:
        base: the run or baseline that is compared with.
        new: the run that may be worse.
        limits: of the verdicts on metrics.

    Raises:
        ConfigurationError: if the runs have no item in common.
    """
    matched = _match(base, new)
    if not matched.pairs:
        raise ConfigurationError(
            f"the runs have no item in common: {len(base.items):,} items in the base run, {len(new.items):,}"
            " in the new run, none of the same file, key and model; give runs of the same suites, and name"
            " renamed models as OLD=NEW"
        )
    metrics = compare_metrics(matched.pairs, new.run.evaluators, limits or Limits())
    not_run = _not_run(base, new)
    documents = tuple(sorted(_changed_documents(base.run, new.run)))
    cases = tuple(dict.fromkeys(matched.changed_cases))
    contexts = tuple(dict.fromkeys(matched.changed_contexts))
    return Comparison(
        verdict=overall(metrics),
        base=base.label,
        new=new.label,
        items=matched.counts,
        not_run=not_run,
        metrics=tuple(metrics),
        operations=tuple(compare_operations(matched.pairs)),
        changed=_changed_parts(
            base.run, new.run, cases=bool(cases), contexts=bool(contexts), documents=bool(documents)
        ),
        changed_cases=cases,
        changed_contexts=contexts,
        changed_documents=documents,
        document_cases=tuple(dict.fromkeys(_users(base, new, frozenset(documents)))) if documents else (),
        changes=tuple(itertools.chain.from_iterable(matched.changes.values())),
        notes=tuple(_notes(base, new, not_run)),
    )


def _users(base: Side, new: Side, documents: frozenset[str]) -> Iterator[str]:
    """Yield the keys of the items that both runs evaluated and that use one of the documents."""
    for identity, item in new.items.items():
        earlier = base.items.get(identity)
        if earlier is not None and _has_verdicts(earlier, item) and not documents.isdisjoint(item.documents):
            yield identity[1]


def _has_verdicts(base: SideItem, new: SideItem) -> bool:
    return base.outcome not in _WITHOUT_VERDICT and new.outcome not in _WITHOUT_VERDICT


def _not_run(base: Side, new: Side) -> int:
    """Return the number of items that the budget of a model left out in either run."""
    left_out = [
        {identity for identity, item in side.items.items() if item.outcome == "not_run"}
        for side in (base, new)
        if side.has_not_run
    ]
    return len(set().union(*left_out))


def with_rescored(comparison: Comparison, base: Side, rescored: Side, new: Side) -> Comparison:
    """Return a comparison that separates the drift of the measure from the change of the model.

    Args:
        comparison: of the base run with the new run.
        base: the base run.
        rescored: the base run with the scores of today's evaluators.
        new: the new run.
    """
    return msgspec.structs.replace(
        comparison, measure=_of_answers(base, rescored, new.run), model=_of_answers(rescored, new, new.run)
    )


def _of_answers(first: Side, second: Side, run: Run) -> tuple[MetricComparison, ...]:
    pairs: dict[str, list[tuple[SideItem, SideItem]]] = {}
    for identity, item in second.items.items():
        if (earlier := first.items.get(identity)) is not None:
            pairs.setdefault(identity[2], []).append((earlier, item))
    compared = compare_metrics(pairs, run.evaluators, Limits())
    return tuple(metric for metric in compared if metric.decides)


def item_class(base: SideItem | None, new: SideItem | None) -> ItemClass | None:
    """Return the class of an item, None if neither run evaluated it, or a run's budget left it out.

    Args:
        base: the item in the base run, None if it is not there.
        new: the item in the new run, None if it is not there.
    """
    earlier = base.outcome if base is not None else "skipped"
    return class_of(earlier, new.outcome if new is not None else "skipped")


def class_of(earlier: str, outcome: str) -> ItemClass | None:
    """Return the class of an item by its outcomes, None if no run evaluated it, or a budget left it out.

    Args:
        earlier: outcome in the base run as in `SideItem`; "skipped" where it is not there.
        outcome: outcome in the new run; "skipped" where it is not there.
    """
    if earlier == outcome == "skipped" or "not_run" in (earlier, outcome):
        return None
    if outcome == "error":
        return "error_now"
    if earlier == "skipped":
        return "new"
    if outcome == "skipped":
        return "gone"
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
        if metric.primary or metric.asserted
    )


def _score_changes(base: Scores, new: Scores, metrics: Sequence[MetricName]) -> Iterator[ScoreChange]:
    for name in metrics:
        earlier, now = base.get(name), new.get(name)
        if earlier != now:
            yield ScoreChange(evaluator=name[0], metric=name[1], base=earlier, new=now)


class _Matched(msgspec.Struct):
    """Items of both runs.

    Attributes:
        pairs: by model, the items that both runs evaluated: base and new.
        changed_cases: keys of those whose question or expectation differs.
        changed_contexts: keys of those whose context differs.
        counts: number of items by class.
        changes: by class, the changes of the items that do not still pass.
    """

    pairs: dict[str, list[tuple[SideItem, SideItem]]] = field(default_factory=lambda: defaultdict(list))
    changed_cases: list[str] = field(default_factory=list)
    changed_contexts: list[str] = field(default_factory=list)
    counts: dict[ItemClass, int] = field(default_factory=lambda: dict.fromkeys(ITEM_CLASSES, 0))
    changes: dict[ItemClass, list[ItemChange]] = field(default_factory=lambda: {k: [] for k in ITEM_CLASSES})


def _match(base: Side, new: Side) -> _Matched:
    """Return the items of both runs, in one pass over the new run."""
    matched = _Matched()
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
            if still_passes or _has_verdicts(earlier, now):
                pairs[identity[2]].append((earlier, now))
                if earlier.case != now.case and earlier.case is not None and now.case is not None:
                    matched.changed_cases.append(identity[1])
                if earlier.context != now.context and earlier.context is not None and now.context is not None:
                    matched.changed_contexts.append(identity[1])
            if still_passes:
                passing += 1  # most items, without the calls that the others need
                continue
        note(identity, earlier, now)
    matched.counts["still_passing"] += passing
    if shared < len(earlier_items):
        for identity, item in earlier_items.items():
            if identity not in new.items:
                note(identity, item, None)
    return matched


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
        reason=new.reason if new else "",
        base_answer=base.answer if base else "",
        answer=new.answer if new else "",
    )


def _changed_documents(base: Run, new: Run) -> Iterator[str]:
    for name, digest in new.documents.items():
        if name in base.documents and base.documents[name] != digest:
            yield name


def _changed_parts(base: Run, new: Run, *, cases: bool, contexts: bool, documents: bool) -> tuple[Part, ...]:
    shared = [(base.evaluators[id], entry) for id, entry in new.evaluators.items() if id in base.evaluators]
    changed: dict[Part, bool] = {
        "case": cases,
        "context": contexts,
        "documents": documents,
        "model": _models(base) != _models(new),
        "evaluator": any(_evaluator(earlier) != _evaluator(entry) for earlier, entry in shared)
        or base.tool != new.tool,
        "judge": any(earlier.judge != entry.judge for earlier, entry in shared),
        "embedder": any(earlier.embedder != entry.embedder for earlier, entry in shared),
    }
    return tuple(part for part in PARTS if changed[part])


def _models(run: Run) -> list[object]:
    return sorted((_model(entry) for entry in run.models.values()), key=repr)


def _model(entry: ModelEntry) -> tuple[object, ...]:
    return (
        entry.host,
        entry.model_type,
        entry.llm_model_name,
        entry.connection,
        entry.collection_name,
        tuple(sorted((name, repr(value)) for name, value in entry.model_cfg.items())),
    )


def _evaluator(entry: EvaluatorEntry) -> tuple[object, ...]:
    return entry.type, entry.parameters, entry.metrics, entry.calibration


def _notes(base: Side, new: Side, not_run: int) -> Iterable[str]:
    if not (base.label.has_answers and new.label.has_answers):
        yield "a side was saved without answers: there are no word diffs, and it cannot be scored again"
    missing = [id for id in base.run.evaluators if id not in new.run.evaluators]
    if missing:
        yield f"evaluators of the base run alone, not compared: {', '.join(missing)}"
    added = [id for id in new.run.evaluators if id not in base.run.evaluators]
    if added:
        yield f"evaluators of the new run alone, not compared: {', '.join(added)}"
    for id, entry in new.run.evaluators.items():
        if id in base.run.evaluators:
            yield from _threshold_notes(id, base.run.evaluators[id], entry)
    if not_run:
        yield f"{not_run:,} items were not run in one of the runs, since a budget was used up: not compared"
    if base.run.interrupted or new.run.interrupted:
        yield "a run was interrupted: only the items that had finished are compared"


def _threshold_notes(id: str, base: EvaluatorEntry, new: EvaluatorEntry) -> Iterator[str]:
    earlier = {metric.key: metric.threshold for metric in base.metrics}
    for metric in new.metrics:
        before = earlier.get(metric.key, metric.threshold)
        if before != metric.threshold and (metric.primary or metric.asserted):
            yield (
                f"the threshold of {id}.{metric.key} was {before:g} and is {metric.threshold:g}: the class of"
                " an item may change although its score did not"
            )
