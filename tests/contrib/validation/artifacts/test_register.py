"""`evalstudio mrm findings`: the register of findings and challenges."""

from __future__ import annotations

import csv
import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.contrib.validation.artifacts.register import (
    RegisterEntry,
    added,
    change_register,
    read_register,
)
from pytest_evalstudio.contrib.validation.artifacts.summary import step_problems
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.contrib.validation.workflow_file import read_workflow
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.kinds import read_source
from support.signing import home, run_step, sign

HEADER = "id,kind,severity,description,owner,due,status,evidence\n"
TEXT = "Fees of joint accounts are mixed up."


def workflow_run_of(workflow: Path) -> WorkflowRun:
    config = configuration({"evaluators": ["text_matching", "lexical_groundedness"]}, folder=workflow.parent)
    return WorkflowRun(read_workflow(read_source(workflow)), workflow, config, Registry())


def findings(workflow: Path, *arguments: str) -> int:
    return main(["mrm", "findings", str(workflow), *arguments])


def card(workflow: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((home(workflow) / "model_card.json").read_text(encoding="utf-8"))
    return content


def test_a_finding_counts_stays_and_makes_sign_offs_void(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert findings(workflow) == 0
    assert "the register is empty" in capsys.readouterr().out
    assert sign(workflow, "--name", "Ada") == 0
    new = ("--add", TEXT, "--name", "Bo", "--severity", "high", "--owner", "Cy", "--due", "2020-01-31")
    assert findings(workflow, *new) == 0
    output = capsys.readouterr().out
    assert f"F-1   high   open        {TEXT}  (owner Cy; due 2020-01-31 OVERDUE)" in output
    assert "1 in the register, 1 open" in output
    assert "register of findings findings.csv was added" in card(workflow)["sign_offs"][0]["void"]
    run_step(workflow, "automated_evaluation")
    assert main(["mrm", "report", str(workflow)]) == 0
    weaknesses = {entry["description"]: entry for entry in card(workflow)["weaknesses"]}
    assert weaknesses[TEXT]["step"] == "F-1, raised by Bo"
    assert f"F-1, raised by Bo: {TEXT}" in card(workflow)["conclusion"]["decided_by"]
    for name in ("workflow_report.html", "model_card.html", "model_card.md", "workflow_summary.md"):
        assert TEXT.rstrip(".") in (home(workflow) / name).read_text(encoding="utf-8")


def test_a_closed_finding_does_not_count_and_an_accepted_one_is_a_limit(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    findings(workflow, "--add", TEXT, "--name", "Bo", "--severity", "high")
    assert findings(workflow, "--close", "F-1") == 2
    assert "state the evidence" in capsys.readouterr().err
    assert findings(workflow, "--close", "F-9", "--evidence", "x") == 2
    assert "there is no such finding; the register has F-1" in capsys.readouterr().err
    assert findings(workflow, "--accept", "F-1", "--evidence", "Only staff asks.") == 0
    assert f"F-1, raised by Bo: {TEXT}" in card(workflow)["conclusion"]["limits"]
    assert findings(workflow, "--close", "F-1", "--evidence", "Prompt corrected.") == 0
    assert TEXT not in str(card(workflow)["conclusion"])
    assert card(workflow)["register"][0]["evidence"] == "Prompt corrected."


def test_a_challenge_is_recorded_with_its_answer(workflow: Path) -> None:
    question = "Why is no answer in German tested?"
    assert findings(workflow, "--challenge", question, "--name", "Bo") == 0
    assert findings(workflow) == 1, "an open entry"
    assert findings(workflow, "--close", "C-1", "--evidence", "The documents are English.") == 0
    (entry,) = read_register(home(workflow) / "findings.csv")
    assert (entry.kind, entry.description, entry.evidence) == (
        "challenge",
        question,
        "The documents are English.",
    )
    assert question not in str(card(workflow)["weaknesses"]), "a challenge is no weakness"


def test_the_register_goes_out_as_csv_and_comes_back(workflow: Path, tmp_path: Path) -> None:
    findings(workflow, "--add", "=1+1", "--name", "Bo")
    findings(workflow, "--add", "b", "--name", "Bo")
    sheet = tmp_path / "sheet.csv"
    findings(workflow, "--csv", str(sheet))
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["description"] for row in rows] == ["'=1+1", "b"], "no formula for a spreadsheet"
    rows[1] |= {"status": "closed", "evidence": "done"}
    rows.append({**rows[0], "id": "AUDIT-7", "description": "c"})
    with open(sheet, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows[1:])
    findings(workflow, "--import", str(sheet))
    entries = read_register(home(workflow) / "findings.csv")
    assert [(entry.id, entry.description, entry.status) for entry in entries] == [
        ("F-1", "=1+1", "open"),
        ("F-2", "b", "closed"),
        ("AUDIT-7", "c", "open"),
    ]


def test_problems_of_the_steps_are_collected_once(workflow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mrm", "report", str(workflow)]) == 0
    problems = [entry["description"] for entry in card(workflow)["weaknesses"]]
    assert problems
    findings(workflow, "--collect")
    findings(workflow, "--collect")
    capsys.readouterr()
    findings(workflow, "--json")
    entries = json.loads(capsys.readouterr().out)
    assert [entry["description"] for entry in entries] == problems
    assert all(entry["step"] for entry in entries)
    descriptions = [entry["description"] for entry in card(workflow)["weaknesses"]]
    assert descriptions == problems, "a problem counts once"


def test_a_problem_of_a_step_stays_one_when_a_person_raises_it_too(workflow: Path) -> None:
    run = workflow_run_of(workflow)
    before = step_problems(run)
    assert before[0]
    findings(workflow, "--add", before[0][0].description, "--name", "Bo", "--severity", "high")
    assert step_problems(run) == before


def test_a_finding_that_another_process_adds_meanwhile_is_kept(workflow: Path) -> None:
    calls: list[int] = []

    def change(register: tuple[RegisterEntry, ...]) -> tuple[RegisterEntry, ...]:
        calls.append(len(register))
        if len(calls) == 1:
            findings(workflow, "--add", "theirs", "--name", "Cy")
        return added(register, RegisterEntry(id="", description="ours", raised_by="Bo"))

    register, is_changed = change_register(workflow_run_of(workflow), change)
    assert is_changed
    assert [(entry.id, entry.description) for entry in register] == [("F-1", "theirs"), ("F-2", "ours")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        pytest.param(",finding,high,x,,,open,", "id is empty", id="id"),
        pytest.param("F-1,finding,high,,,,open,", "description is empty", id="description"),
        pytest.param(
            "F-1,finding,huge,x,,,open,",
            "severity 'huge' is unknown; write one of high, medium",
            id="severity",
        ),
        pytest.param(
            "F-1,note,high,x,,,open,", "kind 'note' is unknown; write one of finding, challenge", id="kind"
        ),
        pytest.param(
            "F-1,finding,high,x,,,done,", "status 'done' is unknown; write one of open", id="status"
        ),
        pytest.param("F-1,finding,high,x,,31.1.26,open,", "due '31.1.26' is not a date", id="date"),
        pytest.param("F-1,finding,high,x,,,closed,", "F-1 is closed without evidence", id="evidence"),
        pytest.param("F-1,,low,x,,,,\nF-1,,low,y,,,,", "id 'F-1' occurs twice", id="twice"),
    ],
)
def test_a_wrong_row_is_named_by_its_line(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "findings.csv"
    path.write_text(HEADER + row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=message) as exc_info:
        read_register(path)
    assert f"findings.csv:{2 + row.count(chr(10))}: " in str(exc_info.value)


def test_an_entry_is_overdue_from_the_day_after() -> None:
    day = datetime.date(2026, 1, 31)
    entry = RegisterEntry(id="F-1", description="x", due=day.isoformat())
    assert not entry.is_overdue(day)
    assert entry.is_overdue(day + datetime.timedelta(days=1))
    closed = RegisterEntry(id="F-1", description="x", due=day.isoformat(), status="closed", evidence="e")
    assert not closed.is_overdue(day + datetime.timedelta(days=1))


def test_new_findings_need_words_a_name_and_known_values(
    workflow: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert findings(workflow, "--add", TEXT) == 2
    assert "needs --add TEXT (what was found) and --name" in capsys.readouterr().err
    assert findings(workflow, "--add", TEXT, "--name", "Bo", "--severity", "huge") == 2
    assert "severity 'huge' is unknown; write one of" in capsys.readouterr().err


def test_findings_of_steps_link_to_their_cases(workflow: Path) -> None:
    findings(workflow, "--collect")
    content = card(workflow)
    with_cases = [entry for entry in content["register"] if entry["cases"]]
    assert with_cases
    keys = {key for entry in with_cases for key in entry["cases"]}
    assert set(content["case_links"]) == keys
    page = (home(workflow) / "workflow_report.html").read_text(encoding="utf-8")
    for key, link in content["case_links"].items():
        assert link.startswith("4_automated_evaluation/interpretation.html#case=")
        assert f'<a href="{link}"><bdi>{key}</bdi></a>' in page
    (row, *_) = csv.DictReader((home(workflow) / "findings.csv").read_text("utf-8-sig").splitlines())
    assert row["cases"] == "; ".join(content["register"][0]["cases"])


def test_cases_of_an_imported_register_are_read(workflow: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("id,description,severity,status,cases\nF-1,Wrong.,high,open,a_1; b_2\n", encoding="utf-8")
    assert findings(workflow, "--import", str(path)) == 0
    assert card(workflow)["register"][0]["cases"] == ["a_1", "b_2"]
    assert card(workflow)["case_links"] == {}, "no record has such cases"
