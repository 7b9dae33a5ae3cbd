"""Yes or no: whether an answer affirms or denies a statement or a question.

An answer is read by its first sentence:

1. a word for yes or no at its beginning ("Correct, …", "Unfortunately not.");
2. a short answer, a pronoun with its verb ("They are, for seven years", "It doesn't", "None of them does");
3. the statement itself, with most of its words: it is affirmed, and denied where exactly one of the two has a
   negation or an opposite ("open" for "closed"), or where a value of the same kind is another one.

An answer that is none of these neither affirms nor denies.
"""

# ruff: noqa: E501, SIM905  (patterns, tables and examples)

from __future__ import annotations

import re
from typing import Literal

from pytest_evalstudio.text.folding import fold
from pytest_evalstudio.text.spelled import cardinal
from pytest_evalstudio.text.stated_values import StatedValue, stated_values
from pytest_evalstudio.text.units import MEASURES

Polarity = Literal["yes", "no", ""]
MIN_SHARED = 0.5
"""Share of the content words of a statement that an answer has if it repeats the statement."""
_MAX_CHARS = 1_000
"""Part of an answer that is read: a yes or no comes first."""
_LEADS = re.compile(
    r"\A(?:[\s*_#>\"'(-]*(?:according to [^,.;:]{1,80},|well,|thank you[^.!]{0,60}[.!]|thanks[.!,]|good question[.!]"
    r"|in short[,:]|the (?:short )?answer is:?|answer:|as far as (?:i|we) know,))*[\s*_#>\"'(-]*",
    re.IGNORECASE,
)
_NO = re.compile(
    r"(?:no(?=\s*(?:[.,;:!\-]|\Z))|no, |nope\b|nah\b|not?\s+(?:at all|really|so|quite|usually|normally|necessarily)\b|never\b"
    r"|(?:unfortunately|sadly|certainly|of course|absolutely|definitely|probably|i'm afraid|regrettably|generally|usually)"
    r"(?:,? (?:no|not))\b|by no means\b|on the contrary\b|incorrect\b|wrong\b|false\b|untrue\b"
    r"|(?:that|this|it)(?:'s| is| would be)?(?: not|n't)? (?:in|un)?(?:correct|true|wrong|false)\b(?<!is correct)(?<!is true)"
    r"(?<!'s correct)(?<!'s true)(?<!be correct)(?<!be true))",
    re.IGNORECASE,
)
_YES = re.compile(
    r"(?:(?P<ready>certainly|of course|sure|surely|absolutely|definitely|right)\b"
    r"|yes\b|yeah\b|yep\b|correct\b|true\b|indeed\b|exactly\b|affirmative\b|always\b(?=\s*[.,;!]|\Z)|(?:that|this|it)(?:'s| is) (?:right|correct|true|so|the case)\b)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"[\s,.!;:-]*(?:(?:i|we)(?:'d|'ll|'m|'re| can| could| will| would| am| are)\b|let me\b|let us\b|let's\b|here(?:'s| is| are)\b"
    r"|(?:happy|glad|pleased) to\b|(?:how|what) (?:can|do|would|may)\b|please\b|thing\b)",
    re.IGNORECASE,
)
"""Words after a word for yes that agree to help, and answer nothing."""
_AUX = (
    r"(?:is|are|was|were|am|be|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would|need|needs"
    r"|ought|allowed|permitted|possible|required|is allowed|are allowed|is permitted|are permitted|is possible|is required)"
)
_ENDS = (
    r"(?=\s*(?:[.,;:!()\-]|\Z)|\s+(?:if|when|unless|until|but|as long as|so long as|provided|except|only|because|since"
    r"|for|from|by|within|after|before|at|on|in|up to|without)\b)"
)
_SHORT = re.compile(
    r"(?:(?P<nobody>none(?: of (?:them|these|those|it))?|nobody|no one|neither(?: of (?:them|these|those))?|nothing)"
    r"|(?:it|they|you|we|he|she|i|that|this|these|those|both|all(?: of (?:them|these|those))?|each(?: of them)?"
    r"|everybody|everyone|one))"
    rf"\s+(?P<verb>(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|shall|should|will|would|need|needs|ca|wo|sha)"
    r"(?P<not>n't|not|\s+not\b|\s+never\b)?)"
    rf"(?:\s+(?:indeed|always|usually|normally|generally|certainly|also|so|still|be|been|have to|to))*(?P<not_late>\s+not\b)?{_ENDS}",
    re.IGNORECASE,
)
_PARENTHESIS = re.compile(
    r"\s*,\s[^,.;:!?]{1,40},\s(?!(?:and|but|or|if|when|unless|until|as|so|provided|except|only|because|since|for|from|by|within"
    r"|after|before|at|on|in|up|without|though|although|while|which|who)\b)[a-z]",
    re.IGNORECASE,
)
"""Words between a verb and its rest, so that the answer is no short one: "We will, of course, check this."."""
_PERMITTED = re.compile(
    r"(?:it|that|this|they|you)(?:'s| is| are|'re)\s+(?P<not>not |n't )?(?P<word>(?:strictly )?(?:forbidden|prohibited|banned"
    r"|impossible|unlawful|allowed|permitted|possible|required|necessary|included|excluded))\b"
    r"|(?:it|that|this|they|you)\s+(?P<contracted>isn't|aren't)\s+(?P<after>allowed|permitted|possible|required|necessary|included)\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(r"forbidden|prohibited|banned|impossible|unlawful|excluded", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not(?! (?:only|just|later|more|less|fewer|longer)\b)|never|none|nobody|nothing|neither|nor|cannot|without"
    r"|no(?! (?:more|less|fewer|later|longer|sooner|earlier)\b))\b|n't\b|\bnon-(?=[a-z])",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:do not|don't|cannot|can't|could not|couldn't|unable to|not able to)\s+(?:know|say|tell|find|answer|confirm"
    r"|determine|help|see|verify)\b|\bnot (?:clear|stated|mentioned|specified|sure|known|say|mention|contain)\b"
    r"|\bno information\b|\bunclear\b|\bunknown\b|\bwhether\b",
    re.IGNORECASE,
)
"""Words of a sentence that leaves the question open, though it repeats it."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+|;\s|\s--?\s")
_WORD = re.compile(r"[a-z][a-z'-]*|[0-9]+", re.IGNORECASE)
_FUNCTION_WORDS = frozenset(
    """
    a an the is are was were be been am do does did has have had can could may might must shall should will would
    need of to in on at by for from with within without into onto and or but if when while as than that this these
    those it its they them their you your we our us i my he she his her there here any some all each every both no
    not never none neither nor yes so such very also only just up out over under about after before until during
    what which who whom whose how why where one own per
    """.split()
)
_OPPOSITES = (
    ("open", "closed"), ("allowed", "forbidden"), ("permitted", "forbidden"), ("allowed", "prohibited"),
    ("permitted", "prohibited"), ("included", "excluded"), ("included", "extra"), ("free", "charged"),
    ("free", "paid"), ("mandatory", "optional"), ("required", "optional"), ("compulsory", "voluntary"),
    ("possible", "impossible"), ("legal", "illegal"), ("lawful", "unlawful"), ("valid", "invalid"),
    ("limited", "unlimited"), ("covered", "uncovered"), ("covered", "excluded"), ("accepted", "refused"),
    ("accepted", "rejected"), ("increased", "decreased"), ("rises", "falls"), ("higher", "lower"),
    ("before", "after"), ("more", "less"), ("available", "unavailable"), ("personal", "transferable"),
    ("same", "different"), ("public", "private"), ("daily", "weekly"), ("always", "sometimes"),
)  # fmt: skip
_SUFFIXES = re.compile(r"(?:ation|ments?|ments|ness|ings?|edly|ed|es|s|ly|e|d)\Z")


def affirms(answer: str, statement: str) -> bool:
    """Return True if an answer affirms a statement, or answers a question by yes.

    >>> [affirms(text, "Are records kept for ten years?") for text in ("They are.", "For ten years, not more.", "No.")]
    [True, False, False]
    >>> affirms("Records are kept for ten years.", "Are records kept for ten years?")
    True
    """
    return polarity_of(answer, statement) == "yes"


def denies(answer: str, statement: str) -> bool:
    """Return True if an answer denies a statement, or answers a question by no.

    >>> [denies(text, "Are records kept for ten years?") for text in ("They aren't.", "They are kept for six years.")]
    [True, True]
    """
    return polarity_of(answer, statement) == "no"


def polarity_of(answer: str, statement: str) -> Polarity:
    """Return "yes", "no", or "" where an answer says neither.

    Args:
        answer: English text; time is linear in its length.
        statement: what is affirmed or denied, as a statement or a question.
    """
    text = fold(answer[:_MAX_CHARS]).strip()
    text = text[_LEADS.match(text).end() :]  # type: ignore[union-attr]  # it matches anywhere
    if not text:
        return ""
    if _NO.match(text):
        return "no"
    if yes := _YES.match(text):
        return _after_yes(text, yes, statement)
    short = _SHORT.match(text)
    if short and not _PARENTHESIS.match(text, short.end()):
        is_no = bool(short["nobody"]) != bool(short["not"] or short["not_late"])
        rest = _SENTENCE_END.split(text[short.end() :], 1)[0]
        # "We will, but only after 30 days" affirms another statement.
        if is_no:
            return "no"
        return "" if _has_other_value(rest, fold(statement)) else "yes"
    if permitted := _PERMITTED.match(text):
        return _permission(permitted)
    return _restated(text, fold(statement))


def _after_yes(text: str, yes: re.Match[str], statement: str) -> Polarity:
    """Return the polarity of an answer that begins with a word for yes."""
    rest = text[yes.end() :]
    if yes["ready"] and _OFFER.match(rest):
        # "Sure, I can help with that." agrees to help; what follows may still answer.
        return _restated(rest, fold(statement))
    # "Yes, but only for five years" affirms another statement.
    return "" if _has_other_value(_SENTENCE_END.split(rest, 1)[0], fold(statement)) else "yes"


def _permission(match: re.Match[str]) -> Polarity:
    if match["after"]:
        return "no"
    is_no = bool(_FORBIDS.search(match["word"])) != bool(match["not"])
    return "no" if is_no else "yes"


def _restated(text: str, statement: str) -> Polarity:
    """Return the polarity of an answer that repeats the statement, "" for another text."""
    for sentence in _SENTENCE_END.split(text)[:3]:
        if _UNKNOWN.search(sentence):
            return ""
        words, wanted = _content(sentence), _content(statement)
        opposites = _opposite_words(words, wanted)
        shared = len(words & wanted) + len(opposites)
        if not wanted or shared < MIN_SHARED * len(wanted):
            continue
        is_no = len(_NEGATION.findall(sentence)) % 2 != len(_NEGATION.findall(statement)) % 2
        is_no ^= len(opposites) % 2 == 1
        return "no" if is_no or _has_other_value(sentence, statement) else "yes"
    return ""


def _content(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for match in _WORD.finditer(text) if _is_content(word := match[0].lower()))


def _is_content(word: str) -> bool:
    """Return True for a word that says what a statement is about; values are compared by themselves."""
    return not (
        word in _FUNCTION_WORDS or "n't" in word or word[0].isdigit() or word in MEASURES or cardinal(word)
    )


def _stem(word: str) -> str:
    word = word.removeprefix("non-").removesuffix("'s").removesuffix("'")
    stem = _SUFFIXES.sub("", word)
    return stem if len(stem) >= 3 else word


def _opposite_words(words: frozenset[str], wanted: frozenset[str]) -> set[str]:
    """Return the stems of a statement in whose place an answer has their opposite."""
    hits: set[str] = set()
    for first, second in _OPPOSITES:
        for one, other in ((_stem(first), _stem(second)), (_stem(second), _stem(first))):
            if one in wanted and other in words and one not in words:
                hits.add(one)
    return hits


def _has_other_value(sentence: str, statement: str) -> bool:
    """Return True if a sentence has a value of a kind that the statement has, and no equal one."""
    wanted = stated_values(statement)
    stated = stated_values(sentence)
    return any(
        any(_same_kind(value, other) for other in stated) and not any(value.equals(other) for other in stated)
        for value in wanted
    )


def _same_kind(first: StatedValue, second: StatedValue) -> bool:
    units = {unit for _, unit in first.readings} & {unit for _, unit in second.readings}
    return first.kind == second.kind and (bool(units) or bool(first.dates and second.dates))
