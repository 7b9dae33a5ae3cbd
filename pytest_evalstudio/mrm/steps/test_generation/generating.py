"""Test cases out of documents: which chunks and generators are taken, which drafts are kept, and the suite
that they make.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, Purpose
from pytest_evalstudio.formats.files import read_source
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.mrm.steps.test_generation.distinct import DistinctSets
from pytest_evalstudio.mrm.steps.test_generation.results import ADVERSARIAL
from pytest_evalstudio.mrm.steps.test_generation.results import ID as TEST_GENERATION
from pytest_evalstudio.mrm.steps.topic_modeling.results import ID as TOPIC_MODELING
from pytest_evalstudio.mrm.steps.topic_modeling.results import TOPICS
from pytest_evalstudio.mrm.texts.words import content_words, share_in
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.documents import relative
from pytest_evalstudio.stats.strata import allocate, interleave

MOST_OF_A_KIND = 3
"""Questions of one kind on one chunk."""
STEP_OF: Mapping[Purpose, str] = {"ordinary": TEST_GENERATION, "adversarial": ADVERSARIAL}
"""The step that uses the generators of a purpose."""
PLAIN_QUESTION, PLAIN_KIND, PLANTED_WORD, WRITTEN_BY = (
    "plain_question",
    "plain_kind",
    "planted_word",
    "written_by",
)
"""Further keys of adversarial test cases, and of written ones."""
_FRAMES = frozenset(
    content_words(
        "which number date period missing here right what how much long many say documents cost take does yes"
        " no A B C D"
    )
)
"""Words that generators add to a question on their own."""


class Candidate(NamedTuple):
    """A draft, who made it, and of what."""

    generator: str
    excerpt: Excerpt
    draft: Draft

    @property
    def plain(self) -> str:
        """Return the question without the attack around it."""
        return self.draft.plain or self.draft.question


class NoQuestions(DataError):
    """Nothing comes of the documents with these generators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which test cases are wanted; the parameters of the steps that generate.

    Attributes:
        generators: ids; all of the purpose where not given that can be had with the writer, or without one.
        writer: name of the judge that writes, "" for none.
        weights: topic id to how many times its share in proportion to its chunks it gets; 1 where not given.
        min_relevance: share of a question's content words that must stand in its chunk; not of written ones,
            which are quoted from it.
        max_similarity: share of words that two questions may have in common (Jaccard); of two that are nearer
            the first is kept.
    """

    purpose: Purpose
    count: int
    generators: Sequence[str] = ()
    topics_included: Sequence[str] = ()
    topics_excluded: Sequence[str] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    min_relevance: float = 0.5
    max_similarity: float = 0.8
    writer: str = ""


class Ground(NamedTuple):
    """Topics, chunks and generators that cases are made from.

    Attributes:
        topics: by id, as the step topic_modeling has them; the wanted ones.
        lines: chunks by id.
        excerpts: a random sample of each topic's chunks, topic by topic.
        ids: of the generators.
    """

    topics: Mapping[str, Any]
    lines: Mapping[str, Any]
    corpus: Corpus
    excerpts: Sequence[Excerpt]
    ids: Sequence[str]


class Made(NamedTuple):
    """The candidates that were chosen, and the counts of those that were not."""

    chosen: Sequence[Candidate]
    figures: Mapping[str, Any]


def ground(context: StepContext, wanted: Wanted) -> Ground:
    """Look up topics and generators, and sample the chunks.

    Raises:
        ConfigurationError: for a topic or generator that nobody knows, a generator of another step, or where
            no topic is left.
    """
    found = read_source(context.artifacts(TOPIC_MODELING) / TOPICS).data
    topics = _topics({topic["id"]: topic for topic in found["topics"]}, wanted)
    corpus = Corpus(
        tuple(
            Excerpt(id=line["id"], sentences=tuple(line["sentences"]), topic=line["topic"])
            for line in found["chunks"]
        )
    )
    excerpts = _excerpts(corpus, list(topics), wanted.count, context.workflow.seed)
    return Ground(
        topics, {line["id"]: line for line in found["chunks"]}, corpus, excerpts, _generators(context, wanted)
    )


def extracted(context: StepContext, on: Ground) -> Iterator[Candidate]:
    """The drafts of the generators, a few of each kind on each chunk."""
    made = {id: context.registry.generators.get(id)() for id in on.ids}
    for number, excerpt in enumerate(on.excerpts, 1):
        for id in on.ids:
            rng = random.Random(f"{context.workflow.seed}/{id}/{excerpt.id}")
            drafts = list(made[id].drafts(excerpt, on.corpus, rng))
            yield from (
                Candidate(id, excerpt, draft)
                for draft in rng.sample(drafts, min(len(drafts), MOST_OF_A_KIND))
            )
        context.progress(number, len(on.excerpts), "chunks")


def choose(context: StepContext, wanted: Wanted, on: Ground, candidates: Iterable[Candidate]) -> Made:
    """So many of the candidates, in proportion to the topics, in turns of generators and chunks.

    Raises:
        DataError: if there is none.
    """
    made = list(candidates)
    relevant = [
        one
        for one in made
        if wanted.writer or not one.draft.evidence or relevance(one) >= wanted.min_relevance
    ]
    distinct = _distinct(relevant, wanted, context.workflow.seed)
    chosen = _sampled(distinct, wanted, on)
    if not chosen:
        raise NoQuestions(
            "no question can be made of these chunks; include more topics, generators or documents, or name a"
            " `writer` where they are not English",
            source=str(context.folder),
        )
    by_topic = Counter(one.excerpt.topic for one in chosen)
    by_generator = Counter(one.generator for one in chosen)
    return Made(
        chosen,
        {
            "cases": len(chosen),
            "by_topic": {id: by_topic[id] for id in on.topics},
            "by_generator": {id: by_generator[id] for id in on.ids},
            "drafts": len(made),
            "irrelevant": len(made) - len(relevant),
            "duplicates": len(relevant) - len(distinct),
        },
    )


def suite_of(
    context: StepContext, name: str, chosen: Sequence[Candidate], on: Ground, *, writer: str = ""
) -> TestSuite:
    """The suite of chosen candidates, to be saved in the step's folder; written cases say by whom they
    are.
    """
    title = f"{context.workflow.name or 'Workflow'}: {name}"
    suite = TestSuite(
        name=title,
        description=f"Made of the documents by the step {context.folder.name.lstrip('0123456789_')}.",
    )
    test = suite.add_test(
        [relative(document, context.folder) for document in context.documents], key="documents"
    )
    numbers: Counter[str] = Counter()
    for one in chosen:
        parts = [on.lines[id] for id in one.excerpt.id.split("+")]
        stem = f"{one.generator}_{one.excerpt.id}"
        numbers[stem] += 1
        test.add_case(
            one.draft.question,
            key=stem if numbers[stem] == 1 else f"{stem}_{numbers[stem]}",
            categories=[f"topic:{topic_name(on.topics[one.excerpt.topic])}", f"generator:{one.generator}"],
            expected_output=one.draft.answer,
            condition=one.draft.condition,
            evidence=one.draft.evidence,
            source_chunk=one.excerpt.id,
            source_text="\n\n".join(part["text"] for part in parts),
            source_document=parts[0]["document"],
            **{name: text for name, text in {**_of_attack(one.draft), WRITTEN_BY: writer}.items() if text},
        )
    return suite


def _of_attack(draft: Draft) -> dict[str, str]:
    return {PLAIN_QUESTION: draft.plain, PLAIN_KIND: draft.kind, PLANTED_WORD: draft.planted}


def relevance(one: Candidate) -> float:
    """Share of the content words of a question, without the generator's own, that stand in its chunk."""
    asked = [word for word in content_words(one.plain.replace("____", " ")) if word not in _FRAMES]
    return share_in(asked, content_words(" ".join(one.excerpt.sentences)))


def topic_name(topic: Mapping[str, Any]) -> str:
    """A topic's id and first key words, as they stand in categories.

    >>> topic_name({"id": "2", "words": ["card", "PIN code", "loss", "theft"]})
    '2_card_PIN_code_loss'
    """
    return "_".join([topic["id"], *(re.sub(r"\W+", "_", word) for word in topic["words"][:3])])


def _topics(topics: Mapping[str, Any], wanted: Wanted) -> dict[str, Any]:
    for id in (*wanted.topics_included, *wanted.topics_excluded, *wanted.weights):
        if id not in topics:
            raise unknown_name("topic", id, topics, f"Topics: {', '.join(topics)}.")
    included = wanted.topics_included or topics
    left = {id: topic for id, topic in topics.items() if id in included and id not in wanted.topics_excluded}
    if not any(wanted.weights.get(id, 1) > 0 for id in left):
        raise ConfigurationError(
            f"{STEP_OF[wanted.purpose]}: no topic is left; include more, exclude fewer, or give one a weight"
            " above 0"
        )
    return left


def _generators(context: StepContext, wanted: Wanted) -> list[str]:
    plugins = context.registry.generators
    known = [id for id in plugins if plugins.spec(id).purpose == wanted.purpose]
    step = STEP_OF[wanted.purpose]
    for id in wanted.generators:
        if id in plugins and id not in known:
            purpose = plugins.spec(id).purpose
            raise ConfigurationError(
                f"{step}: generator {id!r} makes {purpose} questions; name it in the step {STEP_OF[purpose]}"
            )
        if id not in known:
            raise unknown_name("generator", id, known, f"Generators: {', '.join(known)}.")
        if not _can_be_had(context, id, wanted.writer):
            raise ConfigurationError(f"{step}: {_cannot_be_had(id, wanted.writer)}")
    return list(dict.fromkeys(wanted.generators)) or [
        id for id in known if _can_be_had(context, id, wanted.writer)
    ]


def _cannot_be_had(id: str, writer: str) -> str:
    if writer:
        return f"generator {id!r} has no instruction for a writer; leave `writer` out"
    return (
        f"generator {id!r} needs a language model that writes; give `writer`: the name of a [[model]], or"
        ' "judge" for that of [judge]'
    )


def _can_be_had(context: StepContext, id: str, writer: str) -> bool:
    spec = context.registry.generators.spec(id)
    return bool(spec.instruction) if writer else spec.drafts


def _excerpts(corpus: Corpus, topics: Sequence[str], count: int, seed: int) -> list[Excerpt]:
    """A random sample of each topic's chunks, three times as many in all as there are to be test cases, ten
    or more of each topic.
    """
    most = max(10, 3 * count // len(topics))
    found = []
    for id in topics:
        mine = [excerpt for excerpt in corpus.excerpts if excerpt.topic == id]
        found += random.Random(f"{seed}/{id}").sample(mine, min(len(mine), most))
    return found


def _distinct(candidates: Sequence[Candidate], wanted: Wanted, seed: int) -> list[Candidate]:
    """In random order, without those that are too near an earlier one; the same question may be attacked in
    several ways.
    """
    order = list(candidates)
    random.Random(seed).shuffle(order)
    words = [frozenset(content_words(one.plain)) for one in order]
    kept: dict[str, DistinctSets] = {}
    found = []
    for one, mine in zip(order, words, strict=True):
        group = one.generator if wanted.purpose == "adversarial" else ""
        if group not in kept:
            kept[group] = DistinctSets(wanted.max_similarity, words)
        if kept[group].keep(mine):
            found.append(one)
    return found


def _sampled(candidates: Sequence[Candidate], wanted: Wanted, on: Ground) -> list[Candidate]:
    mine = {id: [one for one in candidates if one.excerpt.topic == id] for id in on.topics}
    weights = {id: topic["size"] * float(wanted.weights.get(id, 1)) for id, topic in on.topics.items()}
    quota = allocate(wanted.count, weights, {id: len(found) for id, found in mine.items()})
    return [
        one
        for number, (id, found) in enumerate(mine.items())
        for one in interleave(
            [_spread([one for one in found if one.generator == kind]) for kind in _rotated(on.ids, number)],
            quota[id],
        )
    ]


def _spread(found: Sequence[Candidate]) -> list[Candidate]:
    """Each chunk's first, then each chunk's second, so that few cases are of many chunks."""
    chunks: dict[str, list[Candidate]] = {}
    for one in found:
        chunks.setdefault(one.excerpt.id, []).append(one)
    return interleave(list(chunks.values()), len(found))


def _rotated(ids: Sequence[str], by: int) -> Sequence[str]:
    """The same, begun elsewhere: so that small topics do not all get the first kinds of question."""
    start = by % len(ids)
    return [*ids[start:], *ids[:start]]
