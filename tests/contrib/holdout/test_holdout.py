"""A hidden half: split, looks within a ration, and nothing of it where an agent can read."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.holdout.agent_part import HiddenHalfPart
from pytest_evalstudio.contrib.holdout.folder import HiddenHalf, create
from pytest_evalstudio.contrib.holdout.look import LookAnswer, LookCode, entry_of, rationed
from pytest_evalstudio.contrib.holdout.split import split_suite
from pytest_evalstudio.formats.config import HoldoutTable
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.record.holdout import GapCode, HalfCounts
from support import command
from support.command import Result

KEY = "0123456789abcdef" * 3
COMMAND = [sys.executable, "-m", "pytest_evalstudio.cli"]
CONFIGURATION = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:answer"

[holdout]
looks = 3
"""
FITTED = """
import json, pathlib
CASES = json.loads(pathlib.Path(__file__).with_name("open_suite.json").read_text())["tests"][0]["test_cases"]
REPLIES = {case["prompt"]: case["condition"].strip('"') for case in CASES}


def answer(prompt):
    return REPLIES.get(prompt, "I do not know.")
"""
GOOD = """
def answer(prompt):
    return f"needle {prompt.split()[-1]}"
"""
SPY = """
import gc, os, pathlib, sys
NOTES = pathlib.Path(__file__).with_name("notes.txt")
MEMORY = []


def answer(prompt):
    print("printed", prompt)
    for each in gc.get_objects() if not NOTES.exists() else ():
        texts = each.values() if isinstance(each, dict) else each if isinstance(each, (list, tuple)) else ()
        for text in list(texts):
            if isinstance(text, str) and ("needle" in text or "canary" in text):
                MEMORY.append(text)
    with NOTES.open("a") as file:
        file.writelines(f"MEMORY {text}\\n" for text in MEMORY)
        MEMORY.clear()
        file.write(f"ENVIRONMENT {dict(os.environ)} {sys.argv}\\n")
    if "13" in prompt:
        raise RuntimeError(f"failed at {prompt}")
    return "I do not know."
"""


def write_project(folder: Path, application: str, count: int = 90) -> None:
    folder.mkdir(parents=True)
    cases = [
        {
            "key": f"canary-key-{number}",
            "prompt": f"What is canary {number:03d}",
            "condition": f'"needle {number:03d}"',
        }
        for number in range(count)
    ]
    (folder / "all_suite.json").write_text(json.dumps({"name": "S", "tests": [{"test_cases": cases}]}))
    (folder / "evalstudio.toml").write_text(CONFIGURATION)
    (folder / "app.py").write_text(application)


def evalstudio(
    folder: Path, *arguments: str, status: int = 0, **environment: str
) -> Result | subprocess.CompletedProcess[str]:
    """Run a command; one that asks the application gets a process of its own."""
    variables = {"PYTHONDONTWRITEBYTECODE": "1", "EVALSTUDIO_HOLDOUT_KEY": KEY, **environment}
    result: Result | subprocess.CompletedProcess[str]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            if value:
                patch.setenv(name, value)
            else:
                patch.delenv(name, raising=False)
        if "look" in arguments:
            result = subprocess.run(
                [*COMMAND, *arguments], cwd=folder, capture_output=True, text=True, timeout=120
            )
        else:
            result = command.evalstudio(*arguments, folder=folder)
    assert result.returncode == status, result.stdout + result.stderr
    return result


def split(folder: Path, *arguments: str, **environment: str) -> Path:
    hidden = folder.parent / "private"
    evalstudio(
        folder, "holdout", "split", "all_suite.json", "--hidden", str(hidden), *arguments, **environment
    )
    return hidden


def separate(folder: Path, application: str, **environment: str) -> Path:
    """Return the folder of the hidden half of a new project that has the open half alone."""
    write_project(folder, application)
    hidden = split(folder, "--open", "open_suite.json", **environment)
    (folder / "all_suite.json").unlink()
    return hidden


def numbers(suite: Path) -> set[str]:
    return {case.prompt[-3:] for _, case in TestSuite.load(suite).cases()}


def read_files(*folders: Path) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file():
                yield path, path.read_bytes().decode("utf-8", "replace")


def test_a_split_puts_each_case_into_one_half_and_depends_on_the_key(tmp_path: Path) -> None:
    hidden = separate(tmp_path / "one" / "project", GOOD, EVALSTUDIO_HOLDOUT_KEY="")
    open_cases, hidden_cases = (
        numbers(tmp_path / "one" / "project" / "open_suite.json"),
        numbers(hidden / "hidden_suite.json"),
    )
    assert open_cases | hidden_cases == {f"{number:03d}" for number in range(90)}
    assert not open_cases & hidden_cases
    other = separate(tmp_path / "two" / "project", GOOD, EVALSTUDIO_HOLDOUT_KEY="")
    assert numbers(other / "hidden_suite.json") != hidden_cases
    assert {path.stat().st_mode & 0o077 for path in [hidden, *hidden.iterdir()]} == {0}


def test_perturbed_cases_go_with_their_originals() -> None:
    suite = TestSuite.model_validate(
        {
            "tests": [
                {
                    "test_cases": [
                        {"key": f"{kind}{number}", "prompt": f"{kind} {number}?"}
                        | (
                            {}
                            if kind == "a"
                            else {
                                "relationships": [
                                    {
                                        "type": "perturbation_source",
                                        "target": f"a{number}",
                                        "target_type": "test_case",
                                    }
                                ]
                            }
                        )
                        for number in range(50)
                        for kind in "ab"
                    ]
                }
            ]
        }
    )
    halves = split_suite(suite, b"k" * 32, 0.5)
    hidden = {case.key for _, case in halves.hidden.cases()}
    assert 20 < len(hidden) < 80
    assert {key[1:] for key in hidden if key[0] == "a"} == {key[1:] for key in hidden if key[0] == "b"}


def test_an_application_that_knows_the_open_answers_is_fitted_and_the_ration_ends(tmp_path: Path) -> None:
    project = tmp_path / "project"
    hidden = separate(project, FITTED)
    first = evalstudio(project, "holdout", "look", str(hidden), status=1).stdout
    assert first.startswith("open 100 %, hidden ")
    assert "the suite was fitted" in first
    assert "look 1 of 3" in first
    second = evalstudio(project, "holdout", "look", str(hidden), status=1).stdout
    assert second == first.replace("look 1", "look 2")  # the same noise: nothing to average
    (project / "app.py").write_text(GOOD)
    third = json.loads(evalstudio(project, "holdout", "look", str(hidden), "--json").stdout)
    assert third["code"] == LookCode.AGREES
    assert third["hidden_rate"] is None
    refusal = evalstudio(project, "holdout", "look", str(hidden), status=2)
    assert "the ration of 3 looks at the hidden half is spent" in refusal.stderr
    assert refusal.stdout == ""
    lines = evalstudio(project, "holdout", "show", str(hidden)).stdout.splitlines()
    assert lines[0].startswith("look 1: open 100 %, hidden 0 %, gap +100 points [")
    assert lines[0].endswith("the suite was fitted")
    assert lines[-1] == "3 of 3 looks spent"


def test_compare_and_report_of_looks_state_the_gap_to_the_holder_of_the_key(tmp_path: Path) -> None:
    project = tmp_path / "project"
    hidden = separate(project, GOOD)
    evalstudio(project, "holdout", "look", str(hidden))
    (project / "app.py").write_text(FITTED)
    evalstudio(project, "holdout", "look", str(hidden), status=1)
    looks = [str(hidden / "looks" / number) for number in ("001", "002")]
    comparison = evalstudio(project, "compare", *looks, status=1).stdout
    (note,) = [
        line for line in comparison.splitlines() if line.startswith("note: open_suite.json: open 100 %")
    ]
    assert "the suite was fitted; in the base run: open 100 %, hidden 100 %" in note
    assert "segment category hidden half" in comparison
    evalstudio(project, "report", f"{looks[1]}/record.jsonl", "-o", str(tmp_path / "report"))
    page = (tmp_path / "report" / "interpretation.html").read_text(encoding="utf-8")
    assert "Open and hidden half" in page
    assert "the suite was fitted" in page


@pytest.mark.parametrize("status", [0, 2])
def test_a_look_leaves_nothing_of_hidden_cases_where_the_agent_reads(tmp_path: Path, status: int) -> None:
    project = tmp_path / "project"
    hidden = separate(project, SPY if status == 0 else "raise RuntimeError('no')\n")
    other = tmp_path / "elsewhere"
    for name in ("tmp", "home", "cache"):
        (other / name).mkdir(parents=True)
    environment = {
        "TMPDIR": str(other / "tmp"),
        "HOME": str(other / "home"),
        "XDG_CACHE_HOME": str(other / "cache"),
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(other / "summary.md"),
        "PYTEST_ADDOPTS": f"--junitxml={other / 'junit.xml'}",
    }
    result = evalstudio(project, "holdout", "look", str(hidden), status=status, **environment)
    secret = numbers(hidden / "hidden_suite.json")
    contents = [*read_files(project, other), (Path("output"), result.stdout + result.stderr)]
    assert len(contents) > 3
    # What the application writes itself is the limit that security.md states: it sees the questions.
    for path, content in contents:
        for number in secret:
            assert f"needle {number}" not in content, path
            assert f"canary-key-{int(number)}\n" not in content, path
            if path.name != "notes.txt":
                assert f"canary {number}" not in content, path
    notes = "".join(content for path, content in contents if path.name == "notes.txt")
    if status == 0:
        assert "ENVIRONMENT" in notes
        assert "MEMORY What is canary" in notes  # so it would have seen an expectation, too
        assert (hidden / "looks" / "001" / "record.jsonl").is_file()
    assert str(hidden) not in notes


def test_no_key_no_folder_and_no_order_of_the_halves_reach_the_application(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_project(project, SPY)
    hidden = split(project, "--open", "open_suite.json")
    assert not (hidden / "key").exists()
    evalstudio(project, "holdout", "look", str(hidden), status=2, EVALSTUDIO_HOLDOUT_KEY="")
    evalstudio(project, "holdout", "look", str(hidden), status=2, EVALSTUDIO_HOLDOUT_KEY=KEY[::-1])
    evalstudio(project, "holdout", "look", str(hidden))
    notes = (project / "notes.txt").read_text()
    assert KEY not in notes
    secret = numbers(hidden / "hidden_suite.json")
    questions = [
        line.split()[-1] for line in (hidden / "looks" / "001" / "output.txt").read_text().splitlines()
    ]
    order = [number in secret for number in questions if number.isdigit()]
    changes = sum(first != second for first, second in itertools.pairwise(order))
    assert changes > 20


def test_the_process_that_asks_is_started_by_the_command_of_the_split(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write_project(project, GOOD)
    hidden = split(project, "--open", "open_suite.json", "--ask-with", "env AS_ANOTHER=1")
    (project / "app.py").write_text(
        "import os\n\n\ndef answer(prompt):\n"
        "    return f\"needle {prompt.split()[-1]}\" if os.environ.get('AS_ANOTHER') else ''\n"
    )
    assert evalstudio(project, "holdout", "look", str(hidden)).stdout.startswith("open 100 %, hidden about")


def test_edits_of_the_project_move_neither_settings_nor_the_hidden_half(tmp_path: Path) -> None:
    project = tmp_path / "project"
    hidden = separate(project, "def answer(prompt):\n    return 'I do not know.'\n")
    suite = project / "open_suite.json"
    suite.write_text(suite.read_text().replace('"condition": "\\"needle', '"condition": "NOT \\"needle'))
    text = (project / "evalstudio.toml").read_text()
    (project / "evalstudio.toml").write_text(text.replace("looks = 3", "looks = 99\ntolerance = 0.9"))
    answer = evalstudio(project, "holdout", "look", str(hidden), status=1).stdout
    assert answer.startswith("open 100 %, hidden ")
    assert "the suite was fitted" in answer
    assert "look 1 of 3" in answer


def test_a_ledger_that_was_changed_without_the_key_is_refused(tmp_path: Path) -> None:
    project = tmp_path / "project"
    hidden = separate(project, GOOD)
    evalstudio(project, "holdout", "look", str(hidden))
    ledger = hidden / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('"look":1', '"look":0'))
    refused = evalstudio(project, "holdout", "look", str(hidden), status=2)
    assert "ledger.jsonl:1:1: was changed without the key" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--hidden", "inside"], "is inside the repository"),
        (["--hidden", "../private", "--share", "1.5"], "--share 1.5: "),
        (["--hidden", "../private", "--share", "0.05"], "hidden cases are too few"),
        (["--hidden", "../private", "--open", "open.yaml"], "give a file with the suffix .json"),
    ],
)
def test_a_split_that_would_hide_nothing_is_refused(tmp_path: Path, arguments: list[str], fault: str) -> None:
    write_project(tmp_path / "project", GOOD)
    result = evalstudio(tmp_path / "project", "holdout", "split", "all_suite.json", *arguments, status=2)
    assert fault in result.stderr
    assert not (tmp_path / "private").exists()


def half_of(folder: Path, key: bytes, **settings: Any) -> HiddenHalf:
    create(
        folder,
        key=key,
        suite_path="open_suite.json",
        is_shared=False,
        hidden=TestSuite(),
        table=HoldoutTable(**settings),
        scoring={},
        ask_with=(),
    )
    (folder / "key").write_bytes(key)
    return HiddenHalf(folder)


def answer_to(half: HiddenHalf, open_passed: int, passes: Mapping[str, bool], look: int = 1) -> LookAnswer:
    counts = HalfCounts(passed=open_passed, total=100)
    hidden = HalfCounts(passed=sum(passes.values()), total=len(passes))
    return rationed(half, entry_of(half, look, counts, hidden), passes)


def test_noise_changes_with_the_hidden_results_and_the_key_alone(tmp_path: Path) -> None:
    passes = {f"c{number}": number < 60 for number in range(100)}
    half = half_of(tmp_path / "one", b"a" * 32)
    answers = {
        answer_to(half, open_passed, passes, look).hidden_rate
        for look, open_passed in enumerate((90, 95, 100), 1)
    }
    assert len(answers) == 1
    others = {
        answer_to(half, 100, {**passes, f"c{number}": not passes[f"c{number}"]}).hidden_rate
        for number in range(40)
    }
    assert len(others) > 3
    keys = {
        answer_to(half_of(tmp_path / f"key{number}", bytes([65 + number]) * 32), 100, passes).hidden_rate
        for number in range(20)
    }
    assert len(keys) > 3


def test_figures_of_the_hidden_half_are_given_where_the_halves_differ_alone(tmp_path: Path) -> None:
    half = half_of(tmp_path / "one", b"a" * 32)
    close = answer_to(half, 93, {f"c{number}": number < 90 for number in range(100)})
    assert (close.code, close.hidden_rate, close.gap) == (LookCode.AGREES, None, None)
    far = answer_to(half, 93, {f"c{number}": number < 40 for number in range(100)})
    assert far.code is LookCode.DIFFERS
    assert far.gap is GapCode.FITTED
    assert far.low is not None
    assert far.high is not None
    assert far.low < 0.53 < far.high


async def _tools(project: Path, hidden: Path) -> str:
    """Return all that the server says: tools, resources, runs of all and of hidden cases."""
    from mcp import Client, StdioServerParameters, stdio_client

    server = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp"],
        cwd=project,
        env={
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "1",
            "EVALSTUDIO_HOLDOUT": str(hidden),
            "EVALSTUDIO_HOLDOUT_KEY": KEY,
        },
    )
    outputs = []
    with open(project.parent / "stderr.txt", "w") as log:
        async with Client(stdio_client(server, errlog=log)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "hidden_half" in names
            secret = min(numbers(hidden / "hidden_suite.json"))
            calls: list[tuple[str, dict[str, Any]]] = [
                ("list_suites", {}),
                ("list_suites", {"file": "all_suite.json"}),
                ("run", {}),
                ("run", {"cases": [f"canary-key-{int(secret)}"]}),
                *(("failures", {"page": page}) for page in range(1, 12)),
                ("case", {"key": f"canary-key-{int(secret)}"}),
                ("compare", {}),
                ("explain", {}),
                ("hidden_half", {}),
            ]
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                outputs.append("".join(part.text for part in result.content))
            for uri in ("evalstudio://report", "evalstudio://record"):
                content = await client.read_resource(uri)
                outputs.append("".join(part.text for part in content.contents))
    outputs += [content for path, content in read_files(project) if path.name != "all_suite.json"]
    return "\n".join(outputs)


def test_a_server_hides_cases_that_the_suite_of_the_project_still_has(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    project = tmp_path / "project"
    write_project(project, "def answer(prompt):\n    return 'I do not know.'\n")
    hidden = split(project)
    secret = numbers(hidden / "hidden_suite.json")
    outputs = asyncio.run(_tools(project, hidden))
    assert f"{90 - len(secret)} tests" in outputs
    assert "hidden about the same, within 10 points (look 1 of 3)" in outputs
    asked_by_name = f"canary-key-{int(min(secret))}"
    for number in secret:
        assert f"canary {number}" not in outputs
        assert f"needle {number}" not in outputs
        key = f"canary-key-{int(number)}"
        assert key == asked_by_name or f"{key}[" not in outputs


def test_a_server_shows_an_open_case_whose_key_begins_like_that_of_a_hidden_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSTUDIO_HOLDOUT_KEY", KEY)
    content = {"name": "S", "tests": [{"key": "t", "documents": [], "test_cases": []}]}

    def suite(*keys: str) -> str:
        content["tests"][0]["test_cases"] = [{"key": key, "prompt": key, "condition": '"4"'} for key in keys]
        return json.dumps(content)

    for name, keys in {"all_suite.json": ("a", "a-open"), "hidden_suite.json": ("a",)}.items():
        (tmp_path / name).write_text(suite(*keys))
    hidden = TestSuite.load(tmp_path / "hidden_suite.json")
    create(
        tmp_path / "hidden",
        key=KEY.encode(),
        suite_path="all_suite.json",
        is_shared=True,
        hidden=hidden,
        table=HoldoutTable(),
        scoring={},
        ask_with=(),
    )
    part = HiddenHalfPart(HiddenHalf(tmp_path / "hidden"), tmp_path)
    (tmp_path / "all_suite.json").write_text(suite("a", "a-open", "a-comma"))  # the agent adds a case

    names = ("a", "a-comma", "a-comma-comma", "a-open", "a-open-comma", "b", "ab")
    assert [name for name in names if part.hides(f"all_suite.json::{name}[app]")] == [
        "a",
        "a-comma",
        "a-comma-comma",
    ]
