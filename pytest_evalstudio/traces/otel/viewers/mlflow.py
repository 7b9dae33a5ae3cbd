"""Assessments of traces in MLflow.

Source: MLflow 3, REST API, traces and assessments.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping

import msgspec

from pytest_evalstudio.traces.otel.channel import Channel, NotSent, Reply
from pytest_evalstudio.traces.otel.scores import SpanScore
from pytest_evalstudio.traces.otel.viewers.viewer import Sent, Viewer

_NOT_FOUND = 404
_TOKEN, _USER, _PASSWORD = (
    "MLFLOW_TRACKING_TOKEN",
    "MLFLOW_TRACKING_USERNAME",
    "MLFLOW_TRACKING_PASSWORD",
)


class _Assessment(msgspec.Struct):
    assessment_name: str = ""
    span_id: str = ""
    metadata: dict[str, str] = {}


class _TraceInfo(msgspec.Struct):
    assessments: list[_Assessment] = []


class _Trace(msgspec.Struct):
    trace_info: _TraceInfo = msgspec.field(default_factory=_TraceInfo)


class _Found(msgspec.Struct):
    trace: _Trace = msgspec.field(default_factory=_Trace)


def _headers(environment: Mapping[str, str]) -> dict[str, str]:
    if token := environment.get(_TOKEN, ""):
        return {"Authorization": f"Bearer {token}"}
    if user := environment.get(_USER, ""):
        pair = f"{user}:{environment.get(_PASSWORD, '')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


async def _send(channel: Channel, url: str, scores: Iterable[SpanScore]) -> Sent:
    by_trace: dict[str, list[SpanScore]] = {}
    for score in scores:
        by_trace.setdefault(score.trace_id, []).append(score)
    counts = Sent()
    for trace_id, trace_scores in by_trace.items():
        counts += await _assess(
            channel, f"{url.rstrip('/')}/api/3.0/mlflow/traces/tr-{trace_id}", trace_scores
        )
    return counts


async def _assess(channel: Channel, trace_url: str, scores: list[SpanScore]) -> Sent:
    """Send the assessments that a trace does not have yet."""
    reply = await channel.get(trace_url)
    if reply.status == _NOT_FOUND:
        return Sent(unknown=len(scores))
    present = _identities(_checked(reply, trace_url))
    for score in scores:
        if (score.name, score.span_id, tuple(sorted(score.origin.items()))) in present:
            continue
        body = msgspec.json.encode({"assessment": _assessment(score)})
        _checked(await channel.post(f"{trace_url}/assessments", body), trace_url)
    return Sent(accepted=len(scores))


def _checked(reply: Reply, url: str) -> Reply:
    if not reply.is_success:
        raise NotSent(f"{url} refused the scores with status {reply.status}")
    return reply


def _identities(reply: Reply) -> set[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Return name, span and origin of the assessments of a trace."""
    try:
        answer = msgspec.json.decode(reply.content, type=_Found)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return set()  # another version's reply: assessments may then be there twice
    return {
        (each.assessment_name, each.span_id, tuple(sorted(each.metadata.items())))
        for each in answer.trace.trace_info.assessments
    }


def _assessment(score: SpanScore) -> dict[str, object]:
    return {
        "assessment_name": score.name,
        "trace_id": f"tr-{score.trace_id}",
        "span_id": score.span_id,
        "source": {
            "source_type": "LLM_JUDGE" if score.by_judge else "CODE",
            "source_id": "pytest-evalstudio",
        },
        "feedback": {"value": score.value},
        "rationale": score.reason or score.label,
        "metadata": score.origin,
    }


VIEWER = Viewer(keys=(_TOKEN, _USER, _PASSWORD), headers=_headers, send=_send)
