"""Build the items of a run's record for pytest items, checks in Python tests and the API.

Personal data and secrets are masked here, whichever evaluators run.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.conversations import ConversationPlan
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Outcome, TurnOutcome, Verdict
from pytest_evalstudio.core.tool_calls import ExpectedToolCall
from pytest_evalstudio.formats.fields import FREE_KEY, FREE_PREFIX
from pytest_evalstudio.record import schema
from pytest_evalstudio.record.schema import VerdictWord
from pytest_evalstudio.scoring.answer_rows import recorded_answer, recorded_attachments
from pytest_evalstudio.scoring.case_digests import case_digest_of
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked, masked_texts
from pytest_evalstudio.scoring.messages import headline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.record_texts import document_names
from pytest_evalstudio.scoring.recorded import recorded
from pytest_evalstudio.scoring.results import Result

if TYPE_CHECKING:
    pass

_DIGEST_CHARS = 16
BROKEN = ("failed", "error")
"""Verdicts of attempts after which an item that passes is flaky."""


class ItemHead(Struct, frozen=True, kw_only=True):
    """Properties of an item that do not come from its evaluation.

    Attributes:
        index: place in the run, from 0.
        part: number of the check within a Python test, 0 for others.
        duration_s: seconds.
        file: path as in the node id.
        code: what ended an item without an outcome, see `core.codes.ItemCode`; that of the evaluation where
            not given.
        reason: used where the evaluation gives no headline.
        attempts: earlier attempts at the item.
        segments: names of metadata whose values are recorded.
    """

    index: int
    nodeid: str
    verdict: VerdictWord
    duration_s: float
    file: str
    key: str
    test_key: str = ""
    model_key: str
    part: int = 0
    code: str = ""
    reason: str = ""
    xfail: str = ""
    attempts: tuple[schema.Attempt, ...] = ()
    segments: tuple[str, ...] = ()


def item_entry(
    head: ItemHead, result: Result | None, run_wide: Mapping[str, ConfiguredEvaluator]
) -> schema.Item:
    """Return the entry of a finished item.

    Args:
        result: its evaluation, None where it was not evaluated.
        run_wide: the evaluators as the header describes them; thresholds that differ are written with the
            item.
    """
    reason = headline(result) if result is not None else ""
    confirmation = result.confirmation if result is not None else None
    rows = _rows(result) if result is not None else ()
    return schema.Item(
        index=head.index,
        nodeid=head.nodeid,
        verdict=head.verdict,
        duration_s=round(head.duration_s, 6),
        part=head.part,
        file=head.file,
        key=safe_identifier(head.key),
        test_key=safe_identifier(head.test_key),
        model_key=head.model_key,
        code=str(head.code or _code(head.verdict, result)),
        reason=reason or masked(head.reason),
        rows=rows,
        verdicts=_verdicts(result, run_wide) if result is not None else {},
        flips=tuple(recorded(flip) for flip in result.flips) if result is not None else (),
        perturbed=_perturbation(result.origin, result.compared_beside)
        if result is not None and result.origin is not None
        else None,
        xfail=masked(head.xfail),
        attempts=head.attempts,
        flaky=head.verdict == "passed"
        and (confirmation is not None or any(tried.verdict in BROKEN for tried in head.attempts)),
        confirmation=None if confirmation is None else recorded(confirmation),
        max_runs=result.max_runs if result is not None else 0,
        unread=result.unread if result is not None else (),
        unchecked=bool(result.unchecked) if result is not None else False,
        segments=_segments(result.task.case, head.segments) if result is not None else {},
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
        answers=tuple(row.actual_output for row in item.rows),
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
    answer = recorded_answer(case.answer, case.folder)
    if case.plan is not None:
        answer = msgspec.structs.replace(answer, turns=_turns(case, answer.turns))
    return schema.RecordRow(
        **msgspec.structs.asdict(answer),
        run=case.run,
        input=masked(case.question),
        corpus=document_names(case.corpus, case.folder),
        categories=case.categories,
        relationships=tuple(
            schema.Link(type=link.type, target=link.target, target_type=link.target_type)
            for link in case.relationships
        ),
        expected_output=masked(case.expected_output),
        accepted_outputs=tuple(map(masked, case.accepted_outputs)),
        output_condition=masked(case.condition),
        condition_on=case.condition_on,
        expects=case.expects,
        retrieval=case.retrieval,
        is_rag=case.is_rag,
        conversation=tuple(
            schema.Message(role=turn.role, content=masked(turn.content)) for turn in case.conversation
        ),
        attachments=recorded_attachments(case.attachments),
        expected_facts=tuple(map(masked, case.expected_facts)),
        guidelines=tuple(map(masked, case.guidelines)),
        expected_documents=document_names(case.expected_documents, case.folder),
        expected_chunks=tuple(map(masked, case.expected_chunks)),
        expected_tool_calls=_expected_calls(case.expected_tool_calls),
        expected_state=masked_texts(case.expected_state),
        plan="" if case.plan is None else _digest(case.plan),
        judge="last" if case.plan is not None and case.plan.judge == "last" else "",
        outcomes={selected.id: recorded_outcome(selected, outcome) for selected, outcome in outcomes.items()},
    )


def _digest(plan: ConversationPlan) -> str:
    """Return a digest of a conversation's plan; its texts need no mask in it.

    It has the digests of images and files, not the folders of this machine.
    """
    content = dataclasses.asdict(plan)
    for turn, planned in zip(content["turns"], plan.turns, strict=True):
        del turn["attachments"]
        if planned.attachments:  # a plan without any has the digest that earlier versions recorded
            turn["attachments"] = [[each.name, each.sha256] for each in planned.attachments]
    try:
        data = msgspec.json.encode(content)
    except UnicodeEncodeError:  # half a surrogate pair
        data = json.dumps(msgspec.to_builtins(content)).encode("ascii")
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]


def _turns(case: Case, turns: Sequence[schema.RecordedTurn]) -> tuple[schema.RecordedTurn, ...]:
    """Return the turns of a conversation with the expectations of the case's plan."""
    planned = case.plan.turns if case.plan is not None else ()
    return tuple(
        msgspec.structs.replace(
            turn,
            expected_output=masked(plan.expected_output),
            accepted_outputs=tuple(map(masked, plan.accepted_outputs)),
            output_condition=masked(plan.condition),
            condition_on=plan.condition_on,
            expects=plan.expects,
            expected_facts=tuple(map(masked, plan.expected_facts)),
            guidelines=tuple(map(masked, plan.guidelines)),
            expected_documents=document_names(plan.expected_documents, case.folder),
            expected_chunks=tuple(map(masked, plan.expected_chunks)),
            expected_tool_calls=_expected_calls(plan.expected_tool_calls),
            expected_state=masked_texts(plan.expected_state),
            evaluators=plan.evaluators,
        )
        if plan is not None
        else turn
        for turn, plan in zip_longest(turns, planned[: len(turns)])
    )


def _expected_calls(
    expected: Sequence[ExpectedToolCall] | None,
) -> tuple[ExpectedToolCall, ...] | None:
    if expected is None:
        return None
    return tuple(
        ExpectedToolCall(
            name=safe_identifier(call.name),
            arguments=masked_texts(call.arguments),
            other_arguments=call.other_arguments,
        )
        for call in expected
    )


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
