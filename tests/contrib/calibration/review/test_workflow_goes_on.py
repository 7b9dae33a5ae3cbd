"""The step in its workflow: it waits, goes on with each label, is completed, and stays so until labels
change.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.calibration.review.session import ReviewSession
from pytest_evalstudio.contrib.validation.workflow.states import State
from support.labelled_answers import judged
from support.review_workflows import labels_file, session, workflow, workflow_run

STEP = "human_calibration"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return workflow(tmp_path)


def ran(path: Path) -> State:
    no_provider: Any = None
    return workflow_run(path).run(
        STEP, provider=no_provider, cache=path.parent / "cache", progress=lambda count, total, what: None
    )


def status(path: Path) -> str:
    return workflow_run(path).status(STEP).status


def label_all(review: ReviewSession) -> None:
    judge = judged()
    while todo := [case["id"] for case in review.state()["cases"] if case["label"] is None]:
        for id in todo:
            case = review.case(id)
            review.label(id, case["answer_id"], judge(case["key"], review.scores(id)["metrics"][0]["score"]))


def test_from_waiting_to_completed_and_on(path: Path) -> None:
    assert status(path) == "not run"
    assert ran(path).waits == "0 of 40 labels"
    assert status(path) == "waiting"
    result = session(path, "al")
    first = result.state()["cases"][0]["id"]
    result.label(first, result.case(first)["answer_id"], 1)
    assert status(path) == "outdated"
    assert ran(path).waits == "1 of 40 labels"
    assert status(path) == "waiting"
    label_all(result)
    assert result.progress() == f"40 of 40 answers labelled by al, in {labels_file(path)}"
    state = ran(path)
    assert (state.status, state.waits) == ("completed", "")
    assert status(path) == "completed"
    result.label(first, result.case(first)["answer_id"], 0)
    assert status(path) == "outdated"
    assert ran(path).status == "completed"


def test_labels_outlive_the_steps_folder(path: Path) -> None:
    ran(path)
    label_all(session(path, "al"))
    before = labels_file(path).read_bytes()
    ran(path)
    ran(path)
    assert labels_file(path).read_bytes() == before


def test_a_label_taken_back_is_asked_again(path: Path) -> None:
    result = session(path, "al")
    label_all(result)
    case_id = result.state()["cases"][0]["id"]
    result.label(case_id, result.case(case_id)["answer_id"], None)
    state = result.state()
    assert state["done"] < 40
    assert any(case["label"] is None for case in state["cases"])
    label_all(result)
    assert result.state()["done"] == 40


@pytest.mark.slow
def test_another_rater_is_asked_the_same_answers(path: Path) -> None:
    label_all(session(path, "al"))
    other = session(path, "bo")
    state = other.state()
    assert (state["done"], state["labelled"], len(state["cases"])) == (0, 40, 40)
    label_all(other)
    state = other.state()
    assert (state["done"], state["raters"], state["divided"], state["alpha"]) == (40, 2, 0, 1.0)
