"""The requests of every host, as its real client sends them: settings arrive unchanged."""

from __future__ import annotations

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.lab_models import TRUSTED, LabModel, settings_of_lab_model
from pytest_evalstudio.asking.prompts import case_variables
from pytest_evalstudio.core.cases import Prompt, Turn
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from support.openai_protocol import completion_parts
from support.protocols import PROTOCOLS, anthropic_parts
from support.service import ANSWER, KEY, Response, running

BY_ID = {protocol.id: protocol for protocol in PROTOCOLS}
TURNS = (Turn(role="user", content="I have a card."), Turn(role="assistant", content="Good."))
PROMPT = Prompt(text="The fee?", conversation=TURNS, system="Be honest.")
EARLIER = [{"role": "user", "content": "I have a card."}, {"role": "assistant", "content": "Good."}]
MESSAGES = [*EARLIER, {"role": "user", "content": "The fee?"}]


@pytest.fixture
def ask(model):
    """Ask a host one prompt; return its answer and the request that asked it."""

    def ask(id, prompt=PROMPT, **settings):
        protocol = BY_ID[id]
        with running(protocol.respond, protocol.asks, protocol.handler) as service:
            session = model(id, **{**protocol.settings(service.url), **settings})
            [answer] = session.ask([prompt])
            session.close()
        assert not answer.error
        [request] = service.questions
        return answer, request

    return ask


def test_a_request_may_name_the_test_case_which_is_then_a_part_of_its_answers_key(ask, tmp_path):
    prompt = Prompt(text="The fee?", case=case_variables("abroad/1", ["fees"], {"metadata": {"a": 1}}))
    body = {"id": "{{ key }}", "q": "{{ prompt }}", "chat": "{{ session }}"}
    _, request = ask("http", prompt, body=body, headers={"x-case": "{{ key }}"})
    assert request.body == {"id": "abroad/1", "q": "The fee?", "chat": ""}
    assert request.headers["x-case"] == "abroad/1"
    _, request = ask("http", body=body)
    assert request.body["id"] == ""


@pytest.mark.parametrize(("text", "question_count"), [("{{ prompt }}", 1), ("{{ prompt }} {{ key }}", 2)])
def test_answers_are_stored_by_the_key_where_a_request_names_it(tmp_path, text, question_count):
    protocol = BY_ID["http"]
    prompts = [Prompt(text="The fee?", case=case_variables(key, [], None)) for key in ("one", "two")]
    with (
        running(protocol.respond, protocol.asks, protocol.handler) as service,
        AnswerCache(tmp_path) as cache,
    ):
        table = {"host": "http", **protocol.settings(service.url), "body": {"q": text}, "cache": "always"}
        with open_model("mine", table, Registry(), folder=tmp_path, cache=cache) as session:
            for prompt in prompts:
                session.ask([prompt])
    assert len(service.questions) == question_count


@pytest.fixture
def fees(tmp_path):
    path = tmp_path / "fees.md"
    path.write_text("A transfer costs 5 USD.", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("id", ["openai_compatible", "openai_llm", "h2ogpt", "h2ollmops", "azure_openai_llm"])
def test_chat_completion_arguments_pass_through(ask, id):
    arguments = {
        "frequency_penalty": 0.5,
        "logit_bias": {"50256": -100},
        "n": 1,
        "presence_penalty": 0.25,
        "stop": ["END"],
        "top_p": 0.5,
        "user": "me",
        "extra_headers": {"X-Team": "cards"},
        "extra_query": {"trace": "1"},
        "extra_body": {"guided": True},
    }
    _, request = ask(
        id, system_prompt="Be brief.", temperature=0.0, seed=7, max_tokens=9, arguments=arguments
    )
    fields = {name: value for name, value in arguments.items() if not name.startswith("extra_")}
    assert request.body == {
        "model": "prod-4o" if id == "azure_openai_llm" else "m",
        "messages": [{"role": "system", "content": "Be brief.\n\nBe honest."}, *MESSAGES],
        "temperature": 0.0,
        "seed": 7,
        "max_tokens": 9,
        **fields,
        "guided": True,
    }
    assert request.headers["x-team"] == "cards"
    assert "trace=1" in request.path


def test_azure_is_asked_by_deployment_version_and_its_own_header(ask):
    _, request = ask("azure_openai_llm", api_version="2025-01-01")
    assert request.path == "/openai/deployments/prod-4o/chat/completions?api-version=2025-01-01"
    assert request.headers["api-key"] == KEY


def test_a_stream_of_completions_asks_for_its_usage(ask):
    answer, request = ask("openai_llm", stream=True)
    assert (request.body["stream"], request.body["stream_options"]) == (True, {"include_usage": True})
    assert dict(answer.usage) == {"input_tokens": 10, "output_tokens": 5}


def test_messages_of_anthropic(ask):
    arguments = {"stop_sequences": ["END"], "metadata": {"user_id": "me"}, "extra_body": {"top_k": 5}}
    answer, request = ask("anthropic_llm", system_prompt="Be brief.", max_tokens=9, arguments=arguments)
    assert request.body == {
        "model": "m",
        "max_tokens": 9,
        "system": "Be brief.\n\nBe honest.",
        "messages": MESSAGES,
        "stop_sequences": ["END"],
        "metadata": {"user_id": "me"},
        "top_k": 5,
    }
    assert KEY in (request.headers.get("x-api-key") or request.headers["authorization"])  # by its version
    assert answer.request_id == "req-1"


def test_options_of_ollama(ask):
    _, request = ask(
        "ollama",
        temperature=0.0,
        seed=7,
        options={"num_ctx": 4096},
        keep_alive="10m",
        arguments={"think": False},
    )
    assert request.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be honest."}, *MESSAGES],
        "options": {"temperature": 0.0, "seed": 7, "num_ctx": 4096},
        "keep_alive": "10m",
        "think": False,
        "stream": False,
        "tools": [],
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"


def test_a_judges_schema_is_the_format_of_ollama(ask):
    schema = {"type": "object", "properties": {"verdict": {"type": "boolean"}}}
    _, request = ask("ollama", Prompt(text="q", reply_schema=schema))
    assert request.body["format"] == schema


def test_settings_of_bedrock_converse(ask):
    inference = {"topP": 0.5, "stopSequences": ["END"]}
    guardrail = {"guardrailIdentifier": "gr", "guardrailVersion": "1", "trace": "enabled"}
    answer, request = ask(
        "amazon_bedrock_llm",
        system_prompt="Be brief.",
        temperature=0.0,
        max_tokens=9,
        inferenceConfig=inference,
        guardrailConfig=guardrail,
        additionalModelRequestFields={"top_k": 5},
    )
    assert request.path == "/model/m/converse"
    assert request.body == {
        "messages": [{"role": turn["role"], "content": [{"text": turn["content"]}]} for turn in MESSAGES],
        "system": [{"text": "Be brief.\n\nBe honest."}],
        "inferenceConfig": {"temperature": 0.0, "maxTokens": 9, **inference},
        "guardrailConfig": guardrail,
        "additionalModelRequestFields": {"top_k": 5},
    }
    assert "Credential=AKIAPLANTED4711/" in request.headers["authorization"]
    assert answer.request_id == "req-1"


def test_settings_of_a_knowledge_base(ask):
    guardrail = {"guardrailId": "gr", "guardrailVersion": "1"}
    inference = {"textInferenceConfig": {"temperature": 0.0, "maxTokens": 9}}
    template = {"textPromptTemplate": "Answer from $search_results$."}
    orchestration = {"queryTransformationConfiguration": {"type": "QUERY_DECOMPOSITION"}}
    retrieval = {"vectorSearchConfiguration": {"numberOfResults": 3, "overrideSearchType": "HYBRID"}}
    answer, request = ask(
        "amazon_bedrock_rag",
        Prompt(text="The fee?"),
        guardrailConfiguration=guardrail,
        inferenceConfig=inference,
        promptTemplate=template,
        orchestrationConfiguration=orchestration,
        retrievalConfiguration=retrieval,
    )
    assert request.path == "/retrieveAndGenerate"
    assert request.body == {
        "input": {"text": "The fee?"},
        "retrieveAndGenerateConfiguration": {
            "type": "KNOWLEDGE_BASE",
            "knowledgeBaseConfiguration": {
                "knowledgeBaseId": "KB12345678",
                "modelArn": "m",
                "generationConfiguration": {
                    "guardrailConfiguration": guardrail,
                    "inferenceConfig": inference,
                    "promptTemplate": template,
                },
                "orchestrationConfiguration": orchestration,
                "retrievalConfiguration": retrieval,
            },
        },
    }
    assert answer.context_sources == ("s3://docs/fees.md",)  # cited twice, kept once


def test_an_http_service_gets_what_the_template_says(ask):
    _, request = ask(
        "http",
        Prompt(text='The "fee"?', conversation=TURNS, system="Be honest.", run=2),
        headers={"X-Run": "{{ run }}"},
        query={"q": "{{ prompt }}"},
        body={
            "question": "Q: {{ prompt }}",
            "messages": "{{ messages }}",
            "history": "{{ conversation }}",
            "options": {"run": "{{ run }}", "deep": True},
        },
    )
    assert request.method == "POST"
    assert request.path == "/ask?q=The+%22fee%22%3F"
    assert request.body == {
        "question": 'Q: The "fee"?',
        "messages": [
            {"role": "system", "content": "Be honest."},
            *EARLIER,
            {"role": "user", "content": 'The "fee"?'},
        ],
        "history": EARLIER,
        "options": {"run": 2, "deep": True},
    }
    assert (request.headers["authorization"], request.headers["x-run"]) == (f"Bearer {KEY}", "2")


@pytest.mark.parametrize("name", ["prompt", "question", "input"])
def test_the_question_has_its_names_of_suites_prompts_and_data_sets(model, name):
    body = {"whole": f"{{{{ {name} }}}}", "part": f"Answer: {{{{{name}}}}}"}
    with running(lambda request: Response({"answer": ANSWER})) as service:
        model("http", url=service.url, body=body).ask([Prompt(text="Fee?")])
    assert service.requests[0].body == {"whole": "Fee?", "part": "Answer: Fee?"}


def test_an_http_service_can_be_asked_by_its_address_alone(model):
    with running(lambda request: Response({"answer": ANSWER})) as service:
        [answer] = model("http", url=f"{service.url}/ask/{{{{ prompt }}}}", method="GET").ask(
            [Prompt(text="a/../b?c")]
        )
    assert answer.text == ANSWER
    assert service.requests[0].path == "/ask/a%2F..%2Fb%3Fc"
    assert service.requests[0].content == b""


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        pytest.param({"error": "busy"}, "answered with an error: busy", id="error"),
        pytest.param({"answer": 5}, "answer (/answer) is not a text", id="number"),
        pytest.param({"hits": []}, "without an answer at /answer", id="none"),
        pytest.param(
            {"answer": "a", "hits": [{"text": 1}]}, "context (/hits/*/text) is not a list", id="chunk"
        ),
        pytest.param(
            {"answer": "a", "hits": [{"text": "x"}, {"text": "y", "score": 1}]},
            "2 chunks and 1 scores",
            id="missing score",
        ),
        pytest.param({"answer": "a", "cost": "5"}, "cost (/cost) has the type str", id="cost"),
    ],
)
def test_a_reply_of_another_form_names_the_pointer(model, reply, fault):
    pointers = {"answer": "/answer", "context": "/hits/*/text", "scores": "/hits/*/score"}
    pointers |= {"cost": "/cost", "error": "/error"}
    with running(lambda request: Response(reply)) as service:
        [answer] = model("http", url=service.url, reply=pointers, retries=0).ask([Prompt(text="q")])
    assert fault in answer.error


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"body": {"q": "{prompt}"}}, "body.q: {prompt} is not a placeholder; write {{ prompt }}"),
        ({"body": {"q": "{{ promt }}"}}, "body.q: {{ promt }} is unknown. Did you mean 'prompt'?"),
        ({"reply": {"anser": "/a"}}, "reply.anser: unknown key. Did you mean 'answer'?"),
        ({"reply": {"answer": "a"}}, "reply.answer = 'a': a JSON Pointer begins with /"),
        ({"reply": {"cost": "/c"}}, "reply: has no answer"),
        ({"ca_file": "nowhere.pem"}, "ca_file = 'nowhere.pem': there is no such file"),
        ({"proxy": "localhost:1"}, "proxy = 'localhost:1': must begin with http://"),
    ],
)
def test_a_wrong_description_of_an_http_service_is_named(model, settings, fault):
    with pytest.raises(ConfigurationError) as exc_info:
        model("http", **{"url": "http://127.0.0.1:9", **settings})
    assert fault in str(exc_info.value)


def test_a_request_goes_through_the_proxy(model):
    with running(lambda request: Response({"answer": ANSWER})) as proxy:
        [answer] = model("http", url="http://service.invalid/ask", proxy=proxy.url).ask([Prompt(text="q")])
    assert answer.text == ANSWER
    assert proxy.requests[0].path == "http://service.invalid/ask"


def test_settings_of_h2ogpte(ask, fees):
    settings = {
        "system_prompt": "Be brief.",
        "pre_prompt_query": "Read:",
        "prompt_query": "By these:",
        "pre_prompt_summary": "a",
        "prompt_summary": "b",
        "llm": "m",
        "llm_args": {"temperature": 0.0, "use_agent": False},
        "self_reflection_config": {"llm_reflection": "m2"},
        "rag_config": {"rag_type": "hyde2"},
    }
    answer, request = ask("h2ogpte", Prompt(text="The fee?", corpus=(fees,)), **settings)
    body = request.body
    assert {
        name: body[name]
        for name in settings
        if name not in ("llm_args", "self_reflection_config", "rag_config")
    } == {
        name: value
        for name, value in settings.items()
        if name not in ("llm_args", "self_reflection_config", "rag_config")
    }
    assert (body["llm_args"], body["self_reflection_config"], body["rag_config"]) == (
        '{"temperature": 0.0, "use_agent": false}',
        '{"llm_reflection": "m2"}',
        '{"rag_type": "hyde2"}',
    )
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (answer.context_sources, answer.context_scores, answer.cost_usd) == (
        ("fees.md#page=3",),
        (0.75,),
        0.25,
    )
    assert answer.first_token_s is not None


def test_the_default_settings_of_h2ogpte_are_those_of_the_guide(ask, fees):
    _, request = ask("h2ogpte", Prompt(text="The fee?", corpus=(fees,)))
    assert request.body["llm_args"] == (
        '{"temperature": 0, "seed": 0, "top_k": 1, "top_p": 1, "repetition_penalty": 1.07,'
        ' "max_new_tokens": 1024, "min_max_new_tokens": 512}'
    )
    assert request.body["system_prompt"] is None


def test_settings_of_h2ogpte_llm(ask):
    _, request = ask(
        "h2ogpte_llm",
        system_prompt="Be brief.",
        text_context_list=["Fees: 5 USD."],
        chat_conversation=[("Hi", "Hello")],
        llm_args={"temperature": 0.0},
        timeout=30.0,
    )
    assert request.path == "/api/v1/models/m/answer_question"
    assert request.body == {
        "question": "The fee?",
        "system_prompt": "Be brief.\n\nBe honest.",
        "text_context_list": ["Fees: 5 USD."],
        "chat_conversation": [["Hi", "Hello"], ["I have a card.", "Good."]],
        "llm_args": {"temperature": 0.0},
        "timeout": 30,
    }


@pytest.mark.parametrize("id", ["azure_openai_llm", "openai_llm", "anthropic_llm", "ollama"])
def test_keys_that_a_client_finds_in_the_environment_are_not_sent(ask, monkeypatch, id):
    for name in ("AZURE_OPENAI_AD_TOKEN", "ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "another-secret")
    _, request = ask(id, **({"api_key": ""} if id == "ollama" else {}))
    assert "another-secret" not in str(request.headers)


def test_a_lab_may_not_choose_where_found_credentials_go():
    model = LabModel(name="m", host="amazon_bedrock_llm", parameters={"url": "http://evil.example"})
    with pytest.raises(ConfigurationError, match="finds your credentials by itself"):
        settings_of_lab_model(model, Registry(), TRUSTED, configured=())


@pytest.mark.parametrize(
    ("id", "parts"),
    [("openai_llm", completion_parts), ("anthropic_llm", anthropic_parts)],
    ids=lambda v: str(v)[:9],
)
def test_a_stream_that_ends_early_is_no_answer(model, id, parts):
    protocol = BY_ID[id]
    full_stream = parts(0.0)
    with running(
        lambda request: Response(parts=full_stream.parts[:3], headers=full_stream.headers)
    ) as service:
        [answer] = model(id, **protocol.settings(service.url), stream=True, retries=0).ask([Prompt(text="q")])
    assert answer.error
