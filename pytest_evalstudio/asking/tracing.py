"""Traces of the questions of a run: the context of their requests, and the spans that arrive for them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial

from msgspec import structs

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.tracing import TRACEPARENT, traceparent
from pytest_evalstudio.hosts._bodies import max_reply_size
from pytest_evalstudio.hosts._threads import in_thread
from pytest_evalstudio.traces.answers import completed_answer
from pytest_evalstudio.traces.collecting import CollectedSpans, SpanSource
from pytest_evalstudio.traces.in_process import InProcessSpans

PREFIX_CHARS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """Traces of the questions that a process asks.

    Attributes:
        prefix: hexadecimal begin of the ids of all traces of the run.
        sources: of spans; none where the application's spans go elsewhere.
        wait_s: seconds to wait for the spans of an answer at most.
        in_process: watches the application in this process; None for none.
    """

    prefix: str
    sources: Sequence[SpanSource] = ()
    wait_s: float = 0.0
    in_process: InProcessSpans | None = None

    def question(self) -> QuestionTrace:
        """Return the trace of a new question; its id is never used again."""
        return QuestionTrace(tracing=self, trace_id=self.prefix + secrets.token_hex(8))


TracingSource = Callable[[], Tracing | None]
"""Returns the traces of a process, which workers learn after their models were opened; None for none."""


@dataclass(slots=True, kw_only=True)
class QuestionTrace:
    """Trace of a question.

    Attributes:
        parents: ids of the spans that its requests named as their parent; one for each attempt.
    """

    tracing: Tracing
    trace_id: str
    parents: list[str] = field(default_factory=list)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Make requests in this context, and spans of this process, those of a new attempt."""
        span_id = secrets.token_hex(8)
        self.parents.append(span_id)
        with ExitStack() as stack:
            if self.tracing.in_process is not None:
                stack.enter_context(self.tracing.in_process.question(self.trace_id, span_id))
            token = TRACEPARENT.set(traceparent(self.trace_id, span_id))
            try:
                yield
            finally:
                TRACEPARENT.reset(token)

    async def completed(self, answer: Answer, question: str, *, max_text_chars: int) -> Answer:
        """Return an answer, also one that failed, with its trace and with what only its spans say.

        Args:
            max_text_chars: of the configuration; far longer contexts are not taken.
        """
        if not self.parents:  # it was not asked
            return answer
        answer = structs.replace(answer, traceparent=traceparent(self.trace_id, self.parents[-1]))
        if not self.tracing.sources:
            return answer
        # Without an answer nobody says that spans will come, but those that have come show what happened.
        collected = await self._collected(0.0 if answer.error else self.tracing.wait_s)
        if not answer.error:
            answer = structs.replace(answer, spans=collected.status)
        if not collected.spans:
            return answer
        return completed_answer(
            answer,
            self.trace_id,
            collected.spans,
            question=question,
            parents=self.parents,
            max_context_chars=max_reply_size(max_text_chars),
        )

    async def _collected(self, wait_s: float) -> CollectedSpans:
        """Return the spans of the first source that has any; later sources add theirs without waiting."""
        collected = CollectedSpans()
        for source in self.tracing.sources:
            limit_s = 0.0 if collected.spans else wait_s
            collected = collected.and_of(
                await in_thread(partial(source.collect, self.trace_id, self.parents, limit_s))
            )
        return collected
