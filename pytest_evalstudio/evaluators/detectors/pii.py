"""Formatted personal data: payment cards, social security numbers, e-mail addresses, phones, IBANs, IP
addresses, identity papers.

Numbers are judged by what their format lets one check (issuer and Luhn digit, mod 97, valid ranges), so that
references, ISBNs, dates, UUIDs and prices stay. What has no telling format (a bare nine-digit number, a
passport number) counts only beside a word that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_evalstudio.evaluators.detectors.hits import Hit, lazy, merged

CARD = "payment card number"
SSN = "US social security number"
EMAIL = "e-mail address"
IBAN = "IBAN"
PHONE = "phone number"
IPV4 = "IPv4 address"
IPV6 = "IPv6 address"
PASSPORT = "passport number"
LICENCE = "driver's licence number"
INSURANCE = "UK national insurance number"

Spans = Iterator[tuple[int, int, str]]

_NEARBY_CHARS = 40
_WINDOW_CHARS = 48
"""More than any number below is long, so that none is cut by its window."""
_H = "[-‐‑–]"
"""Hyphens as models write them: ASCII, U+2010, non-breaking U+2011, en dash."""

# Nine digits in a row with at most two separators between any two of them, or a dotted quad: nothing below
# needs less.
_ENOUGH_DIGITS = re.compile(
    r"[0-9](?:(?:[ ./()‐‑–-]{0,2}[0-9]){8,}|[0-9]{0,2}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9])"
)


def find_pii(text: str) -> list[Hit]:
    """Personal data in a text that would be a leak.

    E-mail addresses of domains reserved for examples (example.com, *.test, *.invalid, localhost …), private,
    loopback and documentation IP ranges and the large public resolvers are not leaks; well-known test card
    numbers are, since nothing tells them from real ones.

    Args:
        text: any text; time is linear in its length.

    Returns:
        Hits in order of place, none overlapping another.

    >>> [(hit.kind, hit.masked) for hit in find_pii("Her SSN is 219-09-9999.")]
    [('US social security number', '***-**-****')]
    """
    return merged(text, spans(text))


def spans(text: str, lower: str = "", reserved: bool = False) -> list[tuple[int, int, str]]:
    """(start, end, kind) of everything found, in no order; with `reserved`, addresses of example domains too.

    `lower` is the text in lower case where the caller has it.
    """
    found: list[tuple[int, int, str]] = []
    if "@" in text:
        found.extend(_emails(text, reserved))
    for start, end in _numeric_windows(text):
        for find in (_cards, _ssns, _phones, _ibans, _ipv4s):
            found.extend(find(text, start, end))
    if text.count(":") > 3:
        found.extend(_ipv6s(text))
    lower = lower or text.lower()
    if "passport" in lower or "licen" in lower or "national insurance" in lower:
        found.extend(_papers(text))
    return found


def _numeric_windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches around long runs of digits; those that touch are one."""
    first, last = 0, 0
    for found in _ENOUGH_DIGITS.finditer(text):
        if found.start() - _WINDOW_CHARS > last:
            if last:
                yield first, last
            first = max(0, found.start() - _WINDOW_CHARS)
        last = found.end() + _WINDOW_CHARS
    if last:
        yield first, last


def _each(pattern: re.Pattern[str], text: str, first: int, last: int) -> Iterator[re.Match[str]]:
    """Matches that may overlap, one per place where a number begins: of a row of numbers any stretch may be
    what is looked for.
    """
    found = pattern.search(text, first, last)
    while found:
        yield found
        found = pattern.search(text, found.start() + 1, last)


# -- payment cards

_CARD = lazy(
    rf"(?<![A-Za-z0-9])(?<![0-9][.‐‑–-])"
    rf"(?:[0-9]{{4}}(?P<sep>[ .]|{_H})[0-9]{{4}}(?P=sep)[0-9]{{4}}(?P=sep)[0-9]{{4}}(?:(?P=sep)[0-9]{{1,3}})?"
    rf"|3[0-9]{{3}}(?P<amex>[ .]|{_H})[0-9]{{6}}(?P=amex)[0-9]{{4,5}}"
    rf"|[0-9]{{13,19}})"
    rf"(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
_FOURS_BEFORE = lazy(r"(?<![0-9])(?:[0-9]{4} )+\Z")
_FOURS_AFTER = lazy(r"(?: [0-9]{4}(?![0-9]))+")
_ROW_CHARS = 200
_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def _cards(text: str, first: int, last: int) -> Spans:
    for found in _each(_CARD(), text, first, last):
        digits = "".join(char for char in found[0] if char.isdecimal())
        if is_card_number(digits) and (
            found["sep"] != " " or not _in_a_table(text, found.start(), found.end())
        ):
            yield found.start(), found.end(), CARD


def _in_a_table(text: str, start: int, end: int) -> bool:
    """Whether four groups of four digits are a stretch of a longer row of such, which is not card after card.

    Cards in a row begin every fourth group from this one; up to three other groups may stand before and
    behind them.
    """
    before = _FOURS_BEFORE().search(text, max(0, start - _ROW_CHARS), start)
    after = _FOURS_AFTER().match(text, end, end + _ROW_CHARS)
    ahead = before[0].split() if before else []
    groups = [*ahead, *text[start:end].split(), *(after[0].split() if after else [])]
    if len(groups) <= 8:
        return False
    return not all(
        is_card_number("".join(groups[place : place + 4]))
        for place in range(len(ahead) % 4, len(groups) - 3, 4)
    )


def is_card_number(digits: str) -> bool:
    """Whether an issuer numbers cards so: prefix and length are in use and the Luhn digit is right.

    Args:
        digits: nothing but ASCII digits.

    Source: ISO/IEC 7812-1; prefixes of Visa, Mastercard, American Express, Discover, Diners Club, JCB,
        UnionPay, Maestro, Mir.

    >>> is_card_number("4111111111111111"), is_card_number("4111111111111112")
    (True, False)
    """
    return len(digits) in _issuer_lengths(digits) and luhn(digits) and len(set(digits)) > 1


def _issuer_lengths(digits: str) -> range | tuple[int, ...]:
    two, three, four = int(digits[:2]), int(digits[:3]), int(digits[:4])
    if digits[0] == "4":
        return (13, 16, 19)
    if 51 <= two <= 55 or 2221 <= four <= 2720 or 2200 <= four <= 2204:
        return (16,)
    if two in (34, 37):
        return (15,)
    if 300 <= three <= 305 or two in (36, 38, 39):
        return (14, 16)
    if four == 6011 or 644 <= three <= 649 or two in (62, 65) or 3528 <= four <= 3589:
        return range(16, 20)
    if four in (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763):
        return range(13, 20)
    return ()


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others.

    Source: ISO/IEC 7812-1, annex B.

    >>> luhn("79927398713"), luhn("79927398710")
    (True, False)
    """
    total = sum(int(char) for char in digits[-1::-2]) + sum(_DOUBLED[int(char)] for char in digits[-2::-2])
    return total % 10 == 0


# -- social security numbers

_SSN = lazy(
    r"(?<![A-Za-z0-9])(?<![0-9][.‐‑–-])(?!000|666|9)[0-9]{3}(?P<sep>["
    rf" .]?|{_H})(?!00)[0-9]{{2}}(?P=sep)(?!0000)[0-9]{{4}}"
    rf"(?![A-Za-z0-9])(?![.‐‑–-][0-9])"
)
_SSN_WORD = lazy(r"\bSSNs?\b|social.?security", re.IGNORECASE)


def _ssns(text: str, first: int, last: int) -> Spans:
    for found in _each(_SSN(), text, first, last):
        separator = found["sep"]
        formatted = separator not in ("", ".", " ") or (
            separator == " " and not _in_a_row_of_numbers(text, found.start(), found.end())
        )
        if formatted or _SSN_WORD().search(_around(text, found.start(), found.end())):
            yield found.start(), found.end(), SSN


def _in_a_row_of_numbers(text: str, start: int, end: int) -> bool:
    """Whether numbers stand right before or after, as in a table."""
    before, after = text[max(0, start - 2) : start].rstrip(" \t|,;"), text[end : end + 2].lstrip(" \t|,;")
    return before[-1:].isdecimal() or after[:1].isdecimal()


def _around(text: str, start: int, end: int) -> str:
    return text[max(0, start - _NEARBY_CHARS) : start] + "\n" + text[end : end + _NEARBY_CHARS]


# -- e-mail addresses

_DOMAIN = lazy(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}(?P<tld>[^\W\d_]{2,24}|xn--[a-z0-9-]{2,30})(?![\w-])")
_RESERVED_DOMAIN = lazy(
    r"(?:^|\.)(?:example\.(?:com|org|net|edu)|example|test|invalid|localhost|local)$", re.IGNORECASE
)
_FILE_ENDINGS = frozenset(
    {"png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "ts", "py", "java", "html"}
)
_LOCAL_CHARS = frozenset("._%+-'")
_LOCAL_LIMIT = 64


def _emails(text: str, reserved: bool) -> Spans:
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN().match(text, at + 1)
        if domain and domain["tld"].lower() not in _FILE_ENDINGS:
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
    """Whether what stands before is `scheme://user:`, so that the "local part" is a password of a URL."""
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
    rf"\+(?:[2-9]|1(?![ .-]?[01]))[0-9]{{0,14}}(?:(?:[ .]|{_H})?\(0?[0-9]{{1,4}}\)(?:["
    rf" .]|{_H})?[0-9]{{1,12}})?(?:(?:[ .]|{_H})[0-9]{{1,12}}){{0,6}}"
    rf"|(?:1(?:[ .]|{_H}))?\([2-9][0-9]{{2}}\)(?:[ .]|{_H})?[0-9]{{3}}(?:[ .]|{_H})[0-9]{{4}}"
    rf"|(?:1(?:[ .]|{_H}))?[2-9][0-9]{{2}}(?P<sep>[ .]|{_H})[0-9]{{3}}(?P=sep)[0-9]{{4}}"
    rf")(?![A-Za-z0-9])(?!(?:\.|{_H})[0-9])"
)
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 8, 15
_PHONE_WORD = lazy(r"\b(?:phone|telephone|tel|call|mobile|cell|fax|whatsapp|sms|text)\b", re.IGNORECASE)
_REFERENCE_WORD = lazy(
    r"\b(?:ref|reference|order|invoice|ticket|case|claim|policy|account|acct|tracking|serial|part|model|item|sku|isbn|issn|doi|id|version)"
    r"(?:\s+(?:number|no|id|code))?\s*(?:\bis\b)?[\s.:#]*$",
    re.IGNORECASE,
)


def _phones(text: str, first: int, last: int) -> Spans:
    for found in _PHONE().finditer(text, first, last):
        start, end, shown = found.start(), found.end(), found[0]
        before = text[max(0, start - _NEARBY_CHARS) : start]
        if shown[0] == "+":
            shown = _first_number(shown)
            end = start + len(shown)
            accepted = sum(char.isdecimal() for char in shown) >= _MIN_PHONE_DIGITS and " 000" not in shown
        elif found["sep"] == " ":
            accepted = bool(_PHONE_WORD().search(before))
        else:
            accepted = not _REFERENCE_WORD().search(before)
        if accepted:
            yield start, end, PHONE


def _first_number(shown: str) -> str:
    """The text without the last groups of digits that make it longer than a number can be: they belong to
    what stands next.
    """
    while shown and sum(char.isdecimal() for char in shown) > _MAX_PHONE_DIGITS:
        shown = shown.rstrip("0123456789")[:-1]
    return shown


# -- IBANs

_IBAN = lazy(
    r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
_IBAN_LENGTHS = {
    country: int(length)
    for length, countries in {
        "15": "NO", "16": "BE", "18": "DK FI FO GL NL SD", "19": "MK SI", "20": "AT BA EE KZ LT LU XK", "21": "CH HR LI LV",  # noqa: E501
        "22": "BG BH CR DE GB GE IE ME RS VA", "23": "AE GI IL IQ OM SO TL", "24": "AD CZ ES MD PK RO SA SE SK TN VG",  # noqa: E501
        "25": "LY PT ST", "26": "IS TR", "27": "BI DJ FR GR IT MC MR SM", "28": "AL AZ BY CY DO GT HU LB NI PL SV",  # noqa: E501
        "29": "BR EG PS QA UA", "30": "JO KW MU", "31": "MT SC", "32": "LC", "33": "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip


def _ibans(text: str, first: int, last: int) -> Spans:
    for found in _IBAN().finditer(text, first, last):
        length = _IBAN_LENGTHS.get(found[0][:2], 0)
        end = found.start()
        compact = ""
        for char in found[0]:
            if len(compact) == length:
                break
            compact += char if char.isalnum() else ""
            end += 1
        if len(compact) == length and length and not text[end : end + 1].isalnum() and is_iban(compact):
            yield found.start(), end, IBAN


def is_iban(compact: str) -> bool:
    """Whether an account number without blanks has the length of its country and the right check digits.

    Source: ISO 13616, ISO/IEC 7064 (mod 97-10).

    >>> is_iban("GB29NWBK60161331926819"), is_iban("GB28NWBK60161331926819")
    (True, False)
    """
    if len(compact) != _IBAN_LENGTHS.get(compact[:2], 0):
        return False
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


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
_SMALL_OCTET = 64
_PUBLIC_RESOLVERS = frozenset({"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9"})


def _ipv4s(text: str, first: int, last: int) -> Spans:
    for found in _IPV4().finditer(text, first, last):
        octets = [int(group) for group in found.groups()]
        before = text[max(0, found.start() - _NEARBY_CHARS) : found.start()]
        if _is_no_leak(octets) or found[0] in _PUBLIC_RESOLVERS or _VERSION_WORD().search(before):
            continue
        if max(octets) < _SMALL_OCTET and not _IP_WORD().search(before):
            continue
        yield found.start(), found.end(), IPV4


def _is_no_leak(octets: list[int]) -> bool:
    """Whether the address is private, loopback, link-local, shared, for documentation, or no host's at
    all.
    """
    a, b, c, _ = octets
    private = a in (0, 10, 127) or a >= 224 or (a, b) in ((192, 168), (169, 254), (198, 18), (198, 19))
    return (
        private
        or (a == 172 and 16 <= b <= 31)
        or (a == 100 and 64 <= b <= 127)
        or (a, b, c) in ((192, 0, 2), (198, 51, 100), (203, 0, 113))
    )


_IPV6 = lazy(r"(?<![A-Za-z0-9:.])[23][0-9A-Fa-f]{3}(?::[0-9A-Fa-f]{0,4}){2,7}(?![A-Za-z0-9:])")


def _ipv6s(text: str) -> Spans:
    """Global unicast addresses (2000::/3) outside the documentation ranges; everything else is no leak."""
    for found in _IPV6().finditer(text):
        import ipaddress

        try:
            address = ipaddress.IPv6Address(found[0])
        except ValueError:
            continue
        if address.is_global:
            yield found.start(), found.end(), IPV6


# -- identity papers, only beside the word that names them

_NUMBER_OF = r"(?:\s{0,3}(?:card|book))?\s{0,3}(?:numbers?|no\.?|nr\.?|#|id)?\s{0,3}(?:is|was|:|=|-|\()?\s{0,3}[#:]?\s{0,3}"  # noqa: E501
_PAPER = lazy(
    rf"\bpassport{_NUMBER_OF}(?P<passport>[A-Z]{{1,2}}[0-9]{{6,8}}|[0-9]{{9}})(?![A-Za-z0-9])"
    rf"|\bdriv(?:er'?s?|er’s|ing)\s+licen[cs]e{_NUMBER_OF}(?P<licence>[A-Z]{{1,2}}[0-9]{{6,12}}|[A-Z][0-9]{{3}}(?:-[0-9]{{3,4}}){{2,3}}|[0-9]{{7,9}})"
    rf"(?![A-Za-z0-9])"
    rf"|\bnational\s+insurance{_NUMBER_OF}(?P<insurance>[A-Z]{{2}}\s?[0-9]{{2}}\s?[0-9]{{2}}\s?[0-9]{{2}}\s?[A-D])(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_PAPER_KINDS = {"passport": PASSPORT, "licence": LICENCE, "insurance": INSURANCE}


def _papers(text: str) -> Spans:
    for found in _PAPER().finditer(text):
        name = found.lastgroup or ""
        yield found.start(name), found.end(name), _PAPER_KINDS[name]
