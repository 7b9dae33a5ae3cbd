"""Questions that the rules write for the documents whose questions were graded.

`python tests/support/published_questions.py` rewrites the file of these questions. Rewrite it only for an
intended change of questions: it shows what a change of the rules does to them. The published grades are of
the questions of earlier rules.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_evalstudio.contrib.questions.checks.selection import DraftSelection, with_title
from pytest_evalstudio.contrib.questions.corpus import corpus_chunks
from pytest_evalstudio.contrib.validation.methods.topics.origins import document_titles
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry

SEED = 0
CHUNK_CHARS = 500
MAX_CONDITION_CHARS = 100
"""Longer conditions are stored by their hash: that of a refusal has 3,000 characters."""
DATA = Path(__file__).parents[1] / "data"
DOCUMENTS = DATA / "documents"
STORED = DATA / "questions" / "published.jsonl"
FOLDERS = sorted(path.name for path in DOCUMENTS.iterdir() if path.is_dir())
ATTACKED = ("development", "held_out")
"""Folders for which the attacks are written too; they all wrap the same plain questions."""
JOINT = ("development",)
"""Folders whose documents form one corpus, so that questions name their document."""

Row = dict[str, str | None]


def stored_questions(folder: str) -> list[Row]:
    """Return the stored questions for the documents of a folder."""
    rows = [json.loads(line) for line in STORED.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["document"].startswith(f"{folder}/")]


def written_questions(folder: str) -> list[Row]:
    """Return the questions that the rules write for the documents of a folder now.

    Each has its document, generator, expected answer and condition; `selected` is the question as a step asks
    it, None where the step discards it, and left out where it is the same.
    """
    paths = sorted((DOCUMENTS / folder).iterdir())
    groups = [paths] if folder in JOINT else [[path] for path in paths]
    return [row for group in groups for row in _questions(folder, group)]


def _questions(folder: str, paths: Sequence[Path]) -> Iterator[Row]:
    corpus, documents = corpus_of(paths)
    generators = Registry().generators
    for id in generators:
        spec = generators.spec(id)
        is_attack = spec.purpose == "adversarial"
        if not spec.drafts or (is_attack and folder not in ATTACKED):
            continue
        selection = None if is_attack else DraftSelection(corpus)
        generator = generators.get(id)()
        for excerpt in corpus.excerpts:
            name = f"{folder}/{documents[excerpt.id]}"
            for draft in generator.drafts(excerpt, corpus, random.Random(f"{SEED}/{id}/{excerpt.id}")):
                row: Row = {"document": name, "generator": id, **_texts(draft)}
                if selection is not None:
                    clear = selection.clear_draft(draft, excerpt)
                    question = with_title(clear, excerpt.title, corpus).question if clear else None
                    if question != draft.question:
                        row["selected"] = question
                yield row


def corpus_of(paths: Sequence[Path]) -> tuple[Corpus, dict[str, str]]:
    """Return the chunks of documents as a corpus, and the name of the document by chunk."""
    with tempfile.TemporaryDirectory() as cache:
        chunks = list(
            corpus_chunks(
                [str(path) for path in paths], cache=Path(cache), chunk_chars=CHUNK_CHARS, overlap_chars=0
            )
        )
    titles = document_titles(chunks)  # type: ignore[arg-type]
    excerpts = tuple(
        Excerpt(id=f"c{number}", sentences=chunk.sentences, topic="1", title=titles[chunk.document])
        for number, chunk in enumerate(chunks)
    )
    names = {f"c{number}": Path(chunk.document).name for number, chunk in enumerate(chunks)}
    return Corpus(excerpts), names


def _texts(draft: Draft) -> Row:
    condition = draft.condition
    if len(condition) > MAX_CONDITION_CHARS:
        condition = f"sha256 {hashlib.sha256(condition.encode()).hexdigest()[:16]}"
    return {"question": draft.question, "answer": draft.answer, "condition": condition}


if __name__ == "__main__":
    lines = [
        json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        for folder in FOLDERS
        for row in written_questions(folder)
    ]
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text("\n".join(lines) + "\n", encoding="utf-8")
