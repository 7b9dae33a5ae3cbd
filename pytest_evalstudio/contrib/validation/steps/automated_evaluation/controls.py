"""Score the controls by the evaluators of the workflow, before the model is asked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_evalstudio.api.evaluate import evaluate_lab
from pytest_evalstudio.contrib.validation.methods.controls.answers import (
    CONTROLS,
    ControlAnswer,
    chunk_of,
    control_answers,
)
from pytest_evalstudio.contrib.validation.methods.controls.deciding import DecidingMetric
from pytest_evalstudio.contrib.validation.methods.controls.results import (
    ControlFile,
    ControlResults,
    ControlScore,
    judge_controls,
)
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result

Scores = dict[tuple[str, str], ControlScore]
"""By control and key of the test case."""


class Controlled(NamedTuple):
    """Test cases after their controls.

    Attributes:
        file: scores of all control answers.
        results: contradictions.
        cases: those that no control contradicts, repaired ones included; all if every one is contradicted.
    """

    file: ControlFile
    results: ControlResults
    cases: list[TestCase]


class ControlScorer:
    """Scores control answers by the evaluators and thresholds of a step.

    Args:
        context: of the step.
        config: with the evaluators of the step.
        selected: its evaluators.
        thresholds: `evaluator` or `evaluator.metric` to threshold, in place of the configuration's.
        max_judged: maximum number of control answers that evaluators with a judge score.
    """

    def __init__(
        self,
        context: StepContext,
        config: Configuration,
        selected: Sequence[ConfiguredEvaluator],
        thresholds: Mapping[str, float],
        max_judged: int,
    ) -> None:
        self._context = context
        self._config = config
        self._thresholds = thresholds
        self._max_judged = max_judged
        single = [each for each in selected if each.spec.scope == "row" and not each.spec.compares]
        self._plain = [each for each in single if JUDGE not in each.requires]
        self._judged = [each for each in single if JUDGE in each.requires]
        self.not_controlled = dict(self._reasons(selected))

    def control(self, cases: Sequence[TestCase], deciding: Sequence[DecidingMetric]) -> Controlled:
        """Score the controls of test cases, repair conditions, and name what remains contradicted."""
        answers = list(control_answers(cases))
        scores = self._scored(answers)
        results = judge_controls(_file(answers, scores), deciding, self.not_controlled)
        repaired = self._repaired(cases, results, deciding)
        for case, of_case in repaired.values():
            scores |= of_case
            cases = [case if other.key == case.key else other for other in cases]
        file = _file(answers, scores, tuple(repaired))
        results = judge_controls(file, deciding, self.not_controlled)
        # Results are stored with masked keys, see `safe_identifier`.
        names = {safe_identifier(key) for key in results.cases}
        remaining = [case for case in cases if safe_identifier(case.key) not in names]
        return Controlled(file, results, remaining or list(cases))

    def _reasons(self, selected: Sequence[ConfiguredEvaluator]) -> Iterator[tuple[str, str]]:
        for each in selected:
            if each.spec.scope != "row" or each.spec.compares:
                yield each.id, "it compares several answers"
            elif JUDGE in each.requires and not self._max_judged:
                yield each.id, "its judge has no budget for controls (`max_judged_controls`)"

    def _repaired(
        self, cases: Sequence[TestCase], results: ControlResults, deciding: Sequence[DecidingMetric]
    ) -> dict[str, tuple[TestCase, Scores]]:
        """Return contradicted cases that hold with their condition on the answer alone, by key."""
        candidates = [
            case.model_copy(update={"condition_on": "answer"})
            for case in cases
            if safe_identifier(case.key) in results.cases and case.condition_text() and not case.condition_on
        ]
        by_key = {safe_identifier(case.key): case for case in candidates}
        answers = [answer for answer in control_answers(cases) if safe_identifier(answer.case.key) in by_key]
        # With the same texts: only the part of the result that the condition is checked on differs.
        copies = [
            ControlAnswer(
                case=by_key[safe_identifier(answer.case.key)], control=answer.control, text=answer.text
            )
            for answer in answers
        ]
        scores = self._scored(copies) if copies else {}
        # A threshold that controls contradict does not decide, so that no case needs a repair for it.
        remaining = [metric for metric in deciding if metric.metric not in results.thresholds]
        again = judge_controls(_file(copies, scores), remaining, {})
        return {
            key: (case, {pair: score for pair, score in scores.items() if pair[1] == key})
            for key, case in by_key.items()
            if key not in again.cases
        }

    def _scored(self, answers: Sequence[ControlAnswer]) -> Scores:
        scores = self._evaluated(answers, self._plain) if self._plain else {}
        sample = self._sample(answers)
        if sample and self._judged:
            for pair, judged in self._evaluated(sample, self._judged).items():
                plain = scores.get(pair, judged)
                scores[pair] = ControlScore(
                    key=plain.key,
                    control=plain.control,
                    text=plain.text,
                    response=plain.response,
                    scores={**plain.scores, **judged.scores},
                )
        return scores

    def _sample(self, answers: Sequence[ControlAnswer]) -> list[ControlAnswer]:
        """Return random control answers for the judge, within its budget."""
        count = min(self._max_judged, len(answers))
        return random.Random(f"{self._context.workflow.seed}/controls").sample(list(answers), count)

    def _evaluated(self, answers: Sequence[ControlAnswer], selected: Sequence[ConfiguredEvaluator]) -> Scores:
        ids = [each.id for each in selected]
        results = evaluate_lab(
            _lab(answers, ids),
            self._config.model_copy(update={"evaluators": ids}),
            registry=self._context.registry,
            provider=self._context.provider,
            folder=self._context.folder,
            thresholds=self._thresholds,
            progress=lambda done, total: self._context.progress(done, total, "controls"),
        )
        return {(result.task.model.key, result.task.key): _score(result, selected) for result in results}


def _lab(answers: Sequence[ControlAnswer], ids: Sequence[str]) -> TestLab:
    """Return the controls as the answers of models, one per control, each with its true chunk."""
    lab = TestLab(name="controls")
    names = {answer.control for answer in answers}
    models = {control: lab.add_model(control, retrieves=True) for control in CONTROLS if control in names}
    for answer in answers:
        case = answer.case
        own = (
            None
            if case.evaluators is None
            else {id: case.evaluators[id] for id in case.evaluators if id in ids}
        )
        models[answer.control].add_input(
            case.prompt,
            key=case.key,
            actual_output=answer.text,
            context=list(chunk_of(case)),
            expected_output=case.expected_output,
            output_condition=case.condition_text(),
            condition_on=case.condition_on,
            expects=case.expects,
            retrieval=case.retrieval,
            conversation=case.conversation,
            expected_facts=case.expected_facts,
            guidelines=case.guidelines,
            evaluators=own,
        )
    return lab


def _score(result: Result, selected: Sequence[ConfiguredEvaluator]) -> ControlScore:
    verdicts = {each.id: verdict for each, verdict in result.verdicts.items()}
    return ControlScore(
        key=result.task.key,
        control=result.task.model.key,
        text=result.task.case.actual_output,
        response=result.response.passed,
        scores={
            f"{each.id}.{each.spec.primary.key}": (
                verdicts[each.id].scores.get(each.spec.primary.key) if each.id in verdicts else None
            )
            for each in selected
        },
    )


def _file(answers: Sequence[ControlAnswer], scores: Scores, repaired: tuple[str, ...] = ()) -> ControlFile:
    """Return the scored answers in their order."""
    pairs = ((answer.control, safe_identifier(answer.case.key)) for answer in answers)
    return ControlFile(answers=tuple(scores[pair] for pair in pairs if pair in scores), repaired=repaired)
