"""Layout: names, keys and buttons at each width and number of models, history, and paper."""

from __future__ import annotations

import io
import unicodedata

import pytest
from pypdf import PdfReader

from pytest_evalstudio.analysis.comparison.history import history_of
from pytest_evalstudio.analysis.comparison.sides import read_side
from pytest_evalstudio.report.build import build_report
from support.project import Project
from support.records import RecordBuilder, boolean_evaluator, evaluator, score
from support.report_runs import lab_run
from support.workflow_steps import STEPS, write

pytestmark = pytest.mark.browser

KEY = "1f2e3d4c-0000-4000-8000-000000000000"
LONG_NAMES = ("h2oai/h2ogpt-4096-llama2-70b-chat-full-precision", "gpt-4")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The page of sixteen models."""
    folder = tmp_path_factory.mktemp("lab")
    return build_report(lab_run(cases=30).write(folder), folder / "report", {}).page


@pytest.fixture
def workflow(pytester: pytest.Pytester) -> Project:
    project = Project(pytester)
    project.write("conftest.py", STEPS)
    project.write("text.md", "Some text.")
    write(project)
    return project


def failing(models=("one",), key="k", evaluators=(), **row):
    builder = RecordBuilder(*(evaluators or (boolean_evaluator(),)), models=models)
    for model in models:
        builder.add(key, model, {"outcomes": {"text_matching": score(0.0, "model_passes")}, **row})
    return builder


def test_tabs_stay_in_sight_on_a_phone(visit, lab):
    page = visit(lab, "#evidence", viewport={"width": 390, "height": 800})
    page.evaluate("scrollTo(0, 1500)")
    assert page.evaluate("scrollY") > 1000
    assert page.locator("nav.tabs").bounding_box()["y"] == 0


def test_close_keeps_its_margin_on_a_phone(visit, lab):
    page = visit(lab, "#matrix", viewport={"width": 390, "height": 800})
    page.locator("tr[data-place]").first.click()
    box = page.locator("#panel .close").bounding_box()
    assert 390 - (box["x"] + box["width"]) >= 12


def test_other_models_fold_from_seven_on(visit, lab):
    page = visit(lab, "#matrix")
    page.locator("tr[data-place]").first.click()
    others = page.locator("#panel .others .other")
    page.locator("#panel .others").wait_for()
    assert others.count() == 6
    page.locator("#panel .others button", has_text="9 more models").click()
    assert others.count() == 15


def test_a_uuid_is_brief_and_copied_in_full(visit, build_page):
    page = visit(build_page(failing(key=KEY)), f"#case=bank_suite.json%3A%3A{KEY}[one]")
    page = (
        page if page.locator("#panel .key-copy").count() else visit(build_page(failing(key=KEY)), "#matrix")
    )
    if page.locator("#panel").is_hidden():
        page.locator("tr[data-place]").first.click()
    button = page.locator("#panel .key-copy")
    assert button.inner_text() == KEY[:8]
    assert button.get_attribute("data-copy") == KEY


def test_the_title_of_a_case_is_one_line_and_the_reason_comes_first(visit, build_page):
    question = "Which of the fees that the bank charges for cards and transfers abroad apply here? " * 3
    page = visit(build_page(failing(input=question, expected_output="None.")), "#matrix")
    page.locator("tr[data-place]").first.click()
    assert page.locator("#panel-title").bounding_box()["height"] < 40
    titles = page.locator("#panel .pinned .panel-title").all_inner_texts()
    assert titles.index("Question") < titles.index("Expected")


def test_a_long_answer_is_scrolled_to_its_first_mark(visit, build_page):
    answer = "A plain sentence that is fine. " * 200 + "The fee is wrong." + " More plain words." * 200
    start = answer.index("The fee is wrong.")
    mark = {"part": "answer", "start": start, "end": start + 17, "scores": {"score": 0.0}, "message": "wrong"}
    outcome = {"status": "score", "scores": {"score": 0.1}, "fragments": [mark]}
    builder = RecordBuilder(evaluator("quality"))
    builder.add("k", "one", {"actual_output": answer, "outcomes": {"quality": outcome}})
    page = visit(build_page(builder), "#matrix")
    page.locator("tr[data-place]").first.click()
    frame = page.locator("#panel .answer-column .text").first.bounding_box()
    bad = page.locator("#panel .answer-column mark.bad").first.bounding_box()
    assert frame["y"] <= bad["y"] <= frame["y"] + frame["height"]


def test_cells_of_the_matrix_are_reached_by_keyboard(visit, build_page):
    page = visit(build_page(failing(models=("alpha", "beta", "gamma"))), "#matrix")
    page.locator("table.case-table").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    assert page.locator("table.case-table").get_attribute("aria-activedescendant") == "cell-0-2"
    page.keyboard.press("Enter")
    page.locator("#panel .answer-model", has_text="beta").wait_for()


def test_a_model_has_one_label_everywhere_and_its_name_as_title(visit, build_page):
    path = build_page(failing(models=LONG_NAMES))
    heads = visit(path).locator("#heatmap tbody th")
    labels = heads.locator("bdi").all_inner_texts()
    columns = visit(path, "#matrix").locator(".case-table thead .model-cell")
    assert sorted(columns.all_inner_texts()) == sorted(labels)
    assert any(
        heads.nth(place).get_attribute("title").startswith(LONG_NAMES[0]) for place in range(len(labels))
    )


@pytest.mark.parametrize("width", [390, 640])
def test_no_tab_is_wider_than_a_small_screen(visit, lab, width):
    page = visit(lab, viewport={"width": width, "height": 800})
    for tab in page.locator("[data-tab-link]").all():
        tab.evaluate("(link) => link.click()")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab.inner_text()


def test_the_history_has_charts_of_pass_rate_cost_and_seconds(visit, tmp_path):
    sides = []
    for day in (1, 2):
        builder = RecordBuilder(
            evaluator("quality"), created=f"2026-11-0{day}T10:00:00+00:00", run_id=str(day)
        )
        for number in range(4):
            row = {"outcomes": {"quality": score(number / 4)}, "cost": 0.01 * day, "actual_duration": 2.0}
            builder.add(f"k{number}", "one", row)
        sides.append(read_side(builder.run, builder.typed_items))
    page_file = build_report(builder.write(tmp_path), tmp_path / "r", {}, history=history_of(sides)).page
    page = visit(page_file, "#compare")
    charts = page.locator("#compare .pictures > figure > img:visible")
    assert [chart.get_attribute("alt") for chart in charts.all()] == [
        "Pass rate",
        "Cost per answer, USD",
        "Seconds per answer",
    ]
    assert all(chart.bounding_box()["height"] > 100 for chart in charts.all())


def words_of(pdf):
    pages = PdfReader(io.BytesIO(pdf)).pages
    return len(pages), unicodedata.normalize("NFKC", "".join(sheet.extract_text() for sheet in pages))


def test_the_brief_has_all_of_eighteen_models_the_worst_first(visit, build_page):
    models = tuple(f"model-{letter}" for letter in "abcdefghijklmnopqr")
    page = visit(build_page(lab_run(models=models, cases=20)))
    count, words = words_of(page.pdf(format="A4"))
    assert count <= 2
    table = words.partition("Each model")[2]
    positions = [table.find(name.removeprefix("model-")) for name in models]
    assert -1 not in positions
    shares = page.locator("#heatmap tbody tr").evaluate_all("(rows) => rows.map((row) => row.dataset.model)")
    first = page.locator(".brief tbody th").first.text_content()
    assert first in shares[-1]


def test_badges_have_an_outline_on_paper(visit, varied):
    page = visit(varied, "#failures")
    page.emulate_media(media="print")
    colours = page.locator(".badge-word.failed").first.evaluate(
        "(badge) => [getComputedStyle(badge).backgroundColor, getComputedStyle(badge).borderTopStyle]"
    )
    assert colours == ["rgba(0, 0, 0, 0)", "solid"]


def test_the_report_of_a_workflow_has_tabs_without_scripts_and_prints_its_findings(
    chromium, workflow: Project
):
    workflow.run()
    address = (workflow.folder / "bank_workflow_artifacts" / "workflow_report.html").as_uri()
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    selector = "main > section:visible"
    assert [part.get_attribute("id") for part in page.locator(selector).all()] == ["summary"]
    page.locator("nav.tabs a", has_text="Findings").click()
    assert [part.get_attribute("id") for part in page.locator(selector).all()] == ["problems"]
    page.locator("nav.tabs a", has_text="Steps").click()
    page.locator("#steps table a", has_text="Fifth").click()
    assert page.locator(".one-step:visible").count() == 1
    assert page.locator("img[alt='A cut & its place']").is_visible()
    assert page.evaluate("document.documentElement.scrollHeight") < 2000
    _, words = words_of(page.pdf(format="A4"))
    assert "Scores below 0.5." in words
    page.emulate_media(media="print")
    assert (
        page.locator("#artifacts, .step-problems, .one-step details:visible").locator("visible=true").count()
        == 0
    )
    picture = page.locator("img[alt='A cut & its place']").bounding_box()
    assert picture["width"] < page.locator("#steps").bounding_box()["width"] / 2
    page.close()
