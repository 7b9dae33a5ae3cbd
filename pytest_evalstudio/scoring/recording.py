"""Build the items of a run's record for pytest items, checks in Python tests and the API.

Personal data and secrets are masked here, whichever evaluators run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec
from msgspec import structs
from msgspec.structs import replace

from pytest_evalstudio.core.cases import Case, CaseData, Exchange
from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Outcome, TurnOutcome, Verdict
from pytest_evalstudio.formats.fields import FREE_KEY, FREE_PREFIX
from pytest_evalstudio.record import schema
from pytest_evalstudio.record.items import ItemHead
from pytest_evalstudio.record.schema import VerdictWord
from pytest_evalstudio.scoring.case_digests import case_digest_of
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.scoring.messages import headline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.recorded import recorded, recorded_fields
from pytest_evalstudio.scoring.results import Result

_DIGEST_CHARS = 16
BROKEN = ("failed", "error")
"""Verdicts of attempts after which an item that passes is flaky."""


def item_entry(
    head: ItemHead,
    result: Result | None,
    run_wide: Mapping[str, ConfiguredEvaluator],
    segments: Sequence[str] = (),
) -> schema.Item:
    """Return the entry of a finished item.

    Args:
        head: its keys are safe identifiers.
        result: its evaluation, None where it was not evaluated.
        run_wide: the evaluators as the header describes them; thresholds that differ are written with the
            item.
        segments: names of metadata whose values are recorded.
    """
    reason = headline(result) if result is not None else ""
    confirmation = result.confirmation if result is not None else None
    rows = _rows(result) if result is not None else ()
    of_head = structs.asdict(head) | {
        "duration_s": round(head.duration_s, 6),
        "code": str(head.code or _code(head.verdict, result)),
        "reason": reason or masked(head.reason),
        "xfail": masked(head.xfail),
    }
    return schema.Item(
        **of_head,
        rows=rows,
        verdicts=_verdicts(result, run_wide) if result is not None else {},
        flips=tuple(recorded(flip) for flip in result.flips) if result is not None else (),
        perturbed=_perturbation(result.origin, result.compared_beside)
        if result is not None and result.origin is not None
        else None,
        flaky=head.verdict == "passed"
        and (confirmation is not None or any(tried.verdict in BROKEN for tried in head.attempts)),
        confirmation=None if confirmation is None else recorded(confirmation),
        max_runs=result.max_runs if result is not None else 0,
        unread=result.unread if result is not None else (),
        unchecked=bool(result.unchecked) if result is not None else False,
        segments=_segments(result.task.case, segments) if result is not None else {},
        digest=_case_digest(result, rows) if result is not None else None,
    )


def _segments(case: Case, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values of a case's metadata by name; what is neither a text nor a number is left out."""
    metadata = case.extra.get(FREE_KEY)
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        value = metadata.get(name) if isinstance(metadata, Mapping) else None
        value = case.extra.get(name) if value is None and name.startswith(FREE_PREFIX) else value
        values = value if isinstance(value, list) else [value]
        texts = [safe_identifier(str(each)) for each in values if isinstance(each, str | int | float)]
        if texts:
            found[name] = tuple(dict.fromkeys(texts))
    return found


def _case_digest(result: Result, rows: Sequence[schema.RecordRow]) -> schema.CaseDigest:
    """Return the digest of a case; the rows of a conversation do not have the case as it was planned."""
    task = result.task
    row = rows[0] if rows and task.case.plan is None else row_entry(task.case, {})
    return case_digest_of(task, row, result.verdicts)


def _code(verdict: VerdictWord, result: Result | None) -> str:
    """Return the class of a failure or skip that no evaluator decides, "" for other verdicts."""
    if result is None:
        return ""
    if verdict == "skipped" and result.unchecked:
        return ItemCode.UNCHECKED.value
    return result.response.code.value if verdict in ("failed", "xfailed") else ""


def attempt_of(item: schema.Item) -> schema.Attempt:
    """Return an item as an attempt of the item that is run in its place."""
    return schema.Attempt(
        verdict=item.verdict,
        duration_s=item.duration_s,
        reason=item.reason,
        answers=tuple(row.answer.text for row in item.rows),
        verdicts=item.verdicts,
    )


def item_scores(result: Result) -> dict[tuple[str, str], float | None]:
    """Return the scores of an evaluated item by evaluator and metric."""
    return {
        (selected.id, metric): value
        for selected, verdict in result.verdicts.items()
        for metric, value in verdict.scores.items()
    }


def _rows(result: Result) -> tuple[schema.RecordRow, ...]:
    # Answers of an item that was not run to its end were paid for, and are no basis of a verdict.
    scored = [{} for _ in result.answers] if result.not_run else result.outcomes
    return tuple(row_entry(case, outcomes) for case, outcomes in zip(result.answers, scored, strict=True))


def row_entry(case: Case, outcomes: Mapping[ConfiguredEvaluator, Outcome]) -> schema.RecordRow:
    """Return the entry of one answer to a case."""
    answer = case.answer
    if case.plan is not None and answer.turns:
        answer = replace(answer, turns=tuple(_with_expectations(answer.turns, case.plan.turns)))
    return schema.RecordRow(
        **recorded_fields(case, CaseData, case.folder),
        answer=recorded(answer, case.folder),
        plan="" if case.plan is None else _digest(case.plan),
        judge="last" if case.plan is not None and case.plan.judge == "last" else "",
        outcomes={selected.id: recorded_outcome(selected, outcome) for selected, outcome in outcomes.items()},
    )


def _with_expectations(turns: Sequence[Exchange], planned: Sequence[PlannedTurn]) -> Iterator[Exchange]:
    """Yield the turns of a conversation with the expectations of their plan; a simulated user has none."""
    for turn, plan in zip_longest(turns, planned[: len(turns)]):
        yield turn if plan is None else replace(turn, **plan.expectations, evaluators=plan.evaluators)


def _digest(plan: ConversationPlan) -> str:
    """Return a digest of a conversation's plan; its texts need no mask in it.

    It has the digests of images and files, not the folders of this machine.
    """
    content = msgspec.to_builtins(plan)
    for turn, planned in zip(content.get("turns", ()), plan.turns, strict=True):
        if planned.attachments:
            turn["attachments"] = [[each.name, each.sha256] for each in planned.attachments]
    try:
        data = msgspec.json.encode(content)
    except UnicodeEncodeError:  # half a surrogate pair
        data = json.dumps(msgspec.to_builtins(content)).encode("ascii")
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]


def recorded_outcome(selected: ConfiguredEvaluator, outcome: Outcome) -> Outcome:
    """Return an outcome as the record holds it."""
    changes: dict[str, Any] = {}
    if outcome.fragments and not selected.reporting.sentence_level_metrics:
        changes["fragments"] = ()
    if outcome.turns:
        changes["turns"] = tuple(map(_without_parts, outcome.turns))
    return recorded(replace(outcome, **changes) if changes else outcome)


def _without_parts(turn: TurnOutcome) -> TurnOutcome:
    """Return the outcome of a turn without the parts that reports show of the whole alone."""
    kept = Outcome(status=turn.outcome.status, scores=turn.outcome.scores, reason=turn.outcome.reason)
    return replace(turn, outcome=kept)


def _verdicts(result: Result, run_wide: Mapping[str, ConfiguredEvaluator]) -> dict[str, Verdict]:
    return {
        selected.id: _verdict(selected, verdict, run_wide.get(selected.id))
        for selected, verdict in result.verdicts.items()
    }


def _verdict(
    selected: ConfiguredEvaluator, verdict: Verdict, run_wide: ConfiguredEvaluator | None
) -> Verdict:
    if run_wide is not None and run_wide is not selected:
        verdict = replace(verdict, thresholds=_different(selected.thresholds, run_wide.thresholds))
    return recorded(verdict)


def _different(thresholds: Mapping[str, float], run_wide: Mapping[str, float]) -> dict[str, float]:
    """Return the thresholds of a case that are not those of the run."""
    return {key: value for key, value in thresholds.items() if run_wide[key] != value}


def _perturbation(origin: Origin, compared_beside: frozenset[str]) -> schema.Perturbation:
    return schema.Perturbation(
        by=tuple(origin.by), meaning_kept=origin.meaning_kept, compared=tuple(sorted(compared_beside))
    )
