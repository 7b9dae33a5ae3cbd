"""Suites made of recorded conversations: fixed turns, with the observed calls as expectations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from pytest_evalstudio.core.attachments import IMAGE_TYPES, Attachment
from pytest_evalstudio.core.errors import DataError, nearest
from pytest_evalstudio.core.tool_calls import ExpectedToolCall, ToolCall
from pytest_evalstudio.formats.attachments import AttachedFile
from pytest_evalstudio.formats.conversations import ConversationTurn
from pytest_evalstudio.formats.fields import EarlierTurn as EarlierTurn
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.record.schema import Item, RecordRow
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import masked

REVIEW = "to_review"
"""Category of a case whose expectations are observations that nobody has reviewed."""
_MASKED = re.compile(r"\*{4}|\*[@.-]\*|\*{2}[ -]\*{2}")
"""Asterisks of a mask: each one is longer than the two that are bold type in Markdown, or has separators."""


def frozen_suite(
    items: Iterable[Item], keys: Collection[str] = (), *, model_key: str = "", name: str = "Frozen"
) -> TestSuite:
    """Return a suite of recorded cases, whose expectations are the calls of their first repeat.

    A conversation becomes fixed turns. Documents, images and files are named by their paths, which start at
    the folder of the recorded suite; images and files with their digests. The expectations of the recorded
    case stay; calls that were observed replace expected ones. Each case has the category "to_review". Texts
    of a record are masked.

    Args:
        items: of a record.
        keys: of the cases; () for all.
        model_key: of the model whose answers are taken; "" for the first that answered a case.
        name: of the suite.

    Raises:
        DataError: if a key is not in the record, or no case has an answer.
    """
    by_documents: dict[tuple[str, ...], list[TestCase]] = {}
    frozen: set[tuple[str, str]] = set()
    seen: set[str] = set()
    unique_key, unique_test_key = Numbered(), Numbered()
    for item in items:
        seen.add(item.key)
        if (keys and item.key not in keys) or (model_key and item.model_key != model_key):
            continue
        identity = (item.file, item.key)
        # Of several models the first one with an answer counts: a case has one set of expectations.
        if identity in frozen or not item.rows or item.rows[0].answer.error:
            continue
        frozen.add(identity)
        row = item.rows[0]
        by_documents.setdefault(row.corpus, []).append(_case(unique_key(item.key), row))
    # After the loop, since the keys of the record are known only then.
    for key in keys:
        if key not in seen:
            raise DataError(f"no case of the record has the key {key!r}. {nearest(key, seen)}".strip())
    if not frozen:
        raise DataError("no case of the record has an answer of the chosen model")
    tests = [
        Test(key=unique_test_key("frozen"), documents=list(documents), test_cases=cases)
        for documents, cases in by_documents.items()
    ]
    return TestSuite(name=name, tests=tests)


def _case(key: str, row: RecordRow) -> TestCase:
    case = TestCase(
        key=key,
        prompt=row.question,
        categories=[*dict.fromkeys((*row.categories, REVIEW))],
        retrieval=row.retrieval,
        conversation=[EarlierTurn(role=turn.role, content=turn.content) for turn in row.conversation],
        judge=row.judge,
        **row.expectations,
        # In a conversation they belong to its turns.
        **({} if row.answer.turns else _attached(row.attachments)),
    )
    if not row.answer.turns:
        return case.model_copy(update={"expected_tool_calls": _expected(row.answer.tool_calls)})
    turns = [
        ConversationTurn(
            prompt=turn.prompt,
            **_attached(turn.attachments),
            **turn.expectations | {"expected_tool_calls": _expected(turn.answer.tool_calls)},
            evaluators=None if turn.evaluators is None else list(turn.evaluators),
        )
        for turn in row.answer.turns
    ]
    return case.model_copy(update={"turns": turns})


def _attached(entries: Sequence[Attachment]) -> dict[str, list[AttachedFile]]:
    """Return images and files by their paths, pinned by their digests."""
    pinned = [(each, AttachedFile(path=each.name, sha256=each.sha256)) for each in entries]
    return {
        "images": [file for each, file in pinned if each.media_type in IMAGE_TYPES],
        "files": [file for each, file in pinned if each.media_type not in IMAGE_TYPES],
    }


def _expected(calls: Sequence[ToolCall]) -> list[ExpectedToolCall]:
    return [expected_call(call) for call in calls]


def expected_call(call: ToolCall) -> ExpectedToolCall:
    """Return an observed call as an expectation.

    An argument with personal data or secrets, masked or not, is expected with any value, and so is one that
    would be read as a matcher. One whose name has such data is not expected, and does not count as one more.
    """
    arguments = {
        name: {"$any": True} if is_sensitive(value) or _has_matcher(value) else value
        for name, value in call.arguments.items()
        if not is_sensitive(name)
    }
    return ExpectedToolCall(
        name=safe_identifier(call.name),
        arguments=arguments,
        # The argument that was left out would otherwise count as an unexpected one.
        other_arguments="" if len(arguments) == len(call.arguments) else "allow",
    )


def is_sensitive(value: object) -> bool:
    """Return whether JSON data have personal data or secrets, or the asterisks of a record in their place."""
    if isinstance(value, str):
        return bool(_MASKED.search(value)) or masked(value) != value
    if isinstance(value, Mapping):
        return any(is_sensitive(key) or is_sensitive(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(map(is_sensitive, value))


def _has_matcher(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(str(key).startswith("$") or _has_matcher(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(map(_has_matcher, value))
