"""Test cases and workflows from a collection that a service holds: read once, kept as files, asked there."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.validation.generate import generate_test_cases
from pytest_evalstudio.contrib.validation.workflow.collection_copies import (
    MANIFEST,
    copy_collection,
    existing_copy,
)
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvaluationError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.scoring.model_provider import ModelProvider
from support.collection_services import COLLECTION_SERVICES, CollectionService, configuration, settings
from support.service import KEY, Response

DOCUMENTS = {
    "fees.md": [
        "The fee of a transfer to another bank is 5 USD. A transfer within the bank costs nothing.",
        "The replacement of a lost card costs 12 USD. The new card arrives within 7 days.",
    ],
    "limits.html": ["The daily limit of a debit card is 1,000 USD. Customers can raise it in the branch."],
}
NAME = "collection://kb/{}"


@pytest.fixture(params=COLLECTION_SERVICES, ids=lambda kind: kind.host)
def service(request):
    with request.param.running() as service:
        service.fill(DOCUMENTS)
        yield service


@pytest.fixture
def store():
    with COLLECTION_SERVICES[0].running() as service:
        service.fill(DOCUMENTS)
        yield service


@pytest.fixture
def provided(tmp_path):
    """The arguments of a run of a step."""
    cache = tmp_path / "cache"
    with closing(ModelProvider(cache=cache, registry=Registry())) as provider:
        yield {"provider": provider, "cache": cache, "progress": lambda count, total, what: None}


def location(service: CollectionService) -> str:
    return NAME.format(service.collection)


def generated(service: CollectionService, folder: Path, document: str = ""):
    return generate_test_cases(
        [document or location(service)],
        count=6,
        config=configuration(service),
        cache=folder / "cache",
        folder=folder,
    )


def test_the_suite_names_the_texts_and_quotes_them(service, tmp_path):
    suite = generated(service, tmp_path).suite
    paths = [tmp_path / document for document in suite.tests[0].documents]
    assert [path.name for path in paths] == ["fees.md", "limits.html.txt"]
    text = " ".join(path.read_text(encoding="utf-8") for path in paths)
    evidence = [case.model_extra["evidence"] for _, case in suite.cases() if case.model_extra["evidence"]]
    assert len(evidence) >= 3
    assert all(quotation in text for quotation in evidence)


def test_the_second_run_reads_the_files_without_a_request(service, tmp_path):
    first = generated(service, tmp_path)
    count = len(service.requests)
    service.always = Response({}, status=500)
    second = generated(service, tmp_path)
    assert len(service.requests) == count
    assert [case.prompt for _, case in second.suite.cases()] == [
        case.prompt for _, case in first.suite.cases()
    ]


def test_the_notes_name_the_folder_and_the_key_that_asks_the_collection(service, tmp_path):
    notes = " ".join(generated(service, tmp_path).notes)
    assert f'a [[model]] with {service.option} = "{service.collection}" asks the collection itself' in notes
    assert "(2 documents, read " in notes


@pytest.mark.slow
def test_the_command_writes_a_suite_that_asks_the_collection(
    service, tmp_path, monkeypatch, capsys, pytester
):
    monkeypatch.chdir(pytester.path)
    tables = settings(service)
    lines = ["[connection.kb]"] + [
        f"{key} = {json.dumps(value)}" for key, value in tables["connection"]["kb"].items()
    ]
    lines += ["[[model]]", 'name = "existing"', 'connection = "kb"', 'llm_model_name = "m"']
    lines += [f'{service.option} = "{service.collection}"']
    Path("evalstudio.toml").write_text("\n".join(lines), encoding="utf-8")
    assert main(["generate", location(service), "--count", "3", "-o", "kb_suite.json"]) == 0
    assert "asks the collection itself" in capsys.readouterr().out
    assert main(["validate", "kb_suite.json"]) == 0
    assert len(TestSuite.load("kb_suite.json").tests[0].documents) == 2

    result = pytester.runpytest_subprocess(
        "kb_suite.json", "--evalstudio-model", "existing", "-p", "no:cacheprovider"
    )

    outcomes = result.parseoutcomes()
    assert sum(outcomes.values()) >= 3
    assert "errors" not in outcomes
    searched = service.searched()
    assert len(searched) >= 3
    assert set(searched) == {service.collection}
    assert service.creations() == 0


def test_a_changed_text_is_an_error_that_says_how_to_read_it_again(store, tmp_path):
    config, registry = configuration(store), Registry()
    copy = copy_collection(location(store), tmp_path, config, registry)
    Path(copy.files[0]).write_text("The fee is 6 USD.", encoding="utf-8")
    with pytest.raises(DataError, match=r"fees\.md: was changed .* remove the folder kb_vs_1_"):
        existing_copy(location(store), tmp_path, config, registry)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(version=2), "has version 2, not 1"),
        (lambda data: data.update(documents=[]), "has no documents"),
        (lambda data: data.update(documents=7), r"/documents: .*; restore it, or remove the folder"),
        (lambda data: data["documents"][0].update(file="../../secret.txt"), "leads out of the folder"),
        (lambda data: data["documents"][0].update(file="/etc/passwd"), "leads out of the folder"),
        (lambda data: data["documents"][0].update(file="gone.md"), "cannot be read: No such file"),
    ],
)
def test_a_damaged_manifest_is_an_error_with_its_place(store, tmp_path, change, words):
    config, registry = configuration(store), Registry()
    copy = copy_collection(location(store), tmp_path, config, registry)
    path = Path(copy.files[0]).parent / MANIFEST
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(DataError, match=words):
        copy_collection(location(store), tmp_path, config, registry)


def test_a_manifest_that_is_not_json_is_an_error_with_the_remedy(store, tmp_path):
    config, registry = configuration(store), Registry()
    copy = copy_collection(location(store), tmp_path, config, registry)
    (Path(copy.files[0]).parent / MANIFEST).write_text("[", encoding="utf-8")
    with pytest.raises(DataError, match=r"collection\.json:1:2: is not JSON.*; restore it, or remove"):
        copy_collection(location(store), tmp_path, config, registry)


def test_a_folder_without_a_manifest_is_an_error(store, tmp_path):
    config, registry = configuration(store), Registry()
    copy = copy_collection(location(store), tmp_path, config, registry)
    (Path(copy.files[0]).parent / MANIFEST).unlink()
    with pytest.raises(DataError, match=r"collection\.json: there is no such file; restore it"):
        copy_collection(location(store), tmp_path, config, registry)


def test_a_service_that_fails_leaves_no_copy(store, tmp_path):
    store.faults.extend([Response({}, status=400)])
    with pytest.raises(EvaluationError, match="HTTP 400"):
        copy_collection(location(store), tmp_path, configuration(store), Registry())
    assert list(tmp_path.iterdir()) == []


def test_another_service_under_the_same_name_has_a_copy_of_its_own(store, tmp_path):
    copy_collection(location(store), tmp_path, configuration(store), Registry())
    other_service = configuration(store, url="http://127.0.0.1:9/v1", api_key="k")
    assert existing_copy(location(store), tmp_path, other_service, Registry()) is None


def test_documents_without_text_are_left_out_and_named(store, tmp_path):
    store.fill({**DOCUMENTS, "scan.pdf": []})
    copy = copy_collection(location(store), tmp_path, configuration(store), Registry())
    assert len(copy.files) == 2
    assert copy.notes[1] == "without text and therefore left out: scan.pdf"
    store.fill({"scan.pdf": [" "]})
    with pytest.raises(DataError, match="none of its 1 document has a text"):
        copy_collection(location(store), tmp_path / "other", configuration(store), Registry())


def test_hostile_names_stay_in_the_folder_and_apart(store, tmp_path):
    names = [
        "../../evil.md",
        "..\\evil.md",
        "EVIL.md",
        "a\x1b[31m\n.txt",
        "",
        "漢" * 300 + ".md",
        "\ud800.md",
        "a/",
        ".md",
    ]
    store.fill({name: [f"Text {number} of a fee."] for number, name in enumerate(names)})
    copy = copy_collection(location(store), tmp_path, configuration(store), Registry())
    paths = [Path(file) for file in copy.files]
    assert {path.parent for path in paths} == {paths[0].parent}
    assert len({path.name.casefold() for path in paths}) == len(names)
    assert paths[0].parent.parent == tmp_path / "collections"
    assert all(path.name.isprintable() and len(path.name.encode()) <= 255 for path in paths)
    assert [path.read_text(encoding="utf-8") for path in paths] == [
        f"Text {n} of a fee." for n in range(len(names))
    ]


def run_of(path: Path, document: str, config) -> WorkflowRun:
    workflow = Workflow(name="kb", documents=[document], steps={"test_generation": {"count": 4}})
    return WorkflowRun(workflow, path, config, Registry())


def test_a_workflow_reads_a_collection_at_its_first_step_only(service, tmp_path, provided):
    path, config = tmp_path / "kb_workflow.json", configuration(service)
    run = run_of(path, location(service), config)
    assert service.requests == []
    assert run.documents == (location(service),)

    state = run.run("topic_modeling", **provided)

    assert any("asks the collection itself" in note for note in state.notes)
    assert [Path(document).name for document in run.documents] == ["fees.md", "limits.html.txt"]
    assert all(name.startswith("collections/kb_") for name in run.document_digests())
    assert all(len(digest) == 64 for digest in run.document_digests().values())
    service.always = Response({}, status=500)
    second_run = run_of(path, location(service), config)
    assert second_run.status("topic_modeling").status == "completed"
    second_run.run("test_generation", **provided)
    assert second_run.is_completed("test_generation")


def test_a_removed_copy_makes_the_steps_outdated(store, tmp_path, provided):
    path, config = tmp_path / "kb_workflow.json", configuration(store)
    run = run_of(path, location(store), config)
    run.run("topic_modeling", **provided)
    for file in (tmp_path / "collections").rglob("*.*"):
        if file.is_file():
            file.unlink()
    [folder] = (tmp_path / "collections").iterdir()
    folder.rmdir()
    store.fill({"fees.md": ["The fee of a transfer is 6 USD now, and it is due at once."]})
    second_run = run_of(path, location(store), config)
    assert second_run.status("topic_modeling").status == "outdated"
    second_run.run("topic_modeling", **provided)
    assert "6 USD" in Path(second_run.documents[0]).read_text(encoding="utf-8")
    assert run_of(path, location(store), config).status("topic_modeling").status == "completed"


def test_a_workflow_with_an_unknown_connection_is_refused_before_any_request(store, tmp_path):
    with pytest.raises(
        DataError, match=r"/evalstudio_workflow/documents/0: no connection or model named 'nobody'"
    ):
        run_of(tmp_path / "kb_workflow.json", "collection://nobody/1", configuration(store))


def test_generation_from_a_host_without_texts_is_refused(store, tmp_path):
    with pytest.raises(ConfigurationError, match="give the documents as files or URLs"):
        generated(store, tmp_path, "collection://without retrieval")
    assert KEY not in "".join(str(path) for path in tmp_path.rglob("*"))
