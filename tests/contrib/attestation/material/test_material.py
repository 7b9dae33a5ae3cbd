"""The material itself: exit codes of tricks and honest edits, as observed, and controls without either."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from contrib.attestation.material.honest import EDITS, Edit
from contrib.attestation.material.project_runs import (
    CI_ARGUMENTS,
    GOOD,
    PROJECT,
    apply,
    copy_project,
    move,
    run_pytest,
    save_baseline,
)
from contrib.attestation.material.tricks import REGRESSED, TRICKS, Trick, has_good_answer, read_record
from support.sampling import sampled


@pytest.fixture(scope="module")
def good_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy of the project with the baseline of the good application."""
    folder = tmp_path_factory.mktemp("desk") / "good"
    source = folder.with_name("run")
    copy_project(source)
    run = run_pytest(source, ())
    assert run.returncode == 0, run.stdout
    save_baseline(source)
    copy_project(folder)
    (source / "evalstudio-baseline.jsonl").rename(folder / "evalstudio-baseline.jsonl")
    return folder


@pytest.mark.slow
def test_the_good_application_passes(good_project: Path, tmp_path: Path) -> None:
    copy_project(tmp_path / "desk", GOOD, good_project)
    run = run_pytest(tmp_path / "desk")
    assert run.returncode == 0, run.stdout
    assert "no case changed" in run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("application", REGRESSED)
def test_a_regressed_application_fails_its_cases(
    application: str, good_project: Path, tmp_path: Path
) -> None:
    copy_project(tmp_path / "desk", application, good_project)
    run = run_pytest(tmp_path / "desk")
    assert run.returncode == 1, run.stdout
    assert sorted(re.findall(r"FAILED .*::(\S+)\[desk\]", run.stdout)) == list(REGRESSED[application])


@pytest.mark.slow
@pytest.mark.parametrize("trick", sampled(TRICKS, 10), ids=lambda trick: trick.name)
def test_a_trick_ends_as_observed(trick: Trick, good_project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, trick.application, good_project)
    apply(folder, trick.files)
    run = run_pytest(folder, (*CI_ARGUMENTS, *trick.arguments), trick.environment)
    assert run.returncode == trick.exit_without_check, run.stdout + run.stderr
    if trick.after_run is not None:
        trick.after_run(folder)
        record = read_record(folder)
        assert record[0]["exit_status"] == 0
        assert {line["verdict"] for line in record[1:]} == {"passed"}
    regressed = [line for line in read_record(folder) if line.get("key") in trick.regressed]
    assert (not regressed) == trick.cases_missing
    assert (bool(regressed) and all(map(has_good_answer, regressed))) == trick.good_answers_stored


@pytest.mark.slow
@pytest.mark.parametrize("edit", sampled(EDITS, 20), ids=lambda edit: edit.name)
def test_an_honest_edit_stays_green(edit: Edit, good_project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "desk"
    copy_project(folder, GOOD, good_project)
    apply(folder, edit.files)
    if edit.moved is not None:
        move(folder, *edit.moved)
    run = run_pytest(folder, (*CI_ARGUMENTS, *edit.arguments), edit.environment)
    assert run.returncode == edit.exit_status == 0, run.stdout + run.stderr


def test_names_are_unique_and_files_belong_to_the_project() -> None:
    names = [entry.name for entry in (*TRICKS, *EDITS)]
    assert len(names) == len(set(names))
    assert len(TRICKS) >= 20
    assert len(EDITS) >= 40
    assert all((PROJECT / application).is_file() for application in REGRESSED)
