"""Reads a customer's instruction with regular expressions and answers in JSON: put your own application in
its place.
"""

from __future__ import annotations

import json
import re

CURRENCIES = {"£": "GBP", "€": "EUR", "$": "USD"}
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

_AMOUNT = re.compile(
    r"(?P<sign>[£€$])(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<pence>\d{2}))?|(?P<plain>\d+(?:\.\d{2})?)"
    r" (?P<code>GBP|EUR|USD)"
)
_PAYEE = re.compile(r"\bto (?P<payee>(?:[A-Z][\w'&-]*)(?: (?:[A-Z][\w'&-]*|&|and(?= [A-Z])))*)")
_DATE = re.compile(rf"\b(?P<day>\d{{1,2}}) (?P<month>{'|'.join(MONTHS)}) (?P<year>\d{{4}})")
_CARD = re.compile(r"\bcard ending (?:in )?(?P<digits>\d{4})\b")


def extract(prompt: str) -> str:
    """The instruction as JSON: a transfer, or the blocking of a card."""
    text = prompt.rpartition("Instruction:")[2].strip()
    card = _CARD.search(text)
    if card is not None:
        return json.dumps({"action": "block_card", "last_digits": card["digits"]})
    amount, currency = _amount(text)
    payee = _PAYEE.search(text)
    return json.dumps(
        {
            "action": "transfer",
            "amount": amount,
            "currency": currency,
            "payee": payee["payee"] if payee else None,
            "date": _date(text),
        },
        ensure_ascii=False,
    )


def _amount(text: str) -> tuple[float | None, str | None]:
    found = _AMOUNT.search(text)
    if found is None:
        return None, None
    if found["plain"]:
        return float(found["plain"]), found["code"]
    return float(f"{found['whole'].replace(',', '')}.{found['pence'] or '00'}"), CURRENCIES[found["sign"]]


def _date(text: str) -> str | None:
    found = _DATE.search(text)
    if found is None:
        return None
    return f"{found['year']}-{MONTHS.index(found['month']) + 1:02}-{int(found['day']):02}"
