"""Step 8: compare answers to variations of the questions."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from pytest_evalstudio.analysis.flip_rates import COPY
from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.api.evaluate import Results
from pytest_evalstudio.contrib.validation.methods.variations.method import Variation, find_flips, problems
from pytest_evalstudio.contrib.validation.methods.variations.plot import flips_picture
from pytest_evalstudio.contrib.validation.methods.variations.results import VariationResults
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.evaluating import (
    CONFIGURED,
    ask_and_evaluate,
    unanswered,
)
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ASKED
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.thresholds import (
    deciding_names,
    evaluators_and_thresholds,
)
from pytest_evalstudio.contrib.validation.steps.robustness_input_variations.files import (
    FLIPS,
    ID,
    PICTURE,
    SUITE,
)
from pytest_evalstudio.contrib.validation.steps.test_validation.files import ID as TEST_VALIDATION
from pytest_evalstudio.contrib.validation.workflow.calibration import ID as CALIBRATION
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.documents import moved
from pytest_evalstudio.contrib.validation.workflow.parameters import Count, Level, Names
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.perturbator import INTENSITIES
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.scoring.perturbing.cases import perturb
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.verdicts import flipping_metrics
from pytest_evalstudio.stats.strata import allocate
from pytest_evalstudio.text.figures import counted

DEFAULTS: Mapping[str, str] = {
    "comma": "medium",
    "keyboard_typos": "typical",
    "qwerty": "high",
    "word_swap": "low",
}
"""Perturbators that keep the meaning and need no data, at intensities that people's own slips reach."""
_LEVELS = {level.lower() for level in INTENSITIES}


@step(
    ID,
    name="Robustness: input variations",
    number=8,
    after=(TEST_VALIDATION, EVALUATION),
    uses=(CALIBRATION,),
)
@dataclass(frozen=True)
class RobustnessInputVariations:
    """Ask some evaluated questions in other wordings, and compare flips of verdicts with unchanged copies.

    Attributes:
        perturbators: as on the command line, e.g. "comma:low" or "word_swap+qwerty:high" for a chain; a few
            that keep the meaning where not given.
        intensity: of those that are named without one; their own default where not given.
        cases: how many originals, in proportion over topics and kinds of question.
        copies: how often each original is asked again as it is: the model's own noise, which costs a question
            each.
        evaluators: ids; those of the automated evaluation where not given, of whose metrics those decide that
            decide the conclusion, all if none does.
        alpha: the chance of any false finding where no perturbator matters.
    """

    perturbators: Names = field(default_factory=list)
    intensity: str = ""
    cases: Count = 20
    copies: Annotated[int, Field(ge=0)] = 2
    evaluators: Names = field(default_factory=list)
    alpha: Level = 0.05
    configured: ClassVar[tuple[str, ...]] = (*CONFIGURED, "perturbator")

    def __post_init__(self) -> None:
        if self.intensity and self.intensity.lower() not in _LEVELS:
            raise ValueError(
                f"intensity = {self.intensity!r}: expected one of"
                f" {', '.join(level.lower() for level in INTENSITIES)}"
            )

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        originals = self._originals(context)
        specs = [*self._specs(context.registry), *[COPY] * self.copies]
        perturbed = perturb(
            originals,
            ",".join(specs),
            seed=context.workflow.seed,
            options=context.config.perturbator,
            folder=context.config.folder,
            registry=context.registry,
            judge=lambda: context.provider.judges.open(context.config),
            # A workflow comes with test data, perhaps from others: it must not name files to be read.
            allow_paths=False,
        )
        if not perturbed.added:
            raise DataError(
                f"no question could be varied: {'; '.join(perturbed.notes)}",
                source=str(context.folder / SUITE),
            )
        perturbed.content.save(context.folder / SUITE)
        evaluators, thresholds, notes = evaluators_and_thresholds(context, self.evaluators)
        results = ask_and_evaluate(context, perturbed.content, context.folder, evaluators, thresholds)
        if waits := unanswered(results):
            return StepResult(summary=waits, waits=waits)
        deciding = () if self.evaluators else deciding_names(context)
        variants, lost = variations(results, deciding)
        flips = find_flips(variants, _tested(results, deciding), alpha=self.alpha)
        figures = VariationResults(
            cases=len(originals.cases()),
            copies_each=self.copies,
            not_compared=lost,
            notes=tuple(perturbed.notes),
            by_perturbator=flips.by_perturbator,
            copies=flips.copies,
            meaning_changed=flips.meaning_changed,
            by_topic=flips.by_topic,
            by_kind=flips.by_kind,
        )
        write_json(context.folder / FLIPS, {**asdict(figures), **asdict(flips)})
        if variants:
            name = context.workflow.name or "the workflow"
            (context.folder / PICTURE).write_bytes(
                flips_picture(f"Flips under input variations: {name}", flips).encode("utf-8")
            )
        can_flip = any(not variation.failed_before for variation in variants)
        return StepResult(
            summary=_summary(figures, can_flip=can_flip),
            notes=(*notes, *perturbed.notes),
            figures=figures,
            problems=tuple(problems(flips, ID, results.items[0].task.model.label)),
        )

    def _specs(self, registry: Registry) -> list[str]:
        """Return the perturbators with their intensities; the step makes unchanged copies itself."""
        perturbator_specs = self.perturbators or [
            f"{id}:{self.intensity or level}" for id, level in DEFAULTS.items()
        ]
        specs = [part.strip() for text in perturbator_specs for part in text.split(",") if part.strip()]
        if any(spec == COPY for spec in specs):
            raise ConfigurationError(
                f"{ID}: copies are asked for by the parameter `copies`; leave the perturbator out"
            )
        return [
            "+".join(self._levelled(part.strip(), registry) for part in spec.split("+")) for spec in specs
        ]

    def _levelled(self, part: str, registry: Registry) -> str:
        id, *rest = part.split(":")
        # The other words are options, NAME=VALUE.
        has_level = any("=" not in word for word in rest)
        if not self.intensity or has_level or not registry.perturbators.spec(id.strip()).intensities:
            return part
        return ":".join([id, self.intensity, *rest])

    def _originals(self, context: StepContext) -> TestSuite:
        """Sample scored cases in proportion over topics and kinds, in the order of the suite."""
        folder = context.artifacts(EVALUATION)
        suite = TestSuite.load(folder / ASKED)
        scored = {
            answer.key
            for answer in read_scores([context.artifacts(EVALUATION)]).answers.values()
            if answer.scores
        }
        strata: dict[str, list[str]] = {}
        for _, case in suite.cases():
            if case.key in scored:
                strata.setdefault(_stratum(case), []).append(case.key)
        if not strata:
            raise DataError(
                "no test case has a score; look into the report of the automated evaluation",
                source=str(folder / ASKED),
            )
        sizes = {name: len(keys) for name, keys in strata.items()}
        quota = allocate(self.cases, sizes, sizes)
        rng = random.Random(context.workflow.seed)
        key_set = {key for name, keys in strata.items() for key in rng.sample(keys, quota[name])}
        tests = [
            Test(
                key=test.key,
                documents=[moved(document, folder, context.folder) for document in test.documents],
                test_cases=[case for case in test.test_cases if case.key in key_set],
                categories=test.categories,
            )
            for test in suite.tests
        ]
        return TestSuite(
            name=f"{context.workflow.name or 'Workflow'}: input variations",
            description=f"Variations of {suite.name}",
            tests=tests,
        )


def variations(results: Results, deciding: Collection[str] = ()) -> tuple[list[Variation], int]:
    """Return the perturbed cases with their originals, and the number of those without a verdict.

    Args:
        results: of originals and variations.
        deciding: `evaluator.metric` whose verdicts count; all if empty.
    """
    ids = {name.partition(".")[0] for name in deciding}
    of = {id(result.task): result for result in results}
    # Keys may be those of several answers; a variation has the task of its original itself.
    variants, lost = [], 0
    for result in results:
        original = of.get(id(result.task.source)) if result.task.source is not None else None
        if original is None or result.origin is None:
            continue
        variation = _beside(result, original, ids)
        lost += variation is None
        if variation is not None:
            variants.append(variation)
    return variants, lost


def _beside(result: Result, original: Result, ids: Collection[str]) -> Variation | None:
    verdicts = {
        selected.id: verdict for selected, verdict in result.verdicts.items() if verdict.status == "score"
    }
    before = {
        selected.id: verdict for selected, verdict in original.verdicts.items() if verdict.status == "score"
    }
    judged = [
        id
        for id in verdicts
        if id in before
        and (not ids or id in ids)
        and verdicts[id].passed is not None
        and before[id].passed is not None
    ]
    if not judged or result.origin is None:
        return None
    selected = [
        evaluator for evaluator in result.verdicts if evaluator.id in verdicts and evaluator.id in before
    ]
    scores = {
        f"{evaluator.id}.{key}": (old, new)
        for evaluator in selected
        for key, new in verdicts[evaluator.id].scores.items()
        if new is not None
        and (old := before[evaluator.id].scores.get(key)) is not None
        and math.isfinite(old)
        and math.isfinite(new)
    }
    can_flip = [
        f"{evaluator.id}.{metric.key}" for evaluator in selected for metric in flipping_metrics(evaluator)
    ]
    return Variation(
        key=result.task.key,
        original=original.task.key,
        perturbator="+".join(result.origin.by),
        meaning_kept=result.origin.meaning_kept,
        is_copy=all(name == COPY for name in result.origin.by),
        categories=original.task.case.categories,
        failed_before=any(before[id].passed is False for id in judged),
        failed=any(verdicts[id].passed is False for id in judged),
        scores=scores,
        flips={
            name: flip.direction
            for flip in result.flips
            if (name := f"{flip.evaluator}.{flip.metric}") in scores
        },
        compared=tuple(name for name in can_flip if name in scores),
    )


def _tested(results: Results, deciding: Collection[str]) -> dict[str, str]:
    """Return the metrics whose drop is tested; of those of yes and no the failures are tested already."""
    configured: list[ConfiguredEvaluator] = [
        selected for selected in results.plan.selected if not selected.spec.boolean
    ]
    return {
        key: selected.spec.primary.better
        for selected in configured
        if (key := f"{selected.id}.{selected.spec.primary.key}") in deciding or not deciding
    }


def _stratum(case: TestCase) -> str:
    return " ".join(
        sorted(category for category in case.categories if category.startswith(("topic:", "generator:")))
    )


def _summary(results: VariationResults, *, can_flip: bool) -> str:
    rows = results.by_perturbator
    sensitive = [row.name for row in rows if row.is_sensitive]
    total = sum(row.cases for row in rows)
    flipped = counted(sum(row.pass_to_fail for row in rows), "turns", "turn")
    parts = [
        f"{counted(results.cases, 'case')}, {counted(total, 'variation')} by"
        f" {counted(len(rows), 'perturbator')}: {flipped} from pass to fail"
    ]
    if results.copies is not None:
        parts.append(f"asked again unchanged {results.copies.pass_to_fail} of {results.copies.cases} do")
    if sensitive:
        parts.append(f"beyond chance under {', '.join(sensitive)}")
    elif can_flip:
        parts.append(f"no significant effect (n = {results.cases})")
    else:
        parts.append("no original passes, so that none could turn")
    if results.not_compared:
        parts.append(f"{results.not_compared} without a verdict")
    return "; ".join(parts)
