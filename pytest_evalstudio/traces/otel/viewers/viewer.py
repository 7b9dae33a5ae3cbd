"""Interface of a viewer that takes scores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from msgspec import Struct

from pytest_evalstudio.traces.otel.channel import Channel
from pytest_evalstudio.traces.otel.scores import SpanScore


class Sent(Struct, frozen=True, kw_only=True):
    """Numbers of scores by their fate at a viewer.

    Attributes:
        accepted: scores that the viewer has now.
        unknown: scores of spans that the viewer does not have.
    """

    accepted: int = 0
    unknown: int = 0

    def __add__(self, other: Sent) -> Sent:
        return Sent(accepted=self.accepted + other.accepted, unknown=self.unknown + other.unknown)


def batches(scores: Iterable[SpanScore], size: int) -> Iterator[list[SpanScore]]:
    """Yield scores in lists of at most some size."""
    remaining = iter(scores)
    while batch := list(islice(remaining, size)):
        yield batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """A viewer of traces.

    Attributes:
        keys: variables of the environment with its keys, for the help.
        headers: returns the headers of each request, from the environment.
        send: sends scores, all of which have a span, to the address; repeated calls for the same record leave
            no score twice.
    """

    keys: tuple[str, ...]
    headers: Callable[[Mapping[str, str]], Mapping[str, str]]
    send: Callable[[Channel, str, Iterable[SpanScore]], Awaitable[Sent]]
