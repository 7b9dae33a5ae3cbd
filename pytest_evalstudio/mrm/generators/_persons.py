"""Questions for persons and bodies that act."""

from __future__ import annotations

import functools
import re

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.mrm.generators._fact import Fact, make_fact
from pytest_evalstudio.mrm.generators._places import with_counts
from pytest_evalstudio.mrm.texts.clauses import Clause
from pytest_evalstudio.mrm.texts.quantities import quantities
from pytest_evalstudio.mrm.texts.verbs import forms, past, third_person
from pytest_evalstudio.mrm.texts.words import word_set

AGENTS = word_set(
    """
    adjuster administrator adviser agency agent agents analyst assistant auditor authority bank bailiff
    board broker bureau buyer carrier centre chair chairman chairwoman chancellor chemist clinic
    commission commissioner committee consultant controller coordinator council counsel court courier
    customer dealer dean department dentist desk director doctor editor employee employer engineer
    executive firm government guardian guarantor head helpdesk holder inspector inspectorate insurer
    issuer judge landlord lawyer lender librarian manager manufacturer mayor midwife minister ministry
    nurse officer official ombudsman operator owner panel parent partner pharmacist physician police
    president principal provider purchaser regulator representative retailer secretariat secretary
    seller service staff supervisor supplier surgeon surveyor teacher team tenant technician technicians
    tribunal trustee trustees treasurer university user vendor veterinarian warden chief cardholder
    policyholder
    """
)
"""Nouns for people and bodies that act."""

_WITHOUT_OBJECT = re.compile(
    r"^(?:\w+ times|in|on|at|for|with|from|to|by|after|before|until|once|twice"
    r"|every\s(?:\w+\s)?(?:minute|hour|day|week|month|quarter|year)s?)\b|\bwithin\b"
)
"""Rest of a clause that does not say what a person does something to: "meets once a month"."""
_MEANS = re.compile(r"(?:courier|post|mail|hand|carrier|agent)")
"""Words after "by" that without an article name a means: "by courier"."""
_TOO_GENERAL = word_set(
    """
    group company firm employees people customers patients you users members society bank organisation
    employee customer user
    """
)


def _agent(phrase: str, corpus: Corpus) -> bool:
    """Report whether a phrase names a person or a body.

    A name with a word that the documents also write in lower case is of a thing: "Zone B", "Green Card".
    """
    words = phrase.split()
    head = next(
        (
            words[at - 1]
            for at, word in enumerate(words)
            if at and word in ("of", "for", "in", "who", "that", "on")
        ),
        words[-1],
    )
    is_name = (
        len(words) > 1
        and words[0] not in ("The", "A", "An")
        and all(word[0].isupper() or word in ("the", "of", "and", "Dr") for word in words)
    )
    if head.lower() in AGENTS:
        return True
    is_person = is_name and all(len(word) > 1 for word in words) and not re.search(r"\d|s$", phrase)
    return is_person and not any(word.lower() in _common_words(corpus) for word in words if word[0].isupper())


@functools.lru_cache(maxsize=1)
def _common_words(corpus: Corpus) -> frozenset[str]:
    """Return the words that the documents have in lower case, except function words."""
    words = (word for sentence in corpus.sentences for word in re.findall(r"\b[a-z]{3,}\b", sentence))
    return frozenset(words) - {"the", "and"}


def who_by(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the agent of a passive: "Who pays parking fines?"."""
    if clause.voice != "passive":
        return None
    match = re.match(
        r"(?P<particle>(?:out|up|off|on|in)\s)?by\s(?P<agent>.+?)"
        r"(?P<tail>\s(?:free of charge|within|on|in|every|each|before|after|at)\b.*)?$",
        clause.rest,
    )
    if (
        match is None
        or _MEANS.fullmatch(match["agent"])
        or "," in match["agent"]
        or not _agent(match["agent"], corpus)
        or quantities(match["agent"])
    ):
        return None
    if re.search(r"(?i)\b(?:who|that|which)\b", match["agent"]) and len(match["agent"].split()) > 8:
        return None
    verb = _active(clause)
    if not verb:
        return None
    particle = f" {match['particle'].strip()}" if match["particle"] else ""
    tail = match["tail"] or ""
    return make_fact(f"Who {verb}{particle} {subject}{tail}?", match["agent"])


def _active(clause: Clause) -> str:
    """Return the verb of a passive as after "who"; "" if it is not known."""
    base = clause.verb
    if "base" not in forms(base):
        return ""
    if clause.aux in ("is", "are"):
        return third_person(base)
    if clause.aux in ("was", "were"):
        return past(base)
    if clause.group.startswith("be ") or " be " in f" {clause.group} ":
        adverb = clause.group.partition("be ")[0].strip()
        return "" if adverb and adverb != "only" else f"{clause.aux} {base}"
    return ""


def who(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the subject of an active clause: "Who sets the pay of the directors?"."""
    if (
        clause.voice != "active"
        or clause.kind == "command"
        or clause.verb in ("have", "consist", "mean", "cost", "include", "remain", "become")
    ):
        return None
    if (
        clause.head in _TOO_GENERAL
        or not _agent(clause.subject, corpus)
        or re.search(r"(?i)\b(?:who|that|which)\b", clause.subject)
    ):
        return None
    if (clause.is_plural and clause.aux == "do") or _WITHOUT_OBJECT.search(clause.rest):
        return None
    if (
        re.search(r"\b(?:because|if|when|its|their|his|her|your|itself)\b", clause.rest)
        or len(clause.rest.split()) < 2
        or "," in clause.rest
    ):
        return None
    if any(quantity.start == 0 for quantity in with_counts(clause.rest)):
        return None
    verb = re.sub(r"^have\b", "has", clause.form)
    return make_fact(f"Who {verb} {clause.rest}?", clause.subject)
