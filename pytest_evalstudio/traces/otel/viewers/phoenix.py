"""Annotations of spans in Arize Phoenix.

Source: Phoenix, REST API, POST /v1/span_annotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from pytest_evalstudio.traces.otel.channel import Channel, NotSent
from pytest_evalstudio.traces.otel.scores import SpanScore
from pytest_evalstudio.traces.otel.viewers.viewer import Sent, Viewer, batches

BATCH = 200
"""Annotations of one request."""
_NOT_FOUND = 404


def _headers(environment: Mapping[str, str]) -> dict[str, str]:
    key = environment.get("PHOENIX_API_KEY", "")
    return {"Authorization": f"Bearer {key}"} if key else {}


async def _send(channel: Channel, url: str, scores: Iterable[SpanScore]) -> Sent:
    # The reply to a synchronous request names unknown spans; otherwise they are dropped without a word.
    target = f"{url.rstrip('/')}/v1/span_annotations?sync=true"
    counts = Sent()
    for batch in batches(scores, BATCH):
        counts += await _annotate(channel, target, batch)
    return counts


async def _annotate(channel: Channel, target: str, scores: Sequence[SpanScore]) -> Sent:
    """Send annotations; a batch with an unknown span is refused as a whole, and sent in halves."""
    reply = await channel.post(target, msgspec.json.encode({"data": list(map(_annotation, scores))}))
    if reply.is_success:
        return Sent(accepted=len(scores))
    if reply.status != _NOT_FOUND:
        raise NotSent(f"{target} refused the scores with status {reply.status}")
    if len({score.span_id for score in scores}) == 1:
        return Sent(unknown=len(scores))
    ordered = sorted(scores, key=lambda score: score.span_id)
    middle = len(ordered) // 2
    return await _annotate(channel, target, ordered[:middle]) + await _annotate(
        channel, target, ordered[middle:]
    )


def _annotation(score: SpanScore) -> dict[str, object]:
    result: dict[str, object] = {"score": score.value}
    if score.label:
        result["label"] = score.label
    if score.reason:
        result["explanation"] = score.reason
    return {
        "span_id": score.span_id,
        "name": score.name,
        "annotator_kind": "LLM" if score.by_judge else "CODE",
        "result": result,
        "metadata": score.origin,
        "identifier": score.run_id,  # a second export of the run replaces the annotation
    }


VIEWER = Viewer(keys=("PHOENIX_API_KEY",), headers=_headers, send=_send)
