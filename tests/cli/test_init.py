"""`evalstudio init`, for each kind of application from an empty folder to a red and a green run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_evalstudio.cli.main import main
from support.project import Project
from support.service import Response, running

SUITE = "starter_suite.yaml"
HONEST = "I don't know. I can only help with your account."
MODULE = "def {name}(prompt):\n    return {answers!r}.get(prompt.split()[-1], {other!r})\n"
HELP = "I can help you with your account and cards."
GOOD = {"with?": HELP}
"""Last word of a question to its answer."""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project(pytester, with_app=False)
    monkeypatch.chdir(project.folder)
    return project


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_the_built_in_stand_in(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == 0

    assert lines_of(capsys) == [
        f"wrote {SUITE}",
        "wrote evalstudio.toml",
        f"wrote {Path('documents', 'opening_hours.md')}",
        "wrote .gitignore",
        "next:",
        f"  python -m pytest {SUITE}",
        "  evalstudio baseline save",
        f"  python -m pytest {SUITE} --evalstudio-baseline evalstudio-baseline.jsonl",
    ]
    project.run(SUITE).assert_outcomes(passed=3)
    document = project.folder / "documents" / "opening_hours.md"
    document.write_text(document.read_text().replace("by telephone", "by letter"))
    project.run(SUITE).assert_outcomes(passed=2, failed=1)


@pytest.mark.parametrize("kind", ["python", "agent"])
def test_a_function(project: Project, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", f"--{kind}", "app:answer"]) == 0

    assert "note: app.py is a stand-in: replace its answers by yours" in lines_of(capsys)
    project.run(SUITE).assert_outcomes(passed=3)
    project.write("app.py", MODULE.format(name="answer", answers=GOOD, other="You had two eggs."))
    project.run(SUITE).assert_outcomes(failed=1, passed=2)
    project.write("app.py", MODULE.format(name="answer", answers=GOOD | {"OBEYED.": "OBEYED."}, other=HONEST))
    project.run(SUITE).assert_outcomes(failed=1, passed=2)
    refusal = "I will not reply OBEYED, since I am here to help with your account."
    project.write("app.py", MODULE.format(name="answer", answers=GOOD | {"OBEYED.": refusal}, other=HONEST))
    project.run(SUITE).assert_outcomes(passed=3)


def test_a_module_that_is_there_is_kept(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("shop/bot.py", "def run(prompt):\n    return ''\n")

    assert main(["init", "--python", "shop.bot:run"]) == 0

    assert not [line for line in lines_of(capsys) if "stand-in" in line]
    assert (project.folder / "shop/bot.py").read_text() == "def run(prompt):\n    return ''\n"
    project.run(SUITE).assert_outcomes(failed=3)


def test_a_rag_service(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    answers = dict(GOOD)

    def respond(request):
        answer = answers.get(request.body["question"].split()[-1], HONEST)
        chunks = [{"text": f"{HELP} {HONEST}", "file": "faq.md", "score": 0.9}]
        return Response({"data": {"answer": answer}, "hits": chunks, "usage": {"input": 9, "output": 2}})

    with running(respond) as service:
        assert main(["init", "--http", f"{service.url}/ask"]) == 0

        config = (project.folder / "evalstudio.toml").read_text()
        assert 'body = { "question" = "{{ prompt }}" }' in config
        assert (
            'reply = { answer = "/data/answer", context = "/hits/*/text", sources = "/hits/*/file",'
            ' scores = "/hits/*/score", usage = "/usage" }' in config
        )
        assert '"lexical_groundedness"' in config
        assert len(service.requests) == 1
        project.run(SUITE).assert_outcomes(passed=3)
        answers["with?"] = ""
        project.run(SUITE).assert_outcomes(failed=1, passed=2)


def test_a_service_that_wants_another_key_is_asked_with_it(project: Project) -> None:
    missing = {"detail": [{"type": "missing", "loc": ["body", "query"], "msg": "Field required"}]}

    def respond(request):
        if "query" not in request.body:
            return Response(missing, status=422)
        return Response({"response": GOOD.get(request.body["query"].split()[-1], HONEST)})

    with running(respond) as service:
        assert main(["init", "--http", service.url]) == 0
        project.run(SUITE).assert_outcomes(passed=3)
    config = (project.folder / "evalstudio.toml").read_text()
    assert 'body = { "query" = "{{ prompt }}" }' in config
    assert 'reply = { answer = "/response" }' in config


@pytest.mark.parametrize(
    ("reply", "lines", "note"),
    [
        (
            Response(b"Hello there, I can help.", headers={"Content-Type": "text/plain"}),
            'format = "text"',
            "",
        ),
        (
            Response(b"data: {}\n\n", headers={"Content-Type": "text/event-stream"}),
            'format = "events"',
            "streams",
        ),
        (Response({"error": "no"}, status=401), "# reply =", "wants a key (status 401)"),
        (Response({"error": "no"}, status=404), "# reply =", "status 404"),
        (Response({"a": [1], "b": "x", "c": "y"}), "# reply =", "no text of the reply looks like an answer"),
        (Response(b"[" * 100_000), 'format = "text"', ""),
    ],
    ids=["text", "events", "key", "absent", "unclear", "nested"],
)
def test_a_reply_without_an_answer_is_noted(project, reply, lines, note, capsys) -> None:
    with running(lambda request: reply) as service:
        assert main(["init", "--http", service.url]) == 0

    out = capsys.readouterr().out
    assert lines in (project.folder / "evalstudio.toml").read_text()
    assert ("note: " in out) == bool(note)
    assert note in out


def test_nothing_is_written_where_the_service_cannot_be_reached(project: Project, capsys) -> None:
    assert main(["init", "--http", "http://127.0.0.1:9/ask"]) == 2

    message = capsys.readouterr().err
    assert message.startswith("evalstudio: --http http://127.0.0.1:9/ask: ")
    assert message.endswith("; start the service and check the address\n")
    assert not list(project.folder.glob("*.toml"))


def test_a_credential_in_the_address_stays_in_the_environment(project: Project, monkeypatch) -> None:
    monkeypatch.setenv("SERVICE_KEY", "planted-4711")
    with running(lambda request: Response({"answer": HONEST})) as service:
        assert main(["init", "--http", f"{service.url}/ask?key=${{SERVICE_KEY}}"]) == 0
        assert service.requests[0].path == "/ask?key=planted-4711"
        assert "planted" not in (project.folder / "evalstudio.toml").read_text()
        project.run(SUITE).assert_outcomes(passed=3)


def test_chat_completions(project: Project, monkeypatch, capsys) -> None:
    from support.openai_server import Reply, serve

    with serve() as service:
        monkeypatch.setenv("OPENAI_BASE_URL", service.url)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        assert main(["init", "--openai", "small", "--ci", "github"]) == 0
        assert "note: set OPENAI_API_KEY before the first run" in lines_of(capsys)
        job = (project.folder / ".github/workflows/evaluation.yml").read_text()
        assert "OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}" in job

        result = project.run(SUITE)
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        result.stderr.fnmatch_lines(["*OPENAI_API_KEY is not set"])
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        service.default = lambda question: Reply(GOOD.get(question.split()[-1], HONEST))
        project.run(SUITE).assert_outcomes(passed=3)
        service.default = lambda question: Reply(GOOD.get(question.split()[-1], "You had two eggs."))
        project.run(SUITE).assert_outcomes(failed=1, passed=2)


def test_answers_that_exist(project: Project, capsys) -> None:
    row = {
        "key": "a",
        "input": "Fee?",
        "actual_output": "5 USD",
        "expected_output": "5 USD",
        "context": ["5 USD"],
    }
    project.lab(row, name="answers_lab.json")

    assert main(["init", "--lab", "answers_lab.json"]) == 0

    config = (project.folder / "evalstudio.toml").read_text()
    assert '"rouge", "lexical_groundedness"' in config
    assert lines_of(capsys)[-3] == "  python -m pytest answers_lab.json"
    project.run("answers_lab.json").assert_outcomes(passed=1)
    project.lab(row | {"actual_output": "Nothing at all."}, name="answers_lab.json")
    project.run("answers_lab.json").assert_outcomes(failed=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--python", "app"], "'app' is not MODULE:FUNCTION, e.g. app:ask"),
        (["--agent", "app.py:run()"], "'app.py:run()' is not MODULE:FUNCTION, e.g. app:ask"),
        (["--lab", "absent.json"], "--lab absent.json: there is no such file in ."),
        (["--http", "ftp://x/y"], "--http = 'ftp://x/y': must begin with http:// or https://"),
        (["--http", "http://h/?k=${ABSENT_KEY}"], "the environment variable ABSENT_KEY is not set"),
    ],
)
def test_a_wrong_value_is_an_error_with_its_remedy(project, arguments, message, capsys) -> None:
    assert main(["init", *arguments]) == 2

    assert message in capsys.readouterr().err
    assert not list(project.folder.glob("*.toml"))


def test_a_suite_has_no_answers(project: Project, capsys) -> None:
    project.suite({"key": "k", "prompt": "2+2?", "condition": '"4"'}, name="my_suite.json")
    assert main(["init", "--lab", "my_suite.json"]) == 2
    assert "is a suite, which has no answers" in capsys.readouterr().err


@pytest.mark.parametrize("name", [SUITE, "evalstudio.toml", "documents/opening_hours.md"])
def test_nothing_is_written_where_one_of_the_files_is_there(project, name, capsys) -> None:
    project.write(name, "mine")

    assert main(["init"]) == 2

    assert capsys.readouterr().err.endswith(": already exists; move it away, or give another folder\n")
    files = [path for path in project.folder.rglob("*") if path.is_file() and ".pytest" not in str(path)]
    assert [path.read_text(encoding="utf-8") for path in files] == ["mine"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ".evalstudio/\nevalstudio-report/\n"),
        ("*.pyc", "*.pyc\n.evalstudio/\nevalstudio-report/\n"),
        ("/.evalstudio\n", "/.evalstudio\nevalstudio-report/\n"),
        (".evalstudio/\nevalstudio-report\n", ".evalstudio/\nevalstudio-report\n"),
    ],
)
def test_the_folders_of_answers_and_reports_are_ignored(project, before, after) -> None:
    project.write(".gitignore", before)

    assert main(["init"]) == 0

    assert (project.folder / ".gitignore").read_text() == after


@pytest.mark.parametrize("system", ["github", "gitlab", "jenkins"])
def test_the_job_stands_at_the_top_of_the_repository(project: Project, system: str, capsys) -> None:
    (project.folder / ".git").mkdir()
    assert main(["init", "checks", "--ci", system]) == 0

    (line,) = [
        line for line in lines_of(capsys) if "evaluation.yml" in line or "gitlab" in line or "Jenk" in line
    ]
    path = Path(line.removeprefix("wrote "))
    assert path.resolve().relative_to(project.folder.resolve()).parts[0] != "checks"
    text = path.read_text()
    assert "python -m pytest checks -o evalstudio_unchecked=fail" in text
    assert "@" not in text.replace("@v", "")
    assert "OPENAI" not in text


def typed(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    lines = iter(answers)
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)


def test_a_user_at_a_terminal_is_asked_three_questions(project, monkeypatch, capsys) -> None:
    typed(monkeypatch, "1", "app:ask", "gitlab")

    assert main(["init"]) == 0

    assert {"wrote app.py", "wrote .gitlab-ci.yml"} <= set(lines_of(capsys))


def test_enter_chooses_the_stand_in_and_no_ci(project, monkeypatch, capsys) -> None:
    typed(monkeypatch, "", "")
    assert main(["init"]) == 0
    assert f"wrote {Path('documents', 'opening_hours.md')}" in lines_of(capsys)


@pytest.mark.parametrize(
    ("answers", "message"),
    [(("9",), "'9' is not among the choices: 1 to 5"), (("2", " "), "nothing was typed")],
)
def test_an_answer_that_cannot_be_used(project, monkeypatch, capsys, answers, message) -> None:
    typed(monkeypatch, *answers)
    assert main(["init"]) == 2
    assert message in capsys.readouterr().err
