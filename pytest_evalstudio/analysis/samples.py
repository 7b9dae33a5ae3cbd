"""Numbers and short excerpts that the aggregation of a run keeps of its items."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from pytest_evalstudio.core.flips import Flip
from pytest_evalstudio.core.judging import Judging
from pytest_evalstudio.core.origins import Origin
from pytest_evalstudio.core.outcomes import Finding, Metric, Verdict
from pytest_evalstudio.core.text import excerpt

if TYPE_CHECKING:
    from pytest_evalstudio.metrics.rag_stages import RagStage

FIRST_KEYS = 10
FIRST_TEXTS = 3
FaultKind = Literal["nan", "judge", "other"]
_HIDDEN_CATEGORIES = ("perturbed", "encoding_perturbator:")


class Sample(Struct):
    """Many of a kind: how often, and the first of them."""

    count: int = 0
    keys: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def note(self, key: str, text: str = "") -> None:
        self.count += 1
        if len(self.keys) < FIRST_KEYS and key not in self.keys:
            self.keys.append(key)
        if text and len(self.texts) < FIRST_TEXTS and (short := excerpt(text)) not in self.texts:
            self.texts.append(short)


class ScoreAggregator(Struct):
    """Scores of one evaluator for one model's rows; a missing value is NaN.

    Attributes:
        limits: by metric, the thresholds of test cases that have one of their own.
        verdict_cases, verdict_passes: case of each verdict and whether it passes, where the errors of the
            judge were measured.
        has_repeats: a verdict is on several repeats.
        judging: what judging took: calls, tokens, cost.
        uncertain: verdicts that a calibration leaves open.
        not_asked: rows whose judge was not asked, since the budget was used up.
    """

    scored: int = 0
    errors: int = 0
    not_applicable: int = 0
    passed: int = 0
    judged: int = 0
    verdicts: int = 0
    uncertain: int = 0
    limits: dict[str, list[float]] = field(default_factory=dict)
    cases: array[int] = field(default_factory=lambda: array("q"))
    values: dict[str, array[float]] = field(default_factory=dict)
    verdict_cases: array[int] = field(default_factory=lambda: array("L"))
    verdict_passes: array[int] = field(default_factory=lambda: array("b"))
    has_repeats: bool = False
    faults: dict[FaultKind, Sample] = field(default_factory=dict)
    judging: Judging = field(default_factory=Judging)
    not_asked: Sample = field(default_factory=Sample)
    nothing_encoded: Sample = field(default_factory=Sample)
    retrieval_alone: Sample = field(default_factory=Sample)

    def threshold(self, metric: Metric) -> float:
        """Return the threshold of the model's mean: the mean of the thresholds of its test cases."""
        case_limits = self.limits.get(metric.key, [])
        if not case_limits:
            return metric.threshold
        rest = self.verdicts - len(case_limits)
        # A metric's own threshold may be infinite, and 0 times infinity is NaN.
        return (math.fsum(case_limits) + (rest * metric.threshold if rest else 0.0)) / self.verdicts


class ModelAggregator(Struct):
    """Operation of one model, independent of its answers.

    Attributes:
        empty: questions that were answered with an empty text.
        not_run: items whose model was not asked, with the reason.
        access_refused: number of those whose service refused access.
        unchecked: items for which nothing checked that the answer is right.
        rag_stages: failing answers by the stage of retrieval and generation that went wrong.
    """

    verdicts: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    answered: int = 0
    stored: int = 0
    retries: int = 0
    durations: array[float] = field(default_factory=lambda: array("d"))
    first_tokens: array[float] = field(default_factory=lambda: array("d"))
    cost: float = 0.0
    priced: int = 0
    unpriced: int = 0
    usage: Counter[str] = field(default_factory=Counter)
    rag_rows: int = 0
    host_errors: Sample = field(default_factory=Sample)
    empty: Sample = field(default_factory=Sample)
    retried: Sample = field(default_factory=Sample)
    negative_costs: Sample = field(default_factory=Sample)
    no_context: Sample = field(default_factory=Sample)
    other_form: Sample = field(default_factory=Sample)
    not_run: Sample = field(default_factory=Sample)
    access_refused: int = 0
    unchecked: int = 0
    rag_stages: dict[RagStage, Sample] = field(default_factory=dict)


class CaseBook(Struct):
    """The distinct test cases, numbered as they come."""

    ids: dict[tuple[str, str], int] = field(default_factory=dict)
    keys: list[tuple[str, str]] = field(default_factory=list)
    excerpts: list[str] = field(default_factory=list)
    sources: dict[int, tuple[str, str]] = field(default_factory=dict)

    def originals(self) -> list[int]:
        """Return, for each case, the number of its original; an original has its own number."""
        return [self._original(case) for case in range(len(self.keys))]

    def excerpt(self, case: int | None) -> str:
        return "" if case is None else self.excerpts[case]

    def _original(self, case: int) -> int:
        keys = {case}
        while (source := self.sources.get(case)) is not None:
            parent = self.ids.get(source)
            # A record that was edited may name sources in a circle, or one that it does not have.
            if parent is None or parent in keys:
                break
            keys.add(parent)
            case = parent
        return case


class Perturbed(Struct, frozen=True):
    """A perturbed case under one model, with what flipped."""

    case: int
    model: str
    origin: Origin
    categories: tuple[str, ...]
    flips: tuple[tuple[str, str, str], ...]
    """evaluator, metric, direction"""
    companion_bits: int = 0
    """Flip bits of an original that was scored in addition to the run and is not in the record."""


class CaseMarks(Struct):
    """Per case, over all models, of one evaluator: verdicts given, verdicts failed, sum of primary scores."""

    judged: array[int] = field(default_factory=lambda: array("L"))
    failed: array[int] = field(default_factory=lambda: array("L"))
    score: array[float] = field(default_factory=lambda: array("d"))

    def add(self, case: int, failed: bool, score: float) -> None:
        while len(self.judged) <= case:
            self.judged.append(0)
            self.failed.append(0)
            self.score.append(0.0)
        self.judged[case] += 1
        self.failed[case] += failed
        self.score[case] += score


class JudgedItems(Struct):
    """Items that one evaluator judged: how many fail, are errors, and flip under perturbations.

    Attributes:
        flipped: items with a flip under a perturbation that keeps the meaning.
        broken: those of them with a flip from pass to fail.
    """

    failed: int = 0
    errors: int = 0
    flipped: int = 0
    broken: int = 0

    def add(self, id: str, verdict: Verdict, flips: Iterable[Flip]) -> None:
        """Take the verdict of an item, with the flips of all evaluators."""
        if verdict.status == "error":
            self.errors += 1
        elif verdict.passed is False:
            self.failed += 1
        directions = [flip.direction for flip in flips if flip.evaluator == id and flip.meaning_kept]
        self.flipped += bool(directions)
        self.broken += "pass_to_fail" in directions


class Lowest(Struct, frozen=True):
    """The stretch of an answer with the lowest score that an evaluator gave."""

    score: float
    text: str
    key: str
    model: str


class FoundProblem(Struct, frozen=True, kw_only=True):
    """A finding of an evaluator, and the item that it is about."""

    evaluator: str
    model: str
    key: str
    file: str
    nodeid: str
    finding: Finding


class CaseFlip(Struct, frozen=True, kw_only=True):
    """A flip, and the perturbed item that it is about."""

    model: str
    key: str
    file: str
    nodeid: str
    flip: Flip


def visible_categories(categories: Iterable[str]) -> list[str]:
    """Return the categories that users gave a case, without those that perturbations added."""
    return [category for category in categories if not category.startswith(_HIDDEN_CATEGORIES)]
