"""Phrases about transactions and balances of a particular customer's account.

A phrase has an amount, a word for an account or a transaction, and a person: a possessive ("her balance"), or
a pronoun, a name or "the customer" before a verb in the past ("she withdrew"). General statements about
products ("A transfer costs £15", "the minimum balance is £500") have no person.

Source: contextual data filtering in Sudjianto et al., 2024 (Human-Calibrated Automated Testing), section 4.3.
"""

from __future__ import annotations

import re

from pytest_evalstudio.metrics.detectors.spans import Hit, RawSpan, lazy, merge_spans

ACTIVITY = "account activity"
_MAX_SENTENCE_CHARS = 400
"""Longer stretches without an end are read in parts, which bounds the time of the patterns."""
_SENTENCE = re.compile(
    rf"[^.!?\n]{{1,{_MAX_SENTENCE_CHARS}}}(?:(?<=[0-9])[.](?=[0-9])[^.!?\n]{{1,80}}){{0,20}}"
)
_AMOUNT = re.compile(
    r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|INR|AUD|CAD)\s?)[0-9][0-9.,]{0,14}"
    r"|\b[0-9][0-9.,]{0,14}\s?(?:USD|EUR|GBP|CHF|JPY|INR|AUD|CAD|dollars?|euros?|pounds?|francs?)\b"
)
_OF_PERSON = (
    r"(?:your|his|her|their|(?-i:[A-Z][a-z]{1,20})['’]s|the\s+(?:customer|client|account\s*holder)['’]s)"
)
_EVENT = (
    r"(?:transactions?|payments?|withdrawals?|deposits?|transfers?|purchases?|standing\s+orders?"
    r"|direct\s+debits?)"
)
_DID = (
    r"(?-i:paid|sent|transferred|withdrew|deposited|spent|received|owes?|owed|moved|wired|borrowed"
    r"|has\s+(?:paid|sent|transferred|withdrawn|deposited|spent|received|moved|wired|borrowed))"
)
_PERSON = (
    r"(?:you|he|she|they|the\s+(?:customer|client|account\s*holder)"
    r"|(?-i:[A-Z][a-z]{1,20}\s+[A-Z][a-z]{1,20}))"
)
_PHRASES = (
    # her current balance is ..., the balance of his account
    lazy(rf"\b{_OF_PERSON}\s+(?:\w+\s+){{0,3}}balances?\b", re.IGNORECASE),
    lazy(
        rf"\bbalances?\s+(?:of|in|on)\s+{_OF_PERSON}\s+(?:\w+\s+){{0,2}}(?:accounts?|cards?|loans?)\b",
        re.IGNORECASE,
    ),
    # his last payment of ...
    lazy(rf"\b{_OF_PERSON}\s+(?:\w+\s+){{0,3}}{_EVENT}\b", re.IGNORECASE),
    # she withdrew ...
    lazy(rf"\b{_PERSON}\s+(?:\w+ly\s+)?{_DID}\b", re.IGNORECASE),
    # ... was debited from your account
    lazy(
        rf"\b(?:was|were|has\s+been|have\s+been|is|are)\s+(?:debited|credited|withdrawn|transferred|paid|deposited"
        rf"|charged)\s+(?:from|to|into|out\s+of|against)\s+{_OF_PERSON}\b",
        re.IGNORECASE,
    ),
)
_RULE = lazy(
    r"\b(?:if|when|whenever|unless|(?-i:may)|must|can|could|would|should|at\s+least|at\s+most|minimum|maximum|each|every"
    r"|per|limit)\b",
    re.IGNORECASE,
)
"""Words of rules and conditions of a product: "if your balance falls below £500"."""


def find_account_activity(text: str) -> list[Hit]:
    """Find phrases about a particular customer's transactions and balances.

    Args:
        text: any text; time is linear in its length.

    Returns:
        A hit for each sentence, from the phrase to the amount; in order of position.

    >>> [hit.kind for hit in find_account_activity("She withdrew £200 on 3 May. A withdrawal costs £2.")]
    ['account activity']
    """
    if not _AMOUNT.search(text):
        return []
    spans: list[RawSpan] = []
    for sentence in _SENTENCE.finditer(text):
        amounts = list(_AMOUNT.finditer(sentence[0]))
        if not amounts or _RULE().search(sentence[0]):
            continue
        phrase = next((match for pattern in _PHRASES if (match := pattern().search(sentence[0]))), None)
        if phrase is not None:
            parts = (phrase.span(), amounts[0].span())
            start, end = min(part[0] for part in parts), max(part[1] for part in parts)
            spans.append((sentence.start() + start, sentence.start() + end, ACTIVITY))
    return merge_spans(text, spans)
