"""Questions for definitions, persons, lists, reasons and other facts of plain sentences."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.mrm.generators._conditions import says, says_words
from pytest_evalstudio.mrm.generators._places import with_counts
from pytest_evalstudio.mrm.texts.clauses import Clause, clauses
from pytest_evalstudio.mrm.texts.quantities import quantities
from pytest_evalstudio.mrm.texts.statements import as_customer, inside, telling_words
from pytest_evalstudio.mrm.texts.verbs import forms, past, third_person
from pytest_evalstudio.mrm.texts.words import content_words, word_set

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
_TOO_GENERAL = word_set(
    """
    group company firm employees people customers patients you users members society bank organisation
    employee customer user
    """
)
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
_NAMING = frozenset({"require", "need", "cause", "exclude", "consist", "comprise", "include"})
"""Verbs whose object answers "what" even if it is a single thing."""
_TIME_CLAUSE = re.compile(r"^(?P<before>[^,]*?)\s?\b(?P<word>when|if|as soon as|until)\s(?P<clause>.+)$")
_WHY = re.compile(r"^(?P<before>[^,]*?),?\s(?:because|since it|as it)\s(?P<clause>.+)$")
_IF = re.compile(r"If\s(?P<clause>[^,;:()]+),\s(?P<rest>[^,;:()]+)\.")
_ARTICLE = re.compile(r"(?:a|an|the)\s", re.IGNORECASE)
_PLACE_NAME = re.compile(r"^(?:in|at)\s(?P<place>(?:the\s)?[A-Z][\w-]+(?:\s[A-Z][\w-]+)*)$")
_UNCLEAR = re.compile(
    r"(?i)\b(?:it|they|them|this|these|those|here|such|we|us|our|other|another|following)\b"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A question for a fact.

    Attributes:
        answer: the answering words.
        condition: of a right answer.
    """

    question: str
    answer: str
    condition: str


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
            _who_by,
            _when,
            _why,
            _who,
            _what_for,
            _where,
            _listed,
            _is_what,
        ):
            fact = build(clause, subject, corpus)
            if fact is not None and _is_clean(fact):
                yield fact
                break


def _fact(question: str, answer: str, condition: str = "") -> Fact | None:
    required = condition or keywords(answer)
    return (
        Fact(question=as_customer(question), answer=answer.strip(), condition=required) if required else None
    )


def keywords(text: str, most: int = 2) -> str:
    """Return the condition that an answer has the longest words of a text and its quantities; "" for none."""
    stated = with_counts(text)
    plain = text
    for quantity in reversed(stated):
        plain = f"{plain[: quantity.start]} {plain[quantity.end :]}"
    words = telling_words(plain, most) or [word for word in content_words(plain) if len(word) > 2][:1]
    parts = [says_words(words)] if words else []
    parts += [says(quantity.text) for quantity in stated]
    return " AND ".join(parts)


def _meaning(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    if clause.verb == "mean" and clause.aux in ("does", "do"):
        if clause.rest.startswith("that "):
            return _fact(clause.ask("What", subject), clause.rest.removeprefix("that "))
        term = re.sub(r"(?i)^(?:(?:a|an|the)\s)?(?:term\s)?", "", subject)
        return _fact(f"What does “{term}” mean?", clause.rest, _items_condition(clause.rest) or "")
    is_sign = clause.verb in ("indicate", "signal", "signify") and clause.aux == "does"
    if is_sign and not _UNCLEAR.search(clause.rest):
        return _fact(clause.ask("What", subject), clause.rest.removeprefix("that "))
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
        return _fact(f"What is {subject}?", clause.rest)
    if re.match(
        r"the (?:part|share|amount|sum|period|time|price|rate|difference|ability|process)\b", clause.rest
    ):
        return _fact(f"What is meant by “{subject}”?", clause.rest)
    return None


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
    is_name = len(words) > 1 and all(
        word[0].isupper() or word in ("the", "of", "and", "Dr") for word in words
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


def _who_by(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
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
    return _fact(f"Who {verb}{particle} {subject}{tail}?", match["agent"])


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


def _who(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the subject of an active clause: "Who sets the pay of the directors?"."""
    if (
        clause.voice != "active"
        or clause.kind == "command"
        or clause.verb in ("have", "consist", "mean", "cost", "include")
    ):
        return None
    if (
        clause.head in _TOO_GENERAL
        or not _agent(clause.subject, corpus)
        or re.search(r"(?i)\b(?:who|that|which)\b", clause.subject)
    ):
        return None
    if (clause.is_plural and clause.aux == "do") or re.search(
        r"^(?:\w+ times|in|on|at|for)\b|\bwithin\b", clause.rest
    ):
        return None
    if (
        re.search(r"\b(?:because|if|when|its|their|his|her|your|itself)\b", clause.rest)
        or len(clause.rest.split()) < 2
        or "," in clause.rest
    ):
        return None
    if any(quantity.start == 0 for quantity in with_counts(clause.rest)):
        return None
    return _fact(f"Who {clause.form} {clause.rest}?", clause.subject)


def _when(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _TIME_CLAUSE.match(clause.rest)
    if (
        match is None
        or match["word"] not in ("when", "if")
        or _UNCLEAR.search(match["clause"])
        or with_counts(match["before"])
        or (clause.voice == "copula" and match["word"] == "if")
    ):
        return None
    if re.search(r"\b(?:only|even|except|unless|that|which)\b", match["before"]) or "," in match["clause"]:
        return None
    question = clause.ask("When", subject, match["before"])
    return _fact(question, f"{match['word']} {match['clause']}", keywords(match["clause"]))


def _why(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _WHY.match(clause.rest)
    if match is None or _UNCLEAR.search(match["clause"]) or "," in match["clause"]:
        return None
    return _fact(
        clause.ask("Why", subject, match["before"]), f"because {match['clause']}", keywords(match["clause"])
    )


def _what_for(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    if (
        clause.voice == "passive"
        and clause.verb == "use"
        and clause.rest.startswith(("to ", "for "))
        and clause.aux in ("is", "are")
    ):
        return _fact(
            f"What {clause.aux} {subject} used for?", clause.rest, _items_condition(clause.rest) or ""
        )
    if clause.verb in ("serve", "act") and clause.aux == "does" and clause.rest.startswith("as "):
        return _fact(f"What {clause.form} {clause.rest}?", clause.subject)
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
    return _fact(
        clause.ask("Where", subject), clause.rest, str(Regexp(rf"(?i)\b{re.escape(match['place'])}\b"))
    )


def _listed(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the object of a verb that lists or requires something."""
    if (
        clause.voice != "active"
        or clause.verb not in _LISTING
        or clause.kind == "command"
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
        return _fact(question, body[against.end() :], _items_condition(body[against.end() :]) or "")
    words = body.split()
    if (
        re.match(r"(?:up to|at least|more than|\d|about)", body)
        or re.search(r"\b(?:that|which|who|whom|whose)\b", body)
        or len(words) > 16
    ):
        return None
    condition = _items_condition(body)
    is_named = clause.verb in _NAMING or (clause.verb in ("cover", "show") and clause.aux == "does")
    if not condition and (len(words) < 2 or quantities(body) or not is_named):
        return None
    return _fact(clause.ask("What", subject, "of" if lead else ""), body, condition or keywords(body))


def _is_what(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for a list or name after "is": "What are the principal risks?"."""
    if clause.voice != "copula" or clause.aux not in ("is", "are"):
        return None
    if _ARTICLE.match(clause.subject) is None and not clause.is_plural:
        return None
    condition = _items_condition(clause.rest)
    if (
        condition
        and clause.is_plural
        and not re.match(r"(?:pink|available|free|very|not|in|on|at|due)\b", clause.rest)
    ):
        items = re.split(r",\s|\sand\s", clause.rest)
        if len(items) < 3:
            return None
        return _fact(f"What are {subject}?", clause.rest, condition)
    is_name = re.fullmatch(r"(?:[A-Z][\w.&’'-]*\s?|&\s|a\.s\.?|plc)+", clause.rest)
    if is_name and clause.aux == "is":
        wh = "Who" if clause.head in AGENTS else "What"
        return _fact(
            f"{wh} is {subject}?", clause.rest, str(Regexp(rf"(?i){re.escape(clause.rest.rstrip('.'))}"))
        )
    single = re.fullmatch(r"[a-z]{6,}", clause.rest)
    if single and clause.head in _CLASSES:
        return _fact(f"What is {subject}?", clause.rest)
    return None


def _what_if(sentence: str) -> Fact | None:
    """Return the question for an instruction or permission after a condition."""
    match = _IF.fullmatch(" ".join(sentence.split()))
    if match is None or re.search(r"(?i)\b(?:it|they|this|these|we|us|our|that)\b", match["clause"]):
        return None
    rest = match["rest"]
    first = rest.split(" ")[0].lower()
    has_pronoun = re.search(r"(?i)\b(?:this|these|we|us|our|them)\b", rest)
    if has_pronoun or len(match["clause"].split()) < 3:
        return None
    if "base" in forms(first) and first not in ("cost", "charge") and len(rest.split()) > 2:
        return _fact(f"What should you do if {match['clause']}?", rest)
    allowed = re.match(r"you (?P<modal>can|may|must|should) (?P<rest>.+)", rest)
    if allowed:
        return _fact(f"What {allowed['modal']} you do if {match['clause']}?", allowed["rest"])
    return None


def _items_condition(text: str) -> str | None:
    """Return the condition that an answer names all items of a list; None for no list of names."""
    body = text.split(" but ")[0]
    items = [item for item in re.split(r",\s(?:and\s|or\s)?|\s(?:and|or)\s", body) if item.strip()]
    if (
        not 2 <= len(items) <= 7
        or not re.search(r"\s(?:and|or)\s", body)
        or any(len(item.split()) > 8 for item in items)
    ):
        return None
    words = []
    for item in items:
        telling = [word for word in content_words(item) if len(word) > 2 and not word[0].isdigit()]
        if not telling:
            return None
        words.append(
            telling[-1]
            if " of " not in item and " in " not in item and " to " not in item
            else telling[0]
            if len(telling) == 1
            else max(telling, key=len)
        )
    parts = [says_words(dict.fromkeys(words))]
    parts += [says(quantity.text) for quantity in quantities(body)]
    return " AND ".join(parts)


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
