"""Document recall: were the documents retrieved that hold the answer."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import unquote

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import keywords, listed, one_line


@evaluator(
    "document_recall",
    name="Document recall",
    domain="retrieval",
    needs=("context",),
    method=("rules",),
    systems=("rag",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based"),
    problem_type="retrieval",
    avid="P0100",
)
@dataclass(frozen=True)
class DocumentRecall:
    """Share of the expected documents that the retrieved chunks come from; no judge."""

    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "document_recall",
            "Document recall",
            primary=True,
            description="Expected documents that chunks came from / expected documents.",
        ),
    )
    needs: ClassVar[tuple[str, ...]] = ()
    """The chunks' sources are enough; what stands in them is not read."""

    def not_applicable(self, case: Case) -> str:
        if not any(name.strip() for name in case.expected_documents):
            return "no expected documents"
        if any(name.strip() for name in case.context_sources):
            return ""
        return "the host does not say where its chunks come from" if case.context else "no context"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        reason = self.not_applicable(case)
        if reason:
            return Outcome.not_applicable(reason)
        expected = dict.fromkeys(name.strip() for name in case.expected_documents if name.strip())
        missing = missing_documents(list(expected), case.context_sources)
        recall = 1 - len(missing) / len(expected)
        return Outcome.score(
            {"document_recall": recall},
            reason=f"not retrieved: {listed([one_line(name) for name in missing])}" if missing else "",
        )


def missing_documents(expected: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Expected documents that no source is.

    >>> missing_documents(["a.pdf", "docs/b.pdf", "c.pdf"], ["https://host/files/a.pdf#page=3", "/other/b.pdf", "C:\\\\c.pdf"])
    ['docs/b.pdf']
    """  # noqa: E501
    known = {source.strip() for source in sources}
    return [
        name
        for name in expected
        if name not in known and not any(same_document(name, source) for source in known)
    ]


def same_document(expected: str, source: str) -> bool:
    """Whether two URIs or paths mean one document, as far as their text tells.

    Scheme, query, fragment, percent signs and the kind of slash do not count. A shorter path means every path
    that ends with it, by whole names: `b.pdf` is `/docs/b.pdf`, `x/b.pdf` is not.
    """
    ours, theirs = _names(expected), _names(source)
    length = min(len(ours), len(theirs))
    return length > 0 and ours[-length:] == theirs[-length:]


@functools.lru_cache(maxsize=4096)
def _names(uri: str) -> tuple[str, ...]:
    scheme, separator, rest = uri.strip().partition("://")
    path = rest if separator else scheme.removeprefix("file:")
    path = path.partition("#")[0]
    if separator:
        path = path.partition("?")[0]
    names = [name for name in unquote(path).replace("\\", "/").split("/") if name not in ("", ".")]
    if separator and scheme.lower() in ("http", "https") and names:
        names[0] = names[0].lower()
    return tuple(names)
