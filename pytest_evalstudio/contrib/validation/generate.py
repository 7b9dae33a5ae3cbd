"""Test cases from documents without a workflow's file."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.asking.existing_collections import is_collection
from pytest_evalstudio.contrib.validation.methods.progress import Progress
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ID as TEST_GENERATION
from pytest_evalstudio.contrib.validation.steps.test_generation.results import SUITE
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID as TOPIC_MODELING
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import read_topics
from pytest_evalstudio.contrib.validation.workflow.collection_copies import CollectionCopy, copy_collection
from pytest_evalstudio.contrib.validation.workflow.documents import relative
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.scoring.model_provider import ModelProvider

SUFFIXES = (".md", ".txt", ".html", ".htm", ".pdf")
"""Documents that are taken from a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """Generated test cases.

    Attributes:
        suite: the cases; each quotes its `evidence`, `source_document` and `source_chunk`.
        topics: id of each topic to its key words.
        summary: a sentence.
        notes: further sentences for people.
    """

    suite: TestSuite
    topics: Mapping[str, Sequence[str]]
    summary: str
    notes: Sequence[str]


def generate_test_cases(
    documents: Sequence[str | Path],
    *,
    count: int = 30,
    generators: Sequence[str] = (),
    writer: str = "",
    pipeline: str | None = None,
    topics_included: Sequence[str] = (),
    topics_excluded: Sequence[str] = (),
    chunks_included: Sequence[str] = (),
    chunks_excluded: Sequence[str] = (),
    name: str = "Generated tests",
    seed: int = 0,
    config: Configuration | None = None,
    registry: Registry | None = None,
    cache: Path = Path(".evalstudio"),
    folder: Path = Path(),
    progress: Progress = lambda done, total, what: None,
) -> Generated:
    """Generate test cases from documents, as the first two steps of a workflow do.

    Args:
        documents: files, folders, URLs, or collections of services: "collection://NAME/ID" with the name of
            a connection or model and the id of an existing collection. Of folders all documents; the texts of
            a collection are copied to the folder `collections` beside the suite, once.
        count: number of test cases; there are fewer if the documents give no more.
        generators: kinds of question; all that are available where not given.
        writer: name of a `[[model]]` that writes the questions, or "judge"; without it they are extracted
            from the sentences of the documents.
        pipeline: name of the spaCy pipeline that parses the sentences, "" for none; by default
            en_core_web_sm, where it is installed.
        topics_included: ids of topics; all where not given.
        topics_excluded: ids of topics.
        chunks_included: ids of chunks; of a topic with one of them, these alone are used.
        chunks_excluded: ids of chunks that no question is made from.
        name: of the suite.
        seed: of everything random.
        config: of the writer, the embedder and the connections.
        registry: registry of plugins; by default a new one.
        cache: folder of stored replies and vectors.
        folder: of the suite's file: paths of documents in it start there.
        progress: called with the number done, the total, and the name of the objects.

    Raises:
        ConfigurationError: for an unknown name, or a value out of range.
        DataError: if a document cannot be read, or there is no test case.
        EvaluationError: if a service does not return the texts of a collection.
    """
    # numpy and scikit-learn take seeds below 2^32.
    if count < 1 or not 0 <= seed < 2**32:
        raise ConfigurationError(
            f"count = {count}, seed = {seed}: count must be 1 or more, seed 0 or more and less than 2^32"
        )
    plugins = registry or Registry()
    settings = config or Configuration(folder=Path.cwd())
    copies = {
        document: copy_collection(document, folder, settings, plugins)
        for document in map(str, documents)
        if is_collection(document)
    }
    files = _files([text for document in documents for text in _texts(document, copies)])
    if not files:
        raise ConfigurationError(f"there is no document; give files or folders of {', '.join(SUFFIXES)}")
    with tempfile.TemporaryDirectory(prefix="evalstudio-") as scratch:
        path = Path(scratch) / "generate_workflow.json"
        workflow = Workflow(
            name=name,
            documents=files,
            seed=seed,
            steps={
                TEST_GENERATION: {
                    "count": count,
                    "generators": list(generators),
                    "writer": writer,
                    "pipeline": pipeline,
                    "topics_included": list(topics_included),
                    "topics_excluded": list(topics_excluded),
                    "chunks_included": list(chunks_included),
                    "chunks_excluded": list(chunks_excluded),
                }
            },
        )
        run = WorkflowRun(workflow, path, settings, plugins)
        with closing(ModelProvider(cache=cache, registry=plugins)) as provider:
            run.run(TOPIC_MODELING, provider=provider, cache=cache, progress=progress)
            state = run.run(TEST_GENERATION, provider=provider, cache=cache, progress=progress)
        topics = read_topics(run.folder_of(TOPIC_MODELING)).topics
        suite = TestSuite.load(run.folder_of(TEST_GENERATION) / SUITE)
    suite.name = name
    suite.description = f"Generated from {len(files)} documents."
    for test in suite.tests:
        test.documents = [relative(document, folder) for document in files]
    return Generated(
        suite=suite,
        topics={topic.id: topic.words for topic in topics},
        summary=state.summary,
        notes=[*state.notes, *(note for copy in copies.values() for note in copy.notes)],
    )


def _texts(document: str | Path, copies: Mapping[str, CollectionCopy]) -> Sequence[str | Path]:
    """Return the files of a collection; any other document stays."""
    copy = copies.get(str(document))
    return [document] if copy is None else copy.files


def _files(documents: Sequence[str | Path]) -> list[str]:
    """Return absolute paths and URLs, those of folders in alphabetical order, without duplicates.

    Raises:
        DataError: if there is no such file.
    """
    paths: dict[str, None] = {}
    for document in documents:
        if "://" in str(document):
            paths[str(document)] = None
            continue
        path = Path(document).absolute()
        if path.is_dir():
            members = sorted(
                member for member in path.rglob("*") if member.suffix.lower() in SUFFIXES and member.is_file()
            )
            paths.update(dict.fromkeys(map(str, members)))
        elif path.is_file():
            paths[str(path)] = None
        else:
            raise DataError("there is no such file or folder", source=str(document))
    return list(paths)
