"""Problems grouped by evaluator: what is wrong, how often, where, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.causes import LEAKS
from pytest_evalstudio.analysis.leaderboards import Standing
from pytest_evalstudio.analysis.rag_stages import stage_title
from pytest_evalstudio.core.outcomes import SEVERITIES, Metric, Severity
from pytest_evalstudio.core.problems import Problem, UnscoredProblem
from pytest_evalstudio.plots.labels import natural_key
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.text.figures import counted, figure, plural

_NEARLY_ALL = 0.9
_MANY = 10
_KEYS = 5
_RANK: Mapping[str, int] = {"privacy": 0, "security": 0, "fairness": 1}
"""Safety comes first among findings of the same severity."""
_DETECTIONS = ("detection", "leak")
_SHOW: Mapping[str, str] = {
    "mean_missed": "missed",
    "detection": "missed",
    "leak": "missed",
    "not_scored": "errors",
    "flip": "flips",
}
"""Codes of problems, and the filter of the matrix that lists the answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinding:
    """Problems of one kind.

    Attributes:
        models: names of the affected models, in natural order.
        of: number of models that could be affected.
        answers: distinct answers that miss a threshold, flip, or have no score; 0 where the problem is about
            a model as a whole.
        detections: single findings of an evaluator in answers; one answer may have several.
        listed: those answers that the page lists; fewer where it has an excerpt of the rows.
        keys: test cases, the first ones.
        evaluator: id, "" for none.
        show: filter of the matrix that lists exactly the answers, "" where none does.
        problems: places in the list of the run's problems.
    """

    title: str
    severity: Severity
    problem_type: str
    avid: str
    models: tuple[str, ...]
    of: int
    answers: int
    detections: int
    listed: int
    keys: tuple[str, ...]
    evaluator: str
    show: str
    action: str
    problems: tuple[int, ...]

    @property
    def filters(self) -> dict[str, str]:
        """Return the filters of the matrix that show the answers; empty where no filter does."""
        if not self.listed:
            return {}
        if self.evaluator and self.show:
            return {"evaluator": self.evaluator, "show": self.show}
        return {"q": self.keys[0]} if self.answers == 1 and self.keys else {}


def grouped(analysis: Analysis) -> list[RunFinding]:
    """Return the findings of a run, the most severe and the most frequent first."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, problem in enumerate(analysis.problems):
        if _decides(analysis, problem):
            groups.setdefault(_identity(problem), []).append(place)
    findings = [_Group(analysis, places).finding() for places in groups.values()]
    return sorted(
        findings,
        key=lambda finding: (
            SEVERITIES.index(finding.severity),
            _RANK.get(finding.problem_type, 2),
            -len(finding.models),
            -finding.answers,
        ),
    )


def _decides(analysis: Analysis, problem: Problem) -> bool:
    """Return False for a mean beyond the threshold of a metric that decides no test: it only informs."""
    info = analysis.evaluators.get(str(problem.attributes.get("evaluator", "")))
    if problem.code != "mean_missed" or info is None:
        return True
    if info.problem_type in LEAKS:  # a single leak is a problem, which has findings of its own
        return False
    return problem.attributes.get("metric") in info.asserted


def _identity(problem: Problem) -> tuple[object, ...]:
    """Return the properties that problems of one kind share.

    Problems with a code are one finding per evaluator, whatever their metric.
    """
    about = problem.attributes
    code = "detection" if problem.code in _DETECTIONS else problem.code
    if code in ("mean_missed", "flip", "flip_of_meaning"):
        return code, about.get("evaluator")
    if code == "rag_stage":
        return code, about.get("stage")
    if code:
        return code, about.get("evaluator"), problem.problem_type
    is_about_rows = "test_case_keys" in about
    return (
        problem.problem_type,
        problem.avid,
        about.get("evaluator"),
        about.get("metric"),
        "count" in about,
        "limit" in about,
        None if is_about_rows else problem.actions,
    )


class _Group:
    """Problems of one kind, and the counts that their finding states."""

    def __init__(self, analysis: Analysis, places: Sequence[int]) -> None:
        self._analysis = analysis
        self._places = tuple(places)
        self._problems = problems = [analysis.problems[place] for place in places]
        self._code = problems[0].code
        self._info = analysis.evaluators.get(str(problems[0].attributes.get("evaluator", "")))
        names = {str(p.attributes["model_name"]) for p in problems if "model_name" in p.attributes}
        if self._code in _DETECTIONS:
            names |= {line.name for line in self._standings if line.judged > line.passed}
        self._models = tuple(sorted(names, key=natural_key))

    def finding(self) -> RunFinding:
        """Return the finding."""
        first = self._problems[0]
        answers, listed = self._answers()
        return RunFinding(
            title=self._title(answers),
            severity=min((problem.severity for problem in self._problems), key=SEVERITIES.index),
            problem_type=first.problem_type,
            avid=first.avid,
            models=self._models,
            of=self._model_count,
            answers=answers,
            detections=self._detections,
            listed=listed,
            keys=tuple(_keys(self._problems)),
            evaluator=self._info.id if self._info is not None else "",
            show=_SHOW.get(self._code, ""),
            action=self._action(answers),
            problems=self._places,
        )

    @property
    def _model_count(self) -> int:
        if self._code != "mean_missed" or self._info is None:
            return len(self._analysis.models)
        primary = self._info.primary.key
        return sum(line.cells[primary].n > 0 for line in self._standings)

    @property
    def _detections(self) -> int:
        """Return the number of findings in answers, with those that are not listed one by one."""
        if self._code != "detection":
            return 0
        return sum(int(problem.attributes.get("count", 1)) for problem in self._problems)

    @property
    def _standings(self) -> tuple[Standing, ...]:
        """Return the lines of the evaluator's leaderboard, which count all rows."""
        return self._analysis.leaderboards[self._info.id].standings if self._info is not None else ()

    @property
    def _verdicts(self) -> tuple[int, int]:
        """Return the failing and the judged answers of the evaluator by all rows."""
        judged = sum(line.judged for line in self._standings)
        return judged - sum(line.passed for line in self._standings), judged

    def _answers(self) -> tuple[int, int]:
        """Return the number of distinct answers, and of those that the page lists."""
        judged = self._analysis.judged.get(self._info.id) if self._info is not None else None
        if judged is not None and self._code in ("mean_missed", *_DETECTIONS):
            is_excerpt = self._analysis.listed_failures is not None
            return (self._verdicts[0] if is_excerpt else judged.failed), judged.failed
        if judged is not None and self._code == "not_scored":
            return judged.errors, judged.errors
        if judged is not None and self._code == "flip":
            return judged.flipped, judged.flipped
        count = sum(_case_count(problem) for problem in self._problems)
        return count, count

    def _title(self, answers: int) -> str:
        info, code, problems = self._info, self._code, self._problems
        if info is not None and code == "mean_missed":
            return self._mean_title(info)
        of = f" of {len(self._models)} of {self._model_count} models" if self._model_count > 1 else ""
        if info is not None and code in _DETECTIONS and len(problems) > 1:
            return self._detections_title(info, answers, of)
        if len(problems) == 1:
            return problems[0].description.rstrip(".")
        if code == "rag_stage":
            return stage_title(problems[0].attributes["stage"], answers, of)
        if info is None:
            return f"{len(problems)} problems of one kind, first: {problems[0].description.rstrip('.')}"
        if code == "flip":
            broken = self._analysis.judged[info.id].broken
            return f"{info.name}: {_answers_text(answers)}{of} flip under perturbation ({broken} pass → fail)"
        if code == "not_scored":
            title = f"{info.name}: {_answers_text(answers)}{of} without a score"
            unscored = [problem for problem in problems if isinstance(problem, UnscoredProblem)]
            reasons = {text for problem in unscored for text in problem.reasons}
            return f"{title}: {reasons.pop()}" if len(reasons) == 1 else title
        rows = f" in {_answers_text(answers)}{of}" if answers else of
        kind = problems[0].problem_type.replace("_", " ")
        return f"{info.name}: {counted(len(problems), f'{kind} problem')}{rows}"

    def _detections_title(self, info: EvaluatorEntry, answers: int, of: str) -> str:
        """Return failing answers first; detections are a second figure with its name."""
        kind = self._problems[0].problem_type.replace("_", " ")
        detections = counted(self._detections, f"{kind} detection")
        if not answers:
            return f"{info.name}: {detections} in answers{of} that pass"
        title = f"{info.name}: {_answers_text(answers)}{of} {plural(answers, 'fails', 'fail')}"
        return f"{title}, {detections}" if self._detections else title

    def _mean_title(self, info: EvaluatorEntry) -> str:
        """Return the models beyond the threshold, with the range of the means of each metric."""
        metrics = [metric for metric in info.metrics if self._of_metric(metric)]
        limits = {float(problem.attributes["threshold"]) for problem in self._problems}
        limit = figure(limits.pop()) if len(limits) == 1 else "their thresholds"
        beyond = "below" if metrics[0].better == "higher" else "above"
        if len({metric.better for metric in metrics}) > 1:
            beyond, limit = "beyond", "their thresholds"
        count, of = len(self._models), self._model_count
        who = f"{count} of {of} models" if of > 1 else str(self._problems[0].attributes.get("model_name", ""))
        if metrics == [info.primary]:
            return f"{info.name}: {who} {beyond} {limit} ({self._spread(info.primary)})"
        spreads = "; ".join(f"{metric.name} {self._spread(metric)}" for metric in metrics)
        return f"{info.name}: {who} {beyond} {limit} ({spreads})"

    def _of_metric(self, metric: Metric) -> list[Problem]:
        return [problem for problem in self._problems if problem.attributes.get("metric") == metric.key]

    def _spread(self, metric: Metric) -> str:
        scores = sorted(float(problem.attributes["score"]) for problem in self._of_metric(metric))
        return figure(scores[0]) if scores[0] == scores[-1] else f"{figure(scores[0])}–{figure(scores[-1])}"

    def _action(self, answers: int) -> str:
        """Return the next step; where nearly all answers miss a threshold, the question is the threshold."""
        if self._code != "mean_missed" or self._info is None:
            return self._problems[0].actions
        judged = self._verdicts[1]
        if judged >= _MANY and answers >= _NEARLY_ALL * judged:
            return (
                f"{answers} of {judged} answers miss it: is the threshold right for this data? Compare with"
                " answers that people call good, or calibrate it."
            )
        if not answers:
            return "No single answer fails; look at the lowest scores."
        read = f"Read the {counted(answers, 'failure')} of {self._info.name} for a common cause"
        return f"{read}, then compare the models." if len(self._models) > 1 else f"{read}."


def _case_count(problem: Problem) -> int:
    about = problem.attributes
    return int(about["count"]) if "count" in about else len(about.get("test_case_keys", ()))


def _keys(problems: Iterable[Problem]) -> Iterator[str]:
    keys = dict.fromkeys(str(key) for p in problems for key in p.attributes.get("test_case_keys", ()))
    yield from list(keys)[:_KEYS]


def _answers_text(count: int) -> str:
    return counted(count, "answer")
