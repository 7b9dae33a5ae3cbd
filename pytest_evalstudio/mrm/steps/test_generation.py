"""Step 2: questions and expected answers out of the documents."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.core.generators import Corpus, Draft, Excerpt
from pytest_evalstudio.core.steps import Done, step
from pytest_evalstudio.formats.files import read_source
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.mrm.checks import check_counts, check_fraction, check_fractions, check_names
from pytest_evalstudio.mrm.places import relative
from pytest_evalstudio.mrm.steps.topic_modeling import TOPICS
from pytest_evalstudio.mrm.strata import in_turns, shares
from pytest_evalstudio.mrm.words import content_words, jaccard, share_in
from pytest_evalstudio.mrm.work import Work

SUITE = "tests_suite.json"
MOST_OF_A_KIND = 3
"""Questions of one kind on one chunk."""
_FRAMES = frozenset(content_words("which number date period missing here right what how much long many say documents cost take does yes no A B C D"))
"""Words that generators add to a question on their own."""


class Candidate(NamedTuple):
    """A draft, who made it, and of what."""

    generator: str
    excerpt: Excerpt
    draft: Draft


@step("test_generation", name="Test generation", number=2, after=("topic_modeling",))
@dataclass(frozen=True)
class TestGeneration:
    """Questions with expected answers are made of the chunks, sampled over topics and kinds of question.

    Attributes:
        count: of test cases; there are fewer where the documents give no more.
        generators: kinds of question; all where not given.
        topics_included: ids of topics; all where not given.
        topics_excluded: ids of topics.
        weights: topic id to how many times its share in proportion to its chunks it gets; 1 where not given.
        min_relevance: share of a question's content words that must stand in its chunk.
        max_similarity: share of words that two questions may have in common (Jaccard); of two that are nearer the first is kept.
    """

    __test__ = False  # no class of tests

    count: int = 30
    generators: list[str] = field(default_factory=list)
    topics_included: list[str] = field(default_factory=list)
    topics_excluded: list[str] = field(default_factory=list)
    weights: Mapping[str, float] = field(default_factory=dict)
    min_relevance: float = 0.5
    max_similarity: float = 0.8

    def __post_init__(self) -> None:
        check_counts(self, {"count": 1})
        check_names(self, "generators", "topics_included", "topics_excluded")
        check_fractions(self, "min_relevance", "max_similarity")
        if not isinstance(self.weights, Mapping):
            raise ValueError(f"weights = {self.weights!r}: expected an object of topic ids and weights")
        for topic, weight in self.weights.items():
            check_fraction(f"weights.{topic}", weight, most=1e9)

    def run(self, work: Work) -> Done:
        found = read_source(work.artifacts("topic_modeling") / TOPICS).data
        topics = {topic["id"]: topic for topic in found["topics"]}
        wanted = self._topics(topics)
        corpus = Corpus(tuple(Excerpt(id=line["id"], sentences=tuple(line["sentences"]), topic=line["topic"]) for line in found["chunks"]))
        ids = self._generators(work)
        made = list(self._candidates(work, self._excerpts(corpus, wanted, work.workflow.seed), corpus, ids))
        relevant = [one for one in made if not one.draft.evidence or relevance(one) >= self.min_relevance]
        distinct = self._distinct(relevant, work.workflow.seed)
        chosen = self._sampled(distinct, [topics[id] for id in wanted], ids)
        if not chosen:
            raise DataError("no question can be made of these chunks; include more topics, generators or documents", source=str(work.folder / SUITE))
        suite = _suite(work, chosen, topics, {line["id"]: line for line in found["chunks"]})
        suite.save(work.folder / SUITE)
        by_topic = Counter(one.excerpt.topic for one in chosen)
        by_generator = Counter(one.generator for one in chosen)
        short = f" of {self.count}: these chunks give no more" if len(chosen) < self.count else ""
        return Done(
            summary=f"{len(chosen)} test cases{short}, {len(by_topic)} topics, {len(by_generator)} kinds of question",
            figures={
                "cases": len(chosen),
                "by_topic": {id: by_topic[id] for id in wanted},
                "by_generator": {id: by_generator[id] for id in ids},
                "drafts": len(made),
                "irrelevant": len(made) - len(relevant),
                "duplicates": len(relevant) - len(distinct),
            },
        )

    def _topics(self, topics: Mapping[str, Any]) -> list[str]:
        for id in (*self.topics_included, *self.topics_excluded, *self.weights):
            if id not in topics:
                raise unknown_name("topic", id, topics, f"Topics: {', '.join(topics)}.")
        wanted = [id for id in topics if (id in self.topics_included or not self.topics_included) and id not in self.topics_excluded]
        if not any(self.weights.get(id, 1) > 0 for id in wanted):
            raise ConfigurationError("test_generation: no topic is left; include more, exclude fewer, or give one a weight above 0")
        return wanted

    def _generators(self, work: Work) -> list[str]:
        known = list(work.registry.generators)
        for id in self.generators:
            if id not in known:
                raise unknown_name("generator", id, known, f"Generators: {', '.join(known)}.")
        return list(dict.fromkeys(self.generators)) or known

    def _excerpts(self, corpus: Corpus, wanted: list[str], seed: int) -> list[Excerpt]:
        """A random sample of each topic's chunks, three times as many in all as there are to be test cases, ten or more of each topic."""
        most = max(10, 3 * self.count // len(wanted))
        found = []
        for id in wanted:
            mine = [excerpt for excerpt in corpus.excerpts if excerpt.topic == id]
            found += random.Random(f"{seed}/{id}").sample(mine, min(len(mine), most))
        return found

    def _candidates(self, work: Work, excerpts: list[Excerpt], corpus: Corpus, ids: list[str]) -> Iterator[Candidate]:
        made = {id: work.registry.generators.get(id)() for id in ids}
        for number, excerpt in enumerate(excerpts, 1):
            for id in ids:
                rng = random.Random(f"{work.workflow.seed}/{id}/{excerpt.id}")
                drafts = list(made[id].drafts(excerpt, corpus, rng))
                yield from (Candidate(id, excerpt, draft) for draft in rng.sample(drafts, min(len(drafts), MOST_OF_A_KIND)))
            work.progress(number, len(excerpts), "chunks")

    def _distinct(self, candidates: list[Candidate], seed: int) -> list[Candidate]:
        """In random order, without those that are too near an earlier one."""
        order = list(candidates)
        random.Random(seed).shuffle(order)
        kept: list[tuple[Candidate, frozenset[str]]] = []
        for one in order:
            words = frozenset(content_words(one.draft.question))
            if all(jaccard(words, other) <= self.max_similarity for _, other in kept):
                kept.append((one, words))
        return [one for one, _ in kept]

    def _sampled(self, candidates: list[Candidate], topics: list[Mapping[str, Any]], ids: list[str]) -> list[Candidate]:
        mine = {topic["id"]: [one for one in candidates if one.excerpt.topic == topic["id"]] for topic in topics}
        weights = {topic["id"]: topic["size"] * float(self.weights.get(topic["id"], 1)) for topic in topics}
        quota = shares(self.count, weights, {id: len(found) for id, found in mine.items()})
        return [
            one
            for number, (id, found) in enumerate(mine.items())
            for one in in_turns([_spread([one for one in found if one.generator == kind]) for kind in _rotated(ids, number)], quota[id])
        ]


def relevance(one: Candidate) -> float:
    """Share of the content words of a question, without the generator's own, that stand in its chunk."""
    asked = [word for word in content_words(one.draft.question.replace("____", " ")) if word not in _FRAMES]
    return share_in(asked, content_words(" ".join(one.excerpt.sentences)))


def _spread(found: list[Candidate]) -> list[Candidate]:
    """Each chunk's first, then each chunk's second, so that few cases are of many chunks."""
    chunks: dict[str, list[Candidate]] = {}
    for one in found:
        chunks.setdefault(one.excerpt.id, []).append(one)
    return in_turns(list(chunks.values()), len(found))


def _rotated(ids: list[str], by: int) -> list[str]:
    """The same, begun elsewhere: so that small topics do not all get the first kinds of question."""
    start = by % len(ids)
    return ids[start:] + ids[:start]


def _suite(work: Work, chosen: list[Candidate], topics: Mapping[str, Any], lines: Mapping[str, Any]) -> TestSuite:
    suite = TestSuite(name=f"{work.workflow.name or 'Workflow'}: generated tests", description="Made of the documents by the step test_generation.")
    test = suite.add_test([relative(document, work.folder) for document in work.documents], key="documents")
    numbers: Counter[str] = Counter()
    for one in chosen:
        line, topic = lines[one.excerpt.id], topics[one.excerpt.topic]
        stem = f"{one.generator}_{one.excerpt.id}"
        numbers[stem] += 1
        test.add_case(
            one.draft.question,
            key=stem if numbers[stem] == 1 else f"{stem}_{numbers[stem]}",
            categories=[f"topic:{topic_name(topic)}", f"generator:{one.generator}"],
            expected_output=one.draft.answer,
            condition=one.draft.condition,
            evidence=one.draft.evidence,
            source_chunk=line["id"],
            source_text=line["text"],
            source_document=line["document"],
        )
    return suite


def topic_name(topic: Mapping[str, Any]) -> str:
    """A topic's id and first key words, as they stand in categories.

    >>> topic_name({"id": "2", "words": ["card", "PIN code", "loss", "theft"]})
    '2_card_PIN_code_loss'
    """
    return "_".join([topic["id"], *(re.sub(r"\W+", "_", word) for word in topic["words"][:3])])
