"""Messages of failing and broken items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import UNANSWERED, OutcomeCode
from pytest_evalstudio.core.display import visible_lines
from pytest_evalstudio.core.flips import Flip
from pytest_evalstudio.core.tool_calls import call_text
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked, shown_line
from pytest_evalstudio.scoring.results import Fault, Result
from pytest_evalstudio.scoring.verdicts import brief_lines, missed_lines
from pytest_evalstudio.text.figures import counted, figure

TEXT_CHARS = 600
CONTEXT_CHARS = 200
CONTEXT_CHUNKS = 3
EARLIER_TURNS = 4
TURN_CHARS = 300
TURN_CALLS = 5
CLOSING_MESSAGES = 3
ATTACHMENTS = 5
ACCEPTED_OUTPUTS = 2
"""Accepted answers in a message, beside the first one."""
_PARTS: Mapping[str, str] = {
    "answer": "the answer",
    "context": "the context",
    "both": "answer and context",
}


def headline(result: Result) -> str:
    """Return the faults of a result on one line, or "" if there are none.

    Errors come before missed thresholds, and name each thing once.
    """
    if result.not_run:
        return shown_line(result.not_run)
    # A service that is down fails every evaluator of the case with the same sentence.
    errors = list(dict.fromkeys(fault.reason for fault in result.errors))
    parts = errors + misses(result)
    return shown_line(" | ".join(part.replace("\n", " ") for part in parts))


def brief_headline(result: Result) -> str:
    """Return the faults of a result for a narrow line: a plain no begins with its reason."""
    if result.not_run or result.errors or result.response.reason:
        return headline(result)
    parts = [
        line
        for evaluator, verdict in result.verdicts.items()
        if result.decides(evaluator)
        for line in brief_lines(evaluator, verdict)
    ]
    # Without a line of an evaluator the case fails by a flip, which only the full headline has.
    return shown_line(" | ".join(part.replace("\n", " ") for part in parts)) or headline(result)


def failure_signature(result: Result) -> str:
    """Return what fails a result by codes and ids: equal for results that fail alike."""
    # By codes, not texts: reasons quote the answers, which differ in each case.
    parts = [result.response.code.value] if result.response.reason else []
    for selected, verdict in result.verdicts.items():
        if verdict.status == "error" or (verdict.passed is False and result.decides(selected)):
            parts.append(f"{selected.id}:{verdict.status}:{verdict.code}:{','.join(sorted(verdict.missed))}")
    return "|".join(parts)


def misses(result: Result) -> list[str]:
    """Return a line for each fact that fails the item: no answer or refusal, missed thresholds, flips.

    An unexpected refusal explains the thresholds that it misses, and comes before them.
    """
    lines = [result.response.reason] if result.response.reason else []
    lines += [
        line
        for selected, reached in result.verdicts.items()
        if result.decides(selected)
        for line in missed_lines(selected, reached)
    ]
    return lines + [flip_line(flip) for flip in result.flips if flip.fails]


def has_misses(result: Result) -> bool:
    """Return whether something fails the item; see `misses`."""
    if result.response.reason:
        return True
    # Loops, not generators: this is asked several times for each item.
    for selected, reached in result.verdicts.items():
        if reached.missed and result.decides(selected):
            return True
    for flip in result.flips:  # noqa: SIM110
        if flip.fails:
            return True
    return False


def skip_reason(result: Result) -> str:
    """Return why an evaluated item is skipped: nothing applies, or nothing checks it; "" if it is not."""
    if result.not_run or result.errors or has_misses(result):
        return ""
    # An evaluated case without faults is skipped only where the plan says so of unchecked ones.
    if result.applicable:
        return masked(result.unchecked_reason) if result.unchecked == "skip" else ""
    reasons = "; ".join(f"{selected.id}: {verdict.reason}" for selected, verdict in result.verdicts.items())
    return f"no evaluator applies ({masked(reasons) or 'none is selected'})"


def doubts(result: Result) -> list[str]:
    """Return a line for each verdict that a calibration calls uncertain, passing ones included."""
    lines = []
    for selected, reached in result.verdicts.items():
        if reached.doubt:
            # The primary metric of a calibrated evaluator is the calibrated probability.
            chance = reached.scores[selected.spec.primary.key]
            lines.append(
                f"{selected.id}: {selected.spec.primary.key} {figure(chance or 0.0)} ({reached.doubt})"
            )
    return lines


def flip_line(flip: Flip) -> str:
    """Describe a flip: the perturbation and its effect on the metric."""
    made_by = f" under {'+'.join(flip.perturbators)}" if flip.perturbators else ""
    made_by += f" in turn {flip.turn}" if flip.turn else ""
    change = f"{figure(flip.source_score)} -> {figure(flip.score)}, threshold {figure(flip.threshold)}"
    return (
        f"{flip.evaluator}: {flip.metric} flipped from pass to fail{made_by} ({change}; original:"
        f" {flip.source})"
    )


def smallest_lines(flips: Iterable[Flip]) -> list[str]:
    """Return the smallest edit of each flip that was shrunk, masked; equal ones are one line."""
    edits = [
        structs.replace(
            smallest,
            original=masked(smallest.original),
            question=masked(smallest.question),
            reason=masked(smallest.reason),
        )
        for flip in flips
        if (smallest := flip.smallest) is not None
    ]
    if not edits:
        return []
    from pytest_evalstudio.record.smallest import describe, equal_edits  # most runs shrink no flip

    return [*map(describe, equal_edits(edits))]


def explain(result: Result) -> str:
    """Return the full message of a failing item: verdicts with reasons, question, answer and context."""
    lines = list(_error_lines(result.errors))
    lines += map(masked, misses(result))
    stated = "\n".join(lines)
    lines += smallest_lines(result.flips)
    if result.answers:
        repeat = shown_repeat(result)
        if any(selected.spec.id == "tool_calls" for selected in result.verdicts):
            from pytest_evalstudio.scoring.failed_calls import failed_call_lines

            lines += failed_call_lines(result, result.answers[repeat])
        lines += _case_lines(result.answers[repeat], stated)
        if len(result.answers) > 1:
            which = f"repeat {repeat + 1}" if repeat else "the first"
            lines.append(f"({which} of {len(result.answers)} repeats is shown)")
    return visible_lines("\n".join(lines))


def shown_repeat(result: Result) -> int:
    """Return the index of the first repeat without an answer if that fails the item, else 0."""
    # An explanation alone (e.g. an unexpected refusal) points at no certain repeat.
    if not result.response.fails:
        return 0
    return next((index for index, case in enumerate(result.answers) if not case.is_answered), 0)


def error_cause(result: Result) -> tuple[str, str]:
    """Return what causes the errors of a result, and its lines of errors.

    Results with the same cause have the same fault of one service, evaluator or judge. Causes are compared by
    codes where the fault has one, else by the whole text.
    """
    causes = []
    for fault in result.errors:
        if fault.code in UNANSWERED:
            answers = [case.answer for case in result.answers if case.error]
            causes += sorted({answer.error_cause or answer.error for answer in answers})
        else:
            causes.append(f"{fault.code} {fault.evaluator} {fault.reason}")
    return "\n".join(dict.fromkeys(causes)), visible_lines("\n".join(_error_lines(result.errors)))


def _error_lines(faults: Iterable[Fault]) -> Iterator[str]:
    """Yield a line for each fault; evaluators are named unless the host or their judge is to blame."""
    evaluators: dict[tuple[str, str], list[str]] = {}
    for fault in faults:
        evaluators.setdefault((fault.code, fault.reason), []).append(fault.evaluator)
    for (code, reason), ids in evaluators.items():
        if code in UNANSWERED:
            yield f"error: {masked(reason)}"
        elif code == OutcomeCode.JUDGE_FAILED:
            yield f"error: the judge of {', '.join(ids)} did not answer: {masked(reason)}"
        else:
            yield f"error: {', '.join(ids)}: {masked(reason)}"


def _case_lines(case: Case, stated: str) -> list[str]:
    """Return question, expectations, answer and context.

    Args:
        stated: reasons of the failure; a condition that they have is not repeated.
    """
    lines = [
        f"earlier {turn.role}: {short(turn.content, CONTEXT_CHARS)}"
        for turn in case.conversation[-EARLIER_TURNS:]
    ]
    if case.answer.turns:
        lines += _turn_lines(case)
    else:
        lines.append(f"question:  {short(case.question)}")
        lines += [f"with:      {_attached(each)}" for each in case.attachments[:ATTACHMENTS]]
        if len(case.attachments) > ATTACHMENTS:
            lines.append(f"... and {len(case.attachments) - ATTACHMENTS} more images and files")
        if not case.error:
            lines += _expectation_lines(case, stated)
    closing = case.answer.closing_messages[:CLOSING_MESSAGES]
    lines += [f"after it, user: {short(text, TURN_CHARS)}" for text in closing]
    for index, chunk in enumerate(case.context[:CONTEXT_CHUNKS]):
        source = (
            f" ({safe_identifier(case.context_sources[index])})" if index < len(case.context_sources) else ""
        )
        lines.append(f"context {index + 1}{source}: {short(chunk, CONTEXT_CHARS)}")
    if len(case.context) > CONTEXT_CHUNKS:
        lines.append(f"... and {counted(len(case.context) - CONTEXT_CHUNKS, 'more chunk')}")
    return lines


def _turn_lines(case: Case) -> Iterator[str]:
    """Yield the messages and answers of a conversation; further expectations are in the report."""
    for position, turn in enumerate(case.answer.turns, 1):
        yield f"turn {position}, user:   {short(turn.prompt, TURN_CHARS)}"
        for attachment in turn.attachments[:ATTACHMENTS]:
            yield f"turn {position}, with:   {_attached(attachment)}"
        for call in turn.answer.tool_calls[:TURN_CALLS]:
            text = call_text(call.name, call.arguments, call.arguments_text)
            yield f"turn {position}, call:   {short(text, TURN_CHARS)}"
        if len(turn.answer.tool_calls) > TURN_CALLS:
            yield f"turn {position}, ... and {counted(len(turn.answer.tool_calls) - TURN_CALLS, 'more call')}"
        if not turn.answer.error:
            yield f"turn {position}, answer: {short(turn.answer.text, TURN_CHARS) or '(no text)'}"


def _attached(attachment: Attachment) -> str:
    """Return name, type and size of an image or file."""
    return f"{safe_identifier(attachment.name)} ({attachment.media_type}, {attachment.size:,} bytes)"


def _expectation_lines(case: Case, stated: str) -> Iterator[str]:
    """Yield what the case expects and its answer; without an answer, neither is met or missed."""
    if case.expected_output:
        yield f"expected:  {short(case.expected_output)}"
        for output in case.accepted_outputs[:ACCEPTED_OUTPUTS]:
            yield f"or:        {short(output)}"
        if (more := len(case.accepted_outputs) - ACCEPTED_OUTPUTS) > 0:
            yield f"           ... or {counted(more, 'more accepted answer')}"
    if case.expects == "refusal":
        yield "expects:   a refusal"
    if case.condition and short(case.condition) not in stated:
        part = f" (on {_PARTS[case.condition_on]})" if case.condition_on else ""
        yield f"condition{part}: {short(case.condition)}"
    yield f"answer:    {short(case.actual_output) if case.has_text else '(empty)'}"


def short(text: str, limit: int = TEXT_CHARS) -> str:
    r"""Return a text masked, on one line and shortened.

    >>> short("a  b\nc", 3)
    'a b...'
    """
    # Masked before it is cut: half of a secret would not be recognised.
    flat = " ".join(masked(text).split())
    return flat if len(flat) <= limit else flat[:limit].rstrip() + "..."
