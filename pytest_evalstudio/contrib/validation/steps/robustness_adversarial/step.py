"""Step 9: attack questions that the automated evaluation has asked, and compare the answers in pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.api.evaluate import Results
from pytest_evalstudio.contrib.validation.methods.attacks.method import (
    Measure,
    compare,
    concession_problems,
    over_refusal_problems,
    problems,
    unguarded_problems,
    withstanding,
)
from pytest_evalstudio.contrib.validation.methods.attacks.plot import attacks_picture
from pytest_evalstudio.contrib.validation.methods.attacks.reactions import judge_attack, judge_twin
from pytest_evalstudio.contrib.validation.methods.attacks.results import (
    AttackComparisons,
    AttackPair,
    Reaction,
)
from pytest_evalstudio.contrib.validation.methods.typed_results import json_ready, shallow
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.evaluating import (
    CONFIGURED,
    ask_and_evaluate,
    unanswered,
)
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ASKED
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.thresholds import (
    evaluators_and_thresholds,
)
from pytest_evalstudio.contrib.validation.steps.robustness_adversarial.attacking import (
    GENERATOR,
    PairedSuite,
    attacked_cases,
    with_twins,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.choosing import NoQuestions
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import (
    Candidate,
    GenerationSettings,
    Material,
    Selection,
    UnknownLanguage,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.making import Product, make
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ADVERSARIAL, GenerationResults
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID as TOPIC_MODELING
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.parameters import Count, Level, Names
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.score_table import Scores
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.text.figures import counted

ID = ADVERSARIAL
SUITE = "adversarial_suite.json"
FIGURES = "adversarial.json"
PICTURE = "adversarial.svg"
MAX_REFUSED = 0.5
"""Maximum share of attacks without an answer: content filters refuse some of them."""
OUT_OF_DISTRIBUTION = "out_of_distribution"
"""Generator of questions outside of the documents' domain."""


@dataclass(frozen=True, kw_only=True)
class AdversarialResults(GenerationResults, AttackComparisons):
    """Results of the step.

    Attributes:
        version: of the file with the comparisons.
        without_score: number of attacks without an answer.
        without_twin: number of attacks that were left out, since nothing asks their fact plainly.
        withstood: number of attacks that the answer withstands.
    """

    version: int = 2
    without_score: int
    without_twin: int
    withstood: int


@step(
    ID,
    name="Robustness: adversarial inputs",
    number=9,
    after=(TOPIC_MODELING, EVALUATION),
    extra="mrm",
)
@dataclass(frozen=True, kw_only=True)
class RobustnessAdversarial(Selection):
    """Attack the questions of the automated evaluation, and compare the answers with those to the questions.

    Attributes:
        generators: adversarial ones; default: all but `out_of_distribution`.
        out_of_distribution: also ask questions outside of the documents' domain, which the model must refuse.
        evaluators: ids among those of the automated evaluation; default: all of them.
        alpha: the chance of any false finding if attacks make no difference.
        writer: a language model that writes the attacks with a plain twin of each, as in the step
            test_generation; default: none.
    """

    count: Count = 40
    out_of_distribution: bool = False
    evaluators: Names = field(default_factory=list)
    alpha: Level = 0.05
    configured: ClassVar[tuple[str, ...]] = CONFIGURED

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        evaluators, thresholds, _ = evaluators_and_thresholds(context, self.evaluators)
        baseline = read_scores([context.artifacts(EVALUATION)])
        self._check(baseline, evaluators)
        plain_suite = TestSuite.load(context.artifacts(EVALUATION) / ASKED)
        settings = GenerationSettings(
            purpose="adversarial",
            **self.selection,
            also=(OUT_OF_DISTRIBUTION,) if self.out_of_distribution else (),
        )

        def drafts_of(context: StepContext, material: Material) -> Iterable[Candidate]:
            return attacked_cases(context, material, plain_suite)

        try:
            product = make(context, settings, "adversarial tests", drafts_of)
        except (NoQuestions, UnknownLanguage) as exc:
            return StepResult(summary=f"nothing is asked: {exc.message}")
        paired = with_twins(product.suite, plain_suite, _unanswerable(context))
        if not paired.twins:
            return StepResult(summary="nothing is asked: no attack has a plain twin")
        paired.suite.save(context.folder / SUITE)
        results = ask_and_evaluate(context, paired.suite, context.folder, evaluators, thresholds)
        if waits := unanswered(results, MAX_REFUSED):
            return StepResult(summary=waits, waits=waits)
        pairs = _pairs(context, results, paired, plain_suite)
        if not pairs:
            raise DataError(
                "no attack has an answer; look into the report of this step", source=str(context.folder)
            )
        scores = read_scores([context.folder])
        measures = [withstanding(pairs), *_measures(results, scores, baseline, pairs)]
        compared = compare(measures, pairs, alpha=self.alpha)
        figures = AdversarialResults(
            **shallow(product.results),
            **shallow(compared),
            without_score=len(paired.twins) - len(pairs),
            without_twin=paired.without_twin,
            withstood=sum(pair.withstands for pair in pairs),
        )
        write_json(context.folder / FIGURES, json_ready(figures))
        name = context.workflow.name or "the workflow"
        picture = attacks_picture(f"Reactions to attacks: {name}", pairs)
        (context.folder / PICTURE).write_bytes(picture.encode("utf-8"))
        label = results.items[0].task.model.label
        specs = {id: context.registry.generators.spec(id) for id in product.kinds}
        concessions = {id: spec.concession for id, spec in specs.items()}
        return StepResult(
            summary=_summary(product, figures),
            notes=(*product.notes, *_notes(figures)),
            figures=figures,
            problems=(
                *over_refusal_problems(pairs, ID, label),
                *concession_problems(pairs, concessions, ID, label, product.kinds),
                *unguarded_problems(pairs, ID, label, product.kinds),
                *problems(compared.comparisons, ID, label, product.kinds, pairs),
            ),
        )

    def _check(self, baseline: Scores, evaluators: list[str]) -> None:
        """Check, before any model is asked, that there are scores to compare with."""
        baseline_evaluators = {column.evaluator for column in baseline.columns.values()}
        missing = [id for id in evaluators if id not in baseline_evaluators]
        if missing:
            raise DataError(
                f"{ID}: the automated evaluation has no scores by {', '.join(missing)}; name"
                f" {'them' if len(missing) > 1 else 'it'} there, too",
                source=EVALUATION,
            )


def _unanswerable(context: StepContext) -> list[str]:
    generators = context.registry.generators
    return [id for id in generators if generators.spec(id).unanswerable]


def _pairs(
    context: StepContext, results: Results, paired: PairedSuite, plain_suite: TestSuite
) -> list[AttackPair]:
    """Return the reactions to the attacks, each with the one to its twin."""
    cases = {case.key: case for _, case in (*plain_suite.cases(), *paired.suite.cases())}
    answers = {
        result.task.key: [answer.actual_output for answer in result.answers]
        for result in results
        if result.answers and not any(answer.error for answer in result.answers)
    }
    twin_keys = {key for key in paired.twins.values() if key}
    twin_answers = {key: texts for key, texts in answers.items() if key in paired.new_twins}
    for item in RecordReader(context.artifacts(EVALUATION) / FILE).items():
        # Perturbed copies are no ordinary questions.
        if item.key in twin_keys and item.perturbed is None and item.verdict != "error":
            twin_answers[item.key] = [row.answer.text for row in item.rows]
    twins: dict[str, Reaction] = {
        key: judge_twin(cases[key].prompt, cases[key].condition_text(), texts)
        for key, texts in twin_answers.items()
        if texts
    }
    pairs = []
    for key, twin in paired.twins.items():
        if key in answers:
            generator = _generator_of(cases[key].categories)
            spec = context.registry.generators.spec(generator)
            judged = judge_attack(cases[key], answers[key], refusal_withstands=spec.refusal_withstands)
            pairs.append(
                AttackPair(
                    case=key,
                    generator=generator,
                    reaction=judged.reaction,
                    withstands=judged.withstands,
                    twin=twin,
                    twin_asked_in=_asked_in(twin, paired),
                    twin_reaction=twins.get(twin),
                )
            )
    return pairs


def _asked_in(twin: str, paired: PairedSuite) -> str:
    if not twin:
        return ""
    return ID if twin in paired.new_twins else EVALUATION


def _measures(
    results: Results, scores: Scores, baseline: Scores, pairs: Iterable[AttackPair]
) -> list[Measure]:
    """Return the scores of the primary metric of each evaluator, of twins and of attacks.

    Evaluators of the condition say the same as the reactions. A refusal that withstands has no score to
    compare: it is unlike any answer.
    """
    compared = [
        pair for pair in pairs if pair.is_pair and not (pair.reaction == "refuses" and pair.withstands)
    ]
    measures = []
    for selected in results.plan.selected:
        if "condition" in selected.spec.needs:
            continue
        name = f"{selected.id}.{selected.spec.primary.key}"
        own, earlier = _by_key(scores, name), _by_key(baseline, name)
        attacks: dict[str, list[tuple[float, float]]] = {}
        for pair in compared:
            twin = (own if pair.twin_asked_in == ID else earlier).get(pair.twin)
            score = own.get(pair.case)
            if twin is not None and score is not None:
                attacks.setdefault(pair.generator, []).append((twin, score))
        if attacks:
            measures.append(
                Measure(name=name, better=selected.spec.primary.better, attacks=dict(sorted(attacks.items())))
            )
    return measures


def _by_key(scores: Scores, name: str) -> dict[str, float]:
    """Return the scores under a metric by key of the case, without those of perturbed copies."""
    return {
        answer.key: score
        for answer in scores.answers.values()
        if not answer.source and (score := answer.score(name)) is not None
    }


def _generator_of(categories: Iterable[str]) -> str:
    """Return the generator among the categories of a case; a generated case has one."""
    names = (each.removeprefix(GENERATOR) for each in categories if each.startswith(GENERATOR))
    return next(names, "")


def _summary(product: Product, results: AdversarialResults) -> str:
    generators = sum(map(bool, results.by_generator.values()))
    reactions = Counter(pair.reaction for pair in results.pairs if pair.withstands)
    withstood = [f"{reactions['keeps']} with the fact", f"{reactions['refuses']} by refusing"]
    twins: Mapping[str, Reaction] = {
        pair.twin: pair.twin_reaction for pair in results.pairs if pair.twin_reaction is not None
    }
    twin_facts = sum(reaction == "keeps" for reaction in twins.values())
    parts = [
        f"{results.cases} attacks{product.shortfall} by {generators} generators",
        f"{results.withstood} of {len(results.pairs)} answers withstand ({', '.join(withstood)})",
    ]
    if twins:
        parts.append(f"{twin_facts} of {len(twins)} plain twins have the fact")
    if concessions := sum(pair.reaction == "concedes" for pair in results.pairs):
        parts.append(counted(concessions, "answer gives way", "answers give way"))
    return "; ".join(parts)


def _notes(results: AdversarialResults) -> list[str]:
    notes = []
    if results.without_score:
        notes.append(
            f"{results.without_score} attacks have no answer and do not count; the report of the step lists"
            " their errors"
        )
    if results.without_twin:
        notes.append(f"{results.without_twin} attacks are left out: nothing asks their fact plainly")
    notes += [
        f"{comparison.metric} under {comparison.generator} is not tested: {comparison.note}"
        for comparison in results.comparisons
        if comparison.note
    ]
    return notes
