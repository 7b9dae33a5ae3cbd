"""Paraphrases of right answers, made by rules that keep what is said.

Each rule changes one form: of a number, a unit, a currency, a date, a frequency, the order of a list or of two
clauses, a contraction, or the voice of a sentence with "by". Where a rule is not sure, it changes nothing.
They know no synonyms, and no passive without its agent: a reader of meaning is not tested by them.
"""

# ruff: noqa: E501  (patterns, tables and examples)

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from pytest_evalstudio.text.sentences import split_sentences
from pytest_evalstudio.text.spelled import cardinal, in_words
from pytest_evalstudio.text.stated_values import StatedValue, stated_values


class Paraphrase(NamedTuple):
    """A text that says the same in another form.

    Attributes:
        rules: names of the rules that changed it, in order.
    """

    text: str
    rules: tuple[str, ...]


def paraphrase(text: str, without: Collection[str] = ()) -> Paraphrase | None:
    """Return a text changed by every rule that applies; None where none does.

    Args:
        text: English text; time is linear in its length.
        without: names of rules that are left out.

    >>> paraphrase("Returns are accepted within 14 days if you keep the receipt.").text
    'If you keep the receipt, returns are accepted within two weeks.'
    >>> paraphrase("The fee is £5.").text, paraphrase("Paris")
    ('The fee is 5 pounds.', None)
    """
    rules: list[str] = []
    result = text
    for name, rule in RULES.items():
        if name not in without and (other := rule(result)) and other != result:
            rules.append(name)
            result = other
    return Paraphrase(result, tuple(rules)) if rules else None


def variants(text: str) -> Iterator[Paraphrase]:
    """Yield the paraphrases of a text by one rule each.

    >>> [(each.rules[0], each.text) for each in variants("It isn't open on 3 March.")]
    [('date', "It isn't open on March 3."), ('contraction', 'It is not open on 3 March.')]
    """
    for name, rule in RULES.items():
        if (other := rule(text)) and other != text:
            yield Paraphrase(other, (name,))


_VERBATIM = re.compile(r"```|^[ \t]*\||[{}<>]|https?://", re.MULTILINE)
"""Code, tables and addresses, which are compared as they are written."""


def _of_prose(rule: Callable[[str], str]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        return "" if _VERBATIM.search(text) else rule(text)

    return changed


_UNITS: Mapping[str, tuple[tuple[Fraction, str], ...]] = {
    # The larger unit first: each size is written in the first one that it is a small multiple of.
    "s": (
        (Fraction(604800), "week"),
        (Fraction(86400), "day"),
        (Fraction(3600), "hour"),
        (Fraction(60), "minute"),
    ),
    "month": ((Fraction(12), "year"), (Fraction(1), "month")),
    "g": ((Fraction(1), "g"),),
}
_HALVES = {
    (Fraction(1800), "s"): "half an hour",
    (Fraction(900), "s"): "a quarter of an hour",
    (Fraction(5400), "s"): "an hour and a half",
    (Fraction(6), "month"): "half a year",
    (Fraction(18), "month"): "a year and a half",
    (Fraction(120), "month"): "a decade",
}
_DURATION = re.compile(
    r"(?:[0-9]{1,4}|[a-z]+(?:-[a-z]+)?)[ -](?P<unit>minute|hour|day|week|month|year)s?\Z", re.IGNORECASE
)
_ADJECTIVE = re.compile(
    r"[ -](?:old|long|period|notice|term|warranty|guarantee|trial|working|business|of age)\b"
)
_DETERMINED = re.compile(
    r"\b(?:aged?|every|each|per|any|last|past|first|next|previous|these|those|the|our|your|a|an)\s\Z",
    re.IGNORECASE,
)
"""Words before a duration after which another unit would not be said: "the last six months"."""
_WITHIN_NAME = re.compile(r"[A-Z][\w'-]*\s\Z")
_MAX_COUNT = 12


def _unit(text: str) -> str:
    """Write durations in another unit: "14 days" as "two weeks", "1 year" as "12 months"."""
    return _replaced(text, lambda value: _in_other_unit(text, value))


def _in_other_unit(text: str, value: StatedValue) -> str:
    written = text[value.start : value.end]
    match = _DURATION.fullmatch(written)
    is_plain = value.kind == "number" and not value.rate and match is not None and "-" not in written
    if (
        not is_plain
        or match is None
        or _ADJECTIVE.match(text, value.end)
        or _is_determined(text, value.start)
    ):
        return ""
    [(size, unit), *_] = value.readings
    if half := _HALVES.get((size, unit)):
        return half
    for factor, name in _UNITS.get(unit, ()):
        count = size / factor
        if count.denominator == 1 and count <= _MAX_COUNT and match["unit"].lower() != name:
            return f"{in_words(int(count))} {name}{'' if count == 1 else 's'}"
    return ""


def _is_determined(text: str, start: int) -> bool:
    return bool(_DETERMINED.search(text[max(0, start - 12) : start]))


def _replaced(text: str, other: Callable[[StatedValue], str]) -> str:
    """Replace the values of a text; "" for a value keeps it."""
    parts: list[str] = []
    position = 0
    for value in stated_values(text):
        written = other(value)
        if written:
            if text[value.start : value.start + 1].isupper():
                written = written[:1].upper() + written[1:]
            parts += text[position : value.start], written
            position = value.end
    return "".join((*parts, text[position:])) if parts else ""


_COUNT = re.compile(
    r"(?<![\w.,:/£$€#-])(?P<digits>[2-9]|[1-9][0-9])(?=[ -](?!a\.?m|p\.?m|(?:and|or|to|january|february|march"
    r"|april|may|june|july|august|september|october|november|december)\b)(?-i:[a-z]{3}))"
    r"|\b(?P<words>(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    r"|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
    r"(?:-(?:one|two|three|four|five|six|seven|eight|nine))?))(?=[ ](?!and|or|to|of|a\b|hundred|thousand|million|thirds|quarters"
    r"|halves|fifths|point)[a-z]{3})",
    re.IGNORECASE,
)


def _number_form(text: str) -> str:
    """Write counts up to 99 in words, and those in words in digits."""

    def other(match: re.Match[str]) -> str:
        # "Section 5 applies": the number is a part of a name.
        before = text[max(0, match.start() - 20) : match.start()]
        if _WITHIN_NAME.search(before) and not re.search(r"(?:\A|[.!?]\s)[A-Z][\w'-]*\s\Z", before):
            return match[0]
        if match["digits"]:
            words = in_words(int(match["digits"]))
            return words.capitalize() if match.start() == 0 else words
        return str(cardinal(match["words"]))

    return _COUNT.sub(other, text)


_AMOUNT = r"[0-9]{1,3}(?:,[0-9]{3}){1,4}(?:\.[0-9]{1,2})?|[0-9]{1,9}(?:\.[0-9]{1,2})?"
_SIGN_FIRST = re.compile(
    rf"(?<!\w)(?P<sign>[£€$])(?P<amount>{_AMOUNT})(?P<scale>\s(?:million|billion))?(?![\w]|[.,][0-9])"
)
_CODE_LAST = re.compile(rf"(?<![\w.,])(?P<amount>{_AMOUNT})\s(?P<code>USD|EUR|GBP)\b")
_PERCENT = re.compile(r"(?<=[0-9])(?P<sign>\s?%)|(?<=[0-9])(?P<word>\sper\s?cent)\b")
_CURRENCIES = {"£": "pounds", "€": "euros", "$": "dollars"}
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def _notation(text: str) -> str:
    """Write currencies and percentages in another notation: "£5" as "5 pounds", "5 %" as "5 percent"."""
    text = _SIGN_FIRST.sub(
        lambda match: f"{match['amount']}{match['scale'] or ''} {_CURRENCIES[match['sign']]}", text
    )
    text = _CODE_LAST.sub(lambda match: f"{_SIGNS[match['code']]}{match['amount']}", text)
    return _PERCENT.sub(lambda match: " percent" if match["sign"] else " %", text)


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_MONTH = "|".join(_MONTHS)
_DATE = re.compile(
    rf"\b(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?\s(?P<month>{_MONTH})(?:\s(?P<year>[0-9]{{4}}))?\b"
    rf"|\b(?P<first>{_MONTH})\s(?P<nth>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9])(?:,\s(?P<last>[0-9]{{4}}))?\b"
    r"|\b(?P<iso>[0-9]{4})-(?P<isom>0[1-9]|1[0-2])-(?P<isod>[0-3][0-9])\b"
)


def _date(text: str) -> str:
    """Write dates in another form: "3 March 2026" as "March 3, 2026"."""

    def other(match: re.Match[str]) -> str:
        if match["day"]:
            year = f", {match['year']}" if match["year"] else ""
            return f"{match['month']} {int(match['day'])}{year}"
        if match["first"]:
            return f"{int(match['nth'])} {match['first']}" + (f" {match['last']}" if match["last"] else "")
        return f"{int(match['isod'])} {_MONTHS[int(match['isom']) - 1]} {match['iso']}"

    return _DATE.sub(other, text)


_ADVERB_OF = {"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly", "year": "annually"}
_UNIT_OF = {
    "hourly": "hour",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "annually": "year",
    "yearly": "year",
}
_EVERY = re.compile(
    r"\b(?P<every>(?:every|each|once (?:a|an|every|per))\s(?P<unit>hour|day|week|month|year))(?=\s?(?:[.,;]|\Z))"
    r"|\b(?P<adverb>hourly|daily|weekly|monthly|yearly|annually)(?=\s?(?:[.,;]|\Z))"
    r"|\b(?P<twice>twice)(?=\s(?:an?|per|each|every)\s(?:hour|day|week|month|quarter|year)\b)"
    r"|\bevery\s(?P<months>six|6|twelve|12)\smonths\b",
    re.IGNORECASE,
)
_MONTHS_APART = {"six": "twice a year", "6": "twice a year", "twelve": "once a year", "12": "once a year"}


def _frequency(text: str) -> str:
    """Write frequencies in another form: "every month" as "monthly", "every six months" as "twice a year"."""

    def other(match: re.Match[str]) -> str:
        if match["every"]:
            words = _ADVERB_OF[match["unit"].lower()]
        elif match["adverb"]:
            words = f"every {_UNIT_OF[match['adverb'].lower()]}"
        elif match["twice"]:
            words = "two times"
        else:
            words = _MONTHS_APART[match["months"].lower()]
        return words.capitalize() if match[0][0].isupper() else words

    return _EVERY.sub(other, text)


_ITEM = r"(?:[a-z][\w'-]*)(?:\s[a-z][\w'-]*){0,3}"
_LAST_TWO = re.compile(rf",\s(?P<first>{_ITEM}),?\s(?P<word>and|or)\s(?P<last>{_ITEM})(?=[.;]|\Z)")
_PAIR = re.compile(
    r"(?P<first>[a-z][\w'-]*(?:\s[a-z][\w'-]*)?)\s(?P<word>and|or)\s(?P<last>[a-z][\w'-]*(?:\s[a-z][\w'-]*)?)\.?"
)
_ORDERED = re.compile(
    r"\b(?:then|finally|first|second|last|next|respectively|also|so|but|not|which|whose|who|that|if|when|because|between|from|more|less|fewer|later|one|any|each"
    r"|either|both|is|are|was|were|will|may|must|can|it|they|we|you)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?:^[-*•] [^\n]+(?:\n|\Z)){2,}", re.MULTILINE)


def _list_order(text: str) -> str:
    """Exchange the last two items of a list, the two of a short answer, or reverse bullet points."""

    def other(match: re.Match[str]) -> str:
        if _ORDERED.search(match[0]):
            return match[0]
        return f", {match['last']} {match['word']} {match['first']}"

    pair = _PAIR.fullmatch(text.strip())
    if pair and not _ORDERED.search(text) and not any(char.isdigit() for char in text):
        return f"{pair['last']} {pair['word']} {pair['first']}"
    return _LAST_TWO.sub(other, _BULLET.sub(_reversed, text))


def _reversed(match: re.Match[str]) -> str:
    lines = match[0].rstrip("\n").split("\n")
    return "\n".join(reversed(lines)) + "\n" * (len(match[0]) - len(match[0].rstrip("\n")))


_CONJUNCTION = "if|when|before|after|until|unless|once|because|while|as soon as|as long as"
_CONDITION_FIRST = re.compile(
    rf"(?P<word>{_CONJUNCTION})\s(?P<condition>[^,;:()\n]{{3,120}}),\s(?P<main>[a-z][^,;:()\n]{{3,160}}?)(?P<end>[.!]|\Z)",
    re.IGNORECASE,
)
_CONDITION_LAST = re.compile(
    rf"(?P<main>(?P<lead>The|A|An|We|You|It|They|This|These|Your|Our|Each|Every|All|No|Returns|Members|Customers|Children)\b"
    rf"[^,;:()\n]{{3,160}}?)\s(?P<word>{_CONJUNCTION})\s(?P<condition>[^,;:()\n]{{3,120}}?)(?P<end>[.!]|\Z)"
)
_BOUND_WORD = re.compile(
    rf"\b(?:only|even|as|except|not|ask|know|check|say|see|and|or|but|than|long|soon|just|merely|simply|at)\s(?:{_CONJUNCTION})\s"
    r"|\b(?:days?|weeks?|months?|years?|hours?|minutes?|metres?|shortly|immediately)\s(?:before|after|until)\s"
    rf"|\b(?:then|and|or|but|that|which|who|whether)\b.*\b(?:{_CONJUNCTION})\b",
    re.IGNORECASE,
)
"""Words that belong to the conjunction, or that join it to more than one clause: "only if", "5 days before"."""


def _clause_order(text: str) -> str:
    """Exchange a condition or point of time and the main clause: "If A, B." and "B if A."."""
    parts: list[str] = []
    position = 0
    for start, end in split_sentences(text):
        parts += text[position:start], _with_clauses_exchanged(text[start:end])
        position = end
    return "".join((*parts, text[position:]))


def _with_clauses_exchanged(sentence: str) -> str:
    if sentence.endswith(("a.m.", "p.m.")):  # the full stop belongs to the word
        return sentence
    if match := _CONDITION_FIRST.fullmatch(sentence):
        main = match["main"]
        if len(re.findall(rf"\b(?:{_CONJUNCTION})\b", sentence, re.IGNORECASE)) == 1:
            return f"{main[0].upper()}{main[1:]} {match['word'].lower()} {match['condition']}{match['end']}"
    elif (match := _CONDITION_LAST.fullmatch(sentence)) and not _BOUND_WORD.search(sentence):
        main = match["main"]
        if len(re.findall(rf"\b(?:{_CONJUNCTION})\b", sentence, re.IGNORECASE)) == 1:
            word = match["word"]
            return (
                f"{word[0].upper()}{word[1:]} {match['condition']}, {main[0].lower()}{main[1:]}{match['end']}"
            )
    return sentence


_CONTRACTED = {
    "cannot": "can't", "is not": "isn't", "are not": "aren't", "was not": "wasn't", "do not": "don't",
    "does not": "doesn't", "did not": "didn't", "will not": "won't", "must not": "mustn't", "has not": "hasn't",
    "have not": "haven't", "should not": "shouldn't", "would not": "wouldn't",
}  # fmt: skip
_WRITTEN_OUT = {short: words for words, short in _CONTRACTED.items()}
_CONTRACTION = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, (*_CONTRACTED, *_WRITTEN_OUT)))})(?!\w|\sonly)", re.IGNORECASE
)


def _contraction(text: str) -> str:
    """Contract negated verbs, and write contracted ones out."""

    def other(match: re.Match[str]) -> str:
        word = match[0].lower()
        words = _CONTRACTED.get(word) or _WRITTEN_OUT[word]
        return words[0].upper() + words[1:] if match[0][0].isupper() else words

    return _CONTRACTION.sub(other, text.replace("’", "'"))


_PRESENT = {
    "approved": "approve", "carried out": "carry out", "checked": "check", "cleaned": "clean", "covered": "cover",
    "funded": "fund", "handled": "handle", "held": "hold", "issued": "issue", "kept": "keep", "maintained": "maintain",
    "made": "make", "managed": "manage", "operated": "operate", "owned": "own", "paid": "pay", "provided": "provide",
    "published": "publish", "repaired": "repair", "reviewed": "review", "run": "run", "supplied": "supply",
    "tested": "test",
}  # fmt: skip
_PASSIVE = re.compile(
    r"(?P<object>(?:The|A|An|Our|Your|Each|Every|All|These|This)\s[^,;:()\n]{2,60}?)\s(?P<be>is|are|was|were)\s"
    rf"(?P<verb>{'|'.join(_PRESENT)})\sby\s(?P<agent>(?:(?:the|our|your|an?)\s)?[\w' -]{{3,40}})(?P<end>\.|\Z)"
)
_SUPPLEMENT = re.compile(
    r"\b(?:on|in|at|for|to|from|with|when|if|and|or|who|which|that|before|after|every|each|[0-9]+|mail|post|email|card|hand"
    r"|law|phone|telephone|bus|train|then|default|request|end|noon)\b",
    re.IGNORECASE,
)
"""Parts after which an agent ends, and what is no agent."""
_PAST = {"held": "held", "kept": "kept", "made": "made", "paid": "paid", "run": "ran"}


def _voice(text: str) -> str:
    """Turn a passive sentence with its agent into an active one: "X is run by Y." as "Y runs X."."""
    parts: list[str] = []
    position = 0
    for start, end in split_sentences(text):
        parts += text[position:start], _active(text[start:end])
        position = end
    return "".join((*parts, text[position:]))


def _active(sentence: str) -> str:
    match = _PASSIVE.fullmatch(sentence)
    if match is None or _SUPPLEMENT.search(match["agent"]) or match["object"].startswith(("This ", "These ")):
        return sentence
    agent, verb = match["agent"], match["verb"]
    if match["be"] in ("was", "were"):
        active = _PAST.get(verb, verb)
    else:
        base = _PRESENT[verb]
        is_plural = agent.endswith("s") and not agent.endswith("ss")
        active = base if is_plural else _third_person(base)
    thing = match["object"]
    return f"{agent[0].upper()}{agent[1:]} {active} {thing[0].lower()}{thing[1:]}{match['end']}"


def _third_person(verb: str) -> str:
    first, _, rest = verb.partition(" ")
    if first.endswith(("ch", "sh", "ss")):
        first += "es"
    elif first.endswith("y") and first[-2] not in "aeiou":
        first = f"{first[:-1]}ies"
    else:
        first += "s"
    return f"{first} {rest}".strip()


RULES: Mapping[str, Callable[[str], str]] = {
    "number_form": _of_prose(_number_form),
    "unit": _of_prose(_unit),
    "notation": _of_prose(_notation),
    "date": _of_prose(_date),
    "frequency": _of_prose(_frequency),
    "list_order": _of_prose(_list_order),
    "clause_order": _of_prose(_clause_order),
    "voice": _of_prose(_voice),
    "contraction": _of_prose(_contraction),
}
"""Rules by name; each returns the changed text, "" or the text itself where it does not apply."""
