"""Applications whose frameworks record the traces of this folder; see `make_traces.py`.

Each function asks the chat service at `url` the one question, and its spans go to `provider`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

QUESTION, RESULT = "What is the fee in France?", "30 USD"
MODEL = "gpt-4o"
PROMPT = "Be brief."
FAULT = "no such country"
FAILS = bool(os.environ.get("EVALSTUDIO_TOOL_FAILS"))
"""True where the tool raises an error, for the files whose names end with `_error`."""
DOCUMENT = "A transfer within the EU costs 30 USD."
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_fee",
            "parameters": {"type": "object", "properties": {"country": {"type": "string"}}},
        },
    }
]


def ask(client):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]
    reply = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
    messages += [
        reply.choices[0].message.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": "call_1", "content": RESULT},
    ]
    last = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
    return last.choices[0].message.content


def get_fee(country: str) -> str:
    """Return the fee."""
    if FAILS:
        raise ValueError(FAULT)
    return RESULT


fee_of = get_fee


def openllmetry_openai(provider, url):
    import openai
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    with provider.get_tracer("app").start_as_current_span("POST /ask"):
        ask(openai.OpenAI(base_url=url))


def openllmetry_langchain(provider, url):
    from langchain.agents import create_agent
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from opentelemetry.instrumentation.langchain import LangchainInstrumentor

    class Retriever(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            return [Document(DOCUMENT, metadata={"source": "fees.md"})]

    def get_fee(country: str) -> str:
        """Return the fee."""
        Retriever().invoke(country)
        return fee_of(country)

    LangchainInstrumentor().instrument(tracer_provider=provider)
    model = ChatOpenAI(model=MODEL, base_url=url)
    agent = create_agent(model, [tool(get_fee)], name="fees")
    agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})


def openllmetry_agents(provider, url):
    import agents
    import openai
    from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    agents.set_default_openai_client(openai.AsyncOpenAI(base_url=url), use_for_tracing=False)
    agent = agents.Agent(name="Fees", instructions=PROMPT, model=MODEL, tools=[agents.function_tool(get_fee)])
    agents.Runner.run_sync(agent, QUESTION)


def adk(provider, url):
    from google.adk.agents import LlmAgent
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import InMemoryRunner
    from google.genai import types
    from opentelemetry import trace

    trace.set_tracer_provider(provider)
    model = LiteLlm(model=f"openai/{MODEL}", api_base=url)
    agent = LlmAgent(name="fees", model=model, instruction=PROMPT, tools=[get_fee])

    async def run():
        runner = InMemoryRunner(agent=agent, app_name="desk")
        session = await runner.session_service.create_session(app_name="desk", user_id="u1")
        message = types.Content(role="user", parts=[types.Part(text=QUESTION)])
        async for _ in runner.run_async(user_id="u1", session_id=session.id, new_message=message):
            pass

    asyncio.run(run())


def strands(provider, url):
    from opentelemetry import trace

    trace.set_tracer_provider(provider)
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(client_args={"base_url": url, "api_key": "none"}, model_id=MODEL)
    agent = Agent(
        name="fees", model=model, tools=[tool(get_fee)], system_prompt=PROMPT, callback_handler=None
    )
    agent(QUESTION)


def llama_index(provider, url):
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai import OpenAI
    from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

    class Retriever(BaseRetriever):
        def _retrieve(self, query_bundle):
            return [NodeWithScore(node=TextNode(id_="fees.md", text=DOCUMENT), score=0.5)]

    def get_fee(country: str) -> str:
        """Return the fee."""
        Retriever().retrieve(country)
        return fee_of(country)

    LlamaIndexInstrumentor().instrument(tracer_provider=provider)

    async def run():
        agent = FunctionAgent(
            name="fees",
            tools=[FunctionTool.from_defaults(get_fee)],
            llm=OpenAI(model=MODEL, api_base=url),
            system_prompt=PROMPT,
            streaming=False,
        )
        await agent.run(QUESTION)

    asyncio.run(run())


def vercel(provider, url):
    """Run `vercel.mjs`, with the packages of npm in the folder that NODE_PATH names."""
    script = Path(__file__).with_name("vercel.mjs").read_text(encoding="utf-8")
    folder = Path(os.environ["NODE_PATH"]).parent  # modules of ECMAScript are found beside the script only
    (folder / "vercel.mjs").write_text(script, encoding="utf-8")
    arguments = (url, QUESTION, PROMPT, FAULT if FAILS else RESULT, str(FAILS))
    subprocess.run(["node", "vercel.mjs", *arguments], cwd=folder, check=True)


APPLICATIONS = {
    "openllmetry-openai": openllmetry_openai,
    "openllmetry-langchain": openllmetry_langchain,
    "openllmetry-agents": openllmetry_agents,
    "adk": adk,
    "adk-legacy": adk,
    "strands": strands,
    "llama-index": llama_index,
    "vercel": vercel,
}
