"""Questions that are answered by yes or no."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause, clauses
from pytest_evalstudio.contrib.questions.grammar.noun_phrases import DETERMINERS, PREPOSITIONS
from pytest_evalstudio.contrib.questions.grammar.simplification import SimpleSentence, simple_sentences
from pytest_evalstudio.contrib.questions.grammar.statements import without_number
from pytest_evalstudio.contrib.questions.grammar.verbs import AUXILIARIES, Form, forms
from pytest_evalstudio.contrib.questions.grammar.wording import as_customer, uncapitalised
from pytest_evalstudio.contrib.questions.quantities import (
    Quantity,
    changed,
    is_identifier,
    quantities,
    unit_of,
    value_of,
)
from pytest_evalstudio.contrib.questions.rules.cases import single_statements
from pytest_evalstudio.contrib.questions.rules.conditions import first_word_condition
from pytest_evalstudio.contrib.questions.rules.qualifiers import (
    condition_after,
    has_exception,
    has_second_case,
    with_condition,
)
from pytest_evalstudio.contrib.questions.words import word_set
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator

_MORE, _LESS = 1.5, 0.5
_AT_MOST = re.compile(
    r"(?i)\b(?:within|up to|at most|no more than|not more than|a maximum of|no later than|not exceed|below"
    r"|under)\s(?:\w+\s)?$"
)
_DEADLINE = re.compile(r"(?i)\b(?:within|no later than)\s(?:\w+\s)?$")
_AT_LEAST = re.compile(r"(?i)\b(?:at least|a minimum of|no less than|no fewer than)\s$")
_UNCLEAR = re.compile(
    r"(?i)\b(?:more|less|fewer|over|than|above|exceed\w*|between|about|around|approximately|nearly|almost|from|until|to|maximum"
    r"|minimum|limit\w*|or|if|unless|except|only|before|after|by|every|once|twice)\b"
)
_CONDITION = re.compile(r"(?i)\b(?:when|whenever|while|where|because)\b")
"""Beginning of a condition: a statement whose condition has another quantity may be true as well."""
_SUBORDINATE = re.compile(r",\s|\s(?:because|which|who)\s")
_LIST = re.compile(r",\s[^,;]*(?:,\s[^,;]*)*\s(?:and|or)\s")
"""Further members of a list: without them the statement would be of the first member alone."""
_PRESSING = word_set("hold press push turn")
_AIMING = word_set("aim ask apply look plan")
"""Verbs whose "for" names an object, which other sentences explain."""
_OBLIGED, _ALLOWED = word_set("must should"), word_set("can may could")
_TIME_OF_DAY = re.compile(r"\s?(?:[ap]\.?m\b|o['’]clock|noon)")
_LIMITS = {"%": 100, "hour": 24}
_MAX_WORDS = 20
_LIMITED = re.compile(r"\b(?:until|before|unless|except|only|all|every|both|always|necessarily)\b")
"""Words that limit a negation: what is "not refunded until" a date is refunded."""
_NEGATION = re.compile(r"(?i)\b(?:no|not|never|nothing|none|nor|neither|cannot|without|\w+n['’]t)\b")
_REMARK = re.compile(
    r",\s(?:because|since|so|which|who|where|as(?!\s\w+\sas\b)|although|with|including|particularly"
    r"|of which|slightly|up|down|compared|an\s(?:increase|decrease)|a\s(?:rise|fall|drop)|equal"
    r"|most of|helped|thanks)\b.*$"
)
"""End of a sentence that restricts nothing."""
_DEPENDENT = re.compile(
    r"(?i)\b(?:it|its|they|their|them|this|these|he|she|his|her|we"
    r"|only(?!\s(?:if|when|with|by|for|after)\b)"
    r"|or(?!\s(?:more|over|older|less|fewer|under|above|below|later)\b))\b"
)
_VAGUE = re.compile(
    r"\b(?:fee|charge|surcharge|penalty|deposit|fine|supplement)\sof\s\S+\s(?:is|are)\s\w+$|\bexempt$|\s(?!(?:19|20)\d\d$)\d+$|\bone\sof\b"
    r"|^you\scan\b|\ba\s(?:rate|level|amount|sum|term)\sof\b|\b(?:aim|ask|apply|look|plan)\w*\sfor\s"
)
"""A charge without its reason, a number without its noun, and what depends on the sentences before."""
_CLAUSE = re.compile(r"\b(?:if|when|while|where|because|unless|until|once)\b")


@generator(
    "yes_or_no",
    name="Yes or no",
    instruction=(
        "Each question can be answered by yes or no. Of two questions one is to be answered by yes, the other"
        " by no. The answer begins with “Yes.” or “No.” and gives the reason in one sentence."
    ),
)
@dataclass(frozen=True)
class YesOrNo:
    """Ask for confirmation of a statement as it is (yes), or with a quantity that makes it false (no)."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt.

        The answer is no where a sentence allows it and yes was given more often, so that neither answer is
        much more frequent.
        """
        answers = _answers(corpus)
        for sentence in excerpt.sentences:
            if sentence not in answers:
                continue
            answer, question = answers[sentence]
            yield Draft(
                question=question,
                answer=f"{answer}. {without_number(sentence)}",
                condition=first_word_condition(answer),
                evidence=sentence,
            )


class _Pair(NamedTuple):
    """A question to be answered by yes, and one to be answered by no; "" where there is none for sure."""

    true: str
    false: str


@functools.lru_cache(maxsize=1)
def _answers(corpus: Corpus) -> dict[str, tuple[str, str]]:
    """Return an answer and its question by sentence: no if it is not more frequent than yes and possible."""
    answers: dict[str, tuple[str, str]] = {}
    excess = 0  # of yes
    for sentence in dict.fromkeys(corpus.sentences):
        pair = _pair_of_sentence(sentence, corpus)
        if pair is None:
            continue
        is_denied = pair.false != "" and (excess > 0 or not pair.true)
        excess += -1 if is_denied else 1
        answers[sentence] = ("No", pair.false) if is_denied else ("Yes", pair.true)
    return answers


def _pair_of_sentence(sentence: str, corpus: Corpus) -> _Pair | None:
    """Return the questions for a sentence, or for the first simple sentence that it implies."""
    if pair := _pair(sentence, corpus):
        return pair
    parts = (SimpleSentence(sentence), *simple_sentences(sentence))
    simple = [SimpleSentence(text, part.context) for part in parts for text in single_statements(part.text)]
    # The sentence itself was tried above.
    pairs = (_pair(part.text, corpus, part.context) for part in simple if part.text != sentence)
    confirmations = (_confirmation(part, corpus) for part in simple)
    return next((pair for pair in (*pairs, *confirmations) if pair), None)


def _confirmation(part: SimpleSentence, corpus: Corpus) -> _Pair | None:
    """Return the question whether a whole statement holds; None if it is long or not clear."""
    if has_exception(part.text):
        return None
    parsed = clauses(part.text)
    pairs = (
        _confirmation_of_clause(clause, part, corpus)
        for clause in parsed
        if clause is parsed[0] or not clause.is_negative
    )
    return next((pair for pair in pairs if pair), None)


def _confirmation_of_clause(clause: Clause, part: SimpleSentence, corpus: Corpus) -> _Pair | None:
    rest = _REMARK.sub("", clause.rest)
    words = f"{clause.subject} {clause.form} {rest} {part.context}".split()
    if len(words) > _MAX_WORDS:
        return None
    is_denied = clause.is_negative
    if is_denied and not _is_simple_denial(clause, part.text):
        return None
    if "," in rest or not quantities(f"{clause.subject} {rest}") or _is_dependent(clause, rest):
        return None
    if clause.kind == "command" and not _is_full_instruction(clause, rest, part.context):
        return None
    # A context at the end would belong to the clause: "until 2028 in March".
    if (part.context and _CLAUSE.search(rest)) or _is_unclear(clause, rest, part.context):
        return None
    # "No refunds are paid" is asked as "Are any refunds paid?".
    subject = re.sub(r"^no\s", "any ", uncapitalised(clause.subject, corpus))
    if is_denied and clause.aux == "must":
        clause = replace(clause, aux="may")  # "must not" forbids
    question = with_condition(_question(clause, subject, rest), as_customer(part.context))
    return _Pair("", question) if is_denied else _Pair(question, "")


def _is_full_instruction(clause: Clause, rest: str, context: str) -> bool:
    """Report whether an instruction has an object, and a purpose if a button is pressed."""
    is_single = not re.search(r"\b(?:and|or)\b", rest)
    is_aimed = bool(context) or clause.verb not in _PRESSING or re.search(r"\s(?:to|before|after)\s", rest)
    return (
        is_single
        and bool(is_aimed)
        and bool(re.match(r"(?:the|an?|your|all|any|each)\s|[A-Z]|\d+\s\S+\sof\s", rest))
    )


def _is_simple_denial(clause: Clause, sentence: str) -> bool:
    """Report whether a statement is denied once, by "no" before its subject or "not" after its auxiliary."""
    negations = _NEGATION.findall(sentence)
    if re.match(r"No\s(?:more|less|fewer|later|other)\b", clause.subject) or _LIMITED.search(clause.rest):
        return False
    is_denied = f"{clause.subject} {clause.aux} not " in sentence or clause.subject.startswith("No ")
    return len(negations) == 1 and is_denied and clause.kind == "statement"


def _is_dependent(clause: Clause, rest: str) -> bool:
    """Report whether a pronoun of a statement may stand for something outside it."""
    pronouns = r"\b(?:they|their)\b" if clause.is_plural else r"\b(?:it|its)\b"
    subordinate = re.compile(rf"\b(?:if|when|before|after|until|unless|where|because)\s.*?{pronouns}")
    first = subordinate.sub("", rest, count=1)
    text = re.sub(r"\b(?:their|its)\b", "", first) if clause.voice == "active" else first
    return bool(_DEPENDENT.search(f" {text} "))


def _is_unclear(clause: Clause, rest: str, context: str) -> bool:
    """Report whether a statement is vague, or its verb may be a noun: "Emergency calls to 999 remain …"."""
    if _VAGUE.search(_joined(clause.subject, clause.form, rest, context)) or _has_second_verb(clause, rest):
        return True
    # "Emergency calls to 999 remain possible": "calls" is the noun.
    is_bare = clause.subject.count(" ") == 0 and clause.aux == "does"
    is_reduced = (
        # "The risks described on page 38 remain": "described" belongs to the noun.
        clause.aux == "did" and "participle" in forms(clause.form) and rest.split(" ")[0] in PREPOSITIONS
    )
    return (is_bare or is_reduced) and any(
        _is_verb(word) and before not in PREPOSITIONS | DETERMINERS | {"to"}
        for before, word in pairwise(rest.lower().split())
    )


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _has_second_verb(clause: Clause, rest: str) -> bool:
    """Report whether a verb after "and" may be finite: "is paid in two instalments and runs until 2027"."""
    form: Form = "past" if clause.aux in ("did", "was", "were", "had") else "s"
    second = rest.partition(" and ")[2]
    return any(form in forms(word) and "base" not in forms(word) for word in second.lower().split())


def _is_verb(word: str) -> bool:
    return word in AUXILIARIES or "base" in forms(word) or "past" in forms(word)


def _pair(sentence: str, corpus: Corpus, context: str = "") -> _Pair | None:
    """Return the questions for a clause of a sentence with one quantity; None in doubt."""
    if len(f"{sentence} {context}".split()) > _MAX_WORDS or has_exception(sentence):
        return None
    pairs = (_pair_of_clause(clause, corpus, context) for clause in clauses(sentence))
    return next((pair for pair in pairs if pair), None)


def _pair_of_clause(clause: Clause, corpus: Corpus, context: str) -> _Pair | None:
    rest = _SUBORDINATE.split(clause.rest)[0]
    tail = clause.rest[len(rest) :]
    # Without its list, "supplies 487,000 people in Brent, Castle and Saltby" would be of Brent alone.
    if clause.is_negative or clause.kind == "command" or condition_after(tail) != "" or _LIST.match(tail):
        return None
    if _VAGUE.search(_joined(clause.subject, clause.form, rest, context)):
        return None
    hits = quantities(rest)
    if len(hits) != 1 or not _is_suitable(clause, hits[0], rest, tail):
        return None
    quantity = hits[0]
    before, after = rest[: quantity.start], rest[quantity.end :]
    factor = _within_limit(_false_factor(clause, before, after), quantity, clause)
    other = changed(quantity.text, factor) if factor else ""
    if not other:
        return None
    subject = uncapitalised(clause.subject, corpus)
    pair = _Pair(
        *(
            with_condition(_question(clause, subject, text), as_customer(context))
            for text in (rest, before + other + after)
        )
    )
    return pair if pair.true != pair.false else None


def _is_suitable(clause: Clause, quantity: Quantity, rest: str, tail: str) -> bool:
    """Report whether another quantity makes a statement false: it is no date, code, object or case of two."""
    before = rest[: quantity.start]
    is_object = clause.verb in _AIMING and before.endswith("for ")
    return not (
        quantity.kind == "date"
        or _TIME_OF_DAY.match(rest[quantity.end :])
        or is_object
        or has_second_case(unit_of(quantity.text), tail)
        or is_identifier(quantity, f"{clause.subject} {clause.form} {before}", rest[quantity.end :])
    )


def _within_limit(factor: float, quantity: Quantity, clause: Clause) -> float:
    """Return a factor that keeps shares below 100 % and hours below 24."""
    value = value_of(quantity.text)
    limit = _LIMITS.get("%" if quantity.kind == "percent" else unit_of(quantity.text))
    if (
        quantity.kind == "percent"
        and value is not None
        and value * factor > _LIMITS["%"]
        and clause.aux in _OBLIGED
    ):
        return 0.0
    if factor != _MORE or value is None or clause.aux in _OBLIGED | _ALLOWED:
        return factor
    return _LESS if limit is not None and value * _MORE > limit else factor


def _false_factor(clause: Clause, before: str, after: str) -> float:
    """Return the factor that makes the statement false, 0.0 where no factor surely does.

    An obligation to act within a period is false for a shorter one and follows from a longer one. A
    permission of up to an amount is false for a larger one, and a minimum only if it is set as an obligation.
    """
    if _CONDITION.search(before):
        return 0.0
    if _AT_MOST.search(before):
        if _UNCLEAR.search(_AT_MOST.sub("", before)) or _UNCLEAR.search(after):
            return 0.0
        if clause.aux in _OBLIGED:
            return _LESS
        # "May cancel within 14 days" says nothing of what may be done within 21.
        return _MORE if clause.aux in _ALLOWED and not _DEADLINE.search(before) else 0.0
    if _AT_LEAST.search(before):
        return _MORE if clause.aux in _OBLIGED and not _UNCLEAR.search(_AT_LEAST.sub("", before)) else 0.0
    # Directly before the quantity "by" and "to" belong to a change: "rose by 5 %".
    if _UNCLEAR.search(before.removesuffix("by ").removesuffix("to ")) or _UNCLEAR.search(after):
        return 0.0
    # "Within a further 14 days" is a limit, too, though its words are apart.
    is_limit = re.search(r"(?i)\b(?:within|up|most|least)\b", before)
    return 0.0 if clause.aux in _ALLOWED or is_limit else _MORE


def _question(clause: Clause, subject: str, rest: str) -> str:
    question = clause.ask("", subject, rest)
    return as_customer(question[0].upper() + question[1:])
