"""Planted faults: copies of test cases with a known fault, which validation must reject."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence

from pytest_evalstudio.contrib.questions.api import changed, pattern, quantities, without_choices
from pytest_evalstudio.contrib.validation.methods.test_cases.round_trip import evidence_of
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.formats.suite import TestCase

MAX_OF_A_FAULT = 40
"""Maximum number of copies with one fault."""
_FACTORS = (2, 0.5, 3)
Plant = Callable[[TestCase, Sequence[TestCase], random.Random], TestCase | None]


def planted_faults(cases: Sequence[TestCase], seed: int) -> dict[str, list[TestCase]]:
    """Return copies of cases by fault: a wrong number, a swapped answer, a garbled question, lost evidence.

    A question that the documents answer also replaces one that they should not answer.

    Args:
        cases: the valid ones.
        seed: of the choice of cases and of the faults.
    """
    planted: dict[str, list[TestCase]] = {}
    for name, plant in _FAULTS.items():
        # A generator for each fault, so that a new fault does not change the copies of the others.
        rng = random.Random(f"{seed}/{name}")
        shuffled = rng.sample(list(cases), len(cases))
        copies = []
        for case in shuffled:
            copy = plant(case, cases, rng)
            if copy is not None:
                copies.append(copy)
            if len(copies) == MAX_OF_A_FAULT:
                break
        planted[name] = copies
    return planted


def _wrong_number(case: TestCase, cases: Sequence[TestCase], rng: random.Random) -> TestCase | None:
    """Change a quantity of the answer, and of the condition with it."""
    stated = quantities(case.expected_output)
    if not stated or not evidence_of(case):
        return None
    quantity = rng.choice(stated)
    other = next((text for factor in _FACTORS if (text := changed(quantity.text, factor))), "")
    # A number that the evidence has, too, might be right.
    if not other or re.search(pattern(other), evidence_of(case)):
        return None
    answer = case.expected_output[: quantity.start] + other + case.expected_output[quantity.end :]
    condition = (case.condition_text() or "").replace(
        str(Regexp(pattern(quantity.text))), str(Regexp(pattern(other)))
    )
    return _copy(case, expected_output=answer, condition=condition)


def _swapped_answer(case: TestCase, cases: Sequence[TestCase], rng: random.Random) -> TestCase | None:
    """Take answer and condition of another case of the same kind."""
    if not evidence_of(case):
        return None
    others = [
        other
        for other in cases
        if evidence_of(other)
        and evidence_of(other) != evidence_of(case)
        and _kind(other) == _kind(case)
        and other.expected_output != case.expected_output
    ]
    if not others:
        return None
    other = rng.choice(others)
    return _copy(case, expected_output=other.expected_output, condition=other.condition_text() or "")


def _garbled_question(case: TestCase, cases: Sequence[TestCase], rng: random.Random) -> TestCase | None:
    """Put the words of the question in another order."""
    question = without_choices(case.prompt)
    words = question.rstrip("?").split()
    if len(words) < 4:
        return None
    shuffled = rng.sample(words, len(words))
    if shuffled == words:
        shuffled = [*words[1:], words[0]]
    if shuffled == words:
        return None
    return _copy(case, prompt=" ".join(shuffled) + "?" + case.prompt[len(question) :])


def _lost_evidence(case: TestCase, cases: Sequence[TestCase], rng: random.Random) -> TestCase | None:
    """Remove the evidence from the chunk."""
    evidence = evidence_of(case)
    source = str((case.model_extra or {}).get("source_text", ""))
    if not evidence or evidence not in source:
        return None
    return _copy(case, source_text=source.replace(evidence, " "))


def _answerable_question(case: TestCase, cases: Sequence[TestCase], rng: random.Random) -> TestCase | None:
    """Ask something that the documents answer, and expect that they do not."""
    answerable = [other for other in cases if evidence_of(other)]
    if evidence_of(case) or not answerable:
        return None
    return _copy(case, prompt=rng.choice(answerable).prompt)


_FAULTS: Mapping[str, Plant] = {
    "wrong_number": _wrong_number,
    "swapped_answer": _swapped_answer,
    "garbled_question": _garbled_question,
    "lost_evidence": _lost_evidence,
    "answerable_question": _answerable_question,
}


def _kind(case: TestCase) -> str:
    return next((name for name in case.categories if name.startswith("generator:")), "")


def _copy(case: TestCase, **changes: str) -> TestCase:
    return TestCase.model_validate({**case.to_dict(), **changes})
