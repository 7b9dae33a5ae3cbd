"""The suite of generated test cases."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence

from pytest_evalstudio.contrib.validation.methods.test_cases.keys import (
    CONCESSION,
    GENERATED_DIGEST,
    PLAIN_CONDITION,
    PLAIN_KIND,
    PLAIN_QUESTION,
    PLANTED_WORD,
    WRITTEN_BY,
)
from pytest_evalstudio.contrib.validation.methods.topics.results import Topic
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import Candidate, Material
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.documents import relative
from pytest_evalstudio.formats.suite import TestSuite


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
    unanswerable = _unanswerable(context)
    for candidate in candidates:
        draft, excerpt = candidate.draft, candidate.excerpt
        parts = [material.chunks[id] for id in excerpt.id.split("+")]
        stem = f"{candidate.generator}_{excerpt.id}"
        numbers[stem] += 1
        extra = {
            PLAIN_QUESTION: draft.plain,
            PLAIN_KIND: draft.kind,
            PLANTED_WORD: draft.planted,
            PLAIN_CONDITION: draft.plain_condition,
            CONCESSION: draft.concession,
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
            # A rule on the words of an answer ("begins with yes") says nothing about retrieved chunks.
            condition_on="answer" if draft.condition else "",
            expects="refusal" if {candidate.generator, draft.kind} & unanswerable else "",
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


def _unanswerable(context: StepContext) -> set[str]:
    """Return the ids of the generators whose questions the documents do not answer."""
    generators = context.registry.generators
    return {id for id in generators if generators.spec(id).unanswerable}


def content_digest(question: str, answer: str, condition: str, evidence: str) -> str:
    """Return the digest of what makes a test case, by which an edited one is recognised."""
    return hashlib.sha256("\x00".join((question, answer, condition, evidence)).encode()).hexdigest()[:16]


def topic_name(topic: Topic) -> str:
    """Return a topic's id and first key words, for categories.

    >>> topic_name(Topic(id="2", words=("card", "PIN code", "loss", "theft"), size=1, chunks=("c1",)))
    '2_card_PIN_code_loss'
    """
    return "_".join([topic.id, *(re.sub(r"\W+", "_", word) for word in topic.words[:3])])
