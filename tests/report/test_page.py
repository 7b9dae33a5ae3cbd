"""The page: texts stay texts, nothing is loaded, what is left out is said."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import re

from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.report.assets import SCRIPTS, STYLES, script
from pytest_evalstudio.report.build import build_report
from support.records import RecordBuilder, evaluator, metric, score

HOSTILE = (
    "<script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)>\u202egnp.exe \"'`{{7*7}}{%"
    " raw %}"
)


class Tags(html.parser.HTMLParser):
    """All elements of a page with their attributes, and the depth that remains open."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr", "wbr"})

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def page(builder, folder):
    return build_report(builder.write(folder), folder, {}).page.read_text(encoding="utf-8")


def test_the_part_of_an_evaluator_says_how_it_differs_from_other_tools(tmp_path):
    difference = "F1 with stems; other tools print recall."
    builder = RecordBuilder(evaluator("rouge", difference=difference), evaluator("quality"))
    builder.add("a", "one", {"outcomes": {"rouge": score(0.9), "quality": score(0.9)}})
    text = page(builder, tmp_path)
    method, sentence = text.index("<dt>Method</dt>"), text.index(f"<dd>{difference}</dd>")
    assert method < sentence < text.index("<summary>Metrics</summary>")
    assert text.count("Differs from other tools") == 1


def hostile_run():
    builder = RecordBuilder(
        evaluator("quality", metric(), description=HOSTILE, name=HOSTILE, parameters={HOSTILE: HOSTILE}),
        gates=["quality > 1"],
    )
    builder.header["models"]["m-one"].update(
        name=HOSTILE, model_cfg={"url": "javascript:alert(3)"}, documents=["javascript:alert(4)"]
    )
    builder.header["files"][0].update(name=HOSTILE, path="javascript:alert(5)")
    fragments = [
        {"part": "answer", "start": 3, "end": 30, "message": HOSTILE},
        {"part": "context:0", "start": 0, "end": 9, "scores": {"score": 0.1}},
    ]
    finding = {
        "description": HOSTILE,
        "severity": "high",
        "problem_type": "security",
        "avid": "S0400",
        "actions": HOSTILE,
    }
    row = {
        "input": HOSTILE,
        "actual_output": HOSTILE,
        "expected_output": HOSTILE,
        "context": [HOSTILE],
        "output_condition": HOSTILE,
        "categories": [HOSTILE],
        "outcomes": {"quality": score(0.1, reason=HOSTILE, fragments=fragments, findings=[finding])},
    }
    builder.add(HOSTILE, "one", row)
    builder.add(
        "down", "one", {"error": HOSTILE, "outcomes": {"quality": {"status": "error", "reason": HOSTILE}}}
    )
    return builder


def test_no_text_becomes_markup(tmp_path):
    report = build_report(hostile_run().write(tmp_path), tmp_path, {})
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) == 3
    for path in pages:
        tags = Tags(path.read_text(encoding="utf-8"))
        assert not tags.open
        names = {tag for tag, _ in tags.found}
        assert not names & {"img", "iframe", "object", "embed", "link", "form", "base"}
        scripts = [attrs for tag, attrs in tags.found if tag == "script"]
        assert all(set(attrs) <= {"type", "id"} for attrs in scripts)
        assert len([attrs for attrs in scripts if "type" not in attrs]) == (2 if path == report.page else 0)
        assert not any(name.startswith("on") or name == "style" for _, attrs in tags.found for name in attrs)
        assert not any("javascript:" in (attrs.get("href") or "") for _, attrs in tags.found)
    assert "{{7*7}}{% raw %}" in report.page.read_text(encoding="utf-8")


def digest(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_policy_allows_the_own_style_and_scripts_and_nothing_else(tmp_path):
    text = page(hostile_run(), tmp_path)
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL).group(1)
    scripts = " ".join(digest(script) for script in re.findall(r"<script>(.*?)</script>", text, re.DOTALL))
    policy = next(
        attrs["content"]
        for tag, attrs in Tags(text).found
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert (
        policy
        == f"default-src 'none'; script-src {scripts}; style-src {digest(style)}; img-src data:; base-uri"
        " 'none'; form-action 'none'"
    )
    assert "url(" not in style
    assert "@import" not in style


def test_an_answer_of_a_megabyte_is_cut_and_the_page_says_so(tmp_path):
    pages = []
    for name, answer in (("short", "x"), ("long", "x" * 1_000_000)):
        (tmp_path / name).mkdir()
        builder = RecordBuilder()
        builder.add("a", "one", {"actual_output": answer, "outcomes": {"quality": score(0.1)}})
        pages.append(page(builder, tmp_path / name))
    short, text = pages
    assert len(text) - len(short) < 5_000
    assert "998,500 more characters; the results files hold all of them" in text


def test_failures_are_bounded_and_the_worst_stay(tmp_path):
    builder = RecordBuilder()
    for number in range(300):
        builder.add(f"k{number}", "one", {"outcomes": {"quality": score(round(0.49 - number / 1_000, 4))}})
    text = page(builder, tmp_path)
    keys = re.findall(r'<span class="key"><bdi>(k\d+)</bdi>', text.partition('id="failures"')[2])
    assert keys == [f"k{number}" for number in range(60)]
    assert "240 more are in the" in text
    fragment = next(tmp_path.rglob("global_html_fragment/text_html/*.html")).read_text(encoding="utf-8")
    worst = re.findall(r'<bdi class="case">(k\d+)</bdi>', fragment)
    assert worst == [f"k{number}" for number in range(299, 274, -1)]


def test_the_worst_repeat_is_the_one_shown(tmp_path):
    builder = RecordBuilder()
    rows = [
        {"actual_output": "fine", "outcomes": {"quality": score(1.0)}},
        {"actual_output": "poor", "outcomes": {"quality": score(0.0)}},
    ]
    verdict = {"status": "score", "passed": False, "scores": {"score": 0.45}, "missed": ["score"]}
    builder.add("a", "one", *rows, verdicts={"quality": verdict})
    text = page(builder, tmp_path)
    assert ">poor</div>" in text
    assert ">fine</div>" not in text


def test_every_section_has_a_heading_and_a_link(tmp_path):
    text = page(hostile_run(), tmp_path)
    tags = Tags(text).found
    anchors = {attrs["id"].removeprefix("part-") for tag, attrs in tags if tag == "section"}
    linked = {attrs["href"][1:] for tag, attrs in tags if tag == "a" and attrs["href"].startswith("#")}
    assert anchors == set(Registry().sections) - {
        "arena",
        "causes",
        "comparison",
        "flips",
        "history",
        "holdout",
        "mutation",
        "repeats",
        "tools",
        "workflows",
    }
    tabs = {attrs["data-tab"] for _, attrs in tags if "data-tab" in attrs}
    assert tabs == {Registry().sections.spec(id).tab for id in anchors}
    assert tabs <= linked
    ids = {attrs["id"] for _, attrs in tags if "id" in attrs}
    assert {place.partition("?")[0] for place in linked if not place.startswith("case=")} <= ids | tabs


def test_tables_have_headers_and_the_page_has_landmarks(tmp_path):
    tags = Tags(page(hostile_run(), tmp_path)).found
    assert {"header", "nav", "main", "footer", "h1"} <= {tag for tag, _ in tags}
    assert all(attrs.get("scope") in ("col", "row", "rowgroup") for tag, attrs in tags if tag == "th")
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_scores_of_similarity_stand_beside_the_embedder_that_they_are_of(tmp_path):
    builder = RecordBuilder(evaluator("groundedness", embedder="<b>MiniLM"), evaluator("rouge"))
    builder.add(
        "a",
        "one",
        {"actual_output": "An answer.", "outcomes": {"groundedness": score(0.2), "rouge": score(0.9)}},
    )
    text = page(builder, tmp_path)
    assert (
        text.count("<bdi>&lt;b&gt;MiniLM</bdi>") == 3
    )  # the evaluator's facts, its metrics, the thresholds in force
    assert "<b>MiniLM" not in text


def test_sentences_of_a_failed_answer_are_coloured_by_their_scores(tmp_path):
    builder = RecordBuilder(evaluator("groundedness", metric("groundedness")))
    fragments = [
        {"part": "answer", "start": 0, "end": 9, "scores": {"groundedness": 0.9}},
        {"part": "answer", "start": 10, "end": 23, "scores": {"groundedness": 0.125}},
    ]
    outcome = score(0.125, "groundedness", reason="least grounded sentence", fragments=fragments)
    verdict = {
        "status": "score",
        "passed": False,
        "scores": {"groundedness": 0.125},
        "missed": ["groundedness"],
    }
    builder.add(
        "a",
        "one",
        {"actual_output": "It is so. And pigs fly.", "outcomes": {"groundedness": outcome}},
        verdicts={"groundedness": verdict},
    )
    text = page(builder, tmp_path)
    assert '<mark class="good" title="Groundedness 0.9">It is so.<' in text
    assert '<mark class="bad" title="Groundedness 0.125">And pigs fly.<' in text


def test_standards_are_listed_with_the_evaluators_that_serve_them(tmp_path):
    builder = RecordBuilder(
        evaluator("quality", keywords=["nist-ai-rmf-safe", "sr-11-7-of-our-own"]),
        evaluator("rouge", keywords=["sr-11-7-outcomes-analysis"]),
    )
    builder.add("a", "one", {"outcomes": {"quality": score(0.9), "rouge": score(0.1)}})
    text = page(builder, tmp_path)
    section = re.search(r'<section class="part" id="standards".*?</section>', text, re.DOTALL).group(0)
    rows = {
        re.search(r"<bdi>(.*?)</bdi>", row).group(1): re.findall(
            r'href="#evaluator-\d+"><bdi>(.*?)</bdi>', row
        )
        for row in section.split('<tr><th scope="row">')[1:]
    }
    evaluators = {name: titles for name, titles in rows.items() if titles}
    assert evaluators == {"Safe": ["Quality"], "Outcomes analysis": ["Rouge"], "of our own": ["Quality"]}
    assert (
        section.count('<span class="quiet">not covered</span>') == 8
    )  # of seven parts of NIST AI RMF and three of SR 11-7
    assert section.count("✗ 1 of 1") == 1  # rouge misses its threshold


def test_weak_points_are_the_lowest_scores_of_each_metric(tmp_path):
    builder = RecordBuilder(
        evaluator("quality", metric("first"), metric("second", primary=False, better="lower"))
    )
    for number in range(8):
        outcomes = {"quality": {"status": "score", "scores": {"first": number / 8, "second": number / 8}}}
        builder.add(f"k{number}", "one", {"outcomes": outcomes})
    text = page(builder, tmp_path)
    table = re.search(r'aria-label="Lowest scores by Quality">.*?</table>', text, re.DOTALL).group(0)
    assert re.findall(r'class="case-link"[^>]*><bdi>(k\d)</bdi>', table) == [
        "k0",
        "k1",
        "k2",
        "k3",
        "k4",
        "k7",
        "k6",
        "k5",
        "k4",
        "k3",
    ]


def test_the_fixed_part_of_the_page_is_small(tmp_path):
    assert len(page(RecordBuilder(), tmp_path).encode()) < 250_000


def test_no_script_builds_markup_from_text():
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
        "setAttribute('style'",
        "fetch(",
        "XMLHttpRequest",
    ):
        assert word not in script()
    assert "</script" not in script().lower()


def test_a_model_held_against_thresholds_of_its_own_cases_says_so(tmp_path):
    builder = RecordBuilder(models=("one", "two"))
    verdict = {
        "status": "score",
        "passed": True,
        "scores": {"score": 0.3},
        "missed": [],
        "thresholds": {"score": 0.25},
    }
    builder.add("a", "one", {"outcomes": {"quality": score(0.3)}}, verdicts={"quality": verdict})
    builder.add("a", "two", {"outcomes": {"quality": score(0.6)}})
    text = page(builder, tmp_path)
    assert text.count("threshold here: ≥ 0.25") == 1  # the leaderboard
    assert "meet thresholds of the cases (varies)" in text
    assert "<td>varies: 0.25</td>" in text
    assert re.findall(r'<line class="threshold" x1="([\d.]+)"', text) == ["400.0", "300.0"]


def test_every_script_is_used_once():
    assert len(set(SCRIPTS)) == len(SCRIPTS)
    assert len(set(STYLES)) == len(STYLES)


def test_without_insights_the_page_claims_nothing_about_failures(tmp_path):
    builder = RecordBuilder(models=("one", "two"))
    for key, first, second in (("a", 0.9, 0.4), ("b", 0.4, 0.8), ("c", 0.7, 0.6)):
        builder.add(key, "one", {"outcomes": {"quality": score(first)}})
        builder.add(key, "two", {"outcomes": {"quality": score(second)}})
    page = build_report(builder.write(tmp_path), tmp_path, {}).page.read_text(encoding="utf-8")
    assert "No insight: no model and no prompt stands apart." in page
