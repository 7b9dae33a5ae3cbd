"""Markdown: what people said stays plain words."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.core.markdown import escaped
from pytest_evalstudio.report.build import build_report
from pytest_evalstudio.report.markdown import leaderboard
from support.records import RecordBuilder, boolean_evaluator, evaluator, score


@pytest.mark.parametrize(
    "text",
    [
        "*bold*",
        "[link](javascript:alert(1))",
        "<script>alert(1)</script>",
        "![i](http://x/y.png)",
        "a|b",
        "`code`",
        "~~gone~~",
        "&lt;b&gt;",
        "\\*",
    ],
)
def test_a_text_reads_as_it_was_written(text):
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .render("- " + escaped(text))
    )
    body = html.removeprefix("<ul>\n<li>").removesuffix("</li>\n</ul>\n")
    assert "<" not in body
    expected = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert body == expected


def test_mentions_addresses_and_direction_changes_are_disarmed():
    text = escaped("@everyone http://evil.example www.evil.example \u202egnp.exe\nnew line")
    assert "@" not in text
    assert "http://" not in text
    assert "www." not in text
    assert "\u202e" not in text
    assert "\n" not in text


def summary(builder, folder):
    return build_report(builder.write(folder), folder, {}).markdown.read_text(encoding="utf-8")


def test_the_summary_names_verdict_gates_and_the_gravest_findings(tmp_path):
    builder = RecordBuilder(
        models=("one", "two"), gates=["quality >= 0.6"], interrupted=True, commit="abc1234def", branch="main"
    )
    builder.add("a", "one", {"outcomes": {"quality": score(0.9)}})
    builder.add("a", "two", {"outcomes": {"quality": score(0.1)}})
    text = summary(builder, tmp_path)
    assert text.startswith(
        "# ✗ FAILED – 1 of 2 tests\n\nall 2 asked, answered and checked. Why: 1 × Quality: Score below the"
        " threshold\n\none and two cannot be told apart: one passes 1 question that two fails, none the other"
        " way, which may be chance.\n\nSuite · commit abc1234 · main\n"
    )
    assert "Gates not met: quality >= 0.6." in text
    assert "- ✗ quality >= 0.6: not met (one 0.9; two 0.1)" in text
    assert "| one | meets conditions | 1 of 1 | 0.9 ✓ |" in text
    assert "| two | misses conditions | 0 of 1 | 0.1 ✗ |" in text
    assert "- **high** Quality: 1 of 2 models below 0.5 (0.1)." in text
    assert "The run was interrupted" in text


def test_the_summary_has_the_reason_and_the_differing_words_of_a_failure(tmp_path):
    builder = RecordBuilder(boolean_evaluator(name="Text matching"))
    outcome = {"status": "score", "scores": {"model_passes": 0.0}, "reason": 'answer: lacks "5 USD"'}
    row = {
        "input": "What is the fee?",
        "expected_output": "It is 5 USD.",
        "actual_output": "It is 7 USD.",
        "output_condition": '"5 USD" AND "It"',
        "outcomes": {"text_matching": outcome},
    }
    item = builder.add("fee", "one", row)
    item["verdicts"]["text_matching"]["reason"] = outcome["reason"]
    text = summary(builder, tmp_path)
    assert '- What is the fee? (one, fee): Text matching: answer: lacks "5 USD"\n' in text
    assert '  - Not met: `"5 USD"`\n' in text
    assert "  - Expected: It is **5** USD.\n" in text
    assert "  - Answer: It is **7** USD.\n" in text


def test_a_boolean_leaderboard_shows_counts_and_percentages(tmp_path):
    builder = RecordBuilder(boolean_evaluator())
    for key, value in (("a", 1.0), ("b", 0.0)):
        outcome = {"status": "score", "scores": {"model_passes": value, "model_failures": 1 - value}}
        builder.add(key, "one", {"outcomes": {"text_matching": outcome}})
    text = leaderboard(analyse(builder.write(tmp_path), {}).leaderboards["text_matching"])
    assert "| 1 | one | 1 of 2, 50 % ✓ | – | – | – | 2 | 0 | 0 | 1 of 2, 50 % |" in text
    assert "Failures (" not in text  # they mirror the passes


def test_a_leaderboard_of_similarities_names_the_embedder(tmp_path):
    builder = RecordBuilder(evaluator("groundedness", embedder="mini_lm"), evaluator("rouge"))
    builder.add("a", "one", {"outcomes": {"groundedness": score(0.9), "rouge": score(0.9)}})
    boards = analyse(builder.write(tmp_path), {}).leaderboards
    assert "Scores and thresholds are of the embedder mini\\_lm.\n" in leaderboard(boards["groundedness"])
    assert "embedder" not in leaderboard(boards["rouge"])
