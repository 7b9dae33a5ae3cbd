"""The corpus patch as a document."""

from __future__ import annotations

from pytest_evalstudio.mrm.artifacts.corpus_patch import Entry, corpus_patch


def test_each_question_stands_once_with_its_wordings() -> None:
    entries = [
        Entry(question="What is\nthe fee?", answer="30 USD.\n # of 2026\n", why="people call it good"),
        Entry(question="When?", answer="In January.", why="it passes", wordings=("Wehn?",)),
        Entry(
            question="When?", answer="In January.", why="people call it good", wordings=("When?,", "Wehn?")
        ),
    ]
    assert corpus_patch("Bank", entries) == "\n".join(
        [
            "# Bank: questions and answers",
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
