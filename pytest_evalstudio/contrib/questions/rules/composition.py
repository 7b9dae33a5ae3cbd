"""Questions composed of the words of a clause."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.frames import Frame, text_of
from pytest_evalstudio.contrib.questions.parsing.pipeline import lemma_of, word_of
from pytest_evalstudio.contrib.questions.rules.wording import as_customer

if TYPE_CHECKING:
    from spacy.tokens import Token

_CONTRACTED = {
    "ca": "can",
    "wo": "will",
    "'ll": "will",
    "’ll": "will",
    "'re": "are",
    "’re": "are",
    "'s": "is",
}
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does"}


def words(frame: Frame, tokens: Sequence[Token], dropped: Collection[int] = ()) -> str:
    """Return the text of words of a clause without some of them."""
    text = text_of([each for each in tokens if each.i not in dropped], frame.overrides)
    text = re.sub(r"(^|\s?)n['’]t\b", r" not", text).strip()
    return re.sub(r"\b(?:ca|wo) not\b", lambda match: "cannot" if match[0][0] == "c" else "will not", text)


def ask(frame: Frame, beginning: str, dropped: Collection[int] = (), *, affirmative: bool = False) -> str:
    """Return a question with the finite verb before the subject.

    Args:
        frame: of the statement.
        beginning: question phrase; "" for a question of yes or no.
        dropped: indices of words that the question asks for.
        affirmative: leave the negation out.
    """
    table = frame.language
    verb = frame.finite
    negation = frame.negation
    skipped = set(dropped)
    if affirmative and negation is not None:
        skipped.add(negation.i)
    subject = words(frame, frame.subject)
    main = ""
    if frame.is_command:
        command = table.entries("command")
        finite, subject, main = command["auxiliary"], command["subject"], word_of(verb).lower()
    elif frame.is_auxiliary:
        finite = word_of(verb).lower()
        finite = _CONTRACTED.get(finite, finite)
    else:
        word, main = word_of(verb).lower(), lemma_of(verb, table)
        # A tagger may read "dues unpaid attract" as a past.
        is_past = any(each.tag_ == "VBD" and each.i != verb.i and each.dep_ != "amod" for each in verb.doc)
        is_present = verb.tag_ == "VBD" and word == main and not is_past
        finite = table.entries("do")["VBP" if is_present else verb.tag_]
    rest = words(frame, frame.rest, skipped)
    return _question(beginning, finite, subject, main, rest, frame.condition)


def ask_subject(frame: Frame, beginning: str, *, plural: bool = False) -> str:
    """Return a question for the subject, whose verb agrees with the question phrase."""
    verb = word_of(frame.finite).lower()
    if not plural:
        is_main = frame.finite.tag_ in ("VBP", "VB") and verb not in _SINGULAR
        verb = third_person(lemma_of(frame.finite, frame.language)) if is_main else _SINGULAR.get(verb, verb)
    return _question(beginning, verb, words(frame, frame.rest), frame.condition)


def third_person(base: str) -> str:
    """Return the third person singular of a base form.

    >>> third_person("carry"), third_person("pass"), third_person("have")
    ('carries', 'passes', 'has')
    """
    if base == "have":
        return "has"
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{base}es"
    if base.endswith("y") and base[-2:-1] not in tuple("aeiou"):
        return f"{base[:-1]}ies"
    return f"{base}s"


def _question(*texts: str) -> str:
    text = " ".join(text.strip(" ,;") for text in texts if text.strip(" ,;"))
    text = as_customer(re.sub(r"\b(you|we|they)['’]re\b", r"\1 are", text) + "?")
    return f"{text[:1].upper()}{text[1:]}"
