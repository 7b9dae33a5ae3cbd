"""Drafts of test cases from documents: choice of chunks and generators."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from pytest_evalstudio.contrib.questions.api import available_pipeline, pipeline_language
from pytest_evalstudio.contrib.validation.methods.texts.language import NAMES
from pytest_evalstudio.contrib.validation.methods.topics.origins import (
    describe_languages,
    document_titles,
    foreign_documents,
)
from pytest_evalstudio.contrib.validation.methods.topics.results import Chunk, Topic
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ADVERSARIAL
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ID as TEST_GENERATION
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID as TOPIC_MODELING
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import read_topics
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.parameters import Count, Names
from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, Purpose

MAX_OF_A_KIND = 3
"""Maximum number of questions of one kind on one chunk."""

STEP_OF: Mapping[Purpose, str] = {"ordinary": TEST_GENERATION, "adversarial": ADVERSARIAL}
"""The step that uses the generators of a purpose."""


class Candidate(NamedTuple):
    """A draft with its generator and its chunk."""

    generator: str
    excerpt: Excerpt
    draft: Draft

    @property
    def plain(self) -> str:
        """Return the question without the attack around it."""
        return self.draft.plain or self.draft.question


class UnknownLanguage(DataError):
    """All documents are in languages that the rules cannot make questions in."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Parameters that users give to each step that generates test cases.

    Attributes:
        count: number of test cases; there are fewer if the documents give no more.
        generators: kinds of question; default: all that are available with the writer, or without one.
        topics_included: ids of topics; default: all.
        topics_excluded: ids of topics.
        chunks_included: ids of chunks; of a topic with one of them, these alone are used.
        chunks_excluded: ids of chunks that no question is made from.
        writer: a language model that writes the questions: the name of a `[[model]]`, or "judge" for that of
            `[judge]`; default: questions are extracted from the sentences of the documents without a model.
        pipeline: name of the spaCy pipeline that parses the sentences, "" for none; default:
            en_core_web_sm, if it is installed. Without one, tables, lists and patterns of quantities alone
            give questions.
    """

    count: Count = 30
    generators: Names = field(default_factory=list)
    topics_included: Names = field(default_factory=list)
    topics_excluded: Names = field(default_factory=list)
    chunks_included: Names = field(default_factory=list)
    chunks_excluded: Names = field(default_factory=list)
    writer: str = ""
    pipeline: str | None = None

    @property
    def selection(self) -> dict[str, Any]:
        """Return these parameters by name, for the settings of the generation."""
        return {each.name: getattr(self, each.name) for each in fields(Selection)}


@dataclass(frozen=True, kw_only=True)
class GenerationSettings(Selection):
    """Parameters of the steps that generate test cases.

    Attributes:
        also: ids that are used in addition.
        weights: topic id to factor of its share in proportion to its chunks; default: 1.
        min_relevance: minimum share of a question's content words that occur in its chunk; it does not apply
            to written questions, whose evidence is quoted from the chunk.
        max_similarity: maximum share of words that two questions have in common (Jaccard); of two more
            similar ones the first is kept.
    """

    purpose: Purpose
    also: Sequence[str] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    min_relevance: float = 0.5
    max_similarity: float = 0.8


class Material(NamedTuple):
    """Topics, chunks and generators that test cases are made from.

    Attributes:
        topics: the chosen ones by id.
        chunks: by id.
        excerpts: a random sample of each topic's chunks, topic by topic.
        generators: ids.
        foreign: language code by document, of documents that the rules cannot make questions from.
    """

    topics: Mapping[str, Topic]
    chunks: Mapping[str, Chunk]
    corpus: Corpus
    foreign: Mapping[str, str]
    excerpts: Sequence[Excerpt]
    generators: Sequence[str]


def read_material(context: StepContext, settings: GenerationSettings) -> Material:
    """Look up topics and generators, and sample the chunks.

    Raises:
        ConfigurationError: for an unknown topic or generator, a generator of another step, or if no topic is
            left.
    """
    file = read_topics(context.artifacts(TOPIC_MODELING))
    chunks = _chunks(file.chunks, settings)
    topics = _topics(file.topics, chunks, settings)
    pipeline = available_pipeline(settings.pipeline)
    language = pipeline_language(pipeline)
    foreign = {} if settings.writer else foreign_documents(file.chunks, language)
    titles = document_titles(file.chunks)
    corpus = Corpus(
        tuple(
            Excerpt(id=chunk.id, sentences=chunk.sentences, topic=chunk.topic, title=titles[chunk.document])
            for chunk in file.chunks
            if chunk.document not in foreign
        ),
        pipeline=pipeline,
    )
    if foreign and not corpus.excerpts:
        raise UnknownLanguage(
            f"{describe_languages(foreign)}: the rules make questions from {NAMES[language]} sentences only;"
            " name a `writer`, a language model that writes questions in the documents' language",
            source=str(context.folder),
        )
    return Material(
        topics=topics,
        chunks={chunk.id: chunk for chunk in file.chunks},
        corpus=corpus,
        foreign=foreign,
        excerpts=_excerpts(corpus, chunks, list(topics), settings.count, context.workflow.seed),
        generators=_generators(context, settings),
    )


def extracted(context: StepContext, material: Material) -> Iterator[Candidate]:
    """Yield the drafts of the generators; of attacks a few of each kind on each chunk."""
    generators = {id: context.registry.generators.get(id)() for id in material.generators}
    for number, excerpt in enumerate(material.excerpts, 1):
        for id in material.generators:
            rng = random.Random(f"{context.workflow.seed}/{id}/{excerpt.id}")
            drafts = list(generators[id].drafts(excerpt, material.corpus, rng))
            is_attack = context.registry.generators.spec(id).purpose == "adversarial"
            number_of_drafts = min(len(drafts), MAX_OF_A_KIND) if is_attack else len(drafts)
            for draft in rng.sample(drafts, number_of_drafts):
                yield Candidate(id, excerpt, draft)
        context.progress(number, len(material.excerpts), "chunks")


def _chunks(chunks: Sequence[Chunk], settings: GenerationSettings) -> set[str]:
    """Return the ids of the chunks that questions are made from.

    Raises:
        ConfigurationError: for an unknown chunk.
    """
    by_id = {chunk.id: chunk for chunk in chunks}
    for id in (*settings.chunks_included, *settings.chunks_excluded):
        if id not in by_id:
            raise unknown_name("chunk", id, by_id, "`topics.json` of the step topic_modeling has all.")
    limited = {by_id[id].topic for id in settings.chunks_included}
    return {
        id
        for id, chunk in by_id.items()
        if id not in settings.chunks_excluded
        and (chunk.topic not in limited or id in settings.chunks_included)
    }


def _topics(
    topics: Sequence[Topic], chunks: Collection[str], settings: GenerationSettings
) -> dict[str, Topic]:
    """Return the chosen topics that have a chunk left, with the numbers of these chunks."""
    ids = [topic.id for topic in topics]
    for id in (*settings.topics_included, *settings.topics_excluded, *settings.weights):
        if id not in ids:
            raise unknown_name("topic", id, ids, f"Topics: {', '.join(ids)}.")
    included = settings.topics_included or ids
    topic_shares = {
        topic.id: _limited(topic, chunks)
        for topic in topics
        if topic.id in included and topic.id not in settings.topics_excluded
    }
    topic_shares = {id: topic for id, topic in topic_shares.items() if topic.size}
    if not any(settings.weights.get(id, 1) > 0 for id in topic_shares):
        raise ConfigurationError(
            f"{STEP_OF[settings.purpose]}: no topic is left; include more topics or chunks, exclude fewer, or"
            " give one a weight above 0"
        )
    return topic_shares


def _limited(topic: Topic, chunks: Collection[str]) -> Topic:
    """Return a topic with the chunks that are left of it."""
    left = tuple(id for id in topic.chunks if id in chunks)
    return replace(topic, size=len(left), chunks=left) if topic.chunks else topic


def _generators(context: StepContext, settings: GenerationSettings) -> list[str]:
    plugins = context.registry.generators
    ids = [id for id in plugins if plugins.spec(id).purpose == settings.purpose]
    step = STEP_OF[settings.purpose]
    for id in (*settings.generators, *settings.also):
        if id in plugins and id not in ids:
            purpose = plugins.spec(id).purpose
            raise ConfigurationError(
                f"{step}: generator {id!r} makes {purpose} questions; name it in the step {STEP_OF[purpose]}"
            )
        if id not in ids:
            raise unknown_name("generator", id, ids, f"Generators: {', '.join(ids)}.")
        if not _is_available(context, id, settings.writer):
            raise ConfigurationError(f"{step}: {_not_available(id, settings.writer)}")
    id_list = settings.generators or [
        id for id in ids if plugins.spec(id).by_default and _is_available(context, id, settings.writer)
    ]
    return list(dict.fromkeys((*id_list, *settings.also)))


def _not_available(id: str, writer: str) -> str:
    if writer:
        return f"generator {id!r} has no instruction for a writer; leave `writer` out"
    return (
        f"generator {id!r} needs a language model that writes; give `writer`: the name of a [[model]], or"
        ' "judge" for that of [judge]'
    )


def _is_available(context: StepContext, id: str, writer: str) -> bool:
    spec = context.registry.generators.spec(id)
    return bool(spec.instruction) if writer else spec.drafts


def _excerpts(
    corpus: Corpus, chunks: Collection[str], topics: Sequence[str], count: int, seed: int
) -> list[Excerpt]:
    """Sample the chunks of each topic: three times as many in all as test cases, ten or more of a topic."""
    limit = max(10, 3 * count // len(topics))
    excerpts = []
    for id in topics:
        members = [each for each in corpus.excerpts if each.topic == id and each.id in chunks]
        excerpts += random.Random(f"{seed}/{id}").sample(members, min(len(members), limit))
    return excerpts
