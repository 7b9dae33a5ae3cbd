from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.project import Project

pytestmark = pytest.mark.slow

CHECKS = """
import pytest


@pytest.mark.parametrize("n", range(5))
def test_n(n, eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("q", str(n), condition=f'"{n}"'))
"""
NOTING = """
import os


def ask(prompt):
    with open(f"asked-{os.getpid()}.txt", "a") as file:
        file.write(prompt + "\\n")
    return "4"
"""
DYING = """
import os


def ask(prompt):
    if prompt == "die" and not os.path.exists("died"):
        open("died", "w").close()
        os._exit(1)
    return "4"
"""
TIMES = ("run_id", "created", "started", "finished", "duration_s", "actual_duration")


def untimed(value: Any) -> Any:
    """A record without times and run ids."""
    if isinstance(value, dict):
        return {key: untimed(item) for key, item in value.items() if key not in TIMES}
    return [untimed(item) for item in value] if isinstance(value, list) else value


def lines(project: Project, folder: str) -> list[Any]:
    return [
        untimed(json.loads(line))
        for line in (project.folder / folder / "record.jsonl").read_text().splitlines()
    ]


def lab_rows(number: int = 40) -> list[dict[str, Any]]:
    rows = []
    for index in range(number):
        rows.append(
            {
                "key": f"k{index}",
                "input": f"q{index}",
                "output_condition": '"4"',
                "actual_output": "4" if index % 3 else "5",
                "model_key": f"m{index % 2}",
            }
        )
        if index % 5 == 0:
            rows.append(
                {
                    **rows[-1],
                    "key": f"p{index}",
                    "actual_output": "5",
                    "relationships": [{"type": "perturbation_source", "target": f"k{index}"}],
                }
            )
    return rows


def test_two_workers_write_the_same_record_as_one_process(project: Project) -> None:
    project.lab(*lab_rows())
    project.suite(
        {"key": "four", "prompt": "2+2?", "condition": '"4"'},
        {"key": "boom", "prompt": "boom", "condition": '"4"'},
    )
    project.write("test_plain.py", CHECKS)

    single_process = project.run("--evalstudio-output", "alone")
    shared = project.run("--evalstudio-output", "shared", "-n", "2")

    assert single_process.parseoutcomes() == shared.parseoutcomes()
    assert lines(project, "alone") == lines(project, "shared")
    assert len(lines(project, "alone")) == 1 + 48 + 2 + 5
    data = [
        json.loads((project.folder / folder / "interpretation.json").read_text())
        for folder in ("alone", "shared")
    ]
    assert data[0]["problems"] == data[1]["problems"]
    assert untimed(data[0]["evaluators"]) == untimed(data[1]["evaluators"])


def test_a_record_has_the_times_of_its_evaluators_with_and_without_workers(project: Project) -> None:
    project.lab(*lab_rows())

    for folder, workers in (("alone", ()), ("shared", ("-n", "2"))):
        before = datetime.now(UTC) - timedelta(milliseconds=1)
        project.run("--evalstudio-output", folder, *workers)

        header = json.loads((project.folder / folder / "record.jsonl").read_text().splitlines()[0])
        (span,) = header["spans"].values()
        start, finish = map(datetime.fromisoformat, (span["started"], span["finished"]))
        assert before <= start <= finish <= datetime.now(UTC)


def test_a_chunk_stays_on_one_worker_and_each_question_is_asked_once(project: Project) -> None:
    project.write("app.py", NOTING)
    cases: list[dict[str, Any]] = []
    for number in range(30):
        cases.append({"key": f"k{number}", "prompt": f"q{number}", "condition": '"4"'})
        cases.append(
            {
                "key": f"p{number}",
                "prompt": f"q,{number}",
                "condition": '"4"',
                "relationships": [{"type": "perturbation_source", "target": f"k{number}"}],
            }
        )
    project.suite(*cases)

    project.run("-n", "2").assert_outcomes(passed=60)

    logs = [path.read_text().split() for path in project.folder.glob("asked-*.txt")]
    assert len(logs) == 2, "both workers had work"
    assert sorted(itertools.chain(*logs)) == sorted(
        [f"q{number}" for number in range(30)] + [f"q,{number}" for number in range(30)]
    )
    for prompts in logs:
        assert {prompt.replace(",", "") for prompt in prompts if "," in prompt} == {
            prompt for prompt in prompts if "," not in prompt
        }


def test_a_killed_worker_loses_nothing_that_was_finished(project: Project) -> None:
    project.write("app.py", DYING)
    project.suite(
        *(
            {"key": f"k{number}", "prompt": "die" if number == 25 else "q", "condition": '"4"'}
            for number in range(40)
        )
    )

    result = project.run("-n", "2")

    assert result.parseoutcomes()["passed"] == 39
    result.stdout.fnmatch_lines(["*worker 'gw?' crashed while running 'sums_suite.json::k*"])
    _, items = project.record()
    assert sum(item["verdict"] == "passed" for item in items.values()) == 39


@pytest.mark.parametrize("mode", ["load", "worksteal", "loadfile", "loadscope", "loadgroup"])
def test_ordinary_tests_run_beside_eval_items_under_every_distribution(project: Project, mode: str) -> None:
    project.lab(*lab_rows(10))
    project.write(
        "test_plain.py",
        "import pytest\n\n\n@pytest.mark.xdist_group('g')\n@pytest.mark.parametrize('n', range(6))\ndef"
        " test_n(n):\n    pass\n",
    )

    outcomes = project.run("-n", "2", "--dist", mode).parseoutcomes()

    assert outcomes["passed"] + outcomes["failed"] == 10 + 2 + 6


def test_a_run_without_eval_files_is_scheduled_by_xdist_itself(project: Project) -> None:
    (project.folder / "evalstudio.toml").unlink()
    project.write(
        "test_plain.py",
        "import pytest\n\n\n@pytest.mark.parametrize('n', range(6))\ndef test_n(n):\n    pass\n",
    )
    project.write(
        "conftest.py",
        "def pytest_sessionfinish(session):\n"
        "    dsession = session.config.pluginmanager.get_plugin('dsession')\n"
        "    if dsession is not None:\n"
        "        print('scheduler:', type(dsession.sched._chosen).__name__)\n",
    )

    result = project.run("-n", "2", "--dist", "worksteal", "-s")

    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*scheduler: WorkStealingScheduling"])
