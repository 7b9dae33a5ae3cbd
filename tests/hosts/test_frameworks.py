"""Results of agent frameworks: what is recognised, what is incomplete, and results of unknown versions.

Objects with the attributes of the frameworks take their place here; `tox -e adapters` runs the real ones.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace as Item
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.core.usage import total_usage
from pytest_evalstudio.hosts._callables import to_answer
from pytest_evalstudio.hosts._frameworks.parts import (
    Calls,
    RetrievedChunk,
    context,
    text_of,
    text_of_blocks,
)
from pytest_evalstudio.hosts._frameworks.reading import FRAMEWORKS, framework_answer
from support.children import LONGEST_WAIT_S
from support.processor_time import assert_linear
from support.prompts import ask_for


def of(package: str, **attributes: Any) -> Any:
    """Return an object whose class says that a package defines it."""
    return type("Result", (Item,), {"__module__": f"{package}.results"})(**attributes)


def usage(input_count: int, output_count: int) -> Item:
    return Item(input_tokens=input_count, output_tokens=output_count)


def langgraph(**changes: Any) -> dict[str, Any]:
    document = Item(page_content="Fees.", metadata={"source": "fees.md"})
    call = {"name": "fee", "args": {"to": "Peru"}, "id": "c"}
    reply = {"type": "ai", "response_metadata": {"model_name": "m"}, "tool_calls": []}
    messages = [
        {"type": "human", "content": "Hello?"},
        {**reply, "content": "Hello.", "usage_metadata": {"input_tokens": 90, "output_tokens": 90}},
        {"type": "human", "content": "What is the fee?"},
        {
            **reply,
            "content": "",
            "tool_calls": [call],
            "usage_metadata": {"input_tokens": 1, "output_tokens": 2},
        },
        {"type": "tool", "content": "4", "tool_call_id": "c", "status": "success", "artifact": [document]},
        {
            **reply,
            "content": "It is 4.",
            "usage_metadata": {"input_tokens": 3, "output_tokens": 4},
            **changes,
        },
    ]
    return {"messages": [of("langchain_core", **message) for message in messages]}


def openai_agents(**changes: Any) -> Any:
    agent = Item(name="desk")
    call = Item(name="fee", arguments='{"to": "Peru"}', call_id="c")
    files = [Item(text="Fees.", filename="fees.md", score=0.5)]
    items = [
        Item(type="tool_call_item", agent=agent, raw_item=call),
        Item(type="tool_call_output_item", agent=agent, raw_item={"call_id": "c"}, output=4),
        Item(
            type="tool_call_item", agent=agent, raw_item=Item(type="file_search_call", id="f", results=files)
        ),
        Item(type="message_output_item", agent=agent, raw_item=Item(content=[])),
    ]
    replies = [Item(usage=usage(1, 2)), Item(usage=usage(3, 4))]
    return of(
        "agents", **{"final_output": "It is 4.", "new_items": items, "raw_responses": replies, **changes}
    )


def pydantic_ai(**changes: Any) -> Any:
    parts = [Item(part_kind="tool-call", tool_name="fee", args={"to": "Peru"}, tool_call_id="c")]
    returned = [Item(part_kind="tool-return", tool_name="fee", content="4", tool_call_id="c")]
    messages = [
        Item(kind="request", parts=[Item(part_kind="user-prompt")]),
        Item(kind="response", parts=parts, usage=usage(1, 2), model_name="m"),
        Item(kind="request", parts=returned),
        Item(kind="response", parts=[Item(part_kind="text")], usage=usage(3, 4), model_name="m"),
    ]
    return of("pydantic_ai", **{"output": "It is 4.", "new_messages": lambda: messages, **changes})


def node(text: str, score: float | None, **metadata: str) -> Item:
    return Item(node=Item(get_content=lambda: text, metadata=metadata), score=score)


def llama_index(**changes: Any) -> list[Any]:
    nodes = Item(source_nodes=[node("Fees.", 0.5, file_name="fees.md")])
    tool = Item(content="4", is_error=False, raw_output=nodes)
    output = {"response": Item(content="It is 4."), "tool_calls": [], "current_agent_name": "desk"}
    return [
        of("llama_index", **output, structured_response=None, raw={"usage": vars(usage(1, 2))}),
        of("llama_index", tool_name="fee", tool_kwargs={"to": "Peru"}, tool_id="c", tool_output=tool),
        of(
            "llama_index",
            **{
                **output,
                "structured_response": None,
                "raw": {"usage": vars(usage(3, 4)), "model": "m"},
                **changes,
            },
        ),
        of("workflows", result="It is 4."),
    ]


def haystack(**changes: Any) -> dict[str, Any]:
    call = Item(tool_name="fee", arguments={"to": "Peru"}, id="c")
    output = Item(origin=call, result="4", error=False)
    plain = {"tool_calls": [], "tool_call_results": [], "meta": {}, "text": None}
    first = {"prompt_tokens": 1, "completion_tokens": 2}
    second = {"prompt_tokens": 3, "completion_tokens": 4}
    messages = [
        {"role": "user"},
        {"role": "assistant", "tool_calls": [call], "meta": {"model": "m", "usage": first}},
        {"role": "tool", "tool_call_results": [output]},
        {"role": "assistant", "text": "It is 4.", "meta": {"model": "m", "usage": second}, **changes},
    ]
    document = of("haystack", content="Fees.", meta={"file_path": "fees.md"}, score=0.5)
    return {
        "retriever": {"documents": [document]},
        "agent": {"messages": [of("haystack", **{**plain, **message}) for message in messages]},
    }


def langchain(**changes: Any) -> dict[str, Any]:
    document = of("langchain_core", page_content="Fees.", metadata={"source": "fees.md"})
    message = of(
        "langchain_core",
        type="ai",
        content=[{"type": "text", "text": "It is 4."}],
        tool_calls=[],
        usage_metadata={"input_tokens": 4, "output_tokens": 6},
        response_metadata={"model_name": "m", "finish_reason": "length"},
    )
    action = of("langchain_core", tool="fee", tool_input={"to": "Peru"}, tool_call_id="c")
    steps = [(action, "4")]
    return {
        "input": "What is the fee?",
        "context": [(document, 0.5)],
        "answer": message,
        "intermediate_steps": steps,
        **changes,
    }


RESULTS = {
    "LangChain": langchain,
    "LangGraph": langgraph,
    "OpenAI Agents SDK": openai_agents,
    "pydantic-ai": pydantic_ai,
    "LlamaIndex": llama_index,
    "Haystack": haystack,
}


def test_every_framework_has_an_example() -> None:
    assert set(RESULTS) == set(FRAMEWORKS)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_becomes_answer_calls_chunks_and_tokens(name: str) -> None:
    answer = to_answer(RESULTS[name](), "ask")
    call = answer.tool_calls[0]
    assert (answer.text, call.name, dict(call.arguments), call.result) == (
        "It is 4.",
        "fee",
        {"to": "Peru"},
        "4",
    )
    assert answer.usage == {"input_tokens": 4, "output_tokens": 6}
    assert answer.context == (() if name == "pydantic-ai" else ("Fees.",))
    assert answer.context_sources == (() if name == "pydantic-ai" else ("fees.md",))
    assert answer.context_scores == (
        (0.5,) if name in ("LangChain", "OpenAI Agents SDK", "LlamaIndex", "Haystack") else ()
    )
    assert [bool(call.agent) for call in answer.tool_calls] == [name == "OpenAI Agents SDK"] * len(
        answer.tool_calls
    )


INCOMPLETE = {
    "LangGraph": {"usage_metadata": None},
    "OpenAI Agents SDK": {"raw_responses": [Item(usage=usage(1, 2)), Item(usage=None)]},
    "LlamaIndex": {"raw": None},
    "Haystack": {"meta": {"model": "m"}},
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_tokens_of_some_requests_only_are_left_out(name: str) -> None:
    answer = to_answer(RESULTS[name](**INCOMPLETE[name]), "ask")
    assert (answer.text, answer.usage) == ("It is 4.", {})


@dataclass
class Fee:
    usd: int


@pytest.mark.parametrize(
    "result",
    [
        {**langgraph(), "structured_response": Fee(4)},
        openai_agents(final_output=Fee(4)),
        pydantic_ai(output=Fee(4)),
        llama_index(structured_response={"usd": 4}),
    ],
)
def test_output_with_a_type_becomes_json(result: object) -> None:
    assert to_answer(result, "ask").text == '{"usd": 4}'


BROKEN = {
    "LangGraph": {
        "messages": [of("langchain_core", type="human", content="?"), of("langchain_core", type="ai")]
    },
    "OpenAI Agents SDK": of("agents", final_output="4", new_items=[Item(type="tool_call_item")]),
    "pydantic-ai": of("pydantic_ai", output="4", new_messages=lambda: [Item(role="model")]),
    "LlamaIndex": of("llama_index", response="4", source_nodes=[Item(text="Fees.")]),
    "Haystack": {"retriever": {"documents": [of("haystack", text="Fees.")]}},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_result_of_an_unknown_version_is_an_error_with_its_remedy(name: str) -> None:
    with pytest.raises(
        HostFault, match=f"^ask returned a result of {name} that this version cannot read"
    ) as raised:
        to_answer(BROKEN[name], "ask")
    assert str(raised.value).endswith("; return a mapping with 'answer'")


@pytest.mark.parametrize(
    ("name", "package", "attributes"),
    [
        ("OpenAI Agents SDK", "agents", ("new_items", "final_output")),
        ("pydantic-ai", "pydantic_ai", ("output", "new_messages")),
        ("LlamaIndex", "llama_index", ("source_nodes", "response")),
    ],
)
def test_a_result_whose_attributes_fail_is_an_error_with_its_remedy(
    name: str, package: str, attributes: tuple[str, ...]
) -> None:
    def fail(result: object) -> None:
        raise RuntimeError("the stream is closed")

    failing = type(of(package))()
    for attribute in attributes:
        setattr(type(failing), attribute, property(fail))
    with pytest.raises(
        HostFault, match=f"^ask returned a result of {name} .*RuntimeError: the stream is closed"
    ):
        to_answer(failing, "ask")


@pytest.mark.parametrize(
    "value",
    [
        {"messages": []},
        {"messages": ["Hello."]},
        {"messages": [{"role": "assistant", "content": "Hello."}]},
        {"llm": {"replies": ["Hello."]}},
        {},
        [],
        [of("llama_index", tool_name="fee")],
        of("agents", final_output="a class of the user's own package named agents"),
        of("pydantic_ai", output="no run"),
        Item(response="4", source_nodes=[]),
    ],
)
def test_other_values_are_of_no_framework(value: object) -> None:
    assert framework_answer(value, "ask") is None
    with pytest.raises(HostFault, match=r"^ask returned "):
        to_answer(value, "ask")


def test_haystack_generators_without_chat_and_builders_of_answers() -> None:
    metas = [{"model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 2}}]
    plain = to_answer({"llm": {"replies": ["It is 4."], "meta": metas}}, "ask")
    assert (plain.text, plain.usage, plain.served_model) == (
        "It is 4.",
        {"input_tokens": 1, "output_tokens": 2},
        "m",
    )
    document = of("haystack", content="Fees.", meta={}, score=None)
    answer = to_answer({"builder": {"answers": [of("haystack", data="4", documents=[document])]}}, "ask")
    assert (answer.text, answer.context, answer.context_sources, answer.usage) == ("4", ("Fees.",), (), {})


def test_a_query_engine_of_llama_index_without_an_answer_is_empty() -> None:
    answer = to_answer(of("llama_index", response=None, source_nodes=[]), "ask")
    assert answer == Answer()


def test_results_go_to_their_calls() -> None:
    calls = Calls()
    calls.begin("fee", '{"to": "Peru"}', "1")
    calls.begin("fee", None, None)
    calls.begin("fee", {"to": Fee(4)}, None)
    calls.end(None, "second")
    calls.end("9", "of no call")
    calls.end("1", {"usd": 4}, failed=True)
    first, second, third = calls.all()
    assert (dict(first.arguments), first.error, first.result) == ({"to": "Peru"}, '{"usd": 4}', None)
    assert (second.result, third.result, dict(third.arguments)) == ("second", None, {"to": {"usd": 4}})


def test_sources_and_scores_are_of_all_chunks_or_of_none() -> None:
    chunks = [RetrievedChunk("a", "a.md", 0.5), RetrievedChunk("b", "", None)]
    assert context(chunks) == {"context": ("a", "b"), "context_sources": (), "context_scores": ()}


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_is_none(score: float) -> None:
    answer = to_answer(
        of("llama_index", response="4", source_nodes=[node("Fees.", score, source="fees.md")]), "ask"
    )
    assert (answer.context, answer.context_sources, answer.context_scores) == (("Fees.",), ("fees.md",), ())


@pytest.mark.slow
@pytest.mark.parametrize("ids", [lambda n: range(n, 2 * n), lambda n: reversed(range(n))])
def test_results_are_found_in_linear_time(ids: Callable[[int], Iterable[int]]) -> None:
    def prepare(count: int) -> Callable[[], object]:
        calls = Calls()
        for number in range(count):
            calls.begin("fee", {}, str(number))

        def end() -> None:
            for number in ids(count):
                calls.end(str(number), "4")

        return end

    assert_linear(prepare, 2_000)


def test_texts_and_counts() -> None:
    blocks = [{"type": "reasoning", "text": "Hm."}, "It ", {"type": "text", "text": "is 4."}, 5]
    assert (text_of_blocks(blocks), text_of_blocks("4"), text_of(None), text_of("ä")) == (
        "It is 4.",
        "4",
        "",
        "ä",
    )
    assert text_of({"ä": {1}}) == '{"ä": "{1}"}'
    assert (total_usage([]), total_usage([{"input_tokens": True, "output_tokens": 1}])) == ({}, {})


PLAIN_DOCUMENT = {"page_content": "Fees.", "metadata": {}}


@pytest.mark.parametrize(
    ("result", "text", "chunks"),
    [
        (langchain(answer="It is 4."), "It is 4.", ("Fees.",)),
        ({"query": "q", "result": "r", "source_documents": langchain()["context"]}, "r", ("Fees.",)),
        ({"answer": "r", "context": langchain()["context"]}, "r", ("Fees.",)),
        ({"input": "q", "answer": "r", "context": []}, "r", ()),
        ({"answer": langchain()["answer"]}, "It is 4.", ()),
        (langchain()["answer"], "It is 4.", ()),
    ],
    ids=[
        "chain",
        "question answering",
        "no question",
        "nothing retrieved",
        "message in a mapping",
        "message",
    ],
)
def test_results_of_langchain_have_several_forms(result: object, text: str, chunks: tuple[str, ...]) -> None:
    answer = to_answer(result, "ask")
    assert (answer.text, answer.context) == (text, chunks)


def test_a_chain_that_retrieves_nothing_still_retrieves() -> None:
    assert to_answer({"input": "q", "answer": "r", "context": []}, "ask").retrieves is True
    assert to_answer(langchain()["answer"], "ask").retrieves is None


def test_a_message_says_how_it_ended() -> None:
    assert to_answer(langchain()["answer"], "ask").finish_reason == "length"


@pytest.mark.parametrize(
    ("result", "fact"),
    [
        ({"input": "q", "answer": "r"}, "unknown key 'input'"),
        ({"input": "q", "answer": "r", "context": [PLAIN_DOCUMENT]}, "unknown key 'input'"),
        ({"answer": "r", "context": [PLAIN_DOCUMENT]}, "make it a list of strings"),
        ({"answer": 3, "context": []}, "returned 'answer' as an int"),
    ],
)
def test_mappings_of_no_framework_are_checked_as_before(result: object, fact: str) -> None:
    with pytest.raises(HostFault, match=fact):
        to_answer(result, "ask")


def stream_of(name: str, **attributes: Any) -> Any:
    """Return a stream of LlamaIndex by the name of its class."""
    cls = type(name, (Item,), {"__module__": "llama_index.core"})
    return cls(source_nodes=[node("Fees.", 0.5, file_name="fees.md")], **attributes)


async def parts() -> AsyncIterator[str]:
    for text in ("It ", "is 4."):
        await asyncio.sleep(0.05)
        yield text


def slow_parts() -> Iterator[str]:
    for text in ("It ", "is 4."):
        time.sleep(0.05)
        yield text


STREAMS = {
    "query engine": lambda: stream_of("StreamingResponse", response_gen=slow_parts(), response_txt=None),
    "query engine, read before": lambda: stream_of(
        "StreamingResponse", response_gen=iter(()), response_txt="It is 4."
    ),
    "asynchronous query engine": lambda: stream_of(
        "AsyncStreamingResponse", async_response_gen=parts, response_txt=None
    ),
    "chat engine": lambda: stream_of("StreamingAgentChatResponse", response_gen=slow_parts()),
    "asynchronous chat engine": lambda: stream_of(
        "StreamingAgentChatResponse", achat_stream=object(), async_response_gen=parts, response_gen=iter(())
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_joined(model: Callable[..., Any], name: str) -> None:
    [answer] = model("python", target=lambda prompt: STREAMS[name]()).ask(ask_for("q"))
    assert (answer.error, answer.text, answer.context) == ("", "It is 4.", ("Fees.",))
    assert (answer.context_sources, answer.context_scores) == (("fees.md",), (0.5,))
    assert answer.first_token_s is not None
    assert answer.first_token_s < answer.duration_s


def test_a_stream_that_breaks_off_is_an_error(model: Callable[..., Any]) -> None:
    def broken() -> Iterator[str]:
        yield "It "
        raise RuntimeError("the service is gone")

    stream = stream_of("StreamingResponse", response_gen=broken(), response_txt=None)
    [answer] = model("python", target=lambda prompt: stream).ask(ask_for("q"))
    assert "RuntimeError: the service is gone" in answer.error
    assert answer.text == ""


def test_streams_of_several_questions_are_read_at_the_same_time(model: Callable[..., Any]) -> None:
    meeting = threading.Barrier(8)

    def parts_together() -> Iterator[str]:
        yield "It "
        meeting.wait(LONGEST_WAIT_S)  # an error, if not all streams are read at the same time
        yield "is 4."

    def engine(prompt: str) -> Any:
        return stream_of("StreamingResponse", response_gen=parts_together(), response_txt=None)

    session = model("python", target=engine, concurrency=8)
    answers = session.ask(ask_for(*map(str, range(8))))
    assert {answer.text for answer in answers} == {"It is 4."}
