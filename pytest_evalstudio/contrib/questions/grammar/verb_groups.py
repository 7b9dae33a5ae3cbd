"""English verb groups: the finite verb of a clause, with its auxiliaries and adverbs."""

from __future__ import annotations

from typing import Literal, NamedTuple

from pytest_evalstudio.contrib.questions.grammar.noun_phrases import (
    DETERMINERS,
    PREPOSITIONS,
    RELATIVE,
    head_of,
    is_plural,
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

Voice = Literal["active", "passive", "copula"]
_ADVERBS = word_table("adverbs")
_NO_ADVERBS = word_set("only early daily monthly yearly weekly supply apply reply rely family")
"""Words on -ly that are not adverbs before a verb."""
_NO_NOUNS = word_set("takes gives keeps makes gets goes becomes brings begins holds says sells pays")
"""Third persons that no plural noun has."""
_CONJUNCTIONS = word_set("and or but because if when while")


class VerbGroup(NamedTuple):
    """A verb with its auxiliaries; `Clause` explains the attributes.

    Attributes:
        end: index of the first word after the group.
    """

    aux: str
    group: str
    verb: str
    form: str
    voice: Voice
    end: int


def finite_verb(words: list[str]) -> int | None:
    """Return the index of the main finite verb; None if there is none or several are possible."""
    relatives = 0  # relative clauses whose verb is still to come
    for at in range(1, len(words)):
        if _lower(words, at) in RELATIVE:
            relatives += 1
        elif not _may_be_finite(words, at):
            if relatives == 0 and words[at - 1].endswith(","):
                return None
        elif relatives:
            relatives -= 1
        else:
            return at
    return None


def _lower(words: list[str], at: int) -> str:
    """Return a word in lower case without commas, "" beyond the end."""
    return words[at].lower().strip(",") if at < len(words) else ""


def _may_be_finite(words: list[str], at: int) -> bool:
    word = _lower(words, at)
    if word in MODALS:
        return at + 1 < len(words)
    if word in BE or word in HAVE:
        return True
    readings = forms(word)
    # A word with a capital belongs to a name: "HR Services keeps", "the Ashdown Plan".
    if not readings or words[at][0].isupper() or words[at].endswith(",") or _is_within_phrase(words, at):
        return False
    if "past" in readings and not _is_reduced(words, at):
        return True
    if _precedes_verb(words, at):
        return False
    plural = is_plural(words[:at])
    if "s" in readings and (not plural or is_third_person(words, at)):
        return True
    return "base" in readings and plural and head_of(words[:at]) not in DETERMINERS


def is_third_person(words: list[str], at: int) -> bool:
    """Report whether a verb makes a name that looks plural singular: "HR Services keeps records"."""
    word = _lower(words, at)
    return "s" in forms(word) and (word in _NO_NOUNS or (at > 1 and words[at - 1][0].isupper()))


def _is_within_phrase(words: list[str], at: int) -> bool:
    """Report whether the neighbours of a word make it a noun: "the charge", "of notice", "costs are"."""
    before = words[at - 1].lower()
    if (
        "s" in forms(_lower(words, at))
        and _lower(words, at + 1) == "and"
        and _has_auxiliary(words[at + 2 : at + 6])
    ):
        return True  # "identification records and documents are kept"
    return before in DETERMINERS | PREPOSITIONS | {"and", "or"} or _lower(words, at + 1) in AUXILIARIES


def _has_auxiliary(words: list[str]) -> bool:
    return any(word.lower() in AUXILIARIES for word in words)


def _precedes_verb(words: list[str], at: int) -> bool:
    """Report whether the next word is the verb, so that this one is a noun: "the card costs £5"."""
    after = forms(_lower(words, at + 1))
    if "past" in after and "base" not in after:
        return True
    if _lower(words, at) in _NO_NOUNS:
        return False
    beyond = words[at + 2].lower() if at + 2 < len(words) else ""
    is_number = beyond[:1].isdigit()
    return ("base" in after and (beyond in PREPOSITIONS or is_number)) or (
        "s" in after and (beyond in DETERMINERS or is_number)
    )


def _is_reduced(words: list[str], at: int) -> bool:
    """Report whether a participle belongs to the noun before it ("damage caused by rain is …")."""
    if "participle" not in forms(words[at].lower()):
        return False
    for other in range(at + 1, len(words)):
        word = _lower(words, other)
        if word == "because" and _lower(words, other + 1) == "of":
            continue
        if word in _CONJUNCTIONS or word in RELATIVE or words[other - 1].endswith(","):
            return False
        is_third_person = (
            "s" in forms(word) and other > at + 1 and words[other - 1].lower() not in DETERMINERS
        )
        if word in MODALS | BE or is_third_person:
            return True
    return False


def verb_group(words: list[str], at: int, *, plural: bool) -> VerbGroup | None:
    """Return the verb group that begins with a finite verb; None if the rules are not sure."""
    first = words[at].lower()
    after, adverbs = _skip_adverbs(words, at + 1)
    if _lower(words, after) == "not":
        after, more = _skip_adverbs(words, after + 1)
        adverbs += more
    word = _lower(words, after)
    if first in MODALS:
        return _modal_group(words, after, first, word, adverbs)
    if first in BE:
        if is_participle(word) and not _is_adjective(words, after):
            group = _phrase(adverbs, word)
            verb = forms(word).get("participle") or word
            return VerbGroup(first, group, verb, f"{first} {group}", "passive", after + 1)
        # "Is due 28 days before": a question cannot take "due" from its verb.
        if word in ("being", "due") or forms(word).get("ing"):
            return None
        return VerbGroup(first, "", "be", first, "copula", at + 1)
    if first in HAVE and (word == "been" or (word.endswith("ed") and not forms(word))):
        return None
    if first in HAVE and "participle" in forms(word):
        group = _phrase(adverbs, word)
        return VerbGroup(first, group, forms(word)["participle"], f"{first} {group}", "active", after + 1)
    return _simple_group(words, at, first, plural=plural)


def _modal_group(words: list[str], at: int, modal: str, word: str, adverbs: str) -> VerbGroup | None:
    if word == "be":
        after, more = _skip_adverbs(words, at + 1)
        participle = _lower(words, after)
        if is_participle(participle):
            group = _phrase(adverbs, "be", more, participle)
            verb = forms(participle).get("participle") or participle
            return VerbGroup(modal, group, verb, f"{modal} {group}", "passive", after + 1)
        return VerbGroup(modal, _phrase(adverbs, "be"), "be", f"{modal} be", "copula", at + 1)
    base = forms(word).get("base")
    if base is None or adverbs == "only":
        return None
    group = _phrase(adverbs, base)
    return VerbGroup(modal, group, base, f"{modal} {group}", "active", at + 1)


def _simple_group(words: list[str], at: int, word: str, *, plural: bool) -> VerbGroup | None:
    readings = forms(word)
    if "s" in readings and not plural:
        aux, base = "does", readings["s"]
    # "We put 118 litres into supply": the past of "put" has its base form.
    elif "past" in readings and not ("base" in readings and plural and word not in ("put", "set", "cut")):
        aux, base = "did", readings["past"]
    elif "base" in readings and plural:
        aux, base = ("did" if "past" in readings and _is_past(words) else "do"), readings["base"]
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


def _is_adverb(word: str) -> bool:
    return word.lower() in _ADVERBS or (word.endswith("ly") and word not in _NO_ADVERBS)


def _skip_adverbs(words: list[str], at: int) -> tuple[int, str]:
    """Return the index of the next word that is no adverb, and the adverbs before it."""
    end = at
    while end < len(words) and _is_adverb(words[end]):
        end += 1
    return end, " ".join(words[at:end]).strip(",")


def _phrase(*parts: str) -> str:
    return " ".join(filter(None, parts))
