"""The Python examples of the documents of H2O Eval Studio, as they are written there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio import LlmDataset, TestCase, TestSuite, eval_studio
from pytest_evalstudio.api.labs import LabBuilder
from pytest_evalstudio.core.errors import ConfigurationError
from support.openai_server import Reply, serve

testing = models = genai = datasets = eval_studio


def documented_suite() -> TestSuite:
    test_suite = testing.RagTestSuiteConfig()
    test = testing.RagTestConfig(documents=["a.pdf", "b.pdf"])
    for country, amount in (("Brazil", "15,969"), ("Argentina", "5,969")):
        test_suite.add_test_case(
            testing.RagTestCaseConfig(
                prompt=f"What was the revenue of {country}?",
                expected_output=f"{country} revenue was {amount} million.",
                condition=f'"{amount}" AND "million"',
                config=test,
            )
        )
    return test_suite


def test_the_documented_suite_has_one_test_with_two_cases(tmp_path: Path) -> None:
    suite = documented_suite()
    suite.save(tmp_path / "s_suite.json")
    [test] = json.loads((tmp_path / "s_suite.json").read_text())["tests"]
    assert test["documents"] == ["a.pdf", "b.pdf"]
    assert [case["condition"] for case in test["test_cases"]] == [
        '"15,969" AND "million"',
        '"5,969" AND "million"',
    ]
    assert "config" not in test["test_cases"][0]


def test_the_documented_test_has_its_cases_without_a_suite() -> None:
    test = testing.RagTestConfig(documents=["a.pdf"])
    case = testing.RagTestCaseConfig(prompt="What?", config=test)
    assert test.test_cases == [case]


def test_a_case_without_a_test_gets_one_of_its_own() -> None:
    suite = TestSuite()
    first = suite.add_test_case(TestCase(prompt="One?"))
    suite.add_test_case(testing.RagTestCaseConfig(prompt="Two?"))
    suite.add_test_case(TestCase(prompt="Three?"), suite.tests[0])
    suite.add_test_case(first, suite.tests[0])
    assert [[case.prompt for case in test.test_cases] for test in suite.tests] == [
        ["One?", "Three?"],
        ["Two?"],
    ]


def test_the_documented_row() -> None:
    dataset = datasets.LlmDataset()
    dataset.add_input(i="What is the target column of the model?", actual_output="default payment next month")
    assert dataset.inputs[0].input == "What is the target column of the model?"
    with pytest.raises(ConfigurationError, match="are the same; give one of them"):
        LlmDataset().add_input("a", i="b")


def test_the_documented_lab_has_a_model_per_configuration() -> None:
    configs = [genai.H2oGpteRagClient.config_factory() for _ in range(2)]
    configs[0]["llm_args"], configs[1]["llm_args"] = {"temperature": 0.9}, {"temperature": 0.0}
    with testing.RagTestLab.from_llm_test_suite(
        llm_host_connection={"name": "mine", "server_url": "http://127.0.0.1:9", "token": "secret-4711"},
        llm_test_suite=documented_suite(),
        llm_model_type=models.ExplainableModelType.h2ogpte,
        llm_model_names=["llama"],
        llm_host_configs={"llama": configs},
    ) as test_lab:
        lab = test_lab.build()
    assert [model.name for model in lab.models] == ["llama (temperature=0.9)", "llama (temperature=0.0)"]
    assert {model.model_type for model in lab.models} == {"h2ogpte"}
    assert lab.models[0].model_cfg["url"] == "http://127.0.0.1:9"
    assert "secret-4711" not in json.dumps(lab.to_dict())


CONFIG = '[connection.mine]\nhost = "openai_compatible"\nurl = "{url}"\n'


def test_a_connection_of_the_configuration_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with serve() as service:
        service.default = lambda prompt: Reply("It was 15,969 million.")
        (tmp_path / "evalstudio.toml").write_text(CONFIG.format(url=service.url))
        with LabBuilder.from_llm_test_suite(
            documented_suite(), llm_host_connection="mine", llm_model_names=["one", "two"]
        ) as builder:
            lab = builder.complete_dataset()
    assert [row.model_key for row in lab.dataset.inputs] == [model.key for model in lab.models for _ in "12"]
    assert {row.actual_output for row in lab.dataset.inputs} == {"It was 15,969 million."}
    assert {request["model"] for request in service.requests} == {"one", "two"}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "there is no host; give llm_host, or a connection that has one"),
        ({"llm_host": "ollama", "llm_model_type": "ollama"}, "are the same; give one of them"),
        ({"llm_host_connection": "mien"}, "no connection named 'mien'. Did you mean 'mine'?"),
        ({"llm_model_type": "h2o_gpte"}, "no host named 'h2o_gpte'. Did you mean 'h2ogpte'?"),
    ],
)
def test_faulty_arguments_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, str], fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalstudio.toml").write_text(CONFIG.format(url="http://127.0.0.1:9"))
    with pytest.raises(ConfigurationError) as exc_info:
        LabBuilder.from_llm_test_suite(documented_suite(), llm_model_names=["m"], **arguments)
    assert fault in str(exc_info.value)
