"""Questions for definitions, lists, reasons and other facts of plain sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pytest_evalstudio.contrib.questions.grammar.clauses import Clause, clauses
from pytest_evalstudio.contrib.questions.grammar.simplification import simple_sentences
from pytest_evalstudio.contrib.questions.grammar.verbs import forms, is_participle
from pytest_evalstudio.contrib.questions.grammar.wording import uncapitalised
from pytest_evalstudio.contrib.questions.quantities import MONTHS, quantities, quantities_and_counts
from pytest_evalstudio.contrib.questions.rules.agents import AGENTS, agent_of_active, agent_of_passive
from pytest_evalstudio.contrib.questions.rules.conditions import items_condition, keywords_condition
from pytest_evalstudio.contrib.questions.rules.fact import Fact, make_fact
from pytest_evalstudio.contrib.questions.words import word_set, word_table
from pytest_evalstudio.core.plugins.generator import Corpus
from pytest_evalstudio.formats.condition import Regexp

_LISTING = word_table("listing verbs")
_CLASSES = word_table("naming nouns")
_NAMING = word_set("require cause exclude consist comprise")
"""Verbs whose object answers "what" even if it is a single thing."""
_PERSONS = word_set("you we they i")
"""Subjects whose needs depend on what they do, which the sentence does not say."""
_NEVER_LAST = word_set("to by in on and or a the than with from is are")
_ADJECTIVE = re.compile(
    r"(?:pink|available|free|very|not|in|on|at|due|from|between|open|closed)\b"
    r"|(?:\w*[^s\W])\s(?:on|in|at|to|for|with|from|among|by|about|throughout|during)\b"
)
"""The beginning of a complement that says how things are, not what they are: "welcome on the terrace"."""
_TIME_CLAUSE = re.compile(r"^(?P<before>[^,]*?)\s?\b(?P<word>when|if|as soon as|until)\s(?P<clause>.+)$")
_REASON = re.compile(r"^(?P<before>[^,]*?),?\s(?:because|since it|as it)\s(?P<clause>.+)$")
_IF = re.compile(r"If\s(?P<clause>[^,;:()]+),\s(?P<rest>[^,;:()]+)\.")
_ARTICLE = re.compile(r"(?:a|an|the)\s", re.IGNORECASE)
_LOCATION = re.compile(r"^(?:in|at)\s(?P<name>(?:the\s)?[A-Z][\w-]+(?:\s[A-Z][\w-]+)*)$")
_REFUSAL = re.compile(r"(?:you|we)\s(?:do|are|can|have)\s?not\s\w+")
"""A condition that does not say what a person refuses: "you do not agree"."""
_WE = re.compile(r"(?i)\b(?:we|us|our)\b")
_MONTH = re.compile(rf"(?i){'|'.join(MONTHS)}")
_UNCLEAR = re.compile(
    r"(?i)\b(?:it|they|them|this|these|those|here|such|we|us|our|other|another|following)\b"
)
_MEASURED_NOUN = re.compile(
    r"the (?:part|share|amount|sum|period|time|price|rate|difference|ability|process)\b"
)
"""Beginning of the definition of a term: "The excess is the part that you pay"."""


def fact_questions(sentence: str, corpus: Corpus) -> Iterator[Fact]:
    """Yield natural questions for facts of a sentence; none where the rules are not sure."""
    if conditional := _instruction(sentence) or _consequence(sentence, corpus):
        yield conditional
        return
    for clause in clauses(sentence):
        if clause.is_negative or not clause.rest:
            continue
        subject = uncapitalised(clause.subject, corpus)
        facts = (rule(clause, subject, corpus) for rule in _RULES)
        if fact := next((fact for fact in facts if fact is not None and _is_clean(fact)), None):
            yield fact


def _meaning(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    if clause.verb == "mean" and clause.aux in ("does", "do"):
        if clause.rest.startswith("that "):
            return make_fact(clause.ask("What", subject), clause.rest.removeprefix("that "))
        term = re.sub(r"(?i)^(?:(?:a|an|the)\s)?(?:term\s)?", "", subject)
        return make_fact(f"What does “{term}” mean?", clause.rest, items_condition(clause.rest))
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
    if not re.search(r"\b(?:that|which|who|of|for|with|to)\b", complement["rest"]):
        return None
    is_name = clause.subject[:1].isupper() and not _ARTICLE.match(clause.subject)
    is_one_of_many = re.match(r"(?:A|An)\s", clause.subject) or is_name
    if is_one_of_many and clause.rest.startswith(("a ", "an ")):
        return make_fact(f"What is {subject}?", clause.rest)
    if _MEASURED_NOUN.match(clause.rest):
        return make_fact(f"What is meant by “{subject}”?", clause.rest)
    return None


def _when(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _TIME_CLAUSE.match(clause.rest)
    if match is None or match["word"] not in ("when", "if"):
        return None
    before, event = match["before"], match["clause"]
    # "When accompanied by an adult" and "when to begin" lack their subject.
    is_reduced = event.startswith("to ") or is_participle(event.split(" ")[0])
    # "Pets are welcome if the neighbours agree": a condition, no time.
    is_state = clause.voice == "copula" and match["word"] == "if"
    # With a quantity, the event is only a condition: "costs £6 if you book online".
    if is_reduced or is_state or "," in event or _UNCLEAR.search(event) or quantities_and_counts(before):
        return None
    # "Applies only if …" would be asked as "When does it apply only?".
    if re.search(r"\b(?:only|even|except|unless|that|which)\b", before):
        return None
    question = clause.ask("When", subject, before)
    return make_fact(question, f"{match['word']} {event}", keywords_condition(event))


def _why(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _REASON.match(clause.rest)
    if match is None or _UNCLEAR.search(match["clause"]) or "," in match["clause"]:
        return None
    question = clause.ask("Why", subject, match["before"])
    return make_fact(question, f"because {match['clause']}", keywords_condition(match["clause"]))


def _purpose(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    is_used = clause.voice == "passive" and clause.verb == "use" and clause.aux in ("is", "are")
    if is_used and clause.rest.startswith(("to ", "for ")):
        question = f"What {clause.aux} {subject} used for?"
        return make_fact(question, clause.rest, items_condition(clause.rest))
    if clause.verb in ("serve", "act") and clause.aux == "does" and clause.rest.startswith("as "):
        return make_fact(f"What {clause.form} {clause.rest}?", clause.subject)
    return None


def _location(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    match = _LOCATION.match(clause.rest)
    # "Is published in May" names no place.
    if match is None or clause.voice == "active" or _MONTH.search(clause.rest):
        return None
    condition = str(Regexp(rf"(?i)\b{re.escape(match['name'])}\b"))
    return make_fact(clause.ask("Where", subject), clause.rest, condition)


def _list(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for the object of a verb that lists or requires something."""
    first = clause.subject.split(" ")[0].lower()
    is_listing = clause.voice == "active" and clause.verb in _LISTING and clause.kind != "command"
    # "Can cause dizziness": what may be is no list that is complete.
    is_possible = clause.aux in ("may", "can", "might", "could")
    is_vague = first in _PERSONS or "ing" in forms(first) or _UNCLEAR.search(clause.rest)
    preposition = "of " if clause.verb == "consist" else ""
    if not is_listing or is_possible or is_vague or not clause.rest.startswith(preposition):
        return None
    body = clause.rest.removeprefix(preposition)
    if against := re.search(r"\sagainst\s(?=.+\sand\s)", body):
        question = clause.ask("What", subject, f"{body[: against.start()]} against")
        return make_fact(question, body[against.end() :], items_condition(body[against.end() :]))
    words = body.split()
    # "Consists of 4,130 km of mains, …": the quantities are questions of their own.
    is_quantity = re.match(r"(?:up to|at least|more than|\d|about)", body)
    if is_quantity or re.search(r"\b(?:that|which|who|whom|whose)\b", body) or len(words) > 16:
        return None
    condition = items_condition(body)
    is_single_name = clause.verb in _NAMING and len(words) > 1 and not quantities(body)
    if not condition and not is_single_name:
        return None
    return make_fact(clause.ask("What", subject, preposition), body, condition)


def _identity(clause: Clause, subject: str, corpus: Corpus) -> Fact | None:
    """Return the question for a list or name after "is": "What are the principal risks?"."""
    if clause.voice != "copula" or clause.aux not in ("is", "are"):
        return None
    if not clause.is_plural and _ARTICLE.match(clause.subject) is None:
        return None
    condition = items_condition(clause.rest)
    if condition and clause.is_plural and not _ADJECTIVE.match(clause.rest):
        # Of two members, the second may be another statement: "are personal and carry a photograph".
        is_list = len(re.split(r",\s|\sand\s", clause.rest)) > 2
        return make_fact(f"What are {subject}?", clause.rest, condition) if is_list else None
    is_name = re.fullmatch(r"(?:[A-Z][\w.&’'-]*\s?|&\s|a\.s\.?|plc)+", clause.rest)
    if is_name and clause.aux == "is":
        wh = "Who" if clause.head in AGENTS else "What"
        name = str(Regexp(rf"(?i){re.escape(clause.rest.rstrip('.'))}"))
        return make_fact(f"{wh} is {subject}?", clause.rest, name)
    if clause.head in _CLASSES and re.fullmatch(r"[a-z]{6,}", clause.rest):
        return make_fact(f"What is {subject}?", clause.rest)
    return None


# The first rule with a clean question wins: precise forms come before general ones.
_RULES: tuple[Callable[[Clause, str, Corpus], Fact | None], ...] = (
    _meaning,
    _definition,
    agent_of_passive,
    _when,
    _why,
    agent_of_active,
    _purpose,
    _location,
    _list,
    _identity,
)


def _instruction(sentence: str) -> Fact | None:
    """Return the question for an instruction or obligation after a condition."""
    match = _IF.fullmatch(" ".join(sentence.split()))
    if match is None:
        return None
    condition, rest = match["clause"], match["rest"]
    if (
        re.search(r"(?i)\b(?:it|they|this|these|we|us|our|that)\b", condition)
        or re.search(r"(?i)\b(?:this|these|we|us|our|them)\b", rest)
        or _is_elliptical(condition)
    ):
        return None
    first = rest.split(" ")[0].lower()
    if "base" in forms(first) and first not in ("cost", "charge") and len(rest.split()) > 2:
        return make_fact(f"What should you do if {condition}?", rest)
    if obligation := re.match(r"you (?P<modal>must|should) (?P<rest>.+)", rest):
        return make_fact(f"What {obligation['modal']} you do if {condition}?", obligation["rest"])
    return None


def _consequence(sentence: str, corpus: Corpus) -> Fact | None:
    """Return the question for what follows from a condition: "What happens if the bill is not paid?"."""
    for part in simple_sentences(sentence):
        word, _, condition = part.context.partition(" ")
        if word not in ("if", "when") or _is_elliptical(condition) or _REFUSAL.fullmatch(condition):
            continue
        # "We" and "you" are clear here, since the question says them of the organisation and its customer.
        if _UNCLEAR.search(_WE.sub("", condition)):
            continue
        parsed = clauses(part.text)
        if len(parsed) != 1 or parsed[0].is_negative or parsed[0].kind == "command":
            continue
        clause = parsed[0]
        result = part.text.removesuffix(".")
        subject = uncapitalised(clause.subject, corpus)
        is_choice = clause.aux in ("may", "can", "must", "will", "should") and clause.voice == "active"
        if is_choice and clause.group == clause.verb != "be":
            answer = f"{clause.verb} {clause.rest}"
            return make_fact(f"What {clause.aux} {subject} do {part.context}?", answer)
        if subject == "you" and clause.voice == "active":
            continue  # "when you come, you tell us things": nothing happens to you
        return make_fact(f"What happens {part.context}?", uncapitalised(result, corpus))
    return None


def _is_elliptical(clause: str) -> bool:
    """Report whether a condition does not say what happens to what: "you cannot come", "nobody answers"."""
    words = clause.lower().split()
    return words[0] in ("nobody", "someone", "anyone", "everyone") or len(words) < 3 + (words[0] == "you")


def _is_clean(fact: Fact) -> bool:
    """Report whether a question reads well and does not have the answer in it."""
    words = fact.question.rstrip("?").split()
    return (
        words[-1].lower() not in _NEVER_LAST
        and 4 <= len(words) <= 24
        and "," not in fact.question
        and fact.answer.casefold() not in fact.question.casefold()
    )
