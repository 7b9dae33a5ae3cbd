"""Scores of traces in Langfuse.

Source: Langfuse, public API, POST /api/public/ingestion (events of the type `score-create`).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.traces.otel.channel import Channel, NotSent
from pytest_evalstudio.traces.otel.scores import SpanScore
from pytest_evalstudio.traces.otel.viewers.viewer import Sent, Viewer, batches

BATCH = 100
"""Events of one request; Langfuse takes 3.5 MB."""
_PUBLIC, _SECRET = "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY"


class _Result(msgspec.Struct):
    successes: list[object] = []
    errors: list[object] = []


def _headers(environment: Mapping[str, str]) -> dict[str, str]:
    public, secret = environment.get(_PUBLIC, ""), environment.get(_SECRET, "")
    if not (public and secret):
        raise ConfigurationError(f"Langfuse needs API keys to receive scores; set {_PUBLIC} and {_SECRET}")
    return {"Authorization": f"Basic {base64.b64encode(f'{public}:{secret}'.encode()).decode()}"}


async def _send(channel: Channel, url: str, scores: Iterable[SpanScore]) -> Sent:
    target = f"{url.rstrip('/')}/api/public/ingestion"
    accepted = 0
    for batch in batches(scores, BATCH):
        accepted += await _create(channel, target, batch)
    return Sent(accepted=accepted)


async def _create(channel: Channel, target: str, scores: Sequence[SpanScore]) -> int:
    reply = await channel.post(target, msgspec.json.encode({"batch": list(map(_event, scores))}))
    if not reply.is_success:
        raise NotSent(f"{target} refused the scores with status {reply.status}")
    try:
        result = msgspec.json.decode(reply.content, type=_Result)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise NotSent(f"the service at {target} does not reply like Langfuse; check the address") from None
    if result.errors:
        raise NotSent(f"{target} refused {len(result.errors)} of {len(scores)} scores")
    return len(scores)


def _event(score: SpanScore) -> dict[str, object]:
    # The same score has the same id, so that a second export replaces it.
    identity = (score.run_id, score.test, score.repeat, score.model, score.name, score.span_id)
    id = hashlib.sha256("\0".join(map(str, identity)).encode()).hexdigest()[:32]
    body: dict[str, object] = {
        "id": id,
        "traceId": score.trace_id,
        "observationId": score.span_id,
        "name": score.name,
        "value": score.value,
        "dataType": "NUMERIC",
        "metadata": score.origin,
    }
    if comment := score.reason or score.label:
        body["comment"] = comment
    timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return {"id": id, "type": "score-create", "timestamp": timestamp, "body": body}


VIEWER = Viewer(keys=(_PUBLIC, _SECRET), headers=_headers, send=_send)
