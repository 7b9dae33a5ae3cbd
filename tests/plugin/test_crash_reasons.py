"""Items that something else than their evaluation ends: type and message, without configured secrets."""

from __future__ import annotations

import zipfile

import pytest

from support.openai_server import Reply, serve
from support.project import Project

SECRET = "Tr0ub4dor-and-3"
CRASH = f"""
import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    token = {SECRET!r}
    print("connected with", token)
    raise RuntimeError(f"the database of {{item.name}} refused {{token}}")
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "one worker"])
def test_a_crash_has_type_and_message_and_no_secret_anywhere(
    project: Project, monkeypatch: pytest.MonkeyPatch, workers: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", SECRET)
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    project.write("conftest.py", CRASH)
    with serve() as service:
        service.default = Reply("It is 4.")
        project.write(
            "evalstudio.toml",
            f"""
            evaluators = ["text_matching"]

            [[model]]
            name = "app"
            host = "openai_compatible"
            url = "{service.url}"
            llm_model_name = "m"
            api_key = "${{SERVICE_TOKEN}}"
            """,
        )
        result = project.run_process("--showlocals", "--junitxml", "junit.xml", *workers)

    result.assert_outcomes(errors=1)
    _, items = project.record()
    reason = items["four[app]"]["reason"]
    assert reason.startswith("RuntimeError: the database of four[app] refused ")
    assert len(reason) < 100
    assert SECRET not in result.stdout.str().replace(str(project.folder), "")
    assert SECRET not in (project.folder / "junit.xml").read_text(encoding="utf-8")
    for path in (project.folder / "evalstudio-report").rglob("*"):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                assert all(SECRET.encode() not in archive.read(name) for name in archive.namelist())
        elif path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
