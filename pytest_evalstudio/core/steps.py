"""Steps of an answer: what an application did, in order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.numbers import number_fault
from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_call

StepKind = Literal["model", "tool", "retrieval", "handover", "agent", "message"]


class Step(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Step of an answer.

    Attributes:
        kind: call of a model or tool, retrieval, hand-over to another agent, run of an agent, or message.
        name: the model, tool, index or agent that the step goes to.
        agent: name of the agent whose step it is.
        id: of the step; `parent` is that of the step that it belongs to.
        text: the message, the query of a retrieval, or the last message of the user to a model or agent; ""
            for a model or agent that gets the question itself.
        output: text of a model or agent. The result of a tool is in its call.
        documents: indices of a retrieval's chunks in the answer's `context`.
        call: index in the answer's `tool_calls`, for a call of a tool; None for other kinds.
        started_s: start in seconds since the epoch; None where it is not known.
        duration_s: seconds that it took.
        usage: tokens by kind.
        cost_usd: None where it is not known.
        error: what went wrong.
    """

    kind: StepKind
    name: Annotated[str, Kept.ID] = ""
    agent: Annotated[str, Kept.ID] = ""
    id: Annotated[str, Kept.ID] = ""
    parent: Annotated[str, Kept.ID] = ""
    text: Annotated[str, Kept.LONG] = ""
    output: Annotated[str, Kept.LONG] = ""
    documents: tuple[int, ...] = ()
    call: int | None = None
    started_s: float | None = None
    duration_s: float | None = None
    usage: Mapping[str, int] = {}
    cost_usd: float | None = None
    error: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON data; fields without a value are left out."""
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {
            name: dict(value) if name == "usage" else value
            for name, value in values
            if value not in ("", None, ()) and (name != "usage" or value)
        }


_KINDS: tuple[str, ...] = get_args(StepKind)
_TEXTS = ("name", "agent", "id", "parent", "text", "output", "error")
_AMOUNTS = ("started_s", "duration_s", "cost_usd")
_STEP_ONLY = ("kind", "usage", "documents")
_OWN_KEYS = frozenset(Step.__struct_fields__)


def read_steps(
    values: object, calls: Sequence[ToolCall] = (), *, chunks: int = 0
) -> tuple[tuple[Step, ...], tuple[ToolCall, ...]]:
    """Read the steps of an answer, and the calls of tools among them.

    A step of the kind "tool" has the keys of a call, e.g. `arguments` and `result`, or `call`, the index of
    the call in `calls`.

    Args:
        values: a list of objects with the fields of `Step`; None for none.
        calls: the answer's calls; () where the steps give them.
        chunks: number of chunks in the answer's context.

    Raises:
        ValueError: if a step is faulty; the message says which and why.

    >>> steps, calls = read_steps([{"kind": "model", "name": "m"}, {"kind": "tool", "name": "find"}])
    >>> steps[1].call, calls[0].name
    (0, 'find')
    """
    if values is None:
        return (), tuple(calls)
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise ValueError("expected a list of steps")
    steps: list[Step] = []
    all_calls = list(calls)
    for index, value in enumerate(values):
        try:
            step = value if isinstance(value, Step) else _step(value)
            if step.kind == "tool" and step.call is None:
                # With calls given beside the steps, a call of this step would be there twice.
                if calls:
                    raise ValueError("it names no call; write its index in tool_calls as `call`")
                all_calls.append(_call(value))
                step = replace(step, call=len(all_calls) - 1)
            if step.call is not None and not 0 <= step.call < len(all_calls):
                raise ValueError(f"there is no call {step.call}; the answer has {len(all_calls)}")
            if step.documents and max(step.documents) >= chunks:
                raise ValueError(f"there is no chunk {max(step.documents)}; the answer has {chunks}")
        except ValueError as exc:
            raise ValueError(f"step {index}: {exc}") from None
        steps.append(step)
    return tuple(steps), tuple(all_calls)


def _call(value: object) -> ToolCall:
    if not isinstance(value, Mapping):
        raise ValueError("a step of a tool without a call")
    return read_tool_call({name: item for name, item in value.items() if name not in _STEP_ONLY})


def _step(value: object) -> Step:
    if not isinstance(value, Mapping):
        raise ValueError("expected an object with the kind of the step")
    kind, call, usage = value.get("kind"), value.get("call"), value.get("usage") or {}
    if kind not in _KINDS:
        raise ValueError(f"expected the kind {', '.join(_KINDS[:-1])} or {_KINDS[-1]}, found {kind!r}")
    # Steps of tools also have the keys of calls, in the forms of several services.
    if unknown := [name for name in value if name not in _OWN_KEYS and kind != "tool"]:
        raise ValueError(f"{unknown[0]!r} is not a key of a step; there are {', '.join(sorted(_OWN_KEYS))}")
    if call is not None and (isinstance(call, bool) or not isinstance(call, int) or kind != "tool"):
        raise ValueError("call: expected the index of a call, in a step of the kind tool")
    if not isinstance(usage, Mapping):
        raise ValueError('usage: expected tokens by kind, e.g. {"input_tokens": 10}')
    texts = {name: value[name] for name in _TEXTS if value.get(name) is not None}
    if kind == "tool":
        texts.pop("output", None)  # the result, which is in the call
    amounts = {name: value[name] for name in _AMOUNTS if value.get(name) is not None}
    if wrong := [name for name, text in texts.items() if not isinstance(text, str)]:
        raise ValueError(f"{wrong[0]}: expected a text")
    if wrong := [name for name, amount in amounts.items() if not _is_amount(amount)]:
        raise ValueError(f"{wrong[0]}: expected a number from 0")
    if fault := number_fault(
        usage=usage, cost_usd=amounts.get("cost_usd"), duration_s=amounts.get("duration_s", 0)
    ):
        raise ValueError(fault)
    return Step(
        kind=kind,
        call=call,
        documents=_documents(value.get("documents")),
        usage={str(name): count for name, count in usage.items()},
        started_s=amounts.get("started_s"),
        duration_s=amounts.get("duration_s"),
        cost_usd=amounts.get("cost_usd"),
        **texts,
    )


def _documents(value: object) -> tuple[int, ...]:
    indices = [] if value is None else value
    if not isinstance(indices, list | tuple) or any(
        index.__class__ is not int or index < 0 for index in indices
    ):
        raise ValueError("documents: expected a list of indices of chunks, from 0")
    return tuple(indices)


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
