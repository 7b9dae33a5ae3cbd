"""Assertions of promptfoo as conditions, expected answers, guidelines and evaluators.

Source: https://www.promptfoo.dev/docs/configuration/expected-outputs
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Mapping

from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.formats.condition_writing import pattern_condition, substring_condition
from pytest_evalstudio.formats.imported.records import Omissions, items_of, texts_of
from pytest_evalstudio.importers.references import outputs_of

_CELL = re.compile(
    r"(?P<type>(?:not-)?[a-z]+(?:-[a-z0-9]+)*)(?:\((?P<threshold>\d+(?:\.\d+)?|\.\d+)\))?(?::\s*(?P<value>.*))?",
    re.DOTALL,
)
# fmt: off
_TYPES = frozenset((
    "answer-relevance", "bleu", "classifier", "contains", "contains-all", "contains-any",
    "contains-html", "contains-json", "contains-sql", "contains-xml", "context-faithfulness",
    "context-recall", "context-relevance", "conversation-relevance", "cost", "equals",
    "factuality", "finish-reason", "g-eval", "gleu", "guardrails", "icontains", "icontains-all",
    "icontains-any", "is-html", "is-json", "is-refusal", "is-sql", "is-valid-function-call",
    "is-valid-openai-function-call", "is-valid-openai-tools-call", "is-xml", "javascript",
    "latency", "levenshtein", "llm-rubric", "max-score", "meteor", "model-graded-closedqa",
    "model-graded-factuality", "moderation", "perplexity", "perplexity-score", "pi", "python",
    "regex", "rouge-n", "ruby", "search-rubric", "select-best", "similar", "starts-with",
    "tool-call-f1", "trace-error-spans", "trace-span-count", "trace-span-duration", "webhook",
    "word-count",
))
# fmt: on
"""Types of assertions; a cell that begins with another word and a colon is a text to be equal to."""
_SHORT_TYPES: Mapping[str, str] = {"eval": "javascript", "fn": "javascript", "grade": "llm-rubric"}
_EVALUATORS: Mapping[str, str] = {
    "similar": "answer_semantic_similarity",
    "rouge-n": "rouge",
    "bleu": "bleu",
    "answer-relevance": "answer_relevancy",
    "context-faithfulness": "faithfulness",
    "context-recall": "context_recall",
    "context-relevance": "context_relevancy",
    "factuality": "correctness_judge",
    "model-graded-closedqa": "correctness_judge",
}
"""Evaluator that measures what an assertion of promptfoo measures; definitions differ in detail."""
_WITH_EXPECTED = ("similar", "rouge-n", "bleu", "factuality", "model-graded-closedqa", "context-recall")
_PARAMETERS = {"type", "value", "threshold"}
_EFFORT: Mapping[str, tuple[str, float]] = {"latency": ("max_seconds", 0.001), "cost": ("max_cost_usd", 1.0)}
"""Option of `effort` that an assertion's threshold stands for, and its unit: promptfoo has milliseconds."""


def _schema_of(value: Json) -> dict[str, Json] | None:
    """Return the schema of an `is-json` assertion; {} for JSON of any shape, None where it cannot be read."""
    if value in (None, ""):
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):  # e.g. the address of a file
            return None
    return value if isinstance(value, dict) else None


def _ignoring_case(text: str) -> str:
    return pattern_condition(f"(?i){re.escape(text)}")


_CONDITIONS: Mapping[str, Callable[[list[str]], str]] = {
    "contains": lambda texts: substring_condition(texts[0]),
    "icontains": lambda texts: _ignoring_case(texts[0]),
    "contains-all": lambda texts: " AND ".join(map(substring_condition, texts)),
    "contains-any": lambda texts: f"({' OR '.join(map(substring_condition, texts))})",
    "icontains-all": lambda texts: " AND ".join(map(_ignoring_case, texts)),
    "icontains-any": lambda texts: f"({' OR '.join(map(_ignoring_case, texts))})",
    "starts-with": lambda texts: pattern_condition(rf"\A{re.escape(texts[0])}"),
    "equals": lambda texts: pattern_condition(rf"\A{re.escape(texts[0])}\Z"),
    "regex": lambda texts: pattern_condition(texts[0]),
}


def assertion_of_cell(cell: str) -> dict[str, Json]:
    """Return the assertion that a cell of the column `__expected` stands for; a plain text is `equals`.

    >>> assertion_of_cell("not-contains-any: Acme,Globex")
    {'type': 'not-contains-any', 'value': 'Acme,Globex'}
    >>> assertion_of_cell("answer: 42")
    {'type': 'equals', 'value': 'answer: 42'}
    """
    match = _CELL.fullmatch(cell.strip())
    name = "" if match is None else match["type"].removeprefix("not-")
    kind = _SHORT_TYPES.get(name, name)
    # A type without a value is a plain text, e.g. the expected answer "contains".
    if match is None or kind not in _TYPES or (match["value"] is None and not kind.startswith("is-")):
        return {"type": "equals", "value": cell.strip()}
    negation = "not-" if match["type"].startswith("not-") else ""
    assertion: dict[str, Json] = {"type": negation + kind}
    if match["value"]:
        assertion["value"] = match["value"]
    if match["threshold"]:
        assertion["threshold"] = float(match["threshold"])
    return assertion


def _alternatives(value: Json) -> list[str]:
    """Return the texts of a `-all` or `-any` assertion: a list, or one text with commas, quoted or not.

    >>> _alternatives('Acme, "Globex, Inc."')
    ['Acme', 'Globex, Inc.']
    """
    if not isinstance(value, str):
        return texts_of(value)
    try:
        rows = list(csv.reader([value.replace("\n", " ")], skipinitialspace=True, strict=True))
    except csv.Error:
        # A quote within a word is no CSV; then each comma divides.
        rows = [value.split(",")]
    return [part.strip() for row in rows for part in row if part.strip()]


class Expectations:
    """Expectations of an answer, collected from the assertions of a test."""

    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self._conditions: list[str] = []
        self._expected: list[str] = []
        self._guidelines: list[str] = []
        self._evaluators: dict[str, dict[str, float]] = {}
        self._schema: Json = None
        self._expects = ""

    def add(self, assertion: Json) -> None:
        """Add an assertion; one without a counterpart is an omission."""
        if not isinstance(assertion, dict):
            self._omissions.add("assertion that is no object", "write its type and value")
            return
        if assertion.get("type") == "assert-set":
            self._omissions.add("assert-set", "its assertions are all required")
            for inner in items_of(assertion.get("assert")):
                self.add(inner)
            return
        full = str(assertion.get("type", ""))
        kind = full.removeprefix("not-")
        is_negated = full != kind
        self._omissions.keys(
            assertion, _PARAMETERS, f"{full} with", "an assertion here passes or fails as a whole"
        )
        value = assertion.get("value")
        texts = _alternatives(value) if kind.endswith(("-all", "-any")) else texts_of(value)
        if self._add_structure(kind, assertion, is_negated=is_negated):
            return
        if kind in _CONDITIONS and texts:
            condition = _CONDITIONS[kind](texts)
            self._conditions.append(f"NOT ({condition})" if is_negated else condition)
            # The text is also the expected answer, which evaluators of accuracy compare with.
            if kind == "equals" and not is_negated:
                self._expect(texts[:1])
        elif kind == "llm-rubric" and not is_negated:
            self._guidelines += texts
            self._evaluators.setdefault("guideline_adherence_judge", {})
        elif kind in _EVALUATORS and not is_negated:
            if kind in _WITH_EXPECTED:
                self._expect(outputs_of(value, self._omissions))
            threshold = assertion.get("threshold")
            options = {"threshold": float(threshold)} if isinstance(threshold, int | float) else {}
            self._evaluators.setdefault(_EVALUATORS[kind], {}).update(options)
        else:
            self._omissions.add(
                f"assertion {full!r}", "write a condition, a guideline or an evaluator of your own"
            )

    def _expect(self, outputs: list[str]) -> None:
        """Set the accepted answers; a second assertion must hold as well, which one list cannot say."""
        if outputs and self._expected and outputs != self._expected:
            remedy = "a case has one list of accepted answers; write another case"
            self._omissions.add("second expected answer of a test", remedy)
        self._expected = self._expected or outputs

    def _add_structure(self, kind: str, assertion: Mapping[str, Json], *, is_negated: bool) -> bool:
        """Add an assertion on the form or the effort of an answer; return whether it was one."""
        value, threshold = assertion.get("value"), assertion.get("threshold")
        limit = _EFFORT.get(kind)
        if is_negated or (limit is None and kind not in ("is-json", "is-refusal", "equals")):
            return False
        if limit is not None:
            if not isinstance(threshold, int | float) or isinstance(threshold, bool):
                return False
            option, unit = limit
            self._evaluators.setdefault("effort", {})[option] = threshold * unit
        elif kind == "is-refusal":
            self._expects = "refusal"
        elif kind == "is-json" or isinstance(value, dict | list):
            # Several schemas of one case hold together.
            schema = _schema_of(value) if kind == "is-json" else {"const": value}
            if schema is None:
                return False
            self._schema = schema if self._schema is None else {"allOf": [self._schema, schema]}
            self._evaluators.setdefault("json_schema", {})
        else:
            return False
        return True

    def fields(self) -> dict[str, object]:
        """Return the expectations as fields of a row, and keys that evaluators read."""
        # A case with evaluators of its own needs the one that checks its condition among them.
        evaluators = dict(self._evaluators)
        if self._conditions:
            evaluators = {"text_matching": {}, **evaluators}
        schema = {} if self._schema is None else {"json_schema": self._schema}
        return {
            **schema,
            "expects": self._expects,
            "output_condition": " AND ".join(self._conditions),
            "expected_output": self._expected,
            "guidelines": self._guidelines,
            "evaluators": evaluators or None,
        }
