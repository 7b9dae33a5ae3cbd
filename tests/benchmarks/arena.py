"""The arena: ratings of many games, and games before a judge that takes 100 ms.

Run: python tests/benchmarks/arena.py

Prints the seconds and the peak memory of rating 100,000 games with 1,000 bootstrap rounds, then the time of
10 models x 60 prompts (2,700 games) before a chat service on loopback, asked 16 at a time, as a multiple of
the ideal: its calls x 0.1 s / 16.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_evalstudio.contrib.arena.battle_files import WINNERS, battles_csv, read_battles
from pytest_evalstudio.contrib.arena.play import ArenaOptions, play
from pytest_evalstudio.contrib.arena.rating import rate
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.record.arena import Battle
from support.judge_service import judge_service
from support.openai_server import Reply

DELAY_S = 0.1
CONCURRENCY = 16


def replied(_: str) -> Reply:
    """A verdict on any game."""
    content = {"reason": "Both answer.", "score_first": 7, "score_second": 6, "choice": "first"}
    return Reply(json.dumps(content), delay_s=DELAY_S)


def time_ratings(games: int, models: int, prompts: int, folder: Path) -> None:
    """Time the reading and rating of a file of random games."""
    rng = random.Random(0)
    battles = []
    for _ in range(games):
        first, second = rng.sample(range(models), 2)
        battles.append(
            Battle(
                prompt_key=f"p{rng.randrange(prompts)}",
                model_a=f"model-{first}",
                model_b=f"model-{second}",
                winner=rng.choice(WINNERS),
            )
        )
    path = folder / "battles.csv"
    path.write_bytes(battles_csv(battles))
    del battles
    start = time.perf_counter()
    rate(read_battles(path))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{games:,} games of {models} models x 1,000 rounds: {seconds:.1f} s, peak memory {peak:.0f} MB")


def time_games(models: int, prompts: int, folder: Path) -> None:
    """Time the judging of all games between models."""
    answers = [
        Case(
            key=f"p{prompt}",
            question=f"What does account {prompt} cost?",
            answer=Answer(
                text=f"Model {model} says: account {prompt} costs five euros a month. It has a card."
            ),
            model_key=f"model-{model}",
        )
        for model in range(models)
        for prompt in range(prompts)
    ]
    with judge_service(replied) as (url, traffic):
        judge = {
            "host": "openai_compatible",
            "url": url,
            "llm_model_name": "judge",
            "concurrency": CONCURRENCY,
        }
        config = configuration({"judge": judge}, folder=folder)
        start = time.perf_counter()
        played = play(answers, [], config=config, options=ArenaOptions(), cache=folder / "cache")
        seconds = time.perf_counter() - start
        calls, peak, *_ = traffic()
    assert played.missing == 0
    ideal = calls * DELAY_S / CONCURRENCY
    print(
        f"{models} models x {prompts} prompts: {calls} games, {peak} at the same time; {seconds:.2f} s,"
        f" {seconds / ideal:.3f} x the ideal {ideal:.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        time_ratings(arguments.games, 10, 5_000, Path(name))
        time_games(10, 60, Path(name))


if __name__ == "__main__":
    main()
