"""Host whose client package is not installed: each question to it is an error that names the remedy."""

from __future__ import annotations

from typing import cast

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import Host, HostFault, HostSpec


class AbsentHost:
    """Takes the place of a host.

    Args:
        reason: why it cannot be asked, with the remedy and without secrets.
    """

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        """Nothing to prepare."""

    async def answer(self, prompt: Prompt) -> Answer:
        raise HostFault(self._reason)

    async def close(self) -> None:
        """Nothing to close."""


def absent_host(spec: HostSpec, reason: str) -> Host:
    """Return a host with the declaration of another one that answers nothing."""
    declared = type(AbsentHost.__name__, (AbsentHost,), {"__evalstudio__": spec})
    return cast(Host, declared(reason))
