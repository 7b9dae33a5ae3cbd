"""A judge for tests that lend tools themselves: it replies something of the form that is asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pytest_evalstudio.asking.judging import Judges
from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from support.judging import reply_for


async def any_verdict(prompt: str, reply_schema: Mapping[str, Any]) -> str:
    """A verdict that is drawn from the prompt: the same for the same prompt."""
    digest = hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).digest()
    return json.dumps(reply_for(reply_schema, good=digest[0] % 2 == 0))


@contextmanager
def any_judge() -> Iterator[Judge]:
    """A judge of any case under any evaluator."""
    judges = Judges(Registry())
    try:
        yield judges.open(configuration({"judge": {"host": "python", "target": any_verdict}}))
    finally:
        judges.close()
