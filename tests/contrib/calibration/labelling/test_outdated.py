"""Labels of another text than the one in the results do not count."""

from __future__ import annotations

from pytest_evalstudio.contrib.calibration.labelling.outdated import without_outdated
from pytest_evalstudio.formats.labels import Label
from pytest_evalstudio.record.score_table import Scores, TableAnswer


def label(key: str, text: str) -> Label:
    return Label(key=key, model_key="m", label=1, answer_id=text)


def test_only_labels_of_todays_text_count_and_those_without_a_text() -> None:
    scores = Scores()
    for file, key, text in (("f", "a", "today"), ("g", "a", "also today"), ("f", "b", "")):
        scores.answers[file, key, "m"] = TableAnswer(
            file=file, key=key, model_key="m", test_key="", categories=(), text_id=text
        )
    current = [
        label("a", "today"),
        label("a", "also today"),
        label("a", ""),
        label("b", "x"),
        label("c", "x"),
    ]
    outdated = [label("a", "yesterday"), label("a", "x")]
    assert without_outdated([*outdated, *current], scores) == (current, 2)
    assert without_outdated([], scores) == ([], 0)
