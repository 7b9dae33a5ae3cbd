"""Each text of another tool's record is in what is imported, or the output names it: on generated files."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.importers.kinds import import_file

Json = Any
Canary = Callable[[], str]
CALL = "lookup"


def _braintrust(text: Canary) -> Json:
    return {
        "id": text(),
        "input": text(),
        "expected": text(),
        "output": text(),
        "tags": [text()],
        "metadata": {},
    }


def _deepeval(text: Canary) -> Json:
    return {
        "input": text(),
        "actual_output": text(),
        "expected_output": text(),
        "context": [text()],
        "retrieval_context": [text(), text()],
        "name": text(),
        "tags": [text()],
        "comments": text(),
        "tools_called": [{"name": CALL, "input_parameters": {"q": text()}, "output": text()}],
        "expected_tools": [{"name": CALL, "input_parameters": {"q": text()}}],
    }


def _langsmith(text: Canary) -> Json:
    return {
        "id": text(),
        "inputs": {"question": text(), "context": [text()]},
        "outputs": {"answer": text()},
        "metadata": {"note": text()},
        "split": text(),
    }


def _mlflow(text: Canary) -> Json:
    return {
        "inputs": {"question": text()},
        "outputs": text(),
        "expectations": {"expected_response": text(), "expected_facts": [text()], "guidelines": [text()]},
        "tags": {"team": text()},
    }


def _openai_evals(text: Canary) -> Json:
    messages = [{"role": "system", "content": text()}, {"role": "user", "content": text()}]
    return {"input": messages, "ideal": [text(), text()], "metadata": {"note": text()}}


def _ragas(text: Canary) -> Json:
    return {
        "user_input": text(),
        "response": text(),
        "reference": text(),
        "retrieved_contexts": [text(), text()],
        "reference_contexts": [text()],
        "reference_topics": [text()],
        "reference_tool_calls": [{"name": CALL, "args": {"q": text()}}],
        "rubrics": {"score1": text()},
    }


def _inspect(text: Canary) -> Json:
    call = {"id": "c1", "function": CALL, "arguments": {"q": text()}}
    question, answer = text(), text()
    messages = [
        {"role": "user", "content": question},
        {"role": "assistant", "content": text(), "tool_calls": [call]},
        {"role": "tool", "content": text(), "tool_call_id": "c1"},
        {"role": "assistant", "content": answer},
    ]
    return {
        "id": text(),
        "epoch": 1,
        "input": question,
        "target": [text(), text()],
        "messages": messages,
        "output": {"completion": answer, "model": "m"},
        "metadata": {"note": text()},
    }


def _squad(text: Canary) -> Json:
    return {
        "id": text(),
        "title": text(),
        "context": text(),
        "question": text(),
        "answers": {"text": [text(), text()], "answer_start": [1, 2]},
    }


def _hotpotqa(text: Canary) -> Json:
    title = text()
    return {
        "_id": text(),
        "question": text(),
        "answer": text(),
        "context": [[title, [text(), text()]], [text(), [text()]]],
        "supporting_facts": [[title, 0]],
        "type": text(),
        "level": text(),
    }


def _table(text: Canary) -> Json:
    return {
        "input": text(),
        "actual_output": text(),
        "expected_output": [text(), text()],
        "context": [{"text": text(), "source": text()}],
        "notes": text(),
    }


def _agent_evaluation(text: Canary) -> Json:
    return {
        "request_id": text(),
        "request": text(),
        "response": text(),
        "expected_response": text(),
        "expected_facts": [text()],
        "retrieved_context": [{"content": text(), "doc_uri": text()}],
        "expected_retrieved_context": [{"content": text(), "doc_uri": text()}],
        "guidelines": [text()],
    }


def _promptfoo(text: Canary) -> Json:
    values = [{"type": "contains", "value": text()}, {"type": "llm-rubric", "value": text()}]
    return {
        "description": text(),
        "vars": {"question": text()},
        "assert": values,
        "metadata": {"note": text()},
    }


RECORDS: dict[str, Callable[[Canary], Json]] = {
    "agent-evaluation": _agent_evaluation,
    "braintrust": _braintrust,
    "deepeval": _deepeval,
    "hotpotqa": _hotpotqa,
    "inspect": _inspect,
    "langsmith": _langsmith,
    "mlflow": _mlflow,
    "openai-evals": _openai_evals,
    "promptfoo": _promptfoo,
    "ragas": _ragas,
    "squad": _squad,
    "table": _table,
}
NAMES = (
    "notes",
    "rationale",
    "ground_truths",
    "tool_output",
    "answers_2",
    "expected_answer",
    "reviewer",
    "x",
)
SHAPES: tuple[Callable[[Canary], Json], ...] = (
    lambda text: text(),
    lambda text: [text(), text()],
    lambda text: {"inner": text()},
    lambda text: [{"inner": text(), "deeper": [text()]}],
)


def objects(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the objects in a record, the record first."""
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from objects(item)
    elif isinstance(value, list):
        for item in value:
            yield from objects(item)


def texts(value: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each canary with the names of the keys above it."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from texts(item, (*path, name))
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, path)
    elif isinstance(value, str) and value.startswith("canary"):
        yield value, path


def losses(kind: str, record: Json) -> list[str]:
    """Return the paths of the canaries that are neither imported nor named."""
    contents: dict[str, Json] = {
        "inspect": {"eval": {"model": "m", "task": "t"}, "status": "success", "samples": [record]},
        "promptfoo": {"prompts": ["{{question}}"], "providers": ["echo"], "tests": [record]},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        path.write_text(json.dumps(contents.get(kind, [record])))
        result = import_file(kind, path, target="dataset")
    messages = "\n".join([*result.notes, *map(str, result.errors)])
    imported = json.dumps(result.content.to_dict())
    return [
        ".".join(keys)
        for canary, keys in texts(record)
        if canary not in imported and not _is_named(keys, messages)
    ]


def _is_named(keys: Sequence[str], messages: str) -> bool:
    if keys == ("messages", "content"):
        return "text of a further message" in messages
    return any(repr(name) in messages for name in keys)


@pytest.mark.parametrize("kind", RECORDS)
@given(data=st.data())
def test_each_text_is_imported_or_named(kind: str, data: st.DataObject) -> None:
    numbers = itertools.count(100)
    record = RECORDS[kind](lambda: f"canary{next(numbers)}")
    targets = list(objects(record))
    for _ in range(data.draw(st.integers(0, 3), "further keys")):
        target = data.draw(st.sampled_from(targets), "object")
        name = data.draw(st.sampled_from(NAMES), "name")
        shape = data.draw(st.sampled_from(SHAPES), "shape")
        target.setdefault(name, shape(lambda: f"canary{next(numbers)}"))
    assert losses(kind, record) == []
