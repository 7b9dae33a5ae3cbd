"""Real instrumentations in the tested application: the answer has what the service of the model saw."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from support.children import LONGEST_WAIT_S
from support.project import Project
from support.service import running
from support.tool_asking_model import COUNTRIES, Model

SERVICE = """
import openai
from fastapi import FastAPI

app = FastAPI()
client = openai.OpenAI(base_url=URL)
TOOLS = [{"type": "function", "function": {"name": "get_fee", "parameters": {"type": "object"}}}]


@app.post("/ask")
def ask(body: dict):
    messages = [{"role": "user", "content": body["prompt"]}]
    reply = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
    [call] = reply.choices[0].message.tool_calls
    result = get_fee(**json.loads(call.function.arguments))
    messages.append(reply.choices[0].message.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    reply = client.chat.completions.create(model="gpt-4o", messages=messages)
    return {"answer": reply.choices[0].message.content}
"""
CONFIG = """
evaluators = ["effort"]
[trace]
{table}
[[model]]
name = "fees"
concurrency = 8
{model}
"""
HEAD = """
import json, os
URL = {url!r}
os.environ["OPENAI_API_KEY"] = "none"


def get_fee(country: str) -> str:
    \"\"\"Return the fee of a country.\"\"\"
    return f"{{len(country)}} USD in {{country}}"

"""
OPENAI = """
import openai
from openinference.instrumentation.openai import OpenAIInstrumentor

OpenAIInstrumentor().instrument()
client = openai.OpenAI(base_url=URL)
TOOLS = [{"type": "function", "function": {"name": "get_fee", "parameters": {"type": "object"}}}]


def ask(prompt):
    messages = [{"role": "user", "content": prompt}]
    reply = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
    [call] = reply.choices[0].message.tool_calls
    result = get_fee(**json.loads(call.function.arguments))
    messages.append(reply.choices[0].message.model_dump(exclude_none=True))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return client.chat.completions.create(model="gpt-4o", messages=messages).choices[0].message.content
"""
AGENTS = """
import agents, openai
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

OpenAIAgentsInstrumentor().instrument()
agents.set_default_openai_client(openai.AsyncOpenAI(base_url=URL), use_for_tracing=False)
agent = agents.Agent(name="Fees", model="gpt-4o", tools=[agents.function_tool(get_fee)])


async def ask(prompt):
    return (await agents.Runner.run(agent, prompt)).final_output
"""
PYDANTIC_AI = """
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

Agent.instrument_all()
model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=URL, api_key="none"))
agent = Agent(model, name="fees", tools=[get_fee])


async def ask(prompt):
    return (await agent.run(prompt)).output
"""
LANGCHAIN = """
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument()


class Retriever(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(f"Fees of {query}.", metadata={"source": f"{query}.md"})]


fee_of = get_fee


def get_fee(country: str) -> str:
    \"\"\"Return the fee of a country.\"\"\"
    Retriever().invoke(country)
    return fee_of(country)


agent = create_agent(ChatOpenAI(model="gpt-4o", base_url=URL), [get_fee])


def ask(prompt):
    return agent.invoke({"messages": [{"role": "user", "content": prompt}]})["messages"][-1].content
"""
APPLICATIONS = {
    "openinference.instrumentation.openai": OPENAI,
    "openinference.instrumentation.openai_agents": AGENTS,
    "pydantic_ai": PYDANTIC_AI,
    "openinference.instrumentation.langchain": LANGCHAIN,
}


def check(project: Project, model: Model, *, retrieves: bool) -> None:
    """Check that each answer has the calls, results, contexts and tokens of its own question."""
    _, items = project.record()
    assert set(items) == {f"{country}[fees]" for country in COUNTRIES}
    for item in items.values():
        [row] = item["rows"]
        country = item["key"]
        assert (row["answer"]["spans"], row["answer"]["actual_output"]) == (
            "complete",
            f"The fee in {country} is known.",
        )
        [call] = row["answer"]["tool_calls"]
        record = {"name": call["name"], "country": call["arguments"]["country"], "result": call["result"]}
        assert record == model.calls[country]
        tokens = {kind: row["answer"]["usage"][f"{kind}_tokens"] for kind in ("input", "output")}
        assert tokens == model.tokens[country]
        assert row["answer"].get("context", []) == ([f"Fees of {country}."] if retrieves else [])
        assert [step["kind"] for step in row["answer"]["steps"]].count("model") == 2


def write_project(project: Project, application: str, url: str, *, model: str, table: str = "") -> None:
    project.write("evalstudio.toml", CONFIG.format(model=model, table=table))
    project.write("desk.py", HEAD.format(url=f"{url}/v1") + application)
    cases = [{"key": country, "prompt": f"What is the fee in {country}?"} for country in COUNTRIES]
    project.suite(*cases)


@pytest.mark.parametrize("module", APPLICATIONS)
def test_the_answer_has_what_the_model_saw(project: Project, neighbour: Any, module: str) -> None:
    neighbour(module)
    service = Model()
    with running(service.respond) as running_service:
        write_project(
            project, APPLICATIONS[module], running_service.url, model='host = "python"\ntarget = "desk:ask"'
        )
        project.run_process().assert_outcomes(passed=len(COUNTRIES))
    check(project, service, retrieves="langchain" in module)


def test_an_agent_that_exceeds_its_turns_keeps_its_calls(project: Project, neighbour: Any) -> None:
    neighbour("openinference.instrumentation.openai_agents")
    service = Model()
    application = AGENTS.replace("Runner.run(agent, prompt)", "Runner.run(agent, prompt, max_turns=1)")
    with running(service.respond) as running_service:
        write_project(project, application, running_service.url, model='host = "python"\ntarget = "desk:ask"')
        config = project.folder / "evalstudio.toml"
        rules = '["tool_rules"]\n[evaluator.tool_rules]\nrules = [{tool = "get_fee", never = true}]'
        config.write_text(config.read_text().replace('["effort"]', rules))
        project.run_process().assert_outcomes(failed=len(COUNTRIES))
    _, items = project.record()
    for item in items.values():
        [row] = item["rows"]
        [call] = row["answer"]["tool_calls"]
        assert "MaxTurnsExceeded" in row["answer"]["error"]
        assert (call["name"], call["arguments"]) == ("get_fee", {"country": item["key"]})
        assert call["result"] == f"{len(item['key'])} USD in {item['key']}"
        step = COUNTRIES.index(item["key"]) + 1
        assert row["answer"]["usage"]["input_tokens"] == 100 * step


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_recipe_for_a_service_gives_the_same(
    project: Project, neighbour: Any, workers: tuple[str, ...]
) -> None:
    for module in ("openinference.instrumentation.openai", "opentelemetry.instrumentation.fastapi"):
        neighbour(module)
    model, receiver, port = Model(), free_port(), free_port()
    with running(model.respond) as running_service:
        write_project(
            project,
            SERVICE,
            running_service.url,
            model=f'host = "http"\nurl = "http://127.0.0.1:{port}/ask"',
            table=f"port = {receiver}\nwait_s = 60.0",
        )
        with service_of(project, receiver=receiver, port=port):
            project.run_process(*workers).assert_outcomes(passed=len(COUNTRIES))
    check(project, model, retrieves=False)


@contextmanager
def service_of(project: Project, *, receiver: int, port: int) -> Iterator[None]:
    """Run the service as the recipe in docs/scale/traces.md says."""
    recipe = (Path(__file__).parents[2] / "docs" / "scale" / "traces.md").read_text(encoding="utf-8")
    [export, delay] = re.findall(r"^export ([^#\n]*)", recipe, re.MULTILINE)
    [command] = re.findall(r"^(opentelemetry-instrument .*)$", recipe, re.MULTILINE)
    pairs = f"{export} {delay}".replace("4318", str(receiver)).split()
    environment = dict(pair.split("=", 1) for pair in pairs)
    program, *arguments = command.replace("8000", str(port)).split()
    folder = Path(sys.executable).parent
    with subprocess.Popen(
        [str(folder / program), *arguments],
        cwd=project.folder,
        env={**os.environ, **environment, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"},
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            wait_for(port)
            yield
        finally:
            process.kill()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until a server takes connections."""
    end = time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < end:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")
