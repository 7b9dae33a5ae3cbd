"""No file that a run or a command leaves has an address or a secret of any text or key of its sources."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyarrow import parquet

from support.canaries import Canaries, answer
from support.command import evalstudio
from support.project import Project

CONFIG = """
evaluators = [
  "text_matching", "tool_calls", "tool_rules", "tool_arguments", "final_state", "effort", "pii_leakage",
  "sensitive_data_leakage", "lexical_groundedness", "rouge",
]

[comparison]
segments = ["team"]

[[model]]
name = "app"
host = "python"
target = "app:ask"

[evaluator.tool_rules]
rules = [{ tool = "transfer", at_most = 0 }]
"""
APP = """
import json
from pathlib import Path

ANSWERS = json.loads(Path(__file__).with_name("data.json").read_text(encoding="utf-8"))


def ask(prompt):
    answer = ANSWERS[prompt[:3]]
    if "raise" in answer:
        raise RuntimeError(answer["raise"])
    return answer
"""


def expectations(canaries: Canaries, source: str) -> dict[str, Any]:
    """Return the expectations of a test case or a row."""
    text, name, keys = canaries.text, canaries.name, canaries.keys
    return {
        "expected_output": text(f"{source}: expected output"),
        "expected_facts": [text(f"{source}: fact")],
        "guidelines": [text(f"{source}: guideline")],
        "expected_chunks": [text(f"{source}: expected chunk")],
        "expected_documents": [name(f"{source}: expected document")],
        "expected_tool_calls": [
            {"name": "transfer", "arguments": keys(f"{source}: expected arguments")},
            {"name": name(f"{source}: expected tool"), "arguments": {}},
        ],
        "expected_state": {"/all": keys(f"{source}: state"), f"/{name(f'{source}: pointer')}": 5},
        "metadata": {"team": name(f"{source}: segment"), **keys(f"{source}: metadata")},
        "x-note": keys(f"{source}: key of the user's own"),
        "categories": [name(f"{source}: category")],
        "conversation": [
            {"role": "user", "content": text(f"{source}: earlier question")},
            {"role": "assistant", "content": text(f"{source}: earlier answer")},
        ],
    }


def host_answer(canaries: Canaries, source: str) -> dict[str, Any]:
    """Return an answer as an application returns it, with its thoughts in the text."""
    fields = answer(canaries, source)
    thoughts = fields.pop("thoughts")
    names = ("served_model", "request_id", "session")
    kept = {name: value for name, value in fields.items() if name not in names}
    return {"answer": f"<think>{thoughts}</think>{canaries.text(f'{source}: answer')}", **kept}


def condition(canaries: Canaries, source: str) -> str:
    return json.dumps(canaries.name(f"{source}: condition"))


def write_sources(project: Project, canaries: Canaries) -> None:
    """Write an application with a suite and a lab."""
    text, name = canaries.text, canaries.name
    answers: dict[str, Any] = {
        "q1?": host_answer(canaries, "host"),
        "q2?": {"raise": text("host: exception")},
        "q3?": host_answer(canaries, "host: turn"),
    }
    project.write("evalstudio.toml", CONFIG)
    project.write("app.py", APP)
    project.write("data.json", json.dumps(answers))
    project.suite(
        {
            "key": name("suite: key"),
            "prompt": f"q1? {text('suite: prompt')}",
            "condition": condition(canaries, "suite"),
            **expectations(canaries, "suite"),
        },
        {"key": "raises", "prompt": f"q2? {text('suite: prompt that raises')}", "condition": '"x"'},
        {
            "key": "turns",
            "turns": [
                {"prompt": f"q3? {text('turn: prompt')}", "expected_output": text("turn: expected output")},
                {"prompt": f"q3? {text('turn: second prompt')}", "condition": condition(canaries, "turn")},
            ],
        },
    )
    row = {
        "key": name("lab: key"),
        "input": text("lab: input"),
        "actual_output": text("lab: answer"),
        "output_condition": condition(canaries, "lab"),
        "model_key": "m",
        **answer(canaries, "lab"),
        **expectations(canaries, "lab"),
    }
    failed = {"key": "failed", "input": "q", "error": text("lab: error"), "model_key": "m"}
    project.lab(row, failed, model_type="h2ogpte")


def files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a folder with those inside of archives."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield from _contents(str(path.relative_to(folder)), path.read_bytes())


def _contents(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    yield name, content
    if name.endswith(".html"):
        for block in re.findall(rb"H4sI[A-Za-z0-9+/=]+", content):
            yield f"{name} (block)", gzip.decompress(base64.b64decode(block))
    if name.endswith(".parquet"):
        yield f"{name} (rows)", str(parquet.read_table(io.BytesIO(content)).to_pylist()).encode()
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for inside in archive.namelist():
                yield from _contents(f"{name}/{inside}", archive.read(inside))


def leaks(project: Project, canaries: Canaries) -> list[str]:
    """Return where a position of the sources is in clear, in all files but the sources."""
    sources = {"evalstudio.toml", "app.py", "data.json", "sums_suite.json", "answers_lab.json"}
    return [
        f"{name}: {position}"
        for name, content in files_below(project.folder)
        if name not in sources
        for position in canaries.leaks(content)
    ]


def test_a_run_and_what_is_made_of_it_have_no_text_of_the_sources_in_clear(project: Project) -> None:
    canaries = Canaries()
    write_sources(project, canaries)

    result = project.run(
        *("sums_suite.json", "answers_lab.json", "-rA", "-v", "--junitxml=junit.xml"),
        *("--evalstudio-code-quality=quality.json", "--evalstudio-sarif=run.sarif"),
        "--evalstudio-history=history",
    )
    project.write("output.txt", result.stdout.str() + result.stderr.str())
    assert "INTERNALERROR" not in result.stdout.str()
    for arguments in (
        ("baseline", "save", "-o", "baseline.jsonl", "--allow-errors"),
        ("freeze", "evalstudio-report", "-o", "frozen_suite.json"),
        ("history", "history"),
        ("compare", "baseline.jsonl", "evalstudio-report"),
    ):
        command = evalstudio(*arguments, folder=project.folder)
        assert command.returncode == 0, (arguments, command.stderr, command.stdout)
        project.write(f"{arguments[0]}.txt", command.stdout + command.stderr)

    names = [name for name, _ in files_below(project.folder)]
    assert {"evalstudio-report/record.jsonl", "evalstudio-report/evalstudio-report.zip/record.jsonl"} < {
        *names
    }
    assert any("(block)" in name for name in names)
    assert any("(rows)" in name for name in names)
    assert leaks(project, canaries) == []


def test_a_leak_in_any_file_is_seen(project: Project) -> None:
    canaries = Canaries()
    write_sources(project, canaries)
    assert leaks(project, canaries) == []
    project.write("copy.zip", packed({"data.json": (project.folder / "data.json").read_bytes()}))
    positions = {position.partition(": ")[2] for position in leaks(project, canaries)}
    assert {"host: answer", "host: call 0 arguments, nested", "host: turn: kind of tokens"} < positions
    assert len(positions) > 50


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
