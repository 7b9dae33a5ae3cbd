"""The summary of a workflow: steps, quality of the model, problems and actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from pytest_evalstudio.contrib.validation.artifacts.case_links import case_links
from pytest_evalstudio.contrib.validation.artifacts.chain import SignOff
from pytest_evalstudio.contrib.validation.artifacts.conclusion import (
    Conclusion,
    ConclusionDecision,
    ConclusionFinding,
    concluded,
    decide,
    describe_decision,
)
from pytest_evalstudio.contrib.validation.artifacts.evidence import Evidence, evidence_of
from pytest_evalstudio.contrib.validation.artifacts.register import (
    RegisterEntry,
    cases_of,
    read_register,
    register_lines,
)
from pytest_evalstudio.contrib.validation.artifacts.sign_off import SignOffStatus, missing_roles, sign_offs
from pytest_evalstudio.contrib.validation.methods.controls.results import control_notes
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.contrib.validation.workflow.documents import relative
from pytest_evalstudio.contrib.validation.workflow.entries import step_entry
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow.states import REGISTER
from pytest_evalstudio.core.markdown import whole
from pytest_evalstudio.core.outcomes import SEVERITIES
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.record.problems import problem_groups
from pytest_evalstudio.record.schema import StepEntry
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import Interval
from pytest_evalstudio.text.figures import percent

RAISED = "raised_by_people"
"""Code of the findings of people."""
_VERDICTS = {"passed": True, "xpassed": True, "failed": False, "xfailed": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Evaluated test cases by verdict of the deciding metrics; of all metrics if none decides.

    Attributes:
        judged: number of cases with a verdict.
        share, interval: of cases that pass, with its 95 % interval.
        verdicts: number of cases by verdict.
        passed_all: of the same cases, those that pass all metrics; None where all metrics decide.
    """

    passed: int
    judged: int
    share: float
    interval: Interval
    verdicts: Mapping[str, int]
    passed_all: int | None = None

    @property
    def words(self) -> str:
        """Return the number of passing cases with what decides it: two counts of one run must not collide."""
        if self.passed_all is None:
            return f"{self.passed} of {self.judged} test cases pass all metrics"
        by_all = f"; {self.passed_all} pass all metrics" if self.passed_all != self.passed else ""
        return f"{self.passed} of {self.judged} test cases pass the deciding metrics{by_all}"


class StepSummary(StepEntry, frozen=True, kw_only=True):
    """The record's entry of a step, with the names of the files in its folder."""

    artifacts: tuple[str, ...] = ()


class StepProblem(Problem, frozen=True, kw_only=True):
    """A problem with the name of the step that reports it."""

    step: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowSummary:
    """The state and the results of a workflow.

    Attributes:
        workflow: title.
        file: name of the workflow's file.
        model: as the file names it, "" for the configured one.
        documents: paths from the workflow's folder, or URLs.
        completed: number of completed steps.
        quality: None if nothing is evaluated.
        decision: result of the deciding metrics; None if nothing is evaluated.
        problems: of the completed steps, the most severe first; the same finding of several steps is listed
            once.
        evidence: digests of everything that the results rest on.
        register: findings and challenges of people.
        case_links: key of a case of the register to its address in the report of a step.
        sign_offs: the last one of each role.
        unsigned: roles of the policy without a valid sign-off.
    """

    version: int = 2
    workflow: str
    description: str
    file: str
    model: str
    documents: tuple[str, ...]
    seed: int
    completed: int
    quality: Quality | None
    decision: ConclusionDecision | None
    steps: tuple[StepSummary, ...]
    problems: tuple[StepProblem, ...]
    evidence: Evidence
    register: tuple[RegisterEntry, ...] = ()
    case_links: Mapping[str, str] = field(default_factory=dict)
    sign_offs: tuple[SignOffStatus, ...] = ()
    unsigned: tuple[str, ...] = ()


def summarise(run: WorkflowRun, new: SignOff | None = None) -> WorkflowSummary:
    """Return the summary of a workflow.

    Args:
        run: of the workflow.
        new: a sign-off of this moment, which is not stored yet.
    """
    decision = decide(run)
    register = read_register(run.folder / REGISTER)
    statuses = sign_offs(run, new)
    steps = tuple(
        StepSummary(**msgspec.structs.asdict(step_entry(run, spec.id)), artifacts=_files(run, spec.id))
        for spec in run.specs
    )
    return WorkflowSummary(
        workflow=masked(run.title),
        description=masked(run.workflow.description),
        file=run.path.name,
        model=run.workflow.model,
        documents=tuple(safe_identifier(relative(document, run.path.parent)) for document in run.documents),
        seed=run.workflow.seed,
        completed=sum(step.status == "completed" for step in steps),
        quality=_quality(run, decision),
        decision=decision,
        steps=steps,
        problems=_problems(steps, tuple(_raised(register))),
        evidence=evidence_of(run),
        register=register,
        case_links=case_links(run, {key for entry in register for key in entry.cases}),
        sign_offs=statuses,
        unsigned=missing_roles(run, statuses),
    )


def _raised(register: Sequence[RegisterEntry]) -> Iterator[StepProblem]:
    """Yield the findings of people that are not closed; an accepted one restricts the conclusion only.

    A finding that a step reported counts as that step's problem.
    """
    for entry in register:
        if entry.kind == "finding" and entry.status != "closed" and not entry.step:
            yield StepProblem(
                description=entry.description,
                severity="low" if entry.status == "accepted" else entry.severity,
                problem_type="accuracy",
                avid="P0200",
                attributes={"kind": RAISED, "id": entry.id, "status": entry.status},
                code=RAISED,
                actions=f"Owner: {entry.owner}." if entry.owner else "",
                resources=(),
                step=f"{entry.id}, raised by {entry.raised_by}",
            )


def _problems(steps: Sequence[StepSummary], written: Sequence[StepProblem] = ()) -> tuple[StepProblem, ...]:
    """Return the problems of all completed steps and of people, the most severe first."""
    problems = [
        *written,
        *(
            StepProblem(**msgspec.structs.asdict(problem), step=step.name)
            for step in steps
            if step.status == "completed"
            for problem in step.problems
        ),
    ]
    ordered = sorted(problems, key=lambda problem: SEVERITIES.index(problem.severity))
    return tuple(_distinct(ordered))


def step_problems(run: WorkflowRun) -> tuple[list[Problem], list[str]]:
    """Return the findings of the completed steps, and the name of the step of each."""
    # Without those of people: a finding with the same words would take the place of the step's problem.
    findings = merged_findings(_problems(summarise(run).steps))
    return list(findings), [finding.step for finding in findings]


def merged_findings(problems: Sequence[StepProblem]) -> tuple[StepProblem, ...]:
    """Return the findings that the problems are: several metrics of one evaluator are one, with all words."""
    findings = []
    for first, *others in problem_groups(problems):
        group = [first, *others]
        text = " ".join(dict.fromkeys(problem.description for problem in group))
        keys = dict.fromkeys(key for problem in group for key in cases_of(problem))
        attributes = {**first.attributes, "test_case_keys": list(keys)} if keys else first.attributes
        findings.append(msgspec.structs.replace(first, description=text, attributes=attributes))
    return tuple(findings)


def _distinct(problems: Sequence[StepProblem]) -> Iterator[StepProblem]:
    """Yield each finding once, with the names of all steps that report it."""
    groups: dict[object, list[StepProblem]] = {}
    for problem in problems:
        groups.setdefault(_identity(problem), []).append(problem)
    for first, *others in groups.values():
        steps = dict.fromkeys([first.step, *(other.step for other in others)])
        yield msgspec.structs.replace(first, step=", ".join(steps))


def _identity(problem: StepProblem) -> object:
    """Return what makes two findings the same: type, metric and test cases, or the same words."""
    cases = problem.attributes.get("test_case_keys")
    if not isinstance(cases, list | tuple) or not cases:
        return problem.description
    metric = problem.attributes.get("metric", "")
    return problem.problem_type, str(metric), frozenset(map(str, cases))


def conclude(summary: WorkflowSummary) -> Conclusion:
    """Return the conclusion of a workflow; see `conclusion.concluded`."""
    return concluded(
        summary.decision,
        [_finding(problem) for problem in summary.problems],
        # A step that asked nothing is completed without results.
        {step.step: step.name for step in summary.steps if step.status != "completed" or not step.figures},
    )


def _finding(problem: StepProblem) -> ConclusionFinding:
    """Return a problem as the conclusion counts it.

    Clusters describe failures that the share of passes counts already, and faults of evaluators say nothing
    about the model: neither makes it unfit.
    """
    is_about_model = problem.problem_type != "runtime" and problem.code != "failure_cluster"
    return ConclusionFinding(
        text=f"{problem.step}: {problem.description}",
        is_high=problem.severity == "high" and is_about_model,
        metrics=_metrics(problem.attributes),
    )


def _metrics(attributes: Mapping[str, object]) -> tuple[str, ...]:
    """Return the metrics that a problem rests on, as `evaluator.metric` or `evaluator`; () for none."""
    evaluator, metric = attributes.get("evaluator"), attributes.get("metric")
    if not isinstance(evaluator, str) or not evaluator:
        # Steps name a metric with or without its evaluator.
        return ()
    if not isinstance(metric, str):
        return (evaluator,)
    return (metric if metric.startswith(f"{evaluator}.") else f"{evaluator}.{metric}",)


def markdown(summary: WorkflowSummary, artifacts: Mapping[str, str]) -> str:
    """Return the summary as Markdown.

    Args:
        summary: of the workflow.
        artifacts: names of files to their descriptions.
    """
    return "\n".join(_lines(summary, artifacts)) + "\n"


def _describe_sign_offs(summary: WorkflowSummary) -> Iterator[str]:
    yield from ("", "## Sign-off", "")
    if not summary.sign_offs:
        yield "Nobody has signed. `evalstudio mrm sign-off` stores a signature with the workflow."
    for status in summary.sign_offs:
        entry = status.sign_off
        remarks = "; ".join(map(whole, status.remarks))
        who = f"**{entry.role.capitalize()}** {whole(entry.name)}, {entry.date}"
        yield f"- {who}: {entry.decision}; {remarks}"
    if summary.unsigned:
        yield f"- Without a valid sign-off: {', '.join(summary.unsigned)}"


def _files(run: WorkflowRun, id: str) -> tuple[str, ...]:
    folder = run.folder_of(id)
    if not folder.is_dir():
        return ()
    files = (path.name for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return tuple(sorted(files))


def _quality(run: WorkflowRun, decision: ConclusionDecision | None) -> Quality | None:
    """Return the share of answers that pass the deciding metrics, or all metrics if none decides.

    None if nothing is evaluated.
    """
    evaluation = run.completed_results(EVALUATION, EvaluationResults)
    if evaluation is None:
        return None
    counts = dict(evaluation.verdicts)
    passed_all = None
    if decision is not None and decision.metrics:
        passed_all = sum(count for verdict, count in counts.items() if _VERDICTS.get(verdict) is True)
        others = {verdict: count for verdict, count in counts.items() if verdict not in _VERDICTS}
        counts = {"failed": decision.judged - decision.passed, "passed": decision.passed, **others}
    passed = sum(count for verdict, count in counts.items() if _VERDICTS.get(verdict) is True)
    judged = sum(count for verdict, count in counts.items() if verdict in _VERDICTS)
    if not judged:
        return None
    return Quality(
        passed=passed,
        judged=judged,
        share=passed / judged,
        interval=wilson_interval(passed, judged),
        verdicts={verdict: count for verdict, count in counts.items() if count},
        passed_all=passed_all,
    )


def _lines(summary: WorkflowSummary, artifacts: Mapping[str, str]) -> Iterator[str]:
    yield f"# {whole(summary.workflow)}: summary of the validation"
    yield ""
    if summary.description:
        yield from (whole(summary.description), "")
    yield (
        f"Model: {whole(summary.model or 'the configured one')}. Documents:"
        f" {', '.join(map(whole, summary.documents))}."
    )
    yield f"{summary.completed} of {len(summary.steps)} steps are completed."
    conclusion = conclude(summary)
    yield from ("", "## Conclusion", "", f"**{conclusion.fitness.capitalize()}.**")
    for status in summary.sign_offs:
        if status.is_valid and status.sign_off.exception_text:
            yield f"- **{whole(status.sign_off.exception_text)}**"
    yield from (f"- Missing ({gap.code}): {whole(gap.text)}" for gap in conclusion.gaps)
    yield from (f"- Decided by {whole(text)}" for text in conclusion.decided_by)
    yield from (f"- Limit: {whole(text)}" for text in conclusion.limits)
    if summary.decision is not None:
        yield from ("", "## Decision and controls", "")
        yield from (f"- {whole(text)}" for text in describe_decision(summary.decision))
        yield from (f"- {whole(text)}" for text in control_notes(summary.decision.controls))
    yield from _describe_sign_offs(summary)
    yield from register_lines(summary.register)
    yield from ("", "## Quality", "")
    yield _describe_quality(summary.quality)
    yield from ("", "## Steps", "")
    for step in summary.steps:
        text = step.summary
        if step.waits:
            text = f"waits: {step.waits}"
        elif step.lacks:
            text = f"needs {', '.join(step.lacks)}"
        result = f": {whole(text)}" if text else ""
        yield f"{step.number}. **{whole(step.name)}** ({step.status}){result}"
        yield from (f"   - {whole(note)}" for note in step.notes)
    yield from ("", "## Problems and what to do", "")
    for first, *others in problem_groups(summary.problems):
        yield f"- **{first.severity}** ({whole(first.step)}): {whole(first.description)}"
        if first.actions:
            yield f"  {whole(first.actions)}"
        yield from (f"  - {whole(other.description)}" for other in others)
    if not summary.problems:
        yield "The completed steps report none."
    if artifacts:
        yield from ("", "## Artifacts", "")
        yield from (f"- `{name}`: {description}" for name, description in artifacts.items())


def _describe_quality(quality: Quality | None) -> str:
    if quality is None:
        return "Nothing has been evaluated yet."
    low, high = quality.interval
    others = [f"{count} {verdict}" for verdict, count in quality.verdicts.items() if verdict not in _VERDICTS]
    rest = f" Besides: {', '.join(others)}." if others else ""
    return (
        f"{quality.words}: {percent(quality.share)}, 95 % interval {percent(low)} to {percent(high)}.{rest}"
    )
