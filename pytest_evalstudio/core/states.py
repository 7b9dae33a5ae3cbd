"""State of an application beside its answers, e.g. of its data base."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Struct

from pytest_evalstudio.core.kept import Kept

ExpectedState = Mapping[str, Any]
"""JSON pointers (RFC 6901) to values or matchers, see `formats.matchers`."""


class ApplicationState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """State after an answer, and before it.

    Attributes:
        after: JSON as text.
        before: the same before the question or the conversation; None where it was not read.
    """

    after: Annotated[str, Kept.LONG]
    before: Annotated[str | None, Kept.LONG] = None


def state_text(value: object) -> str:
    """Return a state as JSON text.

    Raises:
        ValueError: if it is not a JSON value, with the reason.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as exc:
        raise ValueError(f"the state is not a JSON value: {exc}") from None
