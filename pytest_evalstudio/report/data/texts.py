"""Texts of a run in compressed blocks on disk, up to the page's budget.

Contexts of passing cases are left out first.
"""

from __future__ import annotations

import tempfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec
from msgspec import Struct, field

from pytest_evalstudio.analysis.comparison.results import ItemChange
from pytest_evalstudio.core.attachments import Attachment
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.codes import INCOMPLETE
from pytest_evalstudio.core.flips import Flip
from pytest_evalstudio.core.outcomes import Fragment
from pytest_evalstudio.core.quick_json import written
from pytest_evalstudio.core.reported import reported_facts
from pytest_evalstudio.record.codec import portable
from pytest_evalstudio.record.schema import Item, JsonObject, RecordRow
from pytest_evalstudio.report.data.trajectories import Trajectory, trajectory_chars, trajectory_entry

BLOCK_CHARS = 1 << 17
BLOCK_ENTRIES = 1 << 10
"""Entries that a block can have; an entry's place is its block's number times this, plus its place there."""

ENTRY_CHARS = 250
"""Approximate size of an entry without question, answer and contexts."""

NOWHERE = (1 << 32) - 1
BUDGET = 12_000_000
"""Compressed bytes of texts on one page."""

TEXT_CHARS = 20_000
CHUNKS = 16
TURN_CHARS = 4_000
"""Characters of each text of a turn."""
_LEVEL = 1  # level 6 takes three times as long and saves a fifth
_GZIP = 31  # zlib's largest window, 15, and 16 for the header of gzip
_WAITING = 2


class _BlockQueue(Struct):
    """Blocks of one kind: those being filled, being compressed, and done as (number, offset, size)."""

    number: int = -1
    entries: list[Any] = field(default_factory=list)
    chars: int = 0
    waiting: deque[tuple[int, Future[bytes]]] = field(default_factory=deque)
    done: list[tuple[int, int, int]] = field(default_factory=list)
    size: int = 0


class TextStore:
    """Takes the texts of items and keeps them compressed; use it as a context manager.

    The texts that a page needs most come first.

    There are three kinds of blocks: all texts of notable cases, the texts of others, and the contexts of
    others. Texts of one kind beyond the whole budget are not kept, so that time and disk space are bounded.
    The kept texts depend only on the record.

    Args:
        budget: size of the kept blocks in compressed bytes.
    """

    KINDS = ("notable", "other", "context")

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._queues = {kind: _BlockQueue() for kind in self.KINDS}
        self._blocks = 0
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the store)
        self._end = 0
        self._compressor = ThreadPoolExecutor(1, thread_name_prefix="evalstudio-page")

    def __enter__(self) -> TextStore:
        return self

    def __exit__(self, *exc: object) -> None:
        self._compressor.shutdown(cancel_futures=True)
        self._file.close()

    def add(
        self,
        item: Item,
        *,
        notable: bool,
        trajectories: Sequence[Sequence[Trajectory]] = (),
        change: ItemChange | None = None,
    ) -> tuple[int, int]:
        """Keep the texts of one item.

        Args:
            trajectories: of each row, one for each of its turns.
            change: the item's calls and those of its baseline, None where they do not differ.

        Returns:
            The place of its texts, and of its contexts if they are stored separately; NOWHERE for none.
        """
        rows = item.rows
        if not rows:
            return NOWHERE, NOWHERE
        contexts = [_contexts(row) if row.answer.context else None for row in rows]
        texts = ENTRY_CHARS + len(rows[0].question) + len(rows[0].answer.text) * len(rows)
        texts += sum(min(len(row.answer.thoughts), TEXT_CHARS) for row in rows)
        texts += sum(len(turn.prompt) + len(turn.answer.text) for row in rows for turn in row.answer.turns)
        texts += sum(map(trajectory_chars, trajectories))
        context = sum(sum(map(len, row.answer.context)) for row in rows)
        of_rows = trajectories or [()] * len(rows)
        kind = "notable" if notable else "other"
        if self._queues[kind].size > self._budget:
            return NOWHERE, NOWHERE
        if notable:
            entry = _entry(item, contexts, of_rows)
            if change is not None:
                from pytest_evalstudio.analysis.comparison.calls import align  # most runs have no baseline

                entry["since"] = [list(each) for each in align(change.base_calls, change.calls)]
            return self._add("notable", entry, min(BLOCK_CHARS, texts + context)), NOWHERE
        position = self._add("other", _entry(item, (), of_rows), min(BLOCK_CHARS, texts))
        return position, self._add("context", contexts, min(BLOCK_CHARS, context)) if context else NOWHERE

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Yield the blocks within the page's budget, with their numbers.

        The order is: texts of notable cases, texts of others, contexts.
        """
        remaining = self._budget
        for queue in self._queues.values():
            self._close(queue)
            while queue.waiting:
                self._store(queue)
            for number, offset, size in queue.done:
                if size > remaining:
                    remaining = 0  # smaller blocks of a later kind must not take its place
                    break
                remaining -= size
                self._file.seek(offset)
                yield number, self._file.read(size)

    def _add(self, kind: str, entry: object, size: int) -> int:
        queue = self._queues[kind]
        if queue.size > self._budget:
            return NOWHERE
        if queue.number < 0:
            queue.number = self._blocks
            self._blocks += 1
        position = queue.number * BLOCK_ENTRIES + len(queue.entries)
        queue.entries.append(entry)
        queue.chars += size
        if queue.chars >= BLOCK_CHARS or len(queue.entries) == BLOCK_ENTRIES:
            self._close(queue)
        return position

    def _close(self, queue: _BlockQueue) -> None:
        """Submit a block for compression.

        Sizes are read a fixed number of blocks later, independently of the other thread's speed.
        """
        if not queue.entries:
            return
        queue.waiting.append((queue.number, self._compressor.submit(compressed, _json(queue.entries))))
        queue.number, queue.entries, queue.chars = -1, [], 0
        if len(queue.waiting) > _WAITING:
            self._store(queue)

    def _store(self, queue: _BlockQueue) -> None:
        number, future = queue.waiting.popleft()
        data = future.result()
        self._file.seek(self._end)
        self._file.write(data)
        queue.done.append((number, self._end, len(data)))
        queue.size += len(data)
        self._end += len(data)


def _json(entries: Sequence[object]) -> bytes:
    try:
        return msgspec.json.encode(entries)
    except UnicodeEncodeError:  # half a surrogate pair
        return written(msgspec.to_builtins(entries))


def compressed(data: bytes) -> bytes:
    """Return data as gzip, the same bytes for the same data."""
    return zlib.compress(data, _LEVEL, _GZIP)


def _entry(
    item: Item, contexts: Sequence[JsonObject | None], trajectories: Sequence[Sequence[Trajectory]]
) -> JsonObject:
    first = item.rows[0]
    answers = [_answer(row, each) for row, each in zip(item.rows, trajectories, strict=True)]
    entry: JsonObject = {"input": _cut(first.question), "answers": answers}
    for name, text in (
        ("expected_output", first.expected_output),
        ("output_condition", first.condition),
        ("condition_on", first.condition_on),
        ("expects", first.expects),
    ):
        if text:
            entry[name] = _cut(text)
    for name, texts in (
        ("accepted_outputs", first.accepted_outputs),
        ("expected_facts", first.expected_facts),
        ("guidelines", first.guidelines),
    ):
        if texts:
            entry[name] = list(map(_cut, texts))
    if first.attachments:
        entry["attachments"] = _attachments(first.attachments)
    if first.corpus:
        entry["corpus"] = first.corpus
    if first.categories:
        entry["categories"] = first.categories
    if item.flips:
        plain_flips = [msgspec.structs.replace(flip, smallest=None) for flip in item.flips]
        entry["flips"] = [portable(msgspec.to_builtins(flip)) for flip in plain_flips]
        if any(flip.smallest is not None for flip in item.flips):
            entry["smallest_edits"] = _smallest_edits(item.flips)
    if reasons := {id: verdict.reason for id, verdict in item.verdicts.items() if verdict.reason}:
        entry["reasons"] = reasons
    if item.reason:
        entry["reason"] = _cut(item.reason)
    for answer, context in zip(entry["answers"], contexts, strict=False):
        if context:
            answer["context"] = context
    return entry


def _smallest_edits(flips: Iterable[Flip]) -> list[JsonObject]:
    """Return the smallest edits of an item's flips for the page: in words, with both questions."""
    from pytest_evalstudio.record.smallest import equal_edits, wording  # most runs shrink no flip

    entries = []
    for edits in equal_edits(flip.smallest for flip in flips if flip.smallest is not None):
        words = wording(edits[0], sum(edit.calls for edit in edits))
        entry: JsonObject = {"title": words.title, "note": words.note}
        if words.has_question:
            entry |= {"original": _cut(edits[0].original), "question": _cut(edits[0].question)}
        entries.append(entry)
    return entries


def _answer(row: RecordRow, trajectories: Sequence[Trajectory]) -> JsonObject:
    answer: JsonObject = {
        "text": _cut(row.answer.text),
        "duration_s": row.answer.duration_s,
        "cost": row.answer.cost_usd,
    }
    if row.answer.thoughts:
        answer["thoughts"] = _cut(row.answer.thoughts)
    if row.answer.error:
        answer["error"] = row.answer.error
    if words := INCOMPLETE.get(row.answer.finish_reason):
        answer["incomplete"] = words
    facts = {
        fact.label: _short(str(value), TURN_CHARS)
        for name, fact in reported_facts(Answer).items()
        if fact.label and (value := getattr(row.answer, name)) not in ("", None)
    }
    if facts:
        answer["facts"] = facts
    if row.answer.retries:
        answer["retries"] = row.answer.retries
    if row.answer.usage:
        answer["usage"] = row.answer.usage
    if row.answer.turns:
        turns = [trajectory for trajectory in trajectories if not trajectory.is_whole]
        answer["turns"] = [_turn(row, number, trajectory) for number, trajectory in enumerate(turns, 1)]
        if len(turns) < len(trajectories):
            answer["whole"] = trajectory_entry(trajectories[-1])
    elif trajectories:
        answer |= trajectory_entry(trajectories[0])
    if row.answer.closing_messages:
        answer["closing"] = [_short(text, TURN_CHARS) for text in row.answer.closing_messages]
    marks = {
        id: [_mark(mark) for mark in outcome.fragments if mark.start < TEXT_CHARS]
        for id, outcome in row.outcomes.items()
        if outcome.fragments
    }
    if marks:
        answer["fragments"] = marks
    return answer


def _turn(row: RecordRow, number: int, trajectory: Trajectory) -> JsonObject:
    """Return a turn of a conversation with its verdicts; texts are shorter than those of a single answer."""
    turn = row.answer.turns[number - 1]
    states = {
        id: each.passed
        for id, outcome in row.outcomes.items()
        for each in outcome.turns
        if each.turn == number and each.passed is not None
    }
    entry: JsonObject = {
        "prompt": _short(turn.prompt, TURN_CHARS),
        "text": _short(turn.answer.text, TURN_CHARS),
    }
    if turn.answer.thoughts:
        entry["thoughts"] = _short(turn.answer.thoughts, TURN_CHARS)
    if words := INCOMPLETE.get(turn.answer.finish_reason):
        entry["incomplete"] = words
    if turn.attachments:
        entry["attachments"] = _attachments(turn.attachments)
    entry |= trajectory_entry(trajectory)
    for name, text in (("expected_output", turn.expected_output), ("output_condition", turn.condition)):
        if text:
            entry[name] = _short(text, TURN_CHARS)
    if turn.accepted_outputs:
        entry["accepted_outputs"] = [_short(text, TURN_CHARS) for text in turn.accepted_outputs]
    if turn.answer.error:
        entry["error"] = turn.answer.error
    if states:
        entry["failed"] = [id for id, passed in states.items() if not passed]
    return entry


def _attachments(attachments: Iterable[Attachment]) -> list[JsonObject]:
    return [
        {"name": each.name, "type": each.media_type, "size": each.size, "sha256": each.sha256}
        for each in attachments
    ]


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _mark(mark: Fragment) -> JsonObject:
    entry: JsonObject = {"part": mark.part, "start": mark.start, "end": mark.end}
    if mark.scores:
        entry["scores"] = portable(mark.scores)
    if mark.message:
        entry["message"] = mark.message
    return entry


def _contexts(row: RecordRow) -> JsonObject:
    return {
        "chunks": [_cut(chunk) for chunk in row.answer.context[:CHUNKS]],
        "sources": row.answer.context_sources[:CHUNKS],
        "left_out": max(0, len(row.answer.context) - CHUNKS),
    }


def _cut(text: str) -> str | list[object]:
    """Return a text, or its beginning and the number of characters left out."""
    return text if len(text) <= TEXT_CHARS else [text[:TEXT_CHARS], len(text) - TEXT_CHARS]
