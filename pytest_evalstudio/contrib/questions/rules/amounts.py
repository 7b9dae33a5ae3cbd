"""Questions for the quantities of a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_evalstudio.contrib.questions.parsing.frames import FINITE, Frame, is_mark, is_plural
from pytest_evalstudio.contrib.questions.parsing.pipeline import lemma_of, word_of
from pytest_evalstudio.contrib.questions.quantities import UNITS, Quantity, unit_of
from pytest_evalstudio.contrib.questions.rules.composition import ask, ask_subject, words
from pytest_evalstudio.contrib.questions.rules.slots import QuantityQuestion
from pytest_evalstudio.contrib.questions.words import word_set, word_table

if TYPE_CHECKING:
    from spacy.tokens import Token

_ATTRIBUTES = word_table("attributes")
_KINDS_OF_CASES = ("money", "percent", "period", "date")
"""Kinds of quantity of which a statement may have several, for different cases."""
_STOPS = word_set(
    "by at in into onto for on with to within under per and or if when unless until once where because as"
)
"""Words that end what belongs to a quantity."""
_APOSTROPHES = ("'", "’", "'s", "’s")
_LIMITS = word_set("than over under above below")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A quantity of a clause with the words around it.

    Attributes:
        tokens: of the quantity.
        bound: words before it that bound it: "up to".
        noun: of the thing that it counts, () for others.
        before: the word before all of these, None at the beginning.
        behind: the words after all of these.
        in_subject: it is a part of the subject.
    """

    quantity: Quantity
    tokens: Sequence[Token]
    bound: Sequence[Token]
    noun: Sequence[Token]
    before: Token | None
    behind: Sequence[Token]
    in_subject: bool

    @property
    def indices(self) -> set[int]:
        return {each.i for each in (*self.bound, *self.tokens, *self.noun)}


@dataclass(frozen=True, slots=True)
class Request:
    """Beginning of a question, and the words that it leaves out."""

    beginning: str
    dropped: set[int]


def amount_questions(
    frame: Frame, hits: Sequence[tuple[Quantity, str]], offsets: Sequence[int]
) -> Iterator[QuantityQuestion]:
    """Yield a question for each quantity of a clause that one can ask for.

    Args:
        frame: the clause.
        hits: quantities of its sentence, with their conditions.
        offsets: position of each token in the sentence.
    """
    spans = [(offsets[part[0].i], offsets[part[-1].i]) for part in (frame.subject, frame.rest) if part]
    inside = [
        (quantity, condition)
        for quantity, condition in hits
        if any(start <= quantity.start <= end for start, end in spans)
    ]
    for quantity, condition in inside:
        if _is_of_one_case(frame, quantity, inside, offsets):
            continue
        units = [unit_of(other.text) for other, _ in inside if other.kind == quantity.kind]
        if quantity.kind in _KINDS_OF_CASES and units.count(unit_of(quantity.text)) > 1:
            continue
        if (limit := _denied_limit(frame, quantity, offsets)) is not None:
            yield QuantityQuestion(
                question=limit, quantity=quantity, answer=quantity.text, condition=condition
            )
            continue
        slot = None if frame.negation is not None else _slot(frame, quantity, offsets)
        request = _request(frame, slot) if slot is not None else None
        if slot is None or request is None:
            continue
        if slot.in_subject:
            rest = words(frame, frame.subject, request.dropped)
            question = ask_subject(frame, f"{request.beginning} {rest}".strip(), plural=_is_counted(slot))
        else:
            question = ask(frame, request.beginning, request.dropped)
        answer = words(frame, [*slot.bound, *slot.tokens, *slot.noun])
        if slot.before is not None and slot.before.lower_ in frame.language.words("recurring"):
            answer = f"{slot.before.lower_} {answer}"
        yield QuantityQuestion(question=question, quantity=quantity, answer=answer, condition=condition)


def _denied_limit(frame: Frame, quantity: Quantity, offsets: Sequence[int]) -> str | None:
    """Return the question for a limit of what is denied: "may not stay for longer than two hours"."""
    tokens = [each for each in frame.rest if quantity.start <= offsets[each.i] < quantity.end]
    at = frame.rest.index(tokens[0]) if tokens else 0
    before = [each.lower_ for each in frame.rest[max(0, at - 3) : at]]
    first = frame.subject[0] if frame.subject else None
    is_denied = frame.negation is not None or (first is not None and first.lower_ == "no")
    is_limit = before[:1] == ["for"] and before[1:] in (["more", "than"], ["longer", "than"])
    if not is_denied or not is_limit or quantity.kind != "period" or frame.finite.tag_ != "MD":
        return None
    if first is not None and first.lower_ == "no":
        is_singular = frame.head is not None and not is_plural(frame.head)
        article = ("an" if frame.subject[1].lower_[0] in "aeiou" else "a") if is_singular else ""
        frame = replace(frame, overrides={**frame.overrides, first.i: article})
    unit = _unit_of_tokens(tokens, quantity)
    beginning = f"{frame.language.phrase('count after').format(before='For', noun=unit)} at most"
    dropped = {each.i for each in (*tokens, *frame.rest[at - 3 : at])}
    question = ask(frame, beginning, dropped, affirmative=True)
    return re.sub(r"\b(?:must|shall)\b", "may", question, count=1)


def _is_of_one_case(
    frame: Frame, quantity: Quantity, inside: Sequence[tuple[Quantity, str]], offsets: Sequence[int]
) -> bool:
    """Report whether "and" or "or" joins a quantity with another one of its kind, for another case."""
    starts = {other.start for other, _ in inside if other.kind == quantity.kind}
    joints = [offsets[each.i] for each in frame.rest if each.pos_ == "CCONJ"]
    return quantity.kind in _KINDS_OF_CASES and any(
        min(start, quantity.start) < joint < max(start, quantity.start)
        for start in starts
        for joint in joints
    )


def _is_counted(slot: Slot) -> bool:
    return slot.quantity.kind == "number" or (slot.quantity.kind == "measure" and slot.tokens[0].text != "1")


def _slot(frame: Frame, quantity: Quantity, offsets: Sequence[int]) -> Slot | None:
    """Return a quantity with its words; None where it exceeds a bound or counts nothing."""
    part = next(
        (
            each
            for each in (frame.subject, frame.rest)
            if each and offsets[each[0].i] <= quantity.start <= offsets[each[-1].i]
        ),
        (),
    )
    tokens = [each for each in part if quantity.start <= offsets[each.i] < quantity.end]
    if not tokens:
        return None
    at = part.index(tokens[0])
    start = at
    while start and part[start - 1].lower_ in frame.language.words("bounds"):
        start -= 1
    bound = list(part[start:at])
    if [each.lower_ for each in bound] == ["about"] or (bound and bound[0].lower_ in ("of", "to", "at")):
        is_word = len(bound) > 1 and bound[1].lower_ in ("least", "most")
        bound = bound if is_word or bound[0].lower_ == "about" else bound[1:]
    lowered = [each.lower_ for each in bound]
    if lowered[:1] == ["than"] or (set(lowered) & _LIMITS and lowered[0] not in ("no", "not")):
        return None
    modifier = part[start - 1] if start else None
    if modifier is not None and modifier.dep_ == "amod" and modifier.head in tokens:
        return None  # "in the preceding six months"
    end = part.index(tokens[-1]) + 1
    noun: list[Token] = []
    is_english = frame.language.code == "en"
    if quantity.kind == "number":
        while end < len(part) and part[end].pos_ in ("ADJ", "NOUN", "PROPN") and part[end].tag_[0] != "V":
            noun.append(part[end])
            end += 1
        if not noun or noun[-1].pos_ != "NOUN" or (is_english and not is_plural(noun[-1])):
            return None
    first = bound[0] if bound else tokens[0]
    position = part.index(first)
    return Slot(
        quantity=quantity,
        tokens=tokens,
        bound=bound,
        noun=noun,
        before=part[position - 1] if position else None,
        behind=part[end:],
        in_subject=part is frame.subject,
    )


def _request(frame: Frame, slot: Slot) -> Request | None:
    """Return how a question begins that asks for a quantity; None where there is no way."""
    part = frame.subject if slot.in_subject else frame.rest
    if any(is_mark(each) for each in part if each.i < slot.tokens[0].i):
        return None  # a quantity of a subordinate clause
    behind = [each.lower_ for each in slot.behind[:3]]
    if (
        behind[:1]
        and behind[0] in ("and", "or", "to", "-", "–")
        and any(each.like_num for each in slot.behind[1:6])
    ):
        return None  # "3 kg or 5 kg": another case
    if slot.in_subject:
        return _of_subject(frame, slot)
    if frame.head is not None and frame.head.lower_ == "there":
        return _of_object(frame, slot)  # only what there is
    following = slot.behind[0] if slot.behind else None
    if following is not None and (is_mark(following) and following.tag_ in ("WDT", "WP")):
        return None  # "two companies that are bound to secrecy"
    request = (
        _recurring(frame, slot)
        or _of_attribute(frame, slot)
        or _before_event(frame, slot)
        or _after_preposition(frame, slot)
        or _of_object(frame, slot)
    )
    if request is None:
        return None
    last = max(request.dropped)
    behind_all = next((each for each in frame.rest if each.i > last), None)
    # "by 15 ml or the yeast by 5 g", "days' notice": the rest belongs to the quantity.
    is_joined = behind_all is not None and (behind_all.pos_ == "CCONJ" or behind_all.lower_ in _APOSTROPHES)
    return None if is_joined else request


def _of_subject(frame: Frame, slot: Slot) -> Request | None:
    if slot.before is None and slot.quantity.kind == "number":
        return Request(frame.language.phrase("count").format(noun=words(frame, slot.noun)), slot.indices)
    return _of_attribute(frame, slot)


def _recurring(frame: Frame, slot: Slot) -> Request | None:
    """Return "How often" for "every two weeks"."""
    before = slot.before
    if before is None or before.lower_ not in ("every", "alle") or slot.quantity.kind != "period":
        return None
    if sum(each.lower_ in frame.language.words("recurring") for each in frame.rest) > 1:
        return None
    phrase = frame.language.entries("question phrases").get("frequency", "")
    return Request(phrase, slot.indices | {before.i}) if phrase else None


def _of_attribute(frame: Frame, slot: Slot) -> Request | None:
    """Return the beginning for the quantity of a noun: "What late fee", for "a late fee of £20"."""
    before, behind = slot.before, slot.behind
    part = frame.subject if slot.in_subject else frame.rest
    if before is not None and before.lower_ in ("of", "von"):
        at = part.index(before) - 1
        noun_end, dropped = at, slot.indices | {before.i}
    elif behind and behind[0].pos_ in ("NOUN", "ADJ") and slot.quantity.kind in ("money", "percent"):
        end = 0
        while end < len(behind) and behind[end].pos_ in ("NOUN", "ADJ"):
            end += 1
        noun_end, dropped = part.index(behind[end - 1]), set(slot.indices)
    else:
        return None
    if noun_end < 0 or part[noun_end].lemma_.lower() not in _ATTRIBUTES:
        return None
    start = noun_end
    while start and (part[start - 1].pos_ in ("NOUN", "ADJ", "DET") or _is_inner(part[start - 1], dropped)):
        start -= 1
    phrase = [each for each in part[start : noun_end + 1] if each.i not in dropped]
    if phrase and phrase[0].pos_ == "DET":
        if phrase[0].lower_ not in ("a", "an", "the", "eine", "einen"):
            return None
        dropped.add(phrase[0].i)
        phrase = phrase[1:]
    head = part[start - 1] if start else None
    text = words(frame, phrase)
    beginning = frame.language.phrase("what").format(noun=text)
    if head is not None and head.pos_ in ("ADP", "SCONJ"):
        if head.lower_ not in ("at", "with", "within", "for"):
            return None
        beginning = f"{head.text.capitalize()} {beginning[0].lower()}{beginning[1:]}"
        dropped.add(head.i)
    elif (
        head is not None
        and head.pos_ not in ("VERB", "AUX", "ADV")
        and head.lower_ not in ("not", "you", "me")
    ):
        return None
    return Request(beginning, dropped | {each.i for each in phrase})


def _is_inner(token: Token, dropped: set[int]) -> bool:
    """Report whether a word is the quantity before a noun, or a participle: "a fixed annual charge"."""
    return token.i in dropped or token.dep_ == "amod"


def _attached(slot: Slot, first_words: Sequence[str]) -> list[Token]:
    """Return the words behind a quantity that belong to it: "of the request", "before the visit"."""
    if not slot.behind or slot.behind[0].lower_ not in first_words:
        return []
    result = [slot.behind[0]]
    is_clause = is_mark(result[0]) or (len(slot.behind) > 1 and slot.behind[1].pos_ == "PRON")
    for token in slot.behind[1:]:
        if is_clause and not token.is_punct and not is_mark(token):
            result.append(token)
            continue
        is_verb = token.pos_ in ("VERB", "AUX") and token.tag_ not in ("VBG", "VBN")
        if token.is_punct or token.lower_ in (*_STOPS, "so", "that", "who", "which") or is_verb:
            break
        result.append(token)
    return result


def _before_event(frame: Frame, slot: Slot) -> Request | None:
    """Return the beginning for a period before an event: "How many days before the visit"."""
    lowered = [each.lower_ for each in slot.behind[:2]]
    before = slot.before
    if slot.quantity.kind != "period":
        return None
    phrase = frame.language.phrase("count").format(noun=_unit(slot))
    if slot.behind and slot.behind[0].lower_ in _APOSTROPHES:
        return _notice(frame, slot, phrase)
    # "check in no later than 20 minutes before": the preposition is one of the verb.
    is_free = [each.lower_ for each in slot.bound[1:2]] == ["later"]
    if before is not None and before.pos_ in ("ADP", "DET", "NUM") and not is_free:
        return None
    if lowered == ["in", "advance"]:
        return Request(f"{phrase} in advance", slot.indices | {each.i for each in slot.behind[:2]})
    if behind := _attached(slot, ("before", "after")):
        if len(behind) < 2:
            return None
        return Request(f"{phrase} {words(frame, behind)}", slot.indices | {each.i for each in behind})
    return None


def _notice(frame: Frame, slot: Slot, phrase: str) -> Request | None:
    """Return the beginning for a period of notice: "How many days' notice", "With how many days' notice"."""
    before = slot.before
    end = next((at for at, each in enumerate(slot.behind[:5]) if each.lower_ == "notice"), 0)
    if not end or slot.behind[0].lower_ not in _APOSTROPHES:
        return None
    noun = words(frame, slot.behind[1 : end + 1])
    dropped = slot.indices | {each.i for each in slot.behind[: end + 1]}
    text = f"{phrase}{slot.behind[0].text[0]} {noun}"
    if before is not None and before.lower_ == "giving":
        dropped.add(before.i)
        at = frame.rest.index(before) if before in frame.rest else 0
        before = frame.rest[at - 1] if at else None
    if before is not None and before.lower_ in ("with", "on", "upon", "by", "at"):
        return Request(f"With {text[0].lower()}{text[1:]}", dropped | {before.i})
    is_inner = before is not None and before.pos_ == "VERB" and before.i != frame.verb.i
    is_free = before is None or before.pos_ not in ("ADP", "DET", "NUM")
    return Request(text, dropped) if is_free and not is_inner else None


def _after_preposition(frame: Frame, slot: Slot) -> Request | None:
    """Return the beginning for a quantity behind a preposition: "Within how many days"."""
    table, quantity, before = frame.language, slot.quantity, slot.before
    if before is None or before.pos_ not in ("ADP", "SCONJ") or before.i == frame.finite.i:
        return None
    prepositions = [before]
    previous = frame.rest[frame.rest.index(before) - 1] if before.i != frame.rest[0].i else None
    if previous is not None and previous.pos_ == "ADP" and table.code == "en":
        return None
    if previous is not None and previous.pos_ == "ADP":
        prepositions.insert(0, previous)
    if prepositions[0].lower_ not in table.words("asked prepositions"):
        return None
    capital = " ".join(each.lower_ for each in prepositions).capitalize()
    phrases = table.entries("question phrases")
    attached = _attached(slot, ("of",) if quantity.kind != "period" else ("of", "before", "after", "from"))
    is_plain = not slot.behind or slot.behind[0].pos_ not in ("NOUN", "ADJ", "PROPN")
    if len(attached) == 1:
        return None
    is_plain &= not slot.behind or slot.behind[0].tag_ not in FINITE
    if (
        not is_plain
        or capital.split()[0] in ("Of", "Between")
        or capital.endswith("between")
        or (capital == "To" and quantity.kind in ("date", "period"))
    ):
        return None
    if quantity.kind == "date":
        if capital.lower() in ("of", "for"):
            return None
        key = "date" if capital.lower() in table.words("date prepositions") else "date after"
        phrase = phrases[key].format(before=capital)
    elif quantity.kind in ("period", "number"):
        noun = words(frame, slot.noun) if slot.noun else _unit(slot)
        phrase = phrases["count after"].format(before=capital, noun=noun)
    elif quantity.kind == "percent":
        phrase = phrases["share after"].format(before=capital)
    elif quantity.kind == "money":
        phrase = phrases["amount after"].format(before=capital) if capital in ("By", "To") else ""
    else:
        unit = UNITS.get(unit_of(quantity.text).lower())
        phrase = phrases["dimension after"].format(before=capital, noun=unit.dimension) if unit else ""
    if not phrase:
        return None
    dropped = slot.indices | {each.i for each in (*prepositions, *attached)}
    return Request(f"{phrase} {words(frame, attached)}".strip(), dropped)


def _of_object(frame: Frame, slot: Slot) -> Request | None:
    """Return the beginning for an object or complement: "How much", "How many days"."""
    table, quantity = frame.language, slot.quantity
    before = slot.before if slot.before is not None else frame.finite
    if before.pos_ not in ("VERB", "AUX", "ADV", "PART") and before.i != frame.finite.i:
        return None
    if before.dep_ == "xcomp" and before.head.pos_ == "ADJ":
        return None  # "a surface able to carry 120 kg"
    lemma = lemma_of(frame.verb, table)
    is_be = lemma == "be" and frame.finite.i in (frame.verb.i, before.i) and before.pos_ != "ADV"
    is_modifier = bool(slot.behind) and slot.behind[0].pos_ in ("NOUN", "PROPN")
    if is_modifier and quantity.kind != "money":
        return None  # "a 5 mm key"
    attached = _attached(slot, ("of", "off"))
    dropped = slot.indices | {each.i for each in attached}
    tail = words(frame, attached)
    is_there = frame.head is not None and frame.head.lower_ == "there"
    if quantity.kind == "date":
        return None
    if quantity.kind == "money":
        return Request(table.phrase("amount"), set(slot.indices)) if not attached else None
    if is_be and not is_there:
        following = slot.behind[0] if slot.behind else None
        if following is not None and following.pos_ == "ADJ":
            phrase = table.phrase("extent").format(noun=following.text)
            return Request(phrase, dropped | {following.i})
        is_plain = following is None or following.pos_ not in ("NOUN", "PROPN")
        return (
            Request(table.phrase("definition"), dropped) if is_plain and quantity.kind != "number" else None
        )
    if slot.behind and slot.behind[0].pos_ == "ADJ" and quantity.kind in ("period", "measure"):
        return None  # "must be kept 60 cm wide"
    if quantity.kind == "percent":
        return Request(f"{table.phrase('share')} {tail}", dropped) if tail else None
    if quantity.kind == "period" and not tail and lemma in table.words("duration verbs"):
        return Request(table.phrase("duration"), dropped)
    if quantity.kind == "measure" and not tail:
        if frame.is_command:
            return None  # "give 10 ml", of what the sentence before says
        if lemma in table.words("state verbs"):
            return Request(table.phrase("amount"), dropped)
        unit = UNITS.get(unit_of(quantity.text).lower())
        return Request(table.phrase("what").format(noun=unit.dimension), dropped) if unit else None
    if is_there and frame.finite.lower_ == "is":
        return None
    noun = words(frame, slot.noun) if slot.noun else _unit(slot)
    return Request(f"{table.phrase('count').format(noun=noun)} {tail}".strip(), dropped)


def _unit(slot: Slot) -> str:
    return _unit_of_tokens(slot.tokens, slot.quantity)


def _unit_of_tokens(tokens: Sequence[Token], quantity: Quantity) -> str:
    """Return the unit of a quantity as the question has it, in the plural."""
    texts = [
        word_of(each) for each in tokens if not each.like_num and each.pos_ != "NUM" and each.text != "-"
    ]
    if "half" in texts:
        texts = texts[texts.index("half") + 1 :]
    unit = " ".join(texts) or unit_of(quantity.text)
    is_noun = unit.replace(" ", "").isalpha() and len(unit) > 2
    return f"{unit}s" if is_noun and not unit.endswith(("s", "n")) and unit.isascii() else unit
