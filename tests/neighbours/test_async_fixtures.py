"""`host = "fixture"` with asynchronous fixtures: awaited on the fixture's own loop."""

from __future__ import annotations

import pytest

from support.project import Project

CONFTEST = """
import asyncio

import pytest
{imports}


class Service:
    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.now = self.peak = 0

    async def ask(self, prompt):
        assert asyncio.get_running_loop() is self.loop
        self.now += 1
        self.peak = max(self.peak, self.now)
        await asyncio.sleep(0.05)
        self.now -= 1
        return f"4 {{self.peak > 1}}"

{backend}
@{decorator}(scope="session"{loop})
async def service({argument}):
    service = Service()
    yield service
    await asyncio.sleep(0)


@pytest.fixture(scope="session")
def assistant(service):
    return service.ask
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "assistant"
host = "fixture"
fixture = "assistant"
"""
BACKEND = """
@pytest.fixture(scope="session")
def anyio_backend():
    return "{backend}"

"""
ASYNCIO = {
    "imports": "import pytest_asyncio",
    "decorator": "pytest_asyncio.fixture",
    "loop": ', loop_scope="session"',
    "argument": "",
    "backend": "",
}
ANYIO = {"imports": "", "decorator": "pytest.fixture", "loop": "", "argument": "anyio_backend"}
TESTS = """
def test_answer(eval_text_matching, eval_model):
    eval_text_matching.check(eval_model("assistant").ask("2+2?", condition='"4"'))
"""


def prepare(project: Project, conftest: dict[str, str]) -> None:
    project.write("evalstudio.toml", CONFIG)
    project.write("conftest.py", CONFTEST.format(**conftest))
    project.write("test_answers.py", TESTS)
    project.suite(*({"key": f"k{n}", "prompt": f"{n}?", "condition": '"4 True"'} for n in range(3)))


def arguments(plugin: str) -> tuple[str, ...]:
    others = {"asyncio": "anyio", "anyio": "asyncio"}
    options = ("-o", "asyncio_default_fixture_loop_scope=session") if plugin == "asyncio" else ()
    return ("-p", f"no:{others[plugin]}", "-p", "no:randomly", *options)


@pytest.mark.parametrize(
    ("plugin", "conftest"),
    [
        pytest.param("asyncio", ASYNCIO, marks=pytest.mark.neighbours("pytest_asyncio")),
        pytest.param(
            "anyio",
            {**ANYIO, "backend": BACKEND.format(backend="asyncio")},
            marks=pytest.mark.neighbours("anyio"),
        ),
    ],
    ids=["asyncio", "anyio"],
)
def test_an_async_fixture_is_awaited_on_its_own_loop(
    project: Project, plugin: str, conftest: dict[str, str]
) -> None:
    prepare(project, conftest)

    project.run(*arguments(plugin), "-W", "error").assert_outcomes(passed=4)


@pytest.mark.neighbours("pytest_asyncio", "pytest_timeout")
def test_a_hung_async_fixture_is_one_timed_out_item(project: Project) -> None:
    prepare(project, ASYNCIO)
    conftest = (project.folder / "conftest.py").read_text()
    project.write("conftest.py", conftest.replace("sleep(0.05)", "sleep(120 if prompt == '1?' else 0.05)"))
    project.write("test_answers.py", "")
    project.suite(*({"key": f"k{n}", "prompt": f"{n}?", "condition": '"4"'} for n in range(3)))

    result = project.run(*arguments("asyncio"), "--timeout=10", "--timeout-method=signal")

    result.assert_outcomes(passed=2, errors=1)


@pytest.mark.neighbours("anyio", "trio")
def test_a_fixture_under_trio_is_an_error_that_says_so(project: Project) -> None:
    prepare(project, {**ANYIO, "backend": BACKEND.format(backend="trio")})
    conftest = (project.folder / "conftest.py").read_text()
    project.write("conftest.py", conftest.replace("self.loop = asyncio.get_running_loop()", "pass"))
    project.write("conftest.py", (project.folder / "conftest.py").read_text().replace("await asyncio", "#"))
    project.write("test_answers.py", "")

    result = project.run(*arguments("anyio"))

    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["*fixture 'service' does not run on an asyncio loop*"])


@pytest.mark.neighbours("pytest_asyncio")
def test_a_test_on_the_fixtures_loop_is_told_to_await_it(project: Project) -> None:
    prepare(project, ASYNCIO)
    (project.folder / "sums_suite.json").unlink()
    project.write(
        "test_answers.py",
        "import pytest\n\n\n@pytest.mark.asyncio(loop_scope='session')\nasync def"
        + TESTS.strip()[3:].replace("(eval", "(service, eval", 1)
        + "\n",
    )

    result = project.run(*arguments("asyncio"))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*await eval_model(…).ask_async(…)*"])
