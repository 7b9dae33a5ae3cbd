"""How near to the ideal a model session comes: 400 prompts of 0.2 s each, 16 at a time, are 5 s of waiting.

Run: python tests/benchmarks/resolve_concurrency.py
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.asking.answers import AnswerCache
from pytest_evalstudio.engine.asking.hosts import open_model
from support.openai_server import Reply, serve

PROMPTS = 400
DELAY_S = 0.2
CONCURRENCY = 16
IDEAL_S = PROMPTS * DELAY_S / CONCURRENCY


def blocking(prompt: str) -> str:
    """An application that blocks, as most do."""
    time.sleep(DELAY_S)
    return "fine"


def measure(label: str, settings: Mapping[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, AnswerCache(Path(folder)) as cache:
        table = {**settings, "concurrency": CONCURRENCY, "cache": True}
        with open_model(label, table, Registry(), folder=Path(__file__).parent, cache=cache) as session:
            session.ask([Prompt(text="warm up")])
            start = time.perf_counter()
            answers = session.ask([Prompt(text=f"question {number}") for number in range(PROMPTS)])
            elapsed = time.perf_counter() - start
    faults = [answer.error for answer in answers if answer.error]
    print(
        f"{label:20} {elapsed:6.2f} s   {elapsed / IDEAL_S:5.3f} x ideal   {len(faults)} errors"
        f" {faults[:1] or ''}"
    )


def main() -> None:
    print(f"ideal: {IDEAL_S:.2f} s")
    measure("scripted", {"host": "scripted", "default": "fine", "delay_s": DELAY_S})
    measure("python, blocking", {"host": "python", "target": "resolve_concurrency:blocking"})
    with serve() as service:
        service.default = Reply(delay_s=DELAY_S)
        measure("openai_compatible", {"host": "openai_compatible", "url": service.url, "llm_model_name": "m"})
        print(f"requests at the same time: {service.peak}; connections: {service.connections}")


if __name__ == "__main__":
    main()
