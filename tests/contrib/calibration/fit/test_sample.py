"""The labelled answers of a calibration: which count, and the messages where they are too few."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.contrib.calibration.fit.sample import LabelledSample, TooFewLabels, sample
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.score_table import Column, Scores, TableAnswer

COLUMN = Column(evaluator="e", metric=Metric("m"))


def table(*values: float | None, file: str = "f", source: str = "") -> Scores:
    scores = Scores(columns={COLUMN.key: COLUMN})
    for number, value in enumerate(values):
        add(scores, f"k{number}", value, file=file, source=source)
    return scores


def add(scores: Scores, key: str, value: float | None, *, file: str = "f", source: str = "") -> None:
    scores.answers[file, key, "m"] = TableAnswer(
        file=file,
        key=key,
        model_key="m",
        test_key="",
        categories=(),
        source=source,
        scores={} if value is None else {COLUMN.key: {1: value}},
    )


def labels(*values: int) -> dict[tuple[str, str], int]:
    return {(f"k{number}", "m"): value for number, value in enumerate(values)}


def of(scores: Scores, label_of: dict[tuple[str, str], int], **options: Any) -> LabelledSample:
    return sample(scores, label_of, [COLUMN], **options)


def test_labels_without_an_answer_or_a_score_are_counted() -> None:
    result = of(table(0.1, None, 0.3, 0.4), labels(0, 1, 1) | {("gone", "m"): 1})
    assert result.scores.tolist() == [[0.1], [0.3]]
    assert result.good.tolist() == [False, True]
    assert (result.left_out.without_answer, dict(result.left_out.without_score)) == (1, {"e.m": 1})
    assert len(result) == 2


def test_a_perturbation_belongs_to_the_question_of_its_original() -> None:
    scores = table(0.1, 0.2)
    add(scores, "p0", 0.3, source="k0")
    result = of(scores, {**labels(0, 1), ("p0", "m"): 1})
    assert result.cases.tolist() == [0, 1, 0]


def test_answers_drawn_at_random_are_marked() -> None:
    result = of(table(0.1, 0.2, 0.3), labels(0, 1, 1), drawn={("k1", "m")})
    for_curve, at_random = result.parts()
    assert (for_curve.tolist(), at_random.tolist()) == ([0, 2], [1])
    assert result.only(at_random).scores.tolist() == [[0.2]]
    with pytest.raises(ValueError, match="it is unknown which answers were drawn at random"):
        of(table(0.1, 0.2, 0.3), labels(0, 1, 1)).parts()


@pytest.mark.parametrize(
    ("levels", "good_from", "expected"),
    [((0, 1), None, 1), ((1, 1), None, 1), ((3, 5), None, 5), ((1, 2, 3), 2, 2), ((0, 0), None, 1)],
)
def test_the_higher_of_two_levels_is_good(
    levels: tuple[int, ...], good_from: int | None, expected: int
) -> None:
    result = of(
        table(*(level / 10 + 0.01 * at for at, level in enumerate(levels))),
        labels(*levels),
        good_from=good_from,
    )
    assert result.good_from == expected


def test_of_three_levels_the_good_ones_must_be_named() -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        of(table(0.1, 0.2, 0.3), labels(1, 2, 3))
    assert str(exc_info.value) == (
        "labels have the levels 1, 2, 3: give the lowest level that counts as good, e.g. --good 3"
    )


def test_a_label_of_answers_in_two_files_is_refused() -> None:
    scores = table(0.1, 0.2, 0.3)
    add(scores, "k1", 0.5, file="g")
    with pytest.raises(DataError) as exc_info:
        of(scores, labels(0, 1))
    assert str(exc_info.value) == (
        "'k1' of model 'm' is in 'f' and 'g', so it is unclear which one its label belongs to; give the"
        " results of one file, or make keys unique"
    )
    assert len(of(scores, {("k0", "m"): 1, ("k2", "m"): 0})) == 2


def test_labels_of_other_results_are_shown_beside_the_results() -> None:
    with pytest.raises(DataError) as exc_info:
        of(table(0.1), {("x", "y"): 1})
    assert str(exc_info.value) == (
        "no label belongs to an answer in the results: they have e.g. key 'k0', model_key 'm'; the labels"
        " have e.g. key 'x', model_key 'y'"
    )
    with pytest.raises(DataError, match="in the results, since there are none; the labels have"):
        of(table(), {("x", "y"): 1})


def test_too_few_labels_are_named_by_kind() -> None:
    scores = table(*(number / 40 for number in range(40)), None, None)
    small_sample = of(scores, labels(*[0] * 36, *[1] * 6) | {("gone", "m"): 1, ("too", "m"): 1})
    with pytest.raises(TooFewLabels) as exc_info:
        small_sample.check(0.1, 0)
    assert str(exc_info.value) == (
        "4 good and 36 bad labelled answers are too few: label at least 28 answers (required by alpha ="
        " 0.1), including 10 good and 10 bad ones (2 labels are of answers that are not in the results; 2"
        " answers have no score by e.m); 6 good answers are missing"
    )


def test_answers_to_few_questions_cannot_be_divided() -> None:
    scores = table(0.1, 0.2)
    label_of = labels(0, 1)
    for number in range(2, 40):
        add(scores, f"k{number}", number / 40, source=f"k{number % 2}")
        label_of[f"k{number}", "m"] = number % 2
    with pytest.raises(TooFewLabels, match=r"belong to only 2 test cases"):
        of(scores, label_of).check(0.1, 0)


def test_with_a_high_alpha_the_labels_of_each_kind_decide_how_many_there_must_be() -> None:
    small_sample = of(table(*(number / 20 for number in range(19))), labels(*[0] * 15, *[1] * 4))
    with pytest.raises(TooFewLabels, match="label at least 20 answers"):
        small_sample.check(0.3, 0)
