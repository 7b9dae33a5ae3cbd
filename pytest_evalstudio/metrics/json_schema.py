"""JSON texts and their JSON Schema: schemas are read, faults are found within limits of time."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.reading import read_bytes
from pytest_evalstudio.formats.json_formats import FORMATS, format_checker
from pytest_evalstudio.formats.json_schema_forms import (
    dialect,
    formats_of,
    permits_everything,
    unwrapped,
    vocabulary_fault,
)
from pytest_evalstudio.formats.patterns import excess
from pytest_evalstudio.metrics.quoting import one_line

_PATTERN_TIMEOUT_S = 2.0  # a pattern of a stranger's schema may take exponential time


def read_schema(declared: object, folder: str, *, of_others: bool = False) -> str:
    """Return the canonical JSON text of a schema; OpenAI's forms of a response format are unwrapped.

    Args:
        declared: a schema, its JSON text, or the path of its file.
        folder: start of a relative path.
        of_others: whether keywords and formats that JSON Schema does not have are ignored, as definitions of
            tools have them.

    Raises:
        ConfigurationError: if it cannot be read, is not JSON, is not a valid schema,
            or has an unknown keyword.

    >>> read_schema(' {"type":  "array"} ', ".")
    '{"type": "array"}'
    """
    if isinstance(declared, str):
        text = declared.strip()
        source = "json_schema"
        if not text.startswith("{"):
            source = str(Path(folder) / text)
            try:
                text = read_bytes(source).decode("utf-8-sig")
            except (OSError, UnicodeDecodeError, ValueError) as exc:
                raise ConfigurationError(
                    f"json_schema: cannot read {source!r}: {exc}; give a schema or the path of its file"
                ) from None
        try:
            declared = json.loads(text)
        except (ValueError, RecursionError) as exc:
            raise ConfigurationError(f"{source}: not JSON: {exc}") from None
    if not isinstance(declared, Mapping | bool):
        raise ConfigurationError(f"json_schema: a schema is a JSON object, not {type(declared).__name__}")
    # A text, so that the validators of equal schemas are cached.
    canonical = json.dumps(_plain(unwrapped(declared)), sort_keys=True)
    # Built here already: an invalid schema is a fault of the configuration, not of each answer.
    _validator(canonical)
    if not of_others and (fault := _vocabulary_fault(canonical)):
        raise ConfigurationError(f"json_schema: {fault}")
    return canonical


@functools.lru_cache(maxsize=256)
def _vocabulary_fault(schema: str) -> str:
    return vocabulary_fault(json.loads(schema))


def schema_warning(schema: str) -> str:
    """Return what a valid schema does not check although its author may think so; "" for nothing.

    Args:
        schema: canonical JSON text, see `read_schema`.

    >>> schema_warning('{"title": "Fee"}')
    'json_schema permits every JSON value; write its type, required and properties'
    """
    content = json.loads(schema)
    if permits_everything(content):
        return "json_schema permits every JSON value; write its type, required and properties"
    unknown = [name for name in formats_of(content) if name not in FORMATS]
    if unknown:
        return f"json_schema: format {one_line(unknown[0])!r} is not checked; write a pattern"
    return ""


def json_fault(text: str, schema: str) -> tuple[str, int]:
    """Return the fault of a text that should be JSON of a schema.

    Args:
        text: the whole text; white space around the value is allowed, Markdown fences are not.
        schema: canonical JSON text of a valid schema, see `read_schema`.

    Returns:
        A description of the first fault, "" if there is none, and the index of the character where parsing
        failed, -1 if it did not fail.

    Raises:
        EvaluationError: if the schema refers to a document outside it, or one of its patterns takes longer
            than 2 s.

    >>> json_fault('{"a": NaN}', "{}")[0]
    'not JSON: NaN is not a JSON value'
    """
    try:
        value = json.loads(text, parse_constant=refuse_constant)
    except json.JSONDecodeError as exc:
        return f"not JSON: {exc.msg} (line {exc.lineno}, column {exc.colno})", exc.pos
    except (ValueError, RecursionError) as exc:
        return f"not JSON: {'nested too deeply' if isinstance(exc, RecursionError) else exc}", -1
    return schema_fault(value, schema), -1


def schema_fault(value: object, schema: str) -> str:
    """Return the first fault of a value under a schema, with its JSON pointer; "" if it is valid.

    Args:
        value: parsed JSON.
        schema: canonical JSON text of a valid schema, see `read_schema`.

    Raises:
        EvaluationError: see `json_fault`.

    >>> schema_fault({"fee": "5"}, '{"properties": {"fee": {"type": "number"}}}')
    "/fee: '5' is not of type 'number'"
    """
    from referencing.exceptions import Unresolvable

    try:
        errors = sorted(
            _validator(schema).iter_errors(value),
            # The outermost fault first; the order of jsonschema depends on that of the keywords.
            key=lambda error: (len(error.absolute_path), str(error.json_path), error.message),
        )
    except Unresolvable as exc:
        raise EvaluationError(
            f"json_schema: $ref {exc.ref!r} is not within the schema; nothing is downloaded"
        ) from None
    except RecursionError:
        return "nested too deeply"
    if not errors:
        return ""
    pointer = "".join(
        "/" + str(part).replace("~", "~0").replace("/", "~1") for part in errors[0].absolute_path
    )
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{one_line(pointer) or 'the whole'}: {one_line(errors[0].message, 200)}{more}"


@functools.lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    """Return a validator that resolves no reference outside the schema and limits the time of patterns."""
    from jsonschema import validators
    from jsonschema.exceptions import SchemaError
    from referencing import Registry

    content = json.loads(schema)
    kind = dialect(content)
    try:
        kind.check_schema(content)
    except SchemaError as exc:
        raise ConfigurationError(
            f"json_schema: not a valid schema at {exc.json_path}: {one_line(exc.message, 200)}"
        ) from None
    limited = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "unevaluatedProperties": functools.partial(
            _unevaluated_properties,
            kind.VALIDATORS.get("unevaluatedProperties"),
            _has_keyword(content, "patternProperties"),
        ),
    }
    keywords = {name: check for name, check in limited.items() if name in kind.VALIDATORS}
    # An empty registry resolves nothing: the default one would download references.
    return validators.extend(kind, keywords)(content, registry=Registry(), format_checker=format_checker())


_BY_NAME = frozenset(
    ("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions")
)
"""Keywords whose values have schemas by names that an author chooses."""
_VALUES = frozenset(("const", "default", "enum", "examples"))
"""Keywords whose values are data and not schemas."""


def _has_keyword(schema: object, keyword: str) -> bool:
    """Return True if a schema or one within it has a keyword; names of properties are none."""
    schemas = [schema]
    while schemas:
        part = schemas.pop()
        if isinstance(part, list):
            schemas += part
        elif isinstance(part, dict):
            if keyword in part:
                return True
            for name, value in part.items():
                if name in _BY_NAME and isinstance(value, dict):
                    schemas += value.values()
                elif name not in _VALUES:
                    schemas.append(value)
    return False


# The keywords of jsonschema that search by `re`, which knows no time limit, with `_matches` in its place.


def _pattern(validator: Any, expression: str, instance: object, schema: object) -> Iterator[Exception]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and not _matches(expression, instance):
        yield ValidationError(f"{instance!r} does not match {expression!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: object, schema: object
) -> Iterator[Exception]:
    if not isinstance(instance, dict):
        return
    for expression, subschema in patterns.items():
        for name, value in instance.items():
            if _matches(expression, name):
                yield from validator.descend(value, subschema, path=name, schema_path=expression)


def _additional_properties(
    validator: Any, allowed: object, instance: object, schema: Mapping[str, Any]
) -> Iterator[Exception]:
    from jsonschema.exceptions import ValidationError

    if not isinstance(instance, dict):
        return
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [
        name
        for name in instance
        if name not in declared and not any(_matches(expression, name) for expression in patterns)
    ]
    if isinstance(allowed, Mapping):
        for name in extra:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and extra:
        names = ", ".join(map(repr, sorted(extra)))
        was = "was" if len(extra) == 1 else "were"
        yield ValidationError(f"Additional properties are not allowed ({names} {was} unexpected)")


def _unevaluated_properties(
    original: Any, has_patterns: bool, validator: Any, allowed: object, instance: object, schema: object
) -> Iterator[Exception]:
    if has_patterns:
        raise EvaluationError(
            "json_schema: unevaluatedProperties together with patternProperties is not supported, because the"
            " time of its patterns cannot be limited; use additionalProperties"
        )
    yield from original(validator, allowed, instance, schema) or ()


def _matches(expression: str, text: str) -> bool:
    import regex

    if too_much := excess(expression):
        raise EvaluationError(f"json_schema: pattern {one_line(expression)!r}: {too_much}")
    try:
        return regex.search(expression, text, timeout=_PATTERN_TIMEOUT_S) is not None
    except TimeoutError:
        raise EvaluationError(
            f"json_schema: pattern {one_line(expression)!r} took longer than {_PATTERN_TIMEOUT_S:g} s"
        ) from None
    except (regex.error, RecursionError, OverflowError, MemoryError) as exc:
        raise EvaluationError(f"json_schema: pattern {one_line(expression)!r}: {exc}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python reads in JSON; for `json.loads(parse_constant=…)`."""
    raise ValueError(f"{name} is not a JSON value")
