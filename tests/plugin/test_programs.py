"""Several programs in one repository, each with its own configuration: none gets a module of another."""

from __future__ import annotations

import sys
import sysconfig

import pytest

from support.project import Project

pytestmark = pytest.mark.slow

CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "{name}"
host = "python"
target = "{target}"
"""
MODES = [
    pytest.param((), id="one process"),
    pytest.param(("-n", "2"), id="workers"),
    pytest.param(("--import-mode=importlib",), id="importlib"),
]
SERVICES = ("billing", "support")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester, with_app=False)


def service(project: Project, name: str, *, target: str = "app:ask", cases: int = 2, model: str = "") -> None:
    """Write the configuration and the suite of a service, whose answers must name it."""
    project.write(f"{name}/evalstudio.toml", CONFIG.format(name=model or name, target=target))
    project.suite(
        *({"key": f"k{n}", "prompt": f"{n}?", "condition": f'"I am {name}"'} for n in range(cases)),
        name=f"{name}/{name}_suite.json",
    )


@pytest.mark.parametrize("arguments", MODES)
def test_equal_module_names_are_two_programs(project: Project, arguments: tuple[str, ...]) -> None:
    for name in SERVICES:
        service(project, name)
        project.write(f"{name}/app.py", f"def ask(prompt):\n    return 'I am {name}'\n")

    project.run_process(*arguments).assert_outcomes(passed=4)


@pytest.mark.parametrize("arguments", MODES)
@pytest.mark.parametrize("settings", ["", 'cache = "always"'])
def test_equal_models_of_two_programs_are_two_models(
    project: Project, arguments: tuple[str, ...], settings: str
) -> None:
    for name in SERVICES:
        service(project, name, model="app")
        file = project.folder / name / "evalstudio.toml"
        file.write_text(f"{file.read_text()}{settings}\n")
        project.write(f"{name}/app.py", f"def ask(prompt):\n    return 'I am {name}'\n")

    for _ in range(2):
        project.run_process(*arguments).assert_outcomes(passed=4)
    summary = (project.folder / "evalstudio-report/summary.md").read_text(encoding="utf-8")
    assert all(f"| app ({name}) |" in summary for name in SERVICES)


@pytest.mark.parametrize("arguments", MODES)
def test_helpers_are_not_shared_also_where_they_are_imported_late(
    project: Project, arguments: tuple[str, ...]
) -> None:
    for name in SERVICES:
        service(project, name, target=f"{name}_app:ask")
        project.write(
            f"{name}/{name}_app.py",
            "import importlib\n"
            "import early\n"
            "from tools import words\n"
            "def ask(prompt):\n"
            "    import late\n"
            "    from late_tools.inner import name\n"
            "    import late_tools.inner as inner\n"
            "    dynamic = importlib.import_module('plugins.' + 'greeting')\n"
            "    parts = {early.name, words.name, late.name, name, inner.name, dynamic.name}\n"
            "    return 'I am ' + ' and '.join(sorted(parts))\n",
        )
        for module in ("early", "late", "tools/__init__", "tools/words", "late_tools/inner"):
            project.write(f"{name}/{module}.py", f"name = {name!r}\n")
        project.write(f"{name}/plugins/__init__.py", "")
        project.write(f"{name}/plugins/greeting.py", "from .more import name\n")
        project.write(f"{name}/plugins/more.py", "import early\nname = early.name\n")
        project.suite(
            *({"key": f"k{n}", "prompt": f"{n}?", "condition": f'equals("I am {name}")'} for n in range(2)),
            name=f"{name}/{name}_suite.json",
        )

    project.run_process(*arguments).assert_outcomes(passed=4)


FASTAPI = """
from fastapi import FastAPI
from fastapi.testclient import TestClient

from service.models import Question, answer

app = FastAPI()
client = TestClient(app)


@app.post("/ask")
def post(question: Question) -> dict[str, str]:
    return {"answer": answer(question)}


def ask(prompt):
    return client.post("/ask", json={"prompt": prompt}).json()["answer"]
"""
MODELS = """
from __future__ import annotations

import pickle
from dataclasses import dataclass, field

from pydantic import BaseModel


class Question(BaseModel):
    prompt: str
    tags: Tags | None = None


class Tags(BaseModel):
    names: list[str] = []


@dataclass
class Reply:
    name: str = "NAME"
    others: list[Reply] = field(default_factory=list)


def answer(question: Question) -> str:
    import typing

    from service.words import word

    reply = pickle.loads(pickle.dumps(Reply()))
    assert typing.get_type_hints(Reply)["others"] == list[Reply]
    return f"{word()} {reply.name}"
"""


@pytest.mark.parametrize("arguments", MODES)
@pytest.mark.parametrize("has_test", [False, True], ids=["suites", "suites and a test"])
def test_two_services_of_fastapi_have_equal_package_names(
    project: Project, arguments: tuple[str, ...], has_test: bool
) -> None:
    pytest.importorskip("fastapi")
    for name in SERVICES:
        service(project, name, target="service.main:ask")
        project.write(f"{name}/service/__init__.py", "")
        project.write(f"{name}/service/main.py", FASTAPI)
        project.write(f"{name}/service/models.py", MODELS.replace("NAME", name))
        project.write(f"{name}/service/words.py", "def word():\n    return 'I am'\n")
    options: tuple[str, ...] = ()
    if has_test:
        options = ("-o", "pythonpath=support")
        project.write(
            "support/test_words.py",
            "from service import words\n"
            "def test_words(eval_model, monkeypatch):\n"
            "    assert eval_model('support').ask('?').actual_output == 'I am support'\n"
            "    monkeypatch.setattr(words, 'word', lambda: 'We are')\n"
            "    assert eval_model('support').ask('?').actual_output == 'We are support'\n",
        )

    project.run_process(*options, *arguments).assert_outcomes(passed=4 + has_test)


COUNTING = """
calls = []


def ask(prompt):
    calls.append(prompt)
    return "I am NAME"
"""


def test_a_test_that_imports_a_module_has_the_one_that_answers(project: Project) -> None:
    for name in SERVICES:
        service(project, name)
        project.write(f"{name}/app.py", COUNTING.replace("NAME", name))
    project.write(
        "support/test_z_support.py",
        "import app\ndef test_calls():\n    assert (len(app.calls), app.ask('')) == (2, 'I am support')\n",
    )

    project.run_process().assert_outcomes(passed=5)


def test_tests_that_import_late_have_the_module_of_their_own_folder(project: Project) -> None:
    for name in SERVICES:
        service(project, name)
        project.write(f"{name}/app.py", COUNTING.replace("NAME", name))
        project.write(
            f"{name}/test_z_{name}.py",
            "def test_calls(eval_model, monkeypatch):\n"
            "    import app\n"
            f"    assert (len(app.calls), app.ask('')) == (2, 'I am {name}')\n"
            "    monkeypatch.setattr('app.ask', lambda prompt: 'patched')\n"
            f"    assert eval_model('{name}').ask('?').actual_output == 'patched'\n",
        )

    project.run_process().assert_outcomes(passed=6)


def test_a_module_that_a_test_imported_with_foreign_helpers_is_a_mismatch(project: Project) -> None:
    service(project, "billing", target="billing_app:ask")
    service(project, "support", target="support_app:ask")
    for name in SERVICES:
        project.write(f"{name}/helpers.py", f"name = {name!r}\n")
        project.write(
            f"{name}/{name}_app.py", "from helpers import name\ndef ask(prompt):\n    return 'I am ' + name\n"
        )
        project.write(f"{name}/test_{name}.py", f"import {name}_app\ndef test_it():\n    pass\n")

    result = project.run_process()

    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*import file mismatch: module 'helpers' is *billing?helpers.py in this process, and not *support?*"]
    )


def test_a_module_that_only_another_program_has_is_missing(project: Project) -> None:
    for name in SERVICES:
        service(project, name, target=f"{name}_app:ask")
        project.write(
            f"{name}/{name}_app.py",
            "try:\n    from local_settings import name\nexcept ImportError:\n    name = 'support'\n"
            "def ask(prompt):\n    return 'I am ' + name\n",
        )
    project.write("billing/local_settings.py", "name = 'billing'\n")

    project.run_process().assert_outcomes(passed=4)


def test_the_target_of_another_configuration_does_not_answer_for_a_missing_one(project: Project) -> None:
    for name in SERVICES:
        service(project, name)
    project.write("billing/app.py", "def ask(prompt):\n    return 'I am billing'\n")
    project.write("billing/test_it.py", "import app\ndef test_it():\n    pass\n")

    result = project.run_process()

    assert result.ret == 4
    result.stderr.fnmatch_lines(["*model 'support': target 'app:ask': no module named 'app'*"])


def test_a_folder_of_one_program_does_not_hide_an_installed_package_from_the_other(project: Project) -> None:
    for name in SERVICES:
        service(project, name, target=f"{name}_app:ask")
    project.write("billing/httpx/__init__.py", "")
    project.write("billing/billing_app.py", "import httpx\ndef ask(prompt):\n    return 'I am billing'\n")
    project.write(
        "support/support_app.py",
        "def ask(prompt):\n    from httpx import Client\n    return 'I am support'\n",
    )

    result = project.run_process()

    assert result.ret != 0
    result.stdout.fnmatch_lines(
        ["*import file mismatch: module 'httpx' is *billing*, and not *httpx?__init__.py;*"]
    )


def test_an_extension_module_whose_name_is_taken_is_a_mismatch(project: Project) -> None:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for name in SERVICES:
        service(project, name, target=f"{name}_app:ask")
        project.write(f"{name}/{name}_app.py", f"import fast\ndef ask(prompt):\n    return 'I am {name}'\n")
    project.write("billing/fast.py", "")
    project.write(f"support/fast{suffix}", b"")

    result = project.run_process()

    assert result.ret == 4
    result.stderr.fnmatch_lines(
        ["*import file mismatch: module 'fast' is *billing?fast.py in this process, and not *"]
    )


def test_nested_configurations_see_the_modules_above(project: Project) -> None:
    service(project, ".", target="app:ask")
    project.write("evalstudio.toml", CONFIG.format(name="root", target="app:ask"))
    project.suite({"key": "r", "prompt": "?", "condition": '"I am root"'}, name="root_suite.json")
    (project.folder / "._suite.json").unlink(missing_ok=True)
    project.write("app.py", "import common\ndef ask(prompt):\n    return common.text('root')\n")
    project.write("common.py", "def text(name):\n    return 'I am ' + name\n")
    service(project, "sub")
    project.write("sub/app.py", "import common\ndef ask(prompt):\n    return common.text('sub')\n")

    project.run_process().assert_outcomes(passed=3)


def test_the_import_system_is_as_it_was_after_the_run(project: Project) -> None:
    for name in SERVICES:
        service(project, name)
        project.write(f"{name}/app.py", f"def ask(prompt):\n    return 'I am {name}'\n")
    project.write(
        "run.py",
        "import builtins, importlib, sys, pytest\n"
        "before = builtins.__import__, importlib.import_module, list(sys.path)\n"
        "assert pytest.main(['-p', 'no:cacheprovider', 'billing', 'support']) == 0\n"
        "after = builtins.__import__, importlib.import_module, list(sys.path)\n"
        "assert before == after, (before, after)\n",
    )

    result = project._pytester.run(sys.executable, "run.py")

    assert result.ret == 0


def test_a_patched_target_is_seen_while_it_is_patched(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG.format(name="app", target="app:Service.ask"))
    project.write(
        "app.py",
        "class Assistant:\n    def ask(self, prompt):\n        return 'plain'\nService = Assistant()\n",
    )
    project.write(
        "test_patched.py",
        """
from unittest import mock

import app


def answer(eval_model):
    return eval_model("app").ask("?").actual_output


def test_before(eval_model):
    assert answer(eval_model) == "plain"


def test_patched(eval_model, monkeypatch):
    monkeypatch.setattr(app.Service, "ask", lambda prompt: "patched")
    assert answer(eval_model) == "patched"


def test_after(eval_model):
    assert answer(eval_model) == "plain"


def test_mocks(eval_model):
    with mock.patch("app.Service.ask", return_value="mocked") as ask:
        assert answer(eval_model) == "mocked"
        ask.assert_called_once_with("?")
    with mock.patch.object(app, "Service", mock.Mock(ask=mock.AsyncMock(return_value="async"))):
        assert answer(eval_model) == "async"
    assert answer(eval_model) == "plain"


def test_what_does_not_answer(eval_model, monkeypatch):
    monkeypatch.delattr(app, "Service")
    assert "module 'app' has no 'Service'" in eval_model("app").ask("?").error
""",
    )

    project.run_process("-W", "error").assert_outcomes(passed=5)
