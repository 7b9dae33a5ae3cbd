"""Conversations of one model: stored turns, sessions of the host, and their end."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Protocol

from pytest_evalstudio.asking.answers import digest_of
from pytest_evalstudio.asking.dialogues import Dialogue
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import Host, KeepsSessions


class _SessionLost(Exception):
    """The turns before were answered from the store, and the application does not know them."""


class _NotStored(Exception):
    """A turn has no stored answer."""


class Ask(Protocol):
    """Asks a single turn; a fresh one is asked although its answer is stored."""

    def __call__(self, prompt: Prompt, *, is_fresh: bool) -> Awaitable[Answer]: ...


class Conversations:
    """Holds conversations with the host of a model.

    Args:
        host: its sessions are kept apart and ended, if it keeps any.
        ask: asks a turn.
        stored: returns the stored answer to a turn, None where there is none.
        run_key: returns what tells the sessions of a model's run from those of others.
    """

    def __init__(
        self,
        host: Host,
        *,
        ask: Ask,
        stored: Callable[[Prompt], Answer | None],
        run_key: Callable[[], str],
    ) -> None:
        self._host = host if isinstance(host, KeepsSessions) and host.keeps_sessions else None
        self._ask = ask
        self._stored = stored
        self._run_key = run_key

    async def hold(self, dialogue: Dialogue) -> Answer:
        """Hold a conversation, or the next turns of one; stored turns are not asked again.

        Where an application that keeps a conversation in memory does not know the stored turns, e.g. since
        the process that asked them was killed, the conversation begins again.
        """
        try:
            answer = await self._held(dialogue, is_fresh=False)
        except _SessionLost:
            answer = await self._held(replace(dialogue, exchanges=()), is_fresh=True)
        if dialogue.max_turns is None:
            await self.end(dialogue)
        return answer

    async def stored(self, dialogue: Dialogue) -> Answer | None:
        """Return the stored answers of a whole conversation.

        None if one is missing, or if a model would have to write the messages of the user.
        """
        if dialogue.user.asks_model:
            return None

        async def ask(prompt: Prompt) -> Answer:
            answer = self._stored(prompt)
            if answer is None:
                raise _NotStored
            return answer

        try:
            return await self._told_apart(dialogue).hold(ask, self._session(dialogue))
        except _NotStored:
            return None

    async def end(self, dialogue: Dialogue) -> None:
        """Let the host forget a conversation."""
        if self._host is not None:
            await self._host.end_session(self._session(dialogue))

    async def _held(self, dialogue: Dialogue, *, is_fresh: bool) -> Answer:
        first = len(dialogue.prompt.conversation)

        async def ask(prompt: Prompt) -> Answer:
            if self._host is not None and not is_fresh:
                stored = self._stored(prompt)
                if stored is not None:
                    return stored
                if len(prompt.conversation) > first and not self._host.holds_session(prompt.session):
                    raise _SessionLost
            return await self._ask(prompt, is_fresh=is_fresh)

        return await self._told_apart(dialogue).hold(ask, self._session(dialogue))

    def _told_apart(self, dialogue: Dialogue) -> Dialogue:
        """Return a dialogue that shares no stored turn with another one, where sessions are kept."""
        if self._host is None:
            return dialogue
        parts = filter(None, (dialogue.prompt.sample, f"conversation {dialogue.key}"))
        return replace(dialogue, prompt=replace(dialogue.prompt, sample=" ".join(parts)))

    def _session(self, dialogue: Dialogue) -> str:
        identity = [self._run_key(), dialogue.key, dialogue.prompt.run, dialogue.prompt.sample]
        return str(uuid.UUID(hex=digest_of(identity)[:32]))
