"""Questions to be answered by yes or no."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.parsing.statements import without_number
from pytest_evalstudio.contrib.questions.quantities import Quantity, changed, quantities, value_of
from pytest_evalstudio.contrib.questions.rules.composition import Source, mark_of
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
    r"(?i)\b(?:until|before|unless|except|only|all|every|both|always|necessarily|any longer|but)\b"
)
"""Words that limit a negation: what is "not refunded until" a date is refunded."""
_CAUSE = re.compile(r"(?i)\b(?:because|since|owing to|due to|on account of)\b")
"""Words of a reason, which would hold for the contrary in a question: "permitted because of the risk"."""
_NEGATION = re.compile(r"(?i)\b(?:no|not|never|nobody|nothing|none|nor|neither|cannot|without)\b")
_UNCERTAIN = word_set("would could might")
_VAGUE = re.compile(
    r"(?i)\b(?:always|usually|often|sometimes|something|anything|simply|merely|only|as I like)\b"
)
"""Words of statements that are no rule, or a limited one."""
_OBLIGED, _ALLOWED = word_set("must should shall"), word_set("can may could")
_MAX_WORDS = 18


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
                condition=answer_condition(f"{answer}.", question),
                evidence=sentence,
            )


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
        pair = next(_pairs(sentence, corpus), None)
        if pair is None:
            continue
        is_denied = pair.false != "" and (excess > 0 or not pair.true)
        excess += -1 if is_denied else 1
        answers[sentence] = ("No", pair.false) if is_denied else ("Yes", pair.true)
    return answers


def _pairs(sentence: str, corpus: Corpus) -> Iterator[_Pair]:
    sources = sentence_questions(sentence, corpus).sources
    for source in sources:
        pair = _pair(source)
        if pair is not None and len((pair.true or pair.false).split()) <= _MAX_WORDS:
            yield pair


def _pair(source: Source) -> _Pair | None:
    """Return the questions for a clause; None in doubt."""
    clause = source.clause
    head = clause.subject_head
    # The patterns of words that deny or bound are English.
    if clause.language.code != "en" or clause.is_command or (head is not None and head.dep_ == "expl"):
        return None
    if clause.lemma == "be" and not list(clause.constituents):
        return None  # "cats are not", said of what stands before
    statement = source.statement()
    if clause.is_negative:
        return _denied(source, statement)
    if _NEGATION.search(statement):
        return None
    question = re.sub(r"^Shall\b", "Must", source.ask(""))
    hits = quantities(question)
    marks = {mark_of(part, clause) for part in clause.constituents}
    words = {each.lower_ for each in clause.auxiliaries}
    if words & _UNCERTAIN or marks & clause.language.words("reason marks"):
        return None
    if not hits:
        is_rule = bool(words & (_OBLIGED | _ALLOWED)) and not _VAGUE.search(question)
        return _Pair(true=question) if is_rule and len(list(clause.constituents)) > 1 else None
    return _Pair(true=question, false=_false(question, hits, source))


def _denied(source: Source, statement: str) -> _Pair | None:
    """Return the question for a statement that has one negation, which its answer gives."""
    if len(_NEGATION.findall(statement)) != 1 or _LIMITED.search(statement) or _CAUSE.search(statement):
        return None
    clause = source.clause
    first = clause.auxiliaries[0] if clause.auxiliaries else None
    if first is not None and first.lower_ in ("must", "shall"):
        # "Must not" forbids.
        return _Pair(false=re.sub(r"^(?:Must|Shall)\b", "May", source.ask("", affirmative=True)))
    if first is not None and first.lower_ == "do" and not clause.is_first:
        return None  # "You may open the lid, but do not leave it open": an instruction
    return _Pair(false=source.ask("", affirmative=True))


def _false(question: str, hits: list[Quantity], source: Source) -> str:
    """Return a question with another quantity that makes the statement false, "" where none surely does."""
    quantity = hits[0]
    rest = question[: quantity.start] + question[quantity.end :]
    if len(hits) != 1 or quantity.kind in ("date", "number") or _UNSURE.search(rest):
        return ""
    words = {each.lower_ for each in source.clause.auxiliaries}
    if words & (_OBLIGED | _ALLOWED):
        return ""
    marked = source.clause.language.words("clauses")
    conditions = [part.tokens for part in source.clause.constituents if part.role in marked]
    # "Is a reminder sent when it is ten days late?" is true where seven days are enough.
    if any(quantity.text in source.text(tokens) for tokens in (source.clause.subject, *conditions)):
        return ""
    value = value_of(quantity.text)
    is_beyond = quantity.kind == "percent" and value is not None and value * _MORE > _WHOLE
    other = changed(quantity.text, _LESS if is_beyond else _MORE)
    return question[: quantity.start] + other + question[quantity.end :] if other else ""
