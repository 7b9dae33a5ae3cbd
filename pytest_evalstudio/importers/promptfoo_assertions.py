"""Assertions of promptfoo as conditions, expected answers, guidelines and evaluators.

Source: https://www.promptfoo.dev/docs/configuration/expected-outputs
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from pytest_evalstudio.formats.condition_writing import pattern_condition, substring_condition
from pytest_evalstudio.importers.common import Json, Omissions, items_of, text_of, texts_of

_CELL = re.compile(
    r"(?P<type>(?:not-)?[a-z]+(?:-[a-z]+)*)(?:\((?P<threshold>[\d.]+)\))?:\s*(?P<value>.*)", re.DOTALL
)
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
    """Return the assertion that a cell of the column `__expected` stands for; a plain text is `equals`."""
    match = _CELL.fullmatch(cell.strip())
    if not match:
        return {"type": "equals", "value": cell.strip()}
    value: Json = match["value"]
    kind = match["type"].removeprefix("not-")
    if kind.endswith(("-all", "-any")):
        value = [part.strip() for part in match["value"].split(",")]
    assertion: dict[str, Json] = {"type": match["type"], "value": value}
    if match["threshold"]:
        assertion["threshold"] = float(match["threshold"])
    return assertion


class Expectations:
    """Expectations of an answer, collected from the assertions of a test."""

    def __init__(self, omissions: Omissions) -> None:
        self._omissions = omissions
        self._conditions: list[str] = []
        self._expected = ""
        self._guidelines: list[str] = []
        self._evaluators: dict[str, dict[str, float]] = {}

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
        texts = texts_of(assertion.get("value"))
        if kind in _CONDITIONS and texts:
            condition = _CONDITIONS[kind](texts)
            self._conditions.append(f"NOT ({condition})" if is_negated else condition)
            if kind == "equals" and not is_negated:
                self._expected = self._expected or texts[0]
        elif kind == "llm-rubric" and not is_negated:
            self._guidelines += texts
            self._evaluators.setdefault("guideline_adherence_judge", {})
        elif kind in _EVALUATORS and not is_negated:
            if kind in _WITH_EXPECTED:
                self._expected = self._expected or text_of(assertion.get("value"), self._omissions)
            threshold = assertion.get("threshold")
            options = {"threshold": float(threshold)} if isinstance(threshold, int | float) else {}
            self._evaluators.setdefault(_EVALUATORS[kind], {}).update(options)
        else:
            self._omissions.add(
                f"assertion {full!r}", "write a condition, a guideline or an evaluator of your own"
            )

    def fields(self) -> dict[str, object]:
        """Return the expectations as fields of a row."""
        evaluators = {**({"text_matching": {}} if self._conditions else {}), **self._evaluators}
        return {
            "output_condition": " AND ".join(self._conditions),
            "expected_output": self._expected,
            "guidelines": self._guidelines,
            "evaluators": evaluators or None,
        }
