"""Simple sentences that a complex sentence implies, each with the words that restrict it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_evalstudio.contrib.questions.grammar.clauses import DEICTIC, clauses, without_heading
from pytest_evalstudio.contrib.questions.grammar.verbs import AUXILIARIES, forms
from pytest_evalstudio.contrib.questions.words import word_table

_SEPARATOR = re.compile(r";\s|(?<=[ap]\.m\.)\s(?=[A-Z])|(?<=°[CF])\s?\.\s(?=[A-Z])")
"""End of a statement within a sentence, or of a sentence that the splitter has joined with the next."""
_ADDITIVE = re.compile(r"(?i)(?<!but),?\s(?:also|therefore|however|in addition)\b(?!\s(?:apply|applies)\b),?")
_REMARK = re.compile(
    r"\s?\((?!(?:unless|except|only|not|but)\b|[^()]{0,60}\b(?:if|for|from|reduced)\b)[^()]*\)"
)
"""A remark in parentheses that states no exception or other case."""
_APPOSITION = re.compile(
    r",\s(?:(?:Mr|Mrs|Ms|Dr|Prof|Sir)\s)?[A-Z][\w’'-]+(?:\s[A-Z][\w’'-]+){0,3},\s"
    r"(?=(?:within|by|in|on|at|before|after|for|until|from|is|was|will|has)\s)"
)
"""A name after a comma: "the caretaker, Mr Owen Hadley, within 24 hours"."""
_CLAUSE_OF_SUBJECT = re.compile(
    r"^(?P<subject>[A-Z][^,;:]{2,60}),\s(?:which|who|based|presented|built|led|founded|opened|bought|meaning|namely"
    r"|named|designed|under\swhich)\s[^;:]{2,80},\s"
    r"(?=(?:is|are|was|were|will|can|may|must|has|have|had|went|grew|took|fell|rose|stood|[a-z]+ed|[a-z]+s)\s)"
)
"""A remark between subject and verb: "Paper Lantern, based in Bristol, publishes"."""
_COMMENT = re.compile(r",\s(?:usually|normally|generally|preferably|ideally|at the latest),?(?=\s|\.)")
_LEAD = re.compile(
    r"(?P<lead>(?:If|When|Whenever|Where|For|In|At|On|Under|After|Before|During|From|Until|To|Once|As soon as"
    r"|With|Without|Outside|Within|Between|Over|By)\s[^,;:]+),\s(?P<main>.+)"
)
_SHORT_LEAD = re.compile(r"(?:In|On|For|From|After|Until|At|Under|During|Before)\s[^,;:]+")
_MAIN = re.compile(r"\s(?=(?:we|you|the|an?|no|each|every|either)\s)")
_OPEN_ENDS = word_table("prepositions") | {"and", "or", "the", "a", "than", "which", "that", "completing"}
_MIN_LEAD_WORDS = 2
_REASON = re.compile(r",\s(?:because|since|so|as(?!\s\w+\sas\b)|which)\s[^,]+$")
_UNEXPLAINED = re.compile(
    r"(?i)\b(?:it|its|they|their|them|this|these|that|those|such|there|here|both|he|she|his|her|another|others?"
    r"|same|also|so|which|following|latter|former|case|cases|addition|particular|exceptional|circumstances|turn"
    r"|general|principle|contrast|response|view|example|instance|reason|purpose|first instance)\b"
)
"""Words of a lead that the sentences before explain, or that say nothing by themselves."""
_MAX_LEAD_WORDS = 14
_MAX_WORDS = 80
"""Maximum length of a divided sentence, which bounds the time for patterns that try each conjunction."""
_TAIL = re.compile(r",\s(?!(?:and|or)\s)|\b(?:if|when|unless|except|provided|because|while|but)\b")
_EXCEPTION = re.compile(
    r"(?i)\b(?:if|when|whenever|unless|except|provided|providing|where|while|until|but|however|although"
    r"|though|only|not|no|never|subject to|or|for|from|after)\b"
)
_COORDINATED = re.compile(
    r",\s(?P<conjunction>and|but|while|whereas)\s(?P<second>[a-z].+)$"
    r"|\s(?P<joining>and)\s(?P<clause>(?:the|an?|each|every|[a-z]+(?:\s[a-z]+)?s)\s[^,]*\b(?:is|are|was|were|will|must|may|can)\s.+)$"
)
_SUBORDINATE = re.compile(
    r"\b(?:if|when|that|which|who|where|because|until|after|before|once|unless|between)\b"
)
_CHANGED = re.compile(
    r"(?i)(?:for|in|on|at|after|from|if|under|thereafter|then|it|they|this|afterwards|where)\b"
)
_STARTS = word_table("determiners") | {"we", "you", "either"}


class SimpleSentence(NamedTuple):
    """A sentence with one main clause.

    Attributes:
        context: adjunct or condition that a question must keep: "for the Archive class", "" for none.
    """

    text: str
    context: str = ""


@functools.lru_cache(maxsize=4096)
def simple_sentences(sentence: str) -> tuple[SimpleSentence, ...]:
    """Return the simple sentences that a sentence implies, other than itself.

    >>> simple_sentences("If a payment is late, a fee of £25 is added; the fee is charged monthly.")[0]
    SimpleSentence(text='A fee of £25 is added.', context='if a payment is late')
    """
    text = " ".join(sentence.split())
    if not text.endswith(".") or text[0].islower() or len(text.split()) > _MAX_WORDS:
        return ()
    parts = [part.rstrip(". ") for part in _SEPARATOR.split(without_heading(text))]
    simple: dict[SimpleSentence, None] = {}
    for part, following in zip(parts, [*parts[1:], ""], strict=True):
        # The next part states another case, so that this part does not hold alone.
        if following and _CHANGED.match(following) and _EXCEPTION.search(following):
            continue
        for item in _of_part(part):
            simple.setdefault(item)
    return tuple(item for item in simple if item != (text, ""))


def _of_part(part: str) -> Iterator[SimpleSentence]:
    text = _COMMENT.sub("", _REMARK.sub("", part)) if "not only" in part else _plain(part)
    text, context = _without_lead(text[:1].upper() + text[1:])
    if context is None:
        return
    match = _COORDINATED.search(text)
    end = (match["second"] or match["clause"]) if match else ""
    second = f"{end[0].upper()}{end[1:]}." if end else ""
    if match and _are_clauses(text[: match.start()], second, is_joined=not match["second"]):
        is_added = match["conjunction"] in ("and", None)
        # A contrast such as "but" may limit the clause before it.
        if is_added:
            yield SimpleSentence(_independent(text[: match.start()]), context)
        yield SimpleSentence(second, context if is_added else "")
        return
    yield SimpleSentence(_independent(text), context)


def _are_clauses(first: str, second: str, *, is_joined: bool) -> bool:
    """Report whether the parts before and after a conjunction are main clauses.

    Args:
        first: without a full stop.
        second: with one.
        is_joined: no comma is between them, so that the second may be part of a subordinate clause.
    """
    is_subordinate = is_joined and _SUBORDINATE.search(first)
    of_first, of_second = clauses(f"{first}."), clauses(second)
    if is_subordinate or not of_first or not of_second:
        return False
    # "We work out what you owe, and return the rest" has no instruction.
    return of_first[0].kind == "command" or of_second[0].kind == "statement"


def _plain(part: str) -> str:
    """Return a part of a sentence without remarks, names in apposition and linking adverbs."""
    text = _REMARK.sub("", part)
    text = _CLAUSE_OF_SUBJECT.sub(r"\g<subject> ", _APPOSITION.sub(" ", text))
    return _ADDITIVE.sub("", _COMMENT.sub("", text))


def _without_lead(text: str) -> tuple[str, str | None]:
    """Return a sentence without the adjunct before its subject, and the adjunct; None if it is not clear."""
    parts = _lead_and_main(text)
    if parts is None:
        return text, ""
    lead, main = parts
    first = main.split(" ")[0].lower()
    is_start = first in _STARTS or main[0].isupper() or first.endswith("s") or _is_command(main)
    is_unclear = (
        lead.startswith(("For your", "For our"))
        or _UNEXPLAINED.search(lead)
        or len(lead.split()) > _MAX_LEAD_WORDS
    )
    if not is_start or is_unclear or _TAIL.search(main):
        return text, None
    return main[0].upper() + main[1:], lead[0].lower() + lead[1:]


def _lead_and_main(text: str) -> tuple[str, str] | None:
    """Return the adjunct before a subject, and the rest without its reason; None if there is none."""
    if match := _LEAD.fullmatch(text):
        return match["lead"], _REASON.sub("", match["main"])
    start = _SHORT_LEAD.match(text)
    if start is None:
        return None
    for split in _MAIN.finditer(start.group()):
        lead, main = text[: split.start()], text[split.end() :]
        words = lead.lower().split()
        if len(words) < _MIN_LEAD_WORDS or words[-1] in _OPEN_ENDS or "ing" in forms(words[-1]):
            continue
        if clauses(f"{main[0].upper()}{main[1:]}."):
            return lead, main
    return None


def _is_command(main: str) -> bool:
    return "base" in forms(main.split(" ")[0])


def _independent(text: str) -> str:
    """Return a sentence without an end that only the sentences around it explain, if it restricts nothing."""
    match = DEICTIC.search(text)
    if match is None:
        return f"{text}."
    for cut in reversed(
        list(re.finditer(r",\s|\s(?:and|because|since|so that|as)\s", text[: match.start()]))
    ):
        tail = text[cut.end() :]
        word = tail.split(" ")[0].lower()
        is_clause = "and" not in cut.group() or word in AUXILIARIES | {"then", "also"} or bool(forms(word))
        if is_clause and not _EXCEPTION.search(tail):
            return f"{text[: cut.start()]}."
    return f"{text}."
