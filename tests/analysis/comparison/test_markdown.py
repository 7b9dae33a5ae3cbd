"""A comparison as Markdown: what it shows, and what it counts in place of showing it."""

from __future__ import annotations

from typing import Any

from pytest_evalstudio.analysis.comparison.markdown import ANSWER_CHARS, comparison_markdown, windows_markdown
from pytest_evalstudio.analysis.comparison.results import (
    ITEM_CLASSES,
    ChangedItems,
    Comparison,
    MetricComparison,
    RunLabel,
)
from pytest_evalstudio.text.windows import Piece, change_windows
from support.item_changes import item_change

BASE = RunLabel(run_id="4f0f77", created="2026-11-20T10:00:00", commit="abc12345", items=40, has_answers=True)


def metric(**fields: Any) -> MetricComparison:
    defaults: dict[str, Any] = {
        "evaluator": "rouge",
        "metric": "rouge_l",
        "model": "m",
        "n": 40,
        "changed": 3,
        "base": 0.5,
        "new": 0.25,
        "difference": -0.25,
        "low": -0.5,
        "high": -0.125,
        "p": 0.001,
        "p_adjusted": 0.002,
        "smallest_detectable": None,
        "verdict": "worse",
    }
    return MetricComparison(**{**defaults, **fields})


def comparison(**fields: Any) -> Comparison:
    counts = dict.fromkeys(ITEM_CLASSES, 0) | fields.pop("items", {})
    defaults: dict[str, Any] = {"verdict": "worse", "base": BASE, "new": BASE, "matched": 40, "metrics": ()}
    return Comparison(items=counts, **{**defaults, **fields})


def test_a_comparison_has_summary_regressed_items_counts_and_metrics() -> None:
    text = comparison_markdown(
        comparison(
            items={"regressed": 1, "error_now": 1, "fixed": 1, "still_passing": 37},
            changes=(
                item_change(
                    "a",
                    question="Fee?",
                    flaky=True,
                    reason="no *answer*",
                    base_answer="5 USD",
                    answer="6 USD",
                ),
                item_change("b", item_class="error_now", reason="down", base_answer="same", answer="same"),
                item_change("c", item_class="fixed"),
            ),
            metrics=(metric(), metric(metric="hidden", decides=False)),
            changed=("model",),
            answers=ChangedItems(compared=40, changed=2, keys=("a", "b")),
            notes=("a_note",),
        )
    )
    assert text.splitlines() == [
        "# Compared with run 4f0f (2026-11-20, commit abc1234)",
        "",
        (
            "**1 of 40 cases regressed; 1 error now; 1 fixed. The drop is more than chance:"
            " rouge.rouge\\_l of m by 0.25 (p 0.002, 40 cases).**"
        ),
        "",
        "- **regressed** Fee? (m, a) (flaky in the baseline)",
        "  no \\*answer\\*",
        "  ~~5~~ **6** USD",
        "- **error now** s.json::b",
        "  down",
        "",
        "**Baseline**: run 4f0f (2026-11-20, commit abc1234).",
        "",
        "**Items**: 1 regressed, 1 fixed, 37 still passing, 1 error now. **Verdict**: worse.",
        "",
        "**Changed between the runs**: model.",
        "",
        "- answers: 2 of 40 (a, b)",
        "",
        "| Metric | Model | Base | New | Difference (95 %) | p (Holm) | Verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| rouge.rouge\\_l | m | 0.5 | 0.25 | -0.25 [-0.5, -0.125] | 0.002 | worse |",
        "",
        "- a\\_note",
    ]


def test_ten_regressed_items_are_shown_and_the_others_counted() -> None:
    changes = tuple(item_change(f"k{number}") for number in range(12))
    text = comparison_markdown(comparison(items={"regressed": 12}, changes=changes))
    assert text.count("- **regressed**") == 10
    assert "- … and 2 more\n" in text
    ten = comparison_markdown(comparison(items={"regressed": 10}, changes=changes[:10]))
    assert "more" not in ten.split("**Baseline**")[0].split("\n", 4)[4]


def test_a_rise_has_its_sign() -> None:
    risen = metric(base=0.25, new=0.5, difference=0.25, low=0.125, high=0.5, verdict="better")
    assert "| 0.25 | 0.5 | +0.25 [" in comparison_markdown(comparison(verdict="better", metrics=(risen,)))


def test_thirty_metrics_are_shown() -> None:
    text = comparison_markdown(comparison(metrics=(metric(),) * 32))
    assert text.count("| rouge.rouge") == 30


def test_a_comparison_without_changes_has_no_table_and_no_list() -> None:
    text = comparison_markdown(comparison(verdict="inconclusive"))
    assert "|" not in text
    assert "\n- " not in text
    assert text.endswith("**Changed between the runs**: nothing recorded.\n")


def test_marks_have_spaces_outside_and_none_inside_words() -> None:
    assert windows_markdown(change_windows("about £5 each", "about £7 each")) == "about £ ~~5~~ **7** each"
    assert windows_markdown(change_windows("a b.", "a c.")) == "a ~~b~~ **c**."
    pieces = [Piece(kind="same", text="a "), Piece(kind="added", text="b"), Piece(kind="same", text="c ")]
    assert windows_markdown([*pieces, Piece(kind="same", text="d")]) == "a **b**c d"


def test_a_long_change_ends_with_an_ellipsis() -> None:
    words = [Piece(kind="same", text="word " * (ANSWER_CHARS // 5)), Piece(kind="same", text="end")]
    assert windows_markdown(words).endswith("word …")
    assert windows_markdown([Piece(kind="same", text="word "), words[1]]) == "word end"
