"""Known ways to change an answer that keep what it says: a suite that fails one raises a false alarm."""

# ruff: noqa: E501  (patterns)

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator, Mapping

from pytest_evalstudio.contrib.mutation.texts import Damage, MutationMaterial, Mutator
from pytest_evalstudio.text.paraphrases import RULES, paraphrase
from pytest_evalstudio.text.sentences import split_sentences
from pytest_evalstudio.text.stated_values import StatedValue, stated_values

_ASKS_FOR_VALUE = re.compile(
    r"(?:how (?:much|many|long|often|old|far|high|heavy|large|wide|soon|late)\b|when\b|(?:by|until|from) when\b"
    r"|(?:within|for|after|in) how\b|what (?:does|do|did|will) .{1,80} cost\b"
    r"|what (?:is|are|was) the (?:\w+ ){0,2}(?:fee|fees|price|cost|charge|rate|limit|maximum|minimum|deposit|deadline"
    r"|share|percentage|age|size|weight|length|amount|number|period)\b)",
    re.IGNORECASE,
)
"""Questions that a value alone answers."""
_BOUND = re.compile(
    r"\b(?:at least|at most|up to|no (?:more|less|fewer|later) than|more than|less than|fewer than|within|after|before|by"
    r"|until|from|since)\s\Z",
    re.IGNORECASE,
)
_BOUND_CHARS = 20
_NOUN = re.compile(r"[ -]+[A-Za-z]+")


def _with_courtesy(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    return Damage(text=f"Thank you for your question. {text}", added="Thank you for your question.")


def _with_mark_up(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    spans = split_sentences(text)
    # Further marks might pair with those that are there.
    if not spans or "*" in text:
        return None
    start, end = spans[0]
    return Damage(text=f"{text[:start]}**{text[start:end]}**{text[end:]}")


def _with_blanks(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    return Damage(text="\n\n".join(text[start:end] for start, end in split_sentences(text)) + "\n")


def _paraphrased(
    rule: Callable[[str], str], text: str, material: MutationMaterial, rng: random.Random
) -> Damage | None:
    other = rule(text)
    return Damage(text=other) if other else None


def _in_other_words(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Apply all rules of paraphrases, if more than one applies."""
    result = paraphrase(text)
    return Damage(text=result.text) if result and len(result.rules) > 1 else None


def _short_answer(text: str, material: MutationMaterial, rng: random.Random) -> Damage | None:
    """Answer with the value alone that the question asks for, if the answer has one only."""
    values = values_answering(text, material.question)
    if len(values) != 1 or not _ASKS_FOR_VALUE.match(material.question.strip()):
        return None
    return Damage(text=f"{value_text(text, values[0])}.")


def value_text(text: str, value: StatedValue) -> str:
    """Return a value as the text writes it, with its bound before and the noun that it counts after it.

    >>> answer = "It takes at least 3 working days."
    >>> value_text(answer, stated_values(answer)[0])
    'at least 3 working days'
    """
    end = value.end
    for word in value.noun:
        # The text may have "business days" and plurals of the nouns.
        match = _NOUN.match(text, end)
        end = match.end() if match and word else end
    bound = _BOUND.search(text[max(0, value.start - _BOUND_CHARS) : value.start])
    return f"{bound[0] if bound else ''}{text[value.start : end]}".strip()


def values_answering(text: str, question: str) -> list[StatedValue]:
    """Return the values of an answer that the question does not state."""
    asked = stated_values(question)
    return [value for value in stated_values(text) if not any(value.equals(other) for other in asked)]


FORMATTING: Mapping[str, Mutator] = {
    "courtesy": _with_courtesy,
    "mark_up": _with_mark_up,
    "line_breaks": _with_blanks,
}
"""Changes around the words of an answer."""
RIGHT_VARIANTS: Mapping[str, Mutator] = {
    **FORMATTING,
    **{f"paraphrase_{name}": functools.partial(_paraphrased, rule) for name, rule in RULES.items()},
    "paraphrase": _in_other_words,
    "short_answer": _short_answer,
}
"""Kinds of right answers in another form; an answer must still pass with them."""


def right_variants(text: str, question: str) -> Iterator[str]:
    """Yield the right answers in another form that follow from an answer."""
    material = MutationMaterial(question=question)
    for change in RIGHT_VARIANTS.values():
        variant = change(text, material, random.Random(0))
        if variant is not None and variant.text != text:
            yield variant.text
