"""English verb groups: the finite verb of a clause, with its auxiliaries and adverbs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pytest_evalstudio.mrm.texts.noun_phrases import DETERMINERS, PREPOSITIONS, RELATIVE, head_of, is_plural
from pytest_evalstudio.mrm.texts.verbs import BE, HAVE, MODALS, forms, is_participle
from pytest_evalstudio.mrm.texts.words import word_set

_ADVERBS = word_set(
    """
    always usually normally often generally still currently automatically typically only already
    """
)

_NO_NOUNS = word_set("takes gives keeps makes gets goes becomes brings begins holds says sells pays")
"""Third persons that no plural noun has."""


class VerbGroup(NamedTuple):
    """A verb with its auxiliaries; `Clause` explains the attributes.

    Attributes:
        end: index of the first word after the group.
    """

    aux: str
    group: str
    verb: str
    form: str
    voice: Literal["active", "passive", "copula"]
    end: int


def finite_verb(words: list[str]) -> int | None:
    """Return the index of the main finite verb; None if there is none or several are possible."""
    relatives = 0
    for at in range(1, len(words)):
        word = words[at].lower().strip(",")
        before = words[at - 1].lower()
        if word in RELATIVE:
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
    if before in DETERMINERS | PREPOSITIONS or after in MODALS | BE | HAVE or before in ("and", "or"):
        return False
    if "base" in forms(before) and before == "to":
        return False
    if "past" in known and not _is_reduced(words, at):
        return True
    if "past" in forms(after) and "base" not in forms(after):
        return False
    beyond = words[at + 2].lower() if at + 2 < len(words) else ""
    is_noun = word not in _NO_NOUNS
    if is_noun and "base" in forms(after) and (beyond in PREPOSITIONS or beyond[:1].isdigit()):
        return False
    if is_noun and "s" in forms(after) and (beyond in DETERMINERS or beyond[:1].isdigit()):
        return False
    plural = is_plural(words[:at])
    if "s" in known and not plural:
        return True
    return "base" in known and plural and head_of(words[:at]) not in DETERMINERS


def _is_reduced(words: list[str], at: int) -> bool:
    """Report whether a participle belongs to the noun before it ("damage caused by rain is …")."""
    word = words[at].lower()
    if "participle" not in forms(word):
        return False
    for other in range(at + 1, len(words)):
        text = words[other].lower().strip(",")
        if (
            text in ("and", "or", "but", "because", "if", "when", "while")
            or text in RELATIVE
            or words[other - 1].endswith(",")
        ):
            return False
        if text in MODALS | BE or (
            "s" in forms(text) and other > at + 1 and words[other - 1].lower() not in DETERMINERS
        ):
            return True
    return False


def verb_group(words: list[str], at: int, *, plural: bool) -> VerbGroup | None:
    """Return the verb group that begins with a finite verb; None if the rules are not sure."""
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
            return VerbGroup(first, group, verb, f"{first} {group}", "passive", after + 1)
        if word in ("being", "due") or forms(word).get("ing"):
            return None
        return VerbGroup(first, "", "be", first, "copula", at + 1)
    if first in HAVE and (word == "been" or (word.endswith("ed") and not forms(word))):
        return None
    if first in HAVE and is_participle(word) and "participle" in forms(word):
        group = _phrase(adverbs, word)
        return VerbGroup(first, group, forms(word)["participle"], f"{first} {group}", "active", after + 1)
    return _simple_group(words, at, first, plural=plural)


def _modal_group(words: list[str], at: int, modal: str, word: str, adverbs: str) -> VerbGroup | None:
    if word == "be":
        after, more = _skip_adverbs(words, at + 1)
        following = words[after].lower().strip(",") if after < len(words) else ""
        if is_participle(following):
            group = _phrase(adverbs, "be", more, following)
            verb = forms(following).get("participle") or following
            return VerbGroup(modal, group, verb, f"{modal} {group}", "passive", after + 1)
        return VerbGroup(modal, _phrase(adverbs, "be"), "be", f"{modal} be", "copula", at + 1)
    base = forms(word).get("base")
    if base is None or adverbs == "only":
        return None
    group = _phrase(adverbs, base)
    return VerbGroup(modal, group, base, f"{modal} {group}", "active", at + 1)


def _simple_group(words: list[str], at: int, word: str, *, plural: bool) -> VerbGroup | None:
    known = forms(word)
    if "s" in known and not plural:
        aux, base = "does", known["s"]
    elif "past" in known and not (known.get("base") and plural and word not in ("put", "set", "cut")):
        aux, base = "did", known["past"]
    elif "base" in known and plural:
        aux, base = ("did" if "past" in known and _is_past(words) else "do"), known["base"]
    else:
        return None
    return VerbGroup(aux, base, base, word, "active", at + 1)


def _is_past(words: list[str]) -> bool:
    """Report whether a word can only be past: "Repairs cost £900, of which the insurer paid half"."""
    return any("past" in forms(word) and "base" not in forms(word) for word in words)


def _is_adjective(words: list[str], at: int) -> bool:
    """Report whether a participle after be is rather an adjective before a noun."""
    return (
        words[at].lower() in ("limited", "related")
        and at + 1 < len(words)
        and words[at + 1].lower() not in PREPOSITIONS
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
