"""Outcomes with other plugins and with pytest's own options are those of a plain run: all pairs of levels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import pytest

from support.project import Project

TESTS = """
def test_good(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", "It is 4.", condition='"4"'))


def test_bad(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", "It is 5.", condition='"4"'))


async def test_async(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", "It is 4.", condition='"4"'))
"""
LINK = {"type": "perturbation_source", "target": "good", "target_type": "test_case"}
CASES = (
    {"key": "good", "prompt": "2+2?", "condition": '"4"'},
    {"key": "flipped", "prompt": "2 + 2?", "condition": '"4"', "relationships": [LINK]},
    {"key": "bad", "prompt": "3+3?", "condition": '"7"'},
    {"key": "broken", "prompt": "boom", "condition": '"7"'},
    {"key": "xfailed", "prompt": "5+5?", "condition": '"10"', "xfail": "cannot count"},
    {"key": "skipped", "prompt": "6+6?", "condition": '"12"', "skip": "later"},
)
NO_ASYNCIO = ("-p", "no:asyncio")
FACTORS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "xdist": {
        "no": (),
        **{dist: ("-n", "2", "--dist", dist) for dist in ("load", "loadscope", "loadgroup", "worksteal")},
    },
    "option": {
        "none": (),
        "maxfail, durations": ("--maxfail=50", "--durations=3"),
        "ff, junit": ("--ff", "--junitxml=junit.xml"),
        "W error": ("-W", "error"),
    },
    "import": {mode: (f"--import-mode={mode}",) for mode in ("prepend", "append", "importlib")},
    "order": {
        "given": ("-p", "no:randomly"),
        "randomly": ("-p", "randomly", "-p", "no:order"),
        "order": ("-p", "no:randomly", "--sparse-ordering"),
    },
    "async": {
        "none": (*NO_ASYNCIO, "--deselect=test_app.py::test_async"),
        "asyncio": ("--asyncio-mode=auto", "-o", "asyncio_default_fixture_loop_scope=function"),
        "anyio": (*NO_ASYNCIO, "--anyio-mode=auto"),
    },
    "reruns": {"no": (), "yes": ("--reruns=1",)},
    "timeout": {"no": (), "yes": ("--timeout=60",)},
    "report": {
        "none": (),
        "html": ("--html=report.html",),
        "cov": ("--cov=app",),
        "sugar": ("--force-sugar",),
    },
    "repeat": {"no": (), "yes": ("--count=2", "--repeat-scope=function")},
}
MODULES = (
    *("xdist", "pytest_randomly", "pytest_rerunfailures", "pytest_timeout", "pytest_asyncio", "anyio"),
    *("pytest_html", "pytest_cov", "pytest_repeat", "pytest_sugar", "pytest_order"),
)
pytestmark = pytest.mark.neighbours(*MODULES)


def pairwise() -> Iterator[dict[str, str]]:
    """Yield combinations that contain each pair of levels of two factors at least once."""
    missing = {
        ((factor, a), (other, b))
        for factor, other in itertools.combinations(FACTORS, 2)
        for a in FACTORS[factor]
        for b in FACTORS[other]
    }
    while missing:
        row: dict[str, str] = dict(min(missing))
        for name in FACTORS:
            row.setdefault(name, max(FACTORS[name], key=lambda level: covered(missing, {**row, name: level})))
        missing -= pairs_of(row)
        yield row


def pairs_of(row: Mapping[str, str]) -> set[tuple[tuple[str, str], tuple[str, str]]]:
    ordered = [(name, row[name]) for name in FACTORS if name in row]
    return set(itertools.combinations(ordered, 2))


def covered(missing: set[tuple[tuple[str, str], tuple[str, str]]], row: Mapping[str, str]) -> int:
    return len(missing & pairs_of(row))


@pytest.fixture
def mixed(project: Project) -> Project:
    project.write("test_app.py", TESTS)
    project.suite(*CASES)
    return project


EXPECTED = {
    "good[app]": "passed",
    "flipped[app]": "failed",
    "bad[app]": "failed",
    "broken[app]": "error",
    "xfailed[app]": "xfailed",
    "skipped[app]": "skipped",
}


def verdicts(project: Project) -> dict[str, str]:
    """Return the verdicts of the suite's items; those of Python tests by the test without its parameters."""
    by_id: dict[str, set[str]] = {}
    for name, item in project.record()[1].items():
        by_id.setdefault(name if name in EXPECTED else name.partition("[")[0], set()).add(item["verdict"])
    return {name: ", ".join(sorted(words)) for name, words in by_id.items()}


@pytest.mark.parametrize("row", list(pairwise()), ids=lambda row: "-".join(row.values()))
def test_outcomes_are_those_of_a_plain_run(mixed: Project, row: dict[str, str]) -> None:
    arguments = [argument for name, level in row.items() for argument in FACTORS[name][level]]

    result = mixed.run_with_cache(*arguments)

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    expected = {**EXPECTED, "test_good": "passed", "test_bad": "failed"}
    if row["async"] != "none":
        expected["test_async"] = "passed"
    assert verdicts(mixed) == expected
    flips = mixed.record()[1]["flipped[app]"]["flips"]
    assert [flip["source"] for flip in flips] == ["good"]


ALWAYS = ("-p", "no:randomly", *NO_ASYNCIO, "--deselect=test_app.py::test_async")


def test_last_failed_runs_what_failed(mixed: Project) -> None:
    first = mixed.run_with_cache(*ALWAYS).parseoutcomes()
    assert (first["failed"], first["errors"]) == (3, 1)

    rerun = mixed.run_with_cache(*ALWAYS, "--lf").parseoutcomes()

    assert (rerun["failed"], rerun["errors"], rerun.get("passed", 0)) == (3, 1, 0)


def test_stepwise_goes_on_where_it_stopped(mixed: Project) -> None:
    first = mixed.run_with_cache(*ALWAYS, "--sw").parseoutcomes()
    second = mixed.run_with_cache(*ALWAYS, "--sw-skip").parseoutcomes()

    assert first["failed"] == 1
    assert second["failed"] == 2  # the known one does not stop the run, the next one does


def test_collecting_only_names_the_items_of_a_plain_run(mixed: Project) -> None:
    result = mixed.run_with_cache("-p", "no:randomly", *NO_ASYNCIO, "--co", "-q")

    names = [line for line in result.outlines if "::" in line]
    assert sorted(names) == sorted(
        [f"sums_suite.json::{name}" for name in EXPECTED]
        + [f"test_app.py::test_{name}" for name in ("good", "bad", "async")]
    )
