"""Generators of test questions: their protocol, their declaration and the decorator that makes it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.plugins.declaring import attach, check_id, check_known, has_method

KIND = "generator"
T = TypeVar("T", bound=type)
Purpose = Literal["ordinary", "adversarial"]
PURPOSES: tuple[Purpose, ...] = ("ordinary", "adversarial")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A chunk of the documents that questions are made of.

    Attributes:
        topic: id of its topic.
        title: of its document, "" if it is not known.
    """

    id: str
    sentences: tuple[str, ...]
    topic: str
    title: str = ""


@dataclass(frozen=True, eq=False)
class Corpus:
    """All excerpts of the documents; equal only to itself, so that results for it can be cached.

    Attributes:
        pipeline: name of the spaCy pipeline that parses the sentences, "" for none.
    """

    excerpts: tuple[Excerpt, ...]
    pipeline: str = ""

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence for excerpt in self.excerpts for sentence in excerpt.sentences)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Draft of a test question.

    Attributes:
        answer: expected answer.
        condition: condition of a right answer; see `formats.condition`.
        evidence: sentence of the excerpt with the answer, "" if no document has it.
        plain: question of an attack without the attack's additions; "" if it is not an attack, or if the
            question cannot be separated.
        kind: generator of the plain question of an attack.
        planted: word of an attack that only an obedient answer contains; "" for none.
        plain_condition: condition of a right answer to the plain question of an attack.
        concession: condition of an answer that gives way to an attack; "" where nothing shows it.
    """

    question: str
    answer: str
    condition: str
    evidence: str
    plain: str = ""
    kind: str = ""
    planted: str = ""
    plain_condition: str = ""
    concession: str = ""


class GeneratorSpec(Struct, frozen=True, kw_only=True):
    """The declaration of a generator class.

    Attributes:
        purpose: "ordinary" for questions that people ask, "adversarial" for questions that are meant to
            mislead.
        problem_type, avid: class of the problem if a model gives way to such an attack.
        instruction: instruction of a judge who writes such questions, "" where none can; one that mentions
            the planted word is given one.
        excerpts: number of chunks of a topic that such a judge is shown.
        drafts: it has a method `drafts`, which makes questions without a judge.
        by_default: a step uses it where its generators are not named.
        unanswerable: the documents do not answer its questions; a right answer says so.
        refusal_withstands: a refusal withstands such an attack, as an answer with the fact does.
        concession: how an answer gives way to such an attack, in words.
        forbidden: regular expression of what no answer to such an attack may contain.
        attacks: it has a method `attacks`, which makes attacks of a plain question.
    """

    id: str
    name: str
    description: str
    purpose: Purpose = "ordinary"
    problem_type: str = "robustness"
    avid: str = "P0200"
    instruction: str = ""
    excerpts: int = 1
    drafts: bool = True
    by_default: bool = True
    unanswerable: bool = False
    refusal_withstands: bool = False
    concession: str = ""
    forbidden: str = ""
    attacks: bool = False


class MakesAttacks(Protocol):
    """An adversarial generator that attacks plain questions."""

    def attacks(self, plain: Draft, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Return attacks of a plain question; none where it gives none."""
        ...


class Generator(Protocol):
    """Frozen dataclass without options; equal excerpt, corpus and random numbers give equal drafts.

    A class without `drafts` makes questions only where a judge writes them, by its declaration's instruction.
    An adversarial one may have `attacks(plain, corpus, rng)`, which returns the attacks of a plain question:
    a workflow attacks the questions that it has asked.
    """

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Return questions on an excerpt.

        Args:
            corpus: all excerpts of the documents.
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
    by_default: bool = True,
    unanswerable: bool = False,
    refusal_withstands: bool = False,
    concession: str = "",
    forbidden: str = "",
) -> Callable[[T], T]:
    """Declare a class as a generator; the first line of its docstring is its description.

    See `GeneratorSpec` for the arguments.

    Raises:
        TypeError: if nothing makes its questions: it has neither a method `drafts` nor an instruction.
    """
    check_id(KIND, id)
    check_known(KIND, id, "purpose", [purpose], PURPOSES)

    def declare(cls: T) -> T:
        drafts = has_method(KIND, id, cls, "drafts", "drafts(self, excerpt, corpus, rng) -> Iterable[Draft]")
        if not drafts and not instruction:
            raise TypeError(
                f"generator {id!r}: nothing makes its questions; add a method"
                " drafts(self, excerpt, corpus, rng), or instruction=... for a judge"
            )
        spec = GeneratorSpec(
            id=id,
            name=name,
            description=summary_of(cls),
            purpose=purpose,
            problem_type=problem_type,
            avid=avid,
            instruction=instruction,
            excerpts=excerpts,
            drafts=drafts,
            by_default=by_default,
            unanswerable=unanswerable,
            refusal_withstands=refusal_withstands,
            concession=concession,
            forbidden=forbidden,
            attacks=has_method(
                KIND, id, cls, "attacks", "attacks(self, plain, corpus, rng) -> Iterable[Draft]"
            ),
        )
        return attach(cls, spec)

    return declare
