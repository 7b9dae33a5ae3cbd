"""Scores of a record, each with the span of the answer that it judges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from msgspec import Struct

from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.tracing import trace_and_span
from pytest_evalstudio.record.items import Item
from pytest_evalstudio.record.schema import Run
from pytest_evalstudio.traces.otel.events import label_of


class SpanScore(Struct, frozen=True, kw_only=True):
    """Score of an answer.

    Attributes:
        trace_id, span_id: hexadecimal; "" where the record does not know the span of the answer.
        name: `EVALUATOR.METRIC`.
        label: "pass" or "fail" where a threshold decides, else "".
        reason: reason of the score, which may quote the answer; "" where texts are not wanted.
        by_judge: whether a language model judged.
        run_id: of the run.
        test: id of the test.
        model: name of the model.
        repeat: number of the repeat, from 1.
    """

    trace_id: str
    span_id: str
    name: str
    value: float
    label: str
    reason: str
    by_judge: bool
    run_id: str
    test: str
    model: str
    repeat: int

    @property
    def origin(self) -> dict[str, str]:
        """Return where the score comes from, for the metadata of a viewer."""
        return {
            "evalstudio.run_id": self.run_id,
            "evalstudio.test": self.test,
            "evalstudio.model": self.model,
            "evalstudio.repeat": str(self.repeat),
        }


def span_scores(run: Run, items: Iterable[Item], *, texts: bool = False) -> Iterator[SpanScore]:
    """Yield each finite score of a record.

    Args:
        run: header of the record.
        items: of the record, read one by one.
        texts: whether scores have their reasons, which quote answers.
    """
    metrics = {
        name: {metric.key: metric for metric in evaluator.metrics}
        for name, evaluator in run.evaluators.items()
    }
    judge_evaluators = {name for name, evaluator in run.evaluators.items() if JUDGE in evaluator.method}
    for item in items:
        for row in item.rows:
            trace_id, span_id = trace_and_span(row.answer.traceparent)
            for evaluator, outcome in row.outcomes.items():
                for key, value in outcome.scores.items():
                    if value is None or not math.isfinite(value):
                        continue
                    metric = metrics.get(evaluator, {}).get(key)
                    yield SpanScore(
                        trace_id=trace_id,
                        span_id=span_id,
                        name=f"{evaluator}.{key}",
                        value=float(value),
                        label="" if metric is None else label_of(metric, value),
                        reason=outcome.reason if texts else "",
                        by_judge=evaluator in judge_evaluators,
                        run_id=run.run_id,
                        test=item.nodeid,
                        model=run.model_name(item.model_key),
                        repeat=row.run,
                    )
