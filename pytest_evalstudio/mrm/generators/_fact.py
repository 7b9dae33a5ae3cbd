"""A question for a fact, and the condition of its answer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_evalstudio.mrm.generators._conditions import says, says_words
from pytest_evalstudio.mrm.generators._places import with_counts
from pytest_evalstudio.mrm.texts.quantities import quantities
from pytest_evalstudio.mrm.texts.statements import as_customer, telling_words
from pytest_evalstudio.mrm.texts.words import content_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A question for a fact.

    Attributes:
        answer: the answering words.
        condition: of a right answer.
    """

    question: str
    answer: str
    condition: str


def make_fact(question: str, answer: str, condition: str = "") -> Fact | None:
    """Return a fact with the condition that follows from its answer; None if none follows."""
    required = condition or keywords(answer)
    return (
        Fact(question=as_customer(question), answer=answer.strip(), condition=required) if required else None
    )


def keywords(text: str, most: int = 2) -> str:
    """Return the condition that an answer has the longest words of a text and its quantities; "" for none."""
    stated = with_counts(text)
    plain = text
    for quantity in reversed(stated):
        plain = f"{plain[: quantity.start]} {plain[quantity.end :]}"
    words = telling_words(plain, most) or [word for word in content_words(plain) if len(word) > 2][:1]
    parts = [says_words(words)] if words else []
    parts += [says(quantity.text) for quantity in stated]
    return " AND ".join(parts)


def items_condition(text: str) -> str | None:
    """Return the condition that an answer names all items of a list; None for no list of names."""
    body = text.split(" but ")[0]
    items = [item for item in re.split(r",\s(?:and\s|or\s)?|\s(?:and|or)\s", body) if item.strip()]
    if (
        not 2 <= len(items) <= 7
        or not re.search(r"\s(?:and|or)\s", body)
        or any(len(item.split()) > 8 for item in items)
    ):
        return None
    words = []
    for item in items:
        telling = [word for word in content_words(item) if len(word) > 2 and not word[0].isdigit()]
        if not telling:
            return None
        words.append(
            telling[-1]
            if " of " not in item and " in " not in item and " to " not in item
            else telling[0]
            if len(telling) == 1
            else max(telling, key=len)
        )
    parts = [says_words(dict.fromkeys(words))]
    parts += [says(quantity.text) for quantity in quantities(body)]
    return " AND ".join(parts)
