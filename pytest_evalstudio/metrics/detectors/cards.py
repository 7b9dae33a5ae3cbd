"""Payment card numbers."""

from __future__ import annotations

import re

from pytest_evalstudio.metrics.detectors.checksums import luhn
from pytest_evalstudio.metrics.detectors.spans import HYPHEN, RawSpans, lazy, overlapping_matches

CARD = "payment card number"

_CARD = lazy(
    rf"(?<![A-Za-z0-9])(?<![0-9][.‐‑–-])"
    rf"(?:[0-9]{{4}}(?P<sep>[ .]|{HYPHEN})[0-9]{{4}}(?P=sep)[0-9]{{4}}(?P=sep)[0-9]{{4}}"
    rf"(?:(?P=sep)[0-9]{{1,3}})?"
    rf"|[0-9]{{4}}(?P<short>[ .]|{HYPHEN})[0-9]{{4}}(?P=short)[0-9]{{4}}(?P=short)[0-9]{{3}}"
    rf"|3[0-9]{{3}}(?P<amex>[ .]|{HYPHEN})[0-9]{{6}}(?P=amex)[0-9]{{4,5}}"
    rf"|[0-9]{{13,19}})"
    rf"(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
_LOOSE_CARD = lazy(
    rf"(?<![A-Za-z0-9])(?<![0-9][.‐‑–-])[0-9](?:(?:[ .]|{HYPHEN})?[0-9]){{12,18}}"
    rf"(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
"""Digits in any groups; only next to a word for cards."""
_CARD_WORD = lazy(
    r"\b(?:cards?|visa|master ?card|amex|american express|maestro|discover|diners|jcb|union ?pay|rupay|verve"
    r"|elo|mir|troy|dankort|uatp|debit|credit|cvv|cvc|cc)\b|\bpan\s*[:#]|kreditkarte|carte\s+(?:bancaire|de\s+cr[ée]dit)"
    r"|tarjeta|carta\s+di\s+credito|cart[ãa]o",
    re.IGNORECASE,
)
_NEARBY_CHARS = 40
_FOURS_BEFORE = lazy(r"(?<![0-9])(?:[0-9]{4} )+\Z")
_FOURS_AFTER = lazy(r"(?: [0-9]{4}(?![0-9]))+")
_ROW_CHARS = 200


def card_spans(text: str, start: int, end: int) -> RawSpans:
    """Yield the payment card numbers between two positions.

    Args:
        text: any text.
        start: first position that is searched.
        end: position after the last that is searched.

    Returns:
        Start, end and kind of each number.

    >>> list(card_spans("card 4111 1111 1111 1111", 0, 24))
    [(5, 24, 'payment card number')]
    """
    regular: set[int] = set()
    for match in overlapping_matches(_CARD(), text, start, end):
        digits = "".join(char for char in match[0] if char.isdecimal())
        if is_card_number(digits) and (
            match["sep"] != " " or not _in_a_table(text, match.start(), match.end())
        ):
            regular.add(match.start())
            yield match.start(), match.end(), CARD
    if _CARD_WORD().search(text, max(0, start - _NEARBY_CHARS), end + _NEARBY_CHARS):
        yield from (span for span in _loose_card_spans(text, start, end) if span[0] not in regular)


def _loose_card_spans(text: str, start: int, end: int) -> RawSpans:
    """Yield card numbers in unusual groups next to a word for cards."""
    for match in _LOOSE_CARD().finditer(text, start, end):
        digits = "".join(char for char in match[0] if char.isdecimal())
        before = text[max(0, match.start() - _NEARBY_CHARS) : match.start()]
        after = text[match.end() : match.end() + _NEARBY_CHARS]
        if is_card_number(digits) and _CARD_WORD().search(f"{before}\n{after}"):
            yield match.start(), match.end(), CARD


def _in_a_table(text: str, start: int, end: int) -> bool:
    """Return True for four groups of four digits inside a longer row of groups that is not a row of cards.

    Cards in a row begin at every fourth group from this one; up to three other groups may precede and follow
    them.
    """
    before = _FOURS_BEFORE().search(text, max(0, start - _ROW_CHARS), start)
    after = _FOURS_AFTER().match(text, end, end + _ROW_CHARS)
    ahead = before[0].split() if before else []
    behind = after[0].split() if after else []
    groups = [*ahead, *text[start:end].split(), *behind]
    if len(groups) <= 8:
        return False
    return not all(
        is_card_number("".join(groups[position : position + 4]))
        for position in range(len(ahead) % 4, len(groups) - 3, 4)
    )


def is_card_number(digits: str) -> bool:
    """Check prefix, length and Luhn digit of a card number.

    Args:
        digits: ASCII digits only.

    Returns:
        True if an issuer uses prefix and length, the check digit is right and not all digits are equal.

    Source: ISO/IEC 7812-1; prefixes of Visa, Mastercard, American Express, Discover, Diners Club, JCB,
        UnionPay, Maestro, Mir, UATP, Dankort, Verve, RuPay, Troy, Hipercard and the historical ranges of
        enRoute and JCB.

    >>> is_card_number("4111111111111111"), is_card_number("4111111111111112")
    (True, False)
    """
    return len(digits) in _issuer_lengths(digits) and luhn(digits) and len(set(digits)) > 1


def _issuer_lengths(digits: str) -> range | tuple[int, ...]:
    two, three, four = int(digits[:2]), int(digits[:3]), int(digits[:4])
    if digits[0] == "4":
        return (13, 16, 19)  # Visa
    if 51 <= two <= 55 or 2221 <= four <= 2720 or 2200 <= four <= 2204:  # Mastercard; 2200 to 2204 are Mir
        return (16,)
    if two in (34, 37):  # American Express
        return (15,)
    if 300 <= three <= 305 or two in (36, 38, 39):  # Diners Club
        return (14, 16)
    # Discover, UnionPay (62) and JCB (3528 to 3589)
    if four == 6011 or 644 <= three <= 649 or two in (62, 65) or 3528 <= four <= 3589:
        return range(16, 20)
    if four in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763):  # Maestro
        return range(13, 20)
    if digits[0] == "1" or four in (2014, 2131, 2149):  # UATP and old JCB cards (1800, 2131), enRoute
        return (15,)
    if two in (50, 56, 57, 58, 60, 63, 67):
        return range(16, 20)
    if two in (81, 82) or four == 9792:  # RuPay; 9792 is Troy
        return (16,)
    return ()
