"""Viewers by name, and the export of a record to one of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from pytest_evalstudio.traces.otel.channel import Channel, through_channel
from pytest_evalstudio.traces.otel.scores import SpanScore
from pytest_evalstudio.traces.otel.sending import service_address
from pytest_evalstudio.traces.otel.viewers import langfuse, mlflow, phoenix
from pytest_evalstudio.traces.otel.viewers.viewer import Sent, Viewer

VIEWERS: Mapping[str, Viewer] = {
    "langfuse": langfuse.VIEWER,
    "mlflow": mlflow.VIEWER,
    "phoenix": phoenix.VIEWER,
}


class Exported(Struct, frozen=True, kw_only=True):
    """Result of an export.

    Attributes:
        accepted, unknown: see `Sent`.
        without_span: scores of answers whose span the record does not know.
    """

    accepted: int
    unknown: int
    without_span: int


def export_scores(viewer: str, url: str, scores: Iterable[SpanScore]) -> Exported:
    """Send scores to a viewer.

    Args:
        viewer: one of VIEWERS.
        url: address of its server.

    Raises:
        ConfigurationError: if the address or a key is missing or not valid, or httpx is not installed.
        NotSent: if the viewer refuses a request; scores of earlier requests are there.
    """
    selected = VIEWERS[viewer]
    address = service_address(url, " or ".join(selected.keys))
    without_span = 0

    def with_span() -> Iterator[SpanScore]:
        nonlocal without_span
        for score in scores:
            if score.span_id:
                yield score
            else:
                without_span += 1

    async def send(channel: Channel) -> Sent:
        return await selected.send(channel, address, with_span())

    counts = through_channel(send, selected.headers(os.environ))
    return Exported(accepted=counts.accepted, unknown=counts.unknown, without_span=without_span)
