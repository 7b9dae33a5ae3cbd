"""Headers of two records: prompts, models, evaluators, and notes for the reader."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_evalstudio.analysis.comparison.compare import compare
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.analysis.comparison.sides import read_side
from support.records import RecordBuilder, evaluator, metric, model, score


def record(*evaluators: dict[str, Any], cfg: dict[str, Any] | None = None, **header: Any) -> RecordBuilder:
    builder = RecordBuilder(*(evaluators or (evaluator("quality"),)), **header)
    builder.header["models"]["m-one"] = model("one", model_cfg=cfg or {})
    for number in range(4):
        outcomes = {id: score(0.75) for id in builder.header["evaluators"]}
        builder.add(f"k{number}", "one", {"outcomes": outcomes})
    return builder


def comparison_of(base: RecordBuilder, new: RecordBuilder) -> Comparison:
    return compare(*(read_side(each.run, each.typed_items) for each in (base, new)))


def prompt(text: str, file: str = "p.txt") -> dict[str, Any]:
    return {"prompt": {"file": file, "text": text}}


@pytest.mark.parametrize(
    ("base", "new", "files", "texts"),
    [
        (prompt("Be kind."), prompt("Be brief."), "p.txt", ("Be kind.", "Be brief.")),
        (prompt("Be kind."), prompt("Be brief.", "q.txt"), "p.txt -> q.txt", ("Be kind.", "Be brief.")),
        ({}, prompt("Be brief."), "none -> p.txt", ("", "Be brief.")),
        (prompt("Be kind."), {"prompt": "?"}, "p.txt -> none", ("Be kind.", "")),
    ],
)
def test_another_prompt_is_shown_and_is_no_other_model(
    base: dict[str, Any], new: dict[str, Any], files: str, texts: tuple[str, str]
) -> None:
    result = comparison_of(record(cfg=base), record(cfg=new))
    [change] = result.prompts
    assert (change.model, change.files, change.base, change.new) == ("one", files, *texts)
    assert result.changed == ("prompt",)


def test_the_same_prompt_in_another_file_is_no_change() -> None:
    result = comparison_of(record(cfg=prompt("Be kind.")), record(cfg=prompt("Be kind.", "q.txt")))
    assert (result.prompts, result.changed) == ((), ())


def test_another_setting_of_the_host_is_another_model() -> None:
    result = comparison_of(record(cfg={"temperature": 0}), record(cfg={"temperature": 1}))
    assert result.changed == ("model",)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"parameters": {"limit": 2}}, "evaluator"),
        ({"judge": {"models": ["x"]}}, "judge"),
        ({"embedder": "x"}, "embedder"),
    ],
)
def test_another_evaluator_judge_or_embedder_is_named(change: dict[str, Any], part: str) -> None:
    other = record(evaluator("quality"), evaluator("other", **change))
    base = record(evaluator("quality"), evaluator("other"))
    assert comparison_of(base, other).changed == (part,)
    assert comparison_of(other, other).changed == ()


def test_evaluators_of_one_run_alone_are_noted() -> None:
    base, new = record(evaluator("a"), evaluator("b")), record(evaluator("b"), evaluator("c"))
    assert comparison_of(base, new).notes == (
        "evaluators of the base run alone, not compared: a",
        "evaluators of the new run alone, not compared: c",
    )


def test_another_threshold_is_noted_of_metrics_that_decide() -> None:
    secondary = metric("free", primary=False, asserted=False)
    base = record(evaluator("quality", metric(), secondary))
    new = record(evaluator("quality", metric(threshold=0.25), {**secondary, "threshold": 0.9}))
    old = [read_side(each.run, each.undigested_items) for each in (base, new)]
    assert compare(*old).notes[1:] == (
        "the threshold of quality.score was 0.5 and is 0.25: the class of an item may change although its"
        " score did not",
    )


def test_parts_of_runs_are_noted() -> None:
    shards = {"numbers": [2], "total": 3}
    assert comparison_of(record(), record(shards=shards)).notes == (
        "the new run is shard 2 of 3: items of other shards are not in it",
    )
    assert comparison_of(record(interrupted=True), record()).notes == (
        "a run was interrupted: only the items that had finished are compared",
    )
    assert (
        comparison_of(record(), record(interrupted=True)).notes
        == comparison_of(record(interrupted=True), record()).notes
    )


def test_items_that_were_not_run_are_counted_in_a_note() -> None:
    new = record()
    del new.items[2:]
    for key in ("k2", "k3"):
        new.add(key, "one", verdict="not_run")
    result = comparison_of(record(), new)
    assert result.not_run == 2
    assert result.notes == (
        "2 items were not run in one of the runs, since a budget was used up or a service refused access: not"
        " compared",
    )
