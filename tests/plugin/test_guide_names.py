"""Files and sessions with the names of H2O Eval Studio's documents: they run, names are noted once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project
from support.workers import WORKERS

NOTE = "names of H2O Eval Studio are read:"
ROW = {
    "key": "fee",
    "input": "What is the fee?",
    "actual_output": "The fee is 30 USD.",
    "expected_output": "The fee is 30 USD.",
    "output_condition": '"30"',
    "context": ["The fee is 30 USD."],
}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester, with_app=False)


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("Tokens presence", "text_matching"),
        ("Text Matching Evaluator", "text_matching"),
        ("h2o_sonar.evaluators.pii_leakage_evaluator.PiiLeakageEvaluator", "pii_leakage"),
        ("PiiLeakageEvaluator", "pii_leakage"),
        ("RougeEvaluator", "rouge"),
    ],
)
def test_an_evaluator_is_selected_by_its_name_in_the_guide(project: Project, name: str, id: str) -> None:
    project.lab(ROW)
    project.write(
        "evalstudio.toml", f'evaluators = ["{name}"]\n[evaluator."{name}"]\nmetric_threshold = 0.5\n'
    )
    result = project.run("answers_lab.json")
    result.assert_outcomes(passed=1, warnings=1)
    output = result.stdout.str()
    assert output.count(NOTE) == 1
    assert f"'{name}' as '{id}'" in output
    assert "'metric_threshold' as 'threshold'" in output
    run = json.loads((project.folder / "evalstudio-report" / "record.jsonl").read_text().splitlines()[0])
    assert list(run["evaluators"]) == [id]
    assert next(each for each in run["evaluators"][id]["metrics"] if each.get("primary"))["threshold"] == 0.5


def test_the_guides_threshold_decides(project: Project) -> None:
    project.lab({**ROW, "actual_output": "It is 30 USD."})
    for threshold, outcome in ((0.01, "passed"), (1.0, "failed")):
        project.write(
            "evalstudio.toml", f'evaluators = ["rouge"]\n[evaluator.rouge]\nmetric_threshold = {threshold}\n'
        )
        project.run("answers_lab.json").assert_outcomes(**{outcome: 1}, warnings=1)


@pytest.mark.parametrize("workers", WORKERS)
def test_names_in_many_cases_are_noted_once(project: Project, workers: tuple[str, ...]) -> None:
    choice = {"evaluators": {"RougeEvaluator": {"metric_threshold": 0.1}, "Tokens presence": {}}}
    project.lab(*({**ROW, "key": f"case{number}", **choice} for number in range(30)))
    result = project.run("answers_lab.json", *workers)
    assert result.parseoutcomes()["passed"] == 30
    assert result.stdout.str().count(f"answers_lab.json: {NOTE}") == 1


def test_names_on_the_command_line_are_read(project: Project) -> None:
    project.lab(ROW)
    result = project.run(
        "answers_lab.json",
        "--evalstudio-evaluators=Tokens presence,h2o_sonar.evaluators.rouge_evaluator.RougeEvaluator",
        "--evalstudio-threshold=h2o_sonar.evaluators.rouge_evaluator.RougeEvaluator.rouge_1=0.2",
        "--evalstudio-threshold=RougeEvaluator=0.3",
    )
    result.assert_outcomes(passed=1, warnings=2)  # of evaluators, and of thresholds
    run = json.loads((project.folder / "evalstudio-report" / "record.jsonl").read_text().splitlines()[0])
    thresholds = {each["key"]: each.get("threshold", 0.75) for each in run["evaluators"]["rouge"]["metrics"]}
    assert (thresholds["rouge_1"], thresholds["rouge_l"]) == (0.2, 0.3)


@pytest.mark.parametrize(
    ("table", "fault"),
    [
        ('evaluators = ["Roug Evaluator"]', "*no evaluator named 'Roug Evaluator'. Did you mean 'rouge'?*"),
        (
            'evaluators = ["PiiLeakgeEvaluator"]',
            "*no evaluator named 'PiiLeakgeEvaluator'. Did you mean 'pii_leakage'?*",
        ),
        (
            "[evaluator.rouge]\nmetric_treshold = 1",
            "*evaluator.rouge.metric_treshold: unknown option. Did you mean 'threshold'?*",
        ),
        (
            "[evaluator.rouge]\nmetric_threshold = 1\nthreshold = 1",
            "*evaluator.rouge.metric_threshold: is 'threshold' here, which is given too; remove one of them*",
        ),
        (
            "[evaluator.rouge]\n[evaluator.RougeEvaluator]",
            "*evaluator.RougeEvaluator: is 'rouge', which also has a table of its own; join the two*",
        ),
        (
            "[evaluator.rouge]\nagent_host_connection_config_key = 'x'",
            "*evaluator.rouge.agent_host_connection_config_key: unknown option.*",
        ),
    ],
)
def test_other_names_get_the_nearest_one(project: Project, table: str, fault: str) -> None:
    project.lab(ROW)
    project.write("evalstudio.toml", table)
    result = project.run("answers_lab.json")
    assert result.ret == 4
    result.stderr.fnmatch_lines([fault])
    assert "Traceback" not in result.stderr.str()


def test_a_case_that_names_an_evaluator_twice_is_refused(project: Project) -> None:
    project.lab({**ROW, "evaluators": {"rouge": {}, "RougeEvaluator": {}}})
    result = project.run("answers_lab.json")
    result.stderr.fnmatch_lines(["*evaluator rouge is listed twice, under two names; list it once*"])


def test_an_instance_keeps_its_name_and_may_have_a_type_of_the_guide(project: Project) -> None:
    project.lab(ROW)
    project.write(
        "evalstudio.toml",
        'evaluators = ["RougeEvaluator"]\n'
        '[evaluator.RougeEvaluator]\ntype = "BleuEvaluator"\nmetric_threshold = 0.2\n',
    )
    project.run("answers_lab.json").assert_outcomes(passed=1, warnings=1)
    run = json.loads((project.folder / "evalstudio-report" / "record.jsonl").read_text().splitlines()[0])
    assert {id: entry["type"] for id, entry in run["evaluators"].items()} == {"RougeEvaluator": "bleu"}


def test_perturbators_are_read_by_their_class_names(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.folder)
    project.suite({"key": "one", "prompt": "What does the transfer cost, please, in USD?"})
    specification = "h2o_sonar.utils.perturbations.CommaPerturbator:PerturbationIntensity.HIGH"
    project.write("evalstudio.toml", f'[perturbations]\napply = "{specification}"\n')
    assert "CommaPerturbator' as 'comma'" in project.run("sums_suite.json").stdout.str()
    for name, output in ((specification, "a_suite.json"), ("comma:HIGH", "b_suite.json")):
        assert main(["perturb", "sums_suite.json", "-p", name, "-o", output]) == 0
    assert Path("a_suite.json").read_bytes() == Path("b_suite.json").read_bytes()


AGENT = """
evaluators = ["fact_check"]
[evaluator.fact_check]
agent_host_connection_config_key = "agents"
agent_llm_model_name = "sonnet"
max_dataset_rows = 1
[connection.agents]
host = "openai_compatible"
url = "{url}"
"""
STEPS = """
evaluators = ["step_alignment"]
[evaluator.step_alignment]
h2ogpte_connection_config_key = "agents"
h2ogpte_llm_model_name = "gpt"
[connection.agents]
host = "openai_compatible"
url = "{url}"
"""


@pytest.fixture
def service() -> OpenAIServer:
    with serve() as server:
        yield server


def test_the_agent_of_fact_check_is_asked_over_its_connection(
    project: Project, service: OpenAIServer
) -> None:
    statement = {"statement": "The fee is 30 USD.", "reason": "known", "verdict": "true"}
    reply = {"statements": [statement], "answer": "30 USD", "evaluation_summary": "checked"}
    service.default = lambda prompt: Reply(json.dumps(reply))
    project.lab(ROW)
    project.write("evalstudio.toml", AGENT.format(url=service.url))
    project.run("answers_lab.json").assert_outcomes(passed=1, warnings=1)
    assert {request["model"] for request in service.requests} == {"sonnet"}


def test_the_model_of_step_alignment_extracts_the_steps(project: Project, service: OpenAIServer) -> None:
    service.default = lambda prompt: Reply(json.dumps({"steps": ["Open the door.", "Go in."]}))
    project.lab({**ROW, "context": ["1. Open the door. 2. Go in."]}, model_type="h2ogpte")
    project.write("evalstudio.toml", STEPS.format(url=service.url))
    project.run("answers_lab.json").assert_outcomes(passed=1, warnings=1)
    assert {request["model"] for request in service.requests} == {"gpt"}


STABILITY = """
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio import Finding, Metric, Outcome, evaluator


@evaluator("wobble", name="Wobble", domain="generation", needs=("actual_output",), problem_type="stability")
@dataclass(frozen=True)
class Wobble:
    \"\"\"Half.\"\"\"

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("half", threshold=0.9, primary=True),)

    def score(self, cases, tools):
        finding = Finding(description="It wobbles.", problem_type="stability")
        return [Outcome.score({"half": 0.5}, findings=(finding,)) for _ in cases]


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Wobble)
"""


def test_a_problem_of_stability_is_one_of_robustness(project: Project) -> None:
    project.write("conftest.py", STABILITY)
    project.write("evalstudio.toml", 'evaluators = ["wobble"]\n')
    project.lab(ROW)
    project.run("answers_lab.json").assert_outcomes(failed=1)
    [path] = (project.folder / "evalstudio-report").rglob("problems_and_actions.json")
    problems = json.loads(path.read_text(encoding="utf-8"))["problems"]
    assert problems
    assert {each["problem_type"] for each in problems} == {"robustness"}


def test_validate_and_evaluate_note_the_names(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from pytest_evalstudio import TestLab, evaluate

    monkeypatch.chdir(project.folder)
    project.lab({**ROW, "evaluators": ["Tokens presence"]})
    project.write("evalstudio.toml", 'evaluators = ["RougeEvaluator"]\n')
    assert main(["validate", "evalstudio.toml", "answers_lab.json"]) == 0
    captured = capsys.readouterr()
    assert "'RougeEvaluator' as 'rouge'" in captured.out
    assert "'Tokens presence' as 'text_matching'" in captured.out
    with pytest.warns(UserWarning, match="'BleuEvaluator' as 'bleu'"):
        evaluate(TestLab.load(Path("answers_lab.json")), ["BleuEvaluator"])
