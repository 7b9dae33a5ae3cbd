"""Questions of HotpotQA, whose answers need several paragraphs: its own files, and rows of libraries.

Source: Yang et al., 2018; https://hotpotqa.github.io/
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    convert_records,
    key_of,
    mapping_of,
    metadata,
    records,
    text_of,
    texts_of,
    with_structures,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.contexts import chunks_in
from pytest_evalstudio.importers.references import outputs_of

_KNOWN = {"_id", "id", "question", "answer", "supporting_facts", "context", "type", "level"}


def read(source: Source) -> Imported:
    """Convert questions: the titles and paragraphs of the supporting facts are those to be retrieved.

    Raises:
        DataError: if the file has no list of questions.
    """
    return convert_records(source, records(source, "data", "rows"), _row)


def _row(record: Record, imported: Imported) -> Fields:
    value, omissions = with_structures(record, "context", "supporting_facts"), imported.omissions
    chunks = chunks_in(value.get("context"), omissions)
    paragraphs = {chunk.source: chunk.text for chunk in chunks}
    titles = list(dict.fromkeys(_titles(value.get("supporting_facts"))))
    omissions.keys(value, _KNOWN, "key", "no evaluator reads it")
    if missing := [title for title in titles if title not in paragraphs]:
        omissions.add("text of a supporting paragraph", f"the file has none for {len(missing)} title(s)")
    return {
        "key": key_of(value.get("_id"), value.get("id")),
        "input": text_of(value.get("question"), omissions),
        "expected_output": outputs_of(value.get("answer"), omissions),
        "context": [chunk.text for chunk in chunks],
        "context_sources": [chunk.source for chunk in chunks],
        "expected_documents": titles,
        "expected_chunks": [paragraphs[title] for title in titles if title in paragraphs],
        METADATA: metadata(record, "type", "level") or None,
    }


def _titles(facts: Json) -> Iterator[str]:
    if isinstance(facts, dict):
        yield from texts_of(mapping_of(facts).get("title"))
    for fact in facts if isinstance(facts, list) else []:
        if isinstance(fact, list) and fact:
            yield str(fact[0])
