"""Public names as Markdown: signature, description, parameters, errors and examples of their docstrings."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from pydantic import BaseModel

from pytest_evalstudio.core.docstrings import attribute_description

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises")
_TITLE = re.compile(rf"({'|'.join(SECTIONS)}):\s*")
_ENTRY = re.compile(r" {4}([\w*][\w*.,` ]*): (.*)")
_MAX_CHARS = 100
"""Width of a signature on one line."""
_MAX_DEFAULT_CHARS = 60


def markdown_of(name: str, value: Any) -> Iterator[str]:
    """Yield the lines that describe a public class or function, headings from level 2."""
    yield f"## {name}"
    yield ""
    yield from _described(name, value)
    if inspect.isclass(value):
        for method, function in _methods(value):
            yield f"### {name}.{method}"
            yield ""
            yield from _described(f"{name}.{method}", function)


def _methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class with a docstring of their own, in their order."""
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        is_function = inspect.isfunction(member) or isinstance(member, property)
        if is_function and inspect.getdoc(member):
            yield name, member


def _described(name: str, value: Any) -> Iterator[str]:
    signature = _signature(name, value)
    if signature:
        yield "```python"
        yield from signature
        yield "```"
        yield ""
    yield from _docstring(_with_inherited(value) if _is_model(value) else inspect.getdoc(value) or "")


def _with_inherited(model: type[BaseModel]) -> str:
    """Return the docstring of a format, its attributes with those of its bases."""
    text = inspect.getdoc(model) or ""
    head, title, rest = text.partition("Attributes:\n")
    described = {name: attribute_description(model, name) for name in model.model_fields}
    lines = [f"    {name}: {description}" for name, description in described.items() if description]
    if not title or all(f"    {name}: " in rest for name, description in described.items() if description):
        return text
    return head + title + "\n".join(lines) + "".join(rest.partition("\n\n")[1:])


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


def _docstring(text: str) -> Iterator[str]:
    """Yield a docstring of Google's style as Markdown."""
    lines = text.splitlines()
    index = 0
    while index < len(lines):
        line = lines[index]
        if title := _TITLE.fullmatch(line):
            end = _end_of_section(lines, index + 1)
            yield f"**{title[1]}**"
            yield ""
            yield from _entries(lines[index + 1 : end])
            yield ""
            index = end
        elif line.startswith(">>>"):
            end = next((i for i in range(index, len(lines)) if not lines[i].strip()), len(lines))
            yield from ("```pycon", *lines[index:end], "```")
            index = end
        else:
            yield line
            index += 1
    yield ""


def _end_of_section(lines: Sequence[str], start: int) -> int:
    """Return the index of the first line after a section, which is indented."""
    return next(
        (i for i in range(start, len(lines)) if lines[i] and not lines[i].startswith("    ")), len(lines)
    )


def _entries(lines: Sequence[str]) -> Iterator[str]:
    """Yield the entries of a section as a list; a section without names is a paragraph."""
    entries: list[str] = []
    for line in lines:
        entry = _ENTRY.fullmatch(line)
        if entry:
            names = ", ".join(f"`{name.strip()}`" for name in entry[1].split(","))
            entries.append(f"* {names}: {entry[2]}")
        elif line.strip() and entries:
            entries[-1] += f" {line.strip()}"
        elif line.strip():
            entries.append(line.strip())
    yield from entries
