"""Form of questions, by another parse: one main verb, inversion or a question word as subject, agreement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question
from pytest_evalstudio.contrib.questions.parsing.frames import (
    FINITE,
    QUESTION_TAGS,
    agrees,
    frames,
    is_plural,
    text_of,
)
from pytest_evalstudio.contrib.questions.parsing.language import Language
from pytest_evalstudio.contrib.questions.parsing.pipeline import Pipeline
from pytest_evalstudio.contrib.questions.parsing.statements import bare_statement

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_WORD = re.compile(r"[\w’'-]+")
_SUBORDINATE = ("advcl", "relcl", "acl", "csubj", "csubjpass", "pcomp", "ccomp", "rc", "mo", "re")
_LONGEST_SUBJECT = 16
"""Tokens of a subject that a pronoun may stand for."""


def is_well_formed(question: str, pipeline: Pipeline, evidence: str = "") -> bool:
    """Report whether a question is parsed as one, with one main verb that agrees with its subject.

    A parser reads "Within how many working days are parcels delivered?" less surely than "When are they
    delivered?". Where it fails, the question phrase is replaced by a short one, and the subject by a pronoun.

    Args:
        question: with or without the title of its document and section.
        pipeline: that parses.
        evidence: sentence whose subject the question may have.
    """
    text = bare_question(question)
    text = text[:1].upper() + text[1:]
    words = _WORD.findall(text)
    language = pipeline.language
    if not text.endswith("?") or len(words) < 3 or words[-1].lower() in language.words("dangling words"):
        return False
    if _depends_on_context(text, pipeline):
        return False
    for variant, has_question_word in _variants(text, _subjects(evidence, pipeline), language):
        for doc in (pipeline.parse(variant), pipeline.second_parse(variant)):
            if doc is not None and _is_question(doc, language, has_question_word=has_question_word):
                return True
    return False


def _depends_on_context(question: str, pipeline: Pipeline) -> bool:
    """Report whether a question has a pronoun without its noun before it, or a word such as "this"."""
    doc, language = pipeline.parse(question), pipeline.language
    if doc is None:
        return True
    pronouns, deictic = language.entries("pronouns"), language.words("deictic words")
    persons = language.words("general persons") | language.words("person words")
    numbers: set[str] = set()
    # A noun of the question phrase is what is asked for, and no pronoun stands for it.
    start = next((token.i for token in doc if token.tag_ in FINITE), 0)
    for token in doc:
        word = token.lower_
        if word in deictic and not _is_explained(token):
            return True
        if word == "one" and token.dep_ in ("dobj", "pobj", "nsubj", "attr"):
            return True
        if word == "that" and token.dep_ in ("det", "nsubj", "pobj", "dobj", "pron") and token.tag_ == "DT":
            return True
        if (
            word in pronouns
            and word != "i"
            and (pronouns[word] not in numbers or _is_object_of_main_verb(token))
        ):
            return True
        is_noun = token.pos_ in ("NOUN", "PROPN") and (token.i >= start or "subj" in token.dep_)
        # "A member who enters it": a person is no "it".
        is_noun &= is_plural(token) or token.lemma_.lower() not in persons
        if is_noun and token.dep_ not in ("npadvmod", "compound"):
            numbers.add("plural" if is_plural(token) else "singular")
    return False


def _is_explained(token: Token) -> bool:
    """Report whether a word does not point to other text here: "above 5 bar", "so far", "another state"."""
    following = token.nbor() if token.i + 1 < len(token.doc) else token
    if token.lower_ in ("above", "below"):
        return bool(token.dep_ == "prep" or following.like_num or following.lower_ == "what")
    if token.lower_ == "further":
        return bool(token.i and token.nbor(-1).lower_ in ("a", "each", "every", "any"))
    words = f"{token.lower_} {following.lower_}"
    is_fixed = words in ("same time", "so far", "those who", "instead of", "other than", "so that")
    return is_fixed or (token.lower_ == "another" and following.pos_ == "NOUN")


def _is_object_of_main_verb(pronoun: Token) -> bool:
    """Report whether a pronoun is an object beside the subject: "Can the desk unlock it?"."""
    verb = pronoun.head.head if pronoun.dep_ == "pobj" else pronoun.head
    while verb.dep_ in ("xcomp", "conj", "pcomp", "prep"):
        verb = verb.head
    return pronoun.dep_ in ("dobj", "pobj", "dative", "oa") and verb.dep_ == "ROOT"


def _subjects(evidence: str, pipeline: Pipeline) -> dict[str, str]:
    """Return the pronoun for each subject of a sentence, in lower case."""
    text = bare_statement(evidence)
    doc = pipeline.parse(text) if text.endswith(".") else None
    parsed = frames(doc, pipeline.language) if doc is not None else []
    words = pipeline.language.entries("words")
    return {
        text_of(clause.subject).lower(): words["they" if is_plural(clause.head) else "it"].lower()
        for clause in parsed
        if clause.head is not None and 0 < len(clause.subject) <= _LONGEST_SUBJECT
    }


def _variants(question: str, subjects: Mapping[str, str], language: Language) -> Iterator[tuple[str, bool]]:
    """Yield the question, and with a short phrase and subject; and whether it begins with a phrase."""
    finite = language.words("finite words")
    words = question.split(" ")
    at = next((at for at, word in enumerate(words) if word.lower() in finite), -1)
    yield question, at != 0
    if at < 0:
        return
    moment, rest = language.phrase("moment"), " ".join([words[at].lower(), *words[at + 1 :]])
    yield f"{moment} {rest}", True
    after = " ".join(words[at + 1 :])
    for subject, pronoun in subjects.items():
        if after.lower().startswith(f"{subject} ") or after.lower() == f"{subject}?":
            yield f"{moment} {words[at].lower()} {pronoun}{after[len(subject) :]}", True
    # "How many guests can use the sauna?": the question phrase is the subject.
    if at > 0 and not _has_nominative(words[at + 1 :]):
        yield f"{language.entries('words')['they']} {rest.removesuffix('?')}.", False


def _has_nominative(words: list[str]) -> bool:
    """Report whether a pronoun follows that is a subject."""
    return bool(words) and words[0].lower() in ("i", "you", "we", "he", "she", "they", "it", "the", "a", "an")


def _is_stray_verb(token: Token, root: Token, language: Language) -> bool:
    """Report whether a finite verb is neither the main verb nor in a subordinate clause."""
    if token.tag_ not in FINITE:
        return False
    verb = token.head if token.dep_ in language.words("auxiliaries") else token
    while verb.dep_ in language.words("conjuncts"):
        verb = verb.head
    if verb.i == root.i:
        return False
    if verb.dep_ == "ccomp":
        return not any(each.dep_ == "mark" or each.tag_ in QUESTION_TAGS for each in verb.children)
    return verb.dep_ not in _SUBORDINATE


def _is_question(doc: Doc, language: Language, *, has_question_word: bool) -> bool:
    roots = [sentence.root for sentence in doc.sents if len(sentence.text.strip()) > 1]
    if len(roots) != 1 or roots[0].pos_ not in ("VERB", "AUX"):
        return False
    root = roots[0]
    subjects = [each for each in root.children if each.dep_ in language.words("subjects")]
    finite = [each for each in (*root.children, root) if each.tag_ in FINITE and each.dep_ != "conj"]
    auxiliaries = [each for each in finite if each.dep_ in language.words("auxiliaries")]
    # A tagger reads the participle of "Is the policy reviewed?" as a past.
    finite = auxiliaries or [each for each in finite if each.i == root.i]
    if len(finite) != 1 or any(_is_stray_verb(each, root, language) for each in doc):
        return False
    if not subjects and root.lemma_ == "be":
        # "Are loans issued for a week?": the participle may be read as one of the noun.
        subjects = [
            each
            for each in root.children
            if each.dep_ == "attr" and each.i > root.i and any(child.tag_ == "VBN" for child in each.children)
        ]
    if not subjects:
        # "What is the fee?": the question word may be read as the subject or the complement.
        nouns = [each for each in root.children if each.dep_ in ("attr", "advmod") and each.i > root.i]
        return has_question_word and root.lemma_ == "be" and bool(nouns)
    subject = subjects[-1]
    is_asked = any(each.tag_ in QUESTION_TAGS for each in subject.subtree if each.i <= subject.i)
    is_inverted = finite[0].i < subject.i
    is_statement = doc[-1].text == "."
    return (is_asked or is_inverted or is_statement) and (is_asked or agrees(finite[0], subject))
