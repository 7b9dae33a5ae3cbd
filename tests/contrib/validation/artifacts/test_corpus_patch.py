"""The corpus patch as a document."""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.contrib.validation.artifacts.corpus_patch import CorpusEntry, corpus_patch
from pytest_evalstudio.contrib.validation.workflow.patches import MARK, patched_questions


def test_each_question_stands_once_with_its_wordings() -> None:
    entries = [
        CorpusEntry(question="What is\nthe fee?", answer="30 USD.\n # of 2026\n", why="people call it good"),
        CorpusEntry(question="When?", answer="In January.", why="it passes", wordings=("Wehn?",)),
        CorpusEntry(
            question="When?", answer="In January.", why="people call it good", wordings=("When?,", "Wehn?")
        ),
    ]
    assert corpus_patch("Bank", entries) == "\n".join(
        [
            "# Bank: questions and answers",
            "",
            MARK,
            "",
            "## What is the fee?",
            "",
            "30 USD.",
            " \\# of 2026",
            "",
            "<!-- people call it good -->",
            "",
            "## When?",
            "",
            "Also asked as: Wehn? / When?,",
            "",
            "In January.",
            "",
            "<!-- it passes; people call it good -->",
            "",
        ]
    )


def test_the_questions_of_a_patch_are_read_back(tmp_path: Path) -> None:
    entries = [
        CorpusEntry(question="What is\nthe fee?", answer="30 USD.\n## Not a question", why="good"),
        CorpusEntry(question="When?", answer="In January.", why="good", wordings=("Wehn?", "At what time?")),
    ]
    patch, other = tmp_path / "corpus_patch.md", tmp_path / "other.md"
    patch.write_text(corpus_patch("Bank", entries), encoding="utf-8")
    other.write_text("# Fees\n\n## What is due?\n", encoding="utf-8")
    documents = [str(patch), str(other), "https://example.com/a.md"]
    assert patched_questions(documents) == {"What is the fee?", "When?", "Wehn?", "At what time?"}
