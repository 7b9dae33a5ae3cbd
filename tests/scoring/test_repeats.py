"""Sequential repeats: how many more an item takes, and the messages for numbers that allow no test."""

from __future__ import annotations

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.repeats import check_runs, further_repeats, needing_all_repeats
from pytest_evalstudio.stats.sequential import Sprt
from support.toys import toy_registry

DESIGN = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
"""Nine passes in a row are "pass", three failures "fail"."""


@pytest.mark.parametrize(
    ("states", "more"),
    [
        pytest.param([[True] * 2], 4, id="(ln 18 + 2 ln 9/7) / ln 3 = 3.1 failures are nearer than 7 passes"),
        pytest.param([[True] * 8], 1, id="one pass is missing"),
        pytest.param([[True] * 9], 0, id="passed"),
        pytest.param([[False] * 3], 0, id="failed"),
        pytest.param([[True] * 9, [True] * 8 + [None]], 1, id="the slower evaluator decides"),
        pytest.param([[True] * 8, [False] * 3], 0, id="one that fails ends it"),
        pytest.param([[None] * 3], 0, id="no evaluator says anything"),
        pytest.param([[True] * 8, [None] * 8], 1, id="one that says nothing does not count"),
        pytest.param([], 0, id="no evaluator"),
    ],
)
def test_repeats_go_on_until_the_test_may_decide(states: list[list[bool | None]], more: int) -> None:
    count = max((len(each) for each in states), default=0)
    assert further_repeats(DESIGN, states, count) == more


def test_no_more_repeats_than_allowed_are_asked_for() -> None:
    states = [[True] * 2]
    assert further_repeats(DESIGN, states, 19) == 1
    assert further_repeats(DESIGN, states, 20) == 0


def test_evaluators_of_groups_take_no_part() -> None:
    plan = Plan(toy_registry(), configuration({"evaluators": []}))
    reading, counting = plan.get("reading"), plan.get("counting")
    assert needing_all_repeats((reading, counting)) == {counting}
    assert needing_all_repeats((reading,)) == frozenset()


def test_numbers_that_allow_no_test_are_refused_with_their_place() -> None:
    impossible = {"stop": "sprt", "max": 2, "p0": 0.9, "p1": 0.7}
    check_runs(configuration({"runs": {**impossible, "max": 20}, "model": [{"name": "m", "host": "python"}]}))
    with pytest.raises(ConfigurationError, match=r"^configuration: runs: max = 2 allows no decision"):
        check_runs(configuration({"runs": impossible}))
    with pytest.raises(ConfigurationError, match=r"^configuration: model 'm': runs: max = 2 allows no"):
        check_runs(configuration({"model": [{"name": "m", "host": "python", "runs": impossible}]}))
