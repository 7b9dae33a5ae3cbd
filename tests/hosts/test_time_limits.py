"""Time limits: what counts against them, and which one a message names."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import pytest

from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.core.cases import Answer, Prompt
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.core.plugins.registry import Registry
from support.host_uses import USES, faulty, kind_of, performed
from support.service import Response

CLIENT = "import time\ntime.sleep(0.6)\nLOADED = True\n"
IMPORT_S = 0.6


@host("slow_to_import", name="Slow to import", kind="llm", client="client_that_is_slow_to_import")
@dataclass
class SlowToImport:
    """Has a client whose import takes longer than a request may."""

    async def prepare(self, corpus: tuple[str, ...]) -> None:
        pass

    async def answer(self, prompt: Prompt) -> Answer:
        return Answer(text=str(sys.modules["client_that_is_slow_to_import"].LOADED))

    async def models(self) -> list[str]:
        return [str(sys.modules["client_that_is_slow_to_import"].LOADED)]

    async def close(self) -> None:
        pass


@pytest.fixture
def session(tmp_path, monkeypatch):
    (tmp_path / "client_that_is_slow_to_import.py").write_text(CLIENT, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "client_that_is_slow_to_import", raising=False)
    registry = Registry()
    registry.add_host(SlowToImport)
    settings = {"host": "slow_to_import", "timeout_s": IMPORT_S / 2, "retries": 0}
    with open_model("mine", settings, registry, folder=tmp_path, cache=None) as session:
        yield session
    sys.modules.pop("client_that_is_slow_to_import", None)


def test_the_import_of_a_client_does_not_count_against_the_limit(session):
    start = time.perf_counter()
    [answer] = session.ask([Prompt(text="q")])
    assert (answer.text, answer.error) == ("True", "")
    assert time.perf_counter() - start >= IMPORT_S
    assert answer.duration_s < IMPORT_S


def test_neither_does_it_for_a_list_of_models(session):
    assert session.within_limits(session.host.models) == ["True"]


RAGS = {
    "openai_rag": ("POST /v#/files", "GET /v#/vector_stores/vs_#/file_batches/batch_#"),
    "h2ogpte": ("PUT /rpc/fs", "GET /api/v#/jobs/job-#"),
}
by_rag = pytest.mark.parametrize("use", [use for use in USES if use.id in RAGS], ids=lambda use: use.id)


@by_rag
def test_an_upload_that_hangs_is_limited_by_timeout_s(use, tmp_path):
    upload, _ = RAGS[use.id]
    with faulty(use, upload, lambda request, reply: Response(reply.body, delay_s=2.0)) as service:
        outcome = performed(use, service.url, tmp_path, timeout_s=0.5, ingest_timeout_s=60)
    assert "fees.md: no answer within 0.5 s (`timeout_s`)" in outcome.error


@pytest.mark.slow
@by_rag
def test_an_ingestion_that_does_not_end_is_limited_by_ingest_timeout_s(use, tmp_path):
    upload, state = RAGS[use.id]

    def unfinished(request, reply):
        body = {**reply.body}
        if "status" in body and "file_counts" in body:
            body["status"] = "in_progress"
        else:
            body |= {"overall_status": "in progress", "passed_percentage": 0.0, "progress": 0.5}
        return Response(body)

    with faulty(use, state, unfinished) as service:
        outcome = performed(use, service.url, tmp_path, timeout_s=5, ingest_timeout_s=1.0, retries=5)
    assert "the documents are not ingested within 1 s (`ingest_timeout_s`)" in outcome.error
    kinds = [kind_of(request) for request in service.requests]
    assert kinds.count(upload) == 1, "the limit holds for all attempts together"
