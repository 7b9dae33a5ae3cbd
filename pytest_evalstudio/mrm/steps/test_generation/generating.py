"""Test cases from documents: choice of chunks, generators and drafts, and the suite of them."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, Purpose
from pytest_evalstudio.engine.scoring.masking import masked
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.mrm.steps.test_generation.distinct import DistinctSets
from pytest_evalstudio.mrm.steps.test_generation.origins import (
    describe_languages,
    document_titles,
    foreign_documents,
)
from pytest_evalstudio.mrm.steps.test_generation.results import ADVERSARIAL, GenerationResults
from pytest_evalstudio.mrm.steps.test_generation.results import ID as TEST_GENERATION
from pytest_evalstudio.mrm.steps.topic_modeling.results import ID as TOPIC_MODELING
from pytest_evalstudio.mrm.steps.topic_modeling.results import Chunk, Topic, read_topics
from pytest_evalstudio.mrm.texts.answers import ANSWERED, NAME, NEEDS_CONTEXT, rivals, without_choices
from pytest_evalstudio.mrm.texts.references import References
from pytest_evalstudio.mrm.texts.retrieval import SentenceIndex, asked_words, stems
from pytest_evalstudio.mrm.texts.words import content_words, share_in
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.documents import relative
from pytest_evalstudio.stats.strata import allocate, interleave

MAX_OF_A_KIND = 3
"""Maximum number of questions of one kind on one chunk."""
STEP_OF: Mapping[Purpose, str] = {"ordinary": TEST_GENERATION, "adversarial": ADVERSARIAL}
"""The step that uses the generators of a purpose."""
PLAIN_QUESTION, PLAIN_KIND, PLANTED_WORD, WRITTEN_BY = (
    "plain_question",
    "plain_kind",
    "planted_word",
    "written_by",
)
"""Further keys of adversarial test cases, and of written ones."""


GENERATED_DIGEST = "generated_digest"
"""Key of generated test cases with the digest of their content."""


class Candidate(NamedTuple):
    """A draft with its generator and its chunk."""

    generator: str
    excerpt: Excerpt
    draft: Draft

    @property
    def plain(self) -> str:
        """Return the question without the attack around it."""
        return self.draft.plain or self.draft.question


class NoQuestions(DataError):
    """No question can be made from the documents with these generators."""


class UnknownLanguage(DataError):
    """All documents are in languages that the rules cannot make questions in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationSettings:
    """Parameters of the steps that generate test cases.

    Attributes:
        count: number of test cases.
        generators: ids; default: those of the purpose that are used by default and available with the writer,
            or without one.
        also: ids that are used in addition.
        writer: name of the judge that writes, "" for none.
        weights: topic id to factor of its share in proportion to its chunks; default: 1.
        min_relevance: minimum share of a question's content words that occur in its chunk; it does not apply
            to written questions, whose evidence is quoted from the chunk.
        max_similarity: maximum share of words that two questions have in common (Jaccard); of two more
            similar ones the first is kept.
    """

    purpose: Purpose
    count: int
    generators: Sequence[str] = ()
    also: Sequence[str] = ()
    topics_included: Sequence[str] = ()
    topics_excluded: Sequence[str] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    min_relevance: float = 0.5
    max_similarity: float = 0.8
    writer: str = ""


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


class Choice(NamedTuple):
    """The chosen candidates, and counts of the others."""

    candidates: Sequence[Candidate]
    results: GenerationResults


def read_material(context: StepContext, settings: GenerationSettings) -> Material:
    """Look up topics and generators, and sample the chunks.

    Raises:
        ConfigurationError: for an unknown topic or generator, a generator of another step, or if no topic is
            left.
    """
    file = read_topics(context.artifacts(TOPIC_MODELING))
    topics = _topics({topic.id: topic for topic in file.topics}, settings)
    foreign = {} if settings.writer else foreign_documents(file.chunks)
    titles = document_titles(file.chunks)
    corpus = Corpus(
        tuple(
            Excerpt(id=chunk.id, sentences=chunk.sentences, topic=chunk.topic, title=titles[chunk.document])
            for chunk in file.chunks
            if chunk.document not in foreign
        )
    )
    if foreign and not corpus.excerpts:
        raise UnknownLanguage(
            f"{describe_languages(foreign)}: the rules make questions from English sentences only; name a"
            " `writer`, a language model that writes questions in the documents' language",
            source=str(context.folder),
        )
    return Material(
        topics=topics,
        chunks={chunk.id: chunk for chunk in file.chunks},
        corpus=corpus,
        foreign=foreign,
        excerpts=_excerpts(corpus, list(topics), settings.count, context.workflow.seed),
        generators=_generators(context, settings),
    )


def extracted(context: StepContext, material: Material) -> Iterator[Candidate]:
    """Yield the drafts of the generators, a few of each kind on each chunk."""
    generators = {id: context.registry.generators.get(id)() for id in material.generators}
    for number, excerpt in enumerate(material.excerpts, 1):
        for id in material.generators:
            rng = random.Random(f"{context.workflow.seed}/{id}/{excerpt.id}")
            drafts = list(generators[id].drafts(excerpt, material.corpus, rng))
            for draft in rng.sample(drafts, min(len(drafts), MAX_OF_A_KIND)):
                yield Candidate(id, excerpt, draft)
        context.progress(number, len(material.excerpts), "chunks")


def choose(
    context: StepContext,
    settings: GenerationSettings,
    material: Material,
    candidates: Iterable[Candidate],
) -> Choice:
    """Choose test cases in proportion to the topics, with generators and chunks in turns.

    Raises:
        NoQuestions: if there is none.
    """
    drafts = list(candidates)
    safe = [candidate for candidate in drafts if not _holds_personal_data(candidate.draft)]
    relevant = [
        candidate
        for candidate in safe
        if settings.writer or not candidate.draft.evidence or relevance(candidate) >= settings.min_relevance
    ]
    clear = relevant
    if not settings.writer and settings.purpose == "ordinary":
        index = SentenceIndex(material.corpus.sentences)
        references = _references(material.corpus)
        clear = [
            candidate
            for candidate in relevant
            if _is_unambiguous(candidate.draft, index)
            and not references[candidate.excerpt.title].unclear(candidate.draft.question)
        ]
    distinct = _distinct(clear, settings, context.workflow.seed)
    chosen = _sampled(distinct, settings, material)
    if not settings.writer and settings.purpose == "ordinary":
        chosen = [in_context(candidate, material.corpus) for candidate in chosen]
    if not chosen:
        raise NoQuestions(
            "no question can be made of these chunks; include more topics, generators or documents, or name a"
            " `writer` if they are not in English",
            source=str(context.folder),
        )
    by_topic = Counter(candidate.excerpt.topic for candidate in chosen)
    by_generator = Counter(candidate.generator for candidate in chosen)
    return Choice(
        chosen,
        GenerationResults(
            cases=len(chosen),
            by_topic={id: by_topic[id] for id in material.topics},
            by_generator={id: by_generator[id] for id in material.generators},
            drafts=len(drafts),
            irrelevant=len(safe) - len(relevant),
            ambiguous=len(relevant) - len(clear),
            duplicates=len(clear) - len(distinct),
            other_languages=dict(material.foreign),
        ),
    )


def _is_unambiguous(draft: Draft, index: SentenceIndex) -> bool:
    """Report whether the documents answer a draft's question once, or not at all if it has no evidence."""
    shares = index.shares(draft.question)
    if not draft.evidence:
        return bool(shares.max(initial=0.0) < ANSWERED)
    return not rivals(draft.question, draft.answer, draft.evidence, index)


def _references(corpus: Corpus) -> dict[str, References]:
    """Return what each document introduces, by its title; documents without a title count as one."""
    sentences: dict[str, list[str]] = {}
    for excerpt in corpus.excerpts:
        sentences.setdefault(excerpt.title, []).extend(excerpt.sentences)
    return {title: References(texts) for title, texts in sentences.items()}


def in_context(candidate: Candidate, corpus: Corpus) -> Candidate:
    """Name the document in a question about "the limit" or the past, if there are several documents."""
    title, question = candidate.excerpt.title, candidate.draft.question
    titles = {excerpt.title for excerpt in corpus.excerpts}
    plain = without_choices(question)
    if not title or len(titles) < 2 or NAME.search(plain) or not NEEDS_CONTEXT.search(plain):
        return candidate
    asked = f"According to “{title}”, {question[0].lower()}{question[1:]}"
    return candidate._replace(draft=replace(candidate.draft, question=asked))


def _holds_personal_data(draft: Draft) -> bool:
    """Report whether a draft has personal data or secrets; masked questions would have no right answer."""
    texts = (draft.question, draft.answer, draft.condition, draft.evidence, draft.plain)
    return any(masked(text) != text for text in texts)


def suite_of(
    context: StepContext,
    name: str,
    candidates: Sequence[Candidate],
    material: Material,
    *,
    writer: str = "",
) -> TestSuite:
    """Return the suite of chosen candidates for the step's folder; written cases name their writer."""
    suite = TestSuite(
        name=f"{context.workflow.name or 'Workflow'}: {name}",
        description=f"Made of the documents by the step {context.folder.name.lstrip('0123456789_')}.",
    )
    test = suite.add_test(
        [relative(document, context.folder) for document in context.documents], key="documents"
    )
    numbers: Counter[str] = Counter()
    for candidate in candidates:
        draft, excerpt = candidate.draft, candidate.excerpt
        parts = [material.chunks[id] for id in excerpt.id.split("+")]
        stem = f"{candidate.generator}_{excerpt.id}"
        numbers[stem] += 1
        extra = {
            PLAIN_QUESTION: draft.plain,
            PLAIN_KIND: draft.kind,
            PLANTED_WORD: draft.planted,
            WRITTEN_BY: writer,
        }
        test.add_case(
            draft.question,
            key=stem if numbers[stem] == 1 else f"{stem}_{numbers[stem]}",
            categories=[
                f"topic:{topic_name(material.topics[excerpt.topic])}",
                f"generator:{candidate.generator}",
            ],
            expected_output=draft.answer,
            condition=draft.condition,
            evidence=draft.evidence,
            source_chunk=excerpt.id,
            source_text="\n\n".join(part.text for part in parts),
            source_document=parts[0].document,
            **{key: text for key, text in extra.items() if text},
            **{
                GENERATED_DIGEST: content_digest(
                    draft.question, draft.answer, draft.condition, draft.evidence
                )
            },
        )
    return suite


def content_digest(question: str, answer: str, condition: str, evidence: str) -> str:
    """Return the digest of what makes a test case, by which an edited one is recognised."""
    return hashlib.sha256("\x00".join((question, answer, condition, evidence)).encode()).hexdigest()[:16]


def relevance(candidate: Candidate) -> float:
    """Return the share of the content words of a question, without the generator's, that its chunk has."""
    return share_in(asked_words(candidate.plain), stems(" ".join(candidate.excerpt.sentences)))


def topic_name(topic: Topic) -> str:
    """Return a topic's id and first key words, for categories.

    >>> topic_name(Topic(id="2", words=("card", "PIN code", "loss", "theft"), size=1, chunks=("c1",)))
    '2_card_PIN_code_loss'
    """
    return "_".join([topic.id, *(re.sub(r"\W+", "_", word) for word in topic.words[:3])])


def _topics(topics: Mapping[str, Topic], settings: GenerationSettings) -> dict[str, Topic]:
    for id in (*settings.topics_included, *settings.topics_excluded, *settings.weights):
        if id not in topics:
            raise unknown_name("topic", id, topics, f"Topics: {', '.join(topics)}.")
    included = settings.topics_included or topics
    chosen = {
        id: topic for id, topic in topics.items() if id in included and id not in settings.topics_excluded
    }
    if not any(settings.weights.get(id, 1) > 0 for id in chosen):
        raise ConfigurationError(
            f"{STEP_OF[settings.purpose]}: no topic is left; include more, exclude fewer, or give one a"
            " weight above 0"
        )
    return chosen


def _generators(context: StepContext, settings: GenerationSettings) -> list[str]:
    plugins = context.registry.generators
    known = [id for id in plugins if plugins.spec(id).purpose == settings.purpose]
    step = STEP_OF[settings.purpose]
    for id in (*settings.generators, *settings.also):
        if id in plugins and id not in known:
            purpose = plugins.spec(id).purpose
            raise ConfigurationError(
                f"{step}: generator {id!r} makes {purpose} questions; name it in the step {STEP_OF[purpose]}"
            )
        if id not in known:
            raise unknown_name("generator", id, known, f"Generators: {', '.join(known)}.")
        if not _is_available(context, id, settings.writer):
            raise ConfigurationError(f"{step}: {_not_available(id, settings.writer)}")
    chosen = settings.generators or [
        id for id in known if plugins.spec(id).by_default and _is_available(context, id, settings.writer)
    ]
    return list(dict.fromkeys((*chosen, *settings.also)))


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


def _excerpts(corpus: Corpus, topics: Sequence[str], count: int, seed: int) -> list[Excerpt]:
    """Sample the chunks of each topic: three times as many in all as test cases, ten or more of a topic."""
    limit = max(10, 3 * count // len(topics))
    excerpts = []
    for id in topics:
        members = [excerpt for excerpt in corpus.excerpts if excerpt.topic == id]
        excerpts += random.Random(f"{seed}/{id}").sample(members, min(len(members), limit))
    return excerpts


def _distinct(candidates: Sequence[Candidate], settings: GenerationSettings, seed: int) -> list[Candidate]:
    """Shuffle the candidates and leave out those that are too similar to an earlier one.

    The same question may be attacked in several ways.
    """
    shuffled = list(candidates)
    random.Random(seed).shuffle(shuffled)
    words = [frozenset(content_words(without_choices(candidate.plain))) for candidate in shuffled]
    groups: dict[str, DistinctSets] = {}
    kept = []
    for candidate, question in zip(shuffled, words, strict=True):
        group = candidate.generator if settings.purpose == "adversarial" else ""
        if group not in groups:
            groups[group] = DistinctSets(settings.max_similarity, words)
        if groups[group].keep(question):
            kept.append(candidate)
    return kept


def _sampled(
    candidates: Sequence[Candidate], settings: GenerationSettings, material: Material
) -> list[Candidate]:
    by_topic = {
        id: [candidate for candidate in candidates if candidate.excerpt.topic == id] for id in material.topics
    }
    weights = {id: topic.size * float(settings.weights.get(id, 1)) for id, topic in material.topics.items()}
    quota = allocate(settings.count, weights, {id: len(members) for id, members in by_topic.items()})
    chosen = []
    for number, (id, members) in enumerate(by_topic.items()):
        groups = [
            _spread([candidate for candidate in members if candidate.generator == generator])
            for generator in _rotated(material.generators, number)
        ]
        chosen += interleave(groups, quota[id])
    return chosen


def _spread(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Put each chunk's first candidate first, then each chunk's second, so that few cases use many chunks."""
    chunks: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        chunks.setdefault(candidate.excerpt.id, []).append(candidate)
    return interleave(list(chunks.values()), len(candidates))


def _rotated(ids: Sequence[str], by: int) -> Sequence[str]:
    """Start the list elsewhere, so that small topics do not all get the first kinds of question."""
    start = by % len(ids)
    return [*ids[start:], *ids[:start]]
