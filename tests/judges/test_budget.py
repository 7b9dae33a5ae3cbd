"""Budgets of judges: calls and dollars, also where several workers spend them."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.purse import SharedPurse
from pytest_evalstudio.judges import budget
from pytest_evalstudio.judges.budget import Budget, BudgetLimits, Grant, LocalPurse
from support.children import LONGEST_WAIT_S, Children
from support.judging import ScriptedJudge, outcomes, verdicts
from support.openai_server import Reply, serve

BYOP = {"prompt": "Is {actual_output} right?"}


def rows(count: int) -> list[dict[str, Any]]:
    return [{"actual_output": f"It is {number}.", "context": [f"Fact {number}."]} for number in range(count)]


def test_a_budget_of_money_is_not_overspent_by_concurrent_calls() -> None:
    def judge(prompt: str) -> dict[str, Any]:
        return {"answer": '{"reason": "so", "verdict": "true"}', "cost_usd": 0.002}

    results = outcomes("byop", judge, *rows(40), options=BYOP, judge={"max_cost": 0.02, "concurrency": 16})
    assert sum(result.judging.calls for result in results if result.judging is not None) == 10
    assert [result.status for result in results].count("score") == 10
    assert "does not suffice for another call (judge.max_cost)" in results[-1].reason


def test_longer_prompts_are_expected_to_cost_more() -> None:
    def judge(prompt: str) -> dict[str, Any]:
        return {"answer": '{"reason": "so", "verdict": "true"}', "cost_usd": len(prompt) / 1000}

    long = {"actual_output": "word " * 4000, "context": []}
    results = outcomes("byop", judge, *rows(1), long, options=BYOP, judge={"max_cost": 10.0})
    assert [result.status for result in results] == ["score", "error"]


def test_judgements_are_finished_before_others_are_begun() -> None:
    """Two questions for each case; begun at once, all calls would go to first questions."""
    judge = ScriptedJudge({"claims that it makes": {"claims": ["a"]}, "claim": verdicts("claim", ["yes"])})

    async def slow(prompt: str) -> str:
        await asyncio.sleep(0.002)
        return judge(prompt)

    results = outcomes("faithfulness", slow, *rows(60), judge={"max_calls": 60, "concurrency": 16})
    assert len(judge.prompts) == 60
    assert [result.status for result in results].count("score") >= 22


def test_retries_count_as_calls() -> None:
    with serve() as service:
        service.default = Reply(status=503, headers={"Retry-After": "0"})
        judge = {
            "host": "openai_compatible",
            "target": None,
            "url": service.url,
            "llm_model_name": "m",
            "retries": 3,
            "max_calls": 6,
            "concurrency": 1,
        }
        results = outcomes("byop", {}, *rows(3), options=BYOP, judge=judge)
    assert len(service.requests) == 6
    assert "judge.max_calls" in results[-1].reason


def test_a_failed_first_call_does_not_hold_up_the_others() -> None:
    async def first_fails() -> list[Grant | str]:
        spender = Budget(limits=BudgetLimits(max_cost_usd=1.0))
        probe = await spender.reserve(10)
        assert isinstance(probe, Grant)
        waiting = asyncio.create_task(spender.reserve(10))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        spender.settle(probe, answered=False)
        return [probe, await asyncio.wait_for(waiting, budget.PROBE_S / 2)]

    assert all(isinstance(grant, Grant) for grant in asyncio.run(first_fails()))


def test_a_killed_process_that_asks_for_the_price_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "PROBE_S", 0.1)

    async def second() -> Grant | str:
        with AnswerCache(tmp_path) as cache:
            limits = BudgetLimits(max_cost_usd=1.0)
            killed, other = (Budget(limits=limits, purse=SharedPurse(cache.store, "run")) for _ in range(2))
            await killed.reserve(10)
            return await asyncio.wait_for(other.reserve(10), LONGEST_WAIT_S)

    assert isinstance(asyncio.run(second()), Grant)


def test_a_clock_that_was_set_back_holds_up_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start_s = time.time()

    async def second() -> Grant | str:
        with AnswerCache(tmp_path) as cache:
            limits = BudgetLimits(max_cost_usd=1.0)
            killed, other = (Budget(limits=limits, purse=SharedPurse(cache.store, "run")) for _ in range(2))
            monkeypatch.setattr(time, "time", lambda: start_s + 3 * 3600)
            await killed.reserve(10)
            monkeypatch.setattr(time, "time", lambda: start_s)
            return await asyncio.wait_for(other.reserve(10), budget.PROBE_S / 2)

    assert isinstance(asyncio.run(second()), Grant)


def test_reservations_of_others_are_spent_where_nothing_of_ours_is_open() -> None:
    async def admitted() -> Grant | str:
        purse = LocalPurse()
        purse.spending.usd.highest = 0.4
        limits = BudgetLimits(max_cost_usd=1.0)
        killed, other = Budget(limits=limits, purse=purse), Budget(limits=limits, purse=purse)
        await killed.reserve(1)
        await killed.reserve(1)
        return await asyncio.wait_for(other.reserve(1), LONGEST_WAIT_S)

    assert "judge.max_cost" in str(asyncio.run(admitted()))


SPEND = """
import asyncio
import sys
from pathlib import Path

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.purse import SharedPurse
from pytest_evalstudio.judges.budget import Budget, BudgetLimits, Grant, LocalPurse


async def spend(folder):
    with AnswerCache(Path(folder)) as cache:
        spender = Budget(limits=BudgetLimits(max_calls=45), purse=SharedPurse(cache.store, "run"))
        count = 0
        while isinstance(grant := await spender.reserve(10), Grant):
            spender.settle(grant, answered=True)
            count += 1
        return count


print(asyncio.run(spend(sys.argv[1])))
"""


def test_processes_spend_all_calls_of_one_purse_and_no_more(tmp_path: Path, children: Children) -> None:
    command = [sys.executable, "-c", SPEND, str(tmp_path)]
    workers = [children.start(command, tmp_path) for _ in range(2)]
    results = [worker.finish() for worker in workers]
    assert [each.returncode for each in results] == [0, 0], results
    counts = [int(each.out) for each in results]
    assert sum(counts) == 45


def test_calls_are_admitted_in_the_order_in_which_they_came() -> None:
    """A call that comes while others wait for the price of the first one does not overtake them."""

    async def order_of_five() -> list[int]:
        shared = Budget(limits=BudgetLimits(max_cost_usd=1.0))
        order: list[int] = []
        first = await shared.reserve(1)
        assert isinstance(first, Grant)

        async def call(number: int) -> None:
            assert isinstance(await shared.reserve(1), Grant)
            order.append(number)

        waiting = [asyncio.create_task(call(number)) for number in range(4)]
        await asyncio.sleep(0)
        shared.settle(first, answered=True, cost_usd=0.01)
        await asyncio.gather(call(4), *waiting)
        return order

    assert asyncio.run(order_of_five()) == [0, 1, 2, 3, 4]
