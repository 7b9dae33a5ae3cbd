"""JSON Schema: is the answer JSON, and of the shape that was asked for."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import (
    boolean_metrics,
    boolean_outcome,
    is_empty,
    keywords,
    one_line,
)
from pytest_evalstudio.formats.patterns import excess

_PATTERN_TIMEOUT_S = 2.0


@evaluator(
    "json_schema",
    name="JSON Schema",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based", "capability-answer-highlight"),
)
@dataclass(frozen=True)
class JsonSchema:
    """The whole answer parses as JSON and is valid under a schema.

    `json_schema` is a schema, its JSON text (which begins with a brace), or the path of its file; {} asks for
    JSON of any shape. A case may bring its own under the key `json_schema`, paths relative to its file. The
    context is not judged.
    """

    json_schema: str | Mapping[str, Any] = "{}"
    path_options: ClassVar[tuple[str, ...]] = ("json_schema",)
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Valid JSON (pass)", "Invalid JSON (fail)", "Invalid retrieved JSON", "Invalid generated JSON"
    )

    def __post_init__(self) -> None:
        read_schema(self.json_schema, ".")

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        schema = read_schema(self.json_schema, ".")
        return [self._score(case, schema) for case in cases]

    def _score(self, case: Case, schema: str) -> Outcome:
        if is_empty(case):
            return boolean_outcome(self.metrics, "", answer_is_empty=True)
        try:
            own = case.extra.get("json_schema")
            fault, place = json_fault(
                case.actual_output, schema if own is None else read_schema(own, case.folder)
            )
        except (ConfigurationError, EvaluationError) as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        fragments = (
            []
            if place < 0
            else [
                Fragment(
                    start=min(place, len(case.actual_output) - 1),
                    end=min(place + 1, len(case.actual_output)),
                    message=fault,
                )
            ]
        )
        return boolean_outcome(self.metrics, fault, fragments=fragments)


def read_schema(given: Any, folder: str) -> str:
    """The canonical JSON text of a schema.

    Args:
        given: a schema, its JSON text, or a path.
        folder: where a relative path begins.

    Raises:
        ConfigurationError: if it cannot be read, is no JSON, or is no valid schema.
    """
    if isinstance(given, str):
        text = given.strip()
        source = "json_schema"
        if not text.startswith("{"):
            source = str(Path(folder) / text)
            try:
                text = Path(source).read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError, ValueError) as exc:
                raise ConfigurationError(
                    f"json_schema: cannot read {source!r}: {exc}; give a schema or the path of its file"
                ) from None
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as exc:
            raise ConfigurationError(f"{source}: not JSON: {exc}") from None
    if not isinstance(given, Mapping | bool):
        raise ConfigurationError(f"json_schema: a schema is a JSON object, not {type(given).__name__}")
    canonical = json.dumps(_plain(given), sort_keys=True)
    _validator(canonical)
    return canonical


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def json_fault(text: str, schema: str) -> tuple[str, int]:
    """What is wrong with a text that should be JSON of a schema.

    Args:
        text: the whole of it; blanks around the value are fine, Markdown fences are not.
        schema: canonical JSON text of a valid schema.

    Returns:
        The fault in words, "" for none, and the character where parsing failed, -1 where it did not.

    Raises:
        EvaluationError: if the schema refers to another that is not within it, or one of its patterns takes
            too long.

    >>> json_fault('{"a": NaN}', "{}")[0]
    'not JSON: NaN is not a JSON value'
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as exc:
        return f"not JSON: {exc.msg} (line {exc.lineno}, column {exc.colno})", exc.pos
    except (ValueError, RecursionError) as exc:
        return f"not JSON: {'nested too deeply' if isinstance(exc, RecursionError) else exc}", -1
    return schema_fault(value, schema), -1


def schema_fault(value: Any, schema: str) -> str:
    """How a value breaks a schema, in words and without secrets, "" if it does not.

    Raises:
        EvaluationError: see `json_fault`.
    """
    from referencing.exceptions import Unresolvable

    try:
        errors = sorted(
            _validator(schema).iter_errors(value),
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
    """A validator that resolves no reference outside the schema and limits the time of its patterns."""
    from jsonschema import validators
    from jsonschema.exceptions import SchemaError, ValidationError
    from referencing import Registry

    def pattern(_: Any, expression: str, instance: Any, __: Any) -> Any:
        if isinstance(instance, str) and not _matches(expression, instance):
            yield ValidationError(f"{instance!r} does not match {expression!r}")

    content = json.loads(schema)
    kind = validators.validator_for(content, default=validators.Draft202012Validator)
    try:
        kind.check_schema(content)
    except SchemaError as exc:
        raise ConfigurationError(
            f"json_schema: not a valid schema at {exc.json_path}: {one_line(exc.message, 200)}"
        ) from None
    return validators.extend(kind, {"pattern": pattern})(content, registry=Registry())


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


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
