"""The answers cache: answers are stored as they arrive, so that an interrupted run can continue."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.leases import valid_expiry
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.core.restored import Restored
from pytest_evalstudio.core.states import ApplicationState
from pytest_evalstudio.core.steps import read_steps
from pytest_evalstudio.core.store import Store
from pytest_evalstudio.core.tool_calls import read_tool_calls
from pytest_evalstudio.text.unicode import valid_json

FILE_NAME = "answers-1.sqlite"
"""The number is the version of what the rows mean; another version is another file."""

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS answers (
        key TEXT PRIMARY KEY, answer TEXT NOT NULL, stored_at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS in_flight (
        key TEXT PRIMARY KEY, token TEXT NOT NULL, expires_at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS purses (
        name TEXT PRIMARY KEY, spending TEXT NOT NULL, changed_at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE TRIGGER IF NOT EXISTS answered AFTER INSERT ON answers
        BEGIN DELETE FROM in_flight WHERE key = NEW.key; END;
"""
"""The claim on a question ends in the transaction that stores its answer, not in one of its own."""
_CLAIM = """
    INSERT INTO in_flight (key, token, expires_at) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET token = excluded.token, expires_at = excluded.expires_at
    WHERE in_flight.expires_at NOT BETWEEN ? AND ?
"""
LEASE_S = 10.0
"""A claim that is not renewed for so long is void: the process that made it was killed."""
_STORE = """
    INSERT INTO answers (key, answer, stored_at) VALUES (?, ?, ?)
    ON CONFLICT (key) DO UPDATE SET answer = excluded.answer, stored_at = excluded.stored_at
"""


_RUN = "run"
"""Key of the run beside the fields of an answer."""
_NOT_STORED = (
    "not_supported",
    "not_asked",
    "access_refused",
    "stored_at",
    "error_cause",
    "turns",
    "ended_by",
    "closing_messages",
)
"""Turns of a conversation are stored one by one."""


class StoredAnswer(Struct, frozen=True, kw_only=True):
    """An answer and its origin.

    Attributes:
        run: id of the run that asked.
        stored_at: seconds since the epoch.
    """

    answer: Answer
    run: str
    stored_at: float


class AnswerCache:
    """Answers by content: host, model configuration, earlier turns, prompt, corpus and run number.

    One file, safe under many processes and threads; see `Store` for files that cannot be used.

    Args:
        folder: where the file is; made if it is not there.
        read_only: write nothing.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self.store = Store(
            self.path, title="answers cache", content="answers", schema=_SCHEMA, read_only=read_only
        )
        self.store.open()
        self._digests: dict[tuple[str, int, int], str] = {}

    @property
    def warnings(self) -> list[str]:
        """Return what is wrong with the file."""
        return self.store.warnings

    def key(self, host_id: str, settings: Mapping[str, Any], prompt: Prompt) -> str:
        """The address of an answer.

        Args:
            settings: the host's parameters, secrets masked: a new key for the same service finds the old
                answers.
        """
        corpus = [self._digest(document) for document in prompt.corpus]
        schema = [] if prompt.reply_schema is None else [prompt.reply_schema]
        turns = [[[turn.role, turn.content] for turn in prompt.conversation]] if prompt.conversation else []
        sample = [f"sample {prompt.sample}"] if prompt.sample else []
        system = [{"system": prompt.system}] if prompt.system else []
        graded = [f"graded {prompt.graded}"] if prompt.graded else []
        case = [{"case": prompt.case}] if prompt.case else []
        media = [{"attachments": _identities(prompt)}] if prompt.media else []
        restored = [] if prompt.restored is None else [{"restored": _restored(prompt.restored)}]
        # Parts that a prompt does not have add nothing, so that keys of prompts without them never change.
        return digest_of(
            [
                host_id,
                settings,
                prompt.text,
                corpus,
                prompt.run,
                *schema,
                *turns,
                *sample,
                *system,
                *graded,
                *case,
                *media,
                *restored,
            ]
        )

    def get(self, key: str, *, stored_since: float = 0.0) -> StoredAnswer | None:
        """Return the stored answer, None where there is none.

        Args:
            key: the address.
            stored_since: ignore answers stored before; seconds since the epoch.
        """
        rows = self.store.rows(
            "SELECT answer, stored_at FROM answers WHERE key = ? AND stored_at >= ?", (key, stored_since)
        )
        if not rows:
            return None
        try:
            stored = json.loads(valid_json(rows[0][0]))
            run = str(stored.pop(_RUN))
            calls = read_tool_calls(stored["tool_calls"])
            steps, calls = read_steps(stored["steps"], calls, chunks=len(stored["context"]))
            answer = Answer(
                **{
                    **stored,
                    "context": tuple(stored["context"]),
                    "context_sources": tuple(stored["context_sources"]),
                    "context_scores": tuple(stored["context_scores"]),
                    "tool_calls": calls,
                    "steps": steps,
                    "artifacts": tuple(stored["artifacts"]),
                    "state": ApplicationState(**stored["state"]) if stored["state"] else None,
                }
            )
            return StoredAnswer(answer=answer, run=run, stored_at=rows[0][1])
        # Fields of `Answer` change between versions; an entry that no longer fits is as good as none.
        except (ValueError, TypeError, KeyError, RecursionError):
            self.store.warn(f"an answer in {self.path} cannot be read; it is asked for again")
            return None

    def put(self, key: str, answer: Answer, *, run: str) -> None:
        """Store an answer at once; an error is no answer and is not stored.

        Args:
            key: the address.
            answer: replaces an earlier one.
            run: id of the run that asked.
        """
        if answer.error:
            return
        entry = {
            item.name: getattr(answer, item.name)
            for item in structs.fields(answer)
            if item.name not in _NOT_STORED
        } | {
            # Frozen mappings, which json does not write.
            "usage": dict(answer.usage),
            "grades": dict(answer.grades),
            "tool_calls": [call.to_dict() for call in answer.tool_calls],
            "steps": [step.to_dict() for step in answer.steps],
            "state": None if answer.state is None else structs.asdict(answer.state),
            _RUN: run,
        }
        self.store.change(_STORE, (key, json.dumps(entry, sort_keys=True), time.time()))

    def count(self, run: str) -> int:
        """Return the number of answers that a run and its continuations have stored."""
        rows = self.store.rows(
            "SELECT COUNT(*) FROM answers WHERE json_valid(answer) AND json_extract(answer, '$.run') = ?",
            (run,),
        )
        return int(rows[0][0]) if rows else 0

    def claim(self, key: str) -> str:
        """Announce that an answer is being asked for.

        Returns:
            A token for `renew` and `release`; "" where another process or thread is asking for it.
        """
        token, now = uuid.uuid4().hex, time.time()
        values = (key, token, now + LEASE_S, *valid_expiry(now, LEASE_S))
        # 1 where the file cannot be written: then every process asks by itself.
        return token if self.store.change(_CLAIM, values, default=1) else ""

    def renew(self, key: str, token: str) -> None:
        """Keep a claim for another `LEASE_S` seconds."""
        self.store.change(
            "UPDATE in_flight SET expires_at = ? WHERE key = ? AND token = ?",
            (time.time() + LEASE_S, key, token),
        )

    def release(self, key: str, token: str) -> None:
        """End a claim."""
        # By the token: a claim that was void may belong to another process by now.
        self.store.change("DELETE FROM in_flight WHERE key = ? AND token = ?", (key, token))

    def drop(self, key: str) -> None:
        """Forget an answer."""
        self.store.change("DELETE FROM answers WHERE key = ?", (key,))

    def close(self) -> None:
        """Close the file."""
        self.store.close()

    def __enter__(self) -> AnswerCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _digest(self, document: str) -> list[str]:
        """Name and content of a local document; the address of a remote one."""
        try:
            state = os.stat(document)
            identity = (document, state.st_size, state.st_mtime_ns)
            if identity not in self._digests:
                # Kept, since each question on a corpus asks for the digests of all its documents.
                self._digests[identity] = file_sha256(document)
            return [os.path.basename(document), self._digests[identity]]
        except OSError:  # a URL, or a file that was removed since: its name is all that there is
            return [document, ""]


def _identities(prompt: Prompt) -> list[list[list[str]]]:
    """Return names and digests of the images and files of each message: services get both."""
    messages = [*(turn.attachments for turn in prompt.conversation), prompt.attachments]
    return [[[each.file_name, each.sha256, each.detail] for each in message] for message in messages]


def _restored(restored: Restored) -> dict[str, object]:
    """Return the parts of an earlier answer that a prompt names, as JSON data."""
    calls = None if restored.calls is None else [call.to_dict() for call in restored.calls]
    chunks = None if restored.chunks is None else [restored.chunks, restored.sources, restored.scores]
    return {"chunks": chunks, "calls": calls, "live_tools": sorted(restored.live_tools)}


def digest_of(content: object) -> str:
    """SHA-256 over the canonical JSON of a value; callables in it count by their name.

    >>> digest_of({"b": 1, "a": [2]}) == digest_of({"a": [2], "b": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_named)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _named(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    name = getattr(value, "__qualname__", None)
    return f"{getattr(value, '__module__', '')}:{name}" if name else str(value)


@asynccontextmanager
async def claimed(cache: AnswerCache | None, key: str) -> AsyncIterator[bool]:
    """Claim a question while the context lasts, and renew the claim.

    Yields False if another process is asking it.

    Args:
        cache: where claims are kept; without one every question may be asked.
        key: address of the answer; "" where it is not kept.
    """
    if cache is None or not key:
        yield True
        return
    token = cache.claim(key)
    if not token:
        yield False
        return

    async def renew() -> None:
        while True:
            # A third, so that a claim outlives a renewal that comes late.
            await asyncio.sleep(LEASE_S / 3)
            cache.renew(key, token)

    renewing = asyncio.create_task(renew())
    try:
        yield True
    finally:
        renewing.cancel()
        cache.release(key, token)
