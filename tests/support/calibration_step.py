"""The step of human calibration, and labels for all that it asks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_evalstudio.contrib.validation.steps.human_calibration.step import HumanCalibration
from pytest_evalstudio.core.plugins.step import StepResult
from pytest_evalstudio.formats.labels import Label
from support.labelled_answers import drawn_scores, judged, record_of, write
from support.workbench import Bench

STEP = "human_calibration"
Judge = Callable[[str, float], int]


def bench(folder: Path, scores: list[float] | None = None, **options: Any) -> Bench:
    workspace = Bench(folder, {"text.txt": "Fees."})
    record_of(workspace.of("automated_evaluation"), drawn_scores() if scores is None else scores, **options)
    return workspace


def ran(workspace: Bench, **parameters: Any) -> StepResult:
    for path in workspace.of(STEP).glob("*"):
        path.unlink()
    return HumanCalibration(**parameters).run(workspace.work(STEP, "automated_evaluation"))


def labels_file(workspace: Bench) -> Path:
    return workspace.folder / "artifacts" / "labels.csv"


def label(workspace: Bench, judge: Judge, *, raters: tuple[str, ...] = ("al",), most: int = 1000) -> int:
    """Give labels to all that is asked, beside those that were given before."""
    cases = workspace.read(STEP, "sample.json")["cases"][:most]
    labels = [
        Label(
            key=case["key"],
            model_key=case["model_key"],
            label=judge(rater + case["key"], score),
            rater=rater,
            answer_id=case["answer_id"],
        )
        for case in cases
        for score in list(case["scores"].values())[:1]
        for rater in raters
    ]
    write(labels_file(workspace), labels)
    return len(cases)


def to_the_end(
    workspace: Bench, judge: Judge | None = None, raters: tuple[str, ...] = ("al",), **parameters: Any
) -> StepResult:
    result = ran(workspace, **parameters)
    count = 0
    while result.waits and count < (count := label(workspace, judge or judged(), raters=raters)):
        result = ran(workspace, **parameters)
    return result


def hash_bit(key: str) -> int:
    return int(judged(0.5, doubt=1)(key, 0.5))


def hash_of(key: str) -> int:
    """A number that says nothing of the score."""
    return int(hashlib.sha256(f"2{key}".encode()).hexdigest(), 16)
