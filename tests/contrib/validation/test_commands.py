"""Workflows from the shell: the lists of steps and generators, how a workflow stands, its report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.scoring.model_provider import ModelProvider


@pytest.fixture
def workflow(tmp_path: Path) -> Path:
    (tmp_path / "fees.md").write_text(
        "The yearly fee is 30 USD. It is charged in January.\n", encoding="utf-8"
    )
    path = tmp_path / "bank_workflow.json"
    path.write_text(
        json.dumps({"evalstudio_workflow": {"name": "Bank", "documents": ["fees.md"]}}), encoding="utf-8"
    )
    return path


def completed(path: Path) -> None:
    """Run the workflow's first step."""
    run = WorkflowRun(
        read_workflow(read_source(path)), path, configuration({}, folder=path.parent), Registry()
    )
    run.run(
        "topic_modeling",
        provider=ModelProvider(registry=run.registry),
        cache=path.parent / "cache",
        progress=lambda count, total, what: None,
    )


def test_the_steps_are_listed_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    plugins = Registry().steps
    assert main(["steps", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["number"] for entry in entries] == sorted(plugins.spec(id).number for id in plugins)
    assert {entry["id"]: list(entry["params"]) for entry in entries} == {
        id: list(parameters(plugins.get(id))) for id in plugins
    }
    assert main(["steps"]) == 0
    output = capsys.readouterr().out
    assert "2. test_generation               after topic_modeling\n" in output
    assert "parameters: top_n_words, min_topic_size" in output


def test_the_generators_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generators", "--json"]) == 0
    entries = {entry["id"]: entry["purpose"] for entry in json.loads(capsys.readouterr().out)}
    assert list(entries) == list(Registry().generators)
    assert (entries["yes_or_no"], entries["jailbreak"]) == ("ordinary", "adversarial")
    assert main(["generators"]) == 0
    assert "jailbreak                   adversarial\n" in capsys.readouterr().out


def test_the_status_tells_what_stands_and_what_each_step_needs(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mrm", "status", str(workflow)]) == 1
    first, topics, generation, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("Bank: 0 of ")
    assert topics.split() == ["1.", "topic_modeling", "not", "run"]
    assert generation.split()[-2:] == ["needs", "topic_modeling"]
    completed(workflow)
    assert main(["mrm", "status", "--json", str(workflow)]) == 1
    topics, generation, *_ = json.loads(capsys.readouterr().out)
    assert (topics["status"], generation["status"], generation["lacks"]) == ("completed", "not run", [])
    assert topics["summary"].startswith("1 topic in 1 chunk")
    workflow.with_name("fees.md").write_text("The yearly fee is 40 USD.\n", encoding="utf-8")
    assert main(["mrm", "status", "--json", str(workflow)]) == 1
    assert json.loads(capsys.readouterr().out)[0]["status"] == "outdated"


def test_the_report_is_written_anew(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    completed(workflow)
    assert main(["mrm", "report", str(workflow)]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert page == workflow.with_name("bank_workflow_artifacts") / "workflow_report.html"
    assert "Topics of Bank: 1 chunk<" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("keys", "fault"),
    [
        pytest.param({}, "", id="fine"),
        pytest.param(
            {"documents": ["bills.md"]}, "/evalstudio_workflow/documents: there is no file", id="a document"
        ),
        pytest.param(
            {"steps": {"test_generation": {"cuont": 3}}},
            "/steps/test_generation/cuont: unknown option. Did you mean 'count'?",
            id="a parameter",
        ),
        pytest.param(
            {"evaluators": ["rogue"]}, "no evaluator named 'rogue'. Did you mean 'rouge'", id="an evaluator"
        ),
        pytest.param({"model": "atlas"}, "no model named 'atlas'", id="a model"),
    ],
)
def test_a_workflow_is_validated(
    workflow: Path, keys: dict[str, Any], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(workflow.read_text(encoding="utf-8"))
    workflow.write_text(
        json.dumps({"evalstudio_workflow": {**content["evalstudio_workflow"], **keys}}), encoding="utf-8"
    )
    assert main(["validate", str(workflow)]) == (1 if fault else 0)
    assert (fault or "bank_workflow.json: workflow, ") in capsys.readouterr().out


def test_a_file_that_is_no_workflow_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a_workflow.json"
    path.write_text('{"evalstudio_workflow": {"documents": []}}', encoding="utf-8")
    assert main(["mrm", "status", str(path)]) == 2
    assert "/evalstudio_workflow/documents" in capsys.readouterr().err
