"""Images and files reach every host that takes them in the form of its service; the others refuse them."""

from __future__ import annotations

import base64
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.asking.spending import chars_of
from pytest_evalstudio.core.attachments import IMAGE_TYPES, MEDIA_TYPES, OPAQUE_CHARS, Attachment, facts_of
from pytest_evalstudio.core.cases import Answer, Prompt, Turn
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.hosts._attachments import bedrock_name
from pytest_evalstudio.hosts._faults import quoted
from support import pictures
from support.protocols import PROTOCOLS
from support.service import ANSWER, Response, running

BY_ID = {protocol.id: protocol for protocol in PROTOCOLS}
CHAT = ("openai_compatible", "openai_llm", "azure_openai_llm")
QUESTION = "What is the fee?"
PNG64 = base64.b64encode(pictures.png()).decode()
PDF64 = base64.b64encode(pictures.PDF).decode()
TERMS = "The fee is 5 USD — always."


@pytest.fixture
def attach(tmp_path: Path):
    def attach(name: str, content: bytes, **more: Any) -> Attachment:
        path = tmp_path / name
        path.write_bytes(content)
        facts = facts_of(path)
        facts_by_name = {"media_type": facts.media_type, "size": facts.size, "sha256": facts.sha256}
        return Attachment(name=f"files/{name}", location=str(path), **facts_by_name, **more)

    return attach


@pytest.fixture
def chart(attach) -> Attachment:
    return attach("chart.png", pictures.png())


@pytest.fixture
def pdf(attach) -> Attachment:
    return attach("terms_of use.pdf", pictures.PDF)


@pytest.fixture
def text(attach) -> Attachment:
    return attach("terms.md", TERMS.encode())


@pytest.fixture
def ask(model):
    """Ask a host; return its answer and the requests that ask it."""

    def ask(id: str, prompt: Prompt, **settings: Any):
        protocol = BY_ID[id]
        with running(protocol.respond, protocol.asks, protocol.handler) as service:
            session = model(id, **{**protocol.settings(service.url), **settings})
            [answer] = session.ask([prompt])
            session.close()
        return answer, service.questions

    return ask


@pytest.mark.parametrize("id", CHAT)
def test_chat_completions_get_image_urls_and_files(ask, id, attach, pdf):
    chart = attach("chart.png", pictures.png(), detail="low")
    answer, [request] = ask(id, Prompt(text=QUESTION, attachments=(chart, pdf)))
    assert answer.text == ANSWER
    url = f"data:image/png;base64,{PNG64}"
    file = {"filename": "terms_of use.pdf", "file_data": f"data:application/pdf;base64,{PDF64}"}
    assert request.body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": QUESTION},
                {"type": "image_url", "image_url": {"url": url, "detail": "low"}},
                {"type": "file", "file": file},
            ],
        }
    ]


@pytest.mark.parametrize("id", CHAT)
def test_a_question_without_images_is_a_plain_text(ask, id):
    _, [request] = ask(id, Prompt(text=QUESTION))
    assert request.body["messages"] == [{"role": "user", "content": QUESTION}]


def test_the_images_of_earlier_turns_are_sent_again(ask, chart):
    turns = (Turn(role="user", content="Look.", attachments=(chart,)), Turn(role="assistant", content="Ok."))
    _, [request] = ask("openai_llm", Prompt(text=QUESTION, conversation=turns))
    first, second, third = request.body["messages"]
    assert [part["type"] for part in first["content"]] == ["text", "image_url"]
    assert (second["content"], third["content"]) == ("Ok.", QUESTION)


def test_responses_get_input_images_and_input_files(ask, chart, pdf, tmp_path):
    document = tmp_path / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    prompt = Prompt(text=QUESTION, attachments=(chart, pdf), corpus=(str(document),))
    _, [request] = ask("openai_rag", prompt)
    assert request.body["input"][-1]["content"] == [
        {"type": "input_text", "text": QUESTION},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG64}", "detail": "auto"},
        {
            "type": "input_file",
            "filename": "terms_of use.pdf",
            "file_data": f"data:application/pdf;base64,{PDF64}",
        },
    ]


def test_anthropic_gets_images_and_documents_before_the_text(ask, chart, pdf, text):
    _, [request] = ask("anthropic_llm", Prompt(text=QUESTION, attachments=(chart, pdf, text)))
    assert request.body["messages"][-1]["content"] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG64}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PDF64},
            "title": "terms_of use.pdf",
        },
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": TERMS},
            "title": "terms.md",
        },
        {"type": "text", "text": QUESTION},
    ]


def test_bedrock_gets_image_and_document_blocks(ask, chart, pdf, text, attach):
    prices = attach("prices.json", b'{"fee": 5}')
    _, [request] = ask("amazon_bedrock_llm", Prompt(text=QUESTION, attachments=(chart, pdf, text, prices)))

    def encoded(content: bytes) -> dict[str, str]:
        return {"bytes": base64.b64encode(content).decode()}

    names = ("2 terms of use", "3 terms", "4 prices")
    contents = (pictures.PDF, TERMS.encode(), b'{"fee": 5}')
    assert request.body["messages"][-1]["content"] == [
        {"text": QUESTION},
        {"image": {"format": "png", "source": encoded(pictures.png())}},
        *(
            {"document": {"format": form, "name": name, "source": encoded(content)}}
            for form, name, content in zip(("pdf", "md", "txt"), names, contents, strict=True)
        ),
    ]


@pytest.mark.parametrize(
    ("file_name", "name"),
    [("a" * 300 + ".pdf", "1 " + "a" * 150), ("日本.pdf", "1"), ("Q1  (final)[2].pdf", "1 Q1 (final)[2]")],
)
def test_bedrock_gets_names_in_its_characters(file_name, name):
    assert bedrock_name(file_name, 1) == name


def test_ollama_gets_images_in_base64(ask, chart, text):
    _, [request] = ask("ollama", Prompt(text=QUESTION, attachments=(chart,)))
    assert request.body["messages"] == [{"role": "user", "content": QUESTION, "images": [PNG64]}]
    answer, requests = ask("ollama", Prompt(text=QUESTION, attachments=(text,)))
    assert "host 'ollama' takes no files, and the question comes with files/terms.md" in answer.error
    assert "openai_llm" in answer.error
    assert (requests, answer.not_supported) == ([], True)


def test_a_json_service_gets_what_its_template_names(ask, chart, pdf):
    prompt = Prompt(text=QUESTION, attachments=(chart, pdf))
    body = {
        "q": "{{ prompt }}",
        "pictures": "{{ images }}",
        "names": "{{ files.name }}",
        "raw": ["{{ files.base64 }}"],
    }
    _, [request] = ask("http", prompt, body=body)
    entry = {
        "name": "chart.png",
        "media_type": "image/png",
        "base64": PNG64,
        "data_url": f"data:image/png;base64,{PNG64}",
    }
    assert request.body == {
        "q": QUESTION,
        "pictures": [entry],
        "names": ["terms_of use.pdf"],
        "raw": [[PDF64]],
    }
    _, [request] = ask("http", Prompt(text=QUESTION), body=body)
    assert request.body == {"q": QUESTION, "pictures": [], "names": [], "raw": [[]]}


def test_a_json_service_without_a_place_for_images_is_not_asked(ask, chart):
    prompt = Prompt(text=QUESTION, attachments=(chart,))
    answer, requests = ask("http", prompt, body={"q": "{{ prompt }}", "f": "{{ files }}"})
    assert "the question comes with images, and body has no {{ images }}; add it to body" in answer.error
    assert (requests, answer.not_supported) == ([], True)


@pytest.mark.parametrize(
    ("settings", "fact"),
    [
        ({"body": {"q": "See {{ images }}"}}, "body.q: {{ images }} is a list; make it the whole value"),
        ({"headers": {"x-files": "{{ files }}"}}, "headers.x-files: {{ files }} is a list"),
        ({"url": "http://localhost/{{ images.name }}"}, "url: {{ images.name }} is a list"),
        ({"body": {"q": "{{ image }}"}}, "Did you mean 'images'"),
        ({"body": {"q": "{{ images.size }}"}}, "body.q: {{ images.size }} is unknown"),
    ],
)
def test_lists_of_images_are_whole_values_of_a_body(model, settings, fact):
    with pytest.raises(ConfigurationError) as raised:
        model("http", **{"url": "http://localhost/", **settings})
    assert fact in str(raised.value)


def test_a_callable_gets_the_paths_that_it_asks_for(model, chart, pdf):
    def app(prompt: str, images: list[str], files: list[str] = []) -> str:  # noqa: B006
        return " ".join([Path(images[0]).read_bytes()[1:4].decode(), Path(files[0]).name])

    prompt = Prompt(text=QUESTION, attachments=(chart, pdf))
    assert model("python", target=app).ask([prompt])[0].text == "PNG terms_of use.pdf"
    assert model("python", target=lambda prompt, images: str(images)).ask([Prompt(text="?")])[0].text == "[]"


def test_a_callable_gets_the_images_of_earlier_turns(model, chart):
    turns = (Turn(role="user", content="Look.", attachments=(chart,)), Turn(role="assistant", content="Ok."))

    def app(prompt: str, conversation: list[dict[str, Any]]) -> str:
        return json.dumps(conversation)

    [answer] = model("python", target=app).ask([Prompt(text=QUESTION, conversation=turns)])
    first, second = json.loads(answer.text)
    assert first == {"role": "user", "content": "Look.", "images": [chart.location]}
    assert second == {"role": "assistant", "content": "Ok."}


def test_a_callable_gets_no_path_of_an_image_that_changed_after_an_earlier_question(model, attach):
    chart = attach("sales.png", pictures.png((9, 9, 9)))
    session = model("python", target=lambda prompt, images: Path(images[0]).read_bytes()[1:4].decode())
    assert session.ask([Prompt(text="First?", attachments=(chart,))])[0].text == "PNG"
    Path(chart.location).write_bytes(pictures.JPEG)
    [answer] = session.ask([Prompt(text="Second?", attachments=(chart,))])
    assert "files/sales.png: the file has another content" in answer.error


def test_a_callable_that_does_not_ask_for_images_is_not_called(model, chart):
    called = []
    [answer] = model("python", target=called.append).ask([Prompt(text=QUESTION, attachments=(chart,))])
    assert "does not accept; add a parameter 'images', a list of paths" in answer.error
    assert (called, answer.not_supported) == ([], True)


def test_a_file_that_is_gone_is_an_error_and_no_request(ask, attach):
    attachment = attach("lost.png", pictures.png((1, 1, 1)))
    Path(attachment.location).unlink()
    for id in (*CHAT, "anthropic_llm", "amazon_bedrock_llm", "ollama", "http"):
        settings = {"body": {"i": "{{ images }}"}} if id == "http" else {}
        answer, requests = ask(id, Prompt(text=QUESTION, attachments=(attachment,)), **settings)
        assert "files/lost.png: cannot be read: No such file" in answer.error, id
        assert requests == []


@pytest.mark.parametrize("spec", Registry().hosts.specs(), ids=lambda spec: spec.id)
def test_every_host_takes_images_or_says_which_hosts_do(spec, model, chart, tmp_path):
    if spec.id in BY_ID and not spec.media_types:
        session = model(spec.id, **BY_ID[spec.id].settings("http://localhost:9"))
        [answer] = session.ask([Prompt(text=QUESTION, attachments=(chart,))])
        assert f"host {spec.id!r} takes no images" in answer.error
        assert "openai_llm" in answer.error
        assert answer.not_supported
    else:
        assert set(spec.media_types) <= set(MEDIA_TYPES)
        assert set(IMAGE_TYPES) <= set(spec.media_types) or not spec.media_types


def test_a_changed_image_of_the_same_name_is_another_question(tmp_path, attach):
    answers = []
    with AnswerCache(tmp_path / "cache") as cache:
        table = {"host": "python", "target": lambda prompt, images: str(len(answers)), "cache": "always"}
        with open_model("mine", table, Registry(), folder=tmp_path, cache=cache) as session:
            for colour in ((200, 0, 0), (200, 0, 0), (0, 0, 200), None):
                media = () if colour is None else (attach("chart.png", pictures.png(colour)),)
                answers += session.ask([Prompt(text=QUESTION, attachments=media)])
    assert [answer.text for answer in answers] == ["0", "0", "2", "3"]


def test_the_key_of_a_question_without_images_never_changes(tmp_path):
    with AnswerCache(tmp_path) as cache:
        key = cache.key("openai_llm", {"llm_model_name": "m"}, Prompt(text=QUESTION))
    assert key == "7f568d83baf521d09a21f3816a87cbc13ad7731b108634c8fc31f0ac8fb13c94"


@pytest.mark.parametrize("id", ["openai_llm", "anthropic_llm", "ollama", "http", "amazon_bedrock_llm"])
def test_a_service_that_repeats_the_request_shows_no_image(model, id, attach):
    picture = attach("noise.png", pictures.png() + bytes(range(1, 256)) * 40)
    protocol = BY_ID[id]

    def refuse(request):
        return Response(protocol.refusal(request.content.decode()), status=400)

    with running(refuse, protocol.asks, protocol.handler) as service:
        settings = {"body": {"i": "{{ images.base64 }}"}} if id == "http" else {}
        session = model(id, **{**protocol.settings(service.url), **settings})
        [answer] = session.ask([Prompt(text=QUESTION, attachments=(picture,))])
    encoded = base64.b64encode(picture.read()).decode()
    assert "HTTP 400" in answer.error
    assert encoded[:100] not in answer.error
    assert encoded[200:260] not in answer.error


def test_long_base64_is_replaced_before_a_text_is_cut():
    line = quoted(f"invalid image_url data:image/png;base64,{'QUJD' * 5000}: too large", str)
    assert line == "invalid image_url data:image/png;base64,(20000 characters): too large"


def test_the_answer_to_a_question_with_an_image_names_no_bytes(model, chart):
    answers: list[Answer] = model("scripted", answers={QUESTION: "red"}).ask(
        [Prompt(text=QUESTION, attachments=(chart,))]
    )
    assert answers[0].text == "red"
    assert PNG64 not in repr(Prompt(text=QUESTION, attachments=(chart,)))


@pytest.mark.parametrize("id", [*CHAT, "anthropic_llm", "amazon_bedrock_llm", "ollama", "http"])
def test_the_logs_of_clients_have_no_content_of_an_image(ask, id, attach, caplog):
    picture = attach("noise.png", pictures.png() + bytes(range(1, 256)) * 8)
    encoded = base64.b64encode(picture.read()).decode()
    settings = {"body": {"i": "{{ images }}"}} if id == "http" else {}
    with caplog.at_level(logging.DEBUG):
        answer, [request] = ask(id, Prompt(text=QUESTION, attachments=(picture,)), **settings)
    assert answer.text == ANSWER
    assert encoded in request.content.decode()
    assert encoded[:250] not in caplog.text
    assert encoded[300:550] not in caplog.text


def test_a_budget_counts_images_and_the_bytes_of_texts(chart, text):
    turns = (Turn(role="user", content="abc", attachments=(text,)),)
    assert chars_of(Prompt(text="ab", conversation=turns)) == 5 + len(TERMS.encode())
    assert chars_of(Prompt(text="ab", attachments=(chart,))) == 2 + OPAQUE_CHARS
