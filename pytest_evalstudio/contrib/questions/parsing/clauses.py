"""Clauses of a parsed sentence: subject, auxiliaries, verb and parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.language import Language
from pytest_evalstudio.contrib.questions.parsing.pipeline import lemma_of, word_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_VERBAL = ("VERB", "AUX")
_PUNCTUATION = frozenset(",;:.?!–—-")
_BRACKETS = frozenset('()[]{}|*#“”"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a clause.

    Attributes:
        role: label of its head; "" for a word of the verb.
        head: its head.
        tokens: in order.
    """

    role: str
    head: Token
    tokens: tuple[Token, ...]

    @property
    def start(self) -> int:
        return int(self.tokens[0].i)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A main clause.

    Attributes:
        subject: its tokens; () for an instruction.
        subject_head: None for an instruction.
        auxiliaries: before the verb, without a negation.
        parts: all others, in order, with the words of the verb.
        is_negative: it has a negation beside its verb.
        is_first: it begins the sentence.
        is_single: the sentence has no other main clause.
    """

    language: Language
    subject: tuple[Token, ...]
    subject_head: Token | None
    auxiliaries: tuple[Token, ...]
    verb: Token
    parts: tuple[Part, ...]
    is_negative: bool
    is_first: bool
    is_single: bool

    @property
    def lemma(self) -> str:
        """Return the base form of the verb."""
        return lemma_of(self.verb, self.language)

    @property
    def is_command(self) -> bool:
        """Report whether it is an instruction."""
        return self.subject_head is None

    @property
    def is_passive(self) -> bool:
        """Report whether its verb is a passive."""
        head = self.subject_head
        return head is not None and head.dep_ in self.language.words("passive subjects")

    @property
    def constituents(self) -> Iterator[Part]:
        """Yield the parts that are no words of the verb."""
        return (part for part in self.parts if part.role)


def is_plural(head: Token) -> bool:
    """Report whether a noun or pronoun is plural, or joined with another one."""
    if any(child.dep_ in ("conj", "cj", "cd") and child.pos_ != "VERB" for child in head.children):
        return True
    return "Plur" in head.morph.get("Number") or head.lower_ in ("they", "we", "these", "those")


def text_of(tokens: Sequence[Token], overrides: Mapping[int, str] | None = None) -> str:
    """Return the text of tokens, without the punctuation around it.

    Args:
        tokens: in order.
        overrides: other words for tokens by their index; "" leaves one out.
    """
    texts = []
    for at, token in enumerate(tokens):
        word = word_of(token) if overrides is None else overrides.get(token.i, word_of(token))
        is_followed = at + 1 < len(tokens) and tokens[at + 1].i == token.i + 1
        if word:
            texts.append(word + (token.whitespace_ if is_followed else " "))
    text = "".join(texts).strip(" ,;:–—-.")
    return f"{text}." if text.endswith(("a.m", "p.m")) else text


def clauses(doc: Doc, language: Language) -> list[Clause]:
    """Return the main clauses of a sentence; none of a sentence that is not parsed as one."""
    roots = [sentence.root for sentence in doc.sents if len(sentence.text.strip()) > 1]
    if len(roots) != 1 or any(word_of(token) in _BRACKETS for token in doc):
        return []
    if any(is_stray_verb(token, roots[0], language) for token in doc) or _is_cut(doc, language):
        return []
    results: list[Clause] = []
    verbs = _verbs(roots[0], language)
    if any(_has_lost_subject(verb, language) for verb in verbs[1:]):
        return []
    for verb in verbs:
        first = results[0] if results else None
        clause = _clause(verb, first, language, is_single=len(verbs) == 1)
        if clause is None or (first is not None and _may_be_subordinate(clause, first)):
            break
        if any(_spans(part, each) for part in clause.constituents for each in verbs):
            break
        results.append(clause)
    return results


def _has_lost_subject(verb: Token, language: Language) -> bool:
    """Report whether a joined verb follows a noun that was taken for a part of the first clause.

    "Turnover was £5 million and costs were £4 million" is not about a turnover of costs.
    """
    if any(each.dep_ in language.words("subjects") for each in verb.children):
        return False
    group = [each for each in verb.children if each.dep_ in language.words("auxiliaries") and each.i < verb.i]
    before = min(each.i for each in (verb, *group)) - 1
    return before >= 0 and verb.doc[before].pos_ in ("NOUN", "PROPN", "NUM")


def _verbs(root: Token, language: Language) -> list[Token]:
    verbs, at = [root], 0
    while at < len(verbs):
        verbs += [each for each in verbs[at].children if _is_joined(each, language)]
        at += 1
    return verbs


def _is_joined(token: Token, language: Language) -> bool:
    return token.dep_ in language.words("conjuncts") and token.pos_ in _VERBAL


def _clause(verb: Token, first: Clause | None, language: Language, *, is_single: bool) -> Clause | None:
    if verb.pos_ not in _VERBAL or verb.tag_ == "MD":
        return None
    subjects, auxiliaries, negations = [], [], []
    parts: list[Part] = []
    for child in verb.children:
        if child.dep_ in language.words("subjects"):
            subjects.append(child)
        elif child.dep_ in language.words("auxiliaries"):
            auxiliaries.append(child)
        elif child.dep_ in language.words("negations"):
            negations.append(child)
    parts = sorted(_parts(verb, language, is_main=True), key=lambda part: part.start)
    if len(subjects) > 1 or not _is_verb_group(verb, auxiliaries):
        return None
    head = subjects[0] if subjects else None
    if any(_is_unsure(child, verb, head, language) for child in verb.children):
        return None
    linking = language.entries("linking phrases")
    parts = [part for part in parts if " ".join(each.lower_ for each in part.tokens) not in linking]
    if any(_is_unsure_start(part, verb, language) for part in parts):
        return None
    subject = _subtree(head, language) if head is not None else ()
    if head is None and first is not None:
        head, subject = first.subject_head, first.subject
        # A tagger may read "kept" in "is copied and kept" as a past.
        is_participle = verb.lower_.endswith(("ed", "pt", "ld", "nt", "id", "ade"))
        modals = [each for each in first.auxiliaries if each.tag_ == "MD"]
        shares = verb.tag_ == "VBN" or (first.is_passive and verb.tag_ == "VBD" and is_participle)
        if verb.tag_ == "VB":
            shares = bool(modals)  # "repairs are carried out here and take a day"
        if not auxiliaries and shares and not first.is_command:
            auxiliaries = modals if verb.tag_ == "VB" else list(first.auxiliaries)
            negations = [None] * first.is_negative
    elif head is None and not _is_command(verb, auxiliaries, language):
        return None
    if first is not None and first.is_command != (head is None):
        return None
    if head is not None and (
        _is_unsure_subject(head, subject) or not agrees((auxiliaries or [verb])[0], head)
    ):
        return None
    if first is not None and (not subjects):
        # "If you disagree, you may cancel and get the price back": the condition holds for both.
        shared = language.words("clauses")
        fronted = [part for part in first.parts if part.role in shared and part.start < first.verb.i]
        parts = [*(part for part in fronted if part.tokens[-1].i < subject_start(first)), *parts]
    return Clause(
        language=language,
        subject=subject,
        subject_head=head,
        auxiliaries=tuple(auxiliaries),
        verb=verb,
        parts=tuple(parts),
        is_negative=bool(negations),
        is_first=first is None,
        is_single=is_single,
    )


def _spans(part: Part, verb: Token) -> bool:
    """Report whether a main verb is between the tokens of a part, which shows a wrong parse."""
    return part.start < int(verb.i) < int(part.tokens[-1].i)


def _may_be_subordinate(clause: Clause, first: Clause) -> bool:
    """Report whether a second clause may belong to the subordinate clause before it: "if … and it rains"."""
    before = [part for part in first.constituents if first.verb.i < part.start < clause.verb.i]
    is_own = clause.subject_head is not None and clause.subject_head.head.i == clause.verb.i
    return is_own and any(part.role in first.language.words("clauses") for part in before)


_SINGULAR = ("is", "was", "does", "has")
_PLURAL = ("are", "were", "do", "have")
_QUANTIFIERS = (
    "%",
    "percent",
    "cent",
    "half",
    "third",
    "quarter",
    "number",
    "total",
    "majority",
    "all",
    "most",
    "some",
)
"""Words whose verb has the number of what they are a part of."""
FINITE = ("VBZ", "VBP", "VBD", "MD", "VVFIN", "VAFIN", "VMFIN")
"""Tags of finite verbs."""
_SUBORDINATE = ("advcl", "relcl", "acl", "csubj", "csubjpass", "pcomp", "ccomp", "rc", "mo", "re")
_QUESTION_TAGS = ("WDT", "WP", "WRB", "WP$", "PWS", "PWAT", "PWAV")


def is_stray_verb(token: Token, root: Token, language: Language) -> bool:
    """Report whether a finite verb is neither a main verb nor in a subordinate clause."""
    if token.tag_ not in FINITE:
        return False
    verb = token.head if token.dep_ in language.words("auxiliaries") else token
    while verb.dep_ in language.words("conjuncts"):
        verb = verb.head
    if verb.i == root.i:
        return False
    if verb.dep_ == "ccomp":
        return not any(each.dep_ == "mark" or each.tag_ in _QUESTION_TAGS for each in verb.children)
    return verb.dep_ not in _SUBORDINATE


def _is_unsure(child: Token, verb: Token, subject: Token | None, language: Language) -> bool:
    """Report whether a part shows that a parse is wrong, or that a sentence has a form without a rule."""
    if child.dep_ == "ccomp":
        return subject is None or child.i < verb.i  # "the tablets are safe, he said"
    if child.dep_ in ("mark", "cp"):
        return True  # a subordinate clause that is read as a second main clause
    labels = {each.dep_ for each in child.children}
    if child.dep_ in language.words("prepositions") and "cc" in labels and "conj" not in labels:
        return True  # "For repairs and for tests the fee is £5"
    if child.dep_ == "cc" and 0 < child.i < verb.i:
        return True
    if child.dep_ == "cc" and child.i > verb.i:
        return not any(_is_joined(each, language) for each in verb.children)
    nominal = language.words("objects") | language.words("measures")
    if child.dep_ in nominal and child.i > verb.i and _has_comma_before(child):
        return True
    is_bare = child.dep_ in language.words("clauses") and child.i < verb.i and child.tag_ in ("VB", *FINITE)
    if is_bare and not any(
        each.dep_ in ("mark", "advmod", "cp") and each.i < child.i for each in child.children
    ):
        return True
    if child.tag_ in _QUESTION_TAGS:
        return True  # "Where the agency is closed …": a fragment
    return child.dep_ in language.words("unsure") and not _is_joined(child, language)


def _is_unsure_subject(head: Token, subject: Sequence[Token]) -> bool:
    """Report whether a subject has words of another part, or stands for a noun: "the last"."""
    if subject[0].dep_ == "prep" or head.pos_ in ("ADJ", "DET", "ADV"):
        return True
    articles = [each for each in subject[1:] if each.lower_ in ("a", "an", "the")]
    return any(each.nbor(-1).pos_ in ("NOUN", "PROPN") for each in articles)


def _is_cut(doc: Doc, language: Language) -> bool:
    """Report whether a remark is not closed by a comma, or "but" joins no clauses."""
    for token in doc:
        if token.lower_ == "but" and token.dep_ == "cc" and token.head.pos_ not in _VERBAL:
            return True
        if token.dep_ in language.words("remarks") and token.i > token.head.i and _has_comma_before(token):
            last = max(each.i for each in token.subtree)
            if last + 1 < len(doc) and not doc[last].is_punct and not doc[last + 1].is_punct:
                return True
    return False


def _is_unsure_start(part: Part, verb: Token, language: Language) -> bool:
    """Report whether what precedes the subject is a part of the whole, or a clause that no comma ends."""
    last = part.tokens[-1].i
    if last >= verb.i or not part.role:
        return False
    if part.tokens[0].lower_ in ("of", "von"):
        return True
    is_clause = part.role in language.words("clauses") and len(part.tokens) > 1
    return is_clause and verb.doc[last + 1].text != ","


def agrees(finite: Token, subject: Token) -> bool:
    """Report whether a finite verb has the number of its subject."""
    word = finite.lower_
    if subject.lower_ in ("you", "there") or subject.tag_ in ("VBG", "WP", "WDT", "CD"):
        return True
    if subject.lower_ == "i":
        return word not in ("is", "are", "does", "has")
    plural = is_plural(subject)
    if any(each.dep_ == "det" and each.lower_ in ("each", "every", "a", "an") for each in subject.children):
        plural = False
    if any(each.lower_ in _QUANTIFIERS for each in subject.children) or subject.lower_ in _QUANTIFIERS:
        return True
    return not (word in _SINGULAR and plural) and not (word in _PLURAL and not plural)


def _is_verb_group(verb: Token, auxiliaries: Sequence[Token]) -> bool:
    """Report whether a verb has the form that its auxiliaries need: "have been told", not "have contact"."""
    forms = {each.lemma_.lower() for each in auxiliaries}
    return not (forms & {"have", "be"} and verb.tag_ in ("VB", "VBZ", "VBP"))


def subject_start(clause: Clause) -> int:
    """Return the index of the first token of a subject, of the verb for an instruction."""
    return int(clause.subject[0].i if clause.subject else clause.verb.i)


def _is_command(verb: Token, auxiliaries: Sequence[Token], language: Language) -> bool:
    tags = language.entries("command").get("tags", "").split()
    # "Do not use": the auxiliary comes first, and is dropped.
    return verb.tag_ in tags and all(each.lower_ == "do" for each in auxiliaries)


def _parts(verb: Token, language: Language, *, is_main: bool) -> Iterator[Part]:
    """Yield the parts of a verb, and of the infinitive that it governs."""
    left_out = language.words("skipped") | language.words("subjects")
    if is_main:
        left_out |= language.words("auxiliaries")
    yield Part(role="", head=verb, tokens=(verb,))
    for child in verb.children:
        if (child.dep_ in left_out and not (child.dep_ == "mark" and not is_main)) or _is_joined(
            child, language
        ):
            continue
        if child.dep_ in language.words("negations") and is_main:
            continue
        if child.dep_ in language.words("infinitives") and child.pos_ in _VERBAL:
            yield from _parts(child, language, is_main=False)
        elif (
            child.dep_ == "prt"
            or child.dep_ == "svp"
            or (not is_main and child.dep_ in language.words("auxiliaries"))
        ):
            yield Part(role="", head=child, tokens=(child,))
        elif child.dep_ in language.words("complements"):
            yield from _complement(child, language)
        else:
            yield Part(role=child.dep_, head=child, tokens=_subtree(child, language))


def _complement(head: Token, language: Language) -> Iterator[Part]:
    """Yield an adjective, and the phrases behind it: "valid | for two years"."""
    phrases = [
        Part(role=each.dep_, head=each, tokens=_subtree(each, language))
        for each in head.children
        if each.dep_ in language.words("prepositions") and each.i > head.i and each.lower_ != "of"
    ]
    apart = {token.i for part in phrases for token in part.tokens}
    tokens = tuple(each for each in _subtree(head, language) if each.i not in apart)
    yield Part(role=head.dep_, head=head, tokens=tokens)
    yield from phrases


def _subtree(head: Token, language: Language) -> tuple[Token, ...]:
    """Return the tokens of a part without what a comma separates from it."""
    dropped: set[int] = set()
    for token in head.subtree:
        is_remark = token.dep_ in language.words("remarks") and token.i > head.i and _has_comma_before(token)
        if token.i != head.i and is_remark:
            dropped.update(each.i for each in token.subtree)
    tokens = [token for token in head.subtree if token.i not in dropped]
    while len(tokens) > 1 and (tokens[-1].text in _PUNCTUATION or tokens[-1].dep_ == "cc"):
        tokens.pop()
    while len(tokens) > 1 and (tokens[0].text in _PUNCTUATION or tokens[0].dep_ == "cc"):
        tokens.pop(0)
    return tuple(tokens)


def _has_comma_before(token: Token) -> bool:
    start = int(min(each.i for each in token.subtree))
    return start > 0 and str(token.doc[start - 1].text) == ","
