"""`evalstudio review REPORT`: from a run with uncertain verdicts over a sheet to a calibration, and what it
prints.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.calibration.review.server import ReviewServer
from pytest_evalstudio.formats.labels import read_labels, read_ratings
from support.children import LONGEST_WAIT_S, Children
from support.labelled_answers import record_of
from support.project import Project
from support.review_workflows import workflow
from tests.contrib.calibration.review.reports import CHANCES, UNCERTAIN, report, session
from tests.contrib.calibration.review.test_server import Client

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
OTHERS = ["apple", "banana", "cherry", "lemon", "orange", "peach", "plum", "melon", "grape", "olive"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    report(tmp_path / "evalstudio-report")
    return Path("evalstudio-report")


def rows_of(sheet: Path) -> list[dict[str, str]]:
    with open(sheet, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(sheet: Path, labels: dict[str, int]) -> None:
    """Write labels into a sheet, by key."""
    rows = rows_of(sheet)
    with open(sheet, "w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"label": str(labels[row["key"]])} for row in rows)


def test_from_a_run_with_uncertain_verdicts_to_a_calibration(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = Project(pytester)
    share = {f"c{number:03}": number % 11 for number in range(88)}
    lines = {
        key: " ".join([*WORDS[:word_count], *OTHERS[word_count:], f"word{number}"])
        for number, (key, word_count) in enumerate(share.items())
    }
    rows = [
        {
            "key": key,
            "input": "Letters?",
            "actual_output": line,
            "context": [f"{' '.join(WORDS)} word{number}"],
        }
        for number, (key, line) in enumerate(lines.items())
    ]
    project.lab(*rows)
    saved = {
        "evalstudio_calibration": 1,
        "method": "logistic",
        "metrics": [{"evaluator": "lexical_groundedness", "metric": "supported_words", "better": "higher"}],
        "curve": {
            "kind": "logistic",
            "intercept": 0.0,
            "weights": [4.0],
            "means": [0.5],
            "scales": [0.3],
            "logs": [False],
        },
        "labels": 50,
        "conformal": {"alpha": 0.1, "quantile": 0.95, "labels": 49},
    }
    project.write("saved.json", json.dumps(saved))
    project.write(
        "evalstudio.toml",
        'evaluators = ["lexical_groundedness"]\n[evaluator.lexical_groundedness]\ncalibration ='
        ' "saved.json"\n',
    )
    project.run("answers_lab.json")
    _, items = project.record()
    verdicts = {item["key"]: item["verdicts"]["lexical_groundedness"] for item in items.values()}
    uncertain = {key for key, verdict in verdicts.items() if verdict["uncertain"]}
    assert 28 <= len(uncertain) < 88
    monkeypatch.chdir(project.folder)
    sheet = project.folder / "sheet.csv"

    capsys.readouterr()
    assert main(["review", "evalstudio-report", "--export", str(sheet)]) == 0
    assert (
        capsys.readouterr().out == f"wrote {len(uncertain)} answers to {sheet}; --import reads the labels\n"
    )
    sheet_rows = rows_of(sheet)
    assert {row["key"] for row in sheet_rows} == uncertain
    assert all(row["answer"] == lines[row["key"]] for row in sheet_rows)
    assert all(row["verdict"] == ("good" if verdicts[row["key"]]["passed"] else "bad") for row in sheet_rows)
    fill(sheet, {key: int(share[key] >= 5 if key != "c005" else 0) for key in uncertain})

    assert main(["review", "evalstudio-report", "--import", str(sheet)]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == f"{sheet}: {len(uncertain)} new labels, 0 changed, 0 as they were"
    command = (
        "evalstudio calibrate evalstudio-report labels.csv --metric lexical_groundedness.supported_words"
    )
    assert second.startswith(f"{len(uncertain)} of {len(uncertain)} answers labelled, in ")
    assert second.endswith(f"; `{command}` goes on")
    assert third.startswith("labels of uncertain answers alone are no sample of all")
    assert {key for key, _ in read_labels(Path("labels.csv"))} == uncertain

    assert main(shlex.split(command)[1:]) == 0
    assert f"{len(uncertain)} labelled answers" in capsys.readouterr().out

    assert main(["review", "evalstudio-report", "--all", "--export", str(sheet), "--labels", "all.csv"]) == 0
    fill(sheet, {key: int(word_count >= 5) for key, word_count in share.items()})
    assert main(["review", "evalstudio-report", "--all", "--import", str(sheet), "--labels", "all.csv"]) == 0
    output = capsys.readouterr().out.splitlines()[-1]
    assert output.endswith(
        "; `evalstudio calibrate evalstudio-report all.csv --metric lexical_groundedness.supported_words`"
        " goes on"
    )
    assert main([*shlex.split(re.findall("`(.*)`", output)[0])[1:], "-o", "new.json"]) == 0
    assert "88 labelled answers, 48 of them good" in capsys.readouterr().out
    assert (
        json.loads(Path("new.json").read_text(encoding="utf-8"))["metrics"][0]["metric"] == "supported_words"
    )


def test_nothing_uncertain_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = report(tmp_path / "r", {"good": 0.95, "bad": 0.04})
    sheet = tmp_path / "sheet.csv"
    for options in ([], ["--export", str(sheet)]):
        assert main(["review", str(place), "--labels", str(tmp_path / "labels.csv"), *options]) == 0
        output = capsys.readouterr().out
        assert (
            output
            == f"{place}: no verdict by words.calibrated_probability is uncertain, of 2 answers; --all asks"
            " for all of them\n"
        )
    assert not sheet.exists()


def test_a_sheet_of_a_run_without_a_calibration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = record_of(tmp_path / "r", [0.1, 0.4, 0.9]).parent
    assert main(["review", str(place)]) == 2
    assert "no calibration yet" in capsys.readouterr().err
    sheet = tmp_path / "sheet.csv"
    assert main(["review", str(place), "--all", "--metric", "quality.quality", "--export", str(sheet)]) == 0
    assert {row["key"]: row["quality.quality"] for row in rows_of(sheet)} == {
        "k000": "0.1",
        "k001": "0.4",
        "k002": "0.9",
    }


@pytest.mark.parametrize("options", [["--metric", "words.supported"], ["--all"], ["--labels", "labels.csv"]])
def test_a_workflow_says_itself_what_is_labelled(
    tmp_path: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["review", str(workflow(tmp_path)), *options]) == 2
    assert "--metric, --all, --budget and --labels are for a report" in capsys.readouterr().err


def test_a_report_needs_no_configuration(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", str(place), "--config", "evalstudio.toml"]) == 2
    assert "--config is for a workflow" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT for one process")
def test_the_page_ends_with_the_command_that_goes_on(place: Path, tmp_path: Path, children: Children) -> None:
    command = [sys.executable, "-m", "pytest_evalstudio.cli", "review", str(place), "--no-browser"]
    process = children.start(command, tmp_path)
    process.wait_until(lambda: "the page is at http://127.0.0.1:" in process.out, "the address")
    process.send_signal(signal.SIGINT)
    output, errors, status = process.finish()
    first, _, *lines = output.splitlines(keepends=True)
    rest = "".join(lines)
    assert first == f"0 of 3 answers labelled, in {tmp_path / 'labels.csv'}\n"
    goes_on = (
        "`evalstudio calibrate evalstudio-report labels.csv --metric words.supported` goes on when there are"
        " enough"
    )
    assert (
        f"{goes_on}; the same review asks for the others\nlabels of uncertain answers alone are no sample"
        in rest
    )
    assert (status, errors) == (0, "")


def test_the_page_is_served_and_labels_are_kept(tmp_path: Path) -> None:
    server = ReviewServer(session(report(tmp_path / "r"), "al"))
    thread = server.start()
    client = Client(server)
    labels = tmp_path / "labels.csv"
    cases = client.cases()
    contents = [client.ask(f"/api/case?id={case['id']}")[1] for case in cases]
    assert [case["key"] for case in contents] == UNCERTAIN
    doubts = {client.ask(f"/api/scores?id={case['id']}")[1]["doubt"] for case in cases}
    assert doubts == {"uncertain: both good and bad are in the 0.9 prediction set"}
    certain = next(number for number in range(len(CHANCES)) if number not in {case["id"] for case in cases})
    assert client.ask(f"/api/case?id={certain}")[0] == 404
    assert client.ask(f"/api/scores?id={certain}")[0] == 404
    assert client.label(cases[0]["id"], Origin="http://evil.example")[0] == 403
    assert client.ask("/api/state", X_Review_Token=None)[0] == 403
    assert not labels.exists()
    status, state, _ = client.label(cases[0]["id"], 0)
    assert (status, state["done"], state["wanted"], len(state["cases"])) == (200, 1, 3, 3)
    assert state["command"].startswith("evalstudio calibrate ")
    assert state["advice"].startswith("labels of uncertain answers alone")
    (rating,) = read_ratings(labels)
    assert (rating.key, rating.label, rating.rater, rating.answer_id) == (
        "even",
        0,
        "al",
        contents[0]["answer_id"],
    )
    server.close()
    thread.join(LONGEST_WAIT_S)
