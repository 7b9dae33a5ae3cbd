"""Questions for definitions, lists, reasons and other facts of plain sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.mrm.generators._fact import Fact, items_condition, keywords, make_fact
from pytest_evalstudio.mrm.generators._persons import AGENTS, who, who_by
from pytest_evalstudio.mrm.generators._places import with_counts
from pytest_evalstudio.mrm.texts.clauses import Clause, clauses
from pytest_evalstudio.mrm.texts.quantities import quantities
from pytest_evalstudio.mrm.texts.statements import inside
from pytest_evalstudio.mrm.texts.verbs import forms, is_participle
from pytest_evalstudio.mrm.texts.words import word_set

_LISTING = word_set(
    """
    consist include comprise cover contain require cause need provide show offer involve exclude serve
    record
    """
)

_CLASSES = word_set(
    """
    capital cause colour color currency fuel goal ingredient language location material medium method
    motto occupation profession refrigerant resource season source subject substance treatment
    """
)
"""Nouns of which a single noun after "is" names one: "The active substance is ibuprofen"."""

_NAMING = frozenset({"require", "cause", "exclude", "consist", "comprise"})
"""Verbs whose object answers "what" even if it is a single thing."""

_ASKERS = frozenset({"you", "we", "they", "i"})
"""Subjects whose needs depend on what they do, which the sentence does not say."""

_ADJECTIVE = re.compile(
    r"(?:pink|available|free|very|not|in|on|at|due|from|between|open|closed)\b"
    r"|(?:\w*[^s\W])\s(?:on|in|at|to|for|with|from|among|by|about|throughout|during)\b"
)
"""The beginning of a complement that says how things are, not what they are: "welcome on the terrace"."""

_TIME_CLAUSE = re.compile(r"^(?P<before>[^,]*?)\s?\b(?P<word>when|if|as soon as|until)\s(?P<clause>.+)$")

_WHY = re.compile(r"^(?P<before>[^,]*?),?\s(?:because|since it|as it)\s(?P<clause>.+)$")

_IF = re.compile(r"If\s(?P<clause>[^,;:()]+),\s(?P<rest>[^,;:()]+)\.")

_ARTICLE = re.compile(r"(?:a|an|the)\s", re.IGNORECASE)

_PLACE_NAME = re.compile(r"^(?:in|at)\s(?P<place>(?:the\s)?[A-Z][\w-]+(?:\s[A-Z][\w-]+)*)$")

_UNCLEAR = re.compile(
    r"(?i)\b(?:it|they|them|this|these|those|here|such|we|us|our|other|another|following)\b"
)


def facts_asked(sentence: str, corpus: Corpus) -> Iterator[Fact]:
    """Yield natural questions for facts of a sentence; none where the rules are not sure."""
    if conditional := _what_if(sentence):
        yield conditional
        return
    for clause in clauses(sentence):
        if clause.is_negative or not clause.rest:
            continue
        subject = inside(clause.subject, corpus)
        for build in (
            _meaning,
            _definition,
            who_by,
            _when,
            _why,
            who,
            _what_for,
            _where,
            _listed,
            _is_what,
        ):
            fact = build(clause, subject, corpus)
            if fact is not None and _is_clean(fact):
                yield fact
                break


def _meaning(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    if clause.verb == "mean" and clause.aux in ("does", "do"):
        if clause.rest.startswith("that "):
            return make_fact(clause.ask("What", subject), clause.rest.removeprefix("that "))
        term = re.sub(r"(?i)^(?:(?:a|an|the)\s)?(?:term\s)?", "", subject)
        return make_fact(f"What does “{term}” mean?", clause.rest, items_condition(clause.rest) or "")
    is_sign = clause.verb in ("indicate", "signal", "signify") and clause.aux == "does"
    if is_sign and not _UNCLEAR.search(clause.rest):
        return make_fact(clause.ask("What", subject), clause.rest.removeprefix("that "))
    return None


def _definition(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    if clause.voice != "copula" or clause.aux not in ("is", "are") or clause.is_plural:
        return None
    complement = re.match(r"(?:a|an|the)\s(?P<rest>.+)", clause.rest)
    if complement is None or len(clause.rest.split()) < 4:
        return None
    is_indefinite = clause.rest.startswith(("a ", "an "))
    names = re.match(r"(?:A|An)\s", clause.subject) or (
        clause.subject[:1].isupper() and not _ARTICLE.match(clause.subject)
    )
    explains = re.search(r"\b(?:that|which|who|of|for|with|to)\b", complement["rest"])
    if not explains:
        return None
    if names and is_indefinite:
        return make_fact(f"What is {subject}?", clause.rest)
    if re.match(
        r"the (?:part|share|amount|sum|period|time|price|rate|difference|ability|process)\b", clause.rest
    ):
        return make_fact(f"What is meant by “{subject}”?", clause.rest)
    return None


def _when(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _TIME_CLAUSE.match(clause.rest)
    if (
        match is None
        or match["word"] not in ("when", "if")
        or _UNCLEAR.search(match["clause"])
        or with_counts(match["before"])
        or (clause.voice == "copula" and match["word"] == "if")
        or is_participle(match["clause"].split(" ")[0])
        or match["clause"].startswith("to ")
    ):
        return None
    if re.search(r"\b(?:only|even|except|unless|that|which)\b", match["before"]) or "," in match["clause"]:
        return None
    question = clause.ask("When", subject, match["before"])
    return make_fact(question, f"{match['word']} {match['clause']}", keywords(match["clause"]))


def _why(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _WHY.match(clause.rest)
    if match is None or _UNCLEAR.search(match["clause"]) or "," in match["clause"]:
        return None
    return make_fact(
        clause.ask("Why", subject, match["before"]), f"because {match['clause']}", keywords(match["clause"])
    )


def _what_for(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    if (
        clause.voice == "passive"
        and clause.verb == "use"
        and clause.rest.startswith(("to ", "for "))
        and clause.aux in ("is", "are")
    ):
        return make_fact(
            f"What {clause.aux} {subject} used for?", clause.rest, items_condition(clause.rest) or ""
        )
    if clause.verb in ("serve", "act") and clause.aux == "does" and clause.rest.startswith("as "):
        return make_fact(f"What {clause.form} {clause.rest}?", clause.subject)
    return None


def _where(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _PLACE_NAME.match(clause.rest)
    if match is None or re.search(
        r"(?i)January|February|March|April|May|June|July|August|September|October|November|December",
        clause.rest,
    ):
        return None
    if clause.voice == "active":
        return None
    return make_fact(
        clause.ask("Where", subject), clause.rest, str(Regexp(rf"(?i)\b{re.escape(match['place'])}\b"))
    )


def _listed(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the object of a verb that lists or requires something."""
    first = clause.subject.split(" ")[0].lower()
    if (
        clause.voice != "active"
        or clause.verb not in _LISTING
        or clause.kind == "command"
        or clause.aux in ("may", "can", "might", "could")
        or first in _ASKERS
        or "ing" in forms(first)
        or _UNCLEAR.search(clause.rest)
    ):
        return None
    rest = clause.rest
    lead = "of " if clause.verb == "consist" else ""
    if lead and not rest.startswith(lead):
        return None
    body = rest.removeprefix(lead)
    against = re.search(r"\sagainst\s(?=.+\sand\s)", body)
    if against:
        question = clause.ask("What", subject, f"{body[: against.start()]} against")
        return make_fact(question, body[against.end() :], items_condition(body[against.end() :]) or "")
    words = body.split()
    if (
        re.match(r"(?:up to|at least|more than|\d|about)", body)
        or re.search(r"\b(?:that|which|who|whom|whose)\b", body)
        or len(words) > 16
    ):
        return None
    condition = items_condition(body)
    is_named = clause.verb in _NAMING
    if not condition and (len(words) < 2 or quantities(body) or not is_named):
        return None
    return make_fact(clause.ask("What", subject, "of" if lead else ""), body, condition or keywords(body))


def _is_what(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for a list or name after "is": "What are the principal risks?"."""
    if clause.voice != "copula" or clause.aux not in ("is", "are"):
        return None
    if _ARTICLE.match(clause.subject) is None and not clause.is_plural:
        return None
    condition = items_condition(clause.rest)
    if condition and clause.is_plural and not _ADJECTIVE.match(clause.rest):
        items = re.split(r",\s|\sand\s", clause.rest)
        if len(items) < 3:
            return None
        return make_fact(f"What are {subject}?", clause.rest, condition)
    is_name = re.fullmatch(r"(?:[A-Z][\w.&’'-]*\s?|&\s|a\.s\.?|plc)+", clause.rest)
    if is_name and clause.aux == "is":
        wh = "Who" if clause.head in AGENTS else "What"
        return make_fact(
            f"{wh} is {subject}?", clause.rest, str(Regexp(rf"(?i){re.escape(clause.rest.rstrip('.'))}"))
        )
    single = re.fullmatch(r"[a-z]{6,}", clause.rest)
    if single and clause.head in _CLASSES:
        return make_fact(f"What is {subject}?", clause.rest)
    return None


def _is_elliptical(clause: str) -> bool:
    """Report whether a condition does not say what happens to what: "you cannot come", "nobody answers"."""
    words = clause.lower().split()
    return words[0] in ("nobody", "someone", "anyone", "everyone") or len(words) < 3 + (words[0] == "you")


def _what_if(sentence: str) -> Fact | None:
    """Return the question for an instruction or permission after a condition."""
    match = _IF.fullmatch(" ".join(sentence.split()))
    if match is None or re.search(r"(?i)\b(?:it|they|this|these|we|us|our|that)\b", match["clause"]):
        return None
    rest = match["rest"]
    first = rest.split(" ")[0].lower()
    has_pronoun = re.search(r"(?i)\b(?:this|these|we|us|our|them)\b", rest)
    if has_pronoun or _is_elliptical(match["clause"]):
        return None
    if "base" in forms(first) and first not in ("cost", "charge") and len(rest.split()) > 2:
        return make_fact(f"What should you do if {match['clause']}?", rest)
    allowed = re.match(r"you (?P<modal>must|should) (?P<rest>.+)", rest)
    if allowed:
        return make_fact(f"What {allowed['modal']} you do if {match['clause']}?", allowed["rest"])
    return None


def _is_clean(fact: Fact) -> bool:
    words = fact.question.rstrip("?").split()
    if words[-1].lower() in (
        "to",
        "by",
        "in",
        "on",
        "and",
        "or",
        "a",
        "the",
        "than",
        "with",
        "from",
        "is",
        "are",
    ):
        return False
    return (
        4 <= len(words) <= 24
        and "," not in fact.question
        and fact.answer.casefold() not in fact.question.casefold()
    )
