"""Questions for persons and bodies that act."""

from __future__ import annotations

import functools
import re

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause
from pytest_evalstudio.contrib.questions.grammar.verbs import MODALS, forms, past, third_person
from pytest_evalstudio.contrib.questions.quantities import quantities, quantities_and_counts
from pytest_evalstudio.contrib.questions.rules.fact import Fact, make_fact
from pytest_evalstudio.contrib.questions.words import word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus

AGENTS = word_table("agents")
_TOO_GENERAL = word_table("general agents")
_BY_AGENT = re.compile(
    r"(?P<particle>(?:out|up|off|on|in)\s)?by\s(?P<agent>.+?)"
    r"(?P<tail>\s(?:free of charge|within|on|in|every|each|before|after|at)\b.*)?$"
)
_RELATIVE = re.compile(r"(?i)\b(?:who|that|which)\b")
_WITHOUT_OBJECT = re.compile(
    r"^(?:\w+ times|in|on|at|for|with|from|to|by|after|before|until|once|twice"
    r"|every\s(?:\w+\s)?(?:minute|hour|day|week|month|quarter|year)s?)\b|\bwithin\b"
)
"""Rest of a clause that does not say what a person does something to: "meets once a month"."""
_DEPENDENT = re.compile(r"\b(?:because|if|when|its|their|his|her|your|itself)\b")
"""Words by which the rest of a clause depends on its subject, which the question does not name."""
_MEANS = re.compile(r"(?:courier|post|mail|hand|carrier|agent)")
"""Words after "by" that without an article name a means: "by courier"."""
_NO_ACTION = word_set("have consist mean cost include remain become")


def _is_agent(phrase: str, corpus: Corpus) -> bool:
    """Report whether a phrase names a person or a body.

    A name with a word that the documents also write in lower case is of a thing: "Zone B", "Green Card".
    """
    words = phrase.split()
    ends = (at for at, word in enumerate(words) if at and word in ("of", "for", "in", "who", "that", "on"))
    if words[next(ends, len(words)) - 1].lower() in AGENTS:
        return True
    is_name = (
        len(words) > 1
        and words[0] not in ("The", "A", "An")
        and all(word[0].isupper() or word in ("the", "of", "and") for word in words)
    )
    is_person = is_name and all(len(word) > 1 for word in words) and not re.search(r"\d|s$", phrase)
    return is_person and not any(word.lower() in _common_words(corpus) for word in words if word[0].isupper())


@functools.lru_cache(maxsize=1)
def _common_words(corpus: Corpus) -> frozenset[str]:
    """Return the words that the documents have in lower case, except function words."""
    words = (word for sentence in corpus.sentences for word in re.findall(r"\b[a-z]{3,}\b", sentence))
    return frozenset(words) - {"the", "and"}


def agent_of_passive(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the agent of a passive: "Who pays parking fines?"."""
    match = _BY_AGENT.match(clause.rest)
    if clause.voice != "passive" or match is None:
        return None
    agent, tail = match["agent"], match["tail"] or ""
    is_long_clause = _RELATIVE.search(agent) and len(agent.split()) > 8
    if _MEANS.fullmatch(agent) or "," in agent or is_long_clause or quantities(agent):
        return None
    verb = _active_verb(clause)
    if not verb or not _is_agent(agent, corpus):
        return None
    particle = f" {match['particle'].strip()}" if match["particle"] else ""
    return make_fact(f"Who {verb}{particle} {subject}{tail}?", agent)


def _active_verb(clause: Clause) -> str:
    """Return the verb of a passive as after "who"; "" if it is not known."""
    base = clause.verb
    if "base" not in forms(base):
        return ""
    if clause.aux in MODALS:
        adverb = clause.group.partition("be ")[0].strip()
        return f"{clause.aux} {base}" if adverb in ("", "only") else ""
    return third_person(base) if clause.aux in ("is", "are") else past(base)


def agent_of_active(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the subject of an active clause: "Who sets the pay of the directors?"."""
    rest = clause.rest
    if clause.voice != "active" or clause.kind == "command" or clause.verb in _NO_ACTION:
        return None
    if clause.head in _TOO_GENERAL or _RELATIVE.search(clause.subject):
        return None
    # "Who carry a photo card?" is no English.
    if (clause.is_plural and clause.aux == "do") or _WITHOUT_OBJECT.search(rest) or _DEPENDENT.search(rest):
        return None
    if len(rest.split()) < 2 or "," in rest or not _is_agent(clause.subject, corpus):
        return None
    # "Employs 29 people" is asked for its number.
    if any(quantity.start == 0 for quantity in quantities_and_counts(rest)):
        return None
    verb = re.sub(r"^have\b", "has", clause.form)
    return make_fact(f"Who {verb} {rest}?", clause.subject)
