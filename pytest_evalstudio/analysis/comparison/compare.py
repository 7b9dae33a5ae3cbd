"""Compares two sides: classes of items, metrics, and what else differs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from pytest_evalstudio.analysis.comparison.changed_tests import changed_parts, is_rule, parts_of
from pytest_evalstudio.analysis.comparison.files import matched_files
from pytest_evalstudio.analysis.comparison.matching import InScope, Matched, have_verdicts, match
from pytest_evalstudio.analysis.comparison.metrics import (
    ComparisonLimits,
    compare_metrics,
    compare_operations,
    overall,
)
from pytest_evalstudio.analysis.comparison.results import (
    MAX_PROMPT_CHARS,
    PARTS,
    Comparison,
    MetricComparison,
    MovedThreshold,
    OperationComparison,
    Part,
    PromptChange,
    ToolChange,
    ToolKind,
    UncheckedMetric,
)
from pytest_evalstudio.analysis.comparison.segments import compare_segments
from pytest_evalstudio.analysis.comparison.sides import Side, SideItem, model_labels
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.record.schema import EvaluatorEntry, ModelEntry, Run
from pytest_evalstudio.text.figures import counted


def compare(
    base: Side, new: Side, *, limits: ComparisonLimits | None = None, in_scope: InScope | None = None
) -> Comparison:
    """Return the comparison of two runs.

    Args:
        base: the run or baseline that is compared with.
        new: the run that may be worse.
        limits: of the verdicts on metrics.
        in_scope: whether the new run could have evaluated an item of the base run; those that it could not
            are not gone. All by default.

    Raises:
        ConfigurationError: if the runs have no item in common.
    """
    base = matched_files(base, new)
    matched = match(base, new, in_scope=in_scope)
    if not (matched.pairs or matched.changed_tests):
        raise ConfigurationError(
            f"the runs have no item in common ({len(base.items):,} items in the base run,"
            f" {len(new.items):,} in the new run); items are matched by file, key and model. Give runs"
            " of the same suites, and OLD=NEW for a renamed model"
        )
    metrics = compare_metrics(
        matched.pairs,
        new.run.evaluators,
        limits or ComparisonLimits(),
        unchecked={name: len(keys) for name, keys in matched.unchecked.items()},
    )
    operations = tuple(compare_operations(matched.pairs))
    not_run = _not_run(base, new)
    documents = tuple(sorted(_changed_documents(base.run, new.run)))
    prompts = tuple(_changed_prompts(base, new, matched.pairs))
    dropped = tuple(id for id in base.run.evaluators if id not in new.run.evaluators)
    moved = tuple(_moved_thresholds(base.run, new.run))
    return Comparison(
        verdict=overall(metrics, has_unchecked=bool(matched.unchecked)),
        base=base.label,
        new=new.label,
        items=matched.counts,
        matched=sum(map(len, matched.pairs.values())),
        # There are no pairs where the tests of all shared items changed.
        models=len(matched.pairs) or len({each.model for each in matched.changed_tests}),
        not_run=not_run,
        metrics=tuple(metrics),
        shared_evaluators=len(base.run.evaluators.keys() & new.run.evaluators.keys()),
        operations=operations,
        changed=_changed_parts(base.run, new.run, matched, operations, documents=documents, prompts=prompts),
        answers=matched.answers.result(),
        contexts=matched.contexts.result(),
        context_order=matched.context_order.result(),
        calls=matched.calls.result(),
        tools=_changed_tools(matched),
        changed_tests=tuple(matched.changed_tests),
        segments=compare_segments(matched.pairs),
        unchecked=tuple(
            UncheckedMetric(evaluator=evaluator, metric=metric, model=model, keys=tuple(keys))
            for (evaluator, metric, model), keys in matched.unchecked.items()
        ),
        knows_tests=matched.knows_tests,
        changed_cases=tuple(dict.fromkeys(matched.changed_cases)),
        changed_attachments=tuple(dict.fromkeys(matched.changed_attachments)),
        changed_documents=documents,
        document_cases=tuple(dict.fromkeys(_users(base, new, frozenset(documents)))) if documents else (),
        prompts=prompts,
        changes=tuple(itertools.chain.from_iterable(matched.changes.values())),
        renamed_files=base.renamed_files,
        dropped_evaluators=dropped,
        moved_thresholds=moved,
        notes=(
            *_blind_spots(base, matched, moved),
            *_notes(base, new, not_run, dropped),
            *_halves(base.run, new.run),
        ),
    )


def _halves(base: Run, new: Run) -> Iterator[str]:
    """Yield the gap between open and hidden half of each suite of the new run, and that of the base run."""
    for path, entry in new.holdout.items():
        base_entry = base.holdout.get(path)
        before = f"; in the base run: {base_entry.sentence}" if base_entry is not None else ""
        yield f"{path}: {entry.sentence}{before}"


def _changed_tools(matched: Matched) -> tuple[ToolChange, ...]:
    """Return the calls that differ although the cases pass: new tools first, then those of most cases."""
    kinds: dict[str, ToolKind] = {"new": "new", "gone": "gone", "changed": "changed"}
    changes = [
        ToolChange(kind=kinds[kind], tool=tool, model=model, keys=tuple(keys))
        for (kind, tool, model), keys in matched.tools.items()
    ]
    order = list(kinds)
    return tuple(
        sorted(changes, key=lambda each: (order.index(each.kind), -len(each.keys), each.tool, each.model))
    )


def _users(base: Side, new: Side, documents: frozenset[str]) -> Iterator[str]:
    """Yield the keys of the items that both runs evaluated and that use one of the documents."""
    for identity, item in new.items.items():
        earlier = base.items.get(identity)
        if earlier is not None and have_verdicts(earlier, item) and not documents.isdisjoint(item.documents):
            yield identity[1]


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
        earlier = first.items.get(identity)
        # Other rules are what is measured here; other questions say nothing about the model.
        if earlier is not None and all(map(is_rule, changed_parts(earlier.digest, item.digest))):
            pairs.setdefault(identity[2], []).append((earlier, item))
    compared = compare_metrics(pairs, run.evaluators, ComparisonLimits())
    return tuple(metric for metric in compared if metric.decides)


def _changed_documents(base: Run, new: Run) -> Iterator[str]:
    for name, digest in new.documents.items():
        if name in base.documents and base.documents[name] != digest:
            yield name


def _changed_parts(
    base: Run,
    new: Run,
    matched: Matched,
    operations: Sequence[OperationComparison],
    *,
    documents: Sequence[str],
    prompts: Sequence[PromptChange],
) -> tuple[Part, ...]:
    shared = [(base.evaluators[id], entry) for id, entry in new.evaluators.items() if id in base.evaluators]
    quantities = {operation.quantity for operation in operations if operation.changed}
    parts = set(parts_of(matched.changed_tests))
    changed: dict[Part, bool] = {
        "case": bool(matched.changed_cases)
        or any(not is_rule(part) for part in parts - {"images or files", "documents"}),
        "images or files": bool(matched.changed_attachments) or "images or files" in parts,
        "answer": bool(matched.answers.keys),
        "context": bool(matched.contexts.keys),
        "context order": bool(matched.context_order.keys),
        "tool calls": bool(matched.calls.keys),
        "tokens": "tokens" in quantities,
        "cost": "cost_usd" in quantities,
        "documents": bool(documents),
        "prompt": bool(prompts),
        "model": _has_other_models(base, new, matched.pairs),
        "evaluator": any(_evaluator(earlier) != _evaluator(entry) for earlier, entry in shared)
        or base.tool != new.tool,
        "judge": any(earlier.judge != entry.judge for earlier, entry in shared),
        "embedder": any(earlier.embedder != entry.embedder for earlier, entry in shared),
    }
    return tuple(part for part in PARTS if changed[part])


def _has_other_models(base: Run, new: Run, labels: Iterable[str]) -> bool:
    """Return whether a model of matched items differs; a renamed one is any model of the base run."""
    earlier, now = (
        {label: _model(run.models[key]) for key, label in model_labels(run).items()} for run in (base, new)
    )
    return any(
        earlier[label] != now[label] if label in earlier else now[label] not in earlier.values()
        for label in labels
        if label in now
    )


def _changed_prompts(base: Side, new: Side, labels: Iterable[str]) -> Iterator[PromptChange]:
    """Yield the templates of prompts that differ; a renamed model has none to compare with."""
    earlier, now = (
        {label: run.models[key] for key, label in model_labels(run).items()} for run in (base.run, new.run)
    )
    for label in labels:
        first, second = earlier.get(base.model or label), now.get(new.model or label)
        if first is None or second is None:
            continue
        (base_file, before), (file, after) = _prompt(first), _prompt(second)
        if before != after:
            yield PromptChange(
                model=label,
                base_file=base_file,
                file=file,
                base=before[:MAX_PROMPT_CHARS],
                new=after[:MAX_PROMPT_CHARS],
            )


def _prompt(entry: ModelEntry) -> tuple[str, str]:
    """Return file and text of the template of a model's prompt, empty ones without it."""
    prompt = entry.model_cfg.get("prompt")
    if not isinstance(prompt, Mapping):
        return "", ""
    return str(prompt.get("file", "")), str(prompt.get("text", ""))


def _model(entry: ModelEntry) -> tuple[object, ...]:
    return (
        entry.host,
        entry.model_type,
        entry.llm_model_name,
        entry.connection,
        entry.collection_name,
        tuple(sorted((name, repr(value)) for name, value in entry.model_cfg.items() if name != "prompt")),
    )


def _evaluator(entry: EvaluatorEntry) -> tuple[object, ...]:
    return entry.type, entry.parameters, entry.metrics, entry.calibration


def _blind_spots(base: Side, matched: Matched, moved: Iterable[MovedThreshold]) -> Iterator[str]:
    """Yield that edited tests are not seen, where a run has no digests of its tests.

    These are reports of scored tables, and items whose test did not finish.
    """
    if matched.knows_tests:
        return
    is_of_base = not any(item.digest for item in base.items.values())
    name = "base" if is_of_base else "new"
    yield (
        f"tests that were edited cannot be seen: the {name} run has test cases without digests, as the report"
        " of a scored table; compare the tables"
    )
    for threshold in moved:
        yield (
            f"the threshold of {threshold.metric} was {threshold.base:g} and is {threshold.new:g}: the class"
            " of an item may change although its score did not"
        )


def _notes(base: Side, new: Side, not_run: int, dropped: Sequence[str]) -> Iterator[str]:
    if not (base.label.has_answers and new.label.has_answers):
        yield "a side was saved without answers: there are no word diffs, and it cannot be scored again"
    if dropped:
        yield f"evaluators of the base run alone, not compared: {', '.join(dropped)}"
    added = [id for id in new.run.evaluators if id not in base.run.evaluators]
    if added:
        yield f"evaluators of the new run alone, not compared: {', '.join(added)}"
    if not_run:
        reason = "a budget was used up or a service refused access"
        items = counted(not_run, "item was", "items were")
        yield f"{items} not run in one of the runs, since {reason}: not compared"
    for name, run in (("base", base.run), ("new", new.run)):
        if run.shards is not None:
            yield f"the {name} run is {run.shards}: items of other shards are not in it"
    if base.run.interrupted or new.run.interrupted:
        yield "a run was interrupted: only the items that had finished are compared"


def _moved_thresholds(base: Run, new: Run) -> Iterator[MovedThreshold]:
    """Yield the thresholds of metrics that decide which both runs have and which differ."""
    for id, entry in new.evaluators.items():
        earlier = base.evaluators.get(id)
        before = {metric.key: metric.threshold for metric in earlier.metrics} if earlier else {}
        for metric in entry.metrics:
            threshold = before.get(metric.key, metric.threshold)
            if threshold != metric.threshold and (metric.primary or metric.decides):
                yield MovedThreshold(metric=f"{id}.{metric.key}", base=threshold, new=metric.threshold)
