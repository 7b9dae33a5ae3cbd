"""Id, artifacts and results of the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

ID = "test_generation"
ADVERSARIAL = "robustness_adversarial"
"""Id of the step that asks the adversarial questions; it imports this package."""
SUITE = "tests_suite.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterResults:
    """Requests to the language model that writes questions.

    Attributes:
        name: of the `[[model]]`, or "judge".
        models: host and model name of each member of the panel; unset without a judge.
        vote: of a panel of several models; unset for one.
        prompts: version by name of the prompt; unset without a judge.
        requests: number of requests.
        rejected: number of rejected drafts by reason.
        faults: number of requests without a usable reply by reason.
    """

    name: str
    models: tuple[Mapping[str, str], ...] | UnsetType = UNSET
    vote: str | UnsetType = UNSET
    prompts: Mapping[str, str] | UnsetType = UNSET
    requests: int
    rejected: Mapping[str, int]
    faults: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Numbers of tested statements of the documents, and of all of them.

    Attributes:
        quantities: sentences with a quantity.
        tables: rows of tables.
        rules: sentences that oblige, permit or forbid.
    """

    passages: tuple[int, int] = (0, 0)
    quantities: tuple[int, int] = (0, 0)
    tables: tuple[int, int] = (0, 0)
    rules: tuple[int, int] = (0, 0)
    topics: tuple[int, int] = (0, 0)


@dataclass(frozen=True, kw_only=True)
class GenerationResults:
    """Generated test cases.

    Attributes:
        cases: number of test cases.
        by_topic: number of test cases by topic id.
        by_generator: number of test cases by generator.
        drafts: number of drafts that the test cases were chosen from.
        irrelevant: number of drafts whose question has too few words of its chunk.
        duplicates: number of drafts that are too similar to others.
        ambiguous: number of drafts that several sentences answer, that need the sentences around them,
            that nobody would type, or that should have no answer and have one.
        other_languages: language code by document, of documents that no question is made from.
        writer: unset if questions are extracted from the documents.
        coverage: of the documents by the test cases.
    """

    cases: int
    by_topic: Mapping[str, int]
    by_generator: Mapping[str, int]
    drafts: int
    irrelevant: int
    duplicates: int
    ambiguous: int = 0
    other_languages: Mapping[str, str] = field(default_factory=dict)
    writer: WriterResults | UnsetType = UNSET
    coverage: Coverage = field(default_factory=Coverage)
