"""JSON by orjson for speed, with the standard library as a fallback for what orjson refuses.

orjson refuses half a surrogate pair, which is read as U+FFFD, and integers beyond 64 bits. Do not use it for
values with NaN or infinities, which orjson writes as null.
"""

from __future__ import annotations

import json

import orjson

from pytest_evalstudio.text.unicode import valid_json_bytes


def read(text: bytes | str) -> object:
    r"""Parse a JSON text.

    Raises:
        ValueError: if it is not valid JSON.

    >>> read('["\\ud83d"]')
    ['�']
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        plain = valid_json_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        return json.loads(plain)


def written(value: object) -> bytes:
    r"""Return a value as UTF-8 JSON without spaces; half a surrogate pair becomes its escape.

    >>> written({"a": ["\ud83d", None]})
    b'{"a":["\\ud83d",null]}'
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")
