from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest.mock import ANY

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.cli import main
from pytest_evalstudio.cli.commands import commands
from pytest_evalstudio.formats.dataset import LlmDataset
from support.cli_files import CONFIG, FOUR, SIX, suite, write


@pytest.fixture(autouse=True)
def current_folder(tmp_path, monkeypatch):
    """Each test stands in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def strict_json(text):
    def refuse(constant):
        raise AssertionError(f"a bare {constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_evaluators_are_listed_for_people_and_for_machines(capsys):
    assert main(["evaluators"]) == 0
    text = capsys.readouterr().out
    assert (
        "text_matching               generation      model_passes >= 0.5\n    Boolean condition over the"
        " answer" in text
    )
    assert "needs: actual_output, condition; options: evaluate_retrieved_context" in text
    assert main(["evaluators", "--json"]) == 0
    entries = {entry["id"]: entry for entry in strict_json(capsys.readouterr().out)}
    rouge = entries["rouge"]
    assert {
        "id",
        "name",
        "domain",
        "needs",
        "params",
        "metrics",
        "description",
        "systems",
        "method",
        "scope",
        "extra",
        "keywords",
    } <= set(rouge)
    assert [metric["key"] for metric in rouge["metrics"] if metric["primary"]] == ["rouge_l"]
    for entry in entries.values():
        assert sum(metric["primary"] for metric in entry["metrics"]) == 1
        for metric in entry["metrics"]:
            assert {"key", "name", "better", "range", "threshold", "primary"} <= set(metric)


REFUSED = {"expects": "refusal"}
"""Expectation that needs no evaluator."""


def test_hosts_are_listed_for_people_and_for_machines(capsys):
    assert main(["hosts"]) == 0
    text = capsys.readouterr().out
    assert "extractive" in text
    assert 'pip install "pytest-evalstudio[openai]"' in text
    assert main(["hosts", "--json"]) == 0
    entries = {entry["id"]: entry for entry in strict_json(capsys.readouterr().out)}
    assert entries["python"]["params"]["target"] == ""
    assert {"id", "name", "kind", "extra", "caches", "description", "params"} <= set(entries["scripted"])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.json", {"tests": [{"test_cases": [FOUR, SIX]}]}, "s.json: suite, 2 test cases: fine"),
        (
            "s.yaml",
            "tests:\n- test_cases:\n  - {prompt: q, expects: refusal}\n",
            "s.yaml: suite, 1 test case: fine",
        ),
        (
            "l.json",
            {"dataset": {"inputs": [{"key": "k", "model_key": "m", **REFUSED}]}, "models": [{"key": "m"}]},
            "l.json: lab, 1 test case: fine",
        ),
        (
            "d.json",
            {"inputs": [{"input": "q", **REFUSED}, {"input": "r", **REFUSED}]},
            "d.json: dataset, 2 test cases: fine",
        ),
        ("d.csv", "input,actual_output,expects\nq,a,refusal\n", "d.csv: dataset, 1 test case: fine"),
        ("evalstudio.toml", CONFIG, "evalstudio.toml: configuration, 2 models: fine"),
    ],
)
def test_a_sound_file_is_fine(capsys, name, content, message):
    assert main(["validate", write(name, content)]) == 0
    assert capsys.readouterr().out == message + "\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "s.json",
            {"tests": [{"test_cases": [{"prompt": 5}, FOUR]}]},
            "s.json:1:39 /tests/0/test_cases/0/prompt: expected a string, found 5\n",
        ),
        ("s.json", '{"tests": [', "s.json:1:12: is not JSON: expecting value\n"),
        (
            "s.json",
            {"tests": [{"test_cases": [{**FOUR, "evaluators": ["rogue"]}]}]},
            "s.json: four: no evaluator named 'rogue'. Did you mean 'rouge'?",
        ),
        ("s.yaml", "tests: 5", "s.yaml:1:8 /tests: expected a list of tests\n"),
        (
            "l.json",
            {"dataset": {"inputs": [{"model_key": "n"}]}, "models": []},
            "l.json:1:39 /dataset/inputs/0/model_key: no model of this lab has the key 'n'",
        ),
        (
            "d.json",
            {"inputs": [{"run": 0}]},
            "d.json:1:21 /inputs/0/run: input should be greater than or equal to 1\n",
        ),
        ("d.csv", "a,b\n", "d.csv:1:1: has no column `input`"),
        ("x.json", {"name": "x"}, "x.json: has no supported format"),
        ("x.txt", "", "x.txt: the file type is unknown; use one of .json"),
        (
            "evalstudio.toml",
            "runs = 0",
            "evalstudio.toml: runs: input should be greater than or equal to 1\n",
        ),
        (
            "evalstudio.toml",
            "evaluators = ['rogue']",
            "evalstudio.toml: no evaluator named 'rogue'. Did you mean 'rouge'?",
        ),
        ("evalstudio.toml", "gate = 'rouge'", "evalstudio.toml: "),
        (
            "evalstudio.toml",
            "[evaluator.rouge]\ntreshold = 1",
            "evalstudio.toml: evaluator.rouge.treshold: unknown option. Did you mean 'threshold'?",
        ),
        (
            "pyproject.toml",
            "[tool.evalstudio]\nrunss = 1",
            "pyproject.toml: runss: unknown key. Did you mean 'runs'? Options of an evaluator belong in"
            " [evaluator.ID].\n",
        ),
    ],
)
def test_a_file_with_faults_is_told_at_its_place(capsys, name, content, message):
    assert main(["validate", write(name, content)]) == 1
    output = capsys.readouterr()
    assert output.out.startswith(message)
    assert "fine" not in output.out
    assert output.err == ""


def test_the_excerpt_of_a_faulty_condition_has_lines_of_its_own(capsys):
    assert main(["validate", suite({**FOUR, "condition": "5 USD"})]) == 1
    assert capsys.readouterr().out.splitlines()[1:] == ["  5 USD", "  ^"]


def test_a_line_break_in_a_name_begins_no_line(capsys):
    assert main(["validate", suite({**FOUR, "a\nx.json: suite, 1 test case: fine": 1})]) == 1
    [line] = capsys.readouterr().out.splitlines()
    assert "\\n" in line


def test_all_files_are_checked_whatever_is_wrong_with_the_first(capsys):
    assert main(["validate", "gone.json", suite(FOUR), "gone.toml"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "gone.json: cannot be read: No such file or directory",
        "s.json: suite, 1 test case: fine",
        "gone.toml: cannot be read: No such file or directory",
    ]


def test_what_was_repaired_is_a_warning_and_no_fault(capsys):
    assert (
        main(
            [
                "validate",
                write(
                    "s.json",
                    '{"tests": [{"test_cases": [{"prompt": "q", "expects": "refusal"},], "categores": []}]}',
                ),
            ]
        )
        == 0
    )
    assert capsys.readouterr().out.splitlines() == [
        "warning: s.json:1: trailing commas are not JSON; they were ignored",
        (
            "warning: s.json /tests/0: 'categores' is not a key of this format and is ignored."
            " Did you mean 'categories'?"
        ),
        "s.json: suite, 1 test case: fine",
    ]


def test_a_case_may_choose_what_the_nearest_configuration_names(capsys):
    write("sub/evalstudio.toml", '[evaluator.strict]\ntype = "rouge"\n')
    assert main(["validate", suite({**FOUR, "evaluators": ["strict"]}, name="sub/deep/s.json")]) == 0
    assert main(["validate", suite({**FOUR, "evaluators": ["strict"]}, name="other/s.json")]) == 1


def test_a_suite_at_a_url_is_checked(capsys, current_folder):
    suite(FOUR, name="served/s.json")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(current_folder / "served"))
    ) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/s.json"
        result = main(["validate", url])
        server.shutdown()
        thread.join()
    assert result == 0
    assert capsys.readouterr().out == f"{url}: suite, 1 test case: fine\n"


def test_a_starter_is_written_once_and_is_fine(capsys):
    assert main(["init", "new"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == f"wrote {Path('new', 'starter_suite.yaml')}"
    assert out[-3:] == [
        "  cd new && python -m pytest starter_suite.yaml",
        "  evalstudio baseline save",
        "  python -m pytest starter_suite.yaml --evalstudio-baseline evalstudio-baseline.jsonl",
    ]
    assert main(["validate", "new/starter_suite.yaml", "new/evalstudio.toml"]) == 0
    capsys.readouterr()
    assert main(["init", "new"]) == 2
    assert (
        capsys.readouterr().err
        == f"evalstudio: {Path('new', 'starter_suite.yaml')}: already exists; move it away, or give another"
        " folder\n"
    )


def test_a_starter_that_cannot_be_written_is_told(capsys):
    write("file", "")
    assert main(["init", "file/new"]) == 2
    assert capsys.readouterr().err == "evalstudio: file/new: Not a directory\n"


def test_a_report_is_built_from_a_record_or_its_folder(capsys):
    data = LlmDataset()
    data.add_input("2+2?", key="four", actual_output="4", expected_output="4")
    record = evaluate(data, ["text_matching", "classification"]).write_record("run")
    assert main(["report", "run", "-o", "one"]) == 0
    assert main(["report", str(record), "-o", "two"]) == 0
    assert (
        capsys.readouterr().out
        == f"wrote {Path('one', 'interpretation.html')}\nwrote {Path('two', 'interpretation.html')}\n"
    )
    for folder in ("one", "two"):
        strict_json(Path(folder, "interpretation.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("gone", None, "gone: there is no record here; give a record.jsonl or the folder of a report"),
        ("empty/x.txt", "", "empty: there is no record here; give a record.jsonl or the folder of a report"),
        ("page.html", "<html>", "page.html:1:1: is not the record of a run: its first line is not a header"),
        ("list.json", "[1]", "list.json:1:1: is not the record of a run: its first line is not a header"),
        (
            "bare.jsonl",
            '{"kind": "run", "schema_version": 4}',
            "bare.jsonl:1:1: is not a line of a record: Object missing required field `run_id`",
        ),
        (
            "later.jsonl",
            '{"kind": "run", "schema_version": 9}',
            "later.jsonl:1:1: is a record of version 9; this version reads 4. Run the tests again",
        ),
    ],
)
def test_what_is_no_record_makes_no_report(capsys, name, content, fault):
    if content is not None:
        write(name, content)
    assert main(["report", "empty" if name.startswith("empty") else name, "-o", "out"]) == 2
    assert capsys.readouterr().err.startswith(f"evalstudio: {fault}")
    assert not Path("out").exists()


@pytest.mark.parametrize("kind", ["suite", "lab", "dataset", "configuration"])
def test_schemas_are_printed(capsys, kind):
    assert main(["schema", kind]) == 0
    assert strict_json(capsys.readouterr().out)["type"] == "object"


@pytest.mark.part("tables", "validation")
def test_an_unknown_schema_is_told(capsys):
    assert main(["schema", "suit"]) == 2
    assert (
        capsys.readouterr().err
        == "evalstudio: no format named 'suit'. Did you mean 'suite'? There are: suite, test,"
        " test_case, lab, dataset, configuration, scores, workflow, policy, guidance, record.\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate"],
        ["resolve", "s.json"],
        ["report", "x"],
        ["resolve", "s.json", "-o", "x", "--runs", "many"],
    ],
)
def test_a_command_line_of_another_form_is_told(capsys, arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: evalstudio" in capsys.readouterr().err


def test_without_a_command_the_commands_are_listed(capsys):
    assert main([]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(":")] == [
        "everyday:",
        "data:",
        "lists and schemas:",
        "optional parts:",
    ]
    assert {line.split()[0] for line in lines if line.startswith("  ")} == set(commands())


def test_a_misspelt_command_is_an_error_with_the_nearest_one(capsys):
    assert main(["basline", "save"]) == 2
    assert capsys.readouterr().err == (
        "evalstudio: no command named 'basline'. Did you mean 'baseline'? `evalstudio --help` lists all.\n"
    )


def test_an_interruption_is_told_without_a_traceback(capsys, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("pytest_evalstudio.core.plugins.registry.PluginRegistry.__iter__", interrupted)
    assert main(["hosts"]) == 130
    assert capsys.readouterr().err == "evalstudio: interrupted\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["schema", "suite"], 0, '"title": "TestSuite"'),
        (["validate", "gone.json"], 1, "gone.json: cannot be read"),
        (["schema", "x"], 2, ""),
    ],
)
def test_the_exit_status_of_the_process(arguments, status, message):
    result = subprocess.run(
        [sys.executable, "-m", "pytest_evalstudio.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == status
    assert message in result.stdout
    assert "Traceback" not in result.stderr
    assert bool(result.stderr) == (status == 2)


@pytest.mark.skipif(os.name != "posix", reason="pipes close in another way")
def test_a_reader_that_leaves_early_is_no_error():
    command = f"'{sys.executable}' -m pytest_evalstudio.cli schema suite; echo $? >&2"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"({command}) | head -c 1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout == "{"
    assert "Traceback" not in result.stderr


@pytest.mark.part("judge_bench")
def test_a_judge_is_checked_against_labels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"key": key, "input": "Q?", "actual_output": f"Answer {key}.", "model_key": "m"} for key in "ab"]
    (tmp_path / "answers_lab.json").write_text(
        json.dumps({"dataset": {"inputs": rows}, "models": [{"key": "m", "name": "m"}]}), encoding="utf-8"
    )
    (tmp_path / "labels.csv").write_text("key,model_key,label\na,m,1\nb,m,0\n", encoding="utf-8")
    (tmp_path / "house_judge.py").write_text(
        'def judge(prompt):\n    return "same" if "Answer a." in prompt else "different"\n', encoding="utf-8"
    )
    (tmp_path / "evalstudio.toml").write_text(
        '[judge]\nhost = "python"\ntarget = "house_judge:judge"\n', encoding="utf-8"
    )
    arguments = ["judge-check", "labels.csv", "--lab", "answers_lab.json", "--evaluator", "language_mismatch"]

    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["agreement"], result["kappa"], result["flips"]["repeats"]) == (
        1.0,
        1.0,
        {"compared": 2, "flipped": 0, "to_pass": 0, "to_fail": 0, "rate": 0.0, "interval": ANY},
    )
    assert main(arguments) == 0
    assert "agreement with people   1 (95 % interval" in capsys.readouterr().out
    assert main([*arguments[:-1], "rouge"]) == 2
    assert "does not ask a judge" in capsys.readouterr().err
