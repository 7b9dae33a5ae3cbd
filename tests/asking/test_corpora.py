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


def maker(collections, fault=None):
    async def make():
        await asyncio.sleep(0.05)
        if fault:
            raise fault
        collections.append(f"c{len(collections) + 1}")
        return collections[-1]

    return make


def test_a_collection_is_made_once_and_removed_by_its_last_user(registers):
    collections = []

    async def use():
        ids = await asyncio.gather(
            *(register.acquire("k", maker(collections), yes) for register in registers)
        )
        first = await registers[0].release("k", keep=False)
        return ids, first, await registers[1].release("k", keep=False)

    assert asyncio.run(use()) == (["c1", "c1"], "", "c1")


def test_after_a_failure_the_next_one_makes_it(registers):
    collections = []

    async def use():
        first = registers[0].acquire("k", maker(collections, OSError("no space")), yes)
        second = registers[1].acquire("k", maker(collections), yes)
        return await asyncio.gather(first, second, return_exceptions=True)

    fault, collection = asyncio.run(use())
    assert isinstance(fault, OSError)
    assert (collection, collections) == ("c1", ["c1"])


def test_a_killed_process_holds_up_nobody(registers, monkeypatch):
    collections = []

    async def use():
        monkeypatch.setattr(corpora, "LEASE_S", 0.1)
        registers[0]._turn("k")  # killed while it ingested
        collection = await asyncio.wait_for(
            registers[1].acquire("k", maker(collections), yes), timeout=LONGEST_WAIT_S
        )
        registers[0]._turn("k")  # killed while it used the collection
        await asyncio.sleep(0.15)
        return collection, await registers[1].release("k", keep=False)

    assert asyncio.run(use()) == ("c1", "c1")


def test_a_clock_that_was_set_back_holds_up_nobody(registers, monkeypatch):
    collections = []
    start_s = time.time()

    async def use():
        monkeypatch.setattr(time, "time", lambda: start_s + 3 * 3600)
        registers[0]._turn("k")  # killed while it ingested
        monkeypatch.setattr(time, "time", lambda: start_s)
        await asyncio.wait_for(registers[1].acquire("k", maker(collections), yes), timeout=LONGEST_WAIT_S)
        monkeypatch.setattr(time, "time", lambda: start_s + 3 * 3600)
        registers[0]._turn("k")  # killed while it used the collection
        monkeypatch.setattr(time, "time", lambda: start_s)
        return await registers[1].release("k", keep=False)

    assert asyncio.run(use()) == "c1"


def test_a_use_is_renewed(registers, monkeypatch):
    monkeypatch.setattr(corpora, "LEASE_S", 0.8)
    collections = []

    async def use():
        for register in registers:
            await register.acquire("k", maker(collections), yes)
        await asyncio.sleep(2.0)
        return [await register.release("k", keep=False) for register in registers]

    assert asyncio.run(use()) == ["", "c1"]


def test_another_content_is_another_collection(registers):
    collections = []

    async def use():
        return [await registers[0].acquire(key, maker(collections), yes) for key in ("k", "l", "k")]

    assert asyncio.run(use()) == ["c1", "c2", "c1"]
