"""Recognition of other tools' files by their structure, so that messages can name what a file is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ForeignFile:
    """A file of another tool.

    Attributes:
        kind: by which `evalstudio import` reads it; "" for a file that it does not read.
        description: what it is, with its article, as part of a sentence.
    """

    kind: str
    description: str

    @property
    def fact(self) -> str:
        """Return what the file is and what to do, as a message about it."""
        if not self.kind:
            return f"is {self.description}"
        return f"is {self.description}; `evalstudio import {self.kind} FILE -o OUT` reads it"


def foreign_file(data: object) -> ForeignFile | None:
    """Return what the parsed content of a file is, None where it is no known file of another tool."""
    if isinstance(data, Mapping):
        return next((file for recognise in _OBJECTS if (file := recognise(data))), None)
    if isinstance(data, list) and data and isinstance(data[0], Mapping):
        keys = data[0].keys()
        return next((found for needed, found in _RECORDS if needed(keys)), None)
    return None


def promptfoo_results(data: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the summary of a results file of promptfoo, which has the list `results`; None for another file.

    `promptfoo eval -o` writes it under the key `results`; the summary alone is accepted, too.
    """
    for summary in (data.get("results"), data):
        if isinstance(summary, Mapping) and isinstance(summary.get("results"), list):
            return summary
    return None


def is_column_table(data: object) -> bool:
    """Return whether content is a table of `columns` and `data`, as MLflow writes evaluation tables."""
    return (
        isinstance(data, Mapping) and isinstance(data.get("columns"), list) and _has_lists(data.get("data"))
    )


def _has_lists(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(row, list) for row in value)


def _of_promptfoo(data: Mapping[str, Any]) -> ForeignFile | None:
    summary = promptfoo_results(data)
    if summary is not None:
        version = summary.get("version")
        version_text = f" of version {version}" if isinstance(version, int) else ""
        return ForeignFile("promptfoo", f"a promptfoo results file{version_text}")
    if "prompts" in data and data.keys() & {"providers", "targets", "tests"}:
        return ForeignFile("promptfoo", "a promptfoo configuration")
    return None


def _of_mlflow(data: Mapping[str, Any]) -> ForeignFile | None:
    if is_column_table(data):
        return ForeignFile("mlflow", "a table of columns and data, as MLflow writes evaluation tables")
    if isinstance(data.get("info"), Mapping) and isinstance(data.get("data"), Mapping):
        return ForeignFile("mlflow", "an MLflow trace")
    return None


def _of_inspect(data: Mapping[str, Any]) -> ForeignFile | None:
    if isinstance(data.get("eval"), Mapping) and "status" in data:
        return ForeignFile("inspect", f"an Inspect log of version {data.get('version', '?')}")
    return None


def _of_others(data: Mapping[str, Any]) -> ForeignFile | None:
    if isinstance(data.get("testCases"), list):
        return ForeignFile("", "a DeepEval test run; export its data set by `EvaluationDataset.save_as`")
    if isinstance(data.get("goldens"), list):
        return ForeignFile("deepeval", "a DeepEval data set")
    articles = data.get("data")
    if (
        isinstance(articles, list)
        and articles
        and isinstance(articles[0], Mapping)
        and "paragraphs" in articles[0]
    ):
        return ForeignFile("squad", "a file of SQuAD")
    if data.keys() & {"resourceSpans", "resourceLogs"}:
        return ForeignFile("traces", "an export of OpenTelemetry")
    if data.get("kind") == "run" and "schema_version" in data:
        return ForeignFile("", "a record of a run; `evalstudio report` makes a report of it")
    return None


# The more special form first: keys such as `data` are in several of them.
_OBJECTS: tuple[Callable[[Mapping[str, Any]], ForeignFile | None], ...] = (
    _of_promptfoo,
    _of_mlflow,
    _of_inspect,
    _of_others,
)
_RECORDS: tuple[tuple[Callable[[Any], bool], ForeignFile], ...] = (
    (lambda keys: "user_input" in keys, ForeignFile("ragas", "a data set of Ragas")),
    (
        lambda keys: "input" in keys and bool(keys & {"retrieval_context", "expected_tools", "tools_called"}),
        ForeignFile("deepeval", "a list of goldens or test cases of DeepEval"),
    ),
    (
        lambda keys: {"input", "ideal"} <= keys,
        ForeignFile("openai-evals", "a list of samples of OpenAI's evals"),
    ),
    (
        lambda keys: {"inputs", "outputs", "dataset_id"} <= keys,
        ForeignFile("langsmith", "a list of examples of LangSmith"),
    ),
    (
        lambda keys: "inputs" in keys and bool(keys & {"expectations", "dataset_record_id"}),
        ForeignFile("mlflow", "a list of records of MLflow"),
    ),
    (
        lambda keys: {"question", "answer", "supporting_facts"} <= keys,
        ForeignFile("hotpotqa", "a list of questions of HotpotQA"),
    ),
    (
        lambda keys: {"question", "answers", "context"} <= keys,
        ForeignFile("squad", "a list of questions of SQuAD"),
    ),
    (lambda keys: "resourceSpans" in keys, ForeignFile("traces", "an export of OpenTelemetry")),
)
"""Tests of the keys of the first record, and what the file is."""
