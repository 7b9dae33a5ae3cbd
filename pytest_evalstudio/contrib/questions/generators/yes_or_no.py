"""Questions to be answered by yes or no."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pytest_evalstudio.contrib.questions.checks.phrasing import is_natural
from pytest_evalstudio.contrib.questions.checks.retrieval import query_terms, stems
from pytest_evalstudio.contrib.questions.parsing.frames import Frame, is_plural
from pytest_evalstudio.contrib.questions.parsing.statements import bare_statement
from pytest_evalstudio.contrib.questions.quantities import Quantity, changed, quantities, value_of
from pytest_evalstudio.contrib.questions.rules.composition import ask, words
from pytest_evalstudio.contrib.questions.rules.sentences import sentence_questions
from pytest_evalstudio.contrib.questions.words import word_set
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator
from pytest_evalstudio.formats.condition_writing import answer_condition

_MORE, _LESS = 1.5, 0.5
_WHOLE = 100.0
"""Percent."""
_UNSURE = re.compile(
    r"(?i)\b(?:more|less|fewer|over|than|above|exceed\w*|between|about|around|approximately|nearly|almost"
    r"|up to|at (?:least|most)|no later|maximum|minimum|limit\w*|or|unless|except|only|within|under|below"
    r"|until|from)\b"
)
"""Words with which another quantity may be true as well."""
_LIMITED = re.compile(
    r"(?i)\b(?:until|before|except|only|all|every|both|always|necessarily|any longer|but)\b"
)
"""Words that limit a negation: what is "not refunded until" a date is refunded."""
_CAUSE = re.compile(r"(?i)\b(?:because|since|owing to|due to|on account of)\b")
"""Words of a reason, which would hold for the contrary in a question: "permitted because of the risk"."""
_NEGATION = re.compile(r"(?i)\b(?:no|not|never|nobody|nothing|none|nor|neither|cannot|without)\b")
_MARK = re.compile(r"(?i)\b(?:if|when|whenever|where|once|after|before|while)\b")
_CONTRAST = re.compile(r"(?i)\b(?:however|on the other hand|on the contrary)\b")
_CLAUSES = re.compile(r";\s|,\sbut\s|(?<=\d)\.\s(?=[A-Z][a-z]+\s)")
_UNCERTAIN = word_set("would could might")
_VAGUE = re.compile(
    r"(?i)\b(?:always|usually|often|sometimes|something|anything|simply|merely|only|as I like)\b"
)
"""Words of statements that are no rule, or a limited one."""
_OBLIGED, _ALLOWED = word_set("must should shall"), word_set("can may could")


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
            reason = _reason(question, bare_statement(sentence))
            if not reason:
                continue
            yield Draft(
                question=question,
                answer=f"{answer}. {reason}",
                condition=answer_condition(f"{answer}.", question),
                evidence=sentence,
            )


def _reason(question: str, statement: str) -> str:
    """Return the clause of a statement that a question is about; "" where another one limits it."""
    if _CONTRAST.search(statement):
        return ""
    parts = _CLAUSES.split(statement.removesuffix("."))
    terms = {term for term in query_terms(question) if term.isalpha()}
    part = next((text for text in parts if terms <= set(stems(text))), "")
    if part:
        return f"{part[:1].upper()}{part[1:]}."
    return "" if ", but " in statement else statement


@dataclass(frozen=True, slots=True)
class _Pair:
    """A question to be answered by yes, and one to be answered by no; "" where there is none for sure."""

    true: str = ""
    false: str = ""


@functools.lru_cache(maxsize=1)
def _answers(corpus: Corpus) -> dict[str, tuple[str, str]]:
    """Return an answer and its question by sentence: no if it is not more frequent than yes and possible."""
    answers: dict[str, tuple[str, str]] = {}
    excess = 0  # of yes
    for sentence in dict.fromkeys(corpus.sentences):
        pairs = sorted(_pairs(sentence, corpus), key=lambda pair: not quantities(pair.true or pair.false))
        pair = pairs[0] if pairs else None
        if pair is None:
            continue
        is_denied = pair.false != "" and (excess > 0 or not pair.true)
        excess += -1 if is_denied else 1
        answers[sentence] = ("No", pair.false) if is_denied else ("Yes", pair.true)
    return answers


def _pairs(sentence: str, corpus: Corpus) -> Iterator[_Pair]:
    for frame in sentence_questions(sentence, corpus).frames:
        pair = _pair(frame)
        if pair is not None and is_natural(pair.true or pair.false):
            yield pair


def _pair(frame: Frame) -> _Pair | None:
    """Return the questions for a clause; None in doubt."""
    head = frame.head
    # The patterns of words that deny or bound are English.
    if frame.language.code != "en" or head is None or not frame.rest:
        return None
    if frame.subject[0].lower_ in ("up", "at"):
        return None
    is_be = frame.finite.lower_ in ("is", "are", "was", "were")
    is_bound = [each.lower_ for each in frame.rest[:2]] == ["to", "be"]
    if is_be and not is_bound and frame.rest[0].lower_ in ("by", "to", "for", "of", "with"):
        return None  # "Resignation is by letter"
    rest = f"{words(frame, frame.rest)} {frame.condition}"
    if frame.negation is not None or frame.subject[0].lower_ == "no":
        return _denied(frame, rest)
    if _NEGATION.search(words(frame, frame.subject)) or _CAUSE.search(rest):
        return None
    question = re.sub(r"^Shall\b", "Must", ask(frame, ""))
    hits = quantities(question)
    modal = frame.finite.lower_ if frame.finite.tag_ == "MD" else ""
    if modal in _UNCERTAIN or (head.lower_ == "there" and not hits):
        return None
    if not hits:
        is_rule = modal in _OBLIGED | _ALLOWED and not _VAGUE.search(question)
        return _Pair(true=question) if is_rule and len(frame.rest) > 2 else None
    return _Pair(true=question, false=_false(question, hits, frame))


def _denied(frame: Frame, rest: str) -> _Pair | None:
    """Return the question for a statement that has one negation, which its answer gives."""
    is_limited = _LIMITED.search(rest) or _CAUSE.search(rest) or not frame.is_auxiliary
    if len(_NEGATION.findall(f"{words(frame, frame.subject)} {rest}")) != 1 or is_limited:
        return None
    if frame.subject[0].lower_ == "no":
        head, following = frame.head, words(frame, frame.subject[1:])
        if head is None or head.pos_ != "NOUN" or "," in following:
            return None
        article = "" if is_plural(head) else "an" if following[:1].lower() in "aeiou" else "a"
        frame = replace(frame, overrides={**frame.overrides, frame.subject[0].i: article})
    question = ask(frame, "", affirmative=True)
    # "Must not" forbids.
    return _Pair(false=re.sub(r"^(?:Must|Shall)\b", "May", question))


def _false(question: str, hits: list[Quantity], frame: Frame) -> str:
    """Return a question with another quantity that makes the statement false, "" where none surely does."""
    quantity = hits[0]
    rest = question[: quantity.start] + question[quantity.end :]
    if len(hits) != 1 or quantity.kind in ("date", "number") or _UNSURE.search(rest):
        return ""
    if frame.finite.lower_ in _OBLIGED | _ALLOWED:
        return ""
    # "Is a reminder sent when it is ten days late?" is true where seven days are enough.
    mark = _MARK.search(question)
    is_of_condition = mark is not None and mark.start() < quantity.start
    if is_of_condition or quantity.text in words(frame, frame.subject):
        return ""
    value = value_of(quantity.text)
    is_beyond = quantity.kind == "percent" and value is not None and value * _MORE > _WHOLE
    other = changed(quantity.text, _LESS if is_beyond else _MORE)
    return question[: quantity.start] + other + question[quantity.end :] if other else ""
