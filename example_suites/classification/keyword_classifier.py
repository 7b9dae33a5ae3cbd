"""Two small complaint classifiers: put your own application in their place."""

from __future__ import annotations

import re

FALLBACK = "service"
"""What a message without any keyword is taken for."""

KEYWORDS = {
    "fees": {
        "fee": 2,
        "fees": 2,
        "charge": 1,
        "charged": 1,
        "interest": 2,
        "refund": 1,
        "price": 1,
        "overdraft": 1,
    },
    "cards": {"card": 2, "pin": 2, "contactless": 2, "atm": 1, "terminal": 1, "chip": 1},
    "payments": {
        "payment": 2,
        "transfer": 2,
        "debit": 1,
        "standing": 2,
        "payee": 2,
        "iban": 2,
        "salary": 1,
        "arrived": 1,
    },
    "service": {
        "branch": 2,
        "staff": 2,
        "waited": 2,
        "queue": 2,
        "rude": 2,
        "app": 1,
        "call": 1,
        "callback": 2,
        "adviser": 1,
    },
}

FIRST_KEYWORDS = {
    "fee": "fees",
    "interest": "fees",
    "charge": "fees",
    "pin": "cards",
    "card": "cards",
    "payment": "payments",
    "transfer": "payments",
    "branch": "service",
}


def weighted(prompt: str) -> str:
    """The label with the most weight of keywords in the message."""
    words = _words(prompt)
    weights = {label: sum(known.get(word, 0) for word in words) for label, known in KEYWORDS.items()}
    best = max(weights, key=lambda label: weights[label])
    return best if weights[best] else FALLBACK


def first_keyword(prompt: str) -> str:
    """The label of the first keyword in the message; it knows few of them, and no plurals."""
    return next((FIRST_KEYWORDS[word] for word in _words(prompt) if word in FIRST_KEYWORDS), FALLBACK)


def _words(prompt: str) -> list[str]:
    message = prompt.rpartition("Message:")[2]
    return re.findall(r"[a-z]+", message.lower())
