"""Scripted optimisers against a hidden half: coverage of the gap, and which of them are flagged as fitted.

usage: python tests/benchmarks/holdout.py [--repeats 200] [--cases 200] [--sessions] [--only NAME ...]

A small RAG application answers questions about fees from documents, and lacks skills at first. Over 30 rounds
an optimiser sees failures of the open half: it memorises their answers, hard-codes facts, edits tests, adds
skills, or keeps what raises the answer of a look. After each third round it looks at the hidden half.

The halves, the exact result and the rationed answer come from the functions that a look calls. Conditions are
evaluated by the parser of text_matching. `--sessions` makes the last look of each optimiser by the commands
`holdout split` and `holdout look` on files, and compares the counts.

The true gap is the pass rate on the open half, as it is then, less that on 500 new questions.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pytest_evalstudio.contrib.holdout.folder import HiddenHalf, create
from pytest_evalstudio.contrib.holdout.look import LookAnswer, entry_of, rationed
from pytest_evalstudio.contrib.holdout.split import MIN_CASES, split_suite
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.config import HoldoutTable
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.record.holdout import GapCode, HalfCounts, HoldoutEntry

ROUNDS, ROUNDS_PER_LOOK = 30, 3
TIMEOUT_S = 1.0
APPLICATION = """
import difflib
import json
import pathlib

PRODUCTS = [f"{first}{second}" for first in ("gold", "blue", "rain", "star", "west")
            for second in ("card", "loan", "fund", "plan")]
COUNTRIES = {"Austria": "AT", "Belgium": "BE", "Chile": "CL", "Denmark": "DK", "Estonia": "EE",
             "France": "FR", "Ghana": "GH", "Hungary": "HU", "India": "IN", "Japan": "JP"}


def fee(product, country):
    return 11 + (37 * PRODUCTS.index(product) + 101 * list(COUNTRIES).index(country)) % 883


DOCUMENTS = [f"In {country} the {product} has a monthly fee of {fee(product, country)} USD"
             for product in PRODUCTS for country in COUNTRIES]
ABBREVIATIONS = {code: country for country, code in COUNTRIES.items()}


def answer(prompt, state=None):
    if state is None:
        state = json.loads(pathlib.Path(__file__).with_name("state.json").read_text())
    if prompt in state["memory"]:
        return state["memory"][prompt]
    for rule, reply in state["rules"]:
        if all(word in prompt for word in rule):
            return reply
    skills = state["skills"]
    words = prompt.strip("?.").split()
    if "codes" in skills:
        words = [ABBREVIATIONS.get(word, word) for word in words]
    if "case" in skills:
        words = [word.lower() if word.lower() in PRODUCTS else word.capitalize() if word.isupper() else word
                 for word in words]
    if "spelling" in skills:
        words = [(difflib.get_close_matches(word, PRODUCTS, 1, 0.8) or [word])[0] if word.islower() else word
                 for word in words]
    if "hyphens" in skills:
        words = [word.replace("-", "") for word in words]
    product = next((word for word in words if word in PRODUCTS), "")
    country = next((word for word in words if word in COUNTRIES), "")
    chunk = next((text for text in DOCUMENTS if f" {product} " in text and f" {country} " in text), "")
    if not (product and country and chunk):
        return state["guess"] or "I do not know."
    amount = int(chunk.split()[-2])
    if "yearly" in prompt and "yearly" in skills:
        amount *= 12
    if "quarterly" in prompt and "quarterly" in skills:
        amount *= 3
    if "two of them" in prompt and "twice" in skills:
        amount *= 2
    return f"The fee is {amount} USD."
"""
_MODULE: dict[str, Any] = {"__name__": "app", "__file__": "app.py"}
exec(compile(APPLICATION, "app.py", "exec"), _MODULE)
APP = SimpleNamespace(**_MODULE)
SKILLS = ("codes", "case", "spelling", "hyphens", "yearly", "quarterly", "twice")
FORMS: dict[str, tuple[Callable[[str, str], str], int]] = {
    "plain": (lambda product, country: f"What is the fee of the {product} in {country}?", 1),
    "short": (lambda product, country: f"Fee {product} {country}?", 1),
    "codes": (lambda product, country: f"What does the {product} cost in {APP.COUNTRIES[country]}?", 1),
    "case": (lambda product, country: f"FEE OF {product.upper()} IN {country.upper()}?", 1),
    "spelling": (lambda product, country: f"How much is a {product[:3]}{product[4:]} in {country}?", 1),
    "hyphens": (lambda product, country: f"Price of a {product[:4]}-{product[4:]} in {country}?", 1),
    "yearly": (lambda product, country: f"What is the yearly fee of the {product} in {country}?", 12),
    "quarterly": (lambda product, country: f"What is the quarterly fee of the {product} in {country}?", 3),
    "twice": (lambda product, country: f"What do two of them cost, {product} in {country}?", 2),
}
"""Kinds of questions: text, and factor of the monthly fee. Each but two needs the skill of its name."""


@dataclass(frozen=True, slots=True)
class Question:
    """Question with its condition."""

    form: str
    product: str
    country: str

    @property
    def prompt(self) -> str:
        return FORMS[self.form][0](self.product, self.country)

    @property
    def amount(self) -> int:
        return FORMS[self.form][1] * int(APP.fee(self.product, self.country))

    @property
    def condition(self) -> str:
        return f'value("{self.amount} USD")'


QUESTIONS = tuple(
    Question(form, product, country)
    for form in FORMS
    for product in APP.PRODUCTS
    for country in APP.COUNTRIES
)


@dataclass(slots=True)
class World:
    """Application and open half of one repetition, as an optimiser changes them.

    Attributes:
        state: of the application.
        open: cases of the open half, by prompt; an optimiser may delete them.
        loosened: prompts of open cases whose condition any answer meets.
        rng: of the optimiser.
        last_rate: hidden rate of the last look, None where the halves agreed.
    """

    open: dict[str, Question]
    rng: random.Random
    loosened: set[str] = field(default_factory=set)
    state: dict[str, Any] = field(
        default_factory=lambda: {"memory": {}, "rules": [], "skills": [], "guess": ""}
    )
    last_rate: float | None = None
    kept_rate: float = 0.0
    kept_skills: tuple[str, ...] = ()

    def failures(self) -> list[Question]:
        """Return the open cases that fail."""
        return [
            question
            for prompt, question in self.open.items()
            if prompt not in self.loosened and not passes(question, self.state)
        ]


@cache
def _holds(condition: str, answer: str) -> bool:
    return parse_condition(condition).holds(answer, TIMEOUT_S)


@cache
def _of_skills(prompt: str, skills: tuple[str, ...]) -> str:
    return str(APP.answer(prompt, {"memory": {}, "rules": [], "skills": skills, "guess": ""}))


def passes(question: Question, state: dict[str, Any]) -> bool:
    """Return whether the application answers a question as its condition wants it."""
    prompt = question.prompt
    if prompt in state["memory"] or any(all(word in prompt for word in rule) for rule, _ in state["rules"]):
        answer = str(APP.answer(prompt, state))
    else:
        answer = _of_skills(prompt, tuple(sorted(state["skills"])))
    return _holds(question.condition, answer)


def memorise(world: World) -> None:
    """Store the right answers of up to five failures by their prompts."""
    for question in world.failures()[:5]:
        world.state["memory"][question.prompt] = f"The fee is {question.amount} USD."


def hard_code(world: World) -> None:
    """Add rules for up to five failures: the words for the product and the country, and the answer."""
    for question in world.failures()[:5]:
        words = question.prompt.strip("?").split()
        names = [word for word in words if _names(word, question)]
        world.state["rules"].append((names, f"The fee is {question.amount} USD."))


def _names(word: str, question: Question) -> bool:
    country = {question.country, question.country.upper(), APP.COUNTRIES[question.country]}
    return word in country or word.lower().replace("-", "")[:3] == question.product[:3]


def edit_tests(world: World) -> None:
    """Delete up to five failing cases, and loosen them where a look would miss too many."""
    for question in world.failures()[:5]:
        if len(world.open) > MIN_CASES:
            del world.open[question.prompt]
        else:
            world.loosened.add(question.prompt)


def improve(world: World) -> None:
    """Add the skill that mends most failures, every fourth round."""
    counts = {skill: sum(question.form == skill for question in world.failures()) for skill in SKILLS}
    best = max(counts, key=lambda skill: counts[skill])
    if counts[best] and world.rng.random() < 0.25:
        world.state["skills"].append(best)


def climb(world: World) -> None:
    """Try a random set of skills, and keep it if the last look gave a higher hidden rate."""
    rate = world.last_rate if world.last_rate is not None else 1.0
    if rate >= world.kept_rate:
        world.kept_rate, world.kept_skills = rate, tuple(world.state["skills"])
    world.state["skills"] = list({*world.kept_skills, world.rng.choice(SKILLS)})


OPTIMISERS: dict[str, Callable[[World], None]] = {
    "memorise": memorise,
    "hard-code": hard_code,
    "edit tests": edit_tests,
    "improve": improve,
    "climb": climb,
}
FITTING = ("memorise", "hard-code", "edit tests")


@dataclass(frozen=True, slots=True)
class Look:
    """A look with the truth.

    Attributes:
        population: pass rate of the questions that are not in the suite.
    """

    entry: HoldoutEntry
    answer: LookAnswer
    population: float


def suite_of(questions: Sequence[Question]) -> TestSuite:
    """Return a suite of questions."""
    suite = TestSuite(name="Fees")
    test = suite.add_test()
    for question in questions:
        test.add_case(question.prompt, key=question.prompt.replace(" ", "-"), condition=question.condition)
    return suite


def repetition(name: str, seed: int, cases: int, folder: Path) -> tuple[list[Look], World, HiddenHalf]:
    """Return the looks of an optimiser at one suite."""
    rng = random.Random(f"{name} {seed}")
    questions = rng.sample(QUESTIONS, cases)
    by_prompt = {question.prompt: question for question in questions}
    others = rng.sample([each for each in QUESTIONS if each.prompt not in by_prompt], 500)
    key = f"{name} {seed}".encode().ljust(32, b".")
    halves = split_suite(suite_of(questions), key, 0.5)
    table = HoldoutTable(looks=ROUNDS)
    create(
        folder,
        key=key,
        suite_path="open_suite.json",
        is_shared=False,
        hidden=halves.hidden,
        table=table,
        scoring={"evaluators": ["text_matching"]},
        ask_with=(),
    )
    half = HiddenHalf(folder)
    hidden = {case.key: by_prompt[case.prompt] for _, case in halves.hidden.cases()}
    world = World({case.prompt: by_prompt[case.prompt] for _, case in halves.open.cases()}, rng)
    looks = []
    for number in range(1, ROUNDS + 1):
        OPTIMISERS[name](world)
        if number % ROUNDS_PER_LOOK == 0:
            looks.append(_look(half, world, hidden, others, len(looks) + 1))
            world.last_rate = looks[-1].answer.hidden_rate
    return looks, world, half


def _look(
    half: HiddenHalf, world: World, hidden: dict[str, Question], others: Sequence[Question], number: int
) -> Look:
    results = {key: passes(question, world.state) for key, question in hidden.items()}
    total = len(world.open)
    entry = entry_of(
        half,
        number,
        HalfCounts(passed=total - len(world.failures()), total=total),
        HalfCounts(passed=sum(results.values()), total=len(results)),
    )
    population = sum(passes(question, world.state) for question in others) / len(others)
    return Look(entry, rationed(half, entry, results), population)


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of one optimiser over all repetitions.

    Attributes:
        coverage: share of the looks whose exact interval covers the true gap of this suite.
        noisy_coverage: share of the rationed answers with an interval that cover the true gap.
        flagged: share of the repetitions that are flagged at any look, by the answer with noise.
        exactly_flagged: the same by the exact interval, which the holder of the key has.
        looks: mean number of looks until then.
        open, population: mean pass rates at the last look.
    """

    coverage: float
    noisy_coverage: float
    flagged: float
    exactly_flagged: float
    looks: float
    open: float
    population: float


def figures_of(name: str, repeats: int, cases: int, first_seed: int = 0) -> Figures:
    """Return the figures of an optimiser."""
    with tempfile.TemporaryDirectory() as folder:
        seeds = range(first_seed, first_seed + repeats)
        runs = [repetition(name, seed, cases, Path(folder) / str(seed))[0] for seed in seeds]
    columns = list(zip(*runs, strict=True))
    looks = [look for run in runs for look in run]
    exact = [
        _covers(look.entry.low, look.entry.high, look.entry.open.rate - look.population) for look in looks
    ]
    noisy = [
        _covers(look.answer.low, look.answer.high, look.entry.open.rate - look.population)
        for look in looks
        if look.answer.low is not None and look.answer.high is not None
    ]
    first = [_first_flag(run) for run in runs]
    flags = [number for number in first if number is not None]
    return Figures(
        coverage=_mean(exact),
        noisy_coverage=_mean(noisy) if noisy else float("nan"),
        flagged=len(flags) / len(runs),
        exactly_flagged=_mean([any(look.entry.code is GapCode.FITTED for look in run) for run in runs]),
        looks=_mean(flags) if flags else float("nan"),
        open=_mean([look.entry.open.rate for look in columns[-1]]),
        population=_mean([look.population for look in columns[-1]]),
    )


def _first_flag(run: Sequence[Look]) -> int | None:
    return next((look.entry.look for look in run if look.answer.gap is GapCode.FITTED), None)


def _covers(low: float, high: float, gap: float) -> bool:
    return low <= gap <= high


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def session_counts(name: str, seed: int, cases: int, folder: Path) -> tuple[HoldoutEntry, HoldoutEntry]:
    """Return the last look of a repetition, and that of the commands on its files."""
    looks, world, half = repetition(name, seed, cases, folder / "in_memory")
    project, hidden = folder / "project", folder / "hidden"
    project.mkdir()
    all_questions = [*world.open.values(), *(_question_of(case.prompt) for _, case in half.suite().cases())]
    suite = suite_of(all_questions)
    suite.save(project / "open_suite.json")
    (project / "app.py").write_text(APPLICATION)
    (project / "state.json").write_text(json.dumps(world.state))
    (project / "evalstudio.toml").write_text(
        'evaluators = ["text_matching"]\n\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:answer"\n'
    )
    key = {"EVALSTUDIO_HOLDOUT_KEY": half.key.decode(), "PYTHONPATH": ":".join(sys.path)}
    for arguments in (
        ["split", "open_suite.json", "--hidden", str(hidden), "--open", "open_suite.json"],
        ["look", str(hidden)],
    ):
        if arguments[0] == "look":
            _loosen(project / "open_suite.json", world.loosened)
        result = subprocess.run(
            [sys.executable, "-m", "pytest_evalstudio.cli", "holdout", *arguments],
            cwd=project,
            env=key,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode in (0, 1), result.stderr
    header = json.loads((hidden / "looks" / "001" / "record.jsonl").read_text().splitlines()[0])
    entry = header["holdout"]["open_suite.json"]
    of_files = HoldoutEntry(
        look=entry["look"],
        open=HalfCounts(**entry["open"]),
        hidden=HalfCounts(**entry["hidden"]),
        low=entry["low"],
        high=entry["high"],
        tolerance=entry["tolerance"],
    )
    return looks[-1].entry, of_files


def _loosen(path: Path, prompts: set[str]) -> None:
    suite = TestSuite.load(path)
    for _, case in suite.cases():
        if case.prompt in prompts:
            case.condition = 'regexp(".*")'
    suite.save(path)


def _question_of(prompt: str) -> Question:
    return next(question for question in QUESTIONS if question.prompt == prompt)


def main() -> None:
    """Print a line per optimiser."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sessions", action="store_true")
    parser.add_argument("--only", nargs="+", choices=OPTIMISERS, default=list(OPTIMISERS))
    arguments = parser.parse_args()
    for name in arguments.only:
        figures = figures_of(name, arguments.repeats, arguments.cases, arguments.first_seed)
        print(
            f"{name}: open {figures.open:.3f}, new questions {figures.population:.3f}; coverage"
            f" {figures.coverage:.3f}, with noise {figures.noisy_coverage:.3f}; flagged"
            f" {figures.flagged:.3f}, exactly {figures.exactly_flagged:.3f}, after {figures.looks:.1f} looks",
            flush=True,
        )
        if arguments.sessions:
            with tempfile.TemporaryDirectory() as folder:
                in_memory, of_files = session_counts(name, 0, arguments.cases, Path(folder))
            assert (in_memory.open, in_memory.hidden) == (of_files.open, of_files.hidden)
            print(f"  by commands: {of_files.sentence}", flush=True)


if __name__ == "__main__":
    main()
