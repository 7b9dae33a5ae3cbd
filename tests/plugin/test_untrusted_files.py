"""Files from strangers name no code, no environment variable, no address, no model and no folder of
others.
"""

from __future__ import annotations

import http.server
import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli import main
from support.project import CONFIG, Project

ROW = {
    "key": "q",
    "input": "touch pwned; echo 4",
    "actual_output": "4",
    "expected_output": "4",
    "model_key": "m",
}
PERTURB = ("--evalstudio-perturb", "copy", "--evalstudio-evaluators", "looping_detection")


class Service(http.server.ThreadingHTTPServer):
    """A chat service on loopback that keeps what it was sent."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.requests.append((self.headers.get("Authorization", ""), body))
        message = {"role": "assistant", "content": "It is 4."}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def lab_of(model: dict[str, Any]) -> str:
    model = {"key": "m", "name": "theirs", "llm_model_name": "gpt", **model}
    return json.dumps({"name": "Lab", "dataset": {"inputs": [ROW]}, "models": [model]})


SHELL = {"model_type": "python", "model_cfg": {"target": "subprocess:getoutput"}}


@pytest.mark.parametrize(
    "arguments", [PERTURB, (*PERTURB, "-o", "evalstudio_trust_lab=true")], ids=["distrusted", "trusted"]
)
def test_a_lab_cannot_name_code(project: Project, arguments: tuple[str, ...]) -> None:
    project.write("theirs_lab.json", lab_of(SHELL))
    result = project.run("theirs_lab.json", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*model 'gpt' of the lab*is not configured*host 'python' runs code, which a lab may not name*"]
    )
    assert not (project.folder / "pwned").exists()


def test_a_lab_cannot_name_a_fixture(project: Project) -> None:
    project.write(
        "theirs_lab.json", lab_of({"model_type": "fixture", "model_cfg": {"fixture": "tmp_path_factory"}})
    )
    result = project.run("theirs_lab.json", *PERTURB, "-o", "evalstudio_trust_lab=true")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*host 'fixture' runs code*"])


def test_perturbations_of_the_users_own_configuration_do_not_make_a_lab_trusted(project: Project) -> None:
    text = (project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    project.write("evalstudio.toml", text + '[perturbations]\napply = "copy"\n')
    project.write("theirs_lab.json", lab_of(SHELL))
    assert project.run("theirs_lab.json").ret == pytest.ExitCode.USAGE_ERROR
    assert not (project.folder / "pwned").exists()


def described(service: Service) -> dict[str, Any]:
    return {
        "model_type": "openai_compatible",
        "model_cfg": {"url": service.url, "llm_model_name": "gpt", "api_key": "${STRANGERS_WISH}"},
    }


def test_a_lab_chooses_no_address_unless_it_is_trusted(project: Project, service: Service) -> None:
    project.write("theirs_lab.json", lab_of(described(service)))
    result = project.run("theirs_lab.json", *PERTURB)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*pass -o evalstudio_trust_lab=true to use the lab's own description*"])
    assert service.requests == []


def test_a_trusted_lab_still_reads_no_environment_variable(
    project: Project, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANGERS_WISH", "a-secret-of-the-user")
    project.write("theirs_lab.json", lab_of(described(service)))
    project.run("theirs_lab.json", *PERTURB, "-o", "evalstudio_trust_lab=true").assert_outcomes(passed=2)
    assert [authorization for authorization, _ in service.requests] == ["Bearer ${STRANGERS_WISH}"]


@pytest.mark.parametrize("trust", [[], ["--trust-lab"]], ids=["distrusted", "trusted"])
def test_resolve_runs_no_code_of_a_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], trust: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    content = json.loads(lab_of(SHELL))
    content["raw_dataset"], content["dataset"] = content["dataset"], {"inputs": []}
    Path("theirs_lab.json").write_text(json.dumps(content), encoding="utf-8")
    assert main(["resolve", "theirs_lab.json", "-o", "out_lab.json", *trust]) == 2
    assert "host 'python' runs code" in capsys.readouterr().err
    assert not Path("pwned").exists()


def test_resolve_asks_a_labs_address_only_when_it_is_trusted(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STRANGERS_WISH", "a-secret-of-the-user")
    content = json.loads(lab_of(described(service)))
    content["raw_dataset"], content["dataset"] = content["dataset"], {"inputs": []}
    Path("theirs_lab.json").write_text(json.dumps(content), encoding="utf-8")
    assert main(["resolve", "theirs_lab.json", "-o", "out_lab.json"]) == 2
    assert "pass --trust-lab to use the lab's own description" in capsys.readouterr().err
    assert service.requests == []
    assert main(["resolve", "theirs_lab.json", "-o", "out_lab.json", "--trust-lab"]) == 0
    assert [authorization for authorization, _ in service.requests] == ["Bearer ${STRANGERS_WISH}"]


@pytest.mark.parametrize(
    ("evaluator", "options", "fault"),
    [
        (
            "perplexity",
            {"model": "attacker/x"},
            "a case cannot choose the language model 'attacker/x'; give it in [[]evaluator.perplexity]",
        ),
        ("bertscore", {"model": "attacker/x"}, "a case cannot choose the token matcher 'attacker/x'*"),
        (
            "machine_translation_gptscore",
            {"gpt_score_model": "attacker/x"},
            "a case cannot choose the language model*",
        ),
        (
            "summarization_completeness_faithfulness",
            {"conv_weights": "/tmp/x.pt"},
            "conv_weights: a case cannot choose a file*",
        ),
    ],
)
def test_a_case_chooses_no_model_and_no_file(
    project: Project, evaluator: str, options: dict[str, Any], fault: str
) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "expected_output": "4", "evaluators": {evaluator: options}})
    result = project.run("sums_suite.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*sums_suite.json::k*evaluator {evaluator}*{fault}"])


def test_a_case_may_repeat_the_configured_model(project: Project) -> None:
    text = (project.folder / "evalstudio.toml").read_text(encoding="utf-8")
    project.write("evalstudio.toml", text + '[evaluator.perplexity]\nmodel = "nowhere/to-be-found"\n')
    project.suite(
        {"key": "k", "prompt": "2+2?", "evaluators": {"perplexity": {"model": "nowhere/to-be-found"}}}
    )
    result = project.run()
    result.stderr.no_fnmatch_line("*a case cannot choose*")


def test_a_folder_name_that_the_file_system_refuses_is_a_sentence(project: Project) -> None:
    project.write("text.md", "A card costs 5 USD. A transfer is free.\n")
    content = {"documents": ["text.md"], "folder": "x" * 300}
    project.write("bank_workflow.json", json.dumps({"evalstudio_workflow": content}))
    result = project.run("bank_workflow.json")
    assert result.ret != 0
    result.stdout.fnmatch_lines(
        ["*/evalstudio_workflow/folder: 'xxx*' cannot be the name of a folder here *"]
    )
    result.stdout.no_fnmatch_line("*Error: [[]Errno*")


@pytest.mark.parametrize("document", ["/dev/zero", "pipe"])
def test_a_document_without_an_end_is_not_read(project: Project, document: str) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("there are no pipes in folders here")
    os.mkfifo(project.folder / "pipe")
    test = {"documents": [document], "test_cases": [{"key": "k", "prompt": "2+2?", "condition": '"4"'}]}
    project.write("sums_suite.json", json.dumps({"name": "Sums", "tests": [test]}))
    project.write("evalstudio.toml", CONFIG + 'cache = "always"\n')
    project.run_process(timeout=60).assert_outcomes(passed=1)
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n')
    result = project.run_process(timeout=60)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this is not a file but a folder, device, pipe or socket; give a file*"])


@pytest.mark.parametrize("folder", ["../victim", "a/../../victim", "{absolute}", "link"])
def test_a_workflow_keeps_to_its_own_folder(project: Project, folder: str) -> None:
    victim = project.folder / "victim"
    project.write("victim/precious.txt", "mine")
    for step in ("1_topic_modeling", "2_test_generation"):
        project.write(f"victim/{step}/precious.txt", "mine")
    project.write("flow/text.md", "A card costs 5 USD. A transfer is free.\n")
    (project.folder / "flow" / "link").symlink_to(victim, target_is_directory=True)
    content = {"documents": ["text.md"], "folder": folder.format(absolute=victim)}
    project.write("flow/bank_workflow.json", json.dumps({"evalstudio_workflow": content}))
    result = project.run("flow/bank_workflow.json")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*/evalstudio_workflow/folder: *leads out of the folder of the file*"])
    assert {path.name for path in victim.rglob("*") if path.is_file()} == {"precious.txt"}


@pytest.mark.parametrize("labels", ["../labels.csv", "/tmp/labels.csv", "labels.txt"])
def test_the_labels_of_a_workflow_stay_beside_it(project: Project, labels: str) -> None:
    project.write("text.md", "A card costs 5 USD. A transfer is free.\n")
    steps = {"human_calibration": {"labels": labels}}
    project.write(
        "bank_workflow.json", json.dumps({"evalstudio_workflow": {"documents": ["text.md"], "steps": steps}})
    )
    result = project.run("bank_workflow.json")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*/steps/human_calibration: *labels*"])


def test_relative_documents_of_a_fetched_suite_start_at_its_address(project: Project) -> None:
    """A suite from the web reads no file of this machine: relative and absolute paths belong to its own
    server.
    """
    site = project.folder / "site"
    project.write("site/fees.txt", "A replacement card costs 5 USD.")
    tests = [
        {
            "documents": ["fees.txt"],
            "test_cases": [{"key": "card", "prompt": "What does a card cost?", "condition": '"5 USD"'}],
        }
    ]
    project.write("site/fees_suite.json", json.dumps({"name": "Fees", "tests": tests}))
    project.write("secret.txt", "A card costs 12 USD and the password is hunter2.")
    tests[0]["documents"] = [str(project.folder / "secret.txt")]
    project.write("site/theft_suite.json", json.dumps({"name": "Theft", "tests": tests}))
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n')
    handler = partial(_SilentFiles, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        fetched = project.run(f"{address}/fees_suite.json")
        theft = project.run(f"{address}/theft_suite.json")
        server.shutdown()
    fetched.assert_outcomes(passed=1)
    theft.assert_outcomes(errors=1)
    assert "hunter2" not in theft.stdout.str()


class _SilentFiles(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""
