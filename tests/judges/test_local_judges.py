"""Judges on this machine: the recipes of the page as they are written, and servers with quirks."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli.main import main
from support.local_judges import LocalServer
from support.pages import local_judges
from support.project import Project
from support.service import Service, running

pytestmark = pytest.mark.slow

RECIPES = local_judges()
DATA = Path(__file__).parents[1] / "data" / "judges"
COMMON = {name: (DATA / name).read_text(encoding="utf-8") for name in ("labels.csv", "answers_dataset.json")}
"""Twelve answers, half of them good, with their labels."""
CHECK = ["judge-check", "labels.csv", "--lab", "answers_dataset.json", "--evaluator", "groundedness_judge"]
by_recipe = pytest.mark.parametrize("recipe", RECIPES)


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each address that a socket connects to; any other than loopback fails the test."""
    addresses: list[str] = []
    connect = socket.socket.connect

    def checked(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple):
            addresses.append(str(address[0]))
            assert address[0] in ("127.0.0.1", "::1"), address
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", checked)
    return addresses


@pytest.fixture
def recipe_project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Writes the files of a recipe for a server; only the port is another one."""

    @contextmanager
    def write(recipe: str, **quirks: Any) -> Iterator[tuple[Project, LocalServer]]:
        server = LocalServer(recipe, **quirks)
        with running(server.respond, lambda request: True) as service:
            project = Project(pytester, with_app=False)
            for name, content in {**COMMON, **RECIPES[recipe].files}.items():
                project.write(name, at(content, recipe, service))
            monkeypatch.chdir(project.folder)
            yield project, server

    return write


def at(content: str, recipe: str, service: Service) -> str:
    """Return a file of a recipe with the address of the service."""
    content = content.replace("http://127.0.0.1:8080", service.url)
    line = f'host = "{recipe}"\n'
    return content.replace(line, f'{line}url = "{service.url}"\n')


def test_both_servers_have_a_recipe() -> None:
    assert set(RECIPES) == {"ollama", "llama_cpp"}


@by_recipe
def test_a_recipe_runs_as_it_is_written(
    recipe: str, recipe_project: Callable[..., Any], only_loopback: list[str]
) -> None:
    with recipe_project(recipe) as (project, server):
        assert main([*CHECK, "-o", "check.json"]) == 0
        check = json.loads((project.folder / "check.json").read_text("utf-8"))
        assert check["kappa"] == 1.0, check
        project.run("answers_dataset.json").assert_outcomes(passed=6, failed=6)

    assert server.peak == 1, "one request at a time"
    assert set(server.forms) == {"schema"}
    assert set(only_loopback) <= {"127.0.0.1", "::1"}
    assert only_loopback


@by_recipe
def test_the_limits_of_the_recipe_reach_the_server(recipe: str, recipe_project: Callable[..., Any]) -> None:
    with recipe_project(recipe) as (project, server):
        project.run("answers_dataset.json")
    body = server.bodies[0]
    if recipe == "ollama":
        assert body["keep_alive"] == "30m"
        assert {"num_ctx": 8192, "num_predict": 1024}.items() <= body["options"].items()
        assert body["options"]["temperature"] == 0
    else:
        assert (body["max_tokens"], body["temperature"]) == (1024, 0)


@by_recipe
def test_a_judge_that_always_agrees_is_no_better_than_chance(
    recipe: str, recipe_project: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with recipe_project(recipe, judges=lambda prompt: True):
        assert main(CHECK) == 1
    assert "no better than chance" in capsys.readouterr().out


@by_recipe
@pytest.mark.parametrize(
    ("quirks", "forms"),
    [
        pytest.param({"usage": False}, {"schema"}, id="no tokens"),
        pytest.param({"first_token_s": 1.5}, {"schema"}, id="slow first token"),
        pytest.param({"loading": 2}, {"schema"}, id="loads its model"),
        pytest.param({"grammar": ("object",)}, {"schema", "object"}, id="no schema"),
        pytest.param({"grammar": ()}, {"schema", "object", ""}, id="no grammar"),
        pytest.param({"ignores_forms": True}, {"schema"}, id="prose in spite of a schema"),
    ],
)
def test_quirks_change_no_verdict(
    recipe: str, recipe_project: Callable[..., Any], quirks: dict[str, Any], forms: set[str]
) -> None:
    with recipe_project(recipe, **quirks) as (project, server):
        project.run("answers_dataset.json").assert_outcomes(passed=6, failed=6)
    assert set(server.forms) == forms
    if not server.ignores_forms:
        refused = [form for form in server.forms if form and form not in server.grammar]
        assert len(refused) == len(forms) - 1, "a refused form is asked for once"


@by_recipe
@pytest.mark.parametrize(
    ("quirks", "fact"),
    [
        ({"is_cut": True}, "*cut at its length limit, raise max_tokens*"),
        ({"content_is_null": True}, "*the reply is empty*|*sent only reasoning and no answer*"),
    ],
    ids=["length", "null"],
)
def test_a_reply_without_a_verdict_is_an_error_and_never_a_pass(
    recipe: str, recipe_project: Callable[..., Any], quirks: dict[str, Any], fact: str
) -> None:
    with recipe_project(recipe, **quirks) as (project, _):
        result = project.run("answers_dataset.json")
        result.assert_outcomes(errors=12)
        result.stdout.fnmatch_lines([fact.split("|")[-1 if recipe == "llama_cpp" else 0]])
        assert main(CHECK) == 2


@by_recipe
def test_a_reply_that_takes_too_long_names_the_limit(recipe: str, recipe_project: Callable[..., Any]) -> None:
    with recipe_project(recipe, first_token_s=2.0) as (project, _):
        config = (project.folder / "evalstudio.toml").read_text("utf-8")
        config = re.sub(r"retries = \d+", "retries = 0", config.replace("timeout_s = 600", "timeout_s = 0.5"))
        project.write("evalstudio.toml", config)
        result = project.run("answers_dataset.json")
        result.assert_outcomes(errors=1, passed=5, failed=6)
        result.stdout.fnmatch_lines(["*no answer within 0.5 s (`timeout_s`)*"])
