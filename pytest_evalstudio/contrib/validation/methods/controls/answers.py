"""Answers that are known to be right or wrong: the controls of evaluators, conditions and thresholds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.api import REFUSAL, changed, content_words, quantities
from pytest_evalstudio.contrib.validation.methods.test_cases.round_trip import evidence_of
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.text.paraphrases import paraphrase

RIGHT = ("expected_answer", "supporting_sentence", "full_sentence", "paraphrase")
WRONG = ("wrong_answer", "unrelated_sentence", "silence", "refusal")
CONTROLS = (*RIGHT, *WRONG)
_LEAD = re.compile(r"^(?:(?P<word>Yes|No)[.,]|(?P<letter>[A-Z])\))\s+")
_CHOICE = re.compile(r"(?<!\w)(?P<letter>[A-Z])\)\s(?P<text>.*?)(?=\s[A-Z]\)\s|$)", re.DOTALL)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_FACTORS = (2, 0.5, 3)
_YEARS = 3
"""Years between a stated date and a wrong one: far enough for conditions that accept a neighbouring year."""
_SENTENCE_WORDS = 5
"""Number of words from which an expected answer is a sentence of its own."""
_RULES_OF_VALUES = ("number_form", "unit", "frequency")
"""Rules of paraphrases after which only a condition that reads values can find the answer."""
_REFUSED = "I am sorry, but I do not know the answer."


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlAnswer:
    """An answer with a known verdict.

    Attributes:
        case: the test case that it answers.
        control: one of CONTROLS.
        text: of the answer.
    """

    case: TestCase
    control: str
    text: str

    @property
    def is_right(self) -> bool:
        """Report whether the answer must pass."""
        return self.control in RIGHT


def control_answers(cases: Sequence[TestCase]) -> Iterator[ControlAnswer]:
    """Yield the controls of test cases, case by case; those that a case does not allow are left out.

    A case that expects a refusal has no supporting sentence, no wrong answer beside a sentence of the
    documents, and its refusals must pass.
    """
    for case in cases:
        for control, text_of in _TEXTS.items():
            text = text_of(case, cases)
            if text is not None:
                yield ControlAnswer(case=case, control=control, text=text)


def chunk_of(case: TestCase) -> tuple[str, ...]:
    """Return the chunk that a case was made from; () for a case of other origin."""
    source = str((case.model_extra or {}).get("source_text", ""))
    return (source,) if source else ()


def _expected_answer(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    return case.expected_output or None


def _supporting_sentence(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    """Return the evidence, after the word or letter that the question asks for."""
    evidence = evidence_of(case)
    lead = _LEAD.match(case.expected_output)
    return f"{lead[0] if lead else ''}{evidence}" if evidence else None


def _paraphrase(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    """Return the expected answer with other forms of numbers, units, dates and order, after its lead.

    None where no rule of `text.paraphrases` applies: an answer that only looks changed shows nothing.
    A pattern is no value: where the condition has one, numbers, units and frequencies stay.
    """
    if case.expects == "refusal" or not case.expected_output:
        return None
    lead = _LEAD.match(case.expected_output)
    start = lead[0] if lead else ""
    kept_rules = _RULES_OF_VALUES if "regexp(" in case.condition_text() else ()
    changed_answer = paraphrase(case.expected_output[len(start) :], without=kept_rules)
    return f"{start}{changed_answer.text}" if changed_answer else None


def _full_sentence(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    """Return the expected answer in a full sentence, with an introduction as language models write it."""
    expected = case.expected_output
    if not expected:
        return None
    if case.expects == "refusal":
        return f"I am sorry, but {REFUSAL[:1].lower()}{REFUSAL[1:]}"
    lead = _LEAD.match(expected)
    statement = expected[lead.end() :] if lead else expected
    if lead and lead["word"]:
        judgement = "that is right" if lead["word"] == "Yes" else "that is not right"
        return f"{lead['word']}, {judgement}. The document says: {statement}"
    if _is_sentence(statement):
        return f"The document says: {statement}"
    return f"According to the document, the answer is {expected.rstrip().rstrip('.')}."


def _wrong_answer(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    """Return the opposite word, another choice or, where the answer is a number, another one."""
    expected = case.expected_output
    if case.expects == "refusal" or not expected:
        return None
    lead = _LEAD.match(expected)
    if lead and lead["word"]:
        return "No." if lead["word"] == "Yes" else "Yes."
    if lead:
        choices = {match["letter"]: match["text"].strip() for match in _CHOICE.finditer(case.prompt)}
        return next(
            (f"{letter}) {text}" for letter, text in choices.items() if letter != lead["letter"]), None
        )
    # A number in a longer answer may be beside the question: "our staff, for five years" tells who.
    return None if _is_sentence(expected) else _with_other_numbers(expected, case.prompt)


def _with_other_numbers(text: str, question: str) -> str | None:
    """Return a text with other quantities, None where it has none beyond those of the question."""
    result, end = [], 0
    for quantity in quantities(text):
        other = "" if quantity.text in question else _other(quantity.text)
        if other:
            result += [text[end : quantity.start], other]
            end = quantity.end
    return "".join([*result, text[end:]]) if result else None


def _other(quantity: str) -> str:
    """Return another value of a quantity or date, "" where no rule changes it."""
    # A year first: a multiple of it would be no year.
    if year := _YEAR.search(quantity):
        return f"{quantity[: year.start()]}{int(year[0]) - _YEARS}{quantity[year.end() :]}"
    return next((text for factor in _FACTORS if (text := changed(quantity, factor))), "")


def _unrelated_sentence(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    """Return the evidence, else the answer, of another chunk's case with the fewest words in common."""
    words = set(content_words(f"{case.prompt} {case.expected_output} {evidence_of(case)}"))
    chunk = (case.model_extra or {}).get("source_chunk")
    sentences = dict.fromkeys(
        evidence_of(other) or other.expected_output
        for other in cases
        if other.expects != "refusal"
        and (evidence_of(other) or other.expected_output)
        and (other.model_extra or {}).get("source_chunk") != chunk
    )
    return min(sentences, key=lambda text: len(words.intersection(content_words(text))), default=None)


def _silence(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    return ""


def _refusal(case: TestCase, cases: Sequence[TestCase]) -> str | None:
    return None if case.expects == "refusal" else _REFUSED


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= _SENTENCE_WORDS


_TEXTS: Mapping[str, Callable[[TestCase, Sequence[TestCase]], str | None]] = {
    "expected_answer": _expected_answer,
    "supporting_sentence": _supporting_sentence,
    "full_sentence": _full_sentence,
    "paraphrase": _paraphrase,
    "wrong_answer": _wrong_answer,
    "unrelated_sentence": _unrelated_sentence,
    "silence": _silence,
    "refusal": _refusal,
}
