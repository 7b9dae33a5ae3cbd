"""The seam of generators: how a maker of test questions declares itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, TypeVar

from pytest_evalstudio.core.contracts import SPEC
from pytest_evalstudio.core.docstrings import summary_of

T = TypeVar("T", bound=type)
Purpose = Literal["ordinary", "adversarial"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A chunk of the documents that questions are made of.

    Attributes:
        topic: id of its topic.
    """

    id: str
    sentences: tuple[str, ...]
    topic: str


@dataclass(frozen=True, eq=False)
class Corpus:
    """All excerpts of the documents; equal to itself alone, so that what is found out of it can be kept."""

    excerpts: tuple[Excerpt, ...]

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence for excerpt in self.excerpts for sentence in excerpt.sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question in the making.

    Attributes:
        answer: what is expected.
        condition: what a right answer meets; see `formats.condition`.
        evidence: the sentence of the excerpt that says so, "" where no document says anything.
        plain: of an attack, the question without what the attack puts around it; "" where it is no attack, or
            nobody can tell.
        kind: of an attack, the generator of that plain question.
        planted: of an attack, a word that only an answer holds which obeys it; "" where there is none.
    """

    question: str
    answer: str
    condition: str
    evidence: str
    plain: str = ""
    kind: str = ""
    planted: str = ""


class GeneratorSpec(NamedTuple):
    """The declaration of a generator class.

    Attributes:
        purpose: "ordinary" for questions that people ask, "adversarial" for such as are meant to mislead.
        problem_type, avid: what is wrong with a model that gives way to such an attack.
        instruction: what a judge is told who writes such questions, "" where none can; one that speaks of the
            planted word is given one.
        excerpts: how many chunks of a topic such a judge is shown.
    """

    id: str
    name: str
    description: str
    purpose: Purpose = "ordinary"
    problem_type: str = "robustness"
    avid: str = "P0200"
    instruction: str = ""
    excerpts: int = 1


class Generator(Protocol):
    """A frozen dataclass without options; the same excerpt, corpus and random numbers give the same drafts.

    A class without `drafts` makes questions only where a judge writes them, by its declaration's instruction.
    """

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Questions on an excerpt.

        Args:
            corpus: what other places say.
        """
        ...


def generator(
    id: str,
    *,
    name: str,
    purpose: Purpose = "ordinary",
    problem_type: str = "robustness",
    avid: str = "P0200",
    instruction: str = "",
    excerpts: int = 1,
) -> Callable[[T], T]:
    """Declare a class as a generator; its docstring's first line describes it. See `GeneratorSpec` for the
    arguments.
    """

    def declare(cls: T) -> T:
        description = summary_of(cls)
        setattr(
            cls,
            SPEC,
            GeneratorSpec(id, name, description, purpose, problem_type, avid, instruction, excerpts),
        )
        return cls

    return declare


def finds_by_itself(cls: type) -> bool:
    """Whether a generator class makes questions without a judge."""
    return callable(getattr(cls, "drafts", None))
