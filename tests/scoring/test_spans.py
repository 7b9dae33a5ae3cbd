"""Times in which evaluators scored, and their way into a record."""

from __future__ import annotations

from pytest_evalstudio.record.schema import EvaluatorSpan
from pytest_evalstudio.record.writer import extend_spans
from pytest_evalstudio.scoring.spans import EvaluatorSpans


def span(start: str, finish: str) -> EvaluatorSpan:
    return EvaluatorSpan(started=start, finished=finish)


def test_a_span_reaches_from_the_first_start_to_the_last_end() -> None:
    spans = EvaluatorSpans()
    spans.note("rouge", 60.5, 61.0)
    spans.note("rouge", 30.0, 40.25)
    spans.note("bleu", 0.0, 1.0)

    assert spans.take() == {
        "rouge": span("1970-01-01T00:00:30.000+00:00", "1970-01-01T00:01:01.000+00:00"),
        "bleu": span("1970-01-01T00:00:00.000+00:00", "1970-01-01T00:00:01.000+00:00"),
    }


def test_a_span_is_taken_once() -> None:
    spans = EvaluatorSpans()
    spans.note("rouge", 1.0, 2.0)

    assert spans.take()
    assert spans.take() == {}


def test_spans_of_several_processes_are_united_in_any_order() -> None:
    parts = [span("T10", "T20"), span("T05", "T12"), span("T11", "T30")]
    for order in (parts, parts[::-1]):
        spans: dict[str, EvaluatorSpan] = {}
        for part in order:
            extend_spans(spans, {"rouge": part})
        assert spans == {"rouge": span("T05", "T30")}
