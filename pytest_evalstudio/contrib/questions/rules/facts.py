"""Questions for the facts of a clause: persons, conditions, places, times and lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.clauses import Clause, Part, is_plural, text_of
from pytest_evalstudio.contrib.questions.quantities import quantities_and_counts
from pytest_evalstudio.contrib.questions.rules.composition import (
    Source,
    is_dispensable,
    mark_of,
    third_person,
)
from pytest_evalstudio.contrib.questions.rules.conditions import items_condition
from pytest_evalstudio.contrib.questions.rules.fact import Fact, make_fact
from pytest_evalstudio.contrib.questions.rules.slots import time_conditions
from pytest_evalstudio.contrib.questions.rules.wording import as_customer

if TYPE_CHECKING:
    from spacy.tokens import Token

_MIN_WORDS = 3
"""Fewest words of a thing that a question asks for, and of a condition."""
_MAX_ANSWER_WORDS = 22
_VAGUE = frozenset(
    {
        "something",
        "anything",
        "somebody",
        "someone",
        "that",
        "this",
        "so",
        "yours",
        "mine",
        "one",
        "such",
        "would",
    }
)
_MAX_AGENT_WORDS = 9


def fact_questions(source: Source) -> Iterator[Fact]:
    """Yield a question for each fact of a clause that one can ask for."""
    if source.clause.lemma in source.clause.language.words("vague verbs"):
        return
    for rule in _RULES:
        for fact in rule(source):
            if fact is None or len(fact.answer.split()) > _MAX_ANSWER_WORDS:
                continue
            # "The same applies" answers nothing alone.
            if source.clause.language.words("deictic words").isdisjoint(fact.answer.lower().split()):
                yield fact


def _indices(part: Part) -> frozenset[int]:
    return frozenset(each.i for each in part.tokens)


def _agent(source: Source) -> Iterator[Fact | None]:
    """Yield the question for the agent of a passive: "Who reviews the policy?"."""
    clause = source.clause
    if sum(part.tokens[0].lower_ == "by" for part in clause.constituents) != 1:
        return
    for part in clause.constituents:
        if part.role not in clause.language.words("agents") or part.tokens[0].lower_ != "by":
            continue
        noun = next((each for each in part.head.children if each.dep_ == "pobj"), None)
        if noun is None or not _is_person(noun.lemma_, noun.ent_type_, clause) or not clause.is_passive:
            continue
        if len(part.tokens) > _MAX_AGENT_WORDS:
            continue
        question = source.ask(clause.language.phrase("agent"), _indices(part))
        yield make_fact(_active(source, part) or question, source.text(part.tokens[1:]))


def _active(source: Source, agent: Part) -> str:
    """Return the question for an agent in the active voice, "" where its verb has no sure form."""
    clause = source.clause
    auxiliaries = [each.lower_ for each in clause.auxiliaries]
    modal = len(auxiliaries) == 2 and auxiliaries[1] == "be"
    if clause.is_negative or not (modal or auxiliaries in (["is"], ["are"])):
        return ""
    verb = f"{auxiliaries[0]} {clause.lemma}" if modal else third_person(clause.lemma)
    particles = [part.head.text for part in clause.parts if part.head.dep_ == "prt"]
    words = [
        part
        for part in clause.parts
        if part is not agent and part.head.i != clause.verb.i and part.head.dep_ != "prt"
    ]
    start = clause.verb.i
    verb = " ".join([verb, *particles])
    before = [source.text(part.tokens) for part in words if clause.subject[-1].i < part.start < start]
    after = [source.text(part.tokens) for part in words if part.start > start]
    fronted = [source.text(part.tokens) for part in words if part.start < clause.subject[0].i]
    phrase = clause.language.phrase("person")
    words_in_order = [phrase, *before, verb, source.text(clause.subject), *after, *fronted]
    return as_customer(" ".join(filter(None, words_in_order)) + "?")


def _is_person(lemma: str, entity: str, clause: Clause) -> bool:
    word = lemma.lower()
    if word in clause.language.words("general persons"):
        return False
    return (entity == "PERSON" and lemma[:1].isupper()) or word in clause.language.words("person words")


def _actor(source: Source) -> Iterator[Fact | None]:
    """Yield the question for a person or body that does something: "Who approves requests?"."""
    clause, language = source.clause, source.clause.language
    head = clause.subject_head
    if (
        head is None
        or not clause.is_first
        or clause.is_passive
        or clause.lemma in language.words("stative verbs")
    ):
        return
    if not _is_person(head.lemma_, head.ent_type_, clause) or any(each.like_num for each in clause.subject):
        return
    if any(each.lower_ in clause.language.words("negative words") for each in clause.verb.doc):
        return
    is_bare = not any(each.dep_ in ("det", "poss", "compound") for each in head.children)
    if is_bare and head.pos_ != "PROPN":
        return  # "supervisor means a user": a word, no person
    objects = [part for part in clause.constituents if part.role in clause.language.words("objects")]
    if not objects and len(list(clause.constituents)) < 2:
        return
    if any(
        each.lower_ in clause.language.entries("pronouns") for part in clause.parts for each in part.tokens
    ):
        return
    yield make_fact(source.ask_subject(clause.language.phrase("person")), source.text(clause.subject))


def _condition(source: Source) -> Iterator[Fact | None]:
    """Yield the question for a condition: "In which case may the board end the tenancy?"."""
    clause = source.clause
    language = clause.language
    marked = [part for part in clause.constituents if mark_of(part, clause)]
    for part in marked:
        mark = mark_of(part, clause)
        if part.tokens[0].lower_ != mark or is_dispensable(part, clause) or _has_other_pronoun(part, clause):
            continue
        others = [other for other in clause.constituents if other is not part]
        is_short = len(part.tokens) < _MIN_WORDS or not (others or clause.is_passive)
        is_short |= any(each.lower_ == "would" for each in clause.auxiliaries)
        if mark == "if" and len(marked) == 1 and not clause.is_command and not is_short and _is_plain(part):
            yield make_fact(
                source.ask(language.phrase("condition"), _indices(part)), source.text(part.tokens)
            )


def _is_plain(part: Part) -> bool:
    """Report whether a condition is in the present, and names what it is about."""
    words = {each.lower_ for each in part.tokens}
    return not words & _VAGUE and part.head.tag_ != "VBD"


def _has_other_pronoun(part: Part, clause: Clause) -> bool:
    """Report whether a condition has a pronoun that does not stand for the subject."""
    pronouns = clause.language.entries("pronouns")
    number = "plural" if clause.subject_head is not None and is_plural(clause.subject_head) else "singular"
    return any(pronouns.get(each.lower_, number) != number for each in part.tokens)


def _consequence(source: Source) -> Iterator[Fact | None]:
    """Yield the question for what follows from a condition: "What happens if a payment is late?"."""
    clause = source.clause
    language = clause.language
    marks = [
        part for part in clause.constituents if mark_of(part, clause) in language.words("condition marks")
    ]
    if (
        len(marks) != 1
        or mark_of(marks[0], clause) != "if"
        or not _is_plain(marks[0])
        or len(marks[0].tokens) < _MIN_WORDS
    ):
        return
    if marks[0].start == 0 or not clause.is_single or marks[0].tokens[0].lower_ != mark_of(marks[0], clause):
        return
    words = {each.lower_ for each in marks[0].tokens}
    if words & set(language.entries("pronouns")) and not words & {"you", "we"}:
        return
    text = source.text(marks[0].tokens)
    beginning = language.phrase("consequence").format(clause=text[0].lower() + text[1:])
    modals = [each.lower_ for each in clause.auxiliaries if each.lower_ in ("must", "should")]
    if clause.is_command or (modals and clause.subject[-1].lower_ == "you"):
        modal = modals[0] if modals else language.entries("command")["auxiliary"]
        beginning = f"What {modal} I do {text[0].lower() + text[1:]}?"
    beginning = as_customer(beginning)
    rest = [part for part in clause.parts if part is not marks[0]]
    answer = Source(clause=_with(clause, rest), overrides=source.overrides).statement()
    if not {"may", "can", "could", "would"} & {each.lower_ for each in clause.auxiliaries}:
        yield make_fact(beginning, answer)


def _with(clause: Clause, parts: Sequence[Part]) -> Clause:
    return replace(clause, parts=tuple(parts))


def _place(source: Source) -> Iterator[Fact | None]:
    """Yield the question for a place: "Where is the key held?"."""
    clause = source.clause
    language = clause.language
    for part in clause.constituents:
        if part.role not in language.words("prepositions") or part.tokens[0].lower_ not in ("in", "at", "on"):
            continue
        noun = next((each for each in part.head.children if each.dep_ in ("pobj", "nk")), None)
        is_place = noun is not None and (
            noun.lemma_.lower() in language.words("place words") or noun.ent_type_ in ("GPE", "LOC", "FAC")
        )
        if is_place and part.start > clause.verb.i and clause.is_passive and not clause.is_negative:
            yield make_fact(source.ask(language.phrase("place"), _indices(part)), source.text(part.tokens))


def _frequency(source: Source) -> Iterator[Fact | None]:
    """Yield the question for how often something happens: "How often is the bin emptied?"."""
    clause = source.clause
    language = clause.language
    if clause.lemma in language.words("changing verbs") or any(each.like_num for each in clause.subject):
        return
    if clause.is_negative or sum(each.lower_ in language.words("recurring") for each in clause.verb.doc) > 1:
        return
    for part in clause.constituents:
        words = [each.lower_ for each in part.tokens]
        is_adverb = len(words) == 1 and words[0] in language.words("frequency adverbs")
        is_times = len(words) <= 7 and bool({"once", "twice", "times"} & set(words)) and "at" not in words
        is_recurring = (
            part.role in language.words("measures") and words[0] in ("every", "each") and len(words) <= 5
        )
        others = [each.lower_ for other in clause.constituents if other is not part for each in other.tokens]
        is_joined = any(each.dep_ == "cc" for other in clause.constituents for each in other.tokens)
        if is_joined or language.words("days").intersection(others):
            continue  # "a course now and another one once a year"
        if is_adverb or (is_times and part.role in ("npadvmod", "advmod")) or is_recurring:
            yield make_fact(
                source.ask(language.phrase("frequency"), _indices(part)), source.text(part.tokens)
            )


def _day(source: Source) -> Iterator[Fact | None]:
    """Yield the question for a day, month or time of day: "When is rent due?"."""
    clause = source.clause
    language = clause.language
    for part in clause.constituents:
        if part.role not in language.words("prepositions") or len(part.tokens) < 2 or clause.is_negative:
            continue
        words = {each.lower_ for each in part.tokens}
        is_day = words & language.words("days") and words.isdisjoint(language.words("kept marks"))
        first = part.tokens[0].lower_
        if not is_day or first not in ("on", "in", "at", "from", "until", "before", "between"):
            continue
        if any(each.dep_ == "cc" for each in part.tokens) and first != "between":
            continue
        objects = [each for each in part.head.children if each.dep_ == "pobj"]
        if not all(_is_time(each, clause) for each in objects) or (first == "from" and "to" in words):
            continue
        if first in ("from", "on") and any(
            other is not part and other.tokens[0].lower_ in ("to", "from") for other in clause.constituents
        ):
            continue
        text = source.text(part.tokens)
        times = time_conditions(text)
        if len(time_conditions(source.text(list(clause.verb.doc)))) != len(times):
            continue
        key = "moment" if first in ("on", "in", "at", "between") or len(times) > 1 else "date after"
        if len(times) == 1:
            key = "time after"
        phrase = language.phrase(key).format(before=first.capitalize())
        yield make_fact(source.ask(phrase, _indices(part)), text, " AND ".join(times))


def _is_time(noun: Token, clause: Clause) -> bool:
    """Report whether a noun is a day or time, not "in a call on Tuesday"."""
    is_day = noun.lower_ in clause.language.words("days") or noun.ent_type_ in ("DATE", "TIME")
    return is_day or any(each.lower_ in clause.language.words("days") for each in noun.lefts)


def _thing(source: Source) -> Iterator[Fact | None]:
    """Yield the question for an object, or for the subject of a passive: "What does the box contain?"."""
    clause = source.clause
    language = clause.language
    if clause.is_negative:
        return
    if clause.is_passive and clause.lemma in language.words("listed verbs") and clause.is_first:
        head = clause.subject_head
        if head is not None and is_plural(head) and items_condition(source.text(clause.subject)):
            answer = source.text(clause.subject)
            yield make_fact(source.ask_subject(language.phrase("thing")), answer, items_condition(answer))
    for part in clause.constituents:
        text = source.text(part.tokens)
        is_object = part.role in language.words("objects") and clause.lemma in language.words("listing verbs")
        if not is_object or quantities_and_counts(text) or part.head.pos_ not in ("NOUN", "PROPN"):
            continue
        # A phrase behind the object may belong to it: "a breach without danger".
        full = text_of(list(part.head.subtree))
        if full != text_of(part.tokens):
            text = full
        if (
            items_condition(text)
            and part.start > clause.verb.i
            and not any(other.start > part.start for other in clause.constituents)
        ):
            yield make_fact(source.ask(language.phrase("thing"), _indices(part)), text, items_condition(text))


_Rule = Callable[[Source], Iterator[Fact | None]]
_RULES: tuple[_Rule, ...] = (
    _agent,
    _actor,
    _consequence,
    _condition,
    _frequency,
    _place,
    _day,
    _thing,
)
