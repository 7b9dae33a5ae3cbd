"""The recipes for agent frameworks, as the page has them, with the real packages and a service of a model."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.hosts._callables import to_answer
from support.pages import Example, adapters
from support.project import Project
from support.service import Request, Response, running
from support.tool_asking_model import COUNTRIES, Model

RECIPES = adapters()
COMMON = RECIPES.pop("all").files
RECIPES["llama_index_stream"] = Example(
    files={
        "app.py": RECIPES["llama_index"]
        .files["app.py"]
        .replace("similarity_top_k=1)", "similarity_top_k=1, streaming=True)")
    }
)
"""The page says that the first token is timed with `streaming=True`."""
MODULES = {
    "langgraph": "langchain",
    "langchain": "langchain_core",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
    "llama_index": "llama_index",
    "llama_index_stream": "llama_index",
    "llama_index_agent": "llama_index",
    "haystack": "haystack",
    "haystack_agent": "haystack",
}
CALLS = {"langgraph", "openai_agents", "pydantic_ai", "llama_index_agent", "haystack_agent"}
RETRIEVES = {"langgraph", "langchain", "llama_index", "llama_index_stream", "haystack"}
REPORTS_NO_TOKENS = {"llama_index", "llama_index_stream"}
AGENTS = {"openai_agents": "Fees"}


@pytest.fixture(autouse=True)
def _no_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")


def test_every_recipe_is_run() -> None:
    assert set(RECIPES) == set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_the_answer_has_what_the_model_saw(
    project: Project, neighbour: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    neighbour(MODULES[name])
    for file, content in {**COMMON, **RECIPES[name].files}.items():
        project.write(file, content)
    project.suite(
        *(
            {"key": country, "prompt": f"What is the fee in {country}?", "condition": f'"{country}"'}
            for country in COUNTRIES
        )
    )
    model = Model()
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with running(model.respond) as service:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{service.url}/v1")
        project.run_process().assert_outcomes(passed=len(COUNTRIES))
    _, items = project.record()
    assert set(items) == {f"{country}[fees]" for country in COUNTRIES}
    for item in items.values():
        [row] = item["rows"]
        country = item["key"]
        assert row["answer"]["actual_output"] == f"The fee in {country} is known."
        tool_calls = row["answer"].get("tool_calls", [])
        calls = [
            {"name": call["name"], "country": call["arguments"]["country"], "result": call["result"]}
            for call in tool_calls
        ]
        assert calls == ([model.calls[country]] if name in CALLS else [])
        assert [call.get("agent") for call in tool_calls] == [AGENTS.get(name)] * len(calls)
        assert row["answer"].get("context", []) == ([f"Fees of {country}."] if name in RETRIEVES else [])
        assert row["answer"].get("context_sources", []) == ([f"{country}.md"] if name in RETRIEVES else [])
        assert (row["answer"].get("first_token_s") is not None) == (name == "llama_index_stream")
        expected = {f"{kind}_tokens": count for kind, count in model.tokens[country].items()}
        assert counted(row["answer"].get("usage", {})) == ({} if name in REPORTS_NO_TOKENS else expected), (
            json.dumps(row)
        )


def counted(usage: Mapping[str, int]) -> dict[str, int]:
    """The kinds of tokens that were used; some frameworks also report that none came from a cache."""
    return {kind: count for kind, count in usage.items() if count}


OF_OTHERS = pytest.mark.filterwarnings("ignore")
"""Warnings of the frameworks and of the sockets that they leave open."""


@dataclasses.dataclass
class Fee:
    usd: int


class FeeModel(BaseModel):
    usd: int


def fails(country: str) -> str:
    """Return the fee of a country."""
    raise RuntimeError(f"no fee of {country}")


@contextmanager
def scripted(*messages: dict[str, Any]) -> Iterator[str]:
    """Run a service that replies with messages, one after the other; yield its address."""
    remaining = iter(messages)

    def respond(request: Request) -> Response:
        choice = {"index": 0, "message": {"role": "assistant", **next(remaining)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        head = {"id": "x", "object": "chat.completion", "created": 1, "model": "gpt-4o-2024"}
        return Response({**head, "choices": [choice], "usage": usage})

    with running(respond) as service:
        yield f"{service.url}/v1"


def calling(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": f"call_{name}", "type": "function", "function": function}]}


def outcome(answer: Answer) -> list[tuple[str, str, str]]:
    """Return name, result and error of the calls."""
    return [(call.name, call.result or "", call.error) for call in answer.tool_calls]


FAILING = calling("fails", country="Peru")


@OF_OTHERS
def test_langgraph_output_with_a_type_and_a_failed_tool(neighbour: Callable[[str], None]) -> None:
    neighbour("langchain")
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ToolStrategy
    from langchain_core.tools import ToolException, tool
    from langchain_openai import ChatOpenAI

    def failing(country: str) -> str:
        """Return the fee of a country."""
        raise ToolException(f"no fee of {country}")

    failing_tool = tool("fails")(failing)
    failing_tool.handle_tool_error = True
    earlier = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hello."}]
    with scripted(FAILING, calling("Fee", usd=4)) as url:
        model = ChatOpenAI(model="gpt-4o", base_url=url, api_key="none")
        agent = create_agent(model, [failing_tool], response_format=ToolStrategy(Fee))
        state = agent.invoke({"messages": [*earlier, {"role": "user", "content": "What is the fee?"}]})
    answer = to_answer(state, "ask")
    assert (answer.text, outcome(answer)) == ('{"usd": 4}', [("fails", "", "no fee of Peru")])
    assert counted(answer.usage) == {"input_tokens": 6, "output_tokens": 4}
    assert answer.served_model == "gpt-4o-2024"


@OF_OTHERS
def test_openai_agents_output_with_a_type_and_a_handoff(neighbour: Callable[[str], None]) -> None:
    neighbour("agents")
    import agents
    import openai

    agents.set_tracing_disabled(True)
    with scripted(calling("transfer_to_desk"), {"content": '{"usd": 4}'}) as url:
        client = openai.AsyncOpenAI(base_url=url, api_key="none")
        model = agents.OpenAIChatCompletionsModel("gpt-4o", client)
        desk = agents.Agent(name="desk", model=model, output_type=FeeModel)
        first = agents.Agent(name="first", model=model, handoffs=[desk])
        answer = to_answer(asyncio.run(agents.Runner.run(first, "What is the fee?")), "ask")
    assert (answer.text, counted(answer.usage)) == ('{"usd": 4}', {"input_tokens": 6, "output_tokens": 4})
    assert outcome(answer) == [("transfer_to_desk", '{"assistant": "desk"}', "")]
    assert [call.agent for call in answer.tool_calls] == ["first"]


@OF_OTHERS
def test_pydantic_ai_output_with_a_type_and_a_failed_tool(neighbour: Callable[[str], None]) -> None:
    neighbour("pydantic_ai")
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def failing(country: str) -> str:
        """Return the fee of a country."""
        raise ModelRetry(f"no fee of {country}")

    failing.__name__ = "fails"
    with scripted(FAILING, calling("final_result", usd=4)) as url:
        model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=url, api_key="none"))
        answer = to_answer(Agent(model, tools=[failing], output_type=Fee).run_sync("What is the fee?"), "ask")
    assert (answer.text, outcome(answer)) == ('{"usd": 4}', [("fails", "", "no fee of Peru")])
    assert counted(answer.usage) == {"input_tokens": 6, "output_tokens": 4}
    assert answer.served_model == "gpt-4o-2024"


@OF_OTHERS
def test_llama_index_a_failed_tool_and_a_tool_that_retrieves(neighbour: Callable[[str], None]) -> None:
    neighbour("llama_index")
    from llama_index.core import Document, SummaryIndex
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.tools import QueryEngineTool
    from llama_index.llms.openai import OpenAI

    async def events_of(agent: Any) -> list[Any]:
        return [event async for event in agent.run("What is the fee?").stream_events()]

    async def result_of(agent: Any) -> Any:
        return await agent.run("What is the fee?")

    messages = (FAILING, calling("search", input="Peru"), {"content": "inner"}, {"content": "done"})
    answers = []
    for run in (events_of, result_of):
        with scripted(*messages) as url:
            llm = OpenAI(model="gpt-4o", api_base=url, api_key="none")
            index = SummaryIndex.from_documents([Document(text="Fees.", metadata={"file_name": "fees.md"})])
            search = QueryEngineTool.from_defaults(
                index.as_query_engine(llm=llm), name="search", description="-"
            )
            agent = FunctionAgent(tools=[fails, search], llm=llm, streaming=False)
            answers.append(to_answer(asyncio.run(run(agent)), "ask"))
    assert [answer.text for answer in answers] == ["done", "done"]
    assert [answer.context for answer in answers] == [("Fees.",), ("Fees.",)]
    assert [answer.context_sources for answer in answers] == [("fees.md",), ("fees.md",)]
    assert outcome(answers[0]) == [("fails", "", "no fee of Peru"), ("search", "inner", "")]
    # The engine asked the model, too: these tokens are in no event of the agent.
    assert [answer.usage for answer in answers] == [{"input_tokens": 9, "output_tokens": 6}, {}]


@OF_OTHERS
def test_haystack_a_failed_tool_and_answers_of_a_builder(neighbour: Callable[[str], None]) -> None:
    neighbour("haystack")
    from haystack import Document, Pipeline
    from haystack.components.agents import Agent
    from haystack.components.builders import AnswerBuilder, ChatPromptBuilder
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.tools import create_tool_from_function
    from haystack.utils import Secret

    question = ChatMessage.from_user("What is the fee?")
    with scripted(FAILING, {"content": "done"}, {"content": "built"}) as url:
        generators = [
            OpenAIChatGenerator(model="gpt-4o", api_base_url=url, api_key=Secret.from_token("none"))
            for _ in range(2)
        ]
        agent = Agent(chat_generator=generators[0], tools=[create_tool_from_function(fails)])
        earlier = [ChatMessage.from_user("Hello?"), ChatMessage.from_assistant("Hello.")]
        answer = to_answer(agent.run(messages=[*earlier, question]), "ask")
        pipeline = Pipeline()
        pipeline.add_component("prompt", ChatPromptBuilder([question]))
        pipeline.add_component("llm", generators[1])
        pipeline.add_component("builder", AnswerBuilder())
        pipeline.connect("prompt", "llm.messages")
        pipeline.connect("llm.replies", "builder.replies")
        documents = [Document(content="Fees.", meta={"url": "fees.md"})]
        outputs = pipeline.run(
            {"builder": {"query": "fee", "documents": documents}}, include_outputs_from={"llm"}
        )
    [(name, result, error)] = outcome(answer)
    assert (answer.text, name, result) == ("done", "fails", "")
    assert "no fee of Peru" in error
    assert answer.usage == {"input_tokens": 6, "output_tokens": 4}
    builder_answer = to_answer(outputs, "ask")
    assert (builder_answer.text, builder_answer.context, builder_answer.context_sources) == (
        "built",
        ("Fees.",),
        ("fees.md",),
    )
    assert builder_answer.usage == {"input_tokens": 3, "output_tokens": 2}


PYDANTIC_AI_AGENT = '''
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pytest_evalstudio import recorded_tool

FEES = {"gold": "15 USD", "blue": "12 USD"}


@recorded_tool
def get_fee(card: str) -> str:
    """Return the fee of a card."""
    return FEES[card]


def reply(messages, info):
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse(parts=[TextPart(f"It costs {last.content}.")])
    card = next(card for card in FEES if card in str(last.content))
    return ModelResponse(parts=[ToolCallPart("get_fee", {"card": card})])


agent = Agent(FunctionModel(reply), tools=[get_fee])


async def ask(prompt):
    return await agent.run(prompt)
'''


def test_the_cause_of_a_regression_of_a_pydantic_ai_agent_is_its_tool(
    project: Project, neighbour: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    neighbour("pydantic_ai")
    # Bytecode is taken for a file of the same size and second.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    project.write("app.py", PYDANTIC_AI_AGENT)
    project.suite(
        *(
            {"key": card, "prompt": f"What does the {card} card cost?", "condition": f'value("{fee}")'}
            for card, fee in (("gold", "15 USD"), ("blue", "12 USD"))
        )
    )
    project.run_process().assert_outcomes(passed=2)
    assert project.run_command("baseline", "save").ret == 0
    project.write("app.py", PYDANTIC_AI_AGENT.replace("12 USD", "21 USD"))

    result = project.run_process("--evalstudio-baseline", "evalstudio-baseline.jsonl", "--evalstudio-explain")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["cause: tool `get_fee`: returned 21 USD instead of 12 USD"])
