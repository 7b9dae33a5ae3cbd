"""The page in Chromium, by the keyboard alone: nothing is lost, nothing runs that a text says, nobody is shut
out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.labels import read_ratings
from support.children import Child, Children
from support.labelled_answers import drawn_scores
from support.review_workflows import labels_file, workflow
from tests.contrib.calibration.review.reports import report

pytestmark = pytest.mark.browser

ATTACKS = (
    "</p><script>alert(1)</script><img src=http://evil.example/x onerror=alert(2)> \u202egnp \u2066x {{7*7}}"
    " javascript:alert(3) {}"
)


Start = Callable[..., tuple[Child, str]]


@pytest.fixture
def start(children: Children) -> Start:
    """Start a server in a process of its own, as people do; return it with its address."""

    def run(path: Path, *options: str) -> tuple[Child, str]:
        command = [sys.executable, "-m", "pytest_evalstudio.cli", "review", path.name, "--no-browser"]
        process = children.start([*command, *options], path.parent)
        address = process.wait_until(lambda: re.search(r"http://\S+(?=\s)", process.out), "the address")
        return process, address.group()

    return run


def count(page: Any) -> int:
    return int(page.locator("#count").text_content().split()[0])


def press(page: Any, key: str) -> None:
    """Press a label's key, and wait until the label is kept."""
    result = count(page)
    page.keyboard.press(key)
    page.wait_for_function(
        "(done) => !document.body.hasAttribute('aria-busy') &&"
        " parseInt(document.getElementById('count').textContent) > done",
        arg=result,
    )


def key_on_page(page: Any) -> str:
    number = re.search(r"\d+", page.locator("#question").text_content())
    assert number is not None
    return f"k{int(number.group()):03}"


def test_fifty_labels_by_keyboard_and_a_killed_server(
    tmp_path: Path, start: Start, visit: Callable[..., Any]
) -> None:
    path = workflow(tmp_path, sample_size=50, rounds=5)
    process, address = start(path, "--rater", "al")
    page = visit(address)
    labels: dict[str, int] = {}

    def label(upto: int) -> None:
        while len(labels) < upto:
            key = key_on_page(page)
            agrees = len(labels) % 3 > 0
            page.keyboard.press("v")
            verdict = page.locator("#verdict b").text_content() == "good"
            press(page, "g" if verdict == agrees else "b")
            labels[key] = int(verdict == agrees)

    label(23)
    last = key_on_page(page)
    page.keyboard.press("g")  # and nobody waits for the answer
    process.end()
    stored_labels = {rating.key: rating.label for rating in read_ratings(labels_file(path))}
    stored_labels.pop(
        last, None
    )  # it may have reached the disk, or not; either way it was not acknowledged, or is asked no more
    assert stored_labels == labels
    page.keyboard.press("g")
    page.locator("#trouble").get_by_text("The server cannot be reached").wait_for()

    _, address = start(path, "--rater", "al")
    page = visit(address)
    labels = {rating.key: rating.label for rating in read_ratings(labels_file(path))}
    assert count(page) == len(labels) in (23, 24)
    label(50)
    page.locator("#finished").get_by_text("pytest bank_workflow.json").wait_for()
    assert {rating.key: rating.label for rating in read_ratings(labels_file(path))} == labels
    assert len(labels) == 50
    page.get_by_role("button", name="Go through them again").click()
    page.locator("#label-now", has_text="you called it").wait_for()
    assert page.locator("[aria-pressed=true]").locator("visible=true").count() == 1
    assert labels[key_on_page(page)] == int(page.locator("#label-now.good").count() == 1)


def test_undo_skip_and_moving(tmp_path: Path, start: Start, visit: Callable[..., Any]) -> None:
    path = workflow(tmp_path)
    page = visit(start(path)[1])
    first = key_on_page(page)
    page.keyboard.press("s")
    page.locator("#status", has_text="Skipped.").wait_for()
    second = key_on_page(page)
    press(page, "g")
    assert {rating.key: rating.label for rating in read_ratings(labels_file(path))} == {second: 1}
    page.keyboard.press("u")
    page.locator("#status", has_text="Undone. 0 of 40.").wait_for()
    assert (key_on_page(page), read_ratings(labels_file(path))) == (second, [])
    press(page, "b")
    page.keyboard.press("ArrowLeft")
    page.locator("#label-now", has_text="you called it bad").wait_for()
    assert key_on_page(page) == second
    page.keyboard.press("k")
    page.locator("#place", has_text="Answer 1 of").wait_for()
    assert key_on_page(page) == first
    page.keyboard.press("k")
    page.locator("#status", has_text="This is the first answer.").wait_for()
    for _ in range(8):
        page.keyboard.press("s")
        page.wait_for_function("() => !document.body.hasAttribute('aria-busy')")
    page.keyboard.press("s")  # what was skipped comes again at the end
    page.locator("#place", has_text="Answer 1 of").wait_for()


def test_help_and_keys_that_are_off(tmp_path: Path, start: Start, visit: Callable[..., Any]) -> None:
    path = workflow(tmp_path)
    page = visit(start(path)[1])
    page.keyboard.press("?")
    page.get_by_role("dialog", name="How to label").wait_for()
    page.keyboard.press("g")
    page.get_by_label("Single-letter shortcuts").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.wait_for_timeout(200)
    assert not labels_file(path).exists()
    page.reload()
    page.locator("#case").wait_for()  # the token is kept for this tab
    page.keyboard.press("g")
    page.get_by_role("button", name=re.compile("Good")).first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('count').textContent.startsWith('1 ')")


def test_good_and_bad_keep_their_places_whatever_the_metric_says(
    tmp_path: Path, start: Start, visit: Callable[..., Any]
) -> None:
    page = visit(start(workflow(tmp_path))[1])
    verdicts = set()
    for _ in range(10):
        good, bad = page.locator("#good").bounding_box(), page.locator("#bad").bounding_box()
        assert good["x"] < bad["x"]
        assert page.locator("#verdict b").count() == 0
        page.keyboard.press("v")
        verdicts.add(page.locator("#verdict b").text_content())
        press(page, "g")
    assert verdicts == {"good", "bad"}


def test_a_key_that_is_held_down_labels_once(tmp_path: Path, start: Start, visit: Callable[..., Any]) -> None:
    page = visit(start(workflow(tmp_path))[1])
    for _ in range(5):
        page.keyboard.down("g")
    page.wait_for_timeout(500)
    assert count(page) == 1


def test_the_token_leaves_the_address(
    tmp_path: Path, start: Start, visit: Callable[..., Any], chromium: Any
) -> None:
    address = start(workflow(tmp_path))[1]
    page = visit(address)
    assert page.url == address.partition("#")[0]
    stranger = chromium.new_context().new_page()
    stranger.goto(page.url)
    stranger.locator("#trouble", has_text="open the address that the terminal shows").wait_for()
    assert stranger.locator("#question").text_content() == ""
    stranger.context.close()


def test_the_blind_are_asked_for_good_or_bad(tmp_path: Path, start: Start, visit: Callable[..., Any]) -> None:
    path = workflow(tmp_path)
    page = visit(start(path, "--blind")[1])
    assert page.locator("#verdict").text_content() == "Is this answer good?"
    page.keyboard.press("v")
    page.wait_for_timeout(200)
    assert page.locator("#verdict").text_content() == "Is this answer good?"
    page.get_by_role("button", name="Bad").click()
    page.locator("#status", has_text="Labelled bad. 1 of 40.").wait_for()


def test_uncertain_answers_of_a_report(tmp_path: Path, start: Start, visit: Callable[..., Any]) -> None:
    page = visit(start(report(tmp_path / "evalstudio-report"))[1])
    assert page.locator("#title").text_content() == "Suite: words.calibrated_probability: review of answers"
    assert page.locator("#place").text_content() == "Answer 1 of 3"
    assert page.locator("#verdict").text_content() == "Is this answer good?"
    page.keyboard.press("v")
    page.locator("#verdict b").wait_for()
    sentence = page.locator("#verdict").text_content()
    assert (
        sentence == "Calibrated probability of words: 0.52 (good: ≥ 0.5). The metric calls the answer good; "
        "uncertain: both good and bad are in the 0.9 prediction set. Is this answer good?"
    )
    for key in "bbb":
        press(page, key)
    page.locator(
        "#finished .command",
        has_text="evalstudio calibrate evalstudio-report labels.csv --metric words.supported",
    ).wait_for()
    assert (
        page.locator("#finished .advice")
        .text_content()
        .startswith("labels of uncertain answers alone are no sample")
    )
    assert {rating.key: rating.label for rating in read_ratings(tmp_path / "labels.csv")} == {
        "even": 0,
        "unlikely": 0,
        "likely": 0,
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 320])
def test_texts_stay_texts_and_everything_fits(
    tmp_path: Path, start: Start, visit: Callable[..., Any], scheme: str, width: int
) -> None:
    path = workflow(tmp_path, drawn_scores(40), text=ATTACKS + "long" * 300)
    page = visit(start(path)[1], viewport={"width": width, "height": 700}, color_scheme=scheme)
    assert (
        page.locator("#answer")
        .text_content()
        .startswith("</p><script>alert(1)</script><img src=http://evil.example/x")
    )
    assert page.locator("article img, article script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#good").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    tmp_path: Path, start: Start, visit: Callable[..., Any], axe: str, scheme: str
) -> None:
    page = visit(start(workflow(tmp_path))[1], color_scheme=scheme, bypass_csp=True)
    page.evaluate(axe)
    for step in ("v", "g", "?"):
        page.keyboard.press(step)
        page.wait_for_timeout(300)
        result = page.evaluate(
            "async () => (await axe.run()).violations.map((one) => [one.id, one.nodes.map((node) =>"
            " node.html)])"
        )
        assert result == []


def test_focus_and_what_is_said_follow_the_answer(
    tmp_path: Path, start: Start, visit: Callable[..., Any]
) -> None:
    page = visit(start(workflow(tmp_path))[1])
    press(page, "g")
    assert page.evaluate("document.activeElement.id") == "question-title"
    assert page.locator("[role=status]").text_content() == "Labelled good. 1 of 40."
    assert page.locator("#question").get_attribute("dir") == "auto"
