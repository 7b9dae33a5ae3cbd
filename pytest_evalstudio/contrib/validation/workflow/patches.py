"""Questions of corpus patches: their answers are in the corpus, so that they test nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_evalstudio.core.reading import read_bytes

MARK = "<!-- corpus patch of pytest-evalstudio -->"
"""Line of a corpus patch; documents with it hold answers to test questions."""
QUESTION, WORDINGS, BETWEEN = "## ", "Also asked as: ", " / "
_HEAD = 2_000
"""Characters of a document in which the mark is looked for."""


def patched_questions(documents: Iterable[str]) -> frozenset[str]:
    """Return the questions that corpus patches among the documents answer, in all their wordings.

    Args:
        documents: paths, or URLs, which are not read.
    """
    return frozenset(
        question
        for document in documents
        if "://" not in document and document.lower().endswith(".md")
        for question in _questions(Path(document))
    )


def same_question(text: str) -> str:
    """Return a question as corpus patches write it: on one line."""
    return " ".join(text.split())


def _questions(path: Path) -> Iterator[str]:
    text = read_bytes(path).decode("utf-8", "replace")
    if MARK not in text[:_HEAD]:
        return
    for line in text.splitlines():
        if line.startswith(QUESTION):
            yield line.removeprefix(QUESTION)
        elif line.startswith(WORDINGS):
            yield from line.removeprefix(WORDINGS).split(BETWEEN)
