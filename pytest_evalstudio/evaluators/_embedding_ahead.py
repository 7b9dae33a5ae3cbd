"""Embedding of texts while a judge is still being asked about other cases."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.judging import Flow
from pytest_evalstudio.core.switching import frequent_switches
from pytest_evalstudio.core.tools import Embedder

GROUP = 64
"""Consecutive cases that are embedded at once. Groups are fixed, so that no vector depends on the order in
which replies arrive."""

T = TypeVar("T")
Texts = Callable[[Case, T], Iterable[str]]


class EmbeddingAhead(Generic[T]):
    """Embeds the texts of judged cases in a background thread; the embedder keeps the vectors.

    Without it the model would be loaded, and all texts embedded, after the last reply.

    Args:
        embedder: gets the texts of each group of cases when the last of its judgements ends.
        cases: all that are judged.
        texts: texts of a case and the result of its judgement.
        judges: number of judgements of each case.
    """

    def __init__(self, embedder: Embedder, cases: Sequence[Case], texts: Texts[T], *, judges: int) -> None:
        self._embedder = embedder
        self._cases = cases
        self._texts = texts
        self._waiting = [judges * len(cases[start : start + GROUP]) for start in range(0, len(cases), GROUP)]
        self._ready: list[set[str]] = [set() for _ in self._waiting]
        self._is_loading = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evalstudio-embedding")

    def __enter__(self) -> EmbeddingAhead[T]:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._thread.shutdown(wait=kind is None, cancel_futures=kind is not None)

    def watched(self, index: int, consider: Callable[[Case], Flow[T]]) -> Flow[T]:
        """Return the judgement of a case; its texts are embedded when its group has ended."""
        group = index // GROUP
        try:
            result = yield from self._noticed(consider(self._cases[index]))
            self._ready[group].update(self._texts(self._cases[index], result))
            return result
        finally:
            self._waiting[group] -= 1
            if not self._waiting[group]:
                self._thread.submit(self._embed, sorted(self._ready[group]))

    def _noticed(self, flow: Flow[T]) -> Flow[T]:
        """Forward a judgement; start to load the model at its first reply.

        Loading takes seconds of the interpreter, which would delay the first questions.
        """
        try:
            questions = next(flow)
            while True:
                replies = yield questions
                self._load()
                questions = flow.send(replies)
        except StopIteration as end:
            result: T = end.value
            return result

    def _load(self) -> None:
        if not self._is_loading:
            self._is_loading = True
            self._thread.submit(self._embed, sorted({case.question for case in self._cases[:GROUP]}))

    def _embed(self, texts: Sequence[str]) -> None:
        # The evaluator asks for the same vectors again, and reports what is wrong.
        with contextlib.suppress(Exception), frequent_switches():
            self._embedder.encode(texts)
