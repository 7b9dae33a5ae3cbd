"""Questions composed of the parts of a clause."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.clauses import Clause, Part, text_of
from pytest_evalstudio.contrib.questions.parsing.pipeline import lemma_of, word_of
from pytest_evalstudio.contrib.questions.rules.wording import as_customer

if TYPE_CHECKING:
    from spacy.tokens import Token

_SAME_PAST = re.compile(
    r"\w*(?:put|set|cut|let|hit|shut|cast|cost|hurt|split|spread|burst|quit|rid|bid|read|beat)"
)
"""Verbs whose past has the form of the present."""
_CONTRACTED = {"ca": "can", "wo": "will", "'ll": "will", "’ll": "will", "'re": "are", "’re": "are"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A clause to ask about.

    Attributes:
        clause: of a sentence.
        overrides: other words for tokens by index: nouns for pronouns, a first word without its capital.
        not_word: that denies the verb in the language.
    """

    clause: Clause
    overrides: Mapping[int, str] = field(default_factory=dict)
    not_word: str = "not"

    def text(self, tokens: Sequence[Token], dropped: Collection[int] = ()) -> str:
        """Return the text of tokens without some of them."""
        return text_of([each for each in tokens if each.i not in dropped], self.overrides)

    def statement(self) -> str:
        """Return the clause as a statement, without what it does not need."""
        clause = self.clause
        parts = [(part.start, self._kept(part)) for part in self._parts(clause.auxiliaries)]
        if clause.is_negative:
            parts.append((clause.verb.i - 0.5, self.not_word))
        subject = [(clause.subject[0].i, self.text(clause.subject))] if clause.subject else []
        is_inherited = not clause.is_first and bool(clause.subject) and clause.subject[0].i < clause.verb.i
        ordered = sorted(parts, key=lambda item: item[0])
        texts = [text for _, text in (subject + ordered if is_inherited else sorted(subject + parts))]
        return " ".join(filter(None, texts))

    def ask(
        self, beginning: str, dropped: Collection[int] = (), *, affirmative: bool = False, tail: str = ""
    ) -> str:
        """Return a question with the auxiliary before the subject.

        Args:
            beginning: question phrase; "" for a question of yes or no.
            dropped: indices of tokens that the question asks for.
            affirmative: leave a negation out.
            tail: words at the end.
        """
        clause = self.clause
        finite, middle, form = self._finite()
        subject = self.text(clause.subject, dropped) if clause.subject else self._you()
        start = clause.subject[0].i if clause.subject else clause.verb.i
        parts = self._parts(middle)
        negation = self.not_word if clause.is_negative and not affirmative else ""
        marked = clause.language.words("clauses")
        # A phrase before the subject goes behind the verb, but before a clause at the end.
        parts.sort(key=lambda part: (part.role in marked, part.start < start))
        texts = [self._kept(part, dropped, form) for part in parts]
        return _question(beginning, finite, subject, negation, *texts, tail)

    def ask_subject(self, beginning: str, *, plural: bool = False) -> str:
        """Return a question for the subject, whose verb agrees with the question phrase."""
        clause = self.clause
        parts = self._parts(clause.auxiliaries)
        first = clause.auxiliaries[0] if clause.auxiliaries else clause.verb
        form = {} if plural else {first.i: _singular(word_of(first), clause, first)}
        negation = [(clause.verb.i - 0.5, self.not_word)] if clause.is_negative else []
        start = clause.subject[0].i
        inner = [(part.start, self._kept(part, (), form)) for part in parts if part.start >= start]
        fronted = [self._kept(part) for part in parts if part.start < start]
        texts = [text for _, text in sorted([*negation, *inner])]
        return _question(beginning, *texts, *fronted)

    def _parts(self, auxiliaries: Sequence[Token]) -> list[Part]:
        """Return the parts that a question keeps with auxiliaries that stay behind the subject, in order."""
        words = [Part(role="", head=each, tokens=(each,)) for each in auxiliaries]
        kept = [part for part in self.clause.parts if not is_dispensable(part, self.clause)]
        return sorted([*words, *kept], key=lambda part: part.start)

    def _kept(self, part: Part, dropped: Collection[int] = (), form: Mapping[int, str] | None = None) -> str:
        if not part.role and form and part.head.i in form:
            return form[part.head.i]
        return self.text(part.tokens, dropped)

    def _finite(self) -> tuple[str, Sequence[Token], Mapping[int, str]]:
        """Return the auxiliary before the subject, those behind it, and the verb's form by its index."""
        clause, verb = self.clause, self.clause.verb
        do = clause.language.entries("do")
        if clause.is_command:
            return clause.language.entries("command")["auxiliary"], (), {verb.i: word_of(verb).lower()}
        if clause.auxiliaries:
            first = word_of(clause.auxiliaries[0]).lower()
            return _CONTRACTED.get(first, first), clause.auxiliaries[1:], {}
        word = word_of(verb).lower()
        if clause.lemma == "be" or not do:
            return _CONTRACTED.get(word, word), (), {verb.i: ""}
        # A tagger may read "dues unpaid attract" as a past.
        is_present = verb.tag_ == "VBD" and word == clause.lemma and not _SAME_PAST.fullmatch(word)
        return do.get("VBP" if is_present else verb.tag_, ""), (), {verb.i: clause.lemma}

    def _you(self) -> str:
        return self.clause.language.entries("command")["subject"]


def is_dispensable(part: Part, clause: Clause) -> bool:
    """Report whether a statement is true without a part: a reason, or an adjunct after a comma."""
    language = clause.language
    if not part.role:
        return False
    if " ".join(each.lower_ for each in part.tokens) in language.entries("linking phrases"):
        return True
    mark = mark_of(part, clause)
    if part.role in language.words("clauses") and mark in language.words("reason marks"):
        return True
    # "so that ...", "mainly because of ...", "including ..."
    if (
        mark in ("when", "where")
        and part.start > clause.verb.i
        and clause.verb.doc[part.start - 1].text == ","
    ):
        return True
    has_comma = part.start > 0 and part.head.doc[part.start - 1].text == ","
    is_after = part.start > clause.verb.i
    return (
        has_comma
        and is_after
        and mark not in language.words("kept marks")
        and part.role not in language.words("objects")
    )


def mark_of(part: Part, clause: Clause) -> str:
    """Return the word that begins a subordinate clause, "" for other parts."""
    if part.role not in clause.language.words("clauses"):
        return ""
    marks = [
        each for each in part.tokens if each.dep_ in ("mark", "advmod", "cp") and each.head.i == part.head.i
    ]
    return marks[0].lower_ if marks else ""


def _singular(word: str, clause: Clause, token: Token) -> str:
    """Return a verb as "who" has it: "Who reports damage?"."""
    lowered = word.lower()
    plain = {"are": "is", "were": "was", "have": "has", "do": "does"}
    if lowered in plain:
        return plain[lowered]
    if token.tag_ in ("VBP", "VB") and not clause.auxiliaries:
        return third_person(lemma_of(token, clause.language))
    return lowered


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
    text = as_customer(" ".join(filter(None, texts)).strip(" ,;"))
    return f"{text[:1].upper()}{text[1:]}?" if text else ""
