from __future__ import annotations

import sys

import pytest

from pytest_evalstudio.cli.main import main
from support.project import Project

LIST_MODULES = """
import sys


def pytest_unconfigure(config):
    with open(config.rootpath / "modules.txt", "w") as file:
        file.write("\\n".join(sorted(sys.modules)))
"""


def modules(project: Project, *arguments: str) -> set[str]:
    project.run_process("test_one.py", *arguments).assert_outcomes(passed=1)
    return set((project.folder / "modules.txt").read_text().split())


def test_a_run_without_eval_files_imports_only_the_plugin_itself(project: Project) -> None:
    (project.folder / "evalstudio.toml").unlink()
    project.write("conftest.py", LIST_MODULES)
    project.write("test_one.py", "def test_one():\n    pass\n")

    added = modules(project) - modules(project, "-p", "no:evalstudio")

    assert {name for name in added if name.startswith("pytest_evalstudio")} == {
        "pytest_evalstudio",
        "pytest_evalstudio.plugin",
        "pytest_evalstudio.core",
        "pytest_evalstudio.core.plugins",
        "pytest_evalstudio.core.plugins.index",
        "pytest_evalstudio.plugin.hooks",
        "pytest_evalstudio.plugin.hookspecs",
        "pytest_evalstudio.plugin.keys",
        "pytest_evalstudio.plugin.late_fixtures",
        "pytest_evalstudio.plugin.options",
        "pytest_evalstudio.plugin.plain_imports",
    }
    assert {name.partition(".")[0] for name in added} <= {"pytest_evalstudio"} | sys.stdlib_module_names
    files = {path.name for path in project.folder.iterdir()} - {"__pycache__", "stdout", "stderr"}
    assert files == {"app.py", "conftest.py", "modules.txt", "test_one.py"}


def test_a_run_under_xdist_without_eval_files_imports_only_the_scheduler(project: Project) -> None:
    pytest.importorskip("xdist")
    in_controller = "    if hasattr(config, 'workerinput'):\n        return\n    with open"
    project.write("conftest.py", LIST_MODULES.replace("    with open", in_controller))
    project.write("test_one.py", "def test_one():\n    pass\n")

    imported = modules(project, "-n", "1")

    assert "pytest_evalstudio.plugin.scheduling" in imported
    assert not any(
        name.startswith(("pytest_evalstudio.scoring", "pytest_evalstudio.record")) for name in imported
    )


LIST_REWRITTEN = """
import sys

import pytest

pytest.register_assert_rewrite("pytest_evalstudio")  # as pytest does for the files of an installed plugin


def pytest_unconfigure(config):
    hooked = type(config.pluginmanager.rewrite_hook).__name__
    loaders = {name: getattr(module, "__loader__", None) for name, module in sys.modules.items()}
    names = [name for name, loader in loaders.items() if type(loader).__name__ == hooked]
    (config.rootpath / "modules.txt").write_text("\\n".join(names))
"""


def test_pytest_does_not_compile_the_modules_of_this_package_again(project: Project) -> None:
    project.write("listing.py", LIST_REWRITTEN)
    project.lab({"key": "k", "input": "Price?", "actual_output": "Five euros.", "context": ["Five euros."]})

    project.run_process("-p", "listing", "answers_lab.json")

    rewritten = set((project.folder / "modules.txt").read_text().split())
    assert "pytest_evalstudio.plugin.hooks" in rewritten  # imported before the first hook
    assert len([name for name in rewritten if name.startswith("pytest_evalstudio")]) <= 11


def test_every_option_and_ini_key_begins_with_evalstudio(project: Project) -> None:
    from pytest_evalstudio import plugin

    class Group:
        def __init__(self) -> None:
            self.names: list[str] = []

        def addoption(self, *names: str, **_: object) -> None:
            self.names += names

        def addini(self, name: str, *_: object, **__: object) -> None:
            self.names.append(name)

        def getgroup(self, *_: object) -> Group:
            return self

    group = Group()
    plugin.pytest_addoption(group)  # type: ignore[arg-type]
    assert len(group.names) > 5
    assert all(name.lstrip("-").startswith("evalstudio") for name in group.names)


def test_evaluators_by_rules_import_no_large_library(project: Project) -> None:
    project.write("conftest.py", LIST_MODULES)
    project.lab({"key": "k", "input": "Price?", "actual_output": "Five euros.", "context": ["Five euros."]})

    rules = "lexical_groundedness,rouge,bleu,pii_leakage,looping_detection,text_matching"
    project.run_process("answers_lab.json", "--evalstudio-evaluators", rules)

    imported = set((project.folder / "modules.txt").read_text().split())
    assert "pytest_evalstudio.metrics.grounding" in imported
    assert imported.isdisjoint({"nltk", "scipy", "sklearn", "torch", "openai"})


MAX_MODULES = 375
"""Modules of this package that a run of the starter suite with report may import; each takes about 0.5 ms."""


def test_a_first_run_imports_neither_judges_nor_models(project: Project) -> None:
    (project.folder / "evalstudio.toml").unlink()
    main(["init", str(project.folder)])
    project.write("conftest.py", LIST_MODULES)

    project.run_process("starter_suite.yaml").assert_outcomes(passed=3)

    imported = set((project.folder / "modules.txt").read_text().split())
    package_modules = {name for name in imported if name.startswith("pytest_evalstudio")}
    assert "pytest_evalstudio.report.build" in package_modules
    assert len(package_modules) <= MAX_MODULES
    unneeded = ("judges.panel", "judges.prompts", "models.weights", "models.vectors", "text.refusals")
    assert package_modules.isdisjoint(f"pytest_evalstudio.{name}" for name in unneeded)


def test_statistics_are_imported_after_the_first_question(project: Project) -> None:
    """The thread that imports the report ahead is turned off: it may begin at any time."""
    project.write(
        "conftest.py",
        "from pytest_evalstudio.run.recorder import Recorder\n\n\n"
        "Recorder.import_ahead = lambda self: None\n",
    )
    project.write(
        "app.py",
        "import sys\n\n\ndef ask(prompt):\n    return str(sorted({'numpy', 'jinja2'} & {*sys.modules}))\n",
    )
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"[]"'})

    project.run_process().assert_outcomes(passed=1)
