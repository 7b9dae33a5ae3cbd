"""Plain English clauses: subject, auxiliary, verb and the rest, by rules; unclear sentences have none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_evalstudio.mrm.texts.statements import without_number
from pytest_evalstudio.mrm.texts.verbs import BE, HAVE, MODALS, forms, is_participle
from pytest_evalstudio.mrm.texts.words import word_set

_NUMBER_OF_WORDS = range(4, 41)
_DEICTIC = re.compile(
    r"(?i)\b(?:this|these|those|such|following|latter|former|respectively|also|however|therefore|instead|otherwise|thus"
    r"|hence|then|afterwards|too|same|other|another|he|she|him|they|them|there|here|my|me|beforehand|(?:above|below)$)\b"
)
"""Words that depend on other sentences."""
_HEADING = re.compile(
    r"^[A-Z][\w-]*(?:\s[a-z][\w-]*){0,4}\s(?=(?:We|You|If|The|A(?!\sto\b|\sand\b|\sor\b)|An|Our|There)\s[a-z])"
)
"""A heading that the reader of a document has joined with the sentence after it."""
_NEGATIVE = re.compile(r"(?i)\b(?:no|not|never|nothing|nobody|none|neither|nor|cannot|hardly|\w+n['’]t)\b")
_PREPOSITIONS = word_set(
    """
    of for in on at to with from by under between without within after before during per than as into
    onto over through against about among behind beside until since above below across towards via
    except including excluding
    """
)
_DETERMINERS = word_set(
    """
    a an the each every any all no some both its their your his her our most many
    """
)
_RELATIVE = frozenset({"who", "that", "which", "whose", "whom", "where"})
_PLURAL_NOUNS = frozenset(
    {"people", "children", "women", "men", "staff", "police", "media", "data", "criteria"}
)
_ANAPHORIC = re.compile(
    r"(?i)the\s(?:results?|fall|rise|drop|differences?|figures?|changes?|reasons?|exceptions?|examples?|remainder|rest)"
)
"""Subject that stands for something of the sentence before it."""
_SINGULAR_ENDINGS = ("ss", "us", "is", "news")
_ADVERBS = word_set(
    """
    always usually normally often generally still currently automatically typically only already
    """
)
_NO_NOUNS = word_set("takes gives keeps makes gets goes becomes brings begins holds says sells pays")
"""Third persons that no plural noun has."""
_UNSAFE_STARTS = word_set(
    """
    it he she they i there here that what when where why how who which if unless although though
    while because since as after before until once whether and but or so in on at by for from with
    during under within to not only whoever whatever whichever wherever
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
        return _head(self.subject.split())

    def ask(self, wh: str, subject: str, rest: str = "") -> str:
        """Return the question that begins with a question phrase and asks for a part of the clause."""
        words = " ".join(filter(None, [wh, self.aux, subject, self.group, rest.strip()]))
        return re.sub(r"\s+", " ", words).rstrip(" ,.") + "?"


class _Group(NamedTuple):
    aux: str
    group: str
    verb: str
    form: str
    voice: Literal["active", "passive", "copula"]
    end: int


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
    is_instruction = "base" in forms(first) and words[1].lower() in _RELATIVE
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
    if words[1].lower() not in _DETERMINERS and not (
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
    at = _finite(words)
    if at is None:
        return []
    subject = words[:at]
    if not _is_subject(subject):
        return []
    clause = _clause(subject, words, at)
    if clause is None or (_is_gerund(subject) and clause.verb not in ("cost", "take")):
        return []
    first, second = _divided(clause)
    if second is None:
        return [first]
    other = _clause(subject, [*subject, *second], len(subject))
    return [first, other] if other is not None else [first]


def _clause(subject: list[str], words: list[str], at: int) -> Clause | None:
    plural = _is_plural(subject)
    group = _verb_group(words, at, plural=plural)
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


def _finite(words: list[str]) -> int | None:
    """Return the index of the main finite verb; None if there is none or several are possible."""
    relatives = 0
    for at in range(1, len(words)):
        word = words[at].lower().strip(",")
        before = words[at - 1].lower()
        if word in _RELATIVE:
            relatives += 1
            continue
        if not _may_be_finite(words, at):
            if before.endswith(",") and relatives == 0:
                return None
            continue
        if relatives:
            relatives -= 1
            if word in MODALS | BE | HAVE:
                continue
            continue
        return at
    return None


def _may_be_finite(words: list[str], at: int) -> bool:
    word = words[at].lower().strip(",")
    if word in MODALS:
        return at + 1 < len(words)
    if word in BE or word in HAVE:
        return True
    known = forms(word)
    if not known or words[at][0].isupper() or words[at].endswith(","):
        return False
    before, following = words[at - 1].lower(), words[at + 1 : at + 2]
    after = following[0].lower().strip(",") if following else ""
    if before in _DETERMINERS | _PREPOSITIONS or after in MODALS | BE | HAVE or before in ("and", "or"):
        return False
    if "base" in forms(before) and before == "to":
        return False
    if "past" in known and not _is_reduced(words, at):
        return True
    if "past" in forms(after) and "base" not in forms(after):
        return False
    beyond = words[at + 2].lower() if at + 2 < len(words) else ""
    is_noun = word not in _NO_NOUNS
    if is_noun and "base" in forms(after) and (beyond in _PREPOSITIONS or beyond[:1].isdigit()):
        return False
    plural = _is_plural(words[:at])
    if "s" in known and not plural:
        return True
    return "base" in known and plural and _head(words[:at]) not in _DETERMINERS


def _is_reduced(words: list[str], at: int) -> bool:
    """Report whether a participle belongs to the noun before it ("damage caused by rain is …")."""
    word = words[at].lower()
    if "participle" not in forms(word):
        return False
    for other in range(at + 1, len(words)):
        text = words[other].lower().strip(",")
        if (
            text in ("and", "or", "but", "because", "if", "when", "while")
            or text in _RELATIVE
            or words[other - 1].endswith(",")
        ):
            return False
        if text in MODALS | BE or (
            "s" in forms(text) and other > at + 1 and words[other - 1].lower() not in _DETERMINERS
        ):
            return True
    return False


def _is_subject(words: list[str]) -> bool:
    """Report whether words are a complete noun phrase that stands for itself."""
    text = " ".join(words)
    last = words[-1].lower()
    if last in _DETERMINERS | _PREPOSITIONS | {"and", "or"} or len(words) > 14 or "," in text:
        return False
    if re.search(r"(?i)\b(?:it|its|their|they|you)\b", text) and text.lower() != "you":
        return False
    if _ANAPHORIC.fullmatch(text):
        return False
    return not (len(words) == 1 and (words[0].lower() in _DETERMINERS or words[0].lower() in ("one", "two")))


def _verb_group(words: list[str], at: int, *, plural: bool) -> _Group | None:
    first = words[at].lower()
    after, adverbs = _skip_adverbs(words, at + 1)
    word = words[after].lower().strip(",") if after < len(words) else ""
    if word == "not":
        after, more = _skip_adverbs(words, after + 1)
        adverbs += more
        word = words[after].lower().strip(",") if after < len(words) else ""
    if first in MODALS:
        return _modal_group(words, after, first, word, adverbs)
    if first in BE:
        if is_participle(word) and not _is_adjective(words, after):
            group = _phrase(adverbs, word)
            verb = forms(word).get("participle") or word
            return _Group(first, group, verb, f"{first} {group}", "passive", after + 1)
        if word in ("being", "due") or forms(word).get("ing"):
            return None
        return _Group(first, "", "be", first, "copula", at + 1)
    if first in HAVE and word == "been":
        return None
    if first in HAVE and is_participle(word) and "participle" in forms(word):
        group = _phrase(adverbs, word)
        return _Group(first, group, forms(word)["participle"], f"{first} {group}", "active", after + 1)
    return _simple_group(words, at, first, plural=plural)


def _modal_group(words: list[str], at: int, modal: str, word: str, adverbs: str) -> _Group | None:
    if word == "be":
        after, more = _skip_adverbs(words, at + 1)
        following = words[after].lower().strip(",") if after < len(words) else ""
        if is_participle(following):
            group = _phrase(adverbs, "be", more, following)
            verb = forms(following).get("participle") or following
            return _Group(modal, group, verb, f"{modal} {group}", "passive", after + 1)
        return _Group(modal, _phrase(adverbs, "be"), "be", f"{modal} be", "copula", at + 1)
    base = forms(word).get("base")
    if base is None or adverbs == "only":
        return None
    group = _phrase(adverbs, base)
    return _Group(modal, group, base, f"{modal} {group}", "active", at + 1)


def _simple_group(words: list[str], at: int, word: str, *, plural: bool) -> _Group | None:
    known = forms(word)
    if "s" in known and not plural:
        aux, base = "does", known["s"]
    elif "past" in known and not (known.get("base") and plural and word not in ("put", "set", "cut")):
        aux, base = "did", known["past"]
    elif "base" in known and plural:
        aux, base = "do", known["base"]
    else:
        return None
    return _Group(aux, base, base, word, "active", at + 1)


def _is_adjective(words: list[str], at: int) -> bool:
    """Report whether a participle after be is rather an adjective before a noun."""
    return (
        words[at].lower() in ("limited", "related")
        and at + 1 < len(words)
        and words[at + 1].lower() not in _PREPOSITIONS
    )


def _skip_adverbs(words: list[str], at: int) -> tuple[int, str]:
    start = at
    while at < len(words) and (
        words[at].lower() in _ADVERBS
        or (
            words[at].endswith("ly")
            and words[at]
            not in (
                "only",
                "early",
                "daily",
                "monthly",
                "yearly",
                "weekly",
                "supply",
                "apply",
                "reply",
                "rely",
                "family",
            )
        )
    ):
        at += 1
    return at, " ".join(words[start:at]).strip(",")


def _phrase(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _divided(clause: Clause) -> tuple[Clause, list[str] | None]:
    """Return a clause without a second verb group after "and", and the words of the second one."""
    for match in re.finditer(r"(?:^|,?\s)(?:and|but|or)\s", clause.rest):
        words = clause.rest[match.end() :].split(" ")
        if _continues(clause, words):
            return _with_rest(clause, clause.rest[: match.start()]), words
        if clause.voice == "passive" and len(words) > 1 and is_participle(words[0].lower()):
            auxiliaries = [clause.aux, "be"] if clause.aux in MODALS else [clause.aux]
            return _with_rest(clause, clause.rest[: match.start()]), [*auxiliaries, *words]
        if (
            "base" in forms(words[0])
            and clause.aux in MODALS | {"do", "to"}
            and words[1:2]
            and words[1].lower() in _DETERMINERS | {"it"}
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
        return words[1].lower() in _DETERMINERS or bool(is_amount)
    return clause.aux == "do" and "base" in known and words[1:2] != [] and words[1].lower() in _DETERMINERS


def _with_rest(clause: Clause, rest: str) -> Clause:
    values = {name: getattr(clause, name) for name in Clause.__dataclass_fields__}
    return Clause(**{**values, "rest": rest})


def _head_words(words: list[str]) -> list[str]:
    """Return the words of a noun phrase before its first preposition or relative clause."""
    for at, word in enumerate(words):
        lower = word.lower().strip(",")
        if at and (lower in _PREPOSITIONS or lower in _RELATIVE or (at > 1 and _is_reduced_noun(words, at))):
            return words[:at]
    return words


def _is_reduced_noun(words: list[str], at: int) -> bool:
    return (
        "participle" in forms(words[at].lower())
        and at + 1 < len(words)
        and words[at + 1].lower() in _PREPOSITIONS
    )


def _head(words: list[str]) -> str:
    return _head_words(words)[-1].lower().strip(",") if words else ""


def _is_gerund(words: list[str]) -> bool:
    """Report whether a subject is an activity: "closing an account"."""
    return (
        "ing" in forms(words[0].lower())
        and words[1:2] != []
        and words[1].lower() in _DETERMINERS | _PREPOSITIONS
    )


def _is_plural(words: list[str]) -> bool:
    if _is_gerund(words):
        return False
    head = _head_words(words)
    if not head:
        return False
    lowered = [word.lower().strip(",") for word in head]
    if lowered[0] in ("each", "every", "a", "an"):
        return False
    if "and" in lowered or lowered[-1] in ("you", "we", "they"):
        return True
    last = lowered[-1]
    if last in _PLURAL_NOUNS:
        return True
    return last.endswith("s") and not last.endswith(_SINGULAR_ENDINGS)
