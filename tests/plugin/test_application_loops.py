"""Applications of this process share one event loop, whatever asks them."""

from __future__ import annotations

import pytest

from support.openai_server import Reply, serve
from support.project import Project

TWO_MODELS = """
evaluators = ["text_matching"]

[[model]]
name = "one"
host = "python"
target = "app:ask"

[[model]]
name = "other"
host = "python"
target = "app:ask"
"""
LOCKED = """
import asyncio

lock = asyncio.Lock()


async def ask(prompt):
    async with lock:
        await asyncio.sleep(0.01)
    return "It is 4."
"""
CLIENT = """
from openai import AsyncOpenAI

client = AsyncOpenAI(base_url="{url}", api_key="none", max_retries=0)


async def ask(prompt):
    reply = await client.chat.completions.create(
        model="m", messages=[{{"role": "user", "content": prompt}}]
    )
    return reply.choices[0].message.content
"""
LIFESPAN = """
import asyncio

loops = set()
ended = []


async def background():
    try:
        await asyncio.sleep(60)
    finally:
        ended.append(True)


class Assistant:
    def __init__(self):
        self.task = None

    async def __call__(self, prompt):
        loops.add(asyncio.get_running_loop())
        return f"{len(loops)} loop"

    async def close(self):
        loops.add(asyncio.get_running_loop())


async def judge(prompt):
    loops.add(asyncio.get_running_loop())
    return f"{len(loops)} loop"
"""
CASES = [{"key": f"k{n}", "prompt": f"{n}?", "condition": '"4"'} for n in range(6)]


@pytest.fixture
def tables(project: Project) -> Project:
    project.write("evalstudio.toml", TWO_MODELS)
    project.suite(*CASES)
    return project


def test_a_lock_of_the_module_serves_two_models(tables: Project) -> None:
    tables.write("app.py", LOCKED)

    tables.run().assert_outcomes(passed=12)


def test_a_client_of_the_module_serves_two_models_and_tests(tables: Project) -> None:
    tables.write(
        "test_answers.py",
        "def test_answer(eval_model):\n"
        "    assert eval_model('one').ask('2+2?').actual_output == 'It is 4.'\n"
        "    assert eval_model('other').ask('2+2?').actual_output == 'It is 4.'\n",
    )
    with serve() as service:
        service.default = Reply("It is 4.")
        tables.write("app.py", CLIENT.format(url=service.url))

        tables.run_process("-W", "error").assert_outcomes(passed=13)

        assert service.connections < len(service.requests)  # they are kept open between the calls


def test_factories_and_functions_have_the_same_loop(project: Project) -> None:
    project.write("app.py", LIFESPAN)
    project.write(
        "evalstudio.toml",
        TWO_MODELS.replace('"app:ask"', '"app:Assistant"\nfactory = true', 1).replace("app:ask", "app:judge"),
    )
    project.suite(*({**case, "condition": '"1 loop"'} for case in CASES))

    project.run().assert_outcomes(passed=12)


def test_a_call_that_blocks_the_loop_is_stopped_by_its_time_limit(project: Project) -> None:
    project.write("app.py", "import time\n\n\nasync def ask(prompt):\n    time.sleep(1)\n    return '4'\n")
    project.write(
        "evalstudio.toml", TWO_MODELS.replace("[[model]]", "[[model]]\ntimeout_s = 0.2\nretries = 0")
    )
    project.suite(CASES[0])

    result = project.run("--evalstudio-model", "one")

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no answer within 0.2 s (`timeout_s`)*"])


@pytest.mark.parametrize("end", ["raise SystemExit(3)", "raise GeneratorExit", "raise KeyError('x')"])
def test_a_call_that_ends_badly_leaves_the_loop_to_the_others(project: Project, end: str) -> None:
    project.write(
        "app.py", f"async def ask(prompt):\n    if prompt == '0?':\n        {end}\n    return 'It is 4.'\n"
    )
    project.write("evalstudio.toml", TWO_MODELS)
    project.suite(*CASES)

    project.run().assert_outcomes(passed=10, errors=2)
