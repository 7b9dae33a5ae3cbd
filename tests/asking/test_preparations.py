"""Preparation of documents for the questions that wait for it."""

from __future__ import annotations

import asyncio

from pytest_evalstudio.asking.requesting import Preparations


def test_questions_go_on_in_the_order_in_which_they_came():
    """Also those that come in the moment in which the preparation has ended and nobody has woken yet."""

    async def order_of_ten() -> list[int]:
        preparations, gate = Preparations(), asyncio.Event()
        order: list[int] = []

        async def work() -> None:
            await gate.wait()

        async def question(number: int) -> None:
            await preparations.once((), work)
            order.append(number)

        tasks = [asyncio.create_task(question(number)) for number in range(3)]
        await asyncio.sleep(0)
        gate.set()
        for number in range(3, 10):
            tasks.append(asyncio.create_task(question(number)))
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(order_of_ten()) == list(range(10))
