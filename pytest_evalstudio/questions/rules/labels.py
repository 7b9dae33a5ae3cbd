"""Questions for charges and time limits after a label: "Urgent repairs: within three working days."."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.questions.grammar.wording import as_customer, uncapitalised
from pytest_evalstudio.questions.quantities import pattern, quantities
from pytest_evalstudio.questions.rules.slots import QuantityQuestion

_LABELLED = re.compile(
    r"(?:[-–•*]\s|\(?[a-z\d]{1,2}[.)]\s)?(?P<label>[A-Za-z][^:;.|]{4,60}):\s(?P<value>[^:;|]{2,60}?)[.;,]?$"
)
_RATE = re.compile(r"(?:\s(?:each|per\s\w+|an?\s\w+))?$")
_MAX_WORDS = 8


def labelled_questions(sentence: str, corpus: Corpus) -> Iterator[QuantityQuestion]:
    """Yield the question for the single amount of money, or time limit, that follows a label."""
    match = _LABELLED.fullmatch(" ".join(sentence.split()))
    if match is None or len(match["label"].split()) > _MAX_WORDS or quantities(match["label"]):
        return
    value = match["value"]
    hits = quantities(value)
    if len(hits) != 1:
        return
    quantity, before = hits[0], value[: hits[0].start].strip()
    rate = _RATE.fullmatch(value[quantity.end :])
    is_limit = quantity.kind == "period" and before == "within"
    if rate is None or not (is_limit or (quantity.kind == "money" and not before)):
        return
    label = as_customer(uncapitalised(match["label"], corpus))
    noun = "time limit" if is_limit else "charge"
    yield QuantityQuestion(
        question=f"What is the {noun} for {label}?",
        quantity=quantity,
        answer=value if is_limit else f"{quantity.text}{rate.group()}",
        condition=pattern(quantity.text),
    )
