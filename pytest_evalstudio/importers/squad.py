"""Questions of SQuAD 1.1 and 2.0: its own files, and rows as data set libraries write them.

Source: Rajpurkar et al., 2016 and 2018; https://rajpurkar.github.io/SQuAD-explorer/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Fields,
    Imported,
    Record,
    convert_each,
    convert_records,
    items_of,
    key_of,
    mapping_of,
    records,
    text_of,
)
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers.references import outputs_of

_OF_QUESTIONS = {"id", "question", "answers", "is_impossible", "context", "title", "plausible_answers"}


def read(source: Source) -> Imported:
    """Convert questions: all marked answers are accepted, the passage is the chunk that should be retrieved.

    A question that its passage does not answer expects a refusal.

    Raises:
        DataError: if the file has no list of articles or rows.
    """
    values = records(source, "data")
    at = () if isinstance(source.data, list) else ("data",)
    if any("paragraphs" in mapping_of(value) for value in values):
        return convert_each(source, _questions(at, values), _row)
    return convert_records(source, values, _row, *at)


def _questions(at: tuple[object, ...], articles: Sequence[Json]) -> Iterator[tuple[tuple[object, ...], Json]]:
    """Yield the questions of articles, each with the passage and the title that it belongs to."""
    for number, article in enumerate(map(mapping_of, articles)):
        for position, paragraph in enumerate(map(mapping_of, items_of(article.get("paragraphs")))):
            passage = {"title": article.get("title"), "context": paragraph.get("context")}
            for index, question in enumerate(items_of(paragraph.get("qas"))):
                location = (*at, number, "paragraphs", position, "qas", index)
                yield location, {**passage, **question} if isinstance(question, dict) else question


def _row(record: Record, imported: Imported) -> Fields:
    value, omissions = record.value, imported.omissions
    context, title = text_of(value.get("context"), omissions), text_of(value.get("title"), omissions)
    answers = outputs_of(value.get("answers"), omissions)
    if value.get("plausible_answers"):
        omissions.add("plausible answers of a question without an answer", "they are wrong answers")
    omissions.keys(value, _OF_QUESTIONS, "key", "no evaluator reads it")
    return {
        "key": key_of(value.get("id")),
        "input": text_of(value.get("question"), omissions),
        "expected_output": answers,
        "expects": "" if answers else "refusal",
        "context": [context] if context else [],
        "expected_chunks": [context] if context and answers else [],
        METADATA: {"title": title} if title else None,
    }
