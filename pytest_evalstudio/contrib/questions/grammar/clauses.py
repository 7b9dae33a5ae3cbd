"""Plain English clauses: subject, auxiliary, verb and the rest, by rules; unclear sentences have none."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import Literal

from pytest_evalstudio.contrib.questions.grammar.noun_phrases import (
    DETERMINERS,
    RELATIVE,
    head_of,
    is_gerund,
    is_noun_phrase,
    is_plural,
)
from pytest_evalstudio.contrib.questions.grammar.statements import without_number
from pytest_evalstudio.contrib.questions.grammar.verb_groups import (
    Voice,
    finite_verb,
    is_third_person,
    verb_group,
)
from pytest_evalstudio.contrib.questions.grammar.verbs import (
    AUXILIARIES,
    BE,
    HAVE,
    MODALS,
    forms,
    is_participle,
)
from pytest_evalstudio.contrib.questions.words import word_set, word_table

_NUMBER_OF_WORDS = range(3, 41)
_INSTRUCTIONS = word_set(
    "wait keep leave allow let hold press pour add put store hang talk turn push open fill clean remove rinse"
    " charge report insert wash take use"
)
"""Verbs that begin instructions."""
_NOUNS = word_set("use charge report store")
_UNSAFE_STARTS = word_table("unsafe starts")
DEICTIC = re.compile(
    r"(?i)\b(?:this|these|those|such|following(?!\s(?:day|week|month|year)\b)|latter|former|respectively|also"
    r"|however|therefore|instead|otherwise|thus|hence|then|afterwards|too|same(?!-)|other|another|he|she|him"
    r"|(?<!if )(?<!when )(?<!because )(?<!where )(?<!as )they|them|there|here|my|me|beforehand|meanwhile"
    r"|(?:above|below)$"
    r"|(?:in|of|for|at|on|by|with|to|from|under|after|since|during)\sthat(?=\s[a-z]))\b"
)
"""Words that depend on other sentences."""
_HEADING = re.compile(
    r"^[A-Z][\w-]*(?:\s[a-z][\w-]*){0,4}\s(?=(?:We|You|If|The|A(?!\sto\b|\sand\b|\sor\b)|An|Our|There)\s[a-z])"
)
"""A heading that the reader of a document has joined with the sentence after it."""
_UNUSUAL = re.compile(r":(?!\d\d\b)|[()|“”\"\[\]?!•]|\s[–—-]\s|(?:[\d%°]|°[CF]|[a-z]{3})\s?\.\s[A-Z]|\sI\s")
"""Marks of a list, a quotation, a remark or a second sentence."""
_RELATIVE_BEFORE = re.compile(
    r"\b(?:which|who|whose|whom|what|that|if|when|unless|where|because|provided|while|so)\s"
)
"""Beginning of a clause that a second verb may belong to."""
_NEGATIVE = re.compile(r"(?i)\b(?:no|not|never|nothing|nobody|none|neither|nor|cannot|hardly|\w+n['’]t)\b")
_SUBORDINATE = re.compile(r"(?:^|\s)(?:if|because|since|provided|who|which|that|whose|where|as\slong\sas)\s")
_BOUND = re.compile(
    r"(?i)\b(?:no|not)\s(?:more|less|fewer|later|longer|earlier|higher|lower|greater|larger|older|younger)\sthan\b"
)
"""A limit, which negates nothing."""

Kind = Literal["statement", "command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A main clause with what a question needs of it.

    Attributes:
        subject: as written; "you" for a command.
        aux: auxiliary that a question puts before the subject: "must", "is", "does", ….
        group: rest of the verb group in a question: "be submitted", "rise"; "" where `aux` is the only verb.
        verb: base form of the main verb.
        form: main verb as written after a subject: "rose", "must be submitted".
        rest: text after the verb group, without the full stop.
        voice: "passive" for a participle after a form of be, "copula" for a form of be alone.
    """

    subject: str
    aux: str
    group: str
    verb: str
    form: str
    rest: str
    voice: Voice
    is_plural: bool
    is_negative: bool
    kind: Kind = "statement"

    @property
    def head(self) -> str:
        """Return the main noun of the subject in lower case."""
        return head_of(self.subject.split())

    def ask(self, wh: str, subject: str, rest: str = "") -> str:
        """Return the question that begins with a question phrase and asks for a part of the clause."""
        words = " ".join(filter(None, [wh, self.aux, subject, self.group, rest.strip()]))
        text = re.sub(r"\s+", " ", words).rstrip(" ,.")
        # The full stop at the end of the sentence was removed with that of "p.m.".
        return f"{text}.?" if text.endswith((" a.m", " p.m")) else f"{text}?"


# Several generators ask for the clauses of the same sentence.
@functools.lru_cache(maxsize=4096)
def clauses(sentence: str) -> tuple[Clause, ...]:
    """Return the main clauses of a plain sentence with one subject; () where the rules are not sure.

    >>> clauses("Claims must be submitted within 30 days.")[0].ask("Within how many days", "claims")
    'Within how many days must claims be submitted?'
    """
    text = _plain(sentence)
    if text is None:
        return ()
    words = text.split(" ")
    if command := _command(words):
        return (command,)
    first = words[0].lower().strip(",")
    is_instruction = "base" in forms(first) and (
        words[1].lower() in RELATIVE or "ing" in forms(words[1]) or first in _INSTRUCTIONS - _NOUNS
    )
    if first in _UNSAFE_STARTS or is_instruction or not words[0][0].isupper():
        return ()
    return tuple(_statements(words))


def _plain(sentence: str) -> str | None:
    """Return a sentence up to its semicolon or full stop; None if it depends on others or is unusual."""
    text = " ".join(sentence.split())
    if not text.endswith(".") or len(text.split()) not in _NUMBER_OF_WORDS:
        return None
    text = without_heading(text).removesuffix(".").partition(";")[0]
    return None if _UNUSUAL.search(text) or DEICTIC.search(text) else text


def without_heading(text: str) -> str:
    """Return a sentence without the number of its section and a heading that was joined with it."""
    return _HEADING.sub("", without_number(text))


def _command(words: list[str]) -> Clause | None:
    """Return the clause of an instruction, e.g. "Press the button for two seconds"."""
    verb = forms(words[0].lower()).get("base")
    if verb is None or not words[0][0].isupper() or len(words) < 4:
        return None
    is_plain = words[0].lower() in _INSTRUCTIONS and not forms(words[1].lower())
    if words[1].lower() not in DETERMINERS and words[1] not in ("to", "off", "out", "up") and not is_plain:
        return None
    rest = _first_command(" ".join(words[1:]))
    if re.search(r"(?i)\b(?:it|if|when)\b", rest):
        return None
    return Clause(
        subject="you",
        aux="should",
        group=verb,
        verb=verb,
        form=f"should {verb}",
        rest=rest,
        voice="active",
        is_plural=True,
        is_negative=bool(_NEGATIVE.search(rest)),
        kind="command",
    )


def _first_command(rest: str) -> str:
    """Return the object of an instruction without a second instruction: "the button and hold it"."""
    second = re.search(r",?\s(?:and|or|so that|before you|after you|until you)\s", rest)
    other = re.match(r",?\s(?:and|or)\s(\w+)", rest[second.start() :]) if second else None
    return rest[: second.start()] if second and other and "base" in forms(other[1]) else rest


def _statements(words: list[str]) -> list[Clause]:
    at = finite_verb(words)
    if at is None or not is_noun_phrase(words[:at]):
        return []
    subject = words[:at]
    if subject[-1].lower() in AUXILIARIES | {"be", "been"}:
        return []  # "a repair that endangers health will be | made": the verb of the clause is not the first
    clause = _clause(subject, words, at)
    if clause is None or (is_gerund(subject) and clause.verb not in ("cost", "take")):
        return []
    first, second = _divided(clause)
    other = _clause(subject, [*subject, *second], len(subject)) if second is not None else None
    return [first, other] if other is not None else [first]


def _clause(subject: list[str], words: list[str], at: int) -> Clause | None:
    plural = is_plural(subject) and not is_third_person(words, at)
    group = verb_group(words, at, plural=plural)
    if group is None:
        return None
    rest = " ".join(words[group.end :])
    return Clause(
        subject=" ".join(subject),
        aux=group.aux,
        group=group.group,
        verb=group.verb,
        form=group.form,
        # A word has the comma after it: that after the verb belongs to the rest.
        rest=f", {rest}" if rest and words[group.end - 1].endswith(",") else rest,
        voice=group.voice,
        is_plural=_agreed(group.aux, plural=plural),
        is_negative=_is_negative([subject[0], *words[at : group.end]], rest),
    )


def _is_negative(group: list[str], rest: str) -> bool:
    """Report whether the main clause is negative: "is not lost", but not "is lost if it has not arrived"."""
    main = _SUBORDINATE.split(rest)[0]
    return bool(_NEGATIVE.search(_BOUND.sub("", f"{' '.join(group)} {main}")))


def _agreed(aux: str, *, plural: bool) -> bool:
    """Return the number of a subject by its verb, if the verb shows it: "Halden Foods is"."""
    return False if aux in ("is", "was", "has", "does") else True if aux in ("are", "were") else plural


def _divided(clause: Clause) -> tuple[Clause, list[str] | None]:
    """Return a clause without a second verb group after "and", and the words of the second one."""
    for match in re.finditer(r"(?:^|,?\s)(?:and|but|or)\s", clause.rest):
        words = clause.rest[match.end() :].split(" ")
        if _RELATIVE_BEFORE.search(clause.rest[: match.start()]):
            break
        first = replace(clause, rest=clause.rest[: match.start()])
        is_continued = _continues(clause, words) or (
            clause.voice == "passive" and len(words) > 1 and is_participle(words[0].lower())
        )
        if is_continued and match.group().strip(", ") == "or":
            break  # "are refunded or collected": neither is sure
        if _continues(clause, words):
            return first, words
        if clause.voice == "passive" and len(words) > 1 and is_participle(words[0].lower()):
            # A participle after a modal needs its "be" again.
            auxiliaries = [clause.aux, "be"] if clause.aux in MODALS else [clause.aux]
            return first, [*auxiliaries, *words]
        is_object = len(words) > 1 and words[1].lower() in DETERMINERS | {"it", "you", "us"}
        if is_object and "base" in forms(words[0]) and clause.aux in MODALS | {"do"}:
            return first, None
    return clause, None


def _continues(clause: Clause, words: list[str]) -> bool:
    """Report whether words begin with a verb in the form of a clause's: "is metered and costs 34 pence"."""
    if len(words) < 2:
        return False
    word, following = words[0].lower(), words[1].lower()
    if word in HAVE:
        return word == "had" or clause.is_plural == (word == "have")
    if word in AUXILIARIES:
        return True
    readings = forms(word)
    if clause.aux == "does":
        # "and accounts are closed": a noun, the subject of another clause.
        return "s" in readings and following not in AUXILIARIES
    if clause.aux == "did":
        return "past" in readings
    if clause.aux in BE and not clause.is_plural and "s" in readings:
        is_amount = clause.voice == "passive" and re.match(r"[£$€]?\d", words[1])
        return following in DETERMINERS or bool(is_amount)
    return clause.aux == "do" and "base" in readings and following in DETERMINERS
