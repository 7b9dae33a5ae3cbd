"""Flips of metrics between a question and its perturbations, and confirmations of regressions."""

from __future__ import annotations

import enum
from typing import Annotated, Literal

from msgspec import Struct

from pytest_evalstudio.core.kept import Kept

Direction = Literal["pass_to_fail", "fail_to_pass"]


class ShrinkCode(enum.StrEnum):
    """End of the search for the smallest edit of a flip.

    Attributes:
        MINIMAL: the verdict does not flip if any one of the remaining edits is left out.
        BUDGET: the calls were used up before; the edit is the smallest one so far.
        INTERRUPTED: a question has no verdict, since the model or an evaluator failed or their budget is used
            up; the edit is the smallest one so far.
        NOT_REPRODUCED: asked again, the model answers the original or the perturbed question otherwise.
        NOT_CONFIRMED: asked once more, the question with the smallest edit does not flip.
        NO_MODEL: the answers are precomputed, and no model can be asked.
        OTHER_CHANGES: the cases differ in more than one message, so that edits of one say nothing.
    """

    MINIMAL = "minimal"
    BUDGET = "budget"
    INTERRUPTED = "interrupted"
    NOT_REPRODUCED = "not_reproduced"
    NOT_CONFIRMED = "not_confirmed"
    NO_MODEL = "no_model"
    OTHER_CHANGES = "other_changes"


class SmallestEdit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Smallest edit of a perturbed question under which an evaluator's metric flips.

    Attributes:
        original: the question, or message of a conversation, without the perturbation.
        question: the same with the smallest edit.
        edits: edits of words and characters that `question` has.
        total_edits: edits of the perturbation, 1 or more.
        calls: calls of the model and of judges that the search took; the first flip of a case has those of
            questions that its flips share.
        reason: of an end before the smallest edit was known.
    """

    code: ShrinkCode
    original: str
    question: str
    edits: int
    total_edits: int
    calls: int = 0
    reason: str = ""


class Flip(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A metric whose pass state differs between an original and its perturbation.

    Attributes:
        evaluator: id of the evaluator.
        metric: key of the metric.
        source: key of the original case.
        source_score: score of the original.
        score: score of the perturbed case.
        threshold: of the metric.
        perturbators: "id:LEVEL" of each, in order; () for a case that was perturbed by hand.
        meaning_kept: whether a good model must answer as it did before.
        fails: whether the perturbed case fails for it.
        turn: perturbed turn of a conversation, from 1; 0 for a single question.
        smallest: smallest edit of the question that still flips the metric; None where it was not searched.
    """

    evaluator: Annotated[str, Kept.PLAIN]
    metric: Annotated[str, Kept.PLAIN]
    direction: Direction
    source: Annotated[str, Kept.ID]
    source_score: float
    score: float
    threshold: float
    perturbators: Annotated[tuple[str, ...], Kept.PLAIN]
    meaning_kept: bool
    fails: bool
    turn: int = 0
    smallest: SmallestEdit | None = None


class ConfirmationCode(enum.StrEnum):
    """End of the confirmation of a regression.

    Attributes:
        CONFIRMED: the test finds the case worse than unchanged cases are.
        NOT_CONFIRMED: it does not; the case passes and is flaky.
        INTERRUPTED: a repeat has no verdict, since the model or an evaluator failed or a budget is used up,
            or the repeats end, and the baseline has too few to tell. The case fails.
    """

    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"
    INTERRUPTED = "interrupted"


class Confirmation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Confirmation of a regression: the case was asked again, and a sequential test has decided.

    Attributes:
        passed: repeats that pass.
        failed: repeats that fail, those of the run itself included.
        cases: cases of the run that are compared, by which the level of the test follows.
        baseline_passed, baseline_runs: attempts of the baseline; 0 where it has one answer of the case, and
            the test has no level.
        reason: of an interruption, or of a confirmation by one repeat.
        evaluators: those that the repeats were judged by, of a case that failed by others in the baseline
            already, so that it fails in any case; () where all of them were.
    """

    code: ConfirmationCode
    passed: int
    failed: int
    cases: int
    baseline_passed: int = 0
    baseline_runs: int = 0
    reason: str = ""
    evaluators: Annotated[tuple[str, ...], Kept.PLAIN] = ()
