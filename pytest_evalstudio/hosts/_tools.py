"""Tools that the engine provides to hosts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_evalstudio.core.restored import ToolSource


class Corpora(Protocol):
    """Register of the collections that exist at services; runs at the same time share it."""

    async def acquire(
        self,
        key: str,
        make: Callable[[], Awaitable[str]],
        is_usable: Callable[[str], Awaitable[bool]],
    ) -> str:
        """Return the id of the collection of a key; made once, whoever asks for it.

        Args:
            key: address of its content and configuration.
            make: makes it, and raises if it is not complete.
            is_usable: whether the service still has it.
        """

    async def release(self, key: str, *, keep: bool) -> str:
        """Stop using a collection.

        Returns:
            Its id if it is to be removed at the service, since nobody else uses it; else "".
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class HostTools:
    """Environment of a host; a host that needs it has a method `open(tools)`.

    `open` is called once, before the first prompt; there a host checks its parameters and raises
    ConfigurationError.

    Attributes:
        name: the configured name of the model.
        folder: where relative paths and modules of the configuration are looked for.
        downloads: where downloaded documents are kept between sessions; None to keep nothing.
        artifacts: where files that models make are kept; None to keep none.
        split_sentences: text to (start, end) spans of its sentences.
        mask: a message to the same without the secrets of the settings; call it before a message is
            shortened.
        timeout_s: timeout of an answer, and of the preparation of a corpus, in seconds.
        allow_private_hosts: whether documents may be fetched from addresses that are not public.
        trusted_hosts: "host:port" of those that may have such an address all the same, because the user named
            them.
        optional: parameters that the configuration does not set and the engine prefers; a host may leave them
            out for a service that refuses them.
        note: called with a message for the user about the service, e.g. what was left out.
        priced_models: names of the models that the configuration has prices of; a cost that the service
            reports counts for others only.
        corpora: register of the collections that hosts make of documents.
        max_text_chars: of the configuration; replies far longer than that are not read to their end.
        tool_source: records and replays the tools that applications in this process wrap; None for neither.
        progress: called with what is done, how much of it and the total, while documents are ingested.
    """

    name: str
    folder: Path
    downloads: Path | None
    split_sentences: Callable[[str], list[tuple[int, int]]]
    artifacts: Path | None = None
    mask: Callable[[str], str] = str
    timeout_s: float = 120.0
    allow_private_hosts: bool = False
    trusted_hosts: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    note: Callable[[str], None] = lambda message: None
    priced_models: frozenset[str] = frozenset()
    corpora: Corpora | None = None
    max_text_chars: int = 1_000_000
    tool_source: ToolSource | None = None
    progress: Callable[[str, int, int], None] = lambda what, done, total: None
