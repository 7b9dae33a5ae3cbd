"""Markdown: what people said stays plain words."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from pytest_evalstudio.core.markdown import escaped
from pytest_evalstudio.engine.analysis.analyse import analyse
from pytest_evalstudio.report.markdown import leaderboard, summary
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


def test_the_summary_names_counts_gates_and_the_gravest_problems(tmp_path):
    builder = RecordBuilder(models=("one", "two"), gates=["quality >= 0.6"], interrupted=True)
    builder.add("a", "one", {"outcomes": {"quality": score(0.9)}})
    builder.add("a", "two", {"outcomes": {"quality": score(0.1)}})
    text = summary(analyse(builder.write(tmp_path), {}))
    assert "**2 items**: 1 passed, 1 failed." in text
    assert "- ✗ quality >= 0.6: not met (one 0.9; two 0.1)" in text
    assert "| one | 0.9 ✓ |" in text
    assert "- **high** Quality: mean Score of model 'two' is 0.1" in text
    assert "interrupted" in text


def test_a_boolean_leaderboard_shows_counts_and_percentages(tmp_path):
    builder = RecordBuilder(boolean_evaluator())
    for key, value in (("a", 1.0), ("b", 0.0)):
        outcome = {"status": "score", "scores": {"model_passes": value, "model_failures": 1 - value}}
        builder.add(key, "one", {"outcomes": {"text_matching": outcome}})
    text = leaderboard(analyse(builder.write(tmp_path), {}).leaderboards["text_matching"])
    assert (
        "| 1 | one | 1 of 2, 50.0 % ✓ | 1 of 2, 50.0 % ✓ | – | – | – | 2 | 0 | 0 | 1 of 2, 50.0 % |" in text
    )


def test_a_leaderboard_of_similarities_names_the_embedder(tmp_path):
    builder = RecordBuilder(evaluator("groundedness", embedder="mini_lm"), evaluator("rouge"))
    builder.add("a", "one", {"outcomes": {"groundedness": score(0.9), "rouge": score(0.9)}})
    boards = analyse(builder.write(tmp_path), {}).leaderboards
    assert "Scores and thresholds are of the embedder mini\\_lm.\n" in leaderboard(boards["groundedness"])
    assert "embedder" not in leaderboard(boards["rouge"])
