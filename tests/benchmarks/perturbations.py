"""Perturbators over many prompts, against the plain work on the same texts: seconds of processor time and
their ratio.

usage: python tests/benchmarks/perturbations.py [PROMPTS]        (default: 100,000)

A perturbator of characters is held against a pass that takes a text apart into characters and joins them
again, `"".join(char for char in text)`; one of words against a split into words and what stands between them,
and a join, `"".join(re.split(r"(\\s+)", text))`: both give back the text as it was, as a perturbator must but
for its edits. What is measured of a perturbator is all that a run does: its seed for the text, the change,
and the check that it is one. The best of three rounds counts. The last column holds it against the barest
work there is, `"".join(text)` and `" ".join(text.split())`.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable, Sequence

from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.perturbations._wordnet import find_wordnet
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations

CHARACTERS = ("random_replacement", "random_insert", "random_delete", "keyboard_typos", "ocr", "qwerty")
WORDS = ("comma", "word_swap", "synonym", "antonym", "counterfactual")
OPENINGS = (
    "What is",
    "How much is",
    "When does",
    "Why did",
    "Where can I find",
    "Is there",
    "Who pays for",
    "Can a young man lose",
)
THINGS = (
    "the yearly fee", "a replacement card", "an arranged overdraft", "the interest rate", "my monthly statement", "a transfer abroad",  # noqa: E501
    "the old account", "a lost pin", "the highest limit", "an early payment", "a joint account", "the lowest price", "a refused claim",  # noqa: E501
)  # fmt: skip
JOINTS = ("of", "for", "after", "without", "and", "before", "instead of", "with")
ROUNDS = 3
_SPACES = re.compile(r"(\s+)")


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    texts = prompts(number)
    characters, words = sum(map(len, texts)) / number, sum(len(text.split()) for text in texts) / number
    print(f"{number:,} prompts, {characters:.0f} characters and {words:.0f} words on average")
    plain = {
        "characters": seconds(lambda text: "".join(char for char in text), texts),
        "words": seconds(lambda text: "".join(_SPACES.split(text)), texts),
    }
    barest = {
        "characters": seconds("".join, texts),
        "words": seconds(lambda text: " ".join(text.split()), texts),
    }
    for kind in plain:
        print(f"plain work on {kind}: {plain[kind]:.2f} s; the barest: {barest[kind]:.2f} s")
    for kind, names in (("characters", CHARACTERS), ("words", WORDS)):
        for name in names:
            if name in ("synonym", "antonym") and not find_wordnet():
                print(f"{name:<20} left out: there is no WordNet here")
                continue
            for level in ("",) if name == "counterfactual" else (":medium", ":high"):
                ((step,),) = parse_perturbations(name + level, Registry())
                took = seconds(lambda text, step=step: step.perturb(text, DEFAULT_SEED), texts)
                print(
                    f"{name + level:<26} {took:6.2f} s   {took / plain[kind]:5.2f} x {kind}  "
                    f" {took / barest[kind]:6.2f} x the barest"
                )


def prompts(number: int) -> list[str]:
    """Questions of two to four parts, the same in every run."""
    rng = random.Random(1)
    return [
        f"{rng.choice(OPENINGS)} {f' {rng.choice(JOINTS)} '.join(rng.choices(THINGS, k=rng.randint(2, 4)))}"
        f" in {rng.randint(1990, 2030)}?"
        for _ in range(number)
    ]


def seconds(work: Callable[[str], object], texts: Sequence[str]) -> float:
    best = float("inf")
    for text in texts[:1000]:
        work(text)
    for _ in range(ROUNDS):
        start = time.process_time()
        for text in texts:
            work(text)
        best = min(best, time.process_time() - start)
    return best


if __name__ == "__main__":
    main()
