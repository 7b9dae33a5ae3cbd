"""Calls of tools in the files of other tools."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.importers.common import Json, Omissions, Record, decoded, items_of


def calls_of(record: Record, value: Json, name: str) -> list[dict[str, Any]]:
    """Return the calls of a record in our form.

    Args:
        value: a list of calls, or the text of a CSV cell with one.
        name: key of the calls in the record, for errors.

    Raises:
        DataError: if one of them is no call.
    """
    try:
        return [call.to_dict() for call in read_tool_calls(_list(value))]
    except ValueError as exc:
        raise record.error(str(exc), name) from None


def expected_calls_of(
    record: Record, value: Json, name: str, omissions: Omissions
) -> list[dict[str, Any]] | None:
    """Return expected calls in our form, None where the record says nothing of them.

    Raises:
        DataError: if one of them is no call.
    """
    calls = calls_of(record, value, name)
    for call in calls:
        if call.get("result"):
            omissions.add(f"results of {name}", "expectations are on calls and their arguments")
    expected = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
    return expected or None


def _list(value: Json) -> list[Json]:
    return items_of(decoded(value) if isinstance(value, str) else value)
