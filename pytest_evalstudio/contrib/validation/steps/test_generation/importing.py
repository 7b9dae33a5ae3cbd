"""Test cases of the user's own suite in place of generated ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_evalstudio.contrib.questions.api import content_words
from pytest_evalstudio.contrib.validation.methods.topics.results import Chunk
from pytest_evalstudio.contrib.validation.steps.test_generation.results import GenerationResults
from pytest_evalstudio.contrib.validation.steps.test_generation.suites import topic_name
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID as TOPIC_MODELING
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import read_topics
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.documents import relative
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.attachments import named_files
from pytest_evalstudio.formats.suite import TestCase, TestSuite

IMPORTED = "imported"
"""Key of imported cases, and the generator in their categories."""
MIN_SHARED = 0.5
"""Minimum share of the words of the expected answer that its chunk has."""


def import_suite(context: StepContext, path: Path) -> tuple[TestSuite, GenerationResults]:
    """Return the suite of a file with the chunk and topic of each case, and its results.

    The chunk of a case is the one with most of the words of question and expected answer.

    Raises:
        DataError: if the file is no suite, has no test case, or a test case has images or files.
    """
    source_suite = TestSuite.load(path)
    for _, case in source_suite.cases():
        if named_files(case):
            raise DataError(
                f"test case {case.key!r} has images or files, which a workflow does not test; run the suite"
                " with pytest, or remove the case",
                source=str(path),
            )
    file = read_topics(context.artifacts(TOPIC_MODELING))
    names = {topic.id: topic_name(topic) for topic in file.topics}
    words = {chunk.id: frozenset(content_words(chunk.text)) for chunk in file.chunks}
    topics: Counter[str] = Counter()
    suite = TestSuite(
        name=f"{context.workflow.name or 'Workflow'}: imported tests",
        description=f"Imported from {path.name} by the step {context.folder.name.lstrip('0123456789_')}.",
        **{"pass": source_suite.policy},
    )
    test = suite.add_test(
        [relative(document, context.folder) for document in context.documents], key="documents"
    )
    for part, case in source_suite.cases():
        chunk = _chunk_of(case, file.chunks, words)
        if chunk is not None:
            topics[chunk.topic] += 1
        test.test_cases.append(_imported(case, (*part.categories, *source_suite.categories), chunk, names))
    if not test.test_cases:
        raise DataError("has no test case; write questions with expected answers", source=str(path))
    return suite, GenerationResults(
        cases=len(test.test_cases),
        by_topic={topic.id: topics[topic.id] for topic in file.topics},
        by_generator={IMPORTED: len(test.test_cases)},
        drafts=len(test.test_cases),
        irrelevant=0,
        duplicates=0,
    )


def _imported(
    case: TestCase, categories: Sequence[str], chunk: Chunk | None, names: Mapping[str, str]
) -> TestCase:
    """Return a case with the categories and the chunk that later steps need."""
    labels = list(dict.fromkeys([*case.categories, *categories]))
    if not any(name.startswith("generator:") for name in labels):
        labels.append(f"generator:{IMPORTED}")
    if chunk is not None and not any(name.startswith("topic:") for name in labels):
        labels.append(f"topic:{names[chunk.topic]}")
    source = (
        {}
        if chunk is None
        else {"source_chunk": chunk.id, "source_text": chunk.text, "source_document": chunk.document}
    )
    # A source that the case states itself has priority.
    return TestCase.model_validate({**source, **case.to_dict(), "categories": labels, IMPORTED: True})


def _chunk_of(case: TestCase, chunks: Sequence[Chunk], words: Mapping[str, frozenset[str]]) -> Chunk | None:
    """Return the chunk that supports the expected answer of a case best; None for a refusal."""
    expected = frozenset(content_words(case.expected_output))
    if case.expects == "refusal" or not expected or not chunks:
        return None
    question_words = frozenset(content_words(case.prompt))
    best = max(
        chunks, key=lambda chunk: 2 * len(expected & words[chunk.id]) + len(question_words & words[chunk.id])
    )
    return best if len(expected & words[best.id]) >= MIN_SHARED * len(expected) else None
