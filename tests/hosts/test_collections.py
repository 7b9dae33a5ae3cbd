"""Documents at services: ingested once per content and configuration, shared, removed, never half ready."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from pytest_evalstudio.asking import corpora, retrying
from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.hosts import open_model
from pytest_evalstudio.cli.main import main
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.plugins.registry import Registry
from support.children import LONGEST_WAIT_S
from support.h2ogpte_server import H2OGPTe, H2OGPTeHandler
from support.openai_protocol import OpenAIFiles
from support.project import Project
from support.service import ANSWER, KEY, Response, running


class OfOpenAI:
    """OpenAI's vector stores, in the words of these tests."""

    host = "openai_rag"
    handler = None
    id_key = "vector_store_id"
    path = "/v1"

    def __init__(self):
        self.state = OpenAIFiles()

    @property
    def creations(self):
        return self.state.creations

    @property
    def contents(self):
        return {id: [self.state.files[file][0] for file in files] for id, files in self.state.stores.items()}

    def lose(self):
        self.state.stores.clear()


class OfH2OGPTe:
    """The collections of h2oGPTe, in the words of these tests."""

    host = "h2ogpte"
    handler = H2OGPTeHandler
    id_key = "collection_id"
    path = ""

    def __init__(self):
        self.state = H2OGPTe()

    @property
    def creations(self):
        return len(self.state.created)

    @property
    def contents(self):
        return self.state.collections

    def lose(self):
        self.state.collections.clear()


@pytest.fixture(params=[OfOpenAI, OfH2OGPTe], ids=lambda kind: kind.host)
def service(request, monkeypatch):
    monkeypatch.setattr(retrying, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(corpora, "OTHERS_S", 0.02)
    service = request.param()
    with running(service.state, handler=service.handler) as server:
        service.url = server.url + service.path
        service.requests = server.requests
        yield service


@pytest.fixture
def documents(tmp_path):
    paths = []
    for name, text in {"fees.md": "A transfer costs 5 USD.", "limits.md": "The limit is 1,000 USD."}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        paths.append(str(tmp_path / name))
    return tuple(paths)


@pytest.fixture
def ask(service, documents, tmp_path):
    def ask(question="The fee?", corpus=documents, cache=True, before_close=lambda session: None, **settings):
        table = {
            "host": service.host,
            "url": service.url,
            "llm_model_name": "m",
            "api_key": KEY,
            "cache": False,
        }
        with (
            AnswerCache(tmp_path / "cache") as store,
            open_model(
                "mine", {**table, **settings}, Registry(), folder=tmp_path, cache=store if cache else None
            ) as session,
        ):
            answers = session.ask([Prompt(text=question, corpus=corpus), Prompt(text="again", corpus=corpus)])
            before_close(session)
        return answers[0]

    return ask


def test_a_collection_has_the_documents_and_is_removed_at_the_end(ask, service, documents):
    snapshot = {}

    def look(session):
        snapshot.update(service.contents)
        assert session.collections == {documents: next(iter(service.contents))}

    assert ask(before_close=look).text == ANSWER
    assert list(snapshot.values()) == [["fees.md", "limits.md"]]
    assert service.creations == 1
    assert service.contents == {}


def test_a_kept_collection_is_used_by_the_next_run(ask, service):
    ask(keep_collection=True)
    assert len(service.contents) == 1
    assert ask(keep_collection=True).text == ANSWER
    assert service.creations == 1
    ask()  # and removed when it is not to be kept any more
    assert service.contents == {}


def test_a_changed_document_is_ingested_again(ask, service, documents):
    ask(keep_collection=True)
    Path(documents[0]).write_text("A transfer costs 6 USD.", encoding="utf-8")
    ask(keep_collection=True)
    assert service.creations == 2


def test_another_account_shares_no_collection(ask, service):
    ask(keep_collection=True)
    ask(keep_collection=True, api_key="sk-another-account-1")
    assert service.creations == 2


def test_a_collection_that_the_service_lost_is_made_again(ask, service):
    ask(keep_collection=True)
    service.lose()
    assert ask(keep_collection=True).text == ANSWER
    assert service.creations == 2


def test_two_runs_at_once_share_a_collection(ask, service):
    barrier = threading.Barrier(2)
    answers = []

    def run():
        answers.append(ask(before_close=lambda session: barrier.wait(LONGEST_WAIT_S)))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.text for answer in answers] == [ANSWER] * 2
    assert service.creations == 1
    assert service.contents == {}


def test_a_document_that_cannot_be_ingested_leaves_nothing_half_ready(ask, service):
    service.state.fails = "limits.md"
    answer = ask(retries=0)
    assert "the documents could not be ingested" in answer.error
    assert "limits.md" in answer.error
    assert "no text" in answer.error
    assert service.contents == {}
    service.state.fails = ""
    assert ask().text == ANSWER
    assert service.creations == 2


def test_an_existing_collection_is_used_and_kept(ask, service):
    ask(keep_collection=True)
    [collection] = service.contents
    assert ask(**{service.id_key: collection}, corpus=()).text == ANSWER
    assert service.creations == 1
    assert list(service.contents) == [collection]


def test_equal_documents_are_uploaded_once_and_names_stay_apart(ask, service, tmp_path):
    for folder, text in (("a", "one"), ("b", "two"), ("c", "one")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.md").write_text(text, encoding="utf-8")
    names = []
    ask(
        corpus=tuple(str(tmp_path / folder / "x.md") for folder in "abc"),
        before_close=lambda session: names.extend(service.contents.values()),
    )
    assert names == [["x.md", "x-2.md"]]


def test_a_missing_document_is_named(ask, documents):
    Path(documents[0]).unlink()
    assert f"{documents[0]}: the document cannot be read: No such file" in ask().error


def test_a_test_without_documents_is_named(ask):
    assert "no documents in this test's corpus" in ask(corpus=()).error


def test_without_a_cache_collections_are_made_and_removed(ask, service):
    assert ask(cache=False).text == ANSWER
    assert (service.creations, service.contents) == (1, {})


def test_an_existing_collection_is_always_kept(ask, service):
    with pytest.raises(ConfigurationError, match="an existing collection is always kept"):
        ask(**{service.id_key: "c", "keep_collection": True})


def test_many_documents_show_progress_and_are_ingested_in_batches(tmp_path, monkeypatch):
    reports = []
    monkeypatch.setattr(
        "pytest_evalstudio.asking.hosts.report_ingestion", lambda *progress: reports.append(progress)
    )
    paths = []
    for number in range(120):
        (tmp_path / f"{number}.md").write_text(f"Document {number}.", encoding="utf-8")
        paths.append(str(tmp_path / f"{number}.md"))
    state = H2OGPTe()
    with running(state, handler=H2OGPTeHandler) as server:
        table = {"host": "h2ogpte", "url": server.url, "api_key": KEY}
        with open_model("mine", table, Registry(), folder=tmp_path, cache=None) as session:
            [answer] = session.ask([Prompt(text="q", corpus=tuple(paths))])
    assert answer.text == ANSWER
    assert list(map(len, state.ingestions)) == [50, 50, 20]
    assert reports[0] == ("uploaded documents", 1, 120)
    assert reports[-1] == ("ingested documents", 120, 120)


def test_files_of_an_agent_are_artifacts(tmp_path):
    state = H2OGPTe()
    state.files = {"f1": ("../../report.csv", b"a,b\n1,2\n"), "f2": ("plot.png", b"PNG")}
    with running(state, handler=H2OGPTeHandler) as server, AnswerCache(tmp_path / "cache") as store:
        table = {"host": "h2ogpte_llm", "url": server.url, "api_key": KEY, "llm_args": {"use_agent": True}}
        with open_model("mine", table, Registry(), folder=tmp_path, cache=store) as session:
            [answer] = session.ask([Prompt(text="q")])
    folder = tmp_path / "cache" / "artifacts" / "msg-2"
    assert answer.artifacts == (str(folder / "report.csv"), str(folder / "plot.png"))
    assert (folder / "report.csv").read_bytes() == b"a,b\n1,2\n"
    assert len(state.deleted_sessions) == 1


def test_files_of_an_agent_in_several_folders_are_all_kept(tmp_path):
    state = H2OGPTe()
    state.files = {"f1": ("a/x.txt", b"first"), "f2": ("b/x.txt", b"second")}
    with running(state, handler=H2OGPTeHandler) as server, AnswerCache(tmp_path / "cache") as store:
        table = {"host": "h2ogpte_llm", "url": server.url, "api_key": KEY, "llm_args": {"use_agent": True}}
        with open_model("mine", table, Registry(), folder=tmp_path, cache=store) as session:
            [answer] = session.ask([Prompt(text="q")])
    assert [Path(path).read_bytes() for path in answer.artifacts] == [b"first", b"second"]


def test_files_of_an_agent_are_checked_in_a_run_and_kept_beside_a_lab(pytester, monkeypatch, tmp_path):
    state = H2OGPTe()
    state.files = {"f1": ("report.csv", b"a,b\n1,2\n"), "f2": ("empty.json", b"")}
    project = Project(pytester, with_app=False)
    project.suite({"key": "k", "prompt": "Write a report."})
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("H2OGPTE_KEY", KEY)
    with running(state, handler=H2OGPTeHandler) as server:
        project.write(
            "evalstudio.toml",
            f"""evaluators = ["agent_sanity_check"]
            [[model]]
            name = "agent"
            host = "h2ogpte_llm"
            url = "{server.url}"
            api_key = "${{H2OGPTE_KEY}}"
            llm_args = {{ use_agent = true }}""",
        )
        project.run().assert_outcomes(failed=1)
        assert main(["resolve", "sums_suite.json", "-o", "out/sums_lab.json"]) == 0
    _, items = project.record()
    [item] = items.values()
    assert item["verdicts"]["agent_sanity_check"]["scores"] == {"agent_sanity": 0.5}
    lab = json.loads((project.folder / "out" / "sums_lab.json").read_text(encoding="utf-8"))
    [row] = lab["dataset"]["inputs"]
    assert row["artifacts"] == ["sums_lab_artifacts/1/report.csv", "sums_lab_artifacts/1/empty.json"]
    assert (project.folder / "out" / row["artifacts"][0]).read_bytes() == b"a,b\n1,2\n"
    assert state.deleted_sessions


def test_assistants_answer_without_contexts_and_say_so(tmp_path, documents):
    state = OpenAIFiles()
    with running(state) as server:
        table = {"host": "openai_rag", "url": f"{server.url}/v1", "llm_model_name": "m", "api_key": KEY}
        settings = {
            "api": "assistants",
            "assistant_kwargs": {"description": "d"},
            "thread_kwargs": {"metadata": {"a": "b"}},
            "run_kwargs": {"max_completion_tokens": 9},
        }
        with open_model("mine", {**table, **settings}, Registry(), folder=tmp_path, cache=None) as session:
            [answer, _] = session.ask([Prompt(text=text, corpus=documents) for text in ("q", "r")])
            notes = session.notes
    assert (answer.text, answer.context) == (ANSWER, ())
    assert dict(answer.usage) == {"input_tokens": 10, "output_tokens": 5}
    assert "does not return the retrieved chunks" in notes[0]
    bodies = {
        request.path: request.body
        for request in server.requests
        if request.method == "POST" and b"{" in request.content[:1]
    }
    assert bodies["/v1/assistants"]["description"] == "d"
    assert bodies["/v1/threads"]["metadata"] == {"a": "b"}
    assert bodies["/v1/threads/thread_1/runs"]["max_completion_tokens"] == 9
    assert state.runs == 2


def test_an_assistant_that_could_not_be_made_is_made_for_the_next_question(tmp_path, documents):
    state = OpenAIFiles()
    fails = [True]

    def refusing_once(request):
        if request.path == "/v1/assistants" and request.method == "POST" and fails:
            fails.clear()
            return Response({"error": {"message": "slow down"}}, status=400)
        return state(request)

    with running(refusing_once) as server:
        table = {"host": "openai_rag", "url": f"{server.url}/v1", "llm_model_name": "m", "api_key": KEY}
        with open_model(
            "mine", {**table, "api": "assistants"}, Registry(), folder=tmp_path, cache=None
        ) as session:
            [first] = session.ask([Prompt(text="q", corpus=documents)])
            [second] = session.ask([Prompt(text="r", corpus=documents)])
    assert "slow down" in first.error
    assert (second.text, second.error) == (ANSWER, "")
