"""Replies whose form is wrong: texts that are no JSON, and JSON with one part replaced or left out."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from support.service import Response

BODIES = {
    "half": b'{"broken": ',
    "list": b"[1, 2]",
    "object": b"{}",
    "null": b"null",
    "number": b"5",
    "text": b'"text"',
    "bytes": b"\xff\xfe\x00",
    "empty": b"",
    "page": b"<!DOCTYPE html><html><title>Sign in</title></html>",
}
VALUES: tuple[Any, ...] = (None, 5, "x", [], {}, [None], {"x": 1})


def replies(reply: Response, values: Sequence[Any] = VALUES) -> Iterator[tuple[str, Response]]:
    """Yield malformed replies with their names.

    Args:
        reply: the right one.
        values: in place of each part of it.
    """
    head = {"status": reply.status, "headers": reply.headers}
    for name, body in BODIES.items():
        yield name, Response(body, **{**head, "headers": {**head["headers"], **_type_of(name)}})
    if reply.parts:
        for index, part in enumerate(reply.parts):
            prefix, _, text = part.decode().rpartition("data: ")
            start = prefix + "data: " if b"data: " in part else ""
            for name, document in _changed(text, values):
                changed = f"{start}{document}\n\n" if start else f"{document}\n"
                parts = [*reply.parts[:index], changed.encode(), *reply.parts[index + 1 :]]
                yield f"part {index} {name}", Response(parts=parts, **head)
    elif not isinstance(reply.body, bytes):
        for name, document in _changed(json.dumps(reply.body), values):
            body = json.loads(document) if isinstance(reply.body, list) else document.encode()
            yield name, Response(body, **head)


def _type_of(name: str) -> dict[str, str]:
    return {"Content-Type": "text/html"} if name == "page" else {}


def _changed(text: str, values: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yield a JSON text with each of its parts left out, and replaced by each value."""
    try:
        document = json.loads(text)
    except ValueError:
        return
    for path in _paths(document):
        name = "/".join(map(str, path))
        yield f"{name} left out", json.dumps(_replaced(document, path, remove=True))
        for value in values:
            yield f"{name} = {json.dumps(value)}", json.dumps(_replaced(document, path, value))


def _paths(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, value in items:
        yield (*path, key)
        yield from _paths(value, (*path, key))


def _replaced(document: Any, path: tuple[Any, ...], value: Any = None, *, remove: bool = False) -> Any:
    changed = copy.deepcopy(document)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    if remove:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return changed
