"""A declared fact of a service comes from its reply to the record, the result files and the page."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.reported import reported_facts
from support.project import Project
from support.service import Response, running

FACTS = reported_facts(Answer)
VALUES = {name: f"{name.replace('_', '-')}-1" for name in FACTS}
POINTERS = "\n".join(f'{name} = "/meta/{name}"' for name in FACTS)


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester, with_app=False)
    project.suite({"key": "fee", "prompt": "What is the fee?", "condition": '"5"'})
    with running(lambda request: Response({"text": "It is 5 USD.", "meta": VALUES})) as service:
        project.write(
            "evalstudio.toml",
            f'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "http"\nurl = "{service.url}"\n'
            f'[model.reply]\nanswer = "/text"\n{POINTERS}\n',
        )
        project.run().assert_outcomes(passed=1)
    return project


def test_facts_of_a_reply_are_in_record_and_results(project: Project) -> None:
    _, items = project.record()
    answer = items["fee[app]"]["rows"][0]["answer"]
    assert {name: answer[name] for name in FACTS} == VALUES

    columns = [name for name, fact in FACTS.items() if fact.is_column]
    [results] = project.folder.glob("**/global_llm_eval_results/application_json/explanation.json")
    [row] = json.loads(results.read_text("utf-8"))["results"]
    assert {name: row[name] for name in columns} == {name: VALUES[name] for name in columns}
