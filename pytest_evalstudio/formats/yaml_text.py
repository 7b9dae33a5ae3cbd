"""Reads YAML text into what JSON can hold.

Plain scalars are read as YAML 1.2 reads them, and only JSON's numbers are numbers: `yes`, `on`, `12:30:45`,
`0777`, `1_000` and dates are text, which YAML 1.1 turns into other values.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_evalstudio.core.errors import DataError

MAX_NODES = 500_000
"""Values that the aliases of a file may add; a few lines of nested aliases can expand to billions."""
MAX_DEPTH = 200
"""Deeper YAML is not composed: the C parser would exhaust the stack and take the process with it."""
_TAG = "tag:yaml.org,2002:"
_DIGITS = r"[-+]?(?:0|[1-9][0-9]*)"
_PLAIN = (
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("null", r"(?:~|null|Null|NULL|)$", "~nN\0"),
    ("int", rf"{_DIGITS}$", "-+0123456789"),
    (
        "float",
        rf"(?:{_DIGITS}(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9]+(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
        "-+0123456789.",
    ),
    ("merge", r"<<$", "<"),
)
"""Kinds of plain scalars: tag, pattern, first characters."""


_TOO_DEEP = "is nested too deeply to be read"
_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
"""As YAML 1.1 has them, after whose lines the reader counts."""


def load_yaml(text: str, name: str) -> object:
    """Return the value of a YAML text.

    Args:
        name: of the file, for messages.

    Raises:
        DataError: at the place where the text stops being YAML, or is nested or expanded beyond the limits.
    """
    import yaml

    loader = _loader(name)
    try:
        # On events, before a value is built: aliases expand only when the value is walked or copied.
        _check_size(text, name, loader)
        return yaml.load(text, Loader=loader)
    except yaml.MarkedYAMLError as exc:
        at = exc.problem_mark or exc.context_mark
        line, column = (at.line + 1, at.column + 1) if at else (0, 0)
        fault = f"is not YAML: {exc.problem or exc.context}"
        if at and _open_brackets(text[: at.index]) > MAX_DEPTH:
            fault = _TOO_DEEP  # the reader of PyYAML 6.0.4 is ahead of its events, and has a limit of its own
        raise DataError(fault, source=name, line=line, column=column) from None
    # TypeError: a list or object as a key has no hash. ValueError: an integer of too many digits for Python.
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as exc:
        raise DataError(
            f"is not YAML: {' '.join(str(exc).split()) or 'nested too deeply'}", source=name
        ) from None


def compose(text: str) -> object:
    """Return the root node of a YAML text that was read before; None for an empty one."""
    import yaml

    return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def locate(root: Any, steps: list[str]) -> tuple[int, int]:
    """Return line and column, from 1, of the value below a node, or of its nearest ancestor that exists."""
    node, _ = _nearest(root, steps)
    return (node.start_mark.line + 1, node.start_mark.column + 1) if node is not None else (0, 0)


def node_span(root: Any, steps: list[str], text: str) -> tuple[int, int] | None:
    """Return the beginning and the end of the value below a node as indices; None if there is none."""
    node, is_found = _nearest(root, steps)
    if node is None or not is_found:
        return None
    # Marks of the reader written in C count bytes of UTF-8 in `index`; line and column count characters.
    starts = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]
    start, end = (
        min(starts[min(mark.line, len(starts) - 1)] + mark.column, len(text))
        for mark in (node.start_mark, node.end_mark)
    )
    # A block ends where the next value begins: blanks and comments between them are not its own.
    return start, start + len(_without_trailing_comments(text[start:end]))


def _without_trailing_comments(text: str) -> str:
    lines = text.rstrip().split("\n")
    while len(lines) > 1 and lines[-1].lstrip().startswith("#"):
        lines.pop()
    return "\n".join(lines).rstrip()


def _nearest(root: Any, steps: list[str]) -> tuple[Any, bool]:
    """Return the node at a path, else its nearest ancestor, and whether it is the node itself."""
    import yaml

    node = root
    for step in steps:
        child = None
        if isinstance(node, yaml.MappingNode):
            child = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
            child = node.value[int(step)]
        if child is None:
            return node, False
        node = child
    return node, True


def node_lines(
    node: Any, steps: Sequence[str], at: tuple[object, ...] = ()
) -> Iterator[tuple[tuple[object, ...], int]]:
    """Yield path and line, from 1, of all values below a node that match the steps; "*" is each element."""
    import yaml

    if not steps:
        yield at, node.start_mark.line + 1
    elif steps[0] == "*" and isinstance(node, yaml.SequenceNode):
        for number, child in enumerate(node.value):
            yield from node_lines(child, steps[1:], (*at, number))
    elif steps[0] != "*" and isinstance(node, yaml.MappingNode):
        child = next((value for key, value in node.value if key.value == steps[0]), None)
        if child is not None:
            yield from node_lines(child, steps[1:], (*at, steps[0]))


def _loader(name: str) -> Any:
    """Return a loader whose errors name the file."""

    # PyYAML keeps the last of two equal names without a word.
    def mapping(self: Any, node: Any) -> dict[str, object]:
        keys: set[str] = set()
        for key, _ in node.value:
            if key.value in keys:
                at = key.start_mark
                message = f"the name {key.value!r} is duplicated in one object; keep one"
                raise DataError(message, source=name, line=at.line + 1, column=at.column + 1)
            keys.add(key.value)
        return dict(self.construct_mapping(node, deep=True))

    def number(self: Any, node: Any) -> float:
        value = float(self.construct_yaml_float(node))
        if not math.isfinite(value):
            at = node.start_mark
            raise DataError(
                f"{node.value} is not a number; leave the value out",
                source=name,
                line=at.line + 1,
                column=at.column + 1,
            )
        return value

    # A class for each file: constructors belong to classes, and these know the name of the file.
    loader: Any = type("Loader", (_plain_loader(),), {})
    loader.add_constructor(f"{_TAG}map", mapping)
    loader.add_constructor(f"{_TAG}float", number)
    return loader


@functools.cache
def _plain_loader() -> Any:
    import yaml

    # Empty resolvers of its own, so that YAML 1.1 does not apply and the class of PyYAML stays as it is.
    loader: Any = type(
        "PlainLoader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {"yaml_implicit_resolvers": {}}
    )
    for kind, pattern, first in _PLAIN:
        loader.add_implicit_resolver(
            _TAG + kind, re.compile(pattern), ["" if char == "\0" else char for char in first]
        )
    # For an explicit `!!timestamp` only: no resolver recognises a plain date.
    loader.add_constructor(f"{_TAG}timestamp", lambda self, node: node.value)
    # JSON has no values for these explicit tags, which the safe loader would construct.
    for kind in ("binary", "omap", "pairs", "set"):
        loader.add_constructor(_TAG + kind, loader.construct_undefined)
    return loader


def _check_size(text: str, name: str, loader: object) -> None:
    """Refuse a text that is nested or expanded beyond the limits.

    The size of an anchored value is added at each alias.
    """
    import yaml

    sizes: dict[str, int] = {}
    depths: dict[str, int] = {}
    open_values: list[list[Any]] = [["", 0, 0]]  # anchor, values and depth below
    added = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_values.append([event.anchor, 1, 0])
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size, depth = open_values.pop()
            if anchor:
                sizes[anchor], depths[anchor] = size, depth
            _add(open_values[-1], size, depth + 1)
        elif isinstance(event, yaml.AliasEvent):
            if any(entry[0] == event.anchor for entry in open_values):
                raise _at(
                    event,
                    f"the alias *{event.anchor} is inside the value that it refers to; write the value out",
                    name,
                )
            added += sizes.get(event.anchor, 1)
            _add(open_values[-1], sizes.get(event.anchor, 1), depths.get(event.anchor, 0) + 1)
        elif isinstance(event, yaml.ScalarEvent):
            if event.anchor:
                sizes[event.anchor], depths[event.anchor] = 1, 0
            _add(open_values[-1], 1, 0)
        if added > MAX_NODES:
            raise _at(
                event,
                f"the aliases expand to more than {MAX_NODES:,} values; write fewer aliases of aliases",
                name,
            )
        # The second condition counts the depth that aliases add, whose events are not repeated.
        if len(open_values) - 1 > MAX_DEPTH or len(open_values) + open_values[-1][2] > MAX_DEPTH + 2:
            raise _at(event, _TOO_DEEP, name)


_BRACKET = re.compile(
    r"""(?<!\w)"(?:\\.|[^"\\])*"|(?<!\w)'[^']*'|(?<!\S)\#.*|(?P<open>[\[{])|(?P<close>[\]}])"""
)
"""Brackets, and the strings and comments whose brackets open nothing."""


def _open_brackets(text: str) -> int:
    # Not by tokens of PyYAML: its scanner has a limit of nesting of its own.
    kinds = [match.lastgroup for match in _BRACKET.finditer(text)]
    return kinds.count("open") - kinds.count("close")


def _add(parent: list[Any], size: int, depth: int) -> None:
    parent[1] += size
    parent[2] = max(parent[2], depth)


def _at(event: Any, message: str, name: str) -> DataError:
    return DataError(message, source=name, line=event.start_mark.line + 1, column=event.start_mark.column + 1)
