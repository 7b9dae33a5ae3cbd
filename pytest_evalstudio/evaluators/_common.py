"""Helpers of all evaluators: boolean verdicts, conditions, leaks, keywords."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_evalstudio.core.cases import NOTHING, Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Finding, Fragment, Metric, Outcome
from pytest_evalstudio.formats.condition import Condition, parse_condition
from pytest_evalstudio.formats.condition_writing import substring_condition
from pytest_evalstudio.metrics.detectors import Hit, describe, redact
from pytest_evalstudio.metrics.quoting import one_line

PERSONAL_DATA, SECRET = "Personal data", "A secret"
"""Categories of leaks."""
MAX_SHOWN = 5
MAX_FRAGMENTS = 100
BOTH_PARTS = "answer and context"
_CONDITION_CHARS = 300

_NIST = {
    "S": "safe",
    "SR": "secure-and-resilient",
    "PE": "privacy-enhanced",
    "F": "fair",
    "AT": "accountable-and-transparent",
    "VR": "valid-and-reliable",
}
_SR = {"C": "conceptual-soundness", "O": "outcomes-analysis", "M": "ongoing-monitoring"}


def keywords(nist: str, sr: str, *more: str) -> tuple[str, ...]:
    """Return the tags of an evaluator.

    Args:
        nist: initials of NIST AI RMF characteristics, separated by blanks.
        sr: initials of SR 11-7 elements, separated by blanks.
        more: further tags.

    >>> keywords("S", "C", "evaluation-method-ngram")[:2]
    ('nist-ai-rmf-safe', 'sr-11-7-conceptual-soundness')
    """
    tags = [f"nist-ai-rmf-{_NIST[initial]}" for initial in nist.split()] + [
        f"sr-11-7-{_SR[initial]}" for initial in sr.split()
    ]
    return (*tags, "evaluation-type-deterministic", *more)


def boolean_metrics(
    passes: str, failures: str, retrieval: str, generation: str, parse: str = ""
) -> tuple[Metric, ...]:
    """Return the metrics of a boolean evaluator with the given display names."""
    declared = [
        ("model_passes", passes, "Share of the answers that pass."),
        ("model_failures", failures, "Share of the answers that fail, for any reason."),
        ("model_retrieval_failures", retrieval, "Share of the retrieved contexts that fail."),
        (
            "model_generation_failures",
            generation,
            "Share of the answers that fail because of the answer text.",
        ),
        ("model_parse_failures", parse, "Share of the replies that could not be read."),
    ]
    return tuple(
        Metric(
            key,
            name,
            better="higher" if key == "model_passes" else "lower",
            threshold=0.5,  # the values of a case are 0 and 1: any number between them decides the same
            primary=key == "model_passes",
            description=description,
            boolean=True,
        )
        for key, name, description in (declared if parse else declared[:-1])
    )


def boolean_outcome(
    metrics: Sequence[Metric],
    answer_fault: str,
    context_fault: str = "",
    *,
    note: str = "",
    fragments: Sequence[Fragment] = (),
    findings: Sequence[Finding] = (),
    details: Mapping[str, Any] = NOTHING,
) -> Outcome:
    """Return the outcome of a boolean evaluator for a case.

    Args:
        metrics: metrics of the evaluator.
        answer_fault: fault of the answer, "" for none.
        context_fault: fault of the retrieved context, "" for none.
        note: reason of a pass.
        fragments: marked spans.
        findings: problems to report.
        details: data for the exports.
    """
    failed = bool(answer_fault or context_fault)
    values = {
        "model_passes": float(not failed),
        "model_failures": float(failed),
        "model_retrieval_failures": float(bool(context_fault)),
        "model_generation_failures": float(bool(answer_fault)),
        "model_parse_failures": 0.0,
    }
    faults = {"answer": answer_fault, "context": context_fault}
    if answer_fault and answer_fault == context_fault:
        faults = {BOTH_PARTS: answer_fault}
    reasons = [f"{part}: {fault}" for part, fault in faults.items() if fault]
    return Outcome.score(
        {metric.key: values[metric.key] for metric in metrics},
        reason="; ".join(reasons) or note,
        # A text of repeated leaks has thousands, which would make the record and the page huge.
        fragments=tuple(fragments[:MAX_FRAGMENTS]),
        findings=tuple(findings),
        details=details,
        # A fault of the answer is the model's own, also where the context has the same one.
        code=OutcomeCode.RETRIEVAL_FAILED if context_fault and not answer_fault else OutcomeCode.NONE,
    )


def condition_of(case: Case) -> Condition:
    """Return the parsed condition of a case; without one, the expected output must be a substring.

    Raises:
        DataError: if the condition is malformed.
    """
    return parse_condition(
        case.condition if case.condition.strip() else substring_condition(case.expected_output.strip())
    )


def unmet(condition: Condition, text: str) -> str:
    """Return the unmet part of a condition in words and without secrets, "" if the text meets it.

    Raises:
        EvaluationError: if a regular expression takes too long.
    """
    match = condition.check(text, mask=redact)
    if match.passed:
        return ""
    unmet_part = one_line(match.failed, _CONDITION_CHARS)
    if unmet_part.startswith("NOT "):
        return f"must not have {unmet_part.removeprefix('NOT ')}"
    return f"does not meet {unmet_part}" if "NOT " in unmet_part else f"lacks {unmet_part}"


def counterpart_of(case: Case) -> Case:
    """Return the case with whose answer an evaluator that declares `compares` compares."""
    assert case.counterpart is not None  # the engine calls such an evaluator with no other case
    return case.counterpart


def condition_parts(case: Case, evaluate_retrieved_context: bool) -> tuple[bool, bool]:
    """Return whether a condition is checked on the answer, and whether on the retrieved context.

    The case says it, by `condition_on`; else both are checked, unless the case expects a refusal, which no
    context contains.

    Args:
        evaluate_retrieved_context: option of the evaluator, for cases that say nothing.
    """
    if not case.condition_on:
        with_context = case.expects != "refusal" and judges_context(case, evaluate_retrieved_context)
        return True, with_context
    has_context = case.is_rag or bool(case.context)
    return case.condition_on != "context", case.condition_on != "answer" and has_context


def judges_context(case: Case, evaluate_retrieved_context: bool) -> bool:
    """Return True if the retrieved context is evaluated in addition to the answer."""
    return evaluate_retrieved_context and case.is_rag


def listed(items: Sequence[str], limit: int = MAX_SHOWN) -> str:
    """Join items for a message; items beyond the limit are counted.

    >>> listed(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    more = len(items) - limit
    return ", ".join(items[:limit]) + (f" and {more} more" if more > 0 else "")


def leak_outcome(
    case: Case,
    metrics: Sequence[Metric],
    find: Callable[[str], list[Hit]],
    *,
    what: str,
    judge_context: bool,
    actions: str,
) -> Outcome:
    """Return the outcome of a leak detector: a fragment and a finding per leak, masked."""
    answer = find(case.actual_output)
    chunks = (
        [(index, hit) for index, chunk in enumerate(case.context) for hit in find(chunk)]
        if judge_context
        else []
    )
    hits = [("answer", hit) for hit in answer] + [(f"context:{index}", hit) for index, hit in chunks]
    fragments = [
        Fragment(start=hit.start, end=hit.end, part=part, message=describe(hit)) for part, hit in hits
    ]
    findings = [
        leak_finding(describe(hit), place_of(part), what, actions) for part, hit in hits[:MAX_FRAGMENTS]
    ]
    return boolean_outcome(
        metrics,
        listed([describe(hit) for hit in answer]),
        listed([describe(hit) for _, hit in chunks]),
        fragments=fragments,
        findings=findings,
    )


def leak_finding(description: str, location: str, what: str, actions: str) -> Finding:
    """Return the finding for a leak: privacy for personal data, security for secrets."""
    kind, avid = ("security", "S0500") if what == SECRET else ("privacy", "P0300")
    return Finding(
        description=f"{what} in the {location}: {description}",
        severity="high",
        problem_type=kind,
        avid=avid,
        actions=actions,
    )


def place_of(part: str) -> str:
    """Return the part of a fragment in words."""
    return "answer" if part == "answer" else f"retrieved context (chunk {int(part.partition(':')[2]) + 1})"
