"""Formatted personal data, e.g. payment cards, e-mail addresses and identity numbers.

Detected are payment cards, social security numbers, e-mail addresses, phones, IBANs, account numbers, sort
codes, routing numbers, IP addresses and identity documents.

Numbers are checked by what their format allows (issuer and Luhn digit, mod 97, valid ranges), so that
references, ISBNs, dates, UUIDs and prices are not reported. Numbers without a distinctive format (nine
digits, a passport or account number) are reported only next to a word that names them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from pytest_evalstudio.metrics.detectors.cards import card_spans
from pytest_evalstudio.metrics.detectors.checksums import IBAN_LENGTHS, is_iban, is_routing_number
from pytest_evalstudio.metrics.detectors.spans import (
    HYPHEN,
    Hit,
    RawSpan,
    RawSpans,
    lazy,
    merge_spans,
    overlapping_matches,
    spans_in_original,
)

SSN = "US social security number"
ITIN = "US taxpayer number"
EMAIL = "e-mail address"
IBAN = "IBAN"
PHONE = "phone number"
IPV4 = "IPv4 address"
IPV6 = "IPv6 address"
PASSPORT = "passport number"
LICENCE = "driver's licence number"
ACCOUNT = "bank account number"
SORT_CODE = "sort code"
ROUTING = "bank routing number"
INSURANCE = "UK national insurance number"

_NEARBY_CHARS = 40
_WINDOW_CHARS = 48
"""Longer than any number below, so that no window cuts a number."""

# Nine digits with at most two separators between neighbours, or a dotted quad: the minimum of all patterns
# below.
_ENOUGH_DIGITS = re.compile(
    r"[0-9](?:(?:[ ./()‐‑–-]{0,2}[0-9]){8,}|[0-9]{0,2}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9])"
)

_SIX_DIGITS = re.compile(r"[0-9](?:[\s-]?[0-9]){5}")
"""Part of each account number, sort code, routing number and number of an identity document."""


def find_pii(text: str) -> list[Hit]:
    """Find personal data whose disclosure is a leak.

    E-mail addresses of domains reserved for examples (example.com, *.test, *.invalid, localhost …), private,
    loopback and documentation IP ranges and the large public resolvers are not leaks. Well-known test card
    numbers are, because they cannot be distinguished from real card numbers.

    Args:
        text: any text; time is linear in its length.

    Returns:
        Hits in order of position, none overlapping another.

    >>> [(hit.kind, hit.masked) for hit in find_pii("Her SSN is 219-09-9999.")]
    [('US social security number', '***-**-****')]
    """
    return merge_spans(text, spans(text))


def spans(text: str, lower: str = "", reserved: bool = False) -> list[RawSpan]:
    """Return all spans of personal data, unordered and possibly overlapping.

    Args:
        text: any text; time is linear in its length.
        lower: the text in lower case, if the caller has computed it.
        reserved: include e-mail addresses of domains reserved for examples.

    Returns:
        Start, end and kind of each span.

    >>> spans("mail jane@bank.com")
    [(5, 18, 'e-mail address')]
    """
    return spans_in_original(text, lambda plain, small: plain_spans(plain, small, reserved), lower)


def plain_spans(text: str, lower: str, reserved: bool) -> list[RawSpan]:
    """Return the spans of a text whose look-alikes are folded; see `spans`."""
    result: list[RawSpan] = []
    if "@" in text:
        result.extend(_emails(text, reserved))
    if text.count(":") > 3:
        result.extend(_ipv6s(text))
    if not _has_digit(text):
        return result
    for start, end in _numeric_windows(text):
        for detect in (card_spans, _ssns, _itins, _phones, _national_phones, _ibans, _ipv4s):
            result.extend(detect(text, start, end))
    if _SIX_DIGITS.search(text):
        lower = lower or text.lower()
        if "acc" in lower or "a/c" in lower or "sort" in lower or "routing" in lower or "aba" in lower:
            result.extend(_bank_details(text))
        if "passport" in lower or "licen" in lower:
            result.extend(_identity_documents(text))
        result.extend(_insurance_numbers(text))
    return result


def _has_digit(text: str) -> bool:
    # Searches for single characters take a tenth of the time of a pattern, and less than a generator.
    for digit in string.digits:  # noqa: SIM110
        if digit in text:
            return True
    return False


def _numeric_windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield windows around long runs of digits; touching windows are joined."""
    first, last = 0, 0
    for match in _ENOUGH_DIGITS.finditer(text):
        if match.start() - _WINDOW_CHARS > last:
            if last:
                yield first, last
            first = max(0, match.start() - _WINDOW_CHARS)
        last = match.end() + _WINDOW_CHARS
    if last:
        yield first, last


# -- social security numbers

_SSN = lazy(
    r"(?<![A-Za-z0-9])(?<![0-9][.‐‑–-])(?!000|666|9)[0-9]{3}(?P<sep>["
    rf" .]?|{HYPHEN})(?!00)[0-9]{{2}}(?P=sep)(?!0000)[0-9]{{4}}"
    rf"(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
_SSN_WORD = lazy(r"\bSSNs?\b|\bsoc(?:ial)?\b.{0,2}sec|\bSS\s?(?:#|no\b|number)|\bSSID\b", re.IGNORECASE)
_LOOSE_SSN = lazy(
    rf"(?<![A-Za-z0-9])(?<![0-9][.‐‑–-])(?!000|666|9)"
    rf"(?:[0-9]{{3}}(?:[ .]|{HYPHEN})(?!00)[0-9]{{2}}(?:[ .]|{HYPHEN})?"
    rf"|[0-9]{{3}}(?!00)[0-9]{{2}}(?:[ .]|{HYPHEN}))"
    rf"(?!0000)[0-9]{{4}}(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
"""Nine digits in any two or three groups; only next to a word that names them."""


def _ssns(text: str, first: int, last: int) -> RawSpans:
    for match in overlapping_matches(_SSN(), text, first, last):
        separator = match["sep"]
        formatted = separator not in ("", ".", " ") or (
            separator == " " and not _in_a_row_of_numbers(text, match.start(), match.end())
        )
        if formatted or _SSN_WORD().search(_around(text, match.start(), match.end())):
            yield match.start(), match.end(), SSN
    for match in overlapping_matches(_LOOSE_SSN(), text, first, last):
        if _SSN_WORD().search(_around(text, match.start(), match.end())):
            yield match.start(), match.end(), SSN


_ITIN = lazy(
    rf"(?<![A-Za-z0-9])(?<![0-9][.‐‑–-])9[0-9]{{2}}(?P<sep>{HYPHEN})"
    r"(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]|9[0-24-9])(?P=sep)[0-9]{4}(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
"""Individual taxpayer number: an SSN that begins with 9, with the ranges of the IRS in its middle."""


def _itins(text: str, first: int, last: int) -> RawSpans:
    for match in _ITIN().finditer(text, first, last):
        yield match.start(), match.end(), ITIN


def _in_a_row_of_numbers(text: str, start: int, end: int) -> bool:
    """Return True if another number is adjacent, as in a table."""
    before, after = text[max(0, start - 2) : start].rstrip(" \t|,;"), text[end : end + 2].lstrip(" \t|,;")
    return before[-1:].isdecimal() or after[:1].isdecimal()


def _around(text: str, start: int, end: int) -> str:
    return text[max(0, start - _NEARBY_CHARS) : start] + "\n" + text[end : end + _NEARBY_CHARS]


# -- e-mail addresses

_LABELS = r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}"
_TLD = r"(?P<tld>xn--[a-z0-9-]{2,30}|[^\W\d_]{2,24})"
_DOMAIN = lazy(rf"{_LABELS}{_TLD}(?![\w-])")
_DOMAIN_BEFORE_HYPHEN = lazy(rf"{_LABELS}{_TLD}(?!\w)")
"""Used for redaction, where an address may be joined to a date or a number: `jane@bank.com-2024`."""
_RESERVED_DOMAIN = lazy(
    r"(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost|local)$", re.IGNORECASE
)
_DOMAIN_OF_FILE = lazy(rf"(?=[^\W\d_]){_LABELS}[^\W\d_]{{2,24}}(?=\.[^\W_]{{2,4}}(?!\w))")
"""Used for redaction of a name such as `jane@bank.com.png`; that of an image, `icon@2x.png`, is none."""
_FILE_ENDINGS = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "ts", "py", "java", "html"}
)
_LOCAL_CHARS = frozenset("._%+-'")
_LOCAL_LIMIT = 64  # characters of an address before the @ (RFC 5321)


def _emails(text: str, reserved: bool) -> RawSpans:
    pattern = _DOMAIN_BEFORE_HYPHEN() if reserved else _DOMAIN()
    at = text.find("@")
    while at >= 0:
        domain = pattern.match(text, at + 1)
        if domain and domain["tld"].lower() in _FILE_ENDINGS:
            domain = _DOMAIN_OF_FILE().match(text, at + 1) if reserved else None
        if domain:
            start = _start_of_local_part(text, at)
            local = text[start:at]
            if (
                local
                and local != "git"
                and not _in_url(text, start)
                and (reserved or not _RESERVED_DOMAIN().search(domain[0]))
            ):
                yield start, domain.end(), EMAIL
        at = text.find("@", at + 1)


def _in_url(text: str, start: int) -> bool:
    """Return True after `scheme://user:`, where the "local part" is the password of a URL."""
    word = text[max(0, start - 2 * _LOCAL_LIMIT) : start].rpartition("://")
    return (
        bool(word[1])
        and not any(char.isspace() or char in "/?#" for char in word[2])
        and text[start - 1] in ":/"
    )


def _start_of_local_part(text: str, at: int) -> int:
    limit = max(0, at - _LOCAL_LIMIT)
    start = at
    while start > limit and (text[start - 1].isalnum() or text[start - 1] in _LOCAL_CHARS):
        start -= 1
    while start < at and not text[start].isalnum() and text[start] not in "_+":
        start += 1
    return start


# -- phones

_PHONE = lazy(
    rf"(?<![A-Za-z0-9+])(?<![0-9][.(‐‑–-])(?:"
    rf"\+(?:[2-9]|1(?![ .-]?[01]))[0-9]{{0,14}}(?:(?:[ .]|{HYPHEN})?\(0?[0-9]{{1,4}}\)(?:["
    rf" .]|{HYPHEN})?[0-9]{{1,12}})?(?:(?:[ .]|{HYPHEN})[0-9]{{1,12}}){{0,6}}"
    rf"|(?:1(?:[ .]|{HYPHEN}))?\([2-9][0-9]{{2}}\)(?:[ .]|{HYPHEN})?[0-9]{{3}}(?:[ .]|{HYPHEN})[0-9]{{4}}"
    rf"|(?:1(?:[ .]|{HYPHEN}))?[2-9][0-9]{{2}}(?P<sep>[ .]|{HYPHEN})[0-9]{{3}}(?P=sep)[0-9]{{4}}"
    rf")(?![A-Za-z0-9])(?!(?:\.|{HYPHEN})[0-9])"
)
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 8, 15  # 15 is the limit of E.164; shorter ones look like other numbers
_PHONE_WORD = lazy(
    r"\b(?:(?:tele)?phones?|tel|call|mobile|cell|fax|whatsapp|sms|text|telefon|handy|mobil|t[ée]l[ée]phone|tel[ée]fono)\b",
    re.IGNORECASE,
)
_REFERENCE_WORD = lazy(
    r"\b(?:ref|reference|order|invoice|ticket|case|claim|policy|account|acct|tracking|serial|part|model|item|sku|isbn|issn|doi|id|version)"
    r"(?:\s+(?:number|no|id|code))?\s*(?:\bis\b)?[\s.:#]*$",
    re.IGNORECASE,
)


def _phones(text: str, first: int, last: int) -> RawSpans:
    for match in _PHONE().finditer(text, first, last):
        start, end, shown = match.start(), match.end(), match[0]
        before = text[max(0, start - _NEARBY_CHARS) : start]
        if shown[0] == "+":
            shown = _first_number(shown)
            end = start + len(shown)
            accepted = sum(char.isdecimal() for char in shown) >= _MIN_PHONE_DIGITS and " 000" not in shown
        elif match["sep"] == " ":
            accepted = bool(_PHONE_WORD().search(before))
        else:
            accepted = not _REFERENCE_WORD().search(before)
        if accepted:
            yield start, end, PHONE


_NATIONAL_PHONE = lazy(
    r"(?<![A-Za-z0-9+])(?<![0-9][ .,/(‐‑–-])\(?0[1-9][0-9]{0,4}\)?"
    r"(?:[ ./‐‑–-]{0,2}[0-9]{2,8}){1,4}(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
"""Number with the trunk prefix 0, as in most of Europe and Asia: 020 7946 0958, 0171/1234567."""
_MIN_NATIONAL_DIGITS, _MAX_NATIONAL_DIGITS = 9, 12


def _national_phones(text: str, first: int, last: int) -> RawSpans:
    for match in _NATIONAL_PHONE().finditer(text, first, last):
        digits = sum(char.isdecimal() for char in match[0])
        before = text[max(0, match.start() - _NEARBY_CHARS) : match.start()]
        if _MIN_NATIONAL_DIGITS <= digits <= _MAX_NATIONAL_DIGITS and _PHONE_WORD().search(before):
            yield match.start(), match.end(), PHONE


def _first_number(shown: str) -> str:
    """Drop trailing groups of digits that exceed the length of a phone number.

    They belong to the next number.
    """
    while shown and sum(char.isdecimal() for char in shown) > _MAX_PHONE_DIGITS:
        shown = shown.rstrip("0123456789")[:-1]
    return shown


# -- IBANs

_IBAN = lazy(
    r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)


def _ibans(text: str, first: int, last: int) -> RawSpans:
    for match in _IBAN().finditer(text, first, last):
        length = IBAN_LENGTHS.get(match[0][:2], 0)
        end = match.start()
        compact = ""
        for char in match[0]:
            if len(compact) == length:
                break
            compact += char if char.isalnum() else ""
            end += 1
        if len(compact) == length and length and not text[end : end + 1].isalnum() and is_iban(compact):
            yield match.start(), end, IBAN


# -- IP addresses

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = lazy(
    rf"(?<![A-Za-z0-9])(?<![0-9]\.)({_OCTET})\.({_OCTET})\.({_OCTET})\.({_OCTET})(?![A-Za-z0-9])(?!\.[0-9])(?!-(?:alpha|beta|rc))"
)
_VERSION_WORD = lazy(
    r"(?:\b(?:versions?|ver|v|release|releases|build|firmware|section|sections|chapter|clause|article|figure|table|appendix|driver|update)"
    r"|[§])\W{0,3}(?:[0-9.]+\s*(?:,|and|or|to|-|–)\s*)?$",
    re.IGNORECASE,
)
_IP_WORD = lazy(r"\bip(?:v4)?\b|\baddress|\bhost\b|\bserver\b|\bgateway\b|\bping\b", re.IGNORECASE)
_SMALL_OCTET = 64  # four numbers below it are nearly always a version or a section, e.g. 1.4.0.2
_PUBLIC_RESOLVERS = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9"})


def _ipv4s(text: str, first: int, last: int) -> RawSpans:
    for match in _IPV4().finditer(text, first, last):
        octets = [int(group) for group in match.groups()]
        before = text[max(0, match.start() - _NEARBY_CHARS) : match.start()]
        if _is_no_leak(octets) or match[0] in _PUBLIC_RESOLVERS or _VERSION_WORD().search(before):
            continue
        if max(octets) < _SMALL_OCTET and not _IP_WORD().search(before):
            continue
        yield match.start(), match.end(), IPV4


def _is_no_leak(octets: list[int]) -> bool:
    """Return True for private, loopback, link-local, shared, documentation and non-host addresses."""
    a, b, c, _ = octets
    # RFC 6890: 198.18 and 198.19 are of benchmarks, 224 and more are multicast or reserved.
    private = a in (0, 10, 127) or a >= 224 or (a, b) in ((192, 168), (169, 254), (198, 18), (198, 19))
    return (
        private
        or (a == 172 and 16 <= b <= 31)
        or (a == 100 and 64 <= b <= 127)  # RFC 6598: shared by the customers of a carrier
        or (a, b, c) in ((192, 0, 2), (198, 51, 100), (203, 0, 113))  # RFC 5737: documentation
    )


# A pattern that begins with a set of characters skips to them, one that begins with a lookbehind does not.
_IPV6 = lazy(r"[23](?<![A-Za-z0-9:.].)[0-9A-Fa-f]{3}(?::[0-9A-Fa-f]{0,4}){2,7}(?![A-Za-z0-9:])")


def _ipv6s(text: str) -> RawSpans:
    """Yield global unicast addresses (2000::/3) outside the documentation ranges."""
    for match in _IPV6().finditer(text):
        import ipaddress

        try:
            address = ipaddress.IPv6Address(match[0])
        except ValueError:
            continue
        if address.is_global:
            yield match.start(), match.end(), IPV6


# -- account numbers, sort codes and routing numbers, only next to a word that names them

_IS = r"\s{0,3}(?:is|was|are|:|=|-|\()?\s{0,3}[#:]?\s{0,3}"
_NOUN = r"(?:\s{0,3}(?:numbers?|nos?\.?|nr\.?|#|num\.?|code))?"
_BANK_DETAIL = lazy(
    rf"\b(?:account\s{{0,3}}(?:numbers?|no\.?|nr\.?|#|num\.?)|acct\b\.?{_NOUN}|a/c{_NOUN}"
    rf"|bank\s+acc(?:oun)?t)"
    rf"(?:\s{{1,3}}ending)?{_IS}(?P<account>[0-9](?:[ -]?[0-9]){{7,16}})(?![A-Za-z0-9])(?!\.[0-9])"
    rf"|\bsort\s{{0,2}}-?codes?{_NOUN}{_IS}(?P<sort>[0-9]{{2}}(?P<sep>[ -]?)[0-9]{{2}}(?P=sep)[0-9]{{2}})"
    rf"(?![A-Za-z0-9])"
    rf"|\b(?:routing|aba|rtn|transit)(?:\s{{1,3}}(?:transit|routing))?{_NOUN}{_IS}(?P<routing>[0-9]{{9}})"
    rf"(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_BANK_KINDS = {"account": ACCOUNT, "sort": SORT_CODE, "routing": ROUTING}


def _bank_details(text: str) -> RawSpans:
    for match in _BANK_DETAIL().finditer(text):
        name = next(name for name in _BANK_KINDS if match[name])
        if name != "routing" or is_routing_number(match[name]):
            yield match.start(name), match.end(name), _BANK_KINDS[name]


# -- UK national insurance numbers

_INSURANCE = lazy(
    r"(?<![A-Za-z0-9])(?!BG|GB|KN|NK|NT|TN|ZZ)(?:QQ|[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z])"
    r" ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D](?![A-Za-z0-9])",
    re.IGNORECASE,
)
"""With the prefixes that are in use, and QQ of the examples of the tax office."""
_INSURANCE_WORD = lazy(r"\bnational\s+insurance|\bnino?\b|\bN\.?I\.?(?:\s+(?:number|no)\b)", re.IGNORECASE)


def _insurance_numbers(text: str) -> RawSpans:
    """Yield numbers with a prefix that exists: in capitals and groups, or next to a word that names them."""
    for match in _INSURANCE().finditer(text):
        is_grouped = match[0].count(" ") >= 3 and match[0].isupper()
        if is_grouped or _INSURANCE_WORD().search(
            text[max(0, match.start() - _NEARBY_CHARS) : match.start()]
        ):
            yield match.start(), match.end(), INSURANCE


# -- identity documents, only next to a word that names them

_NUMBER_OF = r"(?:\s{0,3}(?:card|book))?\s{0,3}(?:numbers?|no\.?|nr\.?|#|id)?\s{0,3}(?:is|was|:|=|-|\()?\s{0,3}[#:]?\s{0,3}"  # noqa: E501
_DOCUMENT = lazy(
    rf"\bpassports?{_NUMBER_OF}(?P<passport>[A-Z]{{1,2}}[0-9]{{6,8}}|[0-9]{{9}})(?![A-Za-z0-9])"
    rf"|\bdriv(?:er'?s?|er’s|ing)\s+licen[cs]e{_NUMBER_OF}(?P<licence>[A-Z]{{1,2}}[0-9]{{6,12}}|[A-Z][0-9]{{3}}(?:-[0-9]{{3,4}}){{2,3}}|[0-9]{{7,9}})"
    rf"(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_DOCUMENT_KINDS = {"passport": PASSPORT, "licence": LICENCE}


def _identity_documents(text: str) -> RawSpans:
    for match in _DOCUMENT().finditer(text):
        name = match.lastgroup or ""
        yield match.start(name), match.end(name), _DOCUMENT_KINDS[name]
