"""The corpus patch: hard questions with accepted answers, as a document for the corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.workflow.patches import (
    BETWEEN,
    MARK,
    QUESTION,
    WORDINGS,
    same_question,
)

GAP = "____"
"""Stands for the missing word of a cloze."""
_HEADING = re.compile(r"^([ \t]*)#", re.MULTILINE)
"""Headings within answers, which would begin another question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusEntry:
    """A question with its answer.

    Attributes:
        wordings: other ones of the same question.
        why: who accepted the answer.
    """

    question: str
    answer: str
    why: str
    wordings: tuple[str, ...] = ()


def corpus_patch(title: str, entries: Sequence[CorpusEntry]) -> str:
    """Return the document as Markdown, one entry per question and answer."""
    merged: dict[tuple[str, str], CorpusEntry] = {}
    for entry in entries:
        previous = merged.get((entry.question, entry.answer))
        wordings, why = entry.wordings, entry.why
        if previous is not None:
            wordings = tuple(dict.fromkeys((*previous.wordings, *wordings)))
            why = "; ".join(dict.fromkeys((previous.why, why)))
        merged[entry.question, entry.answer] = CorpusEntry(
            question=entry.question, answer=entry.answer, why=why, wordings=wordings
        )
    lines = [f"# {same_question(title)}: questions and answers", "", MARK, ""]
    for entry in merged.values():
        lines += [f"{QUESTION}{same_question(entry.question)}", ""]
        if entry.wordings:
            lines += [f"{WORDINGS}{BETWEEN.join(map(same_question, entry.wordings))}", ""]
        lines += [
            _HEADING.sub(r"\1\\#", entry.answer.strip()),
            "",
            # HTML does not allow "--" within a comment.
            f"<!-- {same_question(entry.why).replace('--', '- -')} -->",
            "",
        ]
    return "\n".join(lines)
