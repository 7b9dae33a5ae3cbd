"""Asynchronous tests ask models: on whatever loop they run, the application stays on its own one."""

from __future__ import annotations

import pytest

from support.openai_server import Reply, serve
from support.project import Project

CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"

[[model]]
name = "other"
host = "python"
target = "app:ask"
"""
APP = """
import asyncio

from openai import AsyncOpenAI

client = AsyncOpenAI(base_url="{url}", api_key="none", max_retries=0)
lock = asyncio.Lock()


async def ask(prompt):
    async with lock:
        await asyncio.sleep(0)
    reply = await client.chat.completions.create(
        model="m", messages=[{{"role": "user", "content": prompt}}]
    )
    return reply.choices[0].message.content
"""
TESTS = """
import asyncio
import pytest

{mark}

{decorator}
async def test_one_question(eval_model, eval_text_matching):
    case = await eval_model("app").ask_async("2+2?", condition='"4"')
    eval_text_matching.check(case)


{decorator}
async def test_several_questions(eval_model):
    one, other = eval_model("app"), eval_model("other")
    answers = await asyncio.gather(*(model.ask_async(f"{{n}}?") for n in range(6) for model in (one, other)))
    assert {{case.actual_output for case in answers}} == {{"It is 4."}}


{decorator}
async def test_the_loop_is_free_meanwhile(eval_model):
    asking = asyncio.create_task(eval_model("app").ask_all_async(["slow 1?", "slow 2?"]))
    ticks = 0
    while not asking.done():
        ticks += 1
        await asyncio.sleep(0.01)
    assert ticks > 3


{decorator}
async def test_a_synchronous_question(eval_model):
    assert eval_model("app").ask("2+2?").actual_output == "It is 4."


def test_without_a_loop(eval_model):
    assert eval_model("app").ask("2+2?").actual_output == "It is 4."
"""
STRICT = {"mark": "", "decorator": "@pytest.mark.asyncio"}
MODES = [
    pytest.param(
        ("-p", "no:anyio", "-o", "asyncio_mode=auto"),
        {"mark": "", "decorator": ""},
        id="asyncio auto",
        marks=pytest.mark.neighbours("pytest_asyncio", "openai"),
    ),
    pytest.param(
        ("-p", "no:anyio", "-o", "asyncio_mode=strict"),
        STRICT,
        id="asyncio strict",
        marks=pytest.mark.neighbours("pytest_asyncio", "openai"),
    ),
    pytest.param(
        ("-p", "no:anyio", "-o", "asyncio_default_test_loop_scope=session"),
        STRICT,
        id="asyncio with one loop",
        marks=pytest.mark.neighbours("pytest_asyncio", "openai"),
    ),
    pytest.param(
        ("-p", "no:asyncio"),
        {
            "mark": "@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n",
            "decorator": "@pytest.mark.anyio",
        },
        id="anyio",
        marks=pytest.mark.neighbours("anyio", "openai"),
    ),
]


@pytest.mark.parametrize(("arguments", "words"), MODES)
def test_tests_and_suites_share_the_client_of_the_application(
    project: Project, arguments: tuple[str, ...], words: dict[str, str]
) -> None:
    project.write("evalstudio.toml", CONFIG)
    project.write("test_answers.py", TESTS.format(**words))
    project.suite(*({"key": f"k{n}", "prompt": f"{n}?", "condition": '"4"'} for n in range(4)))
    with serve() as service:
        service.default = lambda question: Reply("It is 4.", delay_s=0.1 if "slow" in question else 0)
        project.write("app.py", APP.format(url=service.url))

        project.run("-p", "no:randomly", *arguments).assert_outcomes(passed=13)


FIXTURE = """
import asyncio

import pytest
import pytest_asyncio


@pytest_asyncio.fixture(loop_scope="{loop}", scope="{scope}")
async def assistant():
    loop = asyncio.get_running_loop()

    async def ask(prompt):
        assert asyncio.get_running_loop() is loop
        await asyncio.sleep(0.01)
        return "It is 4."

    return ask
"""
FIXTURE_CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "assistant"
host = "fixture"
fixture = "assistant"
"""


def fixture_project(
    project: Project, *, loop: str, scope: str, mark: str, arguments: str = "assistant, "
) -> None:
    project.write("evalstudio.toml", FIXTURE_CONFIG)
    project.write("conftest.py", FIXTURE.format(loop=loop, scope=scope))
    project.write(
        "test_answers.py",
        f"import pytest\n\n\n{mark}\nasync def test_it({arguments}eval_model):\n"
        "    answers = await eval_model('assistant').ask_all_async(['2+2?', '3+1?'])\n"
        "    assert [case.actual_output for case in answers] == ['It is 4.', 'It is 4.']\n",
    )


@pytest.mark.neighbours("pytest_asyncio")
@pytest.mark.parametrize(
    ("loop", "scope", "mark"),
    [
        ("function", "function", "@pytest.mark.asyncio"),
        ("session", "session", "@pytest.mark.asyncio(loop_scope='session')"),
    ],
)
def test_a_fixture_of_the_tests_own_loop_is_awaited_there(
    project: Project, loop: str, scope: str, mark: str
) -> None:
    fixture_project(project, loop=loop, scope=scope, mark=mark)

    project.run("-p", "no:anyio", "-p", "no:randomly").assert_outcomes(passed=1)


@pytest.mark.neighbours("pytest_asyncio")
def test_a_fixture_of_another_loop_is_refused_with_the_remedy(project: Project) -> None:
    fixture_project(project, loop="session", scope="session", mark="@pytest.mark.asyncio")

    result = project.run("-p", "no:anyio", "-p", "no:randomly")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(['*lives on another event loop, *loop_scope="session"*'])


@pytest.mark.neighbours("pytest_asyncio")
def test_a_fixture_that_the_test_does_not_name_is_refused_with_the_remedy(project: Project) -> None:
    fixture_project(project, loop="function", scope="function", mark="@pytest.mark.asyncio", arguments="")

    result = project.run("-p", "no:anyio", "-p", "no:randomly")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*name the fixture 'assistant' among the arguments of the test*"])


@pytest.mark.neighbours("anyio", "trio")
def test_a_test_under_trio_is_told_what_to_write(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG.replace("app:ask", "plain:ask"))
    project.write("plain.py", "async def ask(prompt):\n    return 'It is 4.'\n")
    project.write(
        "test_answers.py",
        "import anyio\nimport pytest\n\n\n"
        "@pytest.fixture\ndef anyio_backend():\n    return 'trio'\n\n\n"
        "@pytest.mark.anyio\nasync def test_refused(eval_model):\n"
        "    await eval_model('app').ask_async('?')\n\n\n"
        "@pytest.mark.anyio\nasync def test_written(eval_model):\n"
        "    case = await anyio.to_thread.run_sync(eval_model('app').ask, '?')\n"
        "    assert case.actual_output == 'It is 4.'\n",
    )

    result = project.run("-p", "no:asyncio", "-p", "no:randomly")

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*under trio write `await anyio.to_thread.run_sync(model.ask, question)`*"])
