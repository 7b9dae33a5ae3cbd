"""Options of scored tables: one declaration for the command and the function."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from pytest_evalstudio.contrib.tables.options import ScoreKeywords, ScoreOptions
from pytest_evalstudio.core.errors import ConfigurationError


def test_the_keywords_of_the_function_are_the_options() -> None:
    types = {option.name: option.type for option in fields(ScoreOptions)}
    keywords = {name: kind.__forward_arg__ for name, kind in ScoreKeywords.__annotations__.items()}
    assert {**keywords, "by": "tuple[str, ...]", "cache": "Path | None"} == types


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"engine": "spark"}, "engine = 'spark': must be one of local, ray", id="engine"),
        pytest.param({"texts": "best"}, "texts = 'best': must be one of all, worst, none", id="texts"),
        pytest.param({"workers": 0}, "workers = 0: must be at least 1", id="workers"),
        pytest.param({"batch_rows": 0}, "batch_rows = 0: must be at least 1", id="batch_rows"),
        pytest.param({"by": ("topic",)}, "--by: needs --sample; give the size of the sample", id="by"),
        pytest.param(
            {"engine": "ray", "address": "auto"},
            "--address: needs --workers; give the number of actors",
            id="address",
        ),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{message.replace('(', '.')}"):
        ScoreOptions(**options)


def test_the_smallest_numbers_are_allowed() -> None:
    ScoreOptions(workers=1, batch_rows=1, sample=1, by=("topic",))
    ScoreOptions(engine="ray", address="auto", gpus_per_actor=0.5, workers=1)
