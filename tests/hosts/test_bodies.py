"""Bodies of replies: a limit of length, and no reading that stays open."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from pytest_evalstudio.core.plugins.host import HostFault
from pytest_evalstudio.hosts._bodies import limit_body, max_reply_size

URL = "https://service.example"


class Body(httpx.AsyncByteStream):
    """A body in parts."""

    def __init__(self, parts):
        self.parts = parts
        self.is_closed = False

    async def __aiter__(self):
        for part in self.parts:
            yield part

    async def aclose(self):
        self.is_closed = True


def limited(body, max_text_chars=1000):
    response = httpx.Response(200, stream=body)
    limit_body(response, URL, max_text_chars)
    return response


def test_a_reading_that_stops_at_a_part_is_closed_with_the_response():
    body = Body([b"first", b"second"])

    async def stop_at_first():
        response = limited(body)
        reading = response.aiter_bytes()
        assert await anext(reading) == b"first"
        await response.aclose()
        return [part async for part in reading]

    assert asyncio.run(stop_at_first()) == []
    assert body.is_closed


def test_a_body_that_is_read_to_its_end_is_whole_and_closed():
    body = Body([b"first", b"second"])

    async def read_all():
        return await limited(body).aread()

    assert asyncio.run(read_all()) == b"firstsecond"
    assert body.is_closed


def test_a_longer_body_is_a_fault():
    async def read_all():
        await limited(Body([b"x" * max_reply_size(10), b"x"]), max_text_chars=10).aread()

    with pytest.raises(HostFault, match="max_text_chars = 10 allows"):
        asyncio.run(read_all())
