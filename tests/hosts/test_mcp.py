"""Tools of MCP servers, over both transports, with the protocol's own server."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from support.command import evalstudio
from support.service import KEY, Response, running

pytest.importorskip("mcp")

SERVER = """
import os
import sys
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("desk")

@server.tool()
def fee(country: str, currency: str = "USD") -> str:
    '''Return the fee of a transfer.'''
    if country == "XX":
        raise ToolError(f"no such country: {country}")
    return f"5 {currency} to {country}"

@server.tool()
def crash() -> str:
    os._exit(3)

@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    return {"sum": a + b}

if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run("stdio")
"""
PLAIN_SERVER = """
import json
import sys


def reply(number, result):
    print(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        server = {"name": "plain", "version": "1"}
        reply(
            message["id"], {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        )
    elif method == "tools/list":
        reply(message["id"], {"tools": [{"name": "chat", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        arguments = message["params"]["arguments"]
        for _ in range(arguments["times"]):
            sys.stdout.write(arguments["words"])
        reply(message["id"], {"content": [{"type": "text", "text": "done"}]})
    elif "id" in message:
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}), flush=True)
"""
"""A server without the library, which keeps other output away from the messages."""
Ask = Callable[..., list[Answer]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "server.py"
    path.write_text(SERVER, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def url(server: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(server), str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(1_200):  # a minute: beside other work, importing the server takes ten seconds
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(params=["stdio", "http"])
def transport(request: pytest.FixtureRequest, server: Path) -> dict[str, Any]:
    if request.param == "http":
        return {"url": request.getfixturevalue("url")}
    return {"command": sys.executable, "args": [str(server)]}


@pytest.fixture
def plain_server(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "plain.py").write_text(PLAIN_SERVER, encoding="utf-8")
    return {"command": sys.executable, "args": ["plain.py"], "concurrency": 1}


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    sessions = []

    def answers_to(prompts: list[str], **settings: Any) -> list[Answer]:
        table = {"host": "mcp", "retries": 0, **settings}
        sessions.append(open_model("desk", table, Registry(), folder=tmp_path, cache=None))
        return sessions[-1].ask([Prompt(text=prompt) for prompt in prompts])

    yield answers_to
    for session in sessions:
        session.close()


def call(tool: str, **arguments: object) -> str:
    return json.dumps({"name": tool, "arguments": arguments})


def test_a_prompt_is_a_call_and_the_answer_its_result(ask: Ask, transport: dict[str, Any]) -> None:
    answers = ask([call("fee", country="US"), call("add", a=1, b=2), call("fee", country="XX")], **transport)
    assert [answer.error for answer in answers] == ["", "", ""]
    assert answers[0].text == "5 USD to US"
    assert json.loads(answers[1].text) == {"sum": 3}
    (tool_call,) = answers[0].tool_calls
    assert (tool_call.name, dict(tool_call.arguments), tool_call.result, tool_call.error) == (
        "fee",
        {"country": "US"},
        "5 USD to US",
        "",
    )
    assert tool_call.duration_s is not None
    (failed,) = answers[2].tool_calls
    assert failed.result is None
    assert "no such country: XX" in failed.error


def test_the_prompt_can_be_one_argument(ask: Ask, server: Path) -> None:
    settings = {"tool": "fee", "argument": "country", "arguments": {"currency": "EUR"}}
    (answer,) = ask(["Chile"], command=sys.executable, args=[str(server)], **settings)
    assert answer.text == "5 EUR to Chile"


@pytest.mark.parametrize(
    "prompt", ["What is the fee?", "[]", "3", '{"arguments": {}}', '[{"name": "a"}, {"name": "b"}]']
)
def test_another_prompt_is_refused(prompt: str, ask: Ask, server: Path) -> None:
    (answer,) = ask([prompt], command=sys.executable, args=[str(server)])
    assert "the prompt is not a call of a tool" in answer.error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"command": "no-such-program"}, "cannot start 'no-such-program': No such file"),
        (
            {
                "command": sys.executable,
                "args": ["-c", "import sys; sys.exit('key sk-proj-a1B2c3D4e5F6g7H8i9')"],
            },
            "does not speak the Model Context Protocol: Connection closed; it wrote: key **-****-",
        ),
        ({"url": "http://127.0.0.1:9/mcp"}, "no connection to http://127.0.0.1:9/mcp: connection refused"),
    ],
)
def test_a_server_that_cannot_be_used_is_an_error_with_its_reason(
    settings: dict[str, Any], message: str, ask: Ask
) -> None:
    (answer,) = ask([call("fee", country="US")], **settings)
    assert message in answer.error


def test_a_server_that_crashes_is_started_again(ask: Ask, server: Path) -> None:
    prompts = [call("fee", country="US"), call("crash"), call("fee", country="CL"), call("add", a=1, b=1)]
    settings = {"command": sys.executable, "args": [str(server)], "concurrency": 1}
    answers = ask(prompts, **settings)
    assert [answer.text for answer in answers[::2]] == ["5 USD to US", "5 USD to CL"]
    assert json.loads(answers[3].text) == {"sum": 2}
    assert "ended the connection during the call; check the server" in answers[1].error


@pytest.mark.parametrize("words", ["loading the index\n", '{"level": "info"}\n', "[1, 2]\n", "{\n"])
def test_stray_lines_on_standard_output_are_no_messages(
    words: str, ask: Ask, plain_server: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    answers = ask([call("chat", words=words, times=1_000), call("chat", words="", times=0)], **plain_server)
    assert [(answer.text, answer.error) for answer in answers] == [("done", ""), ("done", "")]
    assert "Traceback" not in caplog.text


def test_a_line_without_an_end_closes_the_connection_within_bounded_memory(
    ask: Ask, plain_server: dict[str, Any]
) -> None:
    flood = call("chat", words="x" * 100_000, times=1_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    flooded, answer = ask([flood, call("chat", words="", times=0)], **plain_server)
    assert "during the call: the server wrote a line of more than 20,000,000 bytes; check" in flooded.error
    assert answer.text == "done"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB, on Linux


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_reaches_no_other_address(status: int, ask: Ask) -> None:
    with running(lambda request: Response({})) as other:
        location = {"Location": f"{other.url}/mcp"}
        with running(lambda request: Response(status=status, headers=location)) as service:
            (answer,) = ask([call("fee", country="US")], url=f"{service.url}/mcp", api_key=KEY)
        assert service.requests
        assert other.requests == []
    assert f"no connection to {service.url}/mcp" in answer.error
    assert KEY not in answer.error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give either command"),
        ({"command": "a", "url": "http://b"}, "give either command"),
        ({"command": "a", "tool": "fee"}, "give both tool and argument"),
        ({"command": "a", "arguments": {"b": 1}}, "set tool and argument"),
        ({"url": "ftp://b"}, "must begin with http"),
    ],
)
def test_contradictory_parameters_are_refused(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=message):
        open_model("desk", {"host": "mcp", **settings}, Registry(), folder=tmp_path, cache=None)


def test_definitions_of_tools_are_kept_and_compared(server: Path, tmp_path: Path) -> None:
    args = json.dumps([str(server)])
    (tmp_path / "evalstudio.toml").write_text(
        f'[[model]]\nname = "desk"\nhost = "mcp"\ncommand = {json.dumps(sys.executable)}\nargs = {args}\n',
        encoding="utf-8",
    )
    export = evalstudio("hosts", "tools", "desk", "-o", "tools.json", folder=tmp_path)
    assert (export.returncode, export.stdout) == (0, "wrote tools.json: 3 tools\n")
    comparison = evalstudio("hosts", "tools", "desk", "--compare", "tools.json", folder=tmp_path)
    assert (comparison.returncode, comparison.stdout) == (0, "3 tools as in tools.json\n")

    definitions = json.loads((tmp_path / "tools.json").read_text(encoding="utf-8"))
    definitions[2]["inputSchema"]["required"] = ["country", "currency"]
    definitions[0]["name"] = "subtract"
    (tmp_path / "tools.json").write_text(json.dumps(definitions), encoding="utf-8")
    changed = evalstudio("hosts", "tools", "desk", "--compare", "tools.json", folder=tmp_path)
    assert changed.returncode == 1
    assert changed.stdout.splitlines() == [
        "subtract: gone",
        'fee: changed at /inputSchema/required: ["country", "currency"] is now ["country"]',
        "add: new",
    ]


@pytest.mark.parametrize("content", ["{", "{}", '[{"title": "x"}]'])
def test_a_file_that_is_no_list_of_tools_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "evalstudio.toml").write_text(
        '[[model]]\nname = "desk"\nhost = "mcp"\ncommand = "x"\n', encoding="utf-8"
    )
    (tmp_path / "tools.json").write_text(content, encoding="utf-8")
    result = evalstudio("hosts", "tools", "desk", "--compare", "tools.json", folder=tmp_path)
    assert result.returncode == 2
    assert "tools.json" in result.stderr
    assert "Traceback" not in result.stderr
