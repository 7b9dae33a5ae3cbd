"""The garbage collector is off while files are read, and then as it was."""

from __future__ import annotations

import gc
import json

import pytest

from pytest_evalstudio.core.collecting import uncollected
from pytest_evalstudio.formats.source import parse


@pytest.mark.parametrize("enabled", [True, False])
def test_the_earlier_setting_is_restored(enabled: bool) -> None:
    try:
        if not enabled:
            gc.disable()
        with pytest.raises(ValueError), uncollected():  # noqa: PT012
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() == enabled
    finally:
        gc.enable()


def test_a_large_file_is_read_nearly_without_collections() -> None:
    text = json.dumps([{"number": number, "of": []} for number in range(20_000)])
    before = gc.get_stats()[0]["collections"]
    source = parse(text, "many.json")
    assert gc.get_stats()[0]["collections"] <= before + 3, "50 with the collector"
    assert len(source.data) == 20_000
