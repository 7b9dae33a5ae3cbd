"""Finds what must not leave: personal data and secrets, as spans of a text."""

from __future__ import annotations

from pytest_evalstudio.evaluators.detectors import pii, secrets
from pytest_evalstudio.evaluators.detectors.hits import Hit, describe, mask, merged
from pytest_evalstudio.evaluators.detectors.pii import find_pii
from pytest_evalstudio.evaluators.detectors.secrets import find_secrets

__all__ = ["Hit", "describe", "find_pii", "find_secrets", "mask", "redact"]


def redact(text: str) -> str:
    """The text with all personal data and secrets masked, of the same length, so that spans into it stay valid.

    Every e-mail address is masked, also those of reserved example domains, which `find_pii` does not call leaks.

    Args:
        text: any text; time is linear in its length.

    >>> redact("Write to jane@example.com, SSN 219-09-9999.")
    'Write to ****@*******.***, SSN ***-**-****.'
    """
    lower = text.lower()
    found = [*pii.spans(text, lower, reserved=True), *secrets.spans(text, lower)]
    if not found:
        return text
    parts: list[str] = []
    at = 0
    for hit in merged(text, found):
        parts += text[at : hit.start], mask(text[hit.start : hit.end])
        at = hit.end
    return "".join(parts) + text[at:]
