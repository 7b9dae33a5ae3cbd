"""Plain English clauses: subject, auxiliary, verb and the rest, by rules; unclear sentences have none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.mrm.texts.noun_phrases import (
    DETERMINERS,
    RELATIVE,
    head_of,
    is_gerund,
    is_noun_phrase,
    is_plural,
)
from pytest_evalstudio.mrm.texts.statements import without_number
from pytest_evalstudio.mrm.texts.verb_groups import finite_verb, verb_group
from pytest_evalstudio.mrm.texts.verbs import BE, HAVE, MODALS, forms, is_participle
from pytest_evalstudio.mrm.texts.words import word_set

_NUMBER_OF_WORDS = range(4, 41)

_DEICTIC = re.compile(
    r"(?i)\b(?:this|these|those|such|following(?!\s(?:day|week|month|year)\b)|latter|former|respectively|also|however|therefore|instead|otherwise|thus"
    r"|hence|then|afterwards|too|same(?!-)|other|another|he|she|him|they|them|there|here|my|me|beforehand|meanwhile|(?:above|below)$"
    r"|(?:in|of|for|at|on|by|with|to|from|under|after|since|during)\sthat(?=\s[a-z]))\b"
)
"""Words that depend on other sentences."""

_HEADING = re.compile(
    r"^[A-Z][\w-]*(?:\s[a-z][\w-]*){0,4}\s(?=(?:We|You|If|The|A(?!\sto\b|\sand\b|\sor\b)|An|Our|There)\s[a-z])"
)
"""A heading that the reader of a document has joined with the sentence after it."""

_RELATIVE_BEFORE = re.compile(r"\b(?:which|who|whose|whom)\s")
"""Beginning of a clause that a second verb may belong to."""
_NEGATIVE = re.compile(r"(?i)\b(?:no|not|never|nothing|nobody|none|neither|nor|cannot|hardly|\w+n['’]t)\b")

_UNSAFE_STARTS = word_set(
    """
    it he she they i there here that what when where why how who which if unless although though
    while because since as after before until once whether and but or so in on at by for from with
    during under within to not only whoever whatever whichever wherever
    today yesterday tomorrow tonight now currently usually normally often sometimes
    """
)

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
    voice: Literal["active", "passive", "copula"]
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
        return re.sub(r"\s+", " ", words).rstrip(" ,.") + "?"


def clauses(sentence: str) -> list[Clause]:
    """Return the main clauses of a plain sentence with one subject; [] where the rules are not sure.

    >>> clauses("Claims must be submitted within 30 days.")[0].ask("Within how many days", "claims")
    'Within how many days must claims be submitted?'
    """
    text = _plain(sentence)
    if text is None:
        return []
    words = text.split(" ")
    if command := _command(words):
        return [command]
    first = words[0].lower().strip(",")
    is_instruction = "base" in forms(first) and words[1].lower() in RELATIVE
    if first in _UNSAFE_STARTS or is_instruction or not words[0][0].isupper():
        return []
    return _statements(words)


def _plain(sentence: str) -> str | None:
    """Return a sentence up to its semicolon or full stop; None if it depends on others or is unusual."""
    text = " ".join(sentence.split())
    if not text.endswith(".") or len(text.split()) not in _NUMBER_OF_WORDS:
        return None
    text = without_number(text)
    text = _HEADING.sub("", text.removesuffix(".").partition(";")[0])
    if (
        re.search(r"[:()|“”\"\[\]?!•]|\s[–—-]\s|(?:[\d%°]|°[CF]|[a-z]{3})\s?\.\s[A-Z]", text)
        or _DEICTIC.search(text)
        or " I " in text
    ):
        return None
    return text


def _command(words: list[str]) -> Clause | None:
    """Return the clause of an instruction, e.g. "Press the button for two seconds"."""
    verb = forms(words[0].lower()).get("base")
    if verb is None or verb in BE or not words[0][0].isupper() or len(words) < 4:
        return None
    if words[1].lower() not in DETERMINERS and not (
        words[1].islower() and words[1] in ("to", "off", "out", "up")
    ):
        return None
    rest = " ".join(words[1:])
    second = re.search(r",?\s(?:and|or|so that|before you|after you|until you)\s(?:.*)$", rest)
    if second and re.match(r",?\s(?:and|or)\s(\w+)", second.group()):
        other = re.match(r",?\s(?:and|or)\s(\w+)", second.group())
        if other is not None and "base" in forms(other[1]):
            rest = rest[: second.start()]
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


def _statements(words: list[str]) -> list[Clause]:
    at = finite_verb(words)
    if at is None:
        return []
    subject = words[:at]
    if not is_noun_phrase(subject):
        return []
    clause = _clause(subject, words, at)
    if clause is None or (is_gerund(subject) and clause.verb not in ("cost", "take")):
        return []
    first, second = _divided(clause)
    if second is None:
        return [first]
    other = _clause(subject, [*subject, *second], len(subject))
    return [first, other] if other is not None else [first]


def _clause(subject: list[str], words: list[str], at: int) -> Clause | None:
    plural = is_plural(subject)
    group = verb_group(words, at, plural=plural)
    if group is None:
        return None
    rest = " ".join(words[group.end :])
    named = " ".join(subject)
    return Clause(
        subject=named,
        aux=group.aux,
        group=group.group,
        verb=group.verb,
        form=group.form,
        rest=rest,
        voice=group.voice,
        is_plural=_agreed(group.aux, plural=plural),
        is_negative=bool(_NEGATIVE.search(" ".join(words))),
    )


def _agreed(aux: str, *, plural: bool) -> bool:
    """Return the number of a subject by its verb, if the verb shows it: "Halden Foods is"."""
    return False if aux in ("is", "was", "has", "does") else True if aux in ("are", "were") else plural


def _divided(clause: Clause) -> tuple[Clause, list[str] | None]:
    """Return a clause without a second verb group after "and", and the words of the second one."""
    for match in re.finditer(r"(?:^|,?\s)(?:and|but|or)\s", clause.rest):
        words = clause.rest[match.end() :].split(" ")
        if _RELATIVE_BEFORE.search(clause.rest[: match.start()]):
            break
        if _continues(clause, words):
            return _with_rest(clause, clause.rest[: match.start()]), words
        if clause.voice == "passive" and len(words) > 1 and is_participle(words[0].lower()):
            auxiliaries = [clause.aux, "be"] if clause.aux in MODALS else [clause.aux]
            return _with_rest(clause, clause.rest[: match.start()]), [*auxiliaries, *words]
        if (
            "base" in forms(words[0])
            and clause.aux in MODALS | {"do", "to"}
            and words[1:2]
            and words[1].lower() in DETERMINERS | {"it"}
        ):
            return _with_rest(clause, clause.rest[: match.start()]), None
    return clause, None


def _continues(clause: Clause, words: list[str]) -> bool:
    word = words[0].lower()
    if word in BE | MODALS | HAVE and len(words) > 1:
        return word not in HAVE or clause.is_plural == (word == "have") or word == "had"
    known = forms(word)
    if clause.aux == "does":
        return "s" in known and len(words) > 1
    if clause.aux == "did":
        return "past" in known and len(words) > 1
    if clause.aux in BE and not clause.is_plural and "s" in known and words[1:2]:
        is_amount = clause.voice == "passive" and re.match(r"[£$€]?\d", words[1])
        return words[1].lower() in DETERMINERS or bool(is_amount)
    return clause.aux == "do" and "base" in known and words[1:2] != [] and words[1].lower() in DETERMINERS


def _with_rest(clause: Clause, rest: str) -> Clause:
    values = {name: getattr(clause, name) for name in Clause.__dataclass_fields__}
    return Clause(**{**values, "rest": rest})
