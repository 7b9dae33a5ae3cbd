"""Perturbed copies that fail like their original are one entry with it; others stay entries of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.failed_items import FailedItems
from pytest_evalstudio.report.failing_copies import LISTED_COPIES
from pytest_evalstudio.report.failure_groups import FailureGroup
from support.records import RecordBuilder, evaluator, score

BAD, FINE = {"quality": score(0.1), "other": score(0.9)}, {"quality": score(0.9), "other": score(0.9)}
BAD_OTHERWISE = {"quality": score(0.9), "other": score(0.1)}


def add(
    builder: RecordBuilder, key: str, outcomes: dict[str, Any], source: str = "", model: str = "one"
) -> None:
    row: dict[str, Any] = {"outcomes": outcomes, "input": f"question of {key}"}
    more: dict[str, Any] = {}
    if source:
        row["relationships"] = [{"type": "perturbation_source", "target": source, "target_type": "test_case"}]
        more["perturbed"] = {"by": ["comma:HIGH"], "meaning_kept": True}
    builder.add(key, model, row, **more)


def builder_of() -> RecordBuilder:
    return RecordBuilder(evaluator("quality"), evaluator("other"), models=("one", "two"))


def groups_of(builder: RecordBuilder, folder: Path) -> list[FailureGroup]:
    items = FailedItems(builder.run, builder.run.evaluators)
    causes = analyse(builder.write(folder), {}, on_failure=items.add).causes
    assert items.groups(causes) == items.groups(causes)
    return items.groups(causes)


def plain_groups(groups: list[FailureGroup]) -> list[tuple[str, list[str], int]]:
    return [
        (item.key, [copy.key for copy in item.copies], item.copy_count)
        for group in groups
        for item in group.items
    ]


def test_copies_that_fail_alike_are_folded_whether_they_come_before_or_after_their_original(
    tmp_path: Path,
) -> None:
    builder = builder_of()
    add(builder, "early", BAD, "a")
    add(builder, "a", BAD)
    add(builder, "late", BAD, "a")
    add(builder, "of a copy", BAD, "late")

    [group] = groups_of(builder, tmp_path)

    assert plain_groups([group]) == [("a", ["late", "of a copy", "early"], 3)]
    assert (group.cause.total, group.left_out) == (4, 0)


def test_other_failures_stay_entries_of_their_own(tmp_path: Path) -> None:
    builder = builder_of()
    add(builder, "a", BAD)
    add(builder, "b", FINE)
    add(builder, "a2", BAD_OTHERWISE, "a")
    add(builder, "a3", FINE, "a")
    add(builder, "b2", BAD, "b")
    add(builder, "a2", BAD, "a", model="two")
    add(builder, "c", BAD)

    groups = groups_of(builder, tmp_path)

    assert plain_groups(groups) == [("a", [], 0), ("b2", [], 0), ("a2", [], 0), ("c", [], 0), ("a2", [], 0)]
    assert [group.left_out for group in groups] == [0, 0]


def test_the_page_and_the_summary_say_how_many_copies_fail_alike(tmp_path: Path) -> None:
    builder = builder_of()
    add(builder, "a", BAD)
    for number in range(LISTED_COPIES + 2):
        add(builder, f"copy{number}", BAD, "a")

    report = build_report(builder.write(tmp_path), tmp_path, {})

    page = report.page.read_text(encoding="utf-8").partition('id="failures"')[2].partition("</section>")[0]
    assert page.count('<details class="failed-item"') == 1
    assert f"{LISTED_COPIES + 2} perturbed copies fail alike</summary>" in page
    copies = page.partition('class="copies"')[2].partition("</details>")[0]
    assert copies.count("<li>") == LISTED_COPIES
    assert "2 more are in the matrix." in copies
    assert "comma:HIGH" in copies
    assert "question of copy0" in copies
    summary = report.markdown.read_text(encoding="utf-8")
    assert f"  - {LISTED_COPIES + 2} perturbed copies fail alike" in summary
    assert "more failure" not in summary
