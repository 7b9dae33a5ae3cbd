"""Leaderboards from hand-made items, with figures worked out by hand."""

from __future__ import annotations

import pytest

from pytest_evalstudio.analysis.leaderboards import leaderboards
from pytest_evalstudio.core.plugins.evaluator import ModelScore
from pytest_evalstudio.stats.intervals import wilson_interval
from support.records import RecordBuilder, boolean_evaluator, evaluator, metric, perturbed, score


def board(builder, id="quality", aggregates=None):
    return leaderboards(builder.run, iter(builder.typed_items), aggregates or {})[id]


def quality(value, **more):
    return {"outcomes": {"quality": score(value)}, **more}


def test_means_are_over_scored_rows_and_the_rest_is_counted():
    builder = RecordBuilder()
    builder.add("a", "one", quality(0.2))
    builder.add("b", "one", quality(0.7))
    builder.add("c", "one", {"outcomes": {"quality": {"status": "error", "reason": "no word"}}})
    builder.add("d", "one", {"outcomes": {"quality": {"status": "not_applicable", "reason": "no context"}}})
    line = board(builder).standings[0]
    assert line.cells["score"].value == pytest.approx(0.45)
    assert (line.scored, line.errors, line.not_applicable, line.cells["score"].n) == (2, 1, 1, 2)
    assert (line.judged, line.passed, line.pass_rate) == (2, 1, 0.5)
    assert line.pass_interval == wilson_interval(1, 2)
    assert line.cells["score"].passes is False


def test_a_metric_without_a_value_is_left_out_of_its_own_mean_alone():
    builder = RecordBuilder(evaluator("quality", metric(), metric("other", primary=False)))
    builder.add(
        "a", "one", {"outcomes": {"quality": {"status": "score", "scores": {"score": 1.0, "other": None}}}}
    )
    builder.add(
        "b", "one", {"outcomes": {"quality": {"status": "score", "scores": {"score": 0.0, "other": 0.25}}}}
    )
    cells = board(builder).standings[0].cells
    assert (cells["score"].value, cells["score"].n) == (0.5, 2)
    assert (cells["other"].value, cells["other"].n) == (0.25, 1)


def test_an_evaluator_without_any_score_has_no_mean_and_no_rank():
    builder = RecordBuilder()
    builder.add("a", "one", {"outcomes": {"quality": {"status": "error", "reason": "down"}}})
    cell = board(builder).standings[0].cells["score"]
    assert (cell.value, cell.rank, cell.interval, cell.passes) == (None, None, None, None)


@pytest.mark.parametrize(
    ("better", "expected"), [("higher", ["three", "two", "one"]), ("lower", ["one", "two", "three"])]
)
def test_models_stand_in_the_order_of_the_primary_metric(better, expected):
    builder = RecordBuilder(evaluator("quality", metric(better=better)), models=("one", "two", "three"))
    for name, value in (("one", 0.1), ("two", 0.2), ("three", 0.3)):
        builder.add("a", name, quality(value))
    assert [line.name for line in board(builder).standings] == expected


def test_ties_share_a_rank():
    builder = RecordBuilder(models=("one", "two", "three"))
    for name, values in (("one", (0.1, 0.2, 0.3)), ("two", (0.3, 0.2, 0.1)), ("three", (0.0, 0.0, 0.0))):
        for key, value in zip("abc", values, strict=True):
            builder.add(key, name, quality(value))
    assert [line.cells["score"].rank for line in board(builder).standings] == [1, 1, 3]


def test_one_llm_in_two_configurations_is_two_models():
    builder = RecordBuilder(models=("cold", "hot"))
    for entry in builder.header["models"].values():
        entry["llm_model_name"] = "same-llm"
    builder.add("a", "cold", quality(1.0))
    builder.add("a", "hot", quality(0.0))
    assert {line.model: line.cells["score"].value for line in board(builder).standings} == {
        "m-cold": 1.0,
        "m-hot": 0.0,
    }


def test_perturbations_and_repeats_go_with_their_original():
    originals, crowded = RecordBuilder(), RecordBuilder()
    for number in range(12):
        value = number / 11
        originals.add(f"k{number}", "one", quality(value))
        crowded.add(f"k{number}", "one", quality(value), quality(value))
        crowded.add(f"k{number}-comma", "one", quality(value, **perturbed(f"k{number}", "comma:HIGH")))
        crowded.add(f"k{number}-both", "one", quality(value, **perturbed(f"k{number}-comma", "qwerty:LOW")))
    expected = board(originals).standings[0].cells["score"].interval
    assert board(crowded).standings[0].cells["score"].interval == pytest.approx(expected)


def test_cases_of_one_key_in_two_files_are_two_cases():
    builder = RecordBuilder()
    builder.add("a", "one", quality(0.0))
    builder.add("a", "one", quality(1.0), file="other.json")
    assert board(builder).standings[0].cells["score"].interval == (0.0, 1.0)


def test_boolean_metrics_are_counts_with_wilson_intervals():
    builder = RecordBuilder(boolean_evaluator())
    for number, passed in enumerate((1.0, 1.0, 1.0, 0.0)):
        builder.add(
            f"k{number}",
            "one",
            {"outcomes": {"text_matching": {"status": "score", "scores": {"model_passes": passed}}}},
        )
    cell = board(builder, "text_matching").standings[0].cells["model_passes"]
    assert (cell.total, cell.n, cell.value) == (3.0, 4, 0.75)
    assert cell.interval == wilson_interval(3, 4)


class MacroF1:
    """Counts labels; 0.25 whatever they are."""

    def __init__(self):
        self.seen = []

    def aggregate(self, rows):
        self.seen = [(row.key, row.expected_output, row.actual_output, dict(row.scores)) for row in rows]
        return ModelScore(
            scores={"accuracy": 0.5, "f1": 0.25}, table={"labels": ["no", "yes"], "matrix": [[1, 0], [1, 0]]}
        )


def test_model_wide_figures_come_from_the_evaluator():
    builder = RecordBuilder(
        evaluator("classification", metric("accuracy"), metric("f1", primary=False), domain="classification")
    )
    for key, expected, value in (("a", "no", 1.0), ("b", "yes", 0.0)):
        scores = {"status": "score", "scores": {"accuracy": value, "f1": None}}
        builder.add(
            key,
            "one",
            {"expected_output": expected, "actual_output": "no", "outcomes": {"classification": scores}},
        )
    counting = MacroF1()
    result = board(builder, "classification", {"classification": counting})
    line = result.standings[0]
    assert counting.seen == [
        ("a", "no", "no", {"accuracy": 1.0, "f1": None}),
        ("b", "yes", "no", {"accuracy": 0.0, "f1": None}),
    ]
    assert (line.cells["accuracy"].value, line.cells["f1"].value, line.cells["f1"].n) == (0.5, 0.25, 2)
    assert line.cells["accuracy"].interval is not None
    assert line.cells["f1"].interval is None
    assert line.table["matrix"] == [[1, 0], [1, 0]]
    assert result.evaluator.kind == "classification"


def test_an_aggregate_that_breaks_leaves_the_means_and_says_so():
    class Broken:
        def aggregate(self, rows):
            raise RuntimeError("singular matrix")

    builder = RecordBuilder()
    builder.add("a", "one", quality(0.5))
    line = board(builder, aggregates={"quality": Broken()}).standings[0]
    assert line.cells["score"].value == 0.5
    assert "singular matrix" in line.fault


def test_infinite_scores_are_kept_as_such():
    builder = RecordBuilder(
        evaluator("quality", metric(better="lower", range=[1.0, "Infinity"], threshold="Infinity"))
    )
    builder.add("a", "one", quality("Infinity"))
    builder.add("b", "one", quality(2.0))
    cell = board(builder).standings[0].cells["score"]
    assert (cell.value, cell.passes) == (float("inf"), None)


def test_percentiles_are_of_the_rows():
    builder = RecordBuilder()
    for number in range(5):
        builder.add(f"k{number}", "one", quality(number / 4))
    assert board(builder).percentile("m-one", "score", 90) == pytest.approx(0.9)
    assert board(builder).percentile("m-two", "score", 90) is None


def test_a_skipped_item_has_no_rows_and_no_standing():
    builder = RecordBuilder()
    builder.items.append({**builder.add("a", "one"), "rows": [], "verdicts": {}, "verdict": "skipped"})
    assert board(builder).standings == ()
