"""Server of the Model Context Protocol over a project's suites.

It runs tests and reads their results. Accepting a baseline, and editing suites or configuration, is not
offered: an agent that mends an application must not move the goal.
"""

from __future__ import annotations

import functools
import hmac
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import ToolAnnotations

from pytest_evalstudio.contrib.agent_loop.texts import RULE, line
from pytest_evalstudio.contrib.agent_loop.workspace import Workspace
from pytest_evalstudio.core.errors import EvalStudioError
from pytest_evalstudio.record.reader import record_path

INSTRUCTIONS = (
    "Evaluations of this project's LLM application. Call run, read failures, change the application, run"
    " again; compare says what changed since the baseline. Do not edit suites, thresholds, baselines or"
    f" reports. {RULE}"
)
SCHEMAS = ("suite", "lab", "dataset", "configuration")
MAX_RECORD_CHARS = 1_000_000
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ASKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)

P = ParamSpec("P")


def build_server(workspace: Workspace) -> MCPServer:
    """Return a server over a project."""
    server: MCPServer = MCPServer("evalstudio", instructions=INSTRUCTIONS, log_level="ERROR")
    _add_reading_tools(server, workspace)
    _add_running_tools(server, workspace)
    for part in workspace.parts:
        for tool in part.tools:
            _add(server, tool.call, _ASKS, name=tool.name, description=tool.description)
    _add_resources(server, workspace)
    return server


def _add_reading_tools(server: MCPServer, workspace: Workspace) -> None:
    async def list_suites(file: str = "", page: int = 1) -> str:
        """List the files with tests, or with `file` the tests of one file."""
        return await workspace.suites(file, page)

    async def failures(page: int = 1) -> str:
        """Read the failures of the last run: reason, what differs, next step. Regressed tests come first."""
        return workspace.failures(page)

    async def case(key: str) -> str:
        """Read question, answer, retrieved chunks and verdicts of a test of the last run."""
        return workspace.case(key)

    async def compare() -> str:
        """Compare the last run with the baseline: regressed and mended tests, metrics with their tests."""
        return workspace.compare()

    for tool in (list_suites, failures, case, compare):
        _add(server, tool, _READS)


def _add_running_tools(server: MCPServer, workspace: Workspace) -> None:
    async def run(
        context: Context[Any, Any], files: list[str] | None = None, cases: list[str] | None = None
    ) -> str:
        """Run tests and return the verdict with the first failures.

        The application is asked anew, which may cost money: name files, or keys of cases, where you can.
        """

        async def report(ended_count: int, total: int) -> None:
            await context.report_progress(ended_count, total or None, f"{ended_count} of {total} tests")

        return await workspace.run(files or [], cases or [], report)

    async def explain(cases: list[str] | None = None) -> str:
        """Search the cause of regressed tests: retrieval, documents, prompt, model, tools or agent.

        The application is asked again with parts of the baseline.
        """
        return await workspace.explain(cases or [])

    for tool in (run, explain):
        _add(server, tool, _ASKS)


def _add(
    server: MCPServer,
    tool: Callable[..., Awaitable[str]],
    annotations: ToolAnnotations,
    *,
    name: str | None = None,
    description: str | None = None,
) -> None:
    """Offer a function, by default under its name, and with its docstring as the description."""
    server.tool(
        name=name,
        description=description or inspect.getdoc(tool),
        annotations=annotations,
        structured_output=False,
    )(_with_errors(tool))


def _add_resources(server: MCPServer, workspace: Workspace) -> None:
    @server.resource("evalstudio://report", mime_type="text/markdown")
    def report() -> str:
        """Return the summary of the last run."""
        try:
            return f"{RULE}\n\n{workspace.summary()}"
        except EvalStudioError as exc:
            raise ResourceError(line(str(exc))) from exc

    @server.resource("evalstudio://record", mime_type="application/jsonl")
    def record() -> str:
        """Return the record of the last run: a line for the run, and one per test."""
        try:
            with open(record_path(workspace.report), encoding="utf-8", errors="replace") as file:
                return file.read(MAX_RECORD_CHARS)
        except (EvalStudioError, OSError) as exc:
            raise ResourceError(line(str(exc))) from exc

    for name in SCHEMAS:
        server.resource(
            f"evalstudio://schemas/{name}", name=f"schema of {name}", mime_type="application/schema+json"
        )(functools.partial(_schema, name))


def _schema(name: str) -> str:
    from pytest_evalstudio.formats.json_schemas import text_of

    return text_of(name)


def _with_errors(tool: Callable[P, Awaitable[str]]) -> Callable[P, Awaitable[str]]:
    """Report faults of data and configuration to the agent, as one sentence."""

    @functools.wraps(tool)
    async def reported(*arguments: P.args, **options: P.kwargs) -> str:
        try:
            return await tool(*arguments, **options)
        except (EvalStudioError, OSError) as exc:
            raise ToolError(line(str(exc))) from exc

    return reported


class TokenRequired:
    """ASGI application that passes on requests with the right bearer token alone."""

    def __init__(self, application: Callable[..., Awaitable[None]], token: str) -> None:
        self._application = application
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, 401 without the token."""
        if scope["type"] == "http":
            authorization = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(authorization, self._expected):
                await send(
                    {
                        "type": "http.response.start",
                        "status": 401,
                        "headers": [(b"content-type", b"text/plain"), (b"www-authenticate", b"Bearer")],
                    }
                )
                await send({"type": "http.response.body", "body": b"the token is missing or wrong\n"})
                return
        await self._application(scope, receive, send)
