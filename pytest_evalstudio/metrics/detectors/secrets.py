"""Secrets, e.g. private keys, tokens of services, and passwords in assignments and URLs.

Detected are certificates and private keys, tokens of well-known services, product keys, and passwords in
assignments and URLs.

A token is recognised by its prefix and length.
"""

from __future__ import annotations

import re

from pytest_evalstudio.metrics.detectors.assignments import (
    CREDENTIAL,
    PASSWORD,
    assignment_spans,
    is_placeholder,
    is_random,
    random_value_spans,
)
from pytest_evalstudio.metrics.detectors.spans import (
    Hit,
    RawSpan,
    RawSpans,
    lazy,
    merge_spans,
    spans_in_original,
)
from pytest_evalstudio.metrics.detectors.tokens import MIN_DISTINCT, is_dummy, token_spans

PRIVATE_KEY = "private key"
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
CERTIFICATE = "certificate"
JWT = "JSON web token"
PRODUCT_KEY = "Windows product key"
URL_PASSWORD = "password in a URL"
BEARER = "bearer token"


def find_secrets(text: str) -> list[Hit]:
    """Find secrets.

    Args:
        text: any text; time is linear in its length.

    Returns:
        Hits in order of position, none overlapping another; the hit of an assignment is its value.

    >>> [(hit.kind, hit.masked) for hit in find_secrets("log in with password = 'Tr0ub4dor&3'")]
    [('password', '*********&*')]
    """
    return merge_spans(text, spans(text))


def spans(text: str, lower: str = "") -> list[RawSpan]:
    """Return all spans of secrets, unordered and possibly overlapping.

    Args:
        text: any text; time is linear in its length.
        lower: the text in lower case, if the caller has computed it.

    Returns:
        Start, end and kind of each span.

    >>> spans("password: hunter2!")
    [(10, 17, 'password')]
    """
    return spans_in_original(text, plain_spans, lower)


def plain_spans(text: str, lower: str) -> list[RawSpan]:
    """Return the spans of a text whose look-alikes are folded; see `spans`."""
    result: list[RawSpan] = []
    result.extend(token_spans(text))
    if "-----BEGIN" in text:
        result.extend(_pem_blocks(text))
    if "eyJ" in text:
        result.extend(_jwts(text))
    if _KEY_MIDDLE.search(text):
        result.extend(_product_keys(text))
    if "://" in text and "@" in text:
        result.extend(_url_passwords(text))
    lower = lower or text.lower()
    if "bearer" in lower:
        result.extend((*match.span("token"), BEARER) for match in _BEARER().finditer(text))
    if "authorization" in lower:
        result.extend(_authorizations(text))
    if ">{" in text:
        result.extend(_element_secrets(text))
    if "curl" in lower or "docker" in lower or "wget" in lower:
        result.extend(_command_passwords(text))
    if len(lower) != len(text):
        lower = text.translate(_ASCII_LOWER)
    result.extend(assignment_spans(text, lower))
    result.extend(random_value_spans(text))
    return result


# -- authorization headers and command lines

_BEARER = lazy(
    r"\bbearer\s{1,3}(?P<token>(?=[A-Za-z._~+/=-]{0,80}[0-9])[A-Za-z0-9._~+/-]{20,2000}=*)", re.IGNORECASE
)

_AUTHORIZATION = lazy(
    r"\bauthorization[\"'`]{0,2}\s{0,3}[:=]\s{0,3}[\"'`]?(?:basic|bearer|token|apikey|api-key|bot|splunk|genie"
    r"key)\s{1,3}(?P<token>[A-Za-z0-9._~+/=-]{8,2000})",
    re.IGNORECASE,
)
_COMMAND_PASSWORD = lazy(
    r"\bcurl\b[^\n|;]{0,300}?\s(?:-u|--user|--proxy-user)(?:\s{1,3}|=)?[\"']?[^\s:\"']{1,100}:(?P<curl>[^\s\"'<>]{3,200})"
    r"|\bdocker\s{1,3}login\b[^\n|;]{0,300}?\s(?:-p|--password)(?:\s{1,3}|=)[\"']?(?P<docker>[^\s\"']{3,200})"
    r"|\bwget\b[^\n|;]{0,300}?\s--(?:http-|ftp-|proxy-)?password(?:\s{1,3}|=)[\"']?(?P<wget>[^\s\"']{3,200})",
    re.IGNORECASE,
)


def _authorizations(text: str) -> RawSpans:
    for match in _AUTHORIZATION().finditer(text):
        value = match["token"]
        if not is_placeholder(value) and not is_dummy(value) and len(set(value.lower())) >= MIN_DISTINCT:
            yield *match.span("token"), BEARER


def _command_passwords(text: str) -> RawSpans:
    for match in _COMMAND_PASSWORD().finditer(text):
        name = match.lastgroup or "curl"
        if not is_placeholder(match[name]):
            yield *match.span(name), PASSWORD


# -- elements of XML

_ELEMENT = lazy(
    r"(?:secret|password|passphrase|token|key)>\{(?P<value>[^{}<>\n]{16,4000})\}</", re.IGNORECASE
)
_ENCRYPTED = "AQAAABAAA"
"""Base64 of the header of a value that Jenkins encrypted."""
_RANDOM_WORD = lazy(r"[A-Za-z0-9+/=_.%-]{16,4000}")


def _element_secrets(text: str) -> RawSpans:
    """Yield the encrypted values of Jenkins, e.g. `<secret>{AQAAABAAAAAQ...}</secret>`."""
    for match in _ELEMENT().finditer(text):
        value = match["value"]
        if _ENCRYPTED in value or any(is_random(word[0]) for word in _RANDOM_WORD().finditer(value)):
            yield *match.span("value"), CREDENTIAL


# -- PEM

_PEM_BEGIN = lazy(r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}?(?:CERTIFICATE|PRIVATE KEY(?: BLOCK)?))-----")
_PEM_END = lazy(r"-----END [A-Z0-9 ]{1,60}-----")
_PEM_LINES = lazy(r"(?:\s|\\[rn])*(?:[A-Za-z0-9+/]{16,}={0,2}(?:\s|\\[rn])*)+")
_PEM_MAX_CHARS = 65_536  # a key of 16,384 bits takes 13,000
_PEM_MIN_BODY = 16
_DIGIT_OR_LETTER = re.compile(r"[A-Za-z0-9]")


def _pem_blocks(text: str) -> RawSpans:
    """Yield the PEM blocks with a body.

    A block without END ends with its last line; a header without a body is not a block.
    """
    ends = [match.span() for match in _PEM_END().finditer(text)]
    begins = list(_PEM_BEGIN().finditer(text))
    position = 0
    for number, match in enumerate(begins):
        kind = PRIVATE_KEY if "PRIVATE" in match["label"] else CERTIFICATE
        limit = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        limit = min(limit, match.end() + _PEM_MAX_CHARS)
        while position < len(ends) and ends[position][0] < match.end():
            position += 1
        if position < len(ends) and ends[position][0] <= limit:
            if (
                sum(1 for _ in _DIGIT_OR_LETTER.finditer(text, match.end(), ends[position][0]))
                >= _PEM_MIN_BODY
            ):
                yield match.start(), ends[position][1], kind
        else:
            body = _PEM_LINES().match(text, match.end(), limit)
            if body:
                yield match.start(), body.end(), kind


# -- JSON web tokens

_JWT = lazy(
    r"(?<![A-Za-z0-9-])(?<![A-Za-z0-9]_)(?P<header>eyJ[A-Za-z0-9_-]{8,2000})\.[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{0,2000}){0,3}"
)


def _jwts(text: str) -> RawSpans:
    import base64
    import json

    for match in _JWT().finditer(text):
        try:
            header = json.loads(base64.urlsafe_b64decode(match["header"] + "=" * (-len(match["header"]) % 4)))
        except (ValueError, RecursionError):
            continue
        if isinstance(header, dict) and "alg" in header:
            yield *match.span(), JWT


# -- Windows product keys

_KEY_MIDDLE = re.compile(r"-[A-Z0-9]{5}-[A-Z0-9]{5}-")
_PRODUCT_KEY = lazy(
    r"(?<![A-Za-z0-9])(?<![A-Z0-9]-)[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![A-Za-z0-9])(?!-[A-Z0-9])"
)


def _product_keys(text: str) -> RawSpans:
    for match in _PRODUCT_KEY().finditer(text):
        key = match[0]
        if any(char.isdigit() for char in key) and any(char.isalpha() for char in key):
            yield *match.span(), PRODUCT_KEY


# -- passwords in addresses

_URL_PASSWORD = lazy(
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s/:@?#\"'<>]{0,100}:(?P<password>[^\s/@\"'<>]{1,200})@[A-Za-z0-9\[]"
)


def _url_passwords(text: str) -> RawSpans:
    for match in _URL_PASSWORD().finditer(text):
        if not is_placeholder(match["password"]):
            yield *match.span("password"), URL_PASSWORD
