"""Redaction of personal data and secrets."""

from __future__ import annotations

from collections.abc import Callable

from pytest_evalstudio.metrics.detectors import pii, secrets
from pytest_evalstudio.metrics.detectors.cards import CARD
from pytest_evalstudio.metrics.detectors.spans import RawSpan, lazy, mask, merge_spans, spans_in_original
from pytest_evalstudio.text.cache import cached_by_text
from pytest_evalstudio.text.folding import with_escapes_of

# Keys such as "report@v1.json" look like e-mail addresses, but are names of files.
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
further_masks: list[Callable[[str], str]] = []
"""Further functions that mask all texts and keep their lengths; `known_values` adds one.

When their results change, `redact.clear` must be called.
"""
_URL_LOGIN = lazy(r"(?<=://)[^/@\s]+(?=@)")


@cached_by_text
def redact(text: str) -> str:
    """Mask all personal data and secrets of a text.

    Names that the run has found by a spaCy pipeline are masked, too. Every e-mail address is masked,
    including those of reserved example domains, which `find_pii` does not report as leaks.

    Args:
        text: any text; time is linear in its length.

    Returns:
        A text of the same length, so that spans into it stay valid. It is kept for a while: scores, reasons,
        record and report mask the same answers and contexts.

    >>> redact("Write to jane@example.com, SSN 219-09-9999.")
    'Write to ****@*******.***, SSN ***-**-****.'
    """
    masked = _mask_spans(text, spans_in_original(text, _sensitive_spans, text.lower()))
    for mask_further in further_masks:
        masked = mask_further(masked)
    return masked


def _sensitive_spans(text: str, lower: str) -> list[RawSpan]:
    return [*pii.plain_spans(text, lower, reserved=True), *secrets.plain_spans(text, lower)]


def redact_identifier(text: str) -> str:
    """Mask unambiguous personal data and secrets of a key, name or path.

    Identifiers are full of digits, dates, hashes and version numbers. Only detectors with a check digit, a
    prefix or a distinctive format are used: e-mail addresses, IBANs, card and social security numbers with
    separators, phone numbers with `+`, logins of URLs, and secrets. Bare numbers, IP addresses and document
    numbers stay.

    Args:
        text: any text; time is linear in its length.

    Returns:
        A text of the same length.

    >>> redact_identifier("jane.doe@bank.com-2024-01-15")
    '****.***@****.***-2024-01-15'
    >>> redact_identifier("v1.2.3/4111111111111111-20240115.json")
    'v1.2.3/4111111111111111-20240115.json'
    """
    lower = text.lower()
    # Nearly all identifiers have nothing that any detector looks for.
    if "://" not in text and not spans_in_original(text, _sensitive_spans, lower):
        return text
    certain = [
        span
        for span in pii.spans(text, lower, reserved=True)
        if _is_certain(span[2], text[span[0] : span[1]])
    ]
    logins = [(*match.span(), secrets.URL_PASSWORD) for match in _URL_LOGIN().finditer(text)]
    return _mask_spans(text, [*certain, *logins, *secrets.spans(text, lower)])


def _is_certain(kind: str, value: str) -> bool:
    if kind == pii.EMAIL:
        return not value.lower().endswith(_DOCUMENT_ENDINGS)
    if kind in (CARD, pii.SSN):
        # Bare digits are dates and numbers of documents here; those with dots are versions.
        return not value.isalnum() and "." not in value
    return kind == pii.IBAN or (kind == pii.PHONE and value.startswith("+"))


def _mask_spans(text: str, spans: list[RawSpan]) -> str:
    if not spans:
        return text
    parts: list[str] = []
    position = 0
    for hit in merge_spans(text, spans):
        parts += text[position : hit.start], mask(text[hit.start : hit.end])
        position = hit.end
    masked = "".join(parts) + text[position:]
    return with_escapes_of(text, masked) if "\\" in text else masked
