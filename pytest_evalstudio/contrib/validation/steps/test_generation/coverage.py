"""Statements of the documents that no test case tests: passages, quantities, rows of tables, and rules."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pytest_evalstudio.contrib.questions.api import named_row, quantities
from pytest_evalstudio.contrib.validation.methods.topics.results import Chunk
from pytest_evalstudio.contrib.validation.steps.test_generation.results import Coverage
from pytest_evalstudio.formats.suite import TestSuite

COVERAGE = "coverage.json"
Kind = Literal["passages", "quantities", "tables", "rules", "topics"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COVERAGE_NAMES: Mapping[Kind, str] = {
    "passages": "passages",
    "quantities": "sentences with a quantity",
    "tables": "rows of tables",
    "rules": "rules",
    "topics": "topics",
}
_RULE = re.compile(
    r"\b(?:must|shall|may\s+(?:not|only)|cannot|can\s+only|(?:is|are)\s+(?:not\s+)?(?:required|entitled|allowed"
    r"|permitted|prohibited|forbidden|obliged)|unless|only\s+if)\b",
    re.IGNORECASE,
)
_ROW = re.compile(r"\|[^|]*(?=\|)")
_SEPARATOR = re.compile(r"\|(?:\s*:?-+:?\s*\|)+")
_HEADING_NUMBER = re.compile(r"^\s*\(?\d+(?:\.\d+)*[.)]?\s(?=[A-Z])")
"""Number of a section or paragraph, which is no quantity."""
MIN_ANSWER_CHARS = 3
"""Shorter expected answers occur in any sentence."""
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredStatement:
    """A part of the documents that a test case may test.

    Attributes:
        chunk: id of its passage.
        text: the sentence, or the row of a table; the beginning of a passage.
    """

    kind: Kind
    document: str
    chunk: str
    text: str
    tested: bool


def statements(suite: TestSuite, chunks: Sequence[Chunk]) -> Iterator[CoveredStatement]:
    """Yield the passages, sentences with a quantity or a rule, rows of tables, and topics, tested or not.

    A sentence is tested if it is the evidence of a case, and a row if the question of a case on its table
    has the words of its first cell. A case without evidence, of an own suite, tests the sentences of its
    chunk that hold its expected answer. A sentence with a quantity and a rule counts as both.
    """
    cases = [case for test in suite.tests for case in test.test_cases]
    extras = [(case.prompt, case.model_extra or {}) for case in cases]
    evidence = {_plain(str(extra.get("evidence", ""))) for _, extra in extras} - {""}
    # A case on several chunks has their ids, joined by "+".
    used = {part for _, extra in extras for part in str(extra.get("source_chunk", "")).split("+")}
    answers: dict[str, list[str]] = {}
    for case in cases:
        extra = case.model_extra or {}
        if not extra.get("evidence") and len(case.expected_output) >= MIN_ANSWER_CHARS:
            answers.setdefault(str(extra.get("source_chunk", "")), []).append(_plain(case.expected_output))
    questions: dict[str, list[str]] = {}
    for prompt, extra in extras:
        questions.setdefault(_plain(str(extra.get("evidence", ""))), []).append(_plain(prompt))
    for chunk in chunks:
        base = {"document": chunk.document, "chunk": chunk.id}
        yield CoveredStatement(kind="passages", text=chunk.text[:80], tested=chunk.id in used, **base)
        for sentence in chunk.sentences:
            text = _plain(sentence)
            if text.startswith("|"):
                tested_rows = {named_row(question, text) for question in questions.get(text, [])}
                for number, row in enumerate(_rows(text)):
                    yield CoveredStatement(kind="tables", text=row, tested=number in tested_rows, **base)
                continue
            kinds: list[Kind] = ["quantities"] if quantities(_HEADING_NUMBER.sub("", sentence)) else []
            kinds += ["rules"] if _RULE.search(sentence) else []
            tested = bool(kinds) and (
                _is_evidence(text, evidence) or any(answer in text for answer in answers.get(chunk.id, ()))
            )
            for kind in kinds:
                yield CoveredStatement(kind=kind, text=text, tested=tested, **base)
    yield from _topics(chunks, used)


def _topics(chunks: Sequence[Chunk], used: Container[str]) -> Iterator[CoveredStatement]:
    """Yield the topics, each at its first chunk; one is tested if a case uses a chunk of it."""
    first = {chunk.topic: chunk for chunk in reversed(chunks) if chunk.topic}
    tested = {chunk.topic for chunk in chunks if chunk.id in used}
    for topic in sorted(first):
        chunk = first[topic]
        yield CoveredStatement(
            kind="topics",
            document=chunk.document,
            chunk=chunk.id,
            text=f"topic {topic}",
            tested=topic in tested,
        )


def figures(found: Iterable[CoveredStatement]) -> Coverage:
    """Return the numbers of tested and of all statements by kind."""
    counts = {kind: [0, 0] for kind in KINDS}
    for statement in found:
        counts[statement.kind][0] += statement.tested
        counts[statement.kind][1] += 1
    return Coverage(**{kind: (tested, total) for kind, (tested, total) in counts.items()})


def describe(coverage: Coverage) -> str:
    """Return what the test cases cover, in words."""
    parts = [
        f"{tested} of {total} {COVERAGE_NAMES[kind]}"
        for kind in KINDS
        for tested, total in [getattr(coverage, kind)]
        if total
    ]
    return f"test cases cover {', '.join(parts)}; {COVERAGE} lists the others" if parts else ""


def _is_evidence(text: str, evidence: set[str]) -> bool:
    return text in evidence or any(text in other or other in text for other in evidence)


def _rows(table: str) -> Iterator[str]:
    """Yield the rows of a table on one line, without its head.

    >>> list(_rows("| a | b | | --- | --- | | c | 1 | | d | 2 |"))
    ['| c | 1 |', '| d | 2 |']
    """
    head, _, body = table.partition(match[0]) if (match := _SEPARATOR.search(table)) else (table, "", "")
    width = len(_ROW.findall(head.strip()))
    cells = [cell.strip() for cell in body.strip().strip("|").split("|")]
    # Rows are joined by an empty cell: "| c | 1 | | d | 2 |".
    for start in range(0, len(cells), width + 1):
        row = cells[start : start + width]
        if width and len(row) == width:
            yield f"| {' | '.join(row)} |"


def _plain(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
