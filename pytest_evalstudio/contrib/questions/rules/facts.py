"""Questions for the facts of a clause: persons, conditions, consequences and lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.frames import Frame
from pytest_evalstudio.contrib.questions.parsing.pipeline import lemma_of
from pytest_evalstudio.contrib.questions.quantities import quantities_and_counts
from pytest_evalstudio.contrib.questions.rules.composition import ask, ask_subject, third_person, words
from pytest_evalstudio.contrib.questions.rules.conditions import items_condition
from pytest_evalstudio.contrib.questions.rules.slots import Fact, make_fact
from pytest_evalstudio.contrib.questions.rules.wording import as_customer
from pytest_evalstudio.contrib.questions.words import word_set

if TYPE_CHECKING:
    from spacy.tokens import Token

_NUMBER_OF_CONDITION_WORDS = range(4, 16)
_MAX_ANSWER_WORDS = 22
_MAX_AGENT_WORDS = 9
_VAGUE = word_set("something anything somebody someone that this so yours mine one such would these those")
_POINTERS = word_set("it they them he she its their")
_PERMITTING = word_set("may can could would might")
"""Auxiliaries of what is only possible, which does not "happen"."""


def fact_questions(frame: Frame) -> Iterator[Fact]:
    """Yield a question for each fact of a clause that one can ask for."""
    table = frame.language
    if not table.entries("do") or lemma_of(frame.verb, table) in table.words("vague verbs"):
        return
    for fact in (_agent(frame), _actor(frame), _condition(frame), _items(frame)):
        if fact is None or len(fact.answer.split()) > _MAX_ANSWER_WORDS:
            continue
        # "The same applies" answers nothing alone.
        if table.words("deictic words").isdisjoint(fact.answer.lower().split()):
            yield fact


def _agent(frame: Frame) -> Fact | None:
    """Return the question for the agent of a passive: "Who reviews the policy?"."""
    at = next((at for at, each in enumerate(frame.rest) if each.dep_ in frame.language.words("agents")), 0)
    noun = next((each for each in frame.rest[at + 1 :] if each.dep_ == "pobj"), None) if at else None
    if noun is None or not _is_person(noun, frame) or frame.negation is not None:
        return None
    agent = [each for each in frame.rest[at + 1 :] if each.i <= noun.i or noun in each.ancestors]
    verbs = [each for each in frame.rest[:at] if each.tag_ == "VBN"]
    before = frame.rest[:at]
    lemma = lemma_of(frame.finite, frame.language)
    is_modal = frame.finite.tag_ == "MD" and before[:1] and before[0].lower_ == "be"
    if len(verbs) != 1 or not (is_modal or lemma == "be") or len(agent) > _MAX_AGENT_WORDS or frame.condition:
        return None
    base = lemma_of(verbs[0], frame.language)
    verb = f"{frame.finite.lower_} {base}" if is_modal else third_person(base)
    if frame.finite.lower_ in ("was", "were"):
        verb = verbs[0].lower_ if verbs[0].lower_.endswith("ed") else ""
    inner = [each for each in before if each.i < verbs[0].i and each.lower_ != "be"]
    after = [
        each
        for each in frame.rest
        if each.i > verbs[0].i and each.i != frame.rest[at].i and each not in agent
    ]
    if not verb:
        return None
    texts = ["Who", words(frame, inner), verb, words(frame, frame.subject), words(frame, after)]
    return make_fact(as_customer(" ".join(filter(None, texts)) + "?"), words(frame, agent))


def _is_person(noun: Token, frame: Frame) -> bool:
    word = noun.lemma_.lower()
    if word in frame.language.words("general persons"):
        return False
    is_name = noun.ent_type_ == "PERSON" and noun.lemma_[:1].isupper()
    return is_name or word in frame.language.words("person words")


def _actor(frame: Frame) -> Fact | None:
    """Return the question for a person or body that does something: "Who approves requests?"."""
    table, head = frame.language, frame.head
    if head is None or not _is_person(head, frame) or len(frame.rest) < 2 or frame.negation is not None:
        return None
    is_passive = "subjpass" in head.dep_ or (frame.finite.tag_ != "MD" and frame.is_auxiliary)
    if is_passive or lemma_of(frame.verb, table) in table.words("stative verbs"):
        return None
    is_bare = len(frame.subject) == 1 and head.pos_ != "PROPN"  # "supervisor means a user"
    texts = {each.lower_ for each in frame.rest}
    if is_bare or texts & set(table.entries("pronouns")) or any(each.like_num for each in frame.subject):
        return None
    return make_fact(ask_subject(frame, table.phrase("person")), words(frame, frame.subject))


def _condition(frame: Frame) -> Fact | None:
    """Return the question for a condition at the end: "In which case may the board end the tenancy?"."""
    clause = _last_clause(frame)
    others = frame.rest[: len(frame.rest) - len(clause)]
    if not _is_plain(clause, frame) or not others or frame.condition or frame.is_command:
        return None
    if frame.negation is not None or any(each.lower_ in ("if", "when", "unless") for each in others):
        return None
    dropped = {each.i for each in clause}
    return make_fact(ask(frame, frame.language.phrase("condition"), dropped), words(frame, clause))


def _last_clause(frame: Frame) -> Sequence[Token]:
    """Return the words from the only "if" on, () for none."""
    marks = [at for at, each in enumerate(frame.rest) if each.lower_ == "if"]
    return frame.rest[marks[0] :] if len(marks) == 1 else ()


def _is_plain(clause: Sequence[Token], frame: Frame) -> bool:
    """Report whether a condition is short, in the present, and names what it is about."""
    texts = {each.lower_ for each in clause}
    is_present = not any(each.tag_ == "VBD" for each in clause)
    is_single = "," not in {each.text for each in clause}
    in_length = len(clause) in _NUMBER_OF_CONDITION_WORDS
    return in_length and is_present and is_single and not texts & (_VAGUE | _POINTERS)


def consequence(frame: Frame, answer: str) -> Fact | None:
    """Return the question for what happens, or what to do, in the case that begins a sentence.

    Args:
        frame: first clause behind the case.
        answer: all that the sentence says of the case.
    """
    texts = frame.condition.split()
    if texts[:1] not in (["if"], ["when"]) or len(texts) not in _NUMBER_OF_CONDITION_WORDS:
        return None
    head, modal = frame.head, frame.finite.lower_ if frame.finite.tag_ == "MD" else ""
    if (_VAGUE | _POINTERS).intersection(texts) or len(answer.split()) > _MAX_ANSWER_WORDS:
        return None
    if frame.is_command or (modal in ("must", "should") and head is not None and head.lower_ == "you"):
        return make_fact(as_customer(f"What {modal or 'should'} I do {frame.condition}?"), answer)
    if modal in _PERMITTING or (head is not None and head.lower_ in _POINTERS):
        return None
    phrase = frame.language.entries("question phrases").get("consequence", "")
    return make_fact(as_customer(phrase.format(clause=frame.condition)), answer)


def _items(frame: Frame) -> Fact | None:
    """Return the question for a list of things: "What does the box contain?"."""
    table = frame.language
    at = frame.rest.index(frame.verb) + 1 if frame.verb in frame.rest else 0
    items = frame.rest[at:]
    text = words(frame, items)
    is_listing = lemma_of(frame.verb, table) in table.words("listing verbs") and not frame.is_command
    if not is_listing or frame.negation is not None or not items or quantities_and_counts(text):
        return None
    if not any(each.text == "," for each in items) or not items_condition(text):
        return None
    return make_fact(
        ask(frame, table.phrase("thing"), {each.i for each in items}), text, items_condition(text)
    )
