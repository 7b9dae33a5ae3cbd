"""Steps of an answer as cases of their own, for evaluators that are pointed at steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, cast, get_args

from msgspec import Struct, structs

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.steps import Step, StepKind
from pytest_evalstudio.core.tool_calls import ToolCall

DecidingStep = Literal["worst", "best", "first", "last"]
"""Step whose outcome counts where several are selected."""
_KINDS: tuple[str, ...] = get_args(StepKind)
_DECIDING: tuple[str, ...] = get_args(DecidingStep)
_KEYS = ("kind", "name", "agent", "decides")
# Keys under which search tools give their hits, and the text in a hit; the first one that is there counts.
_LISTS = ("results", "documents", "chunks", "matches", "hits", "items")
_TEXTS = ("text", "content", "page_content", "snippet", "document")
_EXAMPLE = '{kind = "retrieval"} or {kind = "tool", name = "search"}'


class StepSelection(Struct, frozen=True, kw_only=True):
    """Steps that an evaluator scores in place of the answer.

    Attributes:
        name: pattern of names, e.g. "search_*"; "" for all.
        agent: pattern of the names of agents; "" for all.
    """

    kind: StepKind
    name: str = ""
    agent: str = ""
    decides: DecidingStep = "worst"

    def takes(self, kind: str, name: str, agent: str) -> bool:
        """Return True for a step of this kind, name and agent."""
        return (
            kind == self.kind
            and (not self.name or fnmatchcase(name, self.name))
            and (not self.agent or fnmatchcase(agent, self.agent))
        )

    def __str__(self) -> str:
        names = f" {self.name!r}" if self.name else ""
        return f"{self.kind}{names}{f' of agent {self.agent!r}' if self.agent else ''}"

    def to_dict(self) -> dict[str, str]:
        """Return the selection as the configuration writes it."""
        # Without defaults, so that the record of an old configuration stays equal to that of a new one.
        return {name: value for name in _KEYS if (value := getattr(self, name)) not in ("", "worst")}


def step_selection(value: object, location: str) -> StepSelection:
    """Read the option `on` of an evaluator.

    Raises:
        ConfigurationError: if it is no selection; the message gives an example.
    """
    if not isinstance(value, Mapping) or not all(isinstance(text, str) for text in value.values()):
        raise ConfigurationError(f"{location}: expected a table such as {_EXAMPLE}, found {value!r}")
    for key in value:
        if key not in _KEYS:
            fault = unknown_name("key", str(key), _KEYS, f"There are: {', '.join(_KEYS)}.")
            raise ConfigurationError(f"{location}: {fault}")
    if value.get("kind") not in _KINDS:
        raise ConfigurationError(
            f"{location}: expected kind = {', '.join(_KINDS[:-1])} or {_KINDS[-1]},"
            f" found {value.get('kind')!r}"
        )
    if value.get("decides", "worst") not in _DECIDING:
        raise ConfigurationError(
            f"{location}: expected decides = {', '.join(_DECIDING[:-1])} or {_DECIDING[-1]},"
            f" found {value['decides']!r}"
        )
    return StepSelection(
        kind=cast(StepKind, value["kind"]),
        name=value.get("name", ""),
        agent=value.get("agent", ""),
        decides=cast(DecidingStep, value.get("decides", "worst")),
    )


def step_cases(case: Case, selection: StepSelection) -> list[tuple[str, Case]]:
    """Return the selected steps of an answer as cases, each with its place, e.g. "step 3, search".

    * A retrieval has its query as question and its chunks as context; the answer is that of the case.
    * A tool has its query (its only argument, if that is a text) as question, its result as answer and the
      texts of its result as context. Calls without steps count as well.
    * A model, agent, message or hand-over has what it is asked as question and its text as answer.

    Steps without a text are left out. An answer with a context and without steps is one retrieval.
    """
    answer = case.answer
    if selection.kind == "tool":
        return list(_of_calls(case, selection))
    cases = []
    for number, step in enumerate(answer.steps, 1):
        if not selection.takes(step.kind, step.name, step.agent):
            continue
        place = f"step {number}, {step.name or step.kind}"
        if selection.kind == "retrieval":
            cases.append((place, _of_retrieval(case, step)))
        elif (text := step.text if step.kind == "message" else step.output).strip():
            question = step.text if step.kind != "message" and step.text else case.question
            cases.append((place, _replaced(case, question, text=text)))
    # Answers without recorded steps still have what was retrieved; a selection by name cannot match it.
    if selection.kind == "retrieval" and not selection.name and not answer.steps and answer.context:
        return [("", case)]
    return cases


def _of_calls(case: Case, selection: StepSelection) -> Iterator[tuple[str, Case]]:
    # A user reads "step 3" in the report of the trace; calls that no step records are counted by themselves.
    numbers = {step.call: number for number, step in enumerate(case.answer.steps, 1) if step.call is not None}
    for index, call in enumerate(case.answer.tool_calls):
        if not selection.takes("tool", call.name, call.agent) or not (call.result or "").strip():
            continue
        place = f"step {numbers[index]}" if index in numbers else f"call {index + 1}"
        result = call.result or ""
        chunks = tuple(texts_of_result(result))
        yield (
            f"{place}, {call.name}",
            _replaced(case, _query(call) or case.question, text=result, context=chunks),
        )


def _of_retrieval(case: Case, step: Step) -> Case:
    answer = case.answer
    return _replaced(
        case,
        step.text or case.question,
        text=answer.text,
        context=tuple(answer.context[index] for index in step.documents),
        context_sources=_at(answer.context_sources, step.documents),
        context_scores=_at(answer.context_scores, step.documents),
        is_rag=True,
    )


def _at(values: Sequence[Any], indices: Sequence[int]) -> tuple[Any, ...]:
    return tuple(values[index] for index in indices) if values else ()


def _replaced(case: Case, question: str, *, is_rag: bool = False, **parts: Any) -> Case:
    """Return a case with another question and other parts of the answer; no call or step is its own."""
    # Evaluators of calls or turns would otherwise score those of the whole answer once per step.
    answer: Answer = structs.replace(case.answer, tool_calls=(), steps=(), turns=(), **parts)
    # The answer of a retrieval step is that of the case: a condition on it would say nothing of the chunks.
    condition_on = "context" if is_rag and case.condition_on != "both" else case.condition_on
    return structs.replace(
        case, question=question, answer=answer, is_rag=is_rag, plan=None, condition_on=condition_on
    )


def _query(call: ToolCall) -> str:
    values = list(call.arguments.values())
    return values[0] if len(values) == 1 and isinstance(values[0], str) else ""


def texts_of_result(result: str) -> list[str]:
    """Return the texts of a search result, of the forms that search tools use; else the result itself.

    >>> texts_of_result('{"results": [{"text": "Cards are free."}, "Call us."]}')
    ['Cards are free.', 'Call us.']
    >>> texts_of_result("Cards are free.")
    ['Cards are free.']
    """
    if result.lstrip()[:1] not in ("[", "{"):
        return [result]
    try:
        data = json.loads(result)
    except (ValueError, RecursionError):
        return [result]
    if isinstance(data, Mapping):
        data = next((data[name] for name in _LISTS if isinstance(data.get(name), list)), data)
    items = data if isinstance(data, list) else [data]
    return [_text(item) for item in items] or [result]


def _text(item: object) -> str:
    if isinstance(item, Mapping):
        for name in _TEXTS:
            if isinstance(item.get(name), str):
                return str(item[name])
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
