"""Choice of test cases from drafts: relevant, unambiguous, distinct, and in proportion to the topics."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.api import (
    DraftSelection,
    bare_question,
    content_words,
    missing_pipeline,
    named_row,
    relevance,
)
from pytest_evalstudio.contrib.validation.methods.texts.distinct import DistinctSets
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import (
    MAX_OF_A_KIND,
    Candidate,
    GenerationSettings,
    Material,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.results import GenerationResults
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.generator import Corpus, Draft
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.stats.strata import allocate, interleave

MAX_NAMED = 3
"""Documents that a message names."""
MAX_OF_A_TABLE = 8
"""Candidates of each kind on the tables of a chunk."""
TEXT_PER_CELL = 3
"""Questions on the text of a document for each further one on a row of its tables."""


class NoQuestions(DataError):
    """No question can be made from the documents with these generators."""


class Choice(NamedTuple):
    """The chosen candidates, and counts of the others."""

    candidates: Sequence[Candidate]
    results: GenerationResults


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
    safe = [candidate for candidate in drafts if not holds_personal_data(candidate.draft)]
    relevant = [
        candidate
        for candidate in safe
        if settings.writer
        or not candidate.draft.evidence
        or relevance(candidate.draft, candidate.excerpt) >= settings.min_relevance
    ]
    clear = relevant
    # Attacks need not be natural, and written questions are checked with their evidence.
    if not settings.writer and settings.purpose == "ordinary":
        clear = clear_candidates(relevant, material.corpus)
    distinct = _distinct(clear, settings, context.workflow.seed)
    few = _few_of_a_kind(distinct)
    if not settings.writer:
        few = _few_cells(few)
    selected = _sampled(few, settings, material)
    if not selected:
        documents = [Path(document).name for document in context.workflow.documents]
        more = f" and {len(documents) - MAX_NAMED} more" if len(documents) > MAX_NAMED else ""
        missing = missing_pipeline(settings.pipeline) if not settings.writer else ""
        raise NoQuestions(
            "the rules found no reliable question in its sentences; include more topics, generators"
            f" or documents, or name a language model as `writer`{missing and f'; {missing}'}",
            source=", ".join(documents[:MAX_NAMED]) + more,
        )
    by_topic = Counter(candidate.excerpt.topic for candidate in selected)
    by_generator = Counter(candidate.generator for candidate in selected)
    return Choice(
        selected,
        GenerationResults(
            cases=len(selected),
            by_topic={id: by_topic[id] for id in material.topics},
            by_generator={id: by_generator[id] for id in material.generators},
            drafts=len(drafts),
            irrelevant=len(safe) - len(relevant),
            ambiguous=len(relevant) - len(clear),
            duplicates=len(clear) - len(distinct),
            other_languages=dict(material.foreign),
        ),
    )


def clear_candidates(candidates: Iterable[Candidate], corpus: Corpus) -> list[Candidate]:
    """Return the candidates with a clear and natural question; a report's "we" becomes its organisation."""
    selection = DraftSelection(corpus)
    return [
        candidate._replace(draft=draft)
        for candidate in candidates
        if (draft := selection.clear_draft(candidate.draft, candidate.excerpt)) is not None
    ]


def holds_personal_data(draft: Draft) -> bool:
    """Report whether a draft has personal data or secrets; masked questions would have no right answer."""
    texts = (draft.question, draft.answer, draft.condition, draft.evidence, draft.plain)
    return any(masked(text) != text for text in texts)


def _distinct(candidates: Sequence[Candidate], settings: GenerationSettings, seed: int) -> list[Candidate]:
    """Shuffle the candidates and leave out those that are too similar to an earlier one.

    The same question may be attacked in several ways.
    """
    shuffled = list(candidates)
    random.Random(seed).shuffle(shuffled)
    words = [_telling_words(candidate) for candidate in shuffled]
    groups: dict[str, DistinctSets] = {}
    distinct = []
    for candidate, question in zip(shuffled, words, strict=True):
        group = candidate.generator if settings.purpose == "adversarial" else ""
        if group not in groups:
            groups[group] = DistinctSets(settings.max_similarity, words)
        if groups[group].keep(question):
            distinct.append(candidate)
    return distinct


def _telling_words(candidate: Candidate) -> frozenset[str]:
    """Return the words by which a question differs from others: of a cell, the whole question."""
    # Without titles and headings, which make different questions alike.
    question = bare_question(candidate.plain)
    is_of_cell = candidate.draft.evidence.startswith("|")
    return frozenset([question] if is_of_cell else content_words(question))


def _few_of_a_kind(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the first candidates of each kind on each chunk."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    few = []
    for candidate in candidates:
        is_table = candidate.draft.evidence.startswith("|")
        group = (candidate.generator, candidate.excerpt.id, is_table)
        counts[group] += 1
        # Rows of a table are cases of their own.
        if counts[group] <= (MAX_OF_A_TABLE if is_table else MAX_OF_A_KIND):
            few.append(candidate)
    return few


def _few_cells(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with one on each row of a table, and more up to a quarter of each document's.

    A document that has questions on tables alone keeps them.
    """
    texts: Counter[str] = Counter()
    tables: dict[str, dict[tuple[str, int], list[Candidate]]] = {}
    for candidate in candidates:
        title, evidence = candidate.excerpt.title, candidate.draft.evidence
        if evidence.startswith("|"):
            row = (evidence, named_row(candidate.draft.question, evidence))
            tables.setdefault(title, {}).setdefault(row, []).append(candidate)
        else:
            texts[title] += 1
    kept: set[int] = set()
    for title, cells in tables.items():
        groups = list(cells.values())
        total = sum(map(len, groups))
        limit = max(len(groups), round(texts[title] / TEXT_PER_CELL)) if texts[title] else total
        kept.update(id(candidate) for candidate in interleave(groups, limit))
    return [each for each in candidates if not each.draft.evidence.startswith("|") or id(each) in kept]


def _sampled(
    candidates: Sequence[Candidate], settings: GenerationSettings, material: Material
) -> list[Candidate]:
    by_topic = {
        id: [candidate for candidate in candidates if candidate.excerpt.topic == id] for id in material.topics
    }
    weights = {id: topic.size * float(settings.weights.get(id, 1)) for id, topic in material.topics.items()}
    quota = allocate(settings.count, weights, {id: len(members) for id, members in by_topic.items()})
    selected = []
    for number, (id, members) in enumerate(by_topic.items()):
        groups = [
            _spread([candidate for candidate in members if candidate.generator == generator])
            for generator in _rotated(material.generators, number)
        ]
        selected += interleave(groups, quota[id])
    return selected


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
