"""No command writes control characters or CI commands of foreign text."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.cli.main import parser_of_commands
from support.hostile import NASTY, faults

LEAKED = ("jane.roe@bank-mail.com", "sk-ant-api03-Zk3abcdefghijklmnopqrstuvwxyz0123456789")
"""Personal data and a secret that models and files bring."""
TEXT = f"{' '.join(LEAKED)} {NASTY} {' '.join(LEAKED)}"
CONFIG = f"""
evaluators = ["text_matching"]

[judge]
host = "scripted"
default = "no verdict"

[[model]]
name = {json.dumps("good" + TEXT)}
host = "scripted"
default = {json.dumps(TEXT)}

[[model]]
name = {json.dumps("bad" + TEXT)}
host = "scripted"
fault = {json.dumps(TEXT)}
fail_first = 99
retries = 0
"""
CASES = [
    {"key": "a" + TEXT, "prompt": "2+2?" + TEXT, "condition": '"4"', "categories": [TEXT], "conditoin": 1},
    {"key": "b" + TEXT, "prompt": "boom", "evaluators": {}},
]
SUITE = {"name": TEXT, "tests": [{"test_cases": CASES}], "conditoin": TEXT}
BROKEN = {
    "name": TEXT,
    "tests": [{"test_cases": [{"key": TEXT, "prompt": 1, TEXT: 2}, {"prompt": "x", "condition": TEXT}]}],
}
ROWS = [
    {
        "key": TEXT,
        "input": TEXT,
        "actual_output": TEXT,
        "model_key": "m",
        "output_condition": '"x"',
        "context": [TEXT],
        "error": TEXT,
    }
]
LAB = {"name": TEXT, "dataset": {"inputs": ROWS}, "models": [{"key": "m", "name": TEXT}]}
LOST = {
    "name": TEXT,
    "dataset": {"inputs": [{**ROWS[0], "model_key": TEXT}]},
    "models": [{"key": "m", "name": TEXT}],
}
LABELS = "answer,label,metric\n" + f'"{TEXT}","{TEXT}",x\n'

SCORED = ["rows.jsonl", "-e", "text_matching", "--workers", "1"]
COMMANDS = {
    "evaluators": [[], ["--json"]],
    "hosts": [[], ["--json"]],
    "perturbators": [[], ["--json"]],
    "generators": [[], ["--json"]],
    "steps": [[], ["--json"]],
    "sections": [[], ["--json"]],
    "validate": [
        ["suite.json", "broken.json", "lab.json", "lost.json", "evalstudio.toml", "workflow.json", NASTY]
    ],
    "init": [[f"new {NASTY}".replace("/", "-").replace("\0", "")]],
    "perturb": [
        ["suite.json", "comma", "-o", "out.json"],
        ["suite.json", NASTY, "-o", "out.json"],
        ["broken.json", "comma", "-o", "out.json"],
    ],
    "import": [
        ["deepeval", "rows.json", "-o", "out.json"],
        ["promptfoo", "prompts.json", "-o", "out.json"],
        ["table", "rows.json", "--map", f"input={NASTY}", "-o", "out.json"],
        ["ragas", "broken.json", "-o", NASTY],
        ["h2o-sonar", "broken.json", "-o", "out.json"],
        ["h2o-sonar", "suite.json", "-o", "out.json", "--name-prefix", NASTY, "--description", NASTY],
    ],
    "export": [
        ["ragas", "lab.json", "-o", "out.jsonl"],
        ["ragas", "lab.json", "-o", "out.jsonl", "--model", NASTY],
        ["deepeval", "broken.json", "-o", NASTY],
    ],
    "convert": [
        ["suite.json", "-o", "suite.yaml"],
        ["broken.json", "-o", "b.yaml"],
        ["lost.json", "-o", NASTY],
    ],
    "resolve": [
        ["suite.json", "-o", "solved.json"],
        ["suite.json", "-o", "solved.json", "--model", NASTY],
        ["broken.json", "-o", "x.json"],
    ],
    "score": [
        [*SCORED, "-o", "scored", "--map", "model=name"],
        [*SCORED, "-o", "scored", "--map", f"model={NASTY}"],
        [*SCORED, "-o", "scored", "--keep", f"{NASTY}=name", "--sample", "2", "--by", NASTY],
        [*SCORED, "-o", "scored", "--map", "input=context"],
        [*SCORED, "-o", NASTY.replace("\0", "")],
        [NASTY, "-o", "scored"],
        [f"{NASTY}://x.parquet", "-o", "scored"],
    ],
    "judge-check": [["labels.csv"], [NASTY]],
    "judge-tune": [["labels.csv"], [NASTY]],
    "arena": [
        ["play", "lab.json", "-o", "battles.csv"],
        ["play", NASTY, "-o", "battles.csv"],
        ["rate", "labels.csv"],
        ["rate", NASTY],
        ["vote", "lab.json", "-o", "battles.csv", "--rater", NASTY],
    ],
    "generate": [
        [NASTY, "-o", "out.json"],
        [f"collection://{NASTY}/{NASTY}", "-o", "out.json"],
        ["labels.csv", "-o", "out.json", "--topic", NASTY],
    ],
    "guard": [["check", NASTY], ["check", "suite.json"], ["serve", "--config", NASTY]],
    "library": [
        ["list", "-l", NASTY],
        ["add", "suite.json", "-l", "lib", "--licence", NASTY, "--source", NASTY],
    ],
    "calibrate": [[NASTY], ["run", "--labels", "labels.csv"]],
    "weakness": [[NASTY], ["run"]],
    "mutate": [
        ["suite.json"],
        ["lab.json", "--kinds", NASTY],
        ["lab.json", "--survivors", "5", "-o", "mutation"],
        ["run"],
        ["broken.json", "--json"],
        [NASTY],
    ],
    "redteam": [
        ["--purpose", "purpose.toml", "-o", "red.json"],
        ["--purpose", "evalstudio.toml", "-o", "red.json"],
        ["--purpose", "purpose.toml", "-o", "red.json", "--kinds", NASTY],
        ["--purpose", "purpose.toml", "-o", "red.json", "--writer", NASTY],
        ["--purpose", NASTY, "-o", NASTY],
    ],
    "mrm": [
        ["workflow.json"],
        [NASTY],
        ["clone", "workflow.json", "copy.json", "--name", NASTY],
        ["clone", "workflow.json", f"{NASTY}.json"],
        ["clone", "workflow.json", "copy.json", "--set", f"{NASTY}.x={NASTY}"],
    ],
    "review": [
        ["workflow.json"],
        [NASTY],
        ["run", "--import", "labels.csv"],
        ["run", "--estimate", "--labels", "labels.csv"],
    ],
    "baseline": [["save", "run"], ["show", NASTY], ["accept", "run", "-o", NASTY]],
    "compare": [["run", NASTY], ["lab.json", "run"], ["run", "--models", NASTY, "b"]],
    "plan": [
        ["run", "--drop", "0.01"],
        [NASTY, "--drop", "0.1"],
        ["run", "--drop", "0.01", "--metric", NASTY],
        ["run", "--drop", "0.01", "--model", NASTY, "--json"],
    ],
    "select": [["run"], ["run", "--json"], [NASTY], ["run", "--suite", NASTY, "-o", NASTY]],
    "history": [["run"], [NASTY]],
    "freeze": [
        ["run", "-o", "frozen.json"],
        ["run", "--case", NASTY, "--model", NASTY, "-o", "out.json"],
        [NASTY, "-o", NASTY],
    ],
    "update": [
        ["k", "--run", "run", "--yes"],
        [NASTY, "--run", "run", "--model", NASTY],
        ["k", "--run", NASTY],
        ["k", "--run", "run", "--condition", NASTY, "--yes"],
    ],
    "verify-run": [
        ["--base", NASTY],
        [NASTY, "--head", NASTY],
        ["run", "--ask", NASTY],
        ["--pytest", '"' + NASTY],
    ],
    "verify-attestation": [[NASTY], ["lab.json", "--record", NASTY], ["lab.json", "--verify-command", NASTY]],
    "explain": [["--report", "run", "--baseline", NASTY], [NASTY, "--report", "run"], ["--report", NASTY]],
    "merge": [["run", "-o", "out"], [NASTY, "-o", "out"]],
    "holdout": [
        ["split", NASTY, "--hidden", "out"],
        ["split", "suite.json", "--hidden", NASTY],
        ["split", "suite.json", "--hidden", "../out", "--open", NASTY],
        ["look", NASTY],
        ["show", NASTY],
    ],
    "mcp": [["--folder", NASTY], ["--folder", "suite.json"], ["--max-runs", "-1"]],
    "mcp-proxy": [
        ["--replay", NASTY],
        ["--replay", "suite.json"],
        ["--pins", "suite.json", "--", NASTY],
        ["--break", NASTY, "--", NASTY],
        ["--http", NASTY],
        ["--", NASTY],
    ],
    "report": [["run"], [NASTY], ["workflow.json"]],
    "schema": [["suite"], [NASTY]],
}


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of files whose every text is hostile."""
    monkeypatch.chdir(tmp_path)
    files = {
        "suite": SUITE,
        "broken": BROKEN,
        "lab": LAB,
        "lost": LOST,
        "workflow": {"evalstudio_workflow": {TEXT: TEXT}, TEXT: TEXT},
    }
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    (tmp_path / "evalstudio.toml").write_text(CONFIG, encoding="utf-8")
    purpose = {"name": TEXT, "purpose": TEXT, "topics": [TEXT], "secrets": [TEXT]}
    lines = (f"{key} = {json.dumps(value)}" for key, value in purpose.items())
    (tmp_path / "purpose.toml").write_text("\n".join(lines), encoding="utf-8")
    rows = [{**ROWS[0], "name": TEXT, "error": ""}, {**ROWS[0], "name": "m"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8", newline="")
    header = {
        "kind": "run",
        "schema_version": 1,
        "finished": TEXT,
        "run_id": TEXT,
        "evaluators": {},
        "models": {},
        "files": [],
    }
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "record.jsonl").write_text(json.dumps(header) + "\n" + TEXT + "\n", encoding="utf-8")
    return tmp_path


def test_every_command_is_attacked() -> None:
    actions = [action for action in parser_of_commands()._actions if action.choices]

    assert sorted(COMMANDS) == sorted(actions[0].choices or ())


@pytest.mark.parametrize(
    "arguments",
    [[name, *more] for name, calls in COMMANDS.items() for more in [*calls, ["--no-such" + NASTY]]],
    ids=lambda call: ascii(call)[:60],
)
def test_a_command_writes_no_control_characters_no_ci_commands_and_nothing_confidential(
    hostile: Path, arguments: list[str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with contextlib.suppress(SystemExit):
        main(arguments)

    output = capfdbinary.readouterr()
    assert output.out + output.err
    assert faults(output.out) == []
    assert faults(output.err) == []
    assert [text for text in LEAKED if text.encode() in output.out + output.err] == []


def test_json_output_still_holds_the_text(hostile: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    from pytest_evalstudio.cli.common import print_json

    print_json({NASTY: [NASTY]})

    output = capfdbinary.readouterr().out
    assert faults(output) == []
    assert json.loads(output) == {NASTY: [NASTY]}


def test_an_ascii_terminal_gets_escapes(tmp_path: Path) -> None:
    (tmp_path / "größe.json").write_text(
        json.dumps({"tests": [{"test_cases": [{"prompt": "x", "condition": "€"}]}]}), encoding="utf-8"
    )

    for environment in (
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ):
        inherited = {
            name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"
        }  # tox sets it
        result = subprocess.run(
            [sys.executable, "-m", "pytest_evalstudio.cli", "validate", "größe.json"],
            cwd=tmp_path,
            env={**inherited, **environment},
            capture_output=True,
            check=False,
        )
        assert result.returncode == 1, result.stderr
        assert b"Traceback" not in result.stderr
        assert b"\\u20ac" in result.stdout
