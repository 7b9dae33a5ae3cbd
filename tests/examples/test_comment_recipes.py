"""The recipes that write a summary to a pull request: one comment, which later runs replace."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

pytestmark = pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="bash or curl is missing"
)

FOLDER = Path(__file__).parents[2] / "docs" / "run"
NAMES = {"github_comment": "github-comment.yml", "gitlab_note": "gitlab-note.yml"}
MARKER = "<!-- evalstudio -->"
TOKEN = "glpat-of-the-test"
NOTES = "/api/v4/projects/5/merge_requests/7/notes"
ME, OTHER = 11, 12
SECRET = re.compile(r"(?i)(glpat-|ghp_|github_pat_|sk-[a-z0-9]{8}|bearer )")


def recipe(name: str) -> str:
    return (FOLDER / "recipes" / NAMES[name]).read_text(encoding="utf-8")


def script_of(name: str) -> str:
    """Return the shell of the step or job that comments."""
    content = yaml.safe_load(recipe(name))
    if name == "github_comment":
        text = content["jobs"]["evaluate"]["steps"][-1]["run"]
    else:
        (text,) = content["comment"]["script"]
    assert isinstance(text, str)
    return text


def write_summary(folder: Path, text: str) -> None:
    (folder / "evalstudio-report").mkdir(exist_ok=True)
    (folder / "evalstudio-report" / "summary.md").write_text(text, encoding="utf-8")


def run(name: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the shell of a recipe as its service does."""
    options = ["-e"] if name == "github_comment" else ["-eo", "pipefail"]
    return subprocess.run(
        ["bash", *options, "-c", script_of(name)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_page_links_to_the_file(name: str) -> None:
    page = (FOLDER / "ci.md").read_text(encoding="utf-8")
    assert f"(recipes/{NAMES[name]})" in page


@pytest.mark.parametrize("name", NAMES)
def test_the_shell_is_valid(name: str) -> None:
    checked = subprocess.run(
        ["bash", "-n"], input=script_of(name), text=True, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("name", NAMES)
def test_secrets_come_from_the_environment_alone(name: str) -> None:
    text = recipe(name)
    assert not SECRET.search(text)
    # GitHub writes ${{ }} into the shell before it runs: a value with shell code would be run.
    assert "${{" not in script_of(name)
    names = set(re.findall(r"\$\{?(\w*(?:TOKEN|KEY|SECRET)\w*)", script_of(name)))
    assert names <= {"EVALSTUDIO_GITLAB_TOKEN"}


def test_github_gives_the_step_only_what_it_needs() -> None:
    content = yaml.safe_load(recipe("github_comment"))
    assert content["permissions"] == {"contents": "read", "pull-requests": "write"}
    step = content["jobs"]["evaluate"]["steps"][-1]
    assert step["env"]["GH_TOKEN"] == "${{ github.token }}"
    assert "head.repo.full_name == github.repository" in step["if"]
    steps = content["jobs"]["evaluate"]["steps"]
    assert not any("GH_TOKEN" in step.get("env", {}) for step in steps[:-1])
    assert steps[0]["with"] == {"persist-credentials": False}


GH = """#!{python}
import json, pathlib, sys

arguments = sys.argv[1:]
state = pathlib.Path({folder!r}, "comments.json")
comments = json.loads(state.read_text())
fields = [each.partition("=@")[2] for each in arguments if each.startswith("body=@")]
if arguments[:2] == ["pr", "comment"]:
    assert arguments[2:4] == ["7", "--body-file"], arguments
    body = pathlib.Path(arguments[4]).read_text()
    comments.append({{"id": 40 + len(comments), "type": "Bot", "body": body}})
elif "PATCH" in arguments:
    (path,) = [each for each in arguments if each.startswith("repos/")]
    (comment,) = [each for each in comments if path == f"repos/o/r/issues/comments/{{each['id']}}"]
    comment["body"] = pathlib.Path(fields[0]).read_text()
else:
    assert arguments[0] == "api" and "repos/o/r/issues/7/comments?per_page=100" in arguments, arguments
    assert 'startswith("<!-- evalstudio -->")' in arguments[-1], arguments
    for comment in comments:
        if comment["type"] == "Bot" and comment["body"].startswith("<!-- evalstudio -->"):
            print(comment["id"])
state.write_text(json.dumps(comments))
"""


@pytest.fixture
def github(tmp_path: Path) -> dict[str, str]:
    """Return the environment of the step, with a program `gh` that keeps comments in a file."""
    (tmp_path / "comments.json").write_text(
        json.dumps(
            [
                {"id": 1, "type": "User", "body": f"{MARKER} quoted by a person"},
                {"id": 2, "type": "Bot", "body": "of another workflow"},
            ]
        )
    )
    program = tmp_path / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(GH.format(python=sys.executable, folder=str(tmp_path)))
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "NUMBER": "7", "GITHUB_REPOSITORY": "o/r", "GH_TOKEN": "of-the-test"}


def test_github_has_one_comment_that_is_replaced(github: dict[str, str], tmp_path: Path) -> None:
    for verdict in ("# ✗ FAILED", "# ✓ PASSED"):
        write_summary(tmp_path, f"{verdict} – it's `here` $HOME\n")
        result = run("github_comment", tmp_path, github)
        assert result.returncode == 0, result.stderr
    comments = json.loads((tmp_path / "comments.json").read_text())
    assert [comment["body"].partition("\n")[0] for comment in comments] == [
        f"{MARKER} quoted by a person",
        "of another workflow",
        MARKER,
    ]
    assert comments[-1]["body"] == f"{MARKER}\n\n# ✓ PASSED – it's `here` $HOME\n"


def test_github_does_not_comment_twice_where_comments_cannot_be_read(
    github: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "comments.json").write_text("no JSON")
    write_summary(tmp_path, "# ✓ PASSED\n")
    assert run("github_comment", tmp_path, github).returncode != 0


def test_github_takes_a_long_summary_in_part(github: dict[str, str], tmp_path: Path) -> None:
    write_summary(tmp_path, "# ✗ FAILED\n" + "- eine äußerst lange Zeile\n" * 4_000)
    assert run("github_comment", tmp_path, github).returncode == 0
    body = json.loads((tmp_path / "comments.json").read_text())[-1]["body"]
    assert len(body) < 65_536
    assert body.startswith(f"{MARKER}\n\n# ✗ FAILED\n")
    assert body.endswith("\n</details>\n\nThis summary is cut. The whole one is in the job summary.\n")
    assert "�" not in body


class GitLab(BaseHTTPRequestHandler):
    """The notes of one merge request."""

    server: Service

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        if url.path == "/api/v4/user":
            self._reply({"id": ME})
            return
        assert url.path == NOTES
        page = int(parse_qs(url.query)["page"][0])
        self._reply(self.server.notes[100 * (page - 1) : 100 * page])

    def do_POST(self) -> None:
        assert self.path == NOTES
        note = {"id": 900 + len(self.server.notes), "author": {"id": ME}, "body": self._body()}
        self.server.notes.append(note)
        self._reply(note, 201)

    def do_PUT(self) -> None:
        (note,) = (note for note in self.server.notes if self.path == f"{NOTES}/{note['id']}")
        note["body"] = self._body()
        self._reply(note)

    def log_message(self, *_: object) -> None: ...

    def _body(self) -> str:
        content = self.rfile.read(int(self.headers["Content-Length"])).decode()
        return parse_qs(content, keep_blank_values=True)["body"][0]

    def _reply(self, content: object, status: int = 200) -> None:
        is_allowed = self.headers["PRIVATE-TOKEN"] == TOKEN
        data = json.dumps(content if is_allowed else {"message": "401 Unauthorized"}).encode()
        self.server.requests.append(f"{self.command} {self.path}")
        self.send_response(status if is_allowed else 401)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Service(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), GitLab)
        self.notes: list[dict[str, object]] = []
        self.requests: list[str] = []

    @property
    def environment(self) -> dict[str, str]:
        """Return the variables of the job."""
        return {
            "CI_API_V4_URL": f"http://127.0.0.1:{self.server_port}/api/v4",
            "CI_PROJECT_ID": "5",
            "CI_MERGE_REQUEST_IID": "7",
            "EVALSTUDIO_GITLAB_TOKEN": TOKEN,
            "NO_PROXY": "127.0.0.1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }


@pytest.fixture
def gitlab() -> Iterator[Service]:
    with Service() as service:
        service.notes = [{"id": 1, "author": {"id": OTHER}, "body": f"{MARKER} quoted by a person"}]
        thread = Thread(target=service.serve_forever)
        thread.start()
        yield service
        service.shutdown()
        thread.join()


@pytest.mark.parametrize("before", [0, 150])
def test_gitlab_has_one_note_that_is_replaced(gitlab: Service, tmp_path: Path, before: int) -> None:
    gitlab.notes += [{"id": 2 + n, "author": {"id": OTHER}, "body": "fine"} for n in range(before)]
    for verdict in ("# ✗ FAILED", "# ✓ PASSED"):
        write_summary(tmp_path, f"{verdict} – 50 % & it's `here` $HOME\n")
        result = run("gitlab_note", tmp_path, gitlab.environment)
        assert result.returncode == 0, result.stderr
        assert TOKEN not in result.stdout + result.stderr
    assert len(gitlab.notes) == 2 + before
    assert gitlab.notes[-1]["body"] == f"{MARKER}\n\n# ✓ PASSED – 50 % & it's `here` $HOME\n"
    writes = [request.partition(" ")[0] for request in gitlab.requests if not request.startswith("GET")]
    assert writes == ["POST", "PUT"]


def test_gitlab_takes_a_long_summary_in_part(gitlab: Service, tmp_path: Path) -> None:
    write_summary(tmp_path, "# ✗ FAILED\n" + "- eine äußerst lange Zeile\n" * 4_000)
    assert run("gitlab_note", tmp_path, gitlab.environment).returncode == 0
    body = str(gitlab.notes[-1]["body"])
    assert len(body) < 65_536
    assert body.endswith("This summary is cut. The whole one is an artifact of the job.\n")


def test_gitlab_says_that_a_token_is_refused(gitlab: Service, tmp_path: Path) -> None:
    write_summary(tmp_path, "# ✓ PASSED\n")
    result = run("gitlab_note", tmp_path, {**gitlab.environment, "EVALSTUDIO_GITLAB_TOKEN": "wrong"})
    assert result.returncode != 0
    assert "401" in result.stderr
    assert len(gitlab.notes) == 1


@pytest.mark.parametrize("name", NAMES)
def test_without_a_summary_nothing_is_written(name: str, tmp_path: Path) -> None:
    assert run(name, tmp_path, {}).returncode == 0
