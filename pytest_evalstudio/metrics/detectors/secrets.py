"""Secrets, e.g. private keys, tokens of services, and passwords in assignments and URLs.

Detected are certificates and private keys, tokens of well-known services, product keys, and passwords in
assignments and URLs.

A token is recognised by its prefix and length. A password or key in an assignment is recognised by its name.
Placeholders (`<password>`, `****`, `${VAR}`, `your-key`, `changeme`, a call, a type) are not secrets.
"""

from __future__ import annotations

import re

from pytest_evalstudio.metrics.detectors.spans import Hit, RawSpan, RawSpans, lazy, merge_spans
from pytest_evalstudio.metrics.detectors.tokens import MIN_DISTINCT, is_dummy, token_spans

PRIVATE_KEY = "private key"
CERTIFICATE = "certificate"
JWT = "JSON web token"
PRODUCT_KEY = "Windows product key"
PASSWORD = "password"
URL_PASSWORD = "password in a URL"
CREDENTIAL = "API key or token"
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
    if "curl" in lower or "wget" in lower:
        result.extend(_command_passwords(text))
    if len(lower) != len(text):
        lower = text.translate(_ASCII_LOWER)
    result.extend(_assignments(text, lower))
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
    r"|\bwget\b[^\n|;]{0,300}?\s--(?:http-|ftp-|proxy-)?password(?:\s{1,3}|=)[\"']?(?P<wget>[^\s\"']{3,200})",
    re.IGNORECASE,
)


def _authorizations(text: str) -> RawSpans:
    for match in _AUTHORIZATION().finditer(text):
        value = match["token"]
        if (
            not _PLACEHOLDER().match(value)
            and not is_dummy(value)
            and len(set(value.lower())) >= MIN_DISTINCT
        ):
            yield *match.span("token"), BEARER


def _command_passwords(text: str) -> RawSpans:
    for match in _COMMAND_PASSWORD().finditer(text):
        name = "curl" if match["curl"] else "wget"
        if not _PLACEHOLDER().match(match[name]):
            yield *match.span(name), PASSWORD


# -- PEM

_PEM_BEGIN = lazy(r"-----BEGIN (?P<label>[A-Z0-9 ]{0,40}?(?:CERTIFICATE|PRIVATE KEY(?: BLOCK)?))-----")
_PEM_END = lazy(r"-----END [A-Z0-9 ]{1,60}-----")
_PEM_LINES = lazy(r"(?:\s|\\[rn])*(?:[A-Za-z0-9+/]{16,}={0,2}(?:\s|\\[rn])*)+")
_PEM_MAX_CHARS = 65_536  # a key of 16,384 bits takes 13,000
_PEM_MIN_BODY = 8
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


# -- passwords and keys by their name

_NAMES = ("pass", "pwd", "secret", "token", "key", "credential")
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_TYPE = r"(?:\s{0,2}:)?\s{1,2}(?:&?str|string|String|Optional\[str\]|char\s{0,2}\*)(?=\s{0,4}[:=])"
"""Type of a declaration between the name and the assignment, e.g. `token: str = "..."`."""
_ASSIGNMENT = lazy(
    r"(?:(?P<password>passwords?|passwd|passphrase|pwd|pass(?=[\"'`]?\s{0,4}[:=]))|(?P<key>key|secret|token|credentials?))"
    r"(?P<suffix>[_-](?:value|key|id|b64|base64|hash)|key|id)?"
    rf"[\"'`*]{{0,3}}(?:{_TYPE})?(?:(?P<operator>\s{{0,4}}(?::{{1,3}}=|=>|===?|[?.+|]{{1,2}}=|=(?!\s{{0,4}}\n)|:)\s{{0,4}}"
    r"|(?<=[\"'`])\s{0,2},\s{0,4}(?=[\"'`])|>\s{0,40}(?=[^\s<>]{12,500}\s{0,40}</))"
    r"|(?P<verb>\s{1,3}(?:is|was)(?:\s{1,3}now)?:?\s{1,3}))(?:[*_]{2}\s{0,3})?"
    r"(?:\"(?P<double>[^\"\n]{1,500})\"|'(?P<single>[^'\n]{1,500})'|`(?P<tick>[^`\n]{1,500})`|(?P<bare>[^\s\"'`,;<>()\[\]{}&|]{1,500}))",
    re.IGNORECASE,
)
_QUALIFIER = lazy(
    r"(?:secret|api|access|account|auth|client|private|encryption|signing|master|refresh|session|service|storage|bearer|licen[cs]e|aws|azure"
    r"|openai|h2o)[ _.-]?$",
    re.IGNORECASE,
)
_QUALIFIER_CHARS = 12
_PLACEHOLDER = lazy(
    r"^(?:"
    r"<.*>?|\$.*|%\w+%?|\{.*|\[.*|[*•.xX#_?-]+|"
    r"(?:your|my|the|some|an?|new|old|user|db|insert|enter|replace|put)?[\s_-]*(?:super)?[\s_-]*(?:secret|password|passwd|pwd|pass|passphrase|key|token|api[\s_-]?key|credentials?|value)"
    r"(?:[\s_-]*(?:here|goes[\s_-]*here|value))?|"
    r"your.*|change[\s_-]?me.*|replace[\s_-]?me.*|insert.*here|todo|tbd|none|null|nil|undefined|true|false|yes|no|empty|hidden|redacted|removed|masked|"
    r"placeholder.*|dummy|example|sample|test|str|string|text|bytes|int|bool|optional|required|n/a|"
    r"os\.(?:environ|getenv).*|process\.env.*|env\..*|config\..*|settings\..*|getenv.*|input|self\..*|args\..*|request\..*|"
    r"must|should|can|may|not|at|in|a|an|for|used|stored|sent|set|wrong|incorrect|invalid|correct|case-sensitive|expired"
    r")$",
    re.IGNORECASE,
)
_MIN_PASSWORD = 4
_MIN_KEY = 12


def _assignments(text: str, lower: str) -> RawSpans:
    """Yield values assigned to names such as "password" or "key"; `lower` has the same length as the text."""
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            match = _ASSIGNMENT().match(text, at)
            if match and _is_name(text, at, match):
                start, end = _value_span(text, match)
                if start < end and _looks_secret(text[start:end], match):
                    yield start, end, PASSWORD if match["password"] else CREDENTIAL
                    at = end
            at = lower.find(name, at + 1)


def _is_name(text: str, at: int, match: re.Match[str]) -> bool:
    """Return True if the word and its prefix name a secret.

    api_key and clientSecret do, monkey and primary key do not.
    """
    if match["password"]:
        return True
    if match["key"].lower().startswith("credential") and "id" in (match["suffix"] or "").lower():
        return False  # the name of a stored credential
    if _QUALIFIER().search(text[max(0, at - _QUALIFIER_CHARS) : at]):
        return True
    before = text[max(0, at - 1) : at]
    begins_word = not before.isalpha() or (before.islower() and match["key"][0].isupper())  # dropboxToken
    if match["key"].lower() == "key":
        return _names_service_key(text[max(0, at - _QUALIFIER_CHARS) : at], text[match.start() : match.end()])
    return begins_word


_OTHER_KEY = lazy(
    r"(?:primary|foreign|unique|public|sort|partition|hash|cache|object|row|idempotency|lookup|message|metric"
    r"|group|turn|mon|don|tur|hot|wild|short|pub|host|index|composite|natural|join|routing|translation|i18n"
    r"|test|case)[ _.-]?$",
    re.IGNORECASE,
)
_SERVICE_KEY = lazy(
    r"key[\"'`]{0,3}\s{0,4}(?::{1,3}=|=>|==?|[?.]=|:)\s{0,4}(?P<quote>[\"'`]?)"
    r"(?P<value>(?=[A-Za-z]{0,80}[0-9])(?=[0-9]{0,80}[A-Za-z])[A-Za-z0-9_+/=-]{20,200})(?P=quote)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_MIN_KEY_DISTINCT = 10
_DIGEST = lazy(r"[0-9a-f-]+", re.IGNORECASE)
"""Hexadecimal digits, also of a UUID."""


def _names_service_key(before: str, assignment: str) -> bool:
    """Return True for the key of a service, e.g. `braintreeKey = "..."`, by its random value.

    A bare "key" with hexadecimal digits is a digest or an identifier as often as a secret.
    """
    match = _SERVICE_KEY().match(assignment)
    if match is None or _OTHER_KEY().search(before):
        return False
    is_named = before[-1:].isalnum() or before.endswith(("_", "-", "."))
    if not is_named and _DIGEST().fullmatch(match["value"]):
        return False
    return len(set(match["value"])) >= _MIN_KEY_DISTINCT


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the value; empty if the value is a call or an index."""
    group = match.lastgroup or "bare"
    start, end = match.span(group)
    if group == "bare":
        if end < len(text) and text[end] in "([{":
            return start, start
        end = start + len(match[group].rstrip(".:!?*_"))
    return start, end


def _looks_secret(value: str, match: re.Match[str]) -> bool:
    if _PLACEHOLDER().match(value) or is_dummy(value):
        return False
    quoted = match["bare"] is None
    digit = any(char.isdigit() for char in value)
    letter = any(char.isalpha() for char in value)
    symbol = any(not char.isalnum() and char not in "'’-_." for char in value)
    if (match["password"] or "").lower() == "pass" and quoted and not (digit and letter):
        return False  # a verdict such as "pass": "8/10"
    if (match["operator"] or "").strip() in (",", ">") and not (digit and letter):
        return False  # a list of names, or the text of an element
    if match["password"]:
        mixed = (digit and letter) or (symbol and (digit or letter))
        if match["verb"]:
            return len(value) >= _MIN_PASSWORD and (mixed and (digit or quoted)) and " " not in value
        certain = "=" in match["operator"] or (quoted and " " not in value)
        return (
            len(value) >= _MIN_PASSWORD
            and (certain or mixed or (digit and len(value) > _MIN_PASSWORD))
            and not (" " in value and not digit)
        )
    return len(value) >= _MIN_KEY and digit and letter and " " not in value and "://" not in value


_URL_PASSWORD = lazy(
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s/:@?#\"'<>]{0,100}:(?P<password>[^\s/@\"'<>]{1,200})@[A-Za-z0-9\[]"
)


def _url_passwords(text: str) -> RawSpans:
    for match in _URL_PASSWORD().finditer(text):
        if not _PLACEHOLDER().match(match["password"]):
            yield *match.span("password"), URL_PASSWORD
