"""The smallest edit of a question that still flips a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.core.flips import ShrinkCode, SmallestEdit
from pytest_evalstudio.text.figures import counted

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


def equal_edits(edits: Iterable[SmallestEdit]) -> list[list[SmallestEdit]]:
    """Return the smallest edits of a case's flips, grouped by end and question."""
    groups: dict[tuple[str, str, str], list[SmallestEdit]] = {}
    for edit in edits:
        groups.setdefault((edit.code, edit.question, edit.reason), []).append(edit)
    return list(groups.values())


def wording(smallest: SmallestEdit | SmallestEdit, number_of_calls: int | None = None) -> EditWording:
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
    return EditWording(title=f"not shrunk: {reasons[smallest.code]}", has_question=False)


def describe(edits: Sequence[SmallestEdit] | Sequence[SmallestEdit]) -> str:
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
