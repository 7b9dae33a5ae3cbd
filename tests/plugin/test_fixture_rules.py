"""pytest's rules for fixtures hold for test cases: an item has one verdict alone, together and on workers."""

from __future__ import annotations

import pytest

from support.project import Project

APP = """
import asyncio

log = []
now = peak = 0


async def ask(prompt):
    global now, peak
    now += 1
    peak = max(peak, now)
    await asyncio.sleep(0.01)
    now -= 1
    log.append(prompt)
    return f"asked: {len(log)}, peak: {peak}, mode: {mode}"


mode = "production"
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:ask"
"""
FEATURES = {
    # Each item is asked between its own set-up and teardown.
    "autouse": "@pytest.fixture(autouse=True)\ndef clean():\n    app.log.clear()\n",
    "yield": "@pytest.fixture(autouse=True)\ndef clean():\n    yield\n    app.log.clear()\n",
    "finalizer": (
        "@pytest.fixture(autouse=True)\ndef clean(request):\n    request.addfinalizer(app.log.clear)\n"
    ),
    "monkeypatch": (
        "@pytest.fixture(autouse=True)\n"
        "def clean(monkeypatch, tmp_path):\n"
        "    monkeypatch.setattr(app, 'log', [])\n"
        "    monkeypatch.setattr(app, 'mode', 'test')\n"
    ),
    "patched target": (
        "@pytest.fixture(autouse=True)\n"
        "def patched(monkeypatch):\n"
        "    monkeypatch.setattr(app, 'ask', lambda prompt: 'asked: 1, peak: 1')\n"
    ),
    "class": "@pytest.fixture(autouse=True, scope='class')\ndef clean():\n    app.log.clear()\n",
    "dynamic": (
        "@pytest.fixture\ndef clean():\n    app.log.clear()\n\n\n"
        "@pytest.fixture(autouse=True)\ndef chosen(request):\n    request.getfixturevalue('clean')\n"
    ),
    "request": (
        "@pytest.fixture(autouse=True)\n"
        "def clean(request):\n"
        "    assert request.node.name in ('a[app]', 'b[app]', 'c[app]')\n"
        "    assert request.path.name == 'sums_suite.json'\n"
        "    assert request.function is request.module is request.cls is request.instance is None\n"
        "    assert 'evalstudio' in request.keywords and 'clean' in request.fixturenames\n"
        "    app.log.clear()\n"
    ),
    "hooks": (
        "def pytest_runtest_setup(item):\n    app.log.clear()\n\n\n"
        "@pytest.fixture(autouse=True)\ndef own(): ...\n"
    ),
    "named in ini": "@pytest.fixture\ndef clean():\n    app.log.clear()\n",
    "overridden": (
        "@pytest.fixture\ndef clean():\n    app.log.clear()\n\n\n"
        "@pytest.fixture(autouse=True)\ndef _(clean): ...\n"
    ),
}
CASES = [{"key": key, "prompt": f"{key}?", "condition": '"asked: 1, peak: 1"'} for key in "abc"]


@pytest.fixture
def project(project: Project) -> Project:
    project.write("app.py", APP)
    project.write("evalstudio.toml", CONFIG)
    return project


def fixtures(project: Project, code: str, folder: str = "") -> None:
    project.write(f"{folder}conftest.py", f"import pytest\nimport app\n\n\n{code}")


def prepare(project: Project, feature: str) -> None:
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    fixtures(project, FEATURES[feature])
    project.suite(*CASES)
    if feature == "named in ini":
        project.write("pytest.ini", "[pytest]\npythonpath = .\nusefixtures = clean\n")
    if feature == "overridden":
        fixtures(project, FEATURES[feature].replace("app.log.clear()", "raise NotImplementedError"))
        (project.folder / "sums_suite.json").unlink()
        project.suite(*CASES, name="part/sums_suite.json")
        fixtures(project, "@pytest.fixture\ndef clean():\n    app.log.clear()\n", folder="part/")


@pytest.mark.parametrize("feature", FEATURES)
def test_an_item_has_the_same_verdict_alone_and_together(project: Project, feature: str) -> None:
    prepare(project, feature)

    project.run().assert_outcomes(passed=3)
    name = "part/sums_suite.json" if feature == "overridden" else "sums_suite.json"
    for key in "abc":
        project.run(f"{name}::{key}[app]").assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.parametrize("feature", [feature for feature in FEATURES if feature != "monkeypatch"])
def test_an_item_has_the_same_verdict_with_a_worker(project: Project, feature: str) -> None:
    prepare(project, feature)

    project.run("-n", "1").assert_outcomes(passed=3)


def test_workers_keep_the_rules_of_fixtures(project: Project) -> None:
    # The one with workers that is not slow; the others are above.
    prepare(project, "monkeypatch")

    project.run("-n", "2").assert_outcomes(passed=3)


SCOPES = """
events = []


@pytest.fixture(scope="session", autouse=True)
def of_session():
    events.append("session")
    yield
    events.append("end of session")
    with open(FILE, "w") as file:
        file.write(" | ".join(events))


@pytest.fixture(scope="package", autouse=True)
def of_package():
    events.append("package")
    yield
    events.append("end of package")


@pytest.fixture(scope="module", autouse=True)
def of_module(request):
    events.append(f"module {request.node.name}")
    app.mode = request.node.name
    yield
    events.append("end of module")
"""


def test_wide_scopes_are_set_up_once_and_leave_chunks_whole(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    path = project.folder / "events.txt"
    fixtures(project, f"FILE = {str(path)!r}\n{SCOPES}")
    for name in ("one_suite.json", "other_suite.json"):
        cases = ({**case, "condition": f'"mode: {name}"'} for case in CASES)
        project.suite(*cases, name=name)
    project.write("test_module.py", "import app\ndef test_peak():\n    assert app.peak > 1\n")

    project.run().assert_outcomes(passed=7)

    assert path.read_text().split(" | ") == [
        *("session", "package", "module one_suite.json", "end of module", "module other_suite.json"),
        *("end of module", "module test_module.py", "end of module", "end of package", "end of session"),
    ]


def test_a_session_fixture_of_a_folder_is_set_up_for_that_folder_alone(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    code = "@pytest.fixture(scope='session', autouse=True)\ndef guard():\n    app.mode = 'test'\n"
    fixtures(project, code, folder="guarded/")
    project.suite({**CASES[0], "condition": '"mode: production"'}, name="a/first_suite.json")
    project.suite({**CASES[0], "condition": '"mode: test"'}, name="guarded/other_suite.json")

    project.run().assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("body", "outcomes"),
    [
        ("pytest.skip('no data base')", {"skipped": 3}),
        ("raise OSError('no data base')", {"errors": 3}),
        ("pytest.fail('no data base')", {"errors": 3}),
    ],
)
def test_a_guard_that_refuses_keeps_the_application_from_being_asked(
    project: Project, body: str, outcomes: dict[str, int]
) -> None:
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    fixtures(
        project,
        f"@pytest.fixture(autouse=True)\ndef guard():\n    {body}\n\n\n"
        "def pytest_sessionfinish():\n    assert not app.log\n",
    )
    project.suite(*CASES)

    result = project.run("-rs")

    result.assert_outcomes(**outcomes)
    result.stdout.fnmatch_lines(["*no data base*"])


def test_an_autouse_fixture_with_parameters_is_refused_in_a_sentence(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    fixtures(project, "@pytest.fixture(autouse=True, params=[1, 2])\ndef number(request):\n    return 1\n")
    project.suite(CASES[0])

    result = project.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'number' has parameters*"])


def test_a_teardown_that_fails_is_an_error_of_its_item(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    fixtures(
        project,
        "@pytest.fixture(autouse=True)\ndef broken(request):\n    app.log.clear()\n    yield\n"
        "    assert request.node.name != 'b[app]'\n",
    )
    project.suite(*CASES)

    project.run().assert_outcomes(passed=3, errors=1)


HOST_FIXTURE = """
@pytest.fixture{scope}
def assistant():
    asked = []

    async def ask(prompt):
        asked.append(prompt)
        return f"asked: {{len(asked)}}, peak: 1"

    return ask
"""


@pytest.mark.parametrize("scope", ["", "(scope='class')"])
def test_an_application_of_a_fixture_is_started_for_each_item(project: Project, scope: str) -> None:
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    config = CONFIG.replace('"python"', '"fixture"').replace('target = "app:ask"', 'fixture = "assistant"')
    project.write("evalstudio.toml", config)
    fixtures(project, HOST_FIXTURE.format(scope=scope))
    project.suite(*CASES)

    project.run().assert_outcomes(passed=3)


def write_waiting_app(project: Project) -> None:
    """Write an application that answers when all three cases are being asked, or after half a minute."""
    waiting = (
        "for _ in range(3_000):\n        if peak == 3:\n            break\n        await asyncio.sleep(0.01)"
    )
    project.write("app.py", APP.replace("await asyncio.sleep(0.01)", waiting))


def test_an_autouse_fixture_of_an_installed_plugin_leaves_chunks_whole(project: Project) -> None:
    write_waiting_app(project)
    folder = project.folder / "lib" / "site-packages"
    project.write(
        "lib/site-packages/installed_plugin.py",
        "import pytest\nevents = []\n\n\n@pytest.fixture(autouse=True)\ndef own():\n    events.append(1)\n",
    )
    project.write("pytest.ini", f"[pytest]\npythonpath = . {folder}\naddopts = -p installed_plugin\n")
    project.suite(*({**case, "condition": '"peak: 3"'} for case in CASES))
    project.write(
        "test_z.py", "import installed_plugin\ndef test_z():\n    assert len(installed_plugin.events) == 4\n"
    )

    project.run().assert_outcomes(passed=4)


def test_without_fixtures_a_chunk_is_asked_at_once(project: Project) -> None:
    write_waiting_app(project)
    project.suite(*({**case, "condition": '"peak: 3"'} for case in CASES))

    project.run().assert_outcomes(passed=3)


def test_perturbed_cases_are_compared_with_their_originals(project: Project) -> None:
    prepare(project, "autouse")
    project.suite(*({**case, "prompt": f"What does the {case['key']} card cost?"} for case in CASES))

    project.run("--evalstudio-perturb", "comma").assert_outcomes(passed=6)


def test_pytests_displays_of_fixtures_know_the_items(project: Project) -> None:
    prepare(project, "autouse")

    result = project.run("--setup-plan")
    result.stdout.fnmatch_lines(["*SETUP    F clean*", "*sums_suite.json::a?app? (fixtures used: clean)*"])
    assert project.run("--fixtures-per-test").ret == 0
