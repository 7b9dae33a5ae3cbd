"""The smallest edit of a question that still flips a verdict."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.record import schema


E = TypeVar("E", "SmallestEdit", "schema.RecordedEdit")


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


END_WORDS: Mapping[ShrinkCode, str] = {
    ShrinkCode.MINIMAL: "minimal",
    ShrinkCode.BUDGET: "ended by the calls",
    ShrinkCode.INTERRUPTED: "interrupted",
    ShrinkCode.NOT_REPRODUCED: "not reproduced",
    ShrinkCode.NOT_CONFIRMED: "not confirmed",
    ShrinkCode.NO_MODEL: "precomputed",
    ShrinkCode.OTHER_CHANGES: "with other changes",
}
"""Ends of searches as they are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallestEdit:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EditWording:
    """A smallest edit in words, without its texts.

    Attributes:
        title: what the search has found.
        note: numbers of edits and calls, and the reason of an early end.
        has_question: whether the question with the edit belongs to it.
    """

    title: str
    note: str = ""
    has_question: bool = True


def equal_edits(edits: Iterable[E]) -> list[list[E]]:
    """Return the smallest edits of a case's flips, grouped by end and question."""
    groups: dict[tuple[str, str, str], list[E]] = {}
    for edit in edits:
        groups.setdefault((edit.code, edit.question, edit.reason), []).append(edit)
    return list(groups.values())


def wording(smallest: SmallestEdit | schema.RecordedEdit, number_of_calls: int | None = None) -> EditWording:
    """Return a smallest edit in words, of a result or of a record.

    Args:
        smallest: of a flip.
        number_of_calls: of all flips with the same edit; its own where not given.
    """
    total = smallest.calls if number_of_calls is None else number_of_calls
    calls = counted(total, "call")
    edits = f"{smallest.edits} of {counted(smallest.total_edits, 'edit')}"
    match smallest.code:
        case ShrinkCode.MINIMAL:
            return EditWording(title="smallest edit that flips", note=f"{edits}; {calls}")
        case ShrinkCode.BUDGET if total:
            return EditWording(title=f"smallest edit within {calls}", note=f"{edits}; {smallest.reason}")
        case ShrinkCode.INTERRUPTED:
            return EditWording(title="smallest edit so far", note=f"{edits}; {calls}; {smallest.reason}")
        case ShrinkCode.NOT_CONFIRMED:
            return EditWording(title="asked once more, this edit does not flip", note=f"{edits}; {calls}")
        case ShrinkCode.NOT_REPRODUCED:
            title = "not reproduced: the model answers otherwise when it is asked again"
            return EditWording(title=title, note=calls, has_question=False)
    reasons = {
        ShrinkCode.BUDGET: smallest.reason,
        ShrinkCode.NO_MODEL: "the answers are precomputed, and no model can be asked",
        ShrinkCode.OTHER_CHANGES: "the cases differ in more than one message",
    }
    return EditWording(title=f"not shrunk: {reasons[ShrinkCode(smallest.code)]}", has_question=False)


def describe(edits: Sequence[SmallestEdit] | Sequence[schema.RecordedEdit]) -> str:
    """Return equal smallest edits in words, with the differing words marked as `git diff --word-diff` does.

    Args:
        edits: one or more, as of `equal_edits`; their texts are shown as they are.
    """
    smallest = edits[0]
    words = wording(smallest, sum(edit.calls for edit in edits))
    text = words.title
    if words.has_question:
        from pytest_evalstudio.text.windows import change_windows, word_diff  # most runs shrink no flip

        text += f": {word_diff(change_windows(smallest.original, smallest.question))}"
    return f"{text} ({words.note})" if words.note else text
