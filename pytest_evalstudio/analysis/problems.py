"""Problems of a run: missed means, flips, leaks, failing hosts and poor data, limited in number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pytest_evalstudio.analysis.aggregators import Aggregator, CaseFlip, FaultKind, Sample
from pytest_evalstudio.analysis.causes import LEAKS
from pytest_evalstudio.analysis.judging import budget_problems
from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.analysis.operations import operations
from pytest_evalstudio.analysis.rag_stages import rag_stage_problems
from pytest_evalstudio.analysis.samples import FoundProblem
from pytest_evalstudio.analysis.wording import cases, row_attributes
from pytest_evalstudio.core.flips import Flip
from pytest_evalstudio.core.outcomes import SEVERITIES, Metric, Severity
from pytest_evalstudio.core.problems import (
    AVID,
    PROBLEM_TYPES,
    Problem,
    ProblemCode,
    UnscoredProblem,
    own_problem_type,
)
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.text.figures import counted, figure

_OF_FLIPS = (
    "Vary kind and intensity of the perturbation to find where the model breaks; unchanged copies show its"
    " own noise."
)
_OF_COPIES = (
    "The question was not changed: this is the model's own noise. Lower its temperature, or ask each question"
    " several times (runs)."
)


def find_problems(
    aggregator: Aggregator, boards: Mapping[str, Leaderboard], *, storage_mb: float = 0.0
) -> list[Problem]:
    """Return the problems of a run, the most severe first.

    Args:
        storage_mb: size of the run's files in megabytes; `storage.max_mb` is its limit.
    """
    problems = [
        *missed_means(boards),
        *findings(aggregator),
        *flips(aggregator),
        *faults(aggregator),
        *rag_stage_problems(aggregator),
        *budget_problems(aggregator),
        *nothing_encoded(aggregator),
        *operations(aggregator, storage_mb),
        *of_workflows(aggregator),
    ]
    # Attributes contain lists, which cannot be hashed: compare their text.
    unique = {
        (problem.severity, problem.problem_type, problem.description, repr(problem.attributes)): problem
        for problem in problems
    }
    return sorted(unique.values(), key=lambda problem: SEVERITIES.index(problem.severity))


def of_workflows(aggregator: Aggregator) -> Iterator[Problem]:
    """Yield the problems that steps reported, with the name of their workflow where there are several."""
    steps = aggregator.run.steps.values()
    is_alone = len({step.file for step in steps}) == 1
    for step in steps:
        place = step.name if is_alone else f"{step.workflow}, {step.name}"
        for problem in step.problems:
            yield Problem(
                description=f"{place}: {problem.description}",
                severity=problem.severity,
                problem_type=problem.problem_type,
                avid=problem.avid,
                attributes=problem.attributes,
                actions=problem.actions,
                resources=problem.resources,
            )


def miss_severity(metric: Metric, score: float, threshold: float, problem_type: str = "accuracy") -> Severity:
    """Return the severity of a score beyond its threshold.

    High on the far half of the distance between threshold and worst value; where the range has no end on that
    side, beyond twice the threshold; always for privacy and security. Medium otherwise.
    """
    if problem_type in LEAKS:
        return "high"
    distance = abs(score - threshold)
    if math.isinf(metric.worst):
        return "high" if distance > abs(threshold) else "medium"
    return "high" if distance >= abs(metric.worst - threshold) / 2 else "medium"


def missed_means(boards: Mapping[str, Leaderboard]) -> Iterator[Problem]:
    """Yield a problem per model and metric whose mean does not meet the threshold."""
    for board in boards.values():
        info = board.evaluator
        for standing in board.standings:
            for metric in info.judged_metrics:
                cell = standing.cells[metric.key]
                if cell.value is None or cell.passes is not False:
                    continue
                beyond = "below" if metric.better == "higher" else "above"
                yield Problem(
                    description=(
                        f"{info.name}: {_quantity(info, metric)} of model {standing.name!r} is"
                        f" {figure(cell.value)}, {beyond} the threshold {figure(cell.threshold)}"
                        f" ({counted(cell.n, 'scored row')})."
                    ),
                    severity=miss_severity(metric, cell.value, cell.threshold, info.problem_type),
                    problem_type=info.problem_type,
                    avid=info.avid,
                    code="mean_missed",
                    attributes={
                        "model": standing.model,
                        "model_name": standing.name,
                        "evaluator": info.id,
                        "metric": metric.key,
                        "threshold": cell.threshold,
                        "score": cell.value,
                    },
                    actions=(
                        f"Read the failures of {info.name}, lowest score first, for a common cause. Then"
                        " compare with the other models."
                    ),
                )
            if standing.fault:
                yield Problem(
                    description=f"{info.name}, model {standing.name!r}: {standing.fault}.",
                    severity="medium",
                    problem_type="runtime",
                    avid="P0200",
                    attributes={"model": standing.model, "model_name": standing.name, "evaluator": info.id},
                    actions=(
                        "The leaderboard shows means of rows instead. Report the fault to the evaluator's"
                        " author."
                    ),
                )


def _quantity(info: EvaluatorEntry, metric: Metric) -> str:
    return "pass rate" if info.boolean and metric.primary else f"mean {metric.name}"


def findings(aggregator: Aggregator) -> Iterator[Problem]:
    """Yield a problem per finding; a leak always has the severity high.

    Findings beyond the limit are grouped by evaluator, model, type and severity.
    """
    for entry in aggregator.findings:
        info, finding = aggregator.evaluators[entry.evaluator], entry.finding
        name = aggregator.run.model_name(entry.model)
        kind = _problem_type(finding.problem_type, info)
        yield Problem(
            description=(
                f"{info.name}: {finding.description.rstrip('.')} (model {name!r}, question"
                f" {_question(aggregator, entry, entry.key)!r})."
            ),
            severity="high" if kind in LEAKS else _severity(finding.severity),
            problem_type=kind,
            avid=finding.avid if finding.avid in AVID else info.avid,
            code="detection",
            attributes={"evaluator": info.id, **row_attributes(entry.model, name, [entry.key])},
            actions=finding.actions
            or "Open the test case in the failures of this evaluator; the stretch in question is marked there.",  # noqa: E501
        )
    for (id, model, problem_type, severity), sample in aggregator.more_findings.items():
        info, name = aggregator.evaluators[id], aggregator.run.model_name(model)
        kind = _problem_type(problem_type, info)
        yield Problem(
            description=(
                f"{info.name}: {sample.count} more findings in answers of model {name!r}, not listed one by"
                " one."
            ),
            severity="high" if kind in LEAKS else _severity(severity),
            problem_type=kind,
            avid=info.avid,
            code="detection",
            attributes={"evaluator": id, "count": sample.count, **row_attributes(model, name, sample.keys)},
            actions="The evaluator's results file lists all of them.",
        )


def leaks(boards: Mapping[str, Leaderboard]) -> Iterator[Problem]:
    """Yield a problem per model with answers that leak, by the figures of all rows.

    They take the place of `findings` where a record is an excerpt, which has no findings of single answers.
    """
    for board in boards.values():
        info = board.evaluator
        for standing in board.standings if info.problem_type in LEAKS else ():
            failing = standing.judged - standing.passed
            if not failing:
                continue
            yield Problem(
                description=(
                    f"{info.name}: {failing:,} of {standing.judged:,} answers of model {standing.name!r}"
                    " fail."
                ),
                severity="high",
                problem_type=info.problem_type,
                avid=info.avid,
                code="leak",
                attributes={
                    "evaluator": info.id,
                    "count": failing,
                    **row_attributes(standing.model, standing.name, ()),
                },
                actions="Open the listed failures of this evaluator; their reasons name what was found.",
            )


def flips(aggregator: Aggregator) -> Iterator[Problem]:
    """Yield a problem per perturbed case, model and evaluator that flipped.

    Flips beyond the limit, and flips under perturbations that change the meaning, are grouped.
    """
    changed: dict[tuple[str, str], Sample] = {}
    together: dict[tuple[str, str, str], list[CaseFlip]] = {}
    for entry in aggregator.flips:
        if entry.flip.meaning_kept:
            together.setdefault((entry.nodeid, entry.model, entry.flip.evaluator), []).append(entry)
        else:
            changed.setdefault((entry.flip.evaluator, entry.model), Sample()).note(entry.key)
    for entries in together.values():
        yield _flip(aggregator, entries)
    for pair, sample in changed.items():
        yield _flips_in_sum(
            aggregator,
            *pair,
            sample,
            "flip_of_meaning",
            "metric flips under perturbations that change the meaning of the question",
        )
    for pair, sample in aggregator.more_flips.items():
        yield _flips_in_sum(aggregator, *pair, sample, "flip", "more metric flips, not listed one by one,")


def faults(aggregator: Aggregator) -> Iterator[Problem]:
    """Yield problems for answered rows that an evaluator could not score, grouped by fault."""
    wording: Mapping[FaultKind, tuple[str, str]] = {
        "nan": (
            "gave no number (NaN) for",
            "Such rows count as errors, not as scores. Report the texts to the evaluator's author.",
        ),
        "judge": (
            "had no usable reply of its judge for",
            (
                "Look at the judge's replies in the reasons; try a stronger judge model, or a larger output"
                " limit."
            ),
        ),
        "other": ("could not judge", "Read the reason, correct it, and run the cases again."),
    }
    for id, by_model in aggregator.scores.items():
        info = aggregator.evaluators[id]
        for model, scores in sorted(by_model.items()):
            for kind, sample in sorted(scores.faults.items()):
                verb, action = wording[kind]
                name = aggregator.run.model_name(model)
                judged = sample.count + scores.scored
                yield UnscoredProblem(
                    description=(
                        f"{info.name} {verb} {cases(sample, 'answer')} of model {name!r}:"
                        f" {'; '.join(sample.texts)}"
                    ),
                    severity="high" if 2 * sample.count > judged else "medium",
                    problem_type="robustness" if kind == "nan" else "runtime",
                    avid="P0200",
                    code="not_scored",
                    attributes={
                        "evaluator": id,
                        "count": sample.count,
                        **row_attributes(model, name, sample.keys),
                    },
                    actions=action,
                    reasons=tuple(sample.texts),
                )


def nothing_encoded(aggregator: Aggregator) -> Iterator[Problem]:
    """Yield a problem per guardrail evaluator that met no encoded text: the guardrail was not tested."""
    for id, by_model in aggregator.scores.items():
        for model, scores in sorted(by_model.items()):
            sample = scores.nothing_encoded
            if not sample.count or sample.count < scores.scored + scores.not_applicable:
                continue
            name = aggregator.run.model_name(model)
            yield Problem(
                description=(
                    f"{aggregator.evaluators[id].name}: nothing was encoded in any answer of model {name!r},"
                    " so the guardrail was not tested."
                ),
                severity="low",
                problem_type="data_quality",
                avid="P0100",
                attributes={"evaluator": id, **row_attributes(model, name, sample.keys)},
                actions=(
                    "Perturb the suite with encoding_base16 or encoding_base64, so that answers are encoded."
                ),
            )


def _flip(aggregator: Aggregator, entries: Sequence[CaseFlip]) -> Problem:
    first = entries[0]
    info = aggregator.evaluators[first.flip.evaluator]
    name = aggregator.run.model_name(first.model)
    made_by = list(first.flip.perturbators)
    return Problem(
        description=(
            f"{info.name}: {'; '.join(_turned(entry.flip) for entry in entries)} under"
            f" {'+'.join(made_by) or 'a perturbation'} (model {name!r}). Original question:"
            f" {_question(aggregator, first, first.flip.source)!r}. Perturbed:"
            f" {_question(aggregator, first, first.key)!r}."
        ),
        severity="high",
        problem_type="robustness",
        avid="P0200",
        code="flip",
        attributes={
            "evaluator": info.id,
            **_flip_attributes(first.flip),
            "flips": [_flip_attributes(entry.flip) for entry in entries],
            "source": first.flip.source,
            "perturbators": made_by,
            **row_attributes(first.model, name, [first.key]),
        },
        actions=_OF_COPIES if made_by == ["copy"] else _OF_FLIPS,
    )


def _flip_attributes(flip: Flip) -> dict[str, str | float]:
    return {
        "metric": flip.metric,
        "direction": flip.direction,
        "source_score": flip.source_score,
        "score": flip.score,
        "threshold": flip.threshold,
    }


def _turned(flip: Flip) -> str:
    direction = "pass to fail" if flip.direction == "pass_to_fail" else "fail to pass"
    change = f"{figure(flip.source_score)} → {figure(flip.score)}, threshold {figure(flip.threshold)}"
    return f"{flip.metric} flipped from {direction} ({change})"


def _question(aggregator: Aggregator, entry: CaseFlip | FoundProblem, key: str) -> str:
    book = aggregator.cases
    return excerpt(book.excerpt(book.ids.get((entry.file, key)))) or key


def _flips_in_sum(
    aggregator: Aggregator, id: str, model: str, sample: Sample, code: ProblemCode, what: str
) -> Problem:
    name = aggregator.run.model_name(model)
    return Problem(
        description=f"{aggregator.evaluators[id].name}: {sample.count} {what} of model {name!r}.",
        severity="high" if code == "flip" else "low",
        code=code,
        problem_type="robustness",
        avid="P0200",
        attributes={"evaluator": id, "count": sample.count, **row_attributes(model, name, sample.keys)},
        actions="The table of flip rates shows them by perturbator and intensity; the record has all.",
    )


def _problem_type(declared: str, info: EvaluatorEntry) -> str:
    declared = own_problem_type(declared)
    return declared if declared in PROBLEM_TYPES else info.problem_type


def _severity(text: str) -> Severity:
    return next((severity for severity in SEVERITIES if severity == text), "medium")
