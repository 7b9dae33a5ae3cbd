"""Questions by patterns of short sentences, for installations without a pipeline: "A draft costs £15."."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_evalstudio.contrib.questions.parsing.statements import statement
from pytest_evalstudio.contrib.questions.quantities import Quantity, pattern, quantities
from pytest_evalstudio.contrib.questions.quantities.cases import single_statements
from pytest_evalstudio.contrib.questions.rules.slots import Fact, QuantityQuestion, make_fact
from pytest_evalstudio.contrib.questions.rules.wording import as_customer, uncapitalised
from pytest_evalstudio.contrib.questions.words import pattern_tables
from pytest_evalstudio.core.plugins.generator import Corpus

_BOUND = r"(?P<bound>(?:at least|at most|up to|about|around|no more than|no later than|a maximum of)\s)?"
_MAX_WORDS = 16
_CLAUSE = re.compile(
    r"(?i)\b(?:if|when|unless|who|which|that|because|while|but|until|it|they|this|these|we|you)\b"
)
_END = re.compile(r"(?P<rest>(?:\s(?:a|an|per|for|of|in|at|to|each|from|on)\s[^.,;:()]{2,60})?)\.")


def _rules() -> list[tuple[re.Pattern[str], str, tuple[str, ...]]]:
    """Return the pattern before a quantity, the question, and the kinds of quantity of each rule."""
    rules = []
    for line in pattern_tables()["short sentences"]:
        kinds, before, question = line.split(" = ")
        rules.append((re.compile(f"{before}{_BOUND}"), question, tuple(kinds.split())))
    return rules


_RULES = _rules()


def pattern_amounts(text: str, corpus: Corpus) -> Iterator[QuantityQuestion]:
    """Yield the questions for the quantity of a short sentence, or of each case of it."""
    for part in single_statements(text):
        hits = quantities(part)
        if len(hits) != 1 or len(part.split()) > _MAX_WORDS or _CLAUSE.search(part):
            continue
        if question := _question(part, hits[0], corpus):
            yield question


def _question(text: str, quantity: Quantity, corpus: Corpus) -> QuantityQuestion | None:
    end = _END.fullmatch(text[quantity.end :])
    for before, question, kinds in _RULES:
        match = before.fullmatch(text[: quantity.start])
        if end is None or match is None or quantity.kind not in kinds:
            continue
        subject = uncapitalised(match["subject"], corpus)
        words = {**match.groupdict(), "subject": subject, "unit": _unit(quantity.text), "rest": end["rest"]}
        filled = question.format(**{name: word or "" for name, word in words.items()})
        return QuantityQuestion(
            question=as_customer(filled[0].upper() + filled[1:]),
            quantity=quantity,
            answer=f"{match['bound'] or ''}{quantity.text}",
            condition=pattern(quantity.text),
        )
    return None


def _unit(quantity: str) -> str:
    unit = re.sub(r"^\S+[\s-]", "", quantity)
    return unit if unit.endswith("s") else f"{unit}s"


def pattern_facts(text: str, corpus: Corpus) -> Iterator[Fact]:
    """Yield the question for what a plain statement says that something is."""
    parts = statement(text)
    if parts is None or parts.verb != "is" or parts.is_negative or not re.match(r"(?i)an?\s", parts.rest):
        return
    fact = make_fact(as_customer(f"What is {uncapitalised(parts.subject, corpus)}?"), parts.rest)
    if fact is not None and len(parts.rest.split()) > 2:
        yield fact
