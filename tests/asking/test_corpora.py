from __future__ import annotations

import asyncio
import time

import pytest

from pytest_evalstudio.asking import corpora
from pytest_evalstudio.asking.corpora import CorpusRegister
from support.children import LONGEST_WAIT_S


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(corpora, "OTHERS_S", 0.01)


@pytest.fixture
def registers(tmp_path):
    """Two processes, or two runs, that share a cache folder."""
    both = CorpusRegister(tmp_path), CorpusRegister(tmp_path)
    yield both
    for register in both:
        register.close()


async def yes(collection):
    return True


def maker(made, fault=None):
    async def make():
        await asyncio.sleep(0.05)
        if fault:
            raise fault
        made.append(f"c{len(made) + 1}")
        return made[-1]

    return make


def test_a_collection_is_made_once_and_removed_by_its_last_user(registers):
    made = []

    async def use():
        ids = await asyncio.gather(*(register.acquire("k", maker(made), yes) for register in registers))
        first = await registers[0].release("k", keep=False)
        return ids, first, await registers[1].release("k", keep=False)

    assert asyncio.run(use()) == (["c1", "c1"], "", "c1")


def test_after_a_failure_the_next_one_makes_it(registers):
    made = []

    async def use():
        first = registers[0].acquire("k", maker(made, OSError("no space")), yes)
        second = registers[1].acquire("k", maker(made), yes)
        return await asyncio.gather(first, second, return_exceptions=True)

    fault, collection = asyncio.run(use())
    assert isinstance(fault, OSError)
    assert (collection, made) == ("c1", ["c1"])


def test_a_killed_process_holds_up_nobody(registers, monkeypatch):
    made = []

    async def use():
        monkeypatch.setattr(corpora, "LEASE_S", 0.1)
        registers[0]._turn("k")  # killed while it ingested
        collection = await asyncio.wait_for(
            registers[1].acquire("k", maker(made), yes), timeout=LONGEST_WAIT_S
        )
        registers[0]._turn("k")  # killed while it used the collection
        await asyncio.sleep(0.15)
        return collection, await registers[1].release("k", keep=False)

    assert asyncio.run(use()) == ("c1", "c1")


def test_a_clock_that_was_set_back_holds_up_nobody(registers, monkeypatch):
    made = []
    now = time.time()

    async def use():
        monkeypatch.setattr(time, "time", lambda: now + 3 * 3600)
        registers[0]._turn("k")  # killed while it ingested
        monkeypatch.setattr(time, "time", lambda: now)
        await asyncio.wait_for(registers[1].acquire("k", maker(made), yes), timeout=LONGEST_WAIT_S)
        monkeypatch.setattr(time, "time", lambda: now + 3 * 3600)
        registers[0]._turn("k")  # killed while it used the collection
        monkeypatch.setattr(time, "time", lambda: now)
        return await registers[1].release("k", keep=False)

    assert asyncio.run(use()) == "c1"


def test_a_use_is_renewed(registers, monkeypatch):
    monkeypatch.setattr(corpora, "LEASE_S", 0.8)
    made = []

    async def use():
        for register in registers:
            await register.acquire("k", maker(made), yes)
        await asyncio.sleep(2.0)
        return [await register.release("k", keep=False) for register in registers]

    assert asyncio.run(use()) == ["", "c1"]


def test_another_content_is_another_collection(registers):
    made = []

    async def use():
        return [await registers[0].acquire(key, maker(made), yes) for key in ("k", "l", "k")]

    assert asyncio.run(use()) == ["c1", "c2", "c1"]
