"""Workers on other machines: socket gateways on loopback, each in a folder of its own."""

from __future__ import annotations

import shutil
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plugin.test_xdist import lines
from support.children import Children
from support.project import Project

pytestmark = pytest.mark.slow

APP = """
def ask(prompt):
    with open("asked.txt", "a") as file:
        file.write(prompt + "\\n")
    return "It is 4."
"""
CONFIG = """
evaluators = ["text_matching"]
cache = "answers"

[[model]]
name = "app"
host = "python"
target = "app:ask"
cache = true
"""


class Machine:
    """A socket server of execnet in a folder of its own."""

    def __init__(self, folder: Path, children: Children) -> None:
        folder.mkdir()
        self.folder = folder
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [sys.executable, "-m", "execnet.script.socketserver", self.address]
        self._process = children.start(command, folder)

    def wait(self) -> None:
        """Return when the server accepts a connection; a probe would be taken for a gateway."""
        self._process.wait_until(
            lambda: "Accept loop" in self._process.out + self._process.err, "the gateway"
        )

    @property
    def questions(self) -> list[str]:
        """Return the questions that were asked on this machine."""
        path = self.folder / "pyexecnetcache" / "asked.txt"
        return path.read_text().split() if path.is_file() else []


@pytest.fixture
def machines(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, children: Children
) -> list[Machine]:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    servers = [Machine(tmp_path_factory.mktemp("machine") / name, children) for name in "ab"]
    for server in servers:
        server.wait()
    return servers


@pytest.fixture
def asking(project: Project) -> Project:
    project.write("pytest.ini", "[pytest]\n")
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    project.suite(*({"key": f"k{n}", "prompt": f"q{n}", "condition": '"4"'} for n in range(24)))
    return project


def spread(machines: list[Machine], folder: Path) -> list[str]:
    """Return the options of a run on other machines."""
    gateways = [option for machine in machines for option in ("--tx", f"socket={machine.address}")]
    return [*gateways, "--dist=load", f"--rsyncdir={folder}", str(folder)]


def test_machines_get_the_suites_and_the_controller_writes_the_same_record(
    asking: Project, machines: list[Machine]
) -> None:
    spread_run = asking.run_process(
        *spread(machines, asking.folder), f"--evalstudio-output={asking.folder / 'spread'}"
    )
    single_run = asking.run_process("--evalstudio-output=alone", "-o", "evalstudio_cache=other")

    spread_run.assert_outcomes(passed=24, warnings=3)
    assert single_run.ret == 0
    assert lines(asking, "spread") == lines(asking, "alone")
    assert sorted(machines[0].questions + machines[1].questions) == sorted(f"q{n}" for n in range(24))
    assert machines[0].questions, "both machines had work"
    assert machines[1].questions, "both machines had work"


def test_stored_answers_go_to_the_machines_and_are_not_asked_again(
    asking: Project, machines: list[Machine]
) -> None:
    asking.run_process().assert_outcomes(passed=24)

    asking.run_process(*spread(machines, asking.folder)).assert_outcomes(passed=24, warnings=3)

    assert machines[0].questions == machines[1].questions == []


def test_machines_that_have_the_project_need_no_copy(asking: Project, machines: list[Machine]) -> None:
    asking.write("pytest.ini", "[pytest]\ntestpaths = .\n")
    gateways = []
    for machine in machines:
        checkout = machine.folder / "checkout"
        shutil.copytree(asking.folder, checkout)
        gateways += ["--tx", f"socket={machine.address}//chdir={checkout}"]

    asking.run_process(*gateways, "--dist=load").assert_outcomes(passed=24)

    questions = [(machine.folder / "checkout" / "asked.txt").read_text().split() for machine in machines]
    assert sorted(questions[0] + questions[1]) == sorted(f"q{n}" for n in range(24))
    assert len(lines(asking, "evalstudio-report")) == 1 + 24
