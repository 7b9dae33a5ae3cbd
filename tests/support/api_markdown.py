"""Public names as Markdown: signature, first line of the docstring, and methods."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
from pydantic import BaseModel

_MAX_CHARS = 100
"""Width of a signature on one line."""
_MAX_DEFAULT_CHARS = 40
_MAX_TYPED_FIELDS = 4
"""A class with more fields is shown with their names only, a call with more parameters without types."""


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
    yield f"### {name}"
    yield ""
    yield first_line(value)
    yield ""
    fields = _fields_of(value)
    if len(fields) > _MAX_TYPED_FIELDS:
        yield f"Fields, given by keyword: {', '.join(f'`{field}`' for field in fields)}."
        yield ""
    elif name in _RETURNED:
        pass
    elif _count(value) > _MAX_TYPED_FIELDS:
        yield f"Call: `{_call(name, value)}`."
        yield ""
    elif signature := _signature(name, value):
        yield from ('```python signature="code"', *signature, "```", "")
    if inspect.isclass(value):
        for method, function in _methods(value):
            yield f"* `{_call(method, function)}`: {first_line(function)}"
        yield ""


def _count(function: Any) -> int:
    """Return the number of parameters of a function or class of code, 0 for other objects."""
    is_code = inspect.isfunction(function) or (inspect.isclass(function) and not _fields_of(function))
    try:
        return len(inspect.signature(function).parameters) if is_code else 0
    except (TypeError, ValueError):
        return 0


def first_line(value: Any) -> str:
    """Return the first sentence of a docstring."""
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _fields_of(value: Any) -> list[str]:
    """Return the fields of a class of data, [] for other objects."""
    if _is_model(value):
        return list(value.model_fields)
    if inspect.isclass(value) and issubclass(value, msgspec.Struct):
        return list(value.__struct_fields__)
    return []


def _call(name: str, value: Any) -> str:
    """Return the call of a method without types."""
    if isinstance(value, property):
        return name
    texts: list[str] = []
    for parameter in inspect.signature(value).parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and not any(text[0] == "*" for text in texts):
            texts.append("*")
        texts.append(_parameter(parameter.replace(annotation=inspect.Parameter.empty)))
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


def _signature(name: str, value: Any) -> list[str]:
    """Return the call of a function or class, a parameter per line where it is long; [] without one."""
    if isinstance(value, property) or (inspect.isclass(value) and issubclass(value, BaseException)):
        return []
    if inspect.isclass(value) and getattr(value, "_is_protocol", False):
        return []
    try:
        signature = _of_fields(value) if _is_model(value) else _sourced(value, inspect.signature(value))
    except (TypeError, ValueError):
        return []
    parameters = [
        parameter.replace(annotation=_plain(parameter.annotation))
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    returned = "" if inspect.isclass(value) else _returned(signature.return_annotation)
    texts = [_parameter(parameter) for parameter in parameters]
    for kind, mark in ((inspect.Parameter.KEYWORD_ONLY, "*"),):
        first = next((i for i, parameter in enumerate(parameters) if parameter.kind is kind), None)
        has_star = any(parameter.kind is inspect.Parameter.VAR_POSITIONAL for parameter in parameters)
        if first is not None and not has_star:
            texts.insert(first, mark)
    line = f"{name}({', '.join(texts)}){returned}"
    if len(line) <= _MAX_CHARS:
        return [line]
    return [f"{name}(", *(f"    {text}," for text in texts), f"){returned}"]


def _sourced(value: Any, signature: inspect.Signature) -> inspect.Signature:
    """Return a signature with the annotations of a struct as its source has them."""
    if not (inspect.isclass(value) and issubclass(value, msgspec.Struct)):
        return signature
    sources = {
        name: text
        for cls in reversed(value.__mro__)
        for name, text in vars(cls).get("__annotations__", {}).items()
    }
    return signature.replace(
        parameters=[
            parameter.replace(annotation=sources[name]) for name, parameter in signature.parameters.items()
        ]
    )


def _is_model(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseModel)


def _of_fields(model: type[BaseModel]) -> inspect.Signature:
    """Return the signature of a format, whose fields are keywords."""
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty
                if field.is_required()
                else field.get_default(call_default_factory=True),
                annotation=field.annotation,
            )
            for name, field in model.model_fields.items()
        ]
    )


def _parameter(parameter: inspect.Parameter) -> str:
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    annotation = "" if parameter.annotation is inspect.Parameter.empty else f": {parameter.annotation}"
    default = "" if parameter.default is inspect.Parameter.empty else _default(parameter.default)
    equals = f" = {default}" if annotation and default else f"={default}" if default else ""
    return f"{marks.get(parameter.kind, '')}{parameter.name}{annotation}{equals}"


def _default(value: object) -> str:
    """Return a default as it is written; `…` for one that is long or has no such form."""
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    return "…" if text.startswith("<") or len(text) > _MAX_DEFAULT_CHARS else text


def _returned(annotation: Any) -> str:
    return "" if annotation is inspect.Signature.empty else f" -> {_plain(annotation)}"


def _plain(annotation: Any) -> Any:
    """Return an annotation as its source has it, without module names."""
    if annotation is inspect.Parameter.empty:
        return annotation
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", _without_metadata(text))


def _without_metadata(annotation: str) -> str:
    """Return an annotation with the type alone of each `Annotated[...]`, also of nested ones."""
    while (start := annotation.rfind("Annotated[")) >= 0:
        depth, comma, end = 0, 0, len(annotation)
        for position in range(start, len(annotation)):
            char = annotation[position]
            depth += (char in "[(") - (char in ")]")
            if char == "," and depth == 1 and not comma:
                comma = position
            if char == "]" and depth == 0:
                end = position
                break
        prefix = annotation[:start].rstrip("abcdefghijklmnopqrstuvwxyz_.")
        type_alone = annotation[start + len("Annotated[") : comma or end]
        annotation = f"{prefix}{type_alone}{annotation[end + 1 :]}"
    return annotation
