"""Finds what must not leave: personal data and secrets, as spans of a text."""

from __future__ import annotations

from pytest_evalstudio.evaluators.detectors import pii, secrets
from pytest_evalstudio.evaluators.detectors.hits import Hit, describe, lazy, mask, merged
from pytest_evalstudio.evaluators.detectors.pii import find_pii
from pytest_evalstudio.evaluators.detectors.secrets import find_secrets

__all__ = ["Hit", "describe", "find_pii", "find_secrets", "mask", "redact", "redact_identifier"]

_DOCUMENT_ENDINGS = (
    ".json",
    ".jsonl",
    ".yaml",
    ".yml",
    ".csv",
    ".txt",
    ".pdf",
    ".docx",
    ".xlsx",
    ".xml",
    ".parquet",
)
_URL_LOGIN = lazy(r"(?<=://)[^/@\s]+(?=@)")


def redact(text: str) -> str:
    """The text with all personal data and secrets masked, of the same length, so that spans into it stay
    valid.

    Every e-mail address is masked, also those of reserved example domains, which `find_pii` does not call
    leaks.

    Args:
        text: any text; time is linear in its length.

    >>> redact("Write to jane@example.com, SSN 219-09-9999.")
    'Write to ****@*******.***, SSN ***-**-****.'
    """
    lower = text.lower()
    return _without(text, [*pii.spans(text, lower, reserved=True), *secrets.spans(text, lower)])


def redact_identifier(text: str) -> str:
    """Return a key, name or path of the same length with certain personal data and secrets masked.

    Identifiers are full of digits, dates, hashes and version numbers. Only detectors with a check digit, a
    prefix or a telling format are used: e-mail addresses, IBANs, card and social security numbers with
    separators, phone numbers with `+`, logins of URLs, and secrets. Bare numbers, IP addresses and numbers of
    papers stay.

    Args:
        text: any text; time is linear in its length.

    >>> redact_identifier("jane.doe@bank.com-2024-01-15"), redact_identifier("v1.2.3/4111111111111111-20240115.json")
    ('****.***@****.***-2024-01-15', 'v1.2.3/4111111111111111-20240115.json')
    """  # noqa: E501
    lower = text.lower()
    certain = [
        span
        for span in pii.spans(text, lower, reserved=True)
        if _is_certain(span[2], text[span[0] : span[1]])
    ]
    logins = [(*match.span(), secrets.URL_PASSWORD) for match in _URL_LOGIN().finditer(text)]
    return _without(text, [*certain, *logins, *secrets.spans(text, lower)])


def _is_certain(kind: str, value: str) -> bool:
    if kind == pii.EMAIL:
        return not value.lower().endswith(_DOCUMENT_ENDINGS)
    if kind in (pii.CARD, pii.SSN):
        return not value.isalnum() and "." not in value
    return kind == pii.IBAN or (kind == pii.PHONE and value.startswith("+"))


def _without(text: str, found: list[tuple[int, int, str]]) -> str:
    """Return the text with the spans masked."""
    if not found:
        return text
    parts: list[str] = []
    at = 0
    for hit in merged(text, found):
        parts += text[at : hit.start], mask(text[hit.start : hit.end])
        at = hit.end
    return "".join(parts) + text[at:]
