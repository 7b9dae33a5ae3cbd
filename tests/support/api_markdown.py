"""Public names as Markdown: first line of the docstring, fields or call, and methods."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import msgspec
from pydantic import BaseModel

_MAX_DEFAULT_CHARS = 40

_RETURNED = (
    "Results",
    "Report",
    "Generated",
    "ScoredTable",
    "ConfiguredHost",
    "Check",
    "AskedModel",
    "EvalCase",
    "EvalModel",
    "EvalPerturb",
    "EvalSuite",
    "EvalGuard",
    "Tools",
    "Registry",
)
"""Classes whose objects users get and do not make."""


def markdown_of(name: str, value: Any) -> Iterator[str]:
    """Yield the lines that describe a public class or function, headings from level 3."""
    yield from (f"### {name}", "", first_line(value), "")
    fields = _fields_of(value)
    if fields:
        yield f"Fields: {_code_list(fields)}."
    elif name not in _RETURNED and _has_parameters(value):
        yield f"Call: `{_call(name, value)}`."
    yield ""
    if inspect.isclass(value):
        methods = list(_methods(value))
        properties = [method for method, function in methods if isinstance(function, property)]
        if properties:
            yield from (f"Properties: {_code_list(properties)}.", "")
        for method, function in methods:
            if method not in properties:
                yield f"* `{_call(method, function)}`: {first_line(function)}"
        yield ""


def first_line(value: Any) -> str:
    """Return the first sentence of a docstring."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _code_list(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _fields_of(value: Any) -> list[str]:
    """Return the fields of a class of data, [] for other objects."""
    if not inspect.isclass(value):
        return []
    if issubclass(value, BaseModel):
        return list(value.model_fields)
    if issubclass(value, msgspec.Struct):
        return list(value.__struct_fields__)
    return list(value._fields) if issubclass(value, tuple) else []


def _has_parameters(value: Any) -> bool:
    """Report whether users call a function, or a class that its code gives parameters."""
    return inspect.isfunction(value.__init__ if inspect.isclass(value) else value)


def _call(name: str, value: Any) -> str:
    """Return the call of a function, class or method without types."""
    texts: list[str] = []
    for position, parameter in enumerate(inspect.signature(value).parameters.values()):
        if position == 0 and parameter.name in ("self", "cls"):
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not any(text[0] == "*" for text in texts):
            texts.append("*")
        texts.append(_parameter(parameter))
    return f"{name}({', '.join(texts)})"


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class with a docstring of their own, in their order."""
    for name, member in vars(cls).items():
        if name.startswith("_") or name == "model_post_init":
            continue
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        is_function = inspect.isfunction(member) or isinstance(member, property)
        if is_function and inspect.getdoc(member):
            yield name, member


def _parameter(parameter: inspect.Parameter) -> str:
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    default = "" if parameter.default is inspect.Parameter.empty else f"={_default(parameter.default)}"
    return f"{marks.get(parameter.kind, '')}{parameter.name}{default}"


def _default(value: object) -> str:
    """Return a default as it is written; `…` for one that is long or has no such form."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return "…" if text.startswith("<") or len(text) > _MAX_DEFAULT_CHARS else text
