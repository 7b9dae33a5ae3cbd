"""Queries of a retrieval data set in BEIR's form: judgements, and beside them the queries and the corpus.

The file is that of the judgements, e.g. `scifact/qrels/test.tsv`; `queries.jsonl` and `corpus.jsonl` stand in
its folder or in the one above.

Source: Thakur et al., 2021; https://github.com/beir-cellar/beir
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.reading import check_file
from pytest_evalstudio.formats.csv_text import read_csv
from pytest_evalstudio.formats.imported.records import (
    Fields,
    Imported,
    Record,
    convert_records,
    mapping_of,
    read_file,
    records,
)
from pytest_evalstudio.formats.source import Source, read_text

SUFFIX = ".tsv"
QUERIES, CORPUS = "queries.jsonl", "corpus.jsonl"
MAX_LINE_CHARS = 10_000_000
"""Longest document; a file without line breaks is read no further."""
_COLUMNS = ("query-id", "corpus-id", "score")


def open_judgements(path: Path, name: str) -> Source:
    """Return the judged queries with their texts and the texts of their documents.

    Only the documents of the judgements stay in memory.

    Raises:
        DataError: if one of the three files cannot be read, or a judged query is missing.
    """
    if path.suffix.lower() != SUFFIX:
        return read_file(path, name)  # `read` says what is expected
    judgements = _judgements(path, name)
    queries = _texts(_beside(path, name, QUERIES), set(judgements))
    if missing := next((query for query in judgements if query not in queries), ""):
        fact = f"the judged query {missing!r} is not in {QUERIES}; use the files of one release"
        raise DataError(fact, source=name)
    # After the check of the queries: a corpus may have millions of lines.
    documents = _texts(
        _beside(path, name, CORPUS), {each for scores in judgements.values() for each in scores}
    )
    data: list[Json] = []
    for query, scores in judgements.items():
        found: list[Json] = [
            {"id": document, "score": score, "text": documents.get(document, "")}
            for document, score in scores.items()
        ]
        data.append({"id": query, "text": queries[query], "documents": found})
    return Source(name=name, text="", data=data)


def _judgements(path: Path, name: str) -> dict[str, dict[str, float]]:
    """Return the scores of documents by query."""
    table = read_csv(read_text(path, name), name, "\t")
    if tuple(table.names) != _COLUMNS:
        raise DataError(
            f"expected the columns {', '.join(_COLUMNS)}, divided by tabs", source=name, line=1, column=1
        )
    judgements: dict[str, dict[str, float]] = {}
    for cells, line in zip(table.records, table.lines, strict=True):
        query, document = (str(cells.get(column, "")) for column in _COLUMNS[:2])
        judgements.setdefault(query, {})[document] = _score(cells.get("score"), name, line)
    return judgements


def _score(cell: object, name: str, line: int) -> float:
    try:
        return float(str(cell))
    except ValueError:
        raise DataError("the score is not a number", source=name, line=line, column=1) from None


def _beside(path: Path, name: str, file_name: str) -> Path:
    """Return a file in the folder of the judgements, or in the one above.

    Raises:
        DataError: if there is none.
    """
    folders = (path.parent, path.parent.parent)
    file = next((folder / file_name for folder in folders if (folder / file_name).is_file()), None)
    if file is None:
        raise DataError(
            f"{file_name} was not found in the folder of the judgements or the one above; copy it there",
            source=name,
        )
    return file


def _texts(file: Path, ids: set[str]) -> dict[str, str]:
    """Return title and text of the objects with some ids.

    Raises:
        DataError: if a line is no object.
    """
    texts: dict[str, str] = {}
    for value in _objects(file):
        if (id := str(value.get("_id"))) in ids:
            parts = (value.get("title"), value.get("text"))
            texts[id] = "\n".join(part for part in parts if isinstance(part, str) and part)
    return texts


def _objects(file: Path) -> Iterator[dict[str, Json]]:
    try:
        check_file(file)
        with file.open(encoding="utf-8-sig") as lines:
            number = 0
            while line := lines.readline(MAX_LINE_CHARS + 1):
                number += 1
                if len(line) > MAX_LINE_CHARS:
                    fact = f"has more than {MAX_LINE_CHARS:,} characters"
                    raise DataError(fact, source=str(file), line=number, column=1)
                if line.strip():
                    yield _object(line, file, number)
    except (OSError, UnicodeDecodeError) as exc:
        raise DataError(f"cannot be read: {exc}", source=str(file)) from None


def _object(line: str, file: Path, number: int) -> dict[str, Json]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise DataError("is not a JSON object", source=str(file), line=number, column=1)
    return value


def read(source: Source) -> Imported:
    """Convert judged queries: the documents with a positive score are those to be retrieved."""
    return convert_records(source, records(source), _row)


def _row(record: Record, imported: Imported) -> Fields | None:
    documents, omissions = record.value.get("documents"), imported.omissions
    if not isinstance(documents, list):
        raise record.error(f"is not a judgement; name the file of judgements, which ends in {SUFFIX}")
    relevant: dict[str, str] = {}
    if not all(name in record.value for name in ("id", "text")):
        raise record.error(f"is not a judged query; name the file of judgements, which ends in {SUFFIX}")
    for index, document in enumerate(map(mapping_of, documents)):
        if missing := [name for name in ("id", "text", "score") if name not in document]:
            raise record.error(f"has no {missing[0]}; add it", "documents", index)
        try:
            score = float(str(document["score"]))
        except ValueError:
            raise record.error("the score is not a number; correct it", "documents", index) from None
        # A judgement of 0 says that the document is not relevant.
        if score > 0:
            relevant[str(document["id"])] = str(document["text"])
        if score > 1:
            omissions.add("grade of relevance above 1", "a document is expected or not")
    if not relevant:
        omissions.add("query without a relevant document", "nothing is expected of it")
        return None
    for text in relevant.values():
        if not text:
            omissions.add("text of a relevant document", f"{CORPUS} has none; its name is expected")
    return {
        "key": str(record.value["id"]),
        "input": str(record.value["text"]),
        "expected_documents": list(relevant),
        "expected_chunks": [text for text in relevant.values() if text],
    }
