"""English verbs and their forms, for the analysis of plain sentences."""

from __future__ import annotations

from typing import Literal

from pytest_evalstudio.contrib.questions.words import tables, word_set, word_table

Form = Literal["base", "s", "past", "participle", "ing"]

MODALS = word_set("can may must should will shall could would might")
BE = word_set("is are was were")
HAVE = word_set("has have had")
AUXILIARIES = MODALS | BE | HAVE
_DOUBLING = word_table("doubling verbs")


def _irregular_verbs() -> dict[str, tuple[str, str]]:
    """Return the past and the participle of the irregular verbs by base form."""
    rows = (entry.split() for entry in tables("words.txt")["irregular verbs"].split(","))
    return {base: (past, participle) for base, past, participle in rows}


_IRREGULAR = _irregular_verbs()


def third_person(base: str) -> str:
    """Return the third person singular of a base form.

    >>> third_person("carry"), third_person("pass"), third_person("have")
    ('carries', 'passes', 'has')
    """
    if base == "have":
        return "has"
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{base}es"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"


def past(base: str) -> str:
    """Return the past tense of a base form."""
    return _IRREGULAR[base][0] if base in _IRREGULAR else _regular_past(base)


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return f"{base}d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return f"{base[:-1]}ied"
    return f"{base}{base[-1]}ed" if base in _DOUBLING else f"{base}ed"


def _ing(base: str) -> str:
    if base.endswith("e") and not base.endswith("ee"):
        return f"{base[:-1]}ing"
    return f"{base}{base[-1]}ing" if base in _DOUBLING else f"{base}ing"


def _all_forms() -> dict[str, dict[Form, str]]:
    """Return the forms of all verbs: a word to its possible forms, each with the base."""
    readings: dict[str, dict[Form, str]] = {}

    def add(word: str, form: Form, base: str) -> None:
        readings.setdefault(word, {}).setdefault(form, base)

    for base in sorted(word_table("regular verbs") | set(_IRREGULAR)):
        simple, participle = _IRREGULAR.get(base) or (_regular_past(base),) * 2
        add(base, "base", base)
        add(third_person(base), "s", base)
        add(simple, "past", base)
        add(participle, "participle", base)
        add(_ing(base), "ing", base)
    return readings


_FORMS = _all_forms()


def forms(word: str) -> dict[Form, str]:
    """Return the forms that a lower-case word can be, each with its base form.

    >>> forms("costs"), forms("paid"), forms("table")
    ({'s': 'cost'}, {'past': 'pay', 'participle': 'pay'}, {})
    """
    return _FORMS.get(word, {})


def is_participle(word: str) -> bool:
    """Report whether a lower-case word can be a past participle."""
    return "participle" in forms(word) or (word.endswith("ed") and len(word) > 4)
