"""Problems grouped over models and metrics: what is wrong, how often, where, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.outcomes import SEVERITIES, Severity
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo
from pytest_evalstudio.engine.analysis.wording import rounded
from pytest_evalstudio.report.conclusions import ModelConclusion
from pytest_evalstudio.report.labels import natural_key

_NEARLY_ALL = 0.9
_MANY = 10
_KEYS = 5
_RANK: Mapping[str, int] = {"privacy": 0, "security": 0, "fairness": 1}
"""Safety comes first among findings of the same severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Problems of one kind.

    Attributes:
        models: names of the affected models, in natural order.
        of: number of models that could be affected.
        cases: affected rows, 0 where the problem is about a model as a whole.
        listed: those of them that the page lists; fewer where it has an excerpt of the rows.
        keys: test cases, the first ones.
        evaluator: id, "" for none.
        show: filter of the matrix that lists the cases.
    """

    title: str
    severity: Severity
    problem_type: str
    avid: str
    models: tuple[str, ...]
    of: int
    cases: int
    listed: int
    keys: tuple[str, ...]
    evaluator: str
    show: str
    action: str
    problems: tuple[Problem, ...]

    @property
    def filters(self) -> dict[str, str]:
        """Return the filters of the matrix that show the cases; empty where no filter does."""
        if not self.listed or not (self.evaluator or self.keys):
            return {}
        if self.evaluator:
            return {"evaluator": self.evaluator, "show": self.show}
        return {"q": self.keys[0]} if self.cases == 1 else {}


def grouped(analysis: Analysis, conclusions: Sequence[ModelConclusion]) -> list[Finding]:
    """Return the findings of a run, the most severe and the most frequent first."""
    groups: dict[tuple[object, ...], list[Problem]] = {}
    for problem in analysis.problems:
        groups.setdefault(_identity(problem), []).append(problem)
    findings = [_finding(analysis, conclusions, problems) for problems in groups.values()]
    return sorted(
        findings,
        key=lambda finding: (
            SEVERITIES.index(finding.severity),
            _RANK.get(finding.problem_type, 2),
            -len(finding.models),
            -finding.cases,
        ),
    )


def _identity(problem: Problem) -> tuple[object, ...]:
    """Return what problems of one kind share: type, evaluator, metric and kinds of attributes."""
    about = problem.attributes
    is_flip = "perturbators" in about
    return (
        problem.problem_type,
        problem.avid,
        about.get("evaluator"),
        None if is_flip else about.get("metric"),
        is_flip,
        "score" in about,
        "count" in about,
        "limit" in about,
        None if _is_about_rows(problem) else problem.actions,
    )


def _is_about_rows(problem: Problem) -> bool:
    return "perturbators" in problem.attributes or "test_case_keys" in problem.attributes


def _finding(
    analysis: Analysis, conclusions: Sequence[ModelConclusion], problems: Sequence[Problem]
) -> Finding:
    first = problems[0]
    about = first.attributes
    info = analysis.evaluators.get(str(about.get("evaluator", "")))
    names = {str(p.attributes["model_name"]) for p in problems if "model_name" in p.attributes}
    models = tuple(sorted(names, key=natural_key))
    cases = sum(_case_count(problem) for problem in problems)
    model_count = len(analysis.models)
    is_mean = info is not None and "threshold" in about and "perturbators" not in about
    if is_mean and info is not None:
        cases = _failing(conclusions, info.id)
        model_count = sum(
            cell.n > 0 for model in conclusions for cell in model.cells if cell.board.evaluator.id == info.id
        )
        title = _mean_title(info, problems, len(models), model_count)
    else:
        title = _title(info, problems, models, model_count)
    listed = cases
    if analysis.listed_failures is not None and info is not None and "perturbators" not in about:
        listed = min(cases, analysis.listed_failures.get(info.id, 0))
    return Finding(
        title=title,
        severity=min((problem.severity for problem in problems), key=SEVERITIES.index),
        problem_type=first.problem_type,
        avid=first.avid,
        models=models,
        of=model_count,
        cases=cases,
        listed=listed,
        keys=tuple(_keys(problems)),
        evaluator=info.id if info is not None else "",
        show="flips" if "perturbators" in about else "failures",
        action=_action(conclusions, info, first, is_mean=is_mean),
        problems=tuple(problems),
    )


def _case_count(problem: Problem) -> int:
    about = problem.attributes
    if "count" in about:
        return int(about["count"])
    return len(about.get("test_case_keys", ()))


def _keys(problems: Iterable[Problem]) -> Iterator[str]:
    keys = dict.fromkeys(str(key) for p in problems for key in p.attributes.get("test_case_keys", ()))
    yield from list(keys)[:_KEYS]


def _mean_title(info: EvaluatorInfo, problems: Sequence[Problem], models: int, model_count: int) -> str:
    about = problems[0].attributes
    metric = next((metric for metric in info.metrics if metric.key == about.get("metric")), info.primary)
    scores = sorted(float(problem.attributes["score"]) for problem in problems)
    thresholds = {float(problem.attributes["threshold"]) for problem in problems}
    limit = rounded(thresholds.pop()) if len(thresholds) == 1 else "their thresholds (varies)"
    beyond = "below" if metric.better == "higher" else "above"
    spread = rounded(scores[0]) if scores[0] == scores[-1] else f"{scores[0]:.2f}–{scores[-1]:.2f}"
    name = info.name if metric.primary else f"{info.name}, {metric.name}"
    who = (
        f"{models} of {model_count} models" if model_count > 1 else str(about.get("model_name", "the model"))
    )
    return f"{name}: {who} {beyond} {limit} ({spread})"


def _title(
    info: EvaluatorInfo | None, problems: Sequence[Problem], models: Sequence[str], model_count: int
) -> str:
    if len(problems) == 1:
        return problems[0].description.rstrip(".")
    if info is None:
        return f"{problems[0].description.rstrip('.')}, and {len(problems) - 1} more of this kind"
    cases = sum(_case_count(problem) for problem in problems)
    what = f"{cases} {'case' if cases == 1 else 'cases'}" if cases else f"{len(problems)} findings"
    of = f", {len(models)} of {model_count} models" if model_count > 1 and models else ""
    name = info.name
    if "perturbators" in problems[0].attributes:
        broken = sum(
            flip.get("direction") == "pass_to_fail"
            for problem in problems
            for flip in problem.attributes.get("flips", ())
        )
        return f"{name}: {what} flip under perturbation{of} ({broken} pass → fail)"
    kind = problems[0].problem_type.replace("_", " ")
    return f"{name}: {kind} {'finding' if cases == 1 else 'findings'} in {what}{of}"


def _failing(conclusions: Sequence[ModelConclusion], evaluator: str) -> int:
    lines = (
        cell.board.standing(model.key)
        for model in conclusions
        for cell in model.cells
        if cell.board.evaluator.id == evaluator
    )
    return sum(line.judged - line.passed for line in lines if line is not None)


def _action(
    conclusions: Sequence[ModelConclusion], info: EvaluatorInfo | None, first: Problem, *, is_mean: bool
) -> str:
    """Return the next step; where nearly all cases miss a threshold, the question is the threshold."""
    if not is_mean or info is None:
        return first.actions
    lines = [
        line
        for model in conclusions
        for cell in model.cells
        if cell.board.evaluator.id == info.id and (line := cell.board.standing(model.key)) is not None
    ]
    judged = sum(line.judged for line in lines)
    failing = judged - sum(line.passed for line in lines)
    if judged >= _MANY and failing >= _NEARLY_ALL * judged:
        return (
            f"{failing} of {judged} cases miss it: is the threshold right for this data? Compare with answers"
            " that people call good, or calibrate it."
        )
    return f"Read the failures of {info.name} for a common cause, then compare the models."
