"""Forms of questions that are often wrong or weak, each with the reason for which it is refused."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_evalstudio.contrib.questions.checks.retrieval import bare_question, query_terms, stems
from pytest_evalstudio.contrib.questions.parsing.statements import bare_statement
from pytest_evalstudio.contrib.questions.quantities import quantities
from pytest_evalstudio.core.plugins.generator import Draft

_YES_OR_NO = re.compile(r"(?:Yes|No)\. ")
_JOINED_SUBJECT = re.compile(
    r"(?i)^(?:is|are|does|do|must|may|can|will|should|shall) [^,]{3,60}, or [^,]{3,40} (?:be|have)\b"
)
_NEGATIVE_LIST = re.compile(r"No\s[^;]*,\sor\s")
_NO_SUBJECT = re.compile(
    r"(?i)\b(?:do|does|did|is|are|was|were|will|may|can|must|should)\s(?:no\s[a-z]+s?|nobody|none|neither)\b"
)
_ASKS_TIME = re.compile(r"(?i)(?:(?:until|from|by|since)\s)?when\b")
_OTHER_TIME = re.compile(
    r"(?i)\b(?:when|once|after|until|at once|in the (?:first|last)|(?:between|from) \d[\d.:]* (?:and|to)"
    r"|at \d[\d.:]*(?: [ap]\.?m)?)\b"
)
_TWO_PERIODS = re.compile(r"(?i)\b(?:after|within)\b.*\bat once\b")
_STRANDED = re.compile(
    r"(?i)\b(?:later|earlier|more|less|fewer) than (?:if|when|unless|in|for|by)\b"
    r"|^at what (?:distance|length)\b|^what (?:plus|one|two|an?|of)\b|^who only\b"
    r"|^what happens (?:if|when) \w+ed\b|\bones\b|\bbeing [a-z]+ed\?$"
    r"|^(?:for )?how (?:much|many)\b.*\bhave I\b"
    r"|\bif (?:that|this|something|anything|mine|yours|so)\b|\bin case\b.*\bif\b"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\?"
)
_LIMIT = re.compile(r"(?i)\b(?:unless|except|only|provided|as long as|subject to)\b")
_EXCLUSIVE = re.compile(r"(?i)\b(?:except|only)\b")
_PART = re.compile(r";\s|,\s(?:and|while|whereas|but)\s|\sand\s(?=(?:is|are|may|must|can|will|has|have)\b)")
_LEAD = re.compile(
    r"(?:After|At|Before|During|For|From|If|In|On|Once|Under|Unless|Until|When|Where|While|With|Within)\s"
    r"(?P<lead>[^,;]{3,80}),\s"
)
_COLON = re.compile(r"\w:\s")
_LABELLED_QUESTION = re.compile(r"What is the (?:charge|time limit) for ")
_ALTERNATIVE = re.compile(
    r",\s(?:or|either)\s(?=(?:be|is|are|has|have|may|must|can|will|at|before|after|by|on|within|until|when|if|from"
    r"|for|the|an?)\b)"
)
_THEN = re.compile(r"(?i)\b(?:then|in (?:this|that|such a) case)\b")
_FRAGMENT = re.compile(
    r"of\s|an?\s[£$€]?[\d.,]+$|(?:if|when|because|since)\s(?:it|they|this|that|these|those)\b"
    r"|if\s(?:one|so|not|necessary|possible)\b|.*\binstead$"
)


def refusal_reason(draft: Draft) -> str:
    """Return why a question that has evidence is refused as uncertain, "" if it is not."""
    statement = bare_statement(draft.evidence)
    if not statement or not statement.endswith("."):
        return ""
    return next((reason for reason, is_uncertain in _RULES if is_uncertain(draft, statement)), "")


def _has_negative_subject(draft: Draft, statement: str) -> bool:
    if _NEGATIVE_LIST.match(statement):
        return True
    match = _NO_SUBJECT.search(bare_question(draft.question))
    return match is not None and not match.group().endswith(("more", "later", "less", "fewer", "longer"))


def _states_time(draft: Draft, _: str) -> bool:
    question = bare_question(draft.question)
    match = _ASKS_TIME.match(question)
    if match is None:
        return bool(_TWO_PERIODS.search(question))
    rest = question[match.end() :]
    has_date = any(each.kind == "date" for each in quantities(rest))
    return has_date or bool(_OTHER_TIME.search(rest))


def _is_stranded(draft: Draft, _: str) -> bool:
    question = bare_question(draft.question)
    return bool(_STRANDED.search(question) or _JOINED_SUBJECT.match(question))


def _lacks_limit(draft: Draft, statement: str) -> bool:
    """Report whether a question leaves out the limit of the part of the sentence that it is about."""
    words = set(stems(draft.question))
    # The amount is the same where a further condition holds, a yes is not.
    limits = _EXCLUSIVE if quantities(draft.answer) and not _YES_OR_NO.match(draft.answer) else _LIMIT
    part = max(_PART.split(statement), key=lambda text: len(words & set(stems(text))))
    text = _repeated(draft).lower()
    return any(match.group().lower() not in text for match in limits.finditer(part))


def _lacks_lead(draft: Draft, statement: str) -> bool:
    """Report whether neither question nor answer has a word of the phrase that begins the sentence."""
    match = _LEAD.match(statement)
    return match is not None and set(query_terms(match["lead"])).isdisjoint(stems(_repeated(draft)))


def _repeated(draft: Draft) -> str:
    """Return the question, with its answer unless that is the whole sentence."""
    return draft.question if _YES_OR_NO.match(draft.answer) else f"{draft.question} {draft.answer}"


def _has_label(draft: Draft, _: str) -> bool:
    """Report whether a colon joins the sentence with a label or another sentence: "SEV2: …"."""
    is_list = "\n" in draft.evidence or _LABELLED_QUESTION.match(bare_question(draft.question))
    return not is_list and _COLON.search(draft.evidence.rstrip(".")) is not None


def _lacks_alternative(draft: Draft, statement: str) -> bool:
    """Report whether a question and its answer leave out the other case of the sentence: ", or before …"."""
    words = set(stems(_repeated(draft)))
    part = max(_PART.split(statement), key=lambda text: len(words & set(stems(text))))
    return _ALTERNATIVE.search(part) is not None and " or " not in _repeated(draft)


def _depends_on_condition(_: Draft, statement: str) -> bool:
    """Report whether the sentence holds in a case that a sentence before states: "may then visit"."""
    return bool(_THEN.search(statement))


def _is_fragment(draft: Draft, _: str) -> bool:
    return bool(_FRAGMENT.match(draft.answer))


_Check = Callable[[Draft, str], bool]
_RULES: tuple[tuple[str, _Check], ...] = (
    ("negative subject", _has_negative_subject),
    ("two times", _states_time),
    ("stranded words", _is_stranded),
    ("missing limit", _lacks_limit),
    ("missing condition", _lacks_lead),
    ("label", _has_label),
    ("missing alternative", _lacks_alternative),
    ("condition of the sentence before", _depends_on_condition),
    ("fragment as answer", _is_fragment),
)
