"""A bot that quotes a handbook: it retrieves two chunks, and answers with their best sentence."""

import os
import re
import textwrap
from pathlib import Path

CHUNK_CHARS = int(os.environ.get("CHUNK_CHARS", "200"))
"""Length of a chunk; shorter ones cut sentences."""
HANDBOOK = Path(__file__).with_name("handbook") / "fees.md"
PARAGRAPHS = HANDBOOK.read_text(encoding="utf-8").split("\n\n")
CHUNKS = [chunk for paragraph in PARAGRAPHS for chunk in textwrap.wrap(paragraph, CHUNK_CHARS)]
COMMON = {"a", "does", "for", "how", "is", "much", "of", "the", "what"}


def words(text):
    return set(re.findall(r"\w+", text.lower())) - COMMON


def ask(prompt):
    def shared(text):
        return len(words(text) & words(prompt))

    context = sorted(CHUNKS, key=shared, reverse=True)[:2]
    sentences = [sentence for chunk in context for sentence in re.split(r"(?<=\.)\s+", chunk)]
    return {"answer": max(sentences, key=shared), "context": context}
