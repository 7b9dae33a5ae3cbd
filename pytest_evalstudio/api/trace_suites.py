"""Suites made of traces: observed questions without personal data, to be reviewed by a person."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections.abc import Iterable, Sequence

from pytest_evalstudio.api.freezing import REVIEW, expected_call
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.formats.conversations import ConversationTurn
from pytest_evalstudio.formats.dataset import Row
from pytest_evalstudio.formats.fields import EarlierTurn as EarlierTurn
from pytest_evalstudio.formats.imported.records import Omissions
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.metrics.detectors import redact_identifier
from pytest_evalstudio.scoring.masking import masked

DUPLICATE = "case whose question another one asks, too"


def suite_of_rows(
    rows: Iterable[Row],
    omissions: Omissions,
    *,
    name: str = "Traces",
    sample: int | None = None,
    freeze_calls: bool = False,
) -> TestSuite:
    """Return a suite of the questions of traces, each one once, with the category "to_review".

    Personal data and secrets are masked. The sample does not depend on the order of the rows: it takes the
    questions with the smallest hashes.

    Args:
        rows: of traces.
        omissions: counts what is left out.
        name: of the suite.
        sample: number of questions; None for all.
        freeze_calls: make the observed calls of tools expectations.
    """
    cases: dict[bytes, TestCase] = {}
    answered: set[bytes] = set()
    largest: list[tuple[int, bytes]] = []  # a heap of the hashes, with the largest one first
    for row in rows:
        digest = _digest(row)
        if digest in cases:
            omissions.add(DUPLICATE, "each question is asked once")
            # The answer counts, where an application traces each request to the model by itself.
            if digest in answered or not row.actual_output:
                continue
        elif sample is not None and len(cases) == sample:
            # Negative numbers, since `heapq` has the smallest
            # first: the hash is larger than all that are kept.
            if -int.from_bytes(digest) < largest[0][0]:
                continue
            _, replaced = heapq.heapreplace(largest, (-int.from_bytes(digest), digest))
            del cases[replaced]
        else:
            heapq.heappush(largest, (-int.from_bytes(digest), digest))
        cases[digest] = _case(row, freeze_calls)
        if row.actual_output:
            answered.add(digest)
    return TestSuite(name=name, tests=[Test(key="traces", test_cases=list(cases.values()))])


def _digest(row: Row) -> bytes:
    """Return the hash of a question, without regard to case and blanks."""
    texts = [row.input, *(turn.content for turn in row.conversation), *(turn.prompt for turn in row.turns)]
    plain = [" ".join(text.lower().split()) for text in texts]
    return hashlib.sha256(json.dumps(plain).encode()).digest()[:16]


def _case(row: Row, freeze_calls: bool) -> TestCase:
    def expected(calls: Sequence[ToolCall]) -> list[ExpectedToolCall] | None:
        return [expected_call(call) for call in calls] if freeze_calls else None

    return TestCase(
        key=redact_identifier(row.key),
        prompt=masked(row.input),
        categories=[REVIEW],
        conversation=[EarlierTurn(role=turn.role, content=masked(turn.content)) for turn in row.conversation],
        expected_tool_calls=None if row.turns else expected(row.tool_calls),
        turns=[
            ConversationTurn(prompt=masked(turn.prompt), expected_tool_calls=expected(turn.tool_calls))
            for turn in row.turns
        ],
    )
