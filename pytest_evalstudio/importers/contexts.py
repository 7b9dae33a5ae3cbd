"""Retrieved chunks in the forms of other tools, as fields of a row."""

from __future__ import annotations

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.cells import Cell
from pytest_evalstudio.formats.chunks import Chunk, read_chunks
from pytest_evalstudio.formats.imported.records import Omissions, structure_of, texts_of


def context_fields(value: Json, omissions: Omissions) -> dict[str, object]:
    """Return the chunks of a context with their documents and relevance, as far as all chunks have one.

    Args:
        value: texts, objects with a text, titles with sentences, or one text.
    """
    chunks = chunks_in(value, omissions)
    scores = [chunk.score for chunk in chunks]
    sources = [chunk.source for chunk in chunks]
    return {
        "context": [chunk.text for chunk in chunks],
        "context_sources": sources if any(sources) else [],
        "context_scores": scores if None not in scores else [],
    }


def chunks_in(value: Json, omissions: Omissions) -> list[Chunk]:
    """Return the chunks of a context; an item of another form is a chunk with its JSON text."""
    if isinstance(value, Cell):
        structure = structure_of(value)
        value = structure if isinstance(structure, list) else str(value)
    chunks = None if isinstance(value, str) else read_chunks(value)
    if chunks is None:
        return [Chunk(text) for text in texts_of(value)]
    for chunk in chunks:
        for name in chunk.further_keys:
            omissions.add(f"{name!r} of a chunk", "a chunk has a text, a document and a relevance")
    return chunks
