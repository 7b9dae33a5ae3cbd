"""Calls of the user's code: arguments by name, threads for blocking code, checked answers and errors."""

from __future__ import annotations

import asyncio
import functools
import inspect
import json
import os
import sysconfig
import time
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Answer, Prompt, Turn
from pytest_evalstudio.core.codes import finish_reason
from pytest_evalstudio.core.errors import ConfigurationError, EvalStudioError, exception_text, nearest
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.states import ApplicationState, state_text
from pytest_evalstudio.core.steps import Step, read_steps
from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_calls
from pytest_evalstudio.hosts._threads import Start, in_thread, start_thread

TEXT_KEYS = ("answer", "text", "actual_output")
ANSWER_KEYS = (
    *TEXT_KEYS,
    "context",
    "context_sources",
    "context_scores",
    "cost",
    "cost_usd",
    "usage",
    "tool_calls",
    "steps",
    "state",
    "finish_reason",
    "error",
)
# `_offered` reads each of these from the prompt by its name, except for those it names itself.
PROMPT_ARGUMENTS = ("corpus", "run", "conversation", "reply_schema", "session", "images", "files")
_ANSWER_KEYS = frozenset(ANSWER_KEYS)

_OWN_FOLDER = Path(__file__).parent
_FOREIGN_FOLDERS = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


@dataclass(frozen=True, slots=True)
class Call:
    """The user's callable and the arguments that it asks for.

    Attributes:
        label: what to call it in messages.
        prompt_arguments: those of PROMPT_ARGUMENTS that it asks for.
        fixed: arguments that are the same for every prompt.
        blocks: whether it needs a thread of its own.
    """

    function: Callable[..., Any]
    label: str
    prompt_arguments: tuple[str, ...]
    fixed: Mapping[str, Any]
    blocks: bool

    @classmethod
    def of(
        cls, function: object, label: str, *, offered: Mapping[str, Any], configured: Mapping[str, Any]
    ) -> Call:
        """Look at a callable's signature and choose its arguments.

        Args:
            offered: arguments that it gets if it asks for them by name.
            configured: arguments that the user gave it; each must be asked for.

        Raises:
            ConfigurationError: if it cannot be called with a prompt and these arguments.
        """
        target = _checked_callable(function, label)
        try:
            parameters = list(inspect.signature(target).parameters.values())
        except (TypeError, ValueError):  # functions of C extensions have no signature; the call itself tells
            return cls(target, label, (), dict(configured), True)
        first = _prompt_parameter(parameters, label)
        by_name = {
            parameter.name: parameter
            for parameter in parameters
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
            and parameter is not first
        }
        takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        available = {**offered, **configured}
        if not takes_any:
            _check_names(configured, by_name, label)
        _check_required(by_name, offered, configured, label)
        fixed = {
            name: value
            for name, value in available.items()
            if name in by_name or (takes_any and name in configured)
        }
        # A configured value replaces that of the prompt: the user asked for it.
        per_prompt = tuple(name for name in PROMPT_ARGUMENTS if name in by_name and name not in configured)
        # Code that is not a coroutine may wait for the network, which would stop all other questions.
        blocks = not (
            inspect.iscoroutinefunction(target)
            # An instance whose `__call__` is a coroutine is no coroutine function itself.
            or inspect.iscoroutinefunction(getattr(target, "__call__", None))  # noqa: B004
        )
        return cls(target, label, per_prompt, fixed, blocks)

    async def answer(self, prompt: Prompt, start: Start = start_thread) -> Answer:
        """Call it with a prompt.

        Args:
            start: starts blocking work, see `called`.

        Raises:
            HostFault: if it raises or returns no answer; a HostFault of its own passes through, so that it
                can ask for a retry.
        """
        began = time.perf_counter()
        returned = await self.returned(prompt, start)
        # Anything else may be a stream of a framework, whose parts have to be joined before it is an answer.
        if not isinstance(returned, str | Mapping | Answer | list):
            from pytest_evalstudio.hosts._frameworks.streams import joined

            returned = await joined(returned, began, functools.partial(called, start=start))
        return to_answer(returned, self.label)

    async def returned(self, prompt: Prompt, start: Start = start_thread) -> Any:
        """Call it with a prompt and return its result as it is; see `answer`."""
        self._check_attachments(prompt)
        arguments = {**self.fixed, **{name: _offered(prompt, name) for name in self.prompt_arguments}}
        return await called(
            functools.partial(self.function, prompt.text, **arguments), blocks=self.blocks, start=start
        )

    def _check_attachments(self, prompt: Prompt) -> None:
        """Refuse images and files that the callable does not ask for.

        Raises:
            HostFault: names the missing parameter.
        """
        for each in prompt.attachments:
            name = "images" if each.is_image else "files"
            if name not in self.prompt_arguments:
                raise HostFault(
                    f"the question has {name}, which {self.label} does not accept; add a parameter {name!r}"
                    ", a list of paths",
                    not_supported=True,
                )


def _checked_callable(function: object, label: str) -> Callable[..., Any]:
    if not callable(function):
        raise ConfigurationError(
            f"{label} is not callable but {_a(function)}; name a function that takes the prompt"
        )
    if inspect.isclass(function):
        raise ConfigurationError(f"{label} is a class; name a function, or an instance that can be called")
    return function


def _prompt_parameter(parameters: Sequence[inspect.Parameter], label: str) -> inspect.Parameter:
    """Return the parameter that takes the prompt, the first positional one."""
    for parameter in parameters:
        if parameter.kind in (
            parameter.POSITIONAL_ONLY,
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.VAR_POSITIONAL,
        ):
            return parameter
    raise ConfigurationError(
        f"{label} takes no positional argument; its first one must be the prompt, a string"
    )


def _check_names(configured: Collection[str], by_name: Collection[str], label: str) -> None:
    for name in configured:
        if name not in by_name:
            raise ConfigurationError(f"{label} has no parameter {name!r}. {nearest(name, by_name)}".rstrip())


def _check_required(
    by_name: Mapping[str, inspect.Parameter],
    offered: Collection[str],
    configured: Collection[str],
    label: str,
) -> None:
    for name, parameter in by_name.items():
        provided = name in offered or name in configured or name in PROMPT_ARGUMENTS
        if parameter.default is parameter.empty and not provided:
            raise ConfigurationError(
                f"{label} asks for {name!r}, which is not provided; configure it under `parameters`, or"
                f" give it a default. Known by name: {', '.join(sorted({*offered, *PROMPT_ARGUMENTS}))}"
            )


async def called(function: Callable[[], Any], *, blocks: bool = True, start: Start = start_thread) -> Any:
    """Call the user's code and return its result, awaited on the loop of the applications.

    Args:
        blocks: whether it is called in another thread.
        start: starts it there.

    Raises:
        HostFault: if it raises; a HostFault of its own passes through, so that it can ask for a retry.
    """
    try:
        if not blocks:
            return await _on_application_loop(function)
        returned = await in_thread(function, start)
        # A plain function may return a coroutine, e.g. a lambda or partial around one.
        return await _on_application_loop(lambda: returned) if inspect.isawaitable(returned) else returned
    except (asyncio.CancelledError, KeyboardInterrupt, HostFault, EvalStudioError):
        raise
    except (
        BaseException
    ) as exc:  # pytest.skip() and sys.exit() in the user's code must not end the engine's thread
        raise HostFault(f"{exception_text(exc)} ({_place(exc)})") from exc


async def _on_application_loop(function: Callable[[], Any]) -> Any:
    from pytest_evalstudio.hosts._application_loop import on_application_loop  # blocking code needs none

    return await on_application_loop(function)


def _offered(prompt: Prompt, name: str) -> Any:
    """Return the value of one of PROMPT_ARGUMENTS.

    Earlier turns are in the form of chat services; images and files are absolute paths.
    """
    if name == "conversation":
        return [_message(turn) for turn in prompt.conversation]
    if name in ("images", "files"):
        return _paths(prompt.attachments, name)
    return getattr(prompt, name)


def _message(turn: Turn) -> dict[str, Any]:
    message = {"role": turn.role, "content": turn.content}
    return message | {
        name: paths for name in ("images", "files") if (paths := _paths(turn.attachments, name))
    }


def _paths(attachments: Sequence[Attachment], name: str) -> list[str]:
    if not attachments:
        return []
    from pytest_evalstudio.hosts._attachments import local_paths  # most questions come with no file

    return local_paths(each for each in attachments if each.is_image == (name == "images"))


def to_answer(returned: object, label: str) -> Answer:
    """Convert the return value of the user's code to an answer.

    Args:
        returned: text, an Answer, a mapping with one of TEXT_KEYS and any of the other ANSWER_KEYS, or the
            result of a framework that `_frameworks` reads.

    Raises:
        HostFault: if it is none of these; the message names the fault.
    """
    if isinstance(returned, str):
        return Answer(text=returned)
    if isinstance(returned, Answer):
        return returned
    # A plain mapping with our keys is ours, although a framework may use some of the same names.
    if not (isinstance(returned, Mapping) and returned.keys() <= _ANSWER_KEYS and _is_plain(returned)):
        from pytest_evalstudio.hosts._frameworks.reading import framework_answer

        if (answer := framework_answer(returned, label)) is not None:
            return answer
    if not isinstance(returned, Mapping):
        raise HostFault(
            f"{label} returned {_a(returned)}; return a str, a mapping with 'answer', a pytest_evalstudio"
            " Answer, or the result of a supported agent framework"
        )
    for key in returned:
        if key not in ANSWER_KEYS:
            raise HostFault(
                f"{label} returned a mapping with the unknown key {key!r}. {nearest(str(key), ANSWER_KEYS)}".rstrip()  # noqa: E501
            )
    texts = [key for key in TEXT_KEYS if key in returned]
    error = _checked(returned, "error", (str,), "", label)
    context = _strings(returned, "context", label)
    steps, tool_calls = _steps(returned, label, chunks=len(context))
    # An answer in error, or one that only calls tools, needs no text.
    if len(texts) != 1 and not error and not (tool_calls and not texts):
        fault = f"both {texts[0]!r} and {texts[1]!r}" if texts else "no 'answer'"
        raise HostFault(
            f"{label} returned a mapping with {fault}; give exactly one of {', '.join(TEXT_KEYS)}"
        )
    sources = _strings(returned, "context_sources", label)
    if sources and len(sources) != len(context):
        raise HostFault(
            f"{label} returned {len(context)} context chunks and {len(sources)} context_sources; give one"
            " source per chunk, or none"
        )
    scores = _scores(returned, label)
    if scores and len(scores) != len(context):
        raise HostFault(
            f"{label} returned {len(context)} context chunks and {len(scores)} context_scores; give one score"
            " per chunk, or none"
        )
    cost = _checked(
        returned, "cost_usd" if "cost_usd" in returned else "cost", (int, float, type(None)), None, label
    )
    return Answer(
        text="" if error or not texts else _text(returned, texts[0], label, may_lack=bool(tool_calls)),
        context=context,
        context_sources=sources,
        context_scores=scores,
        # An empty list says that the application retrieves and found nothing; a missing key says nothing.
        retrieves=True if returned.get("context") is not None else None,
        cost_usd=None if cost is None else float(cost),
        usage=_usage(returned, label),
        tool_calls=tool_calls,
        steps=steps,
        state=state_of(returned["state"], label) if returned.get("state") is not None else None,
        finish_reason=finish_reason(_checked(returned, "finish_reason", (str, type(None)), "", label)),
        error=error,
    )


def state_of(value: object, label: str) -> ApplicationState:
    """Return the state that the user's code gives.

    Raises:
        HostFault: if it is not a JSON value.
    """
    try:
        return ApplicationState(after=state_text(value))
    except ValueError as exc:
        raise HostFault(f"{label} gave a state that cannot be used: {exc}") from None


def _text(returned: Mapping[str, Any], key: str, label: str, *, may_lack: bool) -> str:
    """Return the text of an answer; one that only calls tools may have None."""
    if may_lack and returned[key] is None:
        return ""
    return str(_checked(returned, key, (str,), "", label))


def _steps(
    returned: Mapping[str, Any], label: str, *, chunks: int
) -> tuple[tuple[Step, ...], tuple[ToolCall, ...]]:
    """Return the steps and the called tools; the steps of tools give the calls where nothing else does."""
    calls = _tool_calls(returned, label)
    value = returned.get("steps")
    if value is None:
        return (), calls
    if not isinstance(value, list | tuple):
        raise HostFault(f"{label} returned 'steps' as {_a(value)}; make it a list of steps")
    typed = [step.to_dict() if isinstance(step, Step) else step for step in value]
    try:
        return read_steps(json.loads(json.dumps(typed, allow_nan=False)), calls, chunks=chunks)
    except (TypeError, ValueError, RecursionError) as exc:
        raise HostFault(f"{label} returned faulty 'steps': {exc}") from None


def _tool_calls(returned: Mapping[str, Any], label: str) -> tuple[ToolCall, ...]:
    """Return the called tools; their arguments become plain JSON data."""
    value = returned.get("tool_calls")
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise HostFault(f"{label} returned 'tool_calls' as {_a(value)}; make it a list of calls")
    typed = [call.to_dict() if isinstance(call, ToolCall) else call for call in value]
    try:
        return read_tool_calls(json.loads(json.dumps(typed, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as exc:
        raise HostFault(f"{label} returned faulty 'tool_calls': {exc}") from None


def _checked(returned: Mapping[str, Any], key: str, types: tuple[type, ...], default: Any, label: str) -> Any:
    value = returned.get(key, default)
    # A bool is an int in Python, and never a cost.
    if not isinstance(value, types) or isinstance(value, bool):
        type_names = " or ".join("None" if kind_of is type(None) else kind_of.__name__ for kind_of in types)
        raise HostFault(f"{label} returned {key!r} as {_a(value)}; make it {type_names}")
    return value


def _strings(returned: Mapping[str, Any], key: str, label: str) -> tuple[str, ...]:
    value = returned.get(key)
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise HostFault(f"{label} returned {key!r} as {_a(value)}; make it a list of strings")
    return tuple(value)


def _is_plain(returned: Mapping[str, Any]) -> bool:
    """Return False where the text or the chunks of a mapping are objects, which a framework may have made."""
    chunks = returned.get("context")
    texts = [returned.get(key) for key in TEXT_KEYS]
    return all(isinstance(text, str | None) for text in texts) and not (
        isinstance(chunks, list | tuple) and any(not isinstance(chunk, str) for chunk in chunks)
    )


def _scores(returned: Mapping[str, Any], label: str) -> tuple[float, ...]:
    """Return the relevance of each chunk; numbers of NumPy count as numbers."""
    value = returned.get("context_scores")
    if value is None:
        return ()
    try:
        # float() would read "0.9", and a text or mapping is iterable as well.
        if isinstance(value, str | bytes | Mapping) or any(isinstance(score, str | bool) for score in value):
            raise TypeError
        return tuple(float(score) for score in value)
    except (TypeError, ValueError):
        raise HostFault(
            f"{label} returned 'context_scores' as {_a(value)}; make it a list of numbers"
        ) from None


def _usage(returned: Mapping[str, Any], label: str) -> dict[str, int]:
    value = returned.get("usage") or {}
    if not isinstance(value, Mapping) or not all(isinstance(count, int) for count in value.values()):
        raise HostFault(
            f"{label} returned 'usage' as {_a(value)}; make it a mapping of names to whole numbers, e.g."
            " {'input_tokens': 10}"
        )
    return {str(name): int(count) for name, count in value.items()}


def _a(value: object) -> str:
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _place(exc: BaseException) -> str:
    """Return the file and line in the user's code, not in a library, where an exception was raised."""
    frames = [
        frame
        for frame in traceback.extract_tb(exc.__traceback__)
        if Path(frame.filename).parent != _OWN_FOLDER
    ]
    # The innermost frame is often in a library that the user's code called; their own line helps more.
    user_frames = [
        frame
        for frame in frames
        if not frame.filename.startswith(_FOREIGN_FOLDERS) and not frame.filename.startswith("<")
    ]
    for frame in reversed(user_frames or frames):
        return f"{_short(frame.filename)}:{frame.lineno}"
    return "at its call"


def _short(path: str) -> str:
    inside = (
        os.path.relpath(path) if os.path.splitdrive(path)[0] == os.path.splitdrive(os.getcwd())[0] else path
    )
    return path if inside.startswith("..") else inside
