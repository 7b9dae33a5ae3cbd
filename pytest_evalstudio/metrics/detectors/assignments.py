"""Passwords and keys that are assigned to a name, and random values under any name.

A password or key is recognised by the name of what it is assigned to. Placeholders (`<password>`, `****`,
`${VAR}`, `your-key`, `changeme`, a call, a type) are not secrets.
"""

from __future__ import annotations

import re

from pytest_evalstudio.metrics.detectors.spans import RawSpans, lazy
from pytest_evalstudio.metrics.detectors.tokens import is_dummy

PASSWORD = "password"
CREDENTIAL = "API key or token"

_NAMES = ("pass", "pwd", "secret", "token", "key", "credential")
_TYPE = r"(?:\s{0,2}:)?\s{1,2}(?:&?str|string|String|Optional\[str\]|char\s{0,2}\*)(?=\s{0,4}[:=])"
"""Type of a declaration between the name and the assignment, e.g. `token: str = "..."`."""
_ASSIGNMENT = lazy(
    r"(?:(?P<password>passwords?|passwd|passphrase|pwd|pass(?=[\"'`]?\s{0,4}[:=]))|(?P<key>key|secret|token|credentials?))"
    r"(?P<suffix>[_-](?:value|key|id|b64|base64|hash)|key|id|_?[0-9]{1,2})?"
    rf"[\"'`*\]]{{0,3}}(?:{_TYPE})?(?:(?P<operator>\s{{0,4}}(?::{{1,3}}=|=>|===?|[?.+|]{{1,2}}=|=(?!\s{{0,4}}\n)|:)\s{{0,4}}"
    r"|(?<=[\"'`])\s{0,2},\s{0,4}(?=[\"'`])|>\s{0,40}(?=[^\s<>]{12,500}\s{0,40}</))"
    r"|(?P<verb>\s{1,3}(?:is|was)(?:\s{1,3}now)?:?\s{1,3}))(?:[*_]{2}\s{0,3})?"
    r"(?:\"(?P<double>[^\"\n]{1,2000})\"|'(?P<single>[^'\n]{1,2000})'|`(?P<tick>[^`\n]{1,500})`|(?P<bare>[^\s\"'`,;<>()\[\]{}&|]{1,500}"
    # An ampersand is a part of the value, unless the next parameter of an address begins there.
    r"(?:&(?![\w.;%-]{0,100}=)[^\s\"'`,;<>()\[\]{}&|]{1,100}){0,4}))",
    re.IGNORECASE,
)
_QUALIFIER = lazy(
    r"(?:secret|api|access|account|auth|client|private|encryption|signing|master|refresh|session|service|storage|bearer|licen[cs]e|aws|azure"
    r"|openai|h2o)[ _.-]?$",
    re.IGNORECASE,
)
_QUALIFIER_CHARS = 12  # the longest qualifier, "encryption", and a sign
_PLACEHOLDER = lazy(
    r"^(?:"
    r"(?P<char>.)(?P=char){0,40}|<.*>?|\$.*|%\w+%?|\{.*|\[.*|[*•.xX#_?-]+|"
    r"(?:your|my|the|some|an?|new|old|user|db|insert|enter|replace|put)?[\s_-]*(?:super)?[\s_-]*(?:secret|password|passwd|pwd|pass|passphrase|key|token|api[\s_-]?key|credentials?|value)"
    r"(?:[\s_-]*(?:here|goes[\s_-]*here|value))?|"
    r"your.*|change[\s_-]?me.*|replace[\s_-]?me.*|insert.*here|todo|tbd|none|null|nil|undefined|true|false|yes|no|empty|hidden|redacted|removed|masked|"
    r"placeholder.*|dummy|example|sample|test|str|string|text|bytes|int|bool|optional|required|n/a|"
    r"os\.(?:environ|getenv).*|process\.env.*|env\..*|config\..*|settings\..*|getenv.*|input|self\..*|args\..*|request\..*|"
    r"must|should|can|may|not|at|in|a|an|for|used|stored|sent|set|wrong|incorrect|invalid|correct|case-sensitive|expired"
    r")$",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """Return True for a value that stands for a secret.

    >>> is_placeholder("${DB_PASSWORD}"), is_placeholder("Tr0ub4dor&3")
    (True, False)
    """
    return _PLACEHOLDER().match(value) is not None


_MIN_PASSWORD = 4
_MIN_KEY = 12


def assignment_spans(text: str, lower: str) -> RawSpans:
    """Yield values assigned to names such as "password" or "key"; `lower` has the same length as the text."""
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            match = _ASSIGNMENT().match(text, at)
            if match and _is_name(text, at, match):
                start, end = _value_span(text, match)
                if start < end and _looks_secret(text[start:end], match) and not _is_count(text, match):
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
    prefix = text[max(0, at - _QUALIFIER_CHARS) : at]
    if _QUALIFIER().search(prefix):
        return True
    if _PUBLIC().search(prefix):
        return False
    before = text[max(0, at - 1) : at]
    begins_word = not before.isalpha() or (before.islower() and match["key"][0].isupper())  # dropboxToken
    if match["key"].lower() == "key":
        return _names_service_key(prefix, text[match.start() : match.end()])
    return begins_word


_PAGE = r"next|page|pagination|tinuation|sync"
"""Words before the token of the next part of a list, "continuation" cut to the length of the prefix."""
_PUBLIC = lazy(rf"(?:public|csrf|xsrf|{_PAGE})[ _.-]?$", re.IGNORECASE)
_OTHER_KEY = lazy(
    r"(?:primary|foreign|unique|public|sort|partition|hash|cache|object|row|idempotency|lookup|message|metric"
    r"|group|turn|mon|don|tur|hot|wild|short|pub|host|index|composite|natural|join|routing|translation|i18n"
    r"|test|case)[ _.-]?$",
    re.IGNORECASE,
)
_SERVICE_KEY = lazy(
    r"key(?:_?[0-9]{1,2})?[\"'`]{0,3}(?:\s{0,4}(?::{1,3}=|=>|==?|[?.]=|:)\s{0,4}|\s{1,3}(?:is|was):?\s{1,3})(?P<quote>[\"'`]?)"
    r"(?P<value>(?=[A-Za-z_+/=-]{0,80}[0-9])(?=[0-9_+/=-]{0,80}[A-Za-z])[A-Za-z0-9_+/=-]{20,200})(?P=quote)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_NAMED_BY_WORD = lazy(r"[A-Za-z0-9]{3} $")
_MIN_KEY_DISTINCT = 10
_CHANGE = lazy(r"[A-Za-z](?=[0-9])|[0-9](?=[A-Za-z])")
_MIN_CHANGES = 3
"""Changes between letters and digits of a random value; `build-cache-node18-v2` has two."""
_DIGEST = lazy(r"[0-9a-f-]+", re.IGNORECASE)
"""Hexadecimal digits, also of a UUID."""


def _names_service_key(before: str, assignment: str) -> bool:
    """Return True for the key of a service, e.g. `braintreeKey = "..."`, by its random value.

    A "key" that no word precedes, with hexadecimal digits, is a digest or an identifier as often as a secret.
    """
    match = _SERVICE_KEY().match(assignment)
    if match is None or _OTHER_KEY().search(before):
        return False
    is_named = before[-1:].isalnum() or before.endswith(("_", "-", ".")) or _NAMED_BY_WORD().search(before)
    value = match["value"]
    if not is_named and _DIGEST().fullmatch(value):
        return False
    return is_random(value)


def is_random(value: str) -> bool:
    """Return True for a value whose letters and digits alternate as those of keys do.

    >>> is_random("k3wfhz2j3w8cew2nwxzm"), is_random("build-cache-node18-v2")
    (True, False)
    """
    return len(set(value)) >= _MIN_KEY_DISTINCT and len(_CHANGE().findall(value)) >= _MIN_CHANGES


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the span of the value; empty if the value is a call or an index."""
    group = match.lastgroup or "bare"
    start, end = match.span(group)
    if group == "bare":
        if end < len(text) and text[end] in "([{":
            return start, start
        end = start + len(match[group].rstrip(".:!?*_"))
    return start, end


_OTHER_COUNT = lazy(
    r"(?<![a-z])(?:x?fail|skip|error|warn)[a-z]{0,5}[\"'`]?\s{0,4}[:=]\s{0,4}[0-9]", re.IGNORECASE
)
_NEIGHBOUR_CHARS = 60


def _is_count(text: str, match: re.Match[str]) -> bool:
    """Return True for a number of passed tests, e.g. `PASS=1204 FAIL=3`, but not for `DB_PASS=1204`."""
    start, end = _value_span(text, match)
    if (match["password"] or "").lower() != "pass" or not text[start:end].isdecimal():
        return False
    before = text[max(0, match.start() - 1) : match.start()]
    if before.isalnum() or (before and before in "_-."):
        return False
    return _OTHER_COUNT().search(text[max(0, start - _NEIGHBOUR_CHARS) : end + _NEIGHBOUR_CHARS]) is not None


_FIELD_NAME = lazy(r"[a-z]{1,20}(?:_[a-z]{1,20}){1,4}_?[0-9]{1,2}")
"""Numbered name in a list of names, e.g. `"password", "address_line_1"`."""


def _looks_secret(value: str, match: re.Match[str]) -> bool:
    # A key that ends with an ellipsis is cut; a password may end a sentence.
    if is_placeholder(value) or is_dummy(value if match["password"] else match[match.lastgroup or "bare"]):
        return False
    quoted = match["bare"] is None
    digit = any(char.isdigit() for char in value)
    letter = any(char.isalpha() for char in value)
    symbol = any(not char.isalnum() and char not in "'’-_." for char in value)
    operator = (match["operator"] or "").strip()
    is_number = not letter and "=" not in operator
    if (match["password"] or "").lower() == "pass" and not (digit and letter) and (quoted or is_number):
        return False  # a verdict such as "pass": "8/10"
    if operator == "," and _FIELD_NAME().fullmatch(value):
        return False
    if operator in (",", ">") and (" " in value or not (digit and letter)):
        return False  # a list of names or texts, or the text of an element
    if match["password"]:
        mixed = (digit and letter) or (symbol and (digit or letter))
        if match["verb"]:
            return len(value) >= _MIN_PASSWORD and (mixed and (digit or quoted)) and " " not in value
        certain = "=" in operator or (quoted and " " not in value)
        return (
            len(value) >= _MIN_PASSWORD
            and (certain or mixed or (digit and len(value) > _MIN_PASSWORD))
            and not (" " in value and not digit)
        )
    return len(value) >= _MIN_KEY and digit and letter and " " not in value and "://" not in value


# -- random values under any name

_MIN_QUOTED, _MAX_QUOTED = 24, 200
_QUOTED = lazy(rf"[=:] ?(?P<quote>[\"'`])(?P<value>[A-Za-z0-9_-]{{{_MIN_QUOTED},{_MAX_QUOTED}}})(?P=quote)")
_NAME_BEFORE = lazy(r"[A-Za-z0-9_.-]{1,40}(?=[\"'`]? {0,3}:?$)")
_NAME_CHARS = 48  # the longest name that is read, its quote, blanks and sign
_PUBLIC_NAME = lazy(
    rf"^(?:public|csrf|xsrf).*|^value$|(?:{_PAGE})[_.-]?token$|"
    r"(?:id|ids|key|hash|sha[0-9]*|md5|digest|checksum|integrity|etag|cursor|nonce|signature|uu?id|guid|ur[il]|src|href|path|file|name"
    r"|conversation|thread|message|request|version|commit|rev|revision|slug|seed|answer|output|text|class|title|label|anchor|ref|auth)[0-9]*$",
    re.IGNORECASE,
)
_MIN_VALUE_DISTINCT = 14
_MIN_VALUE_CHANGES = 5


def _may_have_value(text: str, quote: str) -> bool:
    """Return False for most texts, faster than the pattern."""
    return any(_MIN_QUOTED <= len(part) <= _MAX_QUOTED and " " not in part for part in text.split(quote))


def random_value_spans(text: str) -> RawSpans:
    """Yield quoted values of both cases and digits that look random, whatever their name.

    Identifiers, digests and addresses look the same; their names tell them.
    """
    if not (
        ('"' in text and _may_have_value(text, '"'))
        or ("'" in text and _may_have_value(text, "'"))
        or ("`" in text and _may_have_value(text, "`"))
    ):
        return
    for match in _QUOTED().finditer(text):
        value = match["value"]
        if (
            len(set(value)) < _MIN_VALUE_DISTINCT
            or value.islower()
            or value.isupper()
            or len(_CHANGE().findall(value)) < _MIN_VALUE_CHANGES
            or is_dummy(value)
        ):
            continue
        name = _NAME_BEFORE().search(text[max(0, match.start() - _NAME_CHARS) : match.start()])
        if name and not _PUBLIC_NAME().search(name[0]):
            yield *match.span("value"), CREDENTIAL
