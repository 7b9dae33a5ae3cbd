"""Recording and replay of the tools that applications in this process wrap, by `[tools]`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pytest_evalstudio.contrib.tool_proxy.recording import Exchange, Recorder, Recording, read_recording
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.restored import ReplayRefused, ToolSource
from pytest_evalstudio.core.tool_calls import ToolCall, call_text
from pytest_evalstudio.formats.config import Configuration

METHOD = "call"


def open_source(config: Configuration) -> ToolSource | None:
    """Return what records or replays wrapped tools, None where the configuration asks for neither.

    Raises:
        ConfigurationError: if the recording cannot be read or written.
        DataError: if it is none.
    """
    table = config.tools
    if table is None:
        return None
    path = Path(config.folder, table.recording)
    if table.proxy == "record":
        return _Recorded(Recorder(path, place="tools.recording"))
    return _Replayed(read_recording(path, place="tools.recording"), table.live)


class _Recorded:
    """Tools whose calls are recorded."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def reply(self, name: str, arguments: Mapping[str, Any], earlier: int) -> ToolCall | None:
        return None

    def record(self, call: ToolCall, value: Any) -> None:
        try:
            result = "" if call.error else json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError) as exc:
            fact = f"tools.recording: {call.name} returned a {type(value).__name__}, which is no JSON data"
            raise EvaluationError(f"{fact}; let it return texts, numbers, lists or dictionaries") from exc
        self._recorder.add(
            Exchange(tool=call.name, method=METHOD, arguments=call.arguments, result=result, error=call.error)
        )


class _Replayed:
    """Tools whose recorded results take the place of calls."""

    def __init__(self, recording: Recording, live: Sequence[str]) -> None:
        self._recording = recording
        self._live = live

    def reply(self, name: str, arguments: Mapping[str, Any], earlier: int) -> ToolCall | None:
        exchange = self._recording.reply(METHOD, name, arguments, earlier)
        if exchange is not None:
            result = None if exchange.error else exchange.result
            return ToolCall(name=name, arguments=arguments, result=result, error=exchange.error)
        if any(fnmatchcase(name, pattern) for pattern in self._live):
            return None
        raise ReplayRefused(
            f"{call_text(name, arguments)} was not recorded; record again, or name the tool in `live` of"
            " [tools] if it changes nothing"
        )

    def record(self, call: ToolCall, value: Any) -> None:
        """Record nothing: a live tool is called anew in each replay."""
