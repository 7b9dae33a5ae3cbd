"""Clauses of a parsed statement as subject, finite verb and the words behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.language import Language
from pytest_evalstudio.contrib.questions.parsing.pipeline import lemma_of, word_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

FINITE = ("VBZ", "VBP", "VBD", "MD", "VVFIN", "VAFIN", "VMFIN")
"""Tags of finite verbs."""
QUESTION_TAGS = ("WDT", "WP", "WRB", "WP$", "PWS", "PWAT", "PWAV")
_COMPARATIVES = ("fewer", "less", "more", "later", "longer", "exceeding")
_NEGATIONS = ("not", "n't", "n’t", "never", "nicht")
_SUBORDINATE = ("advcl", "relcl", "acl", "csubj", "csubjpass", "pcomp", "ccomp", "rc", "re")
_NOMINAL = ("NOUN", "PROPN", "PRON", "NUM")
_FIRST = ("DET", "NOUN", "PROPN", "PRON", "ADJ", "NUM", "SYM")
_QUANTIFIERS = (
    "%", "percent", "cent", "half", "third", "quarter", "number", "total", "majority", "all", "most", "some",
)  # fmt: skip
"""Words whose verb has the number of what they are a part of."""
_SINGULAR, _PLURAL = ("is", "was", "does", "has"), ("are", "were", "do", "have")
_LONGEST_SUBJECT = 16
_TRAILING = (".", ",", "!", "?", "-")
_ENDS = frozenset(";:–—()[]{}|")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A main clause.

    Attributes:
        subject: () for an instruction.
        head: noun of the subject, None for an instruction.
        finite: verb that agrees with the subject; the verb of an instruction.
        rest: words behind the finite verb, without remarks and further clauses.
        overrides: other words for tokens by index; "" leaves one out.
        condition: clause at the end of each question, which begins the sentence.
    """

    language: Language
    subject: tuple[Token, ...]
    head: Token | None
    finite: Token
    rest: tuple[Token, ...]
    overrides: Mapping[int, str] = field(default_factory=dict)
    condition: str = ""

    @property
    def is_command(self) -> bool:
        """Report whether it is an instruction."""
        return not self.subject

    @property
    def negation(self) -> Token | None:
        """Return the word that denies the finite verb."""
        for each in self.rest[:2]:
            following = each.nbor().lower_ if each.i + 1 < len(each.doc) else ""
            if each.lower_ in _NEGATIONS and following not in _COMPARATIVES:
                return each
        return None

    @property
    def is_auxiliary(self) -> bool:
        """Report whether the finite verb goes before the subject in a question."""
        lemma = lemma_of(self.finite, self.language)
        if not self.language.entries("do") or self.finite.tag_ == "MD" or lemma == "be":
            return True
        verbs = [each.tag_ for each in self.rest[:3] if each.pos_ in ("VERB", "AUX")]
        return (lemma == "have" and "VBN" in verbs) or (lemma == "do" and "VB" in verbs)

    @property
    def verb(self) -> Token:
        """Return the main verb."""
        if not self.is_auxiliary or self.is_command:
            return self.finite
        verbs = [each for each in self.rest[:5] if each.tag_ in ("VB", "VBN", "VBG", "VVPP", "VVINF")]
        return verbs[0] if verbs else self.finite


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
    if subject.lower_ in _QUANTIFIERS or any(each.lower_ in _QUANTIFIERS for each in subject.children):
        return True
    return not (word in _SINGULAR and plural) and not (word in _PLURAL and not plural)


def frames(doc: Doc, language: Language) -> list[Frame]:
    """Return the main clauses of a statement that are sure; the first clause comes first."""
    verbs = _finite_verbs(doc, language)
    if verbs is None:
        return []
    if not verbs or _is_command(doc, language):
        return _command(doc, language, verbs)
    first = verbs[0]
    subject = _without_inserted(tuple(doc[: first.i]))
    head = _head(subject, language)
    if head is None or not agrees(first, head):
        return []
    second = verbs[1] if len(verbs) > 1 else None
    joint = _joint(doc, first, second) if second is not None else 0
    if second is not None and not joint:
        return []
    behind = tuple(doc[joint:]) if joint else ()
    rest = _without_remark(tuple(doc[first.i + 1 : joint or len(doc)]))
    clause = Frame(language=language, subject=subject, head=head, finite=first, rest=rest)
    if (not rest and len(doc) > first.i + 3) or _has_stray_verb(rest):
        return []
    if second is None:
        return _parts(clause)
    is_shared = second.i - joint <= 2 and not any(each.pos_ in _NOMINAL for each in doc[joint + 1 : second.i])
    if not is_shared:
        return _parts(clause)
    further = _without_remark(tuple(doc[second.i + 1 :])) if len(verbs) == 2 else ()
    results = [] if any(is_mark(each) for each in behind) else _parts(clause)
    # After a modal, a verb in the present shares it.
    is_of_modal = first.tag_ == "MD" and second.tag_ == "VBP" and second.lemma_ != "be"
    if further and agrees(second, head) and not is_of_modal:
        results += _parts(replace(clause, finite=second, rest=further))
    return results


def _has_stray_verb(rest: Sequence[Token]) -> bool:
    """Report whether a finite verb follows a joint that no clause ends: "had been seen and was met"."""
    return any(
        (each.tag_ in FINITE or _is_misread_verb(each))
        and each.tag_ != "VBD"  # "is taken and kept"
        and rest[at - 1].pos_ == "CCONJ"
        and not any(is_mark(other) for other in rest[:at])
        for at, each in enumerate(rest)
        if at
    )


def _is_misread_verb(token: Token) -> bool:
    """Report whether a verb is read as a plural: "runs at high speed and switches off"."""
    has_particle = any(each.dep_ == "prt" for each in token.children)
    return token.tag_ == "NNS" and token.dep_ == "conj" and (has_particle or token.head.pos_ == "VERB")


def _parts(frame: Frame) -> list[Frame]:
    """Return a clause for each of two verbs with one auxiliary: "is copied and kept", or the clause."""
    tags = ("VBN", "VBD") if frame.finite.tag_ != "MD" else ("VB",)
    verbs = [at for at, each in enumerate(frame.rest) if each.tag_ in tags and each.pos_ == "VERB"]
    if frame.finite.tag_ == "MD" and not verbs:
        tags = ("VBN",)
        verbs = [at for at, each in enumerate(frame.rest) if each.tag_ in tags]
    joints = [at for at in range(1, len(frame.rest)) if frame.rest[at].pos_ == "CCONJ" and at + 1 in verbs]
    if not frame.is_auxiliary or len(joints) != 1 or not verbs or verbs[0] > joints[0] or verbs[0] > 3:
        return [frame]
    first, joint = verbs[0], joints[0]
    if any(is_mark(each) for each in frame.rest) or "," in {each.text for each in frame.rest}:
        return [frame]
    if joint == first + 1:
        return [frame]  # "lifted and inspected"
    return [
        replace(frame, rest=frame.rest[:joint]),
        replace(frame, rest=(*frame.rest[:first], *frame.rest[joint + 1 :])),
    ]


def _without_inserted(subject: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return a subject without a clause between commas: "the bin, which is grey, …"."""
    commas = [at for at, each in enumerate(subject) if each.text == ","]
    is_inserted = len(commas) == 2 and commas[1] == len(subject) - 1
    return subject[: commas[0]] if is_inserted else subject


def phrase_before_subject(doc: Doc, language: Language) -> int:
    """Return the number of words of the phrase that begins a statement without a comma, 0 for none."""
    is_clause = doc[0].lower_ in ("if", "when", "where")
    is_time = doc[0].lower_ in ("last", "next") and doc[1].lower_ in ("week", "month", "year", "season")
    if is_time and doc[2].pos_ in (*_FIRST, "ADJ"):
        return 2
    if doc[0].pos_ != "ADP" and not is_clause:
        return 0
    roots = [token for token in doc if token.dep_ == "ROOT"]
    subjects = [each for each in roots[0].children if each.dep_ in language.words("subjects")]
    start = int(subjects[0].left_edge.i) if subjects else 0
    verbs = sum(each.tag_ in FINITE and not _is_of_time(each) for each in doc[:start])
    # "For crowns, bridges and dentures we …": a pronoun is no member of a list.
    is_plain = doc[start].tag_ == "PRP" and not is_clause
    is_plain |= not any(each.text == "," for each in doc[:start])
    return start if is_plain and verbs == is_clause and 1 < start <= 14 else 0


def _finite_verbs(doc: Doc, language: Language) -> list[Token] | None:
    """Return the finite verbs of main clauses, None in doubt; of two without a joint, the second.

    A tagger reads the participle of "Extras ordered on the day are payable" as a past.
    """
    verbs: list[Token] = []
    pending, start = 0, 0
    for token in doc:
        if is_mark(token):
            pending += 1
        elif token.tag_ in FINITE and not _is_of_time(token):
            if pending:
                pending -= 1
            elif _is_subordinate(token, language):
                if any(each.pos_ == "PRON" for each in doc[max(0, token.i - 2) : token.i]):
                    continue  # "the pad we give you"
                if any(each.pos_ in ("CCONJ", "PUNCT") for each in doc[start : token.i]):
                    return None  # no word begins the clause
                verbs = [*verbs[:-1], token]
            else:
                is_noun = not any(each.pos_ in (*_NOMINAL, "VERB") for each in doc[start : token.i])
                if is_noun and not verbs:
                    continue
                between = doc[verbs[-1].i : token.i] if verbs else ()
                is_shared = token.nbor(-1).pos_ == "CCONJ" if token.i else False
                if verbs and is_shared and token.tag_ == "VBD" and _takes_participle(verbs[-1]):
                    continue  # "is taken and kept open"
                is_joined = any(each.pos_ in ("CCONJ", "PUNCT") or is_mark(each) for each in between)
                if verbs and not is_joined and verbs[-1].tag_ in ("VBD", "VBZ", "VBP"):
                    verbs.pop()
                verbs.append(token)
    return verbs


def _is_of_time(token: Token) -> bool:
    """Report whether a tagger reads a time of day as a verb: "9.30 am"."""
    return bool(token.lower_ == "am" and token.i > 0 and token.nbor(-1).like_num)


def _takes_participle(verb: Token) -> bool:
    return verb.lemma_.lower() in ("be", "have") or verb.tag_ == "MD"


def is_mark(token: Token) -> bool:
    """Report whether a word begins a subordinate clause."""
    if token.dep_ in ("mark", "cp"):
        # "after 1 April": a preposition that is read as a conjunction.
        return token.tag_ != "TO" and not (token.i + 1 < len(token.doc) and token.nbor().like_num)
    return token.tag_ in QUESTION_TAGS


def _is_subordinate(token: Token, language: Language) -> bool:
    verb = token.head if token.dep_ in language.words("auxiliaries") else token
    while verb.dep_ in language.words("conjuncts"):
        verb = verb.head
    return verb.dep_ in _SUBORDINATE and verb.dep_ != "ccomp"


def _head(subject: Sequence[Token], language: Language) -> Token | None:
    """Return the noun of a subject; None for words that are no sure subject."""
    if not subject or len(subject) > _LONGEST_SUBJECT or subject[-1].pos_ == "CCONJ":
        return None
    bounds = language.words("bounds")
    is_participle = subject[0].tag_ == "VBG" or (subject[0].tag_ == "VBN" and subject[0].dep_ == "amod")
    if subject[0].pos_ not in _FIRST and not is_participle and subject[0].lower_ not in bounds:
        return None
    words = {each.text for each in subject}
    has_relative = any(is_mark(each) for each in subject)
    if words & _ENDS or (
        "," in words and not has_relative and not any(each.pos_ == "CCONJ" for each in subject)
    ):
        return None
    if not has_relative and any(each.tag_ == "PRP" for each in subject[1:]):
        return None  # "Each April we raise …"
    indices = {each.i for each in subject}
    subjects = [
        each
        for each in subject
        if each.dep_ in language.words("subjects") and each.head.i not in indices and each.pos_ != "DET"
    ]
    if subjects:
        return subjects[0]
    for token, following in zip(subject, [*subject[1:], None], strict=True):
        if token.pos_ in _NOMINAL and (following is None or following.pos_ not in ("NOUN", "PROPN", "PART")):
            return token
    return subject[0] if subject[0].tag_ == "VBG" or subject[0].lower_ == "there" else None


def _joint(doc: Doc, first: Token, second: Token) -> int:
    """Return the index of the word or mark between two clauses, 0 for none."""
    for token in reversed(doc[first.i + 1 : second.i]):
        if token.pos_ == "CCONJ" or token.text in _ENDS:
            before = token.nbor(-1)
            return int(before.i if before.text == "," else token.i)
    return 0


def _without_remark(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return words without a remark behind a comma, and without what follows a colon or dash."""
    for at, token in enumerate(tokens):
        if token.text in _ENDS:
            return tokens[:at]
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if token.text != "," or following is None or _belongs_to_statement(following, tokens[at + 1 :]):
            continue
        if end := _end_of_inserted(tokens, at):
            return _without_remark((*tokens[:at], *tokens[end + 1 :]))
        if _is_apposition(following, tokens[at + 1 :]):
            return tokens[:at]
        is_other = following.pos_ in (*_FIRST, "ADJ") and not is_mark(following)
        # A further member, whose list has a remark: "a hall of 80 seats, and a bar".
        is_member = (
            following.lower_ in ("and", "or") and tokens[at + 2 : at + 3] and tokens[at + 2].pos_ in _FIRST
        )
        is_other |= bool(is_member) and not any(each.tag_ in FINITE for each in tokens[at:])
        # "in which the probes, …": the clause has its verb behind the remark.
        is_open = sum(map(is_mark, tokens[:at])) > sum(each.tag_ in FINITE for each in tokens[:at])
        return () if is_other or is_open else tokens[:at]  # "changes take effect today, other changes never"
    while tokens and tokens[-1].text in _TRAILING:
        tokens = tokens[:-1]
    return tokens


def _end_of_inserted(tokens: Sequence[Token], at: int) -> int:
    """Return the position of the comma behind a short phrase, 0 for none: ", on average, …"."""
    if tokens[at + 1].pos_ not in ("ADP", "ADV") or tokens[at + 1].lower_ in _CONDITION_WORDS:
        return 0
    return next((end for end in range(at + 2, min(at + 5, len(tokens))) if tokens[end].text == ","), 0)


def _is_apposition(first: Token, behind: Sequence[Token]) -> bool:
    """Report whether words behind a comma name the same thing: ", an increase of 14 %"."""
    is_named = first.dep_ == "det" and first.head.dep_ == "appos" and first.lower_ in ("a", "an")
    return (is_named or first.lower_ == "subject") and not any(each.tag_ in FINITE for each in behind)


_CONDITION_WORDS = ("if", "when", "whenever", "unless", "once", "until", "provided", "except")


def _belongs_to_statement(first: Token, behind: Sequence[Token]) -> bool:
    """Report whether words behind a comma belong to a statement: a condition, or a member of a list."""
    if first.lower_ in _CONDITION_WORDS:
        return True
    if first.pos_ == "CCONJ":
        # ", and water" ends a list if the last comma but one is near.
        return any(each.text == "," for each in first.doc[max(0, first.i - 8) : first.i - 1])
    is_list = first.pos_ in ("DET", "NOUN", "PROPN", "ADJ", "NUM", "SYM") and not is_mark(first)
    separators = [each for each in behind if each.pos_ == "CCONJ" or each.text == ","]
    has_end = any(each.pos_ == "CCONJ" for each in behind)
    return is_list and has_end and (not separators or separators[0].i - first.i <= 7)


def _is_command(doc: Doc, language: Language) -> bool:
    tags = language.entries("command").get("tags", "").split()
    first = doc[1] if len(doc) > 1 and doc[0].lower_ == "please" else doc[0]
    return first.tag_ in tags


def _command(doc: Doc, language: Language, verbs: Sequence[Token]) -> list[Frame]:
    """Return the clauses of an instruction, each with the words up to the next verb; [] for others."""
    if verbs or not _is_command(doc, language):
        return []
    first = doc[1] if doc[0].lower_ == "please" else doc[0]
    others = [
        each
        for each in doc[first.i + 1 :]
        if each.dep_ == "conj"
        and each.tag_ == "VB"
        and each.nbor(-1).pos_ == "CCONJ"
        and each.head.i == first.i
    ]
    if any(each.dep_ in ("conj", "dep") and each.tag_ == "VB" and each not in others for each in doc):
        return []
    results = []
    for verb, following in zip([first, *others], [*others, None], strict=True):
        end = following.i - 1 if following is not None else len(doc)
        rest = _without_remark(tuple(doc[verb.i + 1 : end]))
        if verb.lower_ not in ("do", "be", "let"):
            results.append(Frame(language=language, subject=(), head=None, finite=verb, rest=rest))
    return results
