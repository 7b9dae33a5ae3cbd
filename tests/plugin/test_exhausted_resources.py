"""Runs that get too few open files or too little memory: fewer requests, a sentence, a complete record."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

import pytest

from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

CASES = 30


@pytest.fixture
def service() -> Iterator[OpenAIServer]:
    with serve() as running:
        running.default = Reply("It is 4.")
        yield running


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("sh") is None, reason="limits of open files are set by a shell")
def test_few_open_files_lower_the_concurrency(
    project: Project, pytester: pytest.Pytester, service: OpenAIServer
) -> None:
    project.write(
        "evalstudio.toml",
        f"""
        evaluators = ["text_matching"]

        [[model]]
        name = "app"
        host = "openai_compatible"
        url = "{service.url}"
        llm_model_name = "m"
        api_key = "k"
        concurrency = 100
        """,
    )
    project.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(CASES)))

    command = f"ulimit -n 48; exec '{sys.executable}' -m pytest -p no:cacheprovider"
    result = pytester.run("sh", "-c", command)

    result.assert_outcomes(passed=CASES, warnings=1)
    result.stdout.fnmatch_lines(
        ["*model 'app': * requests at the same time in place of 100: the process may open 48 files*"]
    )
    assert len(project.record()[1]) == CASES


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("MemoryError()", "the memory is exhausted"),
        ("OSError(24, 'Too many open files')", "*Too many open files"),
        ("RecursionError('too deep')", "too deep"),
    ],
)
def test_a_report_that_cannot_be_written_leaves_a_complete_record(
    project: Project, error: str, cause: str
) -> None:
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    project.write(
        "conftest.py",
        "from pytest_evalstudio.report import build\n\n\n"
        "def fail(*arguments, **options):\n"
        f"    raise {error}\n\n\n"
        "build.build_report = fail\n",
    )

    result = project.run_process()

    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.no_fnmatch_line("*INTERNALERROR*")
    failure = f"the report cannot be written: {cause}. The record is complete: "
    result.stdout.fnmatch_lines([f"{failure}evalstudio report *record.jsonl -o *"])
    rebuilt = project.run_command("report", "evalstudio-report", "-o", "rebuilt")
    assert rebuilt.ret == 0
    assert (project.folder / "rebuilt/interpretation.html").is_file()
