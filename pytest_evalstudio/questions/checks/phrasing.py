"""Questions that nobody would type: too long, with leftovers of a sentence, or about things not named."""

from __future__ import annotations

import re

from pytest_evalstudio.engine.corpus import singular
from pytest_evalstudio.questions.checks.retrieval import bare_question
from pytest_evalstudio.questions.words import word_table

_MAX_WORDS = 18
_MAX_WORDS_WITH_CLAUSE = 15
"""Maximum number of words of a question with a relative clause or two genitives."""
_MAX_WORDS_WITH_AND = 14
"""Maximum number of words of a question of yes or no with "and"."""
_YES_OR_NO = re.compile(r"(?i)(?:do|does|did|is|are|was|were|has|have|can|may|must|should|will)\b")
_NUMBER = (
    r"(?:[\d.,]+\S*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|million|billion|half"
    r"|cubic|square)"
)
_UNNATURAL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Words that point to the text around a sentence.
        (
            rf"\b(?:also|further|such|this|these|those|others?|another|latter|former|respective(?:ly)?"
            r"|following(?!\s(?:day|week|month|year)\b)"
            rf"|remaining|previous(?:ly)?|meanwhile|then|therefore|otherwise|however|instead|too|only"
            rf"|same(?!-|\s(?:day|time|price|rate))|last(?!\s{_NUMBER}|\?|\sfrom\s)|next(?!\s{_NUMBER}|\sto\s))\b"
            rf"|\b(?:above|below)\?$"
        ),
        # A stiff or impersonal beginning.
        (
            r"(?:at what cost|for what amount|with what|in what|to what (?:fee|price|power|tariff)"
            r"|by what (?!percentage))\b|^(?:is|are|was|were|do|does|did) (?:there|each year|every year)\b"
            r"|^when (?:was|were) an? total\b|^what (?:is|are) (?:each|every|all|both)\b"
        ),
        # Something of the asker's that only the section around the sentence explains.
        (
            r"\bmy (?:request|application|answer|notice|case|claim|decision|message|report)"
            r"(?!\s(?:for|to|about|of)\b)"
        ),
        # A pronoun or a measure without what it stands for, a second count, the form of the sentence.
        (
            r"\b(?:it|them)\?$"
            r"|^how (?:many|much)\b.*\sand\s(?:a|an|one|two|three|four|\d+)\s"
            r"|\b(?:anyone|anybody|everyone|everybody|those|people)\swho\b"
            r"|^what (?:is|was) the (?:limit|maximum|minimum|rate|fee|charge|price|cost)\sper\s\w+\?$"
            r"|^what do \w+s of\b|^who \w+ (?:about|around|nearly|almost|some|roughly)\s"
            r"|\bof (?:every|each)\b|^how old must \w+ be\?$"
            r"|^what is the limit on\b.*\sand\s(?:to|for|on)\s|^for how long\b.*\sand\s(?:a|an|the|my|your)\s"
            r"|^after how many years\b.*\bin (?:office|post)\b"
        ),
        # Words that do not belong to the question, a second fact, a number without its noun.
        (
            r"\bfor (?:everyone|everybody|anyone|all)\?$|\bat (?:least|most)\?$|(?-i:\bplus\b)"
            r"|^when\b.*\b(?:once|twice)\b|^why\b.*\bbut\b"
            r"|^(?:what|how|which)\b.*\b(?!(?:family|supply|july|reply|assembly|italy|fly)\b)\w+ly"
            r"\s(?:must|may|can|should|will|do|does|did)\b"
            r"|^(?:do|does|did)\b.*\b(?:hold|seat|take|accommodate|carry|have|employ)\s\d+\?$"
        ),
        # Persons, levels and figures that only the text around the sentence names.
        (
            r"\b(?:his|hers?|him)\b|\bone of (?:two|three|four|five|six|seven|eight|the|several)\s\w+\?$"
            r"|\b(?:a|an|any|each|every|the)\s(?:higher|lower|longer|shorter|larger|smaller|greater|lesser)\s(?!.*\bthan\b)"
            r"|^(?:what is|is) the (?:speed |age |weight )?limit\b(?! (?:for|of|on|in|at|throughout)\b)"
            r"|\bdivisional\b|\bthe (?:purchase|sale|selling) price(?:\?|\s[£$€\d])"
            r"|^must \w+ be at least \d+\?$"
            r"|^for how (?:long|many \w+) should you (?:hold|press|push)\b(?!.*\bto\s)"
            r"|\bmembers (?:appointed|elected)\?$|\b(?:your|my) acceptance\b(?!\s(?:of|for|to|into|by)\b)"
        ),
        # A quantifier or a figure without what it is of, and a name that is hard to read with its genitive.
        (
            r"\b(?:each|both|some|neither)(?=\s(?:for|in|at|on|with|from|to|by)\b|\?)|\b[ap]\.m\?$"
            r"|(?:['’]s|\b(?:your|my|its|the))\s(?:target|goal|aim|average|figure|total|result|share|rate|level)"
            r"(?:\s[£$€\d]\S*(?:\s\w+)?|\s(?:one|two|three)\s\w+)?\?$|['’]s\b.*['’]s\b|\bspend of\b"
            r"|\b(?:new|old|second|larger|smaller)\sones?\b"
        ),
        # A second verb in the form of the sentence: "Did the storm close the school and ruined".
        (
            r"\b(?:do|does|did)\b.*\b(?:and|or|but)\s(?:\w+ly\s)?(?:\w+ed|was|were|is|are|has|had|have|will)\b"
            r"|^when\b.*\b(?:and|or|but)\s(?:\w+ly\s)?\w+(?:s|ed)\b"
        ),
        # The price of a period or a ticket, without what it is for.
        (
            r"\b(?:a|an|each|one)\s(?:(?:daily|weekly|monthly|annual|yearly|single|standard|full|extra|adult)\s)?"
            r"(?:night|day|week|month|year|hour|minute|weekend|session|visit|stay|ticket|pass|copy|item|place)\scost\b"
        ),
    )
)
"""Patterns that no question has which a person could type."""
_UNIT = re.compile(
    r"(?i)(?<!\bmany)(?<!\bwhat)(?<!\d)\s"
    r"(?<!\bin\s)(?:pounds|euros?|dollars|pence|cents|per\scent|percent|%|kg|km|kw|kwh|°c)\b"
)
"""A unit, which a question has only after a number."""
_ENDS_WITH_NUMBER = re.compile(rf"(?i)\b{_NUMBER}$")
_DANGLING = word_table("dangling ends")
_STRANDED = re.compile(r"(?i)(?:what|how (?:many|much)|who)\b.*\b(?:of|for|against)\?$")
_MODAL_AFTER_DO = re.compile(
    r"(?i)\b(?:do|does|did)\b(?P<between>.*?)\b(?:must|may|can|will|should|shall|is|are|was|were)\b"
)
_CONJUNCTION = re.compile(
    r"(?i)\b(?:if|when|while|that|which|who|where|because|once|until|before|after|and|or)\b"
)
"""Words that may be between two verbs of a question."""
_RELATIVE = re.compile(r"(?i)\b(?:who|which|that|whose|whom)\b")
_NOUN_OF_QUESTION = re.compile(r"(?i)\b(?:what|how many|how much)\s(?P<noun>[a-z]{4,})\b")


def is_natural(question: str) -> bool:
    """Report whether a person could type a question as it is; False in doubt.

    >>> is_natural("How long does delivery take?"), is_natural("For how long do members pay only?")
    (True, False)
    >>> is_natural("By what percentage did the average bill rise pounds?")
    False
    """
    text = bare_question(question)
    words = text.rstrip("?").split()
    last = words[-1].lower()
    is_cut = last in _DANGLING or (last in ("of", "for", "against") and not _STRANDED.match(text))
    return not (
        len(words) > _max_words(text)
        or is_cut
        or any(pattern.search(text) for pattern in _UNNATURAL)
        or _has_bare_unit(text)
        or _repeats_noun(text)
        or _has_two_verbs(text)
    )


def _max_words(text: str) -> int:
    """Return the maximum number of words of a question, by the clauses and genitives that it has."""
    if _YES_OR_NO.match(text) and " and " in text:
        return _MAX_WORDS_WITH_AND
    clauses = len(_RELATIVE.findall(text)) - text.lower().startswith("who ")
    has_clause = clauses > 0 or len(re.findall(r"\bof\b", text)) > 1
    return _MAX_WORDS_WITH_CLAUSE if has_clause else _MAX_WORDS


def _has_bare_unit(text: str) -> bool:
    return any(not _ENDS_WITH_NUMBER.search(text[: match.start()]) for match in _UNIT.finditer(text))


def _has_two_verbs(text: str) -> bool:
    """Report whether a question of "do" has another verb without a conjunction: a noun was read as a verb."""
    match = _MODAL_AFTER_DO.search(text)
    return match is not None and not _CONJUNCTION.search(match["between"])


def _repeats_noun(text: str) -> bool:
    """Report whether a question has the noun that it asks for twice."""
    match = _NOUN_OF_QUESTION.search(text)
    if match is None:
        return False
    rest = [singular(word) for word in re.findall(r"[a-z]+", text[match.end() :].lower())]
    return singular(match["noun"].lower()) in rest
