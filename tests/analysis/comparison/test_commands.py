"""`evalstudio compare` and `evalstudio baseline`."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from support.command import evalstudio
from support.records import RecordBuilder, evaluator, score

ANSWER = "The fee is 5 EUR."


def record(folder: Path, *values: float, answer: str = ANSWER) -> Path:
    builder = RecordBuilder(evaluator("quality"))
    for number, value in enumerate(values):
        row = {"outcomes": {"quality": score(value)}, "actual_output": answer}
        builder.add(f"k{number}", "one", row)
    folder.mkdir(parents=True, exist_ok=True)
    builder.write(folder)
    return folder


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    record(tmp_path / "evalstudio-report", 1.0, 1.0, 0.0)
    record(tmp_path / "new", 1.0, 0.0, 0.0, answer="The fee is 7 EUR.")
    return tmp_path


def test_the_status_is_1_for_a_regressed_item_and_0_without(runs: Path) -> None:
    worse = evalstudio("compare", "evalstudio-report", "new", folder=runs)
    rerun = evalstudio("compare", "evalstudio-report", str(record(runs / "same", 1.0, 1.0, 0.0)), folder=runs)

    assert (worse.returncode, rerun.returncode) == (1, 0)
    assert "items: 1 regressed, 1 still failing, 1 still passing" in worse.stdout
    assert "regressed: What about k1? (one, k1): quality: score 1 -> 0" in worse.stdout
    assert (
        "compared with run 0000 (2026-11-20)\nno case changed. With 3 cases, a real drop of up to 0.65"
        in rerun.stdout
    )
    assert "changed: nothing recorded" in rerun.stdout


def test_json_has_the_keys_that_programs_read(runs: Path) -> None:
    process = evalstudio("compare", "evalstudio-report", "new", "--json", folder=runs)

    result = json.loads(process.stdout)
    assert result["verdict"] == "inconclusive"
    assert result["items"] == {
        "regressed": 1,
        "fixed": 0,
        "still_failing": 1,
        "still_passing": 1,
        "new": 0,
        "gone": 0,
        "error_now": 0,
        "error_then": 0,
        "still_error": 0,
        "test_changed": 0,
    }
    (metric,) = result["metrics"]
    assert {"evaluator", "metric", "model", "n", "base", "new", "difference", "low", "high"} <= set(metric)
    assert {"p", "p_adjusted", "smallest_detectable", "verdict"} <= set(metric)
    assert result["changed"] == ["answer"]
    assert result["answers"] == {"compared": 3, "changed": 3, "keys": ["k0", "k1", "k2"]}
    assert result["changes"][0]["class"] == "regressed"


def test_the_files_show_what_changed_in_the_answer(runs: Path) -> None:
    evalstudio("compare", "evalstudio-report", "new", "-o", "out", folder=runs)

    text = (runs / "out" / "comparison.md").read_text()
    assert "~~5~~ **7**" in text
    assert "**regressed** What about k1? (one, k1)" in text
    assert json.loads((runs / "out" / "comparison.json").read_text())["items"]["regressed"] == 1


def test_a_baseline_is_saved_once_and_replaced_only_by_accept(runs: Path) -> None:
    file = runs / "evalstudio-baseline.jsonl"

    saved = evalstudio("baseline", "save", folder=runs)
    second_save = evalstudio("baseline", "save", "new", folder=runs)
    content = file.read_bytes()
    accepted = evalstudio("baseline", "accept", "new", folder=runs)

    assert (saved.returncode, second_save.returncode, accepted.returncode) == (0, 2, 0)
    assert "replace it by `evalstudio baseline accept`" in second_save.stderr
    assert "1 of 3 cases regressed" in accepted.stdout
    assert file.read_bytes() != content
    assert evalstudio("compare", file.name, "new", folder=runs).returncode == 0


def test_a_baseline_without_answers_says_so(runs: Path) -> None:
    evalstudio("baseline", "save", "--no-answers", folder=runs)

    overview = evalstudio("baseline", "show", folder=runs)
    result = evalstudio("compare", "evalstudio-baseline.jsonl", "new", folder=runs)

    assert "answers: left out" in overview.stdout
    assert "items: 2 passed, 1 failed" in overview.stdout
    assert ANSWER not in (runs / "evalstudio-baseline.jsonl").read_text()
    assert "note: a side was saved without answers" in result.stdout


def test_the_archive_of_a_report_is_a_side_too(runs: Path) -> None:
    with zipfile.ZipFile(runs / "report.zip", "w") as archive:
        archive.write(runs / "evalstudio-report" / "record.jsonl", "record.jsonl")

    assert evalstudio("compare", "report.zip", "new", folder=runs).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evalstudio-report"], "give a base and a new run, or one run and --models A B"),
        (["evalstudio-report", "evalstudio-report"], "is the base run itself"),
        (["evalstudio-report", "new", "--models", "a", "b"], "give one record"),
        (["evalstudio-report", "--models", "one", "tow"], "no model named 'tow'"),
        (["evalstudio-report", "new", "--model", "one"], "write OLD=NEW"),
        (["evalstudio-report", "new", "--model", "one=two"], "no item in common"),
        (["nowhere", "new"], "there is no record here"),
        (["broken.zip", "new"], "holds no record.jsonl"),
        (["cut.jsonl", "new"], "is not a line of a record"),
        (["later.jsonl", "new"], "is a record of version 99"),
    ],
)
def test_faults_of_the_user_are_sentences(runs: Path, arguments: list[str], message: str) -> None:
    with zipfile.ZipFile(runs / "broken.zip", "w") as archive:
        archive.writestr("other.txt", "x")
    record_text = (runs / "new" / "record.jsonl").read_text()
    (runs / "cut.jsonl").write_text(record_text[:-40])
    (runs / "later.jsonl").write_text(record_text.replace('"schema_version":4', '"schema_version":99', 1))

    result = evalstudio("compare", *arguments, folder=runs)

    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_a_link_to_itself_is_no_record(runs: Path) -> None:
    (runs / "loop.jsonl").symlink_to("loop.jsonl")

    result = evalstudio("compare", "loop.jsonl", "loop.jsonl", folder=runs)

    assert result.returncode == 2
    assert "Traceback" not in result.stderr
