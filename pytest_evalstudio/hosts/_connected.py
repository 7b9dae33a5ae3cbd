"""Settings of connections that all hosts of services have."""

from __future__ import annotations

import importlib
import importlib.util
import ssl
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.core.errors import ConfigurationError, ResourceMissing
from pytest_evalstudio.core.tracing import TRACEPARENT
from pytest_evalstudio.hosts._threads import in_thread
from pytest_evalstudio.hosts._tools import HostTools


@dataclass(kw_only=True)
class Connected:
    """Settings of the connection to a service.

    Attributes:
        proxy: URL of the proxy; "" for the one that the environment names.
        ca_file: file of the certificate authorities to trust, relative to the configuration's folder; "" for
            the usual ones.
        verify_tls: whether the service's certificate is checked. Clients that use urllib3 warn where it
            is not: if your warnings are errors, ignore `urllib3.exceptions.InsecureRequestWarning`.
    """

    proxy: str = ""
    ca_file: str = ""
    verify_tls: bool = True
    _ca_path: Path | None = field(default=None, init=False, repr=False)
    _priced: frozenset[str] = field(default=frozenset(), init=False, repr=False)
    _mask: Callable[[str], str] = field(default=str, init=False, repr=False)
    _max_text_chars: int = field(default=1_000_000, init=False, repr=False)

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        """Do nothing; hosts that send the documents of a test override it."""

    def check_connection(self, tools: HostTools) -> None:
        """Find the file of the certificate authorities, and keep what messages and replies need.

        Raises:
            ConfigurationError: if there is no such file, or the proxy is not a URL.
        """
        self._mask, self._max_text_chars = tools.mask, tools.max_text_chars
        self._priced = tools.priced_models
        if self.ca_file:
            self._ca_path = tools.folder / self.ca_file
            if not self._ca_path.is_file():
                raise ConfigurationError(
                    f"ca_file = {self.ca_file!r}: there is no such file; correct the path"
                )
        if self.proxy:
            check_url("proxy", self.proxy)

    def reported_cost(self, models: Collection[str], usage: object = None) -> float | None:
        """Return the cost that a gateway or service reports; None where it does not, or where a price is set.

        Args:
            models: names of the model that served the answer and of the one that was asked for.
            usage: object or mapping of the reply that may have a cost beside the tokens.
        """
        from pytest_evalstudio.hosts._costs import reported_cost_usd  # the core imports this module

        return None if self._priced & {*models} else reported_cost_usd(usage)

    @property
    def verification(self) -> bool | str:
        """Return how certificates are checked: by a file, as usual (True) or not at all (False)."""
        return str(self._ca_path) if self._ca_path is not None and self.verify_tls else self.verify_tls

    def http_options(self) -> dict[str, Any]:
        """Return the arguments of an httpx client."""
        options: dict[str, Any] = {"proxy": self.proxy} if self.proxy else {}
        if isinstance(self.verification, str):
            options["verify"] = ssl.create_default_context(cafile=self.verification)
        elif not self.verification:
            options["verify"] = False
        return options


@dataclass(kw_only=True)
class ClientHost(Connected):
    """Connection by a client that is made for the first question and has an asynchronous `close`."""

    _client: Any = field(default=None, init=False, repr=False)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None


@dataclass(kw_only=True)
class ChatClient(ClientHost):
    """Client of a service whose models answer messages.

    Attributes:
        stream: whether the answer arrives in parts; the time to the first part is then recorded.
    """

    llm_model_name: str
    system_prompt: str = ""
    stream: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)


async def send_traceparent(request: Any) -> None:
    """Name the trace of the current question in a request, unless the user's headers do; a hook of httpx."""
    if header := TRACEPARENT.get():
        request.headers.setdefault("traceparent", header)


def check_url(name: str, url: str) -> None:
    """Check that a parameter is an HTTP URL.

    Raises:
        ConfigurationError: if it is not.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{name} = {url!r}: must begin with http:// or https://")


def check_arguments(arguments: Mapping[str, Any], set_by_host: Collection[str]) -> None:
    """Check that passed-through arguments are not those that the host sets.

    Raises:
        ConfigurationError: if one is.
    """
    for name in set_by_host:
        if name in arguments:
            raise ConfigurationError(f"arguments.{name}: cannot be given here")


def require_package(host: str, module: str, extra: str) -> None:
    """Check that the client of a service is installed, without importing it.

    Raises:
        ResourceMissing: with the command that installs it.
    """
    if importlib.util.find_spec(module) is None:
        fact = f"host {host!r} needs the {module} package"
        raise ResourceMissing(f'{fact}: pip install "pytest-evalstudio[{extra}]"', brief=fact)


async def import_client(module: str) -> None:
    """Import the client of a service, which may take seconds, so that no answer's duration contains it."""
    if module not in sys.modules:
        await in_thread(partial(_import, module))


def _import(module: str) -> None:
    with uncollected():  # a fifth of the time
        importlib.import_module(module)


def require_key(name: str, value: str, variable: str) -> None:
    """Check that a secret is configured.

    Raises:
        ConfigurationError: with the line that configures it.
    """
    if not value:
        raise ConfigurationError(
            f'{name} must be given: set {name} = "${{{variable}}}" and export {variable}'
        )
