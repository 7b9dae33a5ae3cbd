"""Tools of a server of the Model Context Protocol (MCP)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.host import HostFault, host
from pytest_evalstudio.core.tool_calls import ToolCall, read_tool_calls
from pytest_evalstudio.hosts._connected import Connected, check_url, require_package
from pytest_evalstudio.hosts._faults import host_fault_in, is_transport_error, quoted
from pytest_evalstudio.hosts._malformed import connection_fault, reply_fault
from pytest_evalstudio.hosts._mcp import ServerAddress, ServerConnection
from pytest_evalstudio.hosts._tools import HostTools

_FORM = '{"name": "TOOL", "arguments": {...}}'


@host(
    "mcp",
    name="Tools of an MCP server",
    kind="llm",
    extra="mcp",
    caches=False,
    runs_user_code=True,
    client="mcp",
)
@dataclass(kw_only=True)
class McpServer(Connected):
    """Calls tools of a server of the Model Context Protocol, without a model in between.

    A prompt is a call as JSON, `{"name": "search", "arguments": {"query": "fee"}}`, or the text for one
    argument of a fixed tool. The answer is the text of the result; the call with its result, or its error, is
    in `tool_calls`.

    Attributes:
        command: program of the server, started with standard input and output as its transport.
        args: its arguments.
        env: further environment variables of the program; it has PATH and HOME only otherwise.
        url: address of a server with the transport "streamable HTTP", in place of command.
        api_key: sent to the URL as a bearer token; other headers belong into `headers`.
        tool: tool that every prompt is sent to; "" where the prompt names it.
        argument: argument of the tool that takes the prompt.
        arguments: further arguments of the tool.

    Source: Model Context Protocol, tools.
    """

    command: str = ""
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tool: str = ""
    argument: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    _address: ServerAddress | None = field(default=None, init=False, repr=False)
    _connection: ServerConnection | None = field(default=None, init=False, repr=False)
    _connecting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    def open(self, tools: HostTools) -> None:
        """Check what can be checked without the server.

        Raises:
            ConfigurationError: if the package is missing, or parameters contradict each other.
        """
        require_package("mcp", "mcp", "mcp")
        if bool(self.command) == bool(self.url):
            raise ConfigurationError("mcp: give either command, the program of the server, or its url")
        if bool(self.tool) != bool(self.argument):
            raise ConfigurationError(
                "mcp: give both tool and argument, or neither; without them, each prompt must name the tool"
            )
        if self.arguments and not self.tool:
            raise ConfigurationError("mcp: arguments belong to a tool; set tool and argument")
        if self.url:
            check_url("url", self.url)
        self.check_connection(tools)
        authorization = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        self._address = ServerAddress(
            command=(self.command, *self.args) if self.command else (),
            env=self.env,
            folder=tools.folder.resolve(),
            url=self.url,
            headers={**authorization, **self.headers},
            http_options=self.http_options(),
        )

    async def answer(self, prompt: Prompt) -> Answer:
        call = self._call(prompt.text)
        connection = await self._connected()
        client = await connection.client()
        try:
            start = time.perf_counter()
            result = await client.call_tool(call.name, dict(call.arguments))
            duration_s = time.perf_counter() - start
        except Exception as exc:
            raise self._fault(exc, connection) from exc
        text = _text_of(result)
        if len(text) > self._max_text_chars:
            raise HostFault(
                f"{call.name} returned {len(text):,} characters; raise max_text_chars, or let it return less"
            )
        # A tool that fails has answered: its error is the result of the call, not of the host.
        error = text if result.is_error else ""
        tool_call = ToolCall(
            name=call.name,
            arguments=call.arguments,
            result=None if error else text,
            error=error,
            duration_s=duration_s,
        )
        return Answer(text=text, tool_calls=(tool_call,))

    async def models(self) -> list[str]:
        """Return the names of the server's tools.

        Raises:
            HostFault: if the server does not list them.
        """
        return [str(definition["name"]) for definition in await self.tools()]

    async def tools(self) -> list[dict[str, Any]]:
        """Return the definitions of the server's tools, as MCP writes them.

        Raises:
            HostFault: if the server does not list them.
        """
        connection = await self._connected()
        client = await connection.client()
        try:
            definitions: list[dict[str, Any]] = []
            cursor: str | None = None
            while True:
                page = await client.list_tools(cursor=cursor)
                definitions += [
                    tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools
                ]
                cursor = page.next_cursor
                if not cursor:
                    return definitions
        except Exception as exc:
            raise self._fault(exc, connection) from exc

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _connected(self) -> ServerConnection:
        """Return the connection; a new one, and a new program, if the server ended the last."""
        assert self._address is not None, "opened before it is asked"
        async with self._connecting:
            if self._connection is None or not self._connection.is_open:
                await self.close()
                self._connection = ServerConnection(self._address, self._mask)
            return self._connection

    def _call(self, text: str) -> ToolCall:
        """Return the call that a prompt asks for.

        Raises:
            HostFault: if it is none.
        """
        if self.tool:
            return ToolCall(name=self.tool, arguments={**self.arguments, self.argument: text})
        try:
            # Several calls raise ValueError here as well: a prompt is one call.
            (call,) = read_tool_calls(json.loads(text))
        except (ValueError, RecursionError):
            raise HostFault(
                f"the prompt is not a call of a tool: {quoted(text, self._mask)}; write {_FORM}, or set"
                " tool and argument"
            ) from None
        if call.arguments_text:
            raise HostFault(f"the arguments of {call.name!r} are not a JSON object; write {_FORM}")
        return call

    def _fault(self, exc: Exception, connection: ServerConnection) -> HostFault:
        """Return the fault for an exception of the client; a connection that ended is not used again."""
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        if (fault := host_fault_in(exc)) is not None:
            return fault
        server = self.url or self.command
        if isinstance(exc, MCPError) and exc.code != CONNECTION_CLOSED:
            return HostFault(f"{server} refused the request: {quoted(str(exc), self._mask)}; check the call")
        # From here on the connection may be out of step with the server; the next question opens a new one.
        connection.is_broken = True
        if isinstance(exc, MCPError):
            note = connection.relayed_note()
            return HostFault(
                f"{server} ended the connection during the call{note}; check the server", retry=True
            )
        if is_transport_error(exc):
            return connection_fault(server, exc, self._mask)
        return reply_fault(server, exc, self._mask, retry=True)


def _text_of(result: Any) -> str:
    """Return the text of a result; its structured content as JSON where it has no text."""
    texts = [block.text for block in result.content if getattr(block, "type", "") == "text"]
    if not texts and result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False)
    return "\n".join(texts)
