"""Texts of existing collections, read by the services' own clients from protocol-true servers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_evalstudio.asking.existing_collections import documents_of, find_collection
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.hosts import _bedrock, _collections, _knowledge_bases, _vector_stores
from support.collection_services import (
    COLLECTION_SERVICES,
    BedrockKnowledgeBase,
    CollectionService,
    configuration,
)
from support.service import KEY, Response

FEES, LIMITS = "A transfer costs 5 USD.", "The limit is 1,000 USD."


@pytest.fixture(params=COLLECTION_SERVICES, ids=lambda kind: kind.host)
def service(request):
    with request.param.running() as service:
        yield service


def read(service: CollectionService, document: str = "", **settings) -> list[tuple[str, str]]:
    config = configuration(service, **settings)
    collection = find_collection(config, document or f"collection://kb/{service.collection}", Registry())
    return [(each.name, each.text) for each in documents_of(config, collection, Registry())]


def test_each_document_has_its_text_in_the_order_of_the_list(service):
    service.fill({"fees.md": [FEES], "limits.txt": [LIMITS, "It is per day."]})
    assert read(service) == [("fees.md", FEES), ("limits.txt", f"{LIMITS}\n\nIt is per day.")]


@pytest.mark.parametrize("kind", COLLECTION_SERVICES[:2], ids=lambda kind: kind.host)
def test_overlaps_of_chunks_are_removed(kind):
    with kind.running() as service:
        service.fill({"a.md": [f"{FEES} {LIMITS}", f"{LIMITS} It is per day."]})
        assert read(service) == [("a.md", f"{FEES} {LIMITS} It is per day.")]


def test_a_long_list_is_read_page_by_page(service):
    documents = {f"{number}.md": [f"Text {number}."] for number in range(105)}
    service.fill(documents)
    assert read(service) == [(name, texts[0]) for name, texts in documents.items()]


def test_reading_asks_no_question_and_changes_nothing(service):
    service.fill({"fees.md": [FEES]})
    read(service)
    changing = [request for request in service.requests if request.method != "GET"]
    assert all(request.path.split("?")[0].endswith(("/datasources/", "/documents")) for request in changing)


def test_the_collection_of_a_model_is_read_without_its_id(service):
    service.fill({"fees.md": [FEES]})
    assert read(service, "collection://existing") == [("fees.md", FEES)]


def test_a_document_whose_ingestion_failed_has_no_text(service):
    service.fill({"fees.md": [FEES], "scan.pdf": []})
    service.set_status("scan.pdf", service.failed)
    assert read(service) == [("fees.md", FEES), ("scan.pdf", "")]


def test_a_document_that_is_still_ingested_is_named(service):
    service.fill({"fees.md": [FEES], "limits.md": [LIMITS]})
    service.set_status("limits.md", service.unfinished)
    with pytest.raises(EvaluationError, match="still ingests") as exc_info:
        read(service)
    assert f"collection://kb/{service.collection}" in str(exc_info.value)


def test_an_empty_collection_is_an_error(service):
    service.fill({})
    with pytest.raises(EvaluationError, match=r"has no documents; add some"):
        read(service)


def test_an_unknown_collection_is_an_error_with_its_status(service):
    service.fill({"fees.md": [FEES]})
    with pytest.raises(EvaluationError, match="HTTP 404"):
        read(service, "collection://kb/nowhere")


def test_a_refused_key_is_masked(service):
    service.fill({"fees.md": [FEES]})
    service.always = Response({"message": f"bad key {KEY}"}, status=401)
    with pytest.raises(EvaluationError, match="HTTP 401") as exc_info:
        read(service)
    assert KEY not in str(exc_info.value)


def test_a_redirect_to_another_address_is_refused(service):
    service.fill({"fees.md": [FEES]})
    service.always = Response({}, status=307, headers={"Location": "http://127.0.0.1:9/collections"})
    with pytest.raises(EvaluationError, match=r"redirects to http://127\.0\.0\.1:9, which gets no request"):
        read(service)


def test_too_many_documents_and_characters_are_refused(service, monkeypatch):
    service.fill({"fees.md": [FEES], "limits.md": [LIMITS]})
    monkeypatch.setattr(_collections, "MAX_CHARS", 30)
    with pytest.raises(EvaluationError, match="more than 30 characters"):
        read(service)
    monkeypatch.setattr(_collections, "MAX_DOCUMENTS", 1)
    with pytest.raises(EvaluationError, match="more than 1 documents"):
        read(service)


def test_a_slow_service_runs_into_the_limit(service):
    service.fill({"fees.md": [FEES]})
    read(service)  # the import of a client takes seconds
    service.always = Response({}, delay_s=2.0)
    with pytest.raises(EvaluationError, match="timeout_s"):
        read(service, timeout_s=0.3)


def test_a_file_that_was_removed_since_is_named_by_its_id():
    with COLLECTION_SERVICES[0].running() as service:
        service.fill({"fees.md": [FEES]})
        [id] = service.state.files
        service.state.files.clear()
        assert read(service) == [(id, FEES)]


@pytest.fixture
def knowledge_base():
    with BedrockKnowledgeBase.running() as service:
        yield service


def test_a_document_that_is_not_in_s3_is_refused_with_the_remedy(knowledge_base):
    knowledge_base.fill({"fees.md": [FEES], "note": [LIMITS]})
    knowledge_base.custom = "note"
    with pytest.raises(EvaluationError, match=r"DSLAST0002 is not in S3.*give the documents as files"):
        read(knowledge_base)


def test_documents_of_s3_are_converted_and_other_kinds_have_no_text(knowledge_base):
    knowledge_base.fill(
        {"a b#1?.html": ["<h1>Fees</h1><p>5 USD &amp; more</p>"], "table.xlsx": ["x"], "broken.pdf": ["x"]}
    )
    assert read(knowledge_base) == [
        ("a b#1?.html", "Fees\n\n5 USD & more"),
        ("table.xlsx", ""),
        ("broken.pdf", ""),
    ]


def test_a_document_that_s3_refuses_is_named_with_the_remedy(knowledge_base):
    knowledge_base.fill({"fees.md": [FEES]})
    knowledge_base.service.asks = lambda request: request.path.startswith("/bank/")
    denied = b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"
    knowledge_base.always = Response(denied, status=403)
    with pytest.raises(EvaluationError, match=r"s3://bank/docs/fees\.md: HTTP 403.*may read this object"):
        read(knowledge_base)


def test_s3_that_cannot_be_reached_is_named_in_place_of_bedrock(knowledge_base, monkeypatch):
    knowledge_base.fill({"fees.md": [FEES]})
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setattr(_bedrock, "_READ_ATTEMPTS", 1)  # its waits between attempts take seconds
    with pytest.raises(EvaluationError, match="no connection to Amazon S3"):
        read(knowledge_base)


def test_a_document_in_s3_that_is_too_large_is_refused(knowledge_base, monkeypatch):
    knowledge_base.fill({"fees.md": [FEES]})
    monkeypatch.setattr(_knowledge_bases, "MAX_DOCUMENT_BYTES", len(FEES) - 1)
    with pytest.raises(EvaluationError, match=r"fees\.md: larger than 22 bytes"):
        read(knowledge_base)
    monkeypatch.setattr(_knowledge_bases, "MAX_DOCUMENT_BYTES", len(FEES))
    assert read(knowledge_base) == [("fees.md", FEES)]


def test_a_document_that_was_removed_since_is_not_in_the_collection(knowledge_base):
    knowledge_base.fill({"fees.md": [FEES], "old.md": [LIMITS]})
    knowledge_base.set_status("old.md", "DELETING")
    assert read(knowledge_base) == [("fees.md", FEES)]


def test_an_endless_list_ends(knowledge_base, monkeypatch):
    knowledge_base.fill({f"{number}.md": [FEES] for number in range(9)})
    monkeypatch.setattr(_knowledge_bases, "MAX_PAGES", 2)
    knowledge_base.page = 2
    with pytest.raises(EvaluationError, match="more than 2 pages"):
        read(knowledge_base)


def test_a_passing_fault_of_one_request_is_tried_again():
    with COLLECTION_SERVICES[0].running() as service:
        service.fill({"fees.md": [FEES]})
        fault = Response({}, status=503, headers={"retry-after-ms": "1"})
        service.faults.extend([fault] * _vector_stores.READ_RETRIES)
        assert read(service) == [("fees.md", FEES)]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("collection://nobody/c1", "no connection or model named 'nobody'"),
        (
            "collection://plain/c1",
            "host 'openai_llm' does not return the texts of a collection; give the documents",
        ),
        ("collection://kb", "'kb' names no collection; give collection://NAME/ID"),
        ("collection://kb/", "'kb' names no collection; give collection://NAME/ID"),
        ("collection://", "no connection or model named ''"),
        ("collection://environment", "vector_store_id is taken from the environment; give"),
        ("collection://without retrieval", "use a host of amazon_bedrock_rag, h2ogpte, openai_rag"),
    ],
)
def test_a_wrong_name_is_a_configuration_error_without_a_request(document, words):
    service = COLLECTION_SERVICES[0]()
    with pytest.raises(ConfigurationError) as exc_info:
        find_collection(configuration(service), document, Registry())
    assert words in str(exc_info.value)


def test_names_with_slashes_are_models_first(tmp_path: Path):
    table = {"host": "openai_rag", "llm_model_name": "m", "vector_store_id": "vs_1", "api_key": KEY}
    config = Configuration.model_validate(
        {"folder": tmp_path, "model": [{"name": "team/a", **table}, {"name": "team", **table}]}
    )
    registry = Registry()
    assert find_collection(config, "collection://team/a", registry).id == "vs_1"
    assert find_collection(config, "collection://team/b", registry).id == "b"
    nested = find_collection(config, "collection://team/a/b", registry)
    assert (nested.connection, nested.id) == ("team/a", "b")


def test_a_model_and_its_connection_may_share_a_name(tmp_path: Path):
    connection = {"host": "openai_rag", "api_key": KEY}
    model = {"name": "kb", "connection": "kb", "llm_model_name": "m", "vector_store_id": "vs_1"}
    config = Configuration.model_validate(
        {"folder": tmp_path, "connection": {"kb": connection}, "model": [{**model, **connection}]}
    )
    assert find_collection(config, "collection://kb", Registry()).id == "vs_1"
    assert find_collection(config, "collection://kb/vs_2", Registry()).id == "vs_2"


def test_a_host_with_a_collection_option_needs_the_method():
    with pytest.raises(TypeError, match=r"no method documents; add async def documents\(self, collection\)"):

        @host("lacking", name="Lacking", kind="rag", collection_option="id")
        @dataclass(kw_only=True)
        class Lacking:
            id: str = ""

            async def prepare(self, corpus): ...

            async def answer(self, prompt): ...

            async def close(self): ...
