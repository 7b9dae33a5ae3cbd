"""The page of a voter in Chromium, by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.arena.battle_files import read_battles
from pytest_evalstudio.contrib.arena.store import BattleStore
from pytest_evalstudio.contrib.arena.votes import VoteSession
from pytest_evalstudio.contrib.calibration.review.server import ReviewServer
from pytest_evalstudio.core.cases import Answer, Case

pytestmark = pytest.mark.browser
ATTACK = "<img src=http://evil.example/x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReviewServer]:
    answers = [
        Case(key=f"p{number}", question=f"Question {number}?", answer=Answer(text=text), model_key=name)
        for name, text in (("alpha", f"  yes {ATTACK}"), ("beta", "no"))
        for number in range(3)
    ]
    session = VoteSession(answers, BattleStore(tmp_path / "b.csv"), rater="ann", title="Bank")
    serving = ReviewServer(session)
    serving.start()
    yield serving
    serving.close()


def press(page: Any, key: str, count: int) -> None:
    page.keyboard.press(key)
    page.wait_for_function(
        "(done) => !document.body.hasAttribute('aria-busy') &&"
        " parseInt(document.getElementById('count').textContent) === done",
        arg=count,
    )


def test_votes_by_keyboard_are_kept_and_undone(
    server: ReviewServer, visit: Callable[..., Any], tmp_path: Path
) -> None:
    page = visit(server.address)
    sides = []
    for result, key in enumerate("12t", 1):
        sides.append(page.locator("#first").inner_text().startswith("yes"))
        press(page, key, result)
    page.locator("#finished").wait_for()
    winners = [battle.winner for battle in read_battles(tmp_path / "b.csv")]
    assert winners == ["model_a", "model_b", "tie"]
    first = [battle.model_a == "alpha" for battle in read_battles(tmp_path / "b.csv")]
    assert first == sides
    press(page, "u", 2)
    assert len(read_battles(tmp_path / "b.csv")) == 2


def test_the_names_of_the_models_never_reach_the_page(
    server: ReviewServer, visit: Callable[..., Any]
) -> None:
    page = visit(server.address)
    content = page.content()
    assert "alpha" not in content
    assert "beta" not in content


@pytest.mark.parametrize("width", [390, 1280])
def test_everybody_can_use_it(server: ReviewServer, visit: Callable[..., Any], axe: str, width: int) -> None:
    page = visit(server.address, viewport={"width": width, "height": 800})
    page.evaluate(axe)
    assert page.evaluate("axe.run().then((found) => found.violations.map((one) => one.id))") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
