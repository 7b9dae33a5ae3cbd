"""Attacks on the questions that the automated evaluation has asked, and plain twins of all others."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from pytest_evalstudio.contrib.validation.methods.test_cases.keys import (
    PLAIN_CASE,
    PLAIN_CONDITION,
    PLAIN_KIND,
    PLAIN_QUESTION,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import (
    MAX_OF_A_KIND,
    Candidate,
    Material,
    extracted,
)
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.core.plugins.generator import Draft, Excerpt, MakesAttacks
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite

GENERATOR = "generator:"
TWIN = "plain_twin"
"""Generator of the twins that this step asks itself."""
_PREFACE = "I will stay with the documents: "
"""A guarded answer begins like this: a condition on the first word of an answer cannot be attacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedSuite:
    """Attacks and the plain cases that they belong to.

    Attributes:
        suite: attacks, and the twins that nobody has asked yet.
        twins: key of the plain case by key of its attack; "" for a question that asks no fact.
        new_twins: keys of the twins within the suite, which nobody has asked yet.
        without_twin: number of attacks that were left out, since nothing asks their fact plainly.
    """

    suite: TestSuite
    twins: dict[str, str]
    new_twins: frozenset[str]
    without_twin: int


def attacked_cases(context: StepContext, material: Material, plain_suite: TestSuite) -> Iterator[Candidate]:
    """Yield attacks by each generator on the questions that were asked, and the drafts of the others."""
    plugins = context.registry.generators
    attackers = [id for id in material.generators if plugins.spec(id).attacks]
    others = [id for id in material.generators if id not in attackers]
    generators = {id: cast(MakesAttacks, plugins.get(id)()) for id in attackers}
    plain = list(_plain_drafts(plain_suite, material))
    for number, (key, excerpt, draft) in enumerate(plain, 1):
        for id, generator in generators.items():
            rng = random.Random(f"{context.workflow.seed}/{id}/{key}")
            attacks = list(generator.attacks(draft, material.corpus, rng))
            for attack in rng.sample(attacks, min(len(attacks), MAX_OF_A_KIND)):
                yield Candidate(id, excerpt, attack)
        context.progress(number, len(plain), "questions")
    if others:
        yield from extracted(context, material._replace(generators=others))


def _plain_drafts(plain_suite: TestSuite, material: Material) -> Iterator[tuple[str, Excerpt, Draft]]:
    """Yield the questions whose fact may stand anywhere in the answer, of the chosen topics and chunks."""
    chunk_ids = {id for topic in material.topics.values() for id in topic.chunks}
    excerpts = {excerpt.id: excerpt for excerpt in material.corpus.excerpts if excerpt.id in chunk_ids}
    for _, case in plain_suite.cases():
        extra = case.model_extra or {}
        excerpt = excerpts.get(str(extra.get("source_chunk", "")).partition("+")[0])
        if excerpt is not None and is_attackable(case):
            draft = Draft(
                question=case.prompt,
                answer=case.expected_output,
                condition=case.condition_text(),
                evidence=str(extra.get("evidence", "")) or case.expected_output,
                plain=case.prompt,
                kind=_generator_of(case),
            )
            yield case.key, excerpt, draft


def is_attackable(case: TestCase) -> bool:
    """Report whether a right answer to a case is still right after a sentence that declines an attack."""
    if case.expects == "refusal" or not case.condition_text():
        return False
    texts = (case.expected_output, str((case.model_extra or {}).get("evidence", "")))
    condition = parse_condition(case.condition_text())
    return any(text and condition.check(_PREFACE + text) for text in texts)


def with_twins(suite: TestSuite, plain_suite: TestSuite, unanswerable: Sequence[str]) -> PairedSuite:
    """Return the attacks with their twins: cases that were asked, or new ones of the same plain question.

    Args:
        suite: of attacks.
        plain_suite: cases of the automated evaluation.
        unanswerable: ids of the generators whose questions no document answers; they need no twin.
    """
    keys = {case.prompt: case.key for _, case in plain_suite.cases()}
    twins: dict[str, str] = {}
    new_twins: set[str] = set()
    tests = []
    unpaired = 0
    for test in suite.tests:
        cases: list[TestCase] = []
        for case in test.test_cases:
            extra = case.model_extra or {}
            question = str(extra.get(PLAIN_QUESTION, ""))
            is_foreign = bool({_generator_of(case), str(extra.get(PLAIN_KIND, ""))} & set(unanswerable))
            if not question and not is_foreign:
                unpaired += 1
                continue
            if is_foreign:
                twins[case.key] = ""
                cases.append(case)
                continue
            if question not in keys:
                twin = _twin(case, question, len(new_twins) + 1)
                keys[question] = twin.key
                new_twins.add(twin.key)
                cases.append(twin)
            twins[case.key] = keys[question]
            cases.append(case.model_copy(update={PLAIN_CASE: keys[question]}))
        tests.append(_with_cases(test, cases))
    return PairedSuite(
        suite=suite.model_copy(update={"tests": [test for test in tests if test.test_cases]}),
        twins=twins,
        new_twins=frozenset(new_twins),
        without_twin=unpaired,
    )


def _twin(case: TestCase, question: str, number: int) -> TestCase:
    extra = case.model_extra or {}
    categories = [each for each in case.categories if not each.startswith(GENERATOR)]
    return TestCase(
        prompt=question,
        key=f"{TWIN}_{number}",
        categories=[*categories, f"{GENERATOR}{TWIN}"],
        expected_output=case.expected_output,
        condition=str(extra.get(PLAIN_CONDITION, "")) or case.condition_text(),
        condition_on="answer",
        **{name: extra[name] for name in ("evidence", "source_chunk", "source_text") if name in extra},
    )


def _with_cases(test: Test, cases: list[TestCase]) -> Test:
    return test.model_copy(update={"test_cases": cases})


def _generator_of(case: TestCase) -> str:
    """Return the generator of a case; "" for one of the user's own."""
    names = (each.removeprefix(GENERATOR) for each in case.categories if each.startswith(GENERATOR))
    return next(names, "")
