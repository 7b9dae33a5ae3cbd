"""The corpus patch: hard questions with accepted answers, as a document for the corpus."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_HEADING = re.compile(r"^([ \t]*)#", re.MULTILINE)
"""Headings within answers, which would begin another question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A question with its answer.

    Attributes:
        wordings: other ones of the same question.
        why: who accepted the answer.
    """

    question: str
    answer: str
    why: str
    wordings: tuple[str, ...] = ()


def corpus_patch(title: str, entries: Sequence[Entry]) -> str:
    """The document, Markdown; of two entries with the same question and answer there is one."""
    merged: dict[tuple[str, str], Entry] = {}
    for entry in entries:
        known = merged.get((entry.question, entry.answer))
        wordings = tuple(dict.fromkeys([*(known.wordings if known else ()), *entry.wordings]))
        why = "; ".join(dict.fromkeys([*((known.why,) if known else ()), entry.why]))
        merged[entry.question, entry.answer] = Entry(
            question=entry.question, answer=entry.answer, why=why, wordings=wordings
        )
    lines = [f"# {_line(title)}: questions and answers", ""]
    for entry in merged.values():
        lines += [f"## {_line(entry.question)}", ""]
        if entry.wordings:
            lines += [f"Also asked as: {' / '.join(map(_line, entry.wordings))}", ""]
        lines += [
            _HEADING.sub(r"\1\\#", entry.answer.strip()),
            "",
            f"<!-- {_line(entry.why).replace('--', '- -')} -->",
            "",
        ]
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())
