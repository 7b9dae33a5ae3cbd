"""Items that did not pass, with their reasons and texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import Struct

from pytest_evalstudio.analysis.causes import CauseKey, Kind
from pytest_evalstudio.core.codes import UNANSWERED, OutcomeCode
from pytest_evalstudio.report.highlight import Segment
from pytest_evalstudio.report.worddiff import Stretch
from pytest_evalstudio.text.figures import figure

if TYPE_CHECKING:
    from pytest_evalstudio.text.windows import Piece


class TermResult(Struct, frozen=True):
    """A term of a condition, as its text, and whether the answer meets it."""

    text: str
    met: bool


class FailedEvaluator(Struct, frozen=True, kw_only=True):
    """An evaluator that failed the item or could not judge it.

    Attributes:
        metric: name of the first metric that misses its threshold, "" for an error.
        fault: which of several kinds of failure it is, "" where the evaluator tells no kinds apart.
        part: "Retrieval: " where the retrieved context alone fails, else "".
        score: None without a score.
        threshold: in force for this case.
        sign: ≥ or ≤.
    """

    evaluator: str
    name: str
    metric: str = ""
    fault: str = ""
    part: str = ""
    score: float | None = None
    threshold: float | None = None
    sign: str = "≥"
    boolean: bool = False
    reason: str = ""

    @property
    def fact(self) -> str:
        """Return what an evaluator without a score did not do, as the end of a sentence."""
        is_of_judge = self.fault == OutcomeCode.JUDGE_FAILED
        return "got no reply of its judge" if is_of_judge else "could not score it"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureTexts:
    """Beginnings of the texts of an item, with what differs.

    Attributes:
        segments: the answer with the stretches that the deciding evaluator marked; empty without any.
        snippet: the first bad stretch with the words around it, in `snippet_of`; empty without one.
        snippet_of: "Answer" or "Context 2".
        changes: since the answer of the baseline; empty without one, and where it is the same.
        left_out: characters of the answer that are not shown.
    """

    question: str = ""
    expected: tuple[Stretch, ...] = ()
    terms: tuple[TermResult, ...] = ()
    actual: tuple[Stretch, ...] = ()
    segments: tuple[Segment, ...] = ()
    snippet: tuple[Segment, ...] = ()
    snippet_of: str = "Answer"
    changes: tuple[Piece, ...] = ()
    left_out: int = 0


class FailedCopy(Struct, frozen=True, kw_only=True):
    """A perturbed copy that fails like its original.

    Attributes:
        by: perturbators with their intensities.
    """

    nodeid: str
    key: str
    by: str
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedItem:
    """An item that did not pass.

    Attributes:
        change: class in the comparison with the baseline, "" without one.
        cause: of the failure.
        code: of a failure that no evaluator decides or explains, e.g. "answer_empty", or "no_answer" where
            the host failed; "" for others.
        misses: the evaluators that failed it, those with an error last, unless an error decides.
        reason: of the whole item.
        error: of the host, "" if there is an answer.
        equal_answers: number of further items with the same answer that fail alike and are not written out.
        copies: first perturbed copies that fail alike, which are not items of their own.
        copy_count: number of all of them.
    """

    kind: Kind
    cause: CauseKey
    nodeid: str
    file: str
    key: str
    model: str
    model_key: str
    change: str = ""
    flaky: bool = False
    code: str = ""
    misses: tuple[FailedEvaluator, ...] = ()
    reason: str = ""
    error: str = ""
    repeats: int = 1
    texts: FailureTexts = FailureTexts()
    equal_answers: int = 0
    copies: tuple[FailedCopy, ...] = ()
    copy_count: int = 0

    @property
    def first(self) -> FailedEvaluator | None:
        """Return the evaluator that failed the item first, None where none or no evaluator alone did."""
        return self.misses[0] if self.misses and not self.code else None

    @property
    def further(self) -> tuple[FailedEvaluator, ...]:
        """Return the evaluators that are named after the reason."""
        if self.first is not None:
            return self.misses[1:]
        return tuple(miss for miss in self.misses if miss.fault not in UNANSWERED)


def reason_of(item: FailedItem) -> str:
    """Return the reason of a failure in one sentence: evaluator, score and threshold, or the error."""
    miss = item.first
    if miss is None:
        return item.error or item.reason or "no reason was recorded"
    if not miss.metric:
        return f"{miss.name} {miss.fact}: {item.error or miss.reason}"
    score = "no score" if miss.score is None else figure(miss.score)
    limit = "" if miss.threshold is None else f", threshold {miss.sign} {figure(miss.threshold)}"
    metric = f"{miss.metric} " if miss.metric != miss.name else ""
    figures = "" if miss.boolean and miss.reason else f"{metric}{score}{limit}"
    return f"{miss.part}{miss.name}: {'; '.join(filter(None, (figures, miss.reason)))}"
