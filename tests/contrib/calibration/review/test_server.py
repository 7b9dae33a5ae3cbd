"""The page's server: it answers who knows the token, calls it by its name, and comes from its own page;
nobody else.
"""

from __future__ import annotations

import datetime
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.contrib.calibration.review.server import LONGEST_BODY, ReviewServer
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.labels import read_labels, read_ratings
from support.children import LONGEST_WAIT_S
from support.review_workflows import labels_file, session, workflow


class Client:
    """Asks a server as its own page does, but for what a test changes."""

    def __init__(self, server: ReviewServer) -> None:
        self.server = server
        self.name = f"127.0.0.1:{server.port}"

    def ask(
        self,
        path: str,
        body: Any = None,
        *,
        method: str = "",
        raw: bytes | None = None,
        **headers: str | None,
    ) -> tuple[int, Any, dict[str, str]]:
        defaults = {
            "Host": self.name,
            "X-Review-Token": self.server.token,
            "Origin": f"http://{self.name}",
            "Content-Type": "application/json",
        }
        overrides = {name.replace("_", "-"): value for name, value in headers.items()}
        fields = {name: value for name, value in {**defaults, **overrides}.items() if value is not None}
        content = raw if raw is not None else None if body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=LONGEST_WAIT_S)
        try:
            connection.putrequest(
                method or ("GET" if content is None else "POST"),
                path,
                skip_host=True,
                skip_accept_encoding=True,
            )
            for name, value in fields.items():
                connection.putheader(name, value)
            if content is not None and "Content-Length" not in fields:
                connection.putheader("Content-Length", str(len(content)))
            connection.endheaders(content)
            response = connection.getresponse()
            text = response.read()
            is_json = response.headers.get_content_type() == "application/json"
            return response.status, json.loads(text) if is_json else text.decode(), dict(response.headers)
        finally:
            connection.close()

    def cases(self) -> list[dict[str, Any]]:
        return list(self.ask("/api/state")[1]["cases"])

    def label(self, id: int, value: int | None = 1, **headers: str | None) -> tuple[int, Any, dict[str, str]]:
        answer = self.ask(f"/api/case?id={id}")[1]["answer_id"]
        return self.ask("/api/label", {"id": id, "answer_id": answer, "label": value}, **headers)


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    return workflow(tmp_path)


@pytest.fixture
def client(flow: Path) -> Iterator[Client]:
    server = ReviewServer(session(flow, "al"))
    thread = server.start()
    yield Client(server)
    server.close()
    thread.join(LONGEST_WAIT_S)
    assert not thread.is_alive()


def test_answers_are_shown_and_labelled(client: Client, flow: Path) -> None:
    status, state, _ = client.ask("/api/state")
    assert (status, state["title"], state["rater"], state["done"], state["wanted"], state["labelled"]) == (
        200,
        "Bank",
        "al",
        0,
        40,
        0,
    )
    assert len(state["cases"]) == 10
    first = state["cases"][0]["id"]
    case = client.ask(f"/api/case?id={first}")[1]
    assert case["question"].startswith("What does service ")
    assert not {"metrics", "verdict", "doubt", "scores"} & set(case), "not before they are asked for"
    scores = client.ask(f"/api/scores?id={first}")[1]
    metric = scores["metrics"][0]
    expected = {"name": "Quality", "evaluator": "quality", "threshold": 0.5, "better": "higher"}
    assert metric | expected == metric
    assert scores["verdict"] == metric["passes"] == (metric["score"] >= 0.5)
    status, state, _ = client.label(first, 0)
    assert (status, state["done"], state["cases"][0]) == (200, 1, {"id": first, "label": 0})
    assert read_labels(labels_file(flow)) == {(case["key"], "m-one"): 0}
    ((rating,)) = read_ratings(labels_file(flow))
    assert (rating.rater, rating.answer_id) == ("al", case["answer_id"])
    assert (rating.blind, rating.role, len(rating.session)) == ("no", "", 8), "the scores were shown"
    assert datetime.datetime.fromisoformat(rating.labelled_at).tzinfo is not None
    assert client.label(first, None)[1]["done"] == 0


def test_the_next_round_is_drawn_when_one_is_labelled(client: Client) -> None:
    for case in client.cases():
        state = client.label(case["id"])[1]
    assert (state["done"], len(state["cases"])) == (10, 20)


def test_the_page_and_its_files_hold_nothing_of_anybodys(client: Client) -> None:
    for path, kind in (("/", "text/html"), ("/review.js", "text/javascript"), ("/review.css", "text/css")):
        status, text, headers = client.ask(path, X_Review_Token=None, Origin=None)
        assert status == 200
        assert headers["Content-Type"] == f"{kind}; charset=utf-8"
        assert "default-src 'none'; script-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]
        assert (headers["Cache-Control"], headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == (
            "no-store",
            "nosniff",
            "no-referrer",
        )
        assert "service" not in text or kind != "text/html"
        assert client.server.token not in text
        assert "Python" not in headers["Server"]


@pytest.mark.parametrize("token", [None, "", "x", "é", "*" * 43])
@pytest.mark.parametrize("path", ["/api/state", "/api/case?id=0", "/api/nothing", "/favicon.ico"])
def test_without_the_token_nothing_is_said(client: Client, path: str, token: str | None) -> None:
    status, result, _ = client.ask(path, X_Review_Token=token)
    assert (status, result) == (403, {"error": "open the address that the terminal shows"})


def test_the_token_in_the_address_opens_nothing(client: Client) -> None:
    assert client.ask(f"/api/state?token={client.server.token}", X_Review_Token=None)[0] == 403


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1",
        "127.0.0.2:{port}",
        "localhost.evil.example:{port}",
        None,
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/state"])
def test_another_host_is_refused(client: Client, path: str, host: str | None) -> None:
    status, result, _ = client.ask(path, Host=host and host.format(port=client.server.port))
    assert (status, result) == (403, {"error": "this server is called by another name"})


def test_localhost_is_a_name_of_it(client: Client) -> None:
    assert client.ask("/api/state", Host=f"localhost:{client.server.port}")[0] == 200


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:1",
        "http://127.0.0.1:{port}.evil",
    ],
)
def test_a_label_from_another_page_is_refused(client: Client, flow: Path, origin: str | None) -> None:
    first = client.cases()[0]["id"]
    status, result, _ = client.label(first, Origin=origin and origin.format(port=client.server.port))
    assert (status, result) == (403, {"error": "the request is from another page"})
    assert not labels_file(flow).exists()


@pytest.mark.parametrize(
    ("options", "status"),
    [
        pytest.param({"raw": b"x" * (LONGEST_BODY + 1)}, 413, id="too large"),
        pytest.param({"raw": b"{}", "Content_Length": "99999999999999999999"}, 413, id="said to be endless"),
        pytest.param({"raw": b"{}", "Content_Length": "-1"}, 411, id="less than nothing"),
        pytest.param({"raw": b"{}", "Content_Length": "0x2"}, 411, id="no number of bytes"),
        pytest.param({"method": "POST"}, 411, id="no length"),
        pytest.param({"raw": b"{}", "Content_Type": "text/plain"}, 415, id="another type"),
        pytest.param({"raw": b"{"}, 400, id="no JSON"),
        pytest.param({"raw": b"\xff"}, 400, id="no text"),
        pytest.param({"raw": b"[" * 4000}, 400, id="deep"),
        pytest.param({"body": []}, 400, id="a list"),
        pytest.param({"body": {"id": 0, "answer_id": "a", "label": 2}}, 400, id="another label"),
        pytest.param({"body": {"id": 0, "answer_id": "a", "label": True}}, 400, id="a yes"),
        pytest.param({"body": {"id": 0, "answer_id": "a", "label": 1.0}}, 400, id="a fraction"),
        pytest.param({"body": {"id": 0, "answer_id": "a"}}, 400, id="no label"),
        pytest.param({"body": {"id": 0, "answer_id": 1, "label": 1}}, 400, id="no id of a text"),
        pytest.param({"body": {"id": "-1", "answer_id": "a", "label": 1}}, 400, id="a negative number"),
        pytest.param({"body": {"id": True, "answer_id": "a", "label": 1}}, 400, id="no number"),
        pytest.param(
            {"body": {"id": 0, "answer_id": "a", "label": 1, "rater": "bo"}}, 400, id="more than is asked"
        ),
    ],
)
def test_what_is_no_label_is_refused(
    client: Client, flow: Path, options: dict[str, Any], status: int
) -> None:
    result = client.ask("/api/label", options.pop("body", None), **options)
    assert result[0] == status
    assert result[1]["error"]
    assert not labels_file(flow).exists()
    assert client.ask("/api/state")[0] == 200


@pytest.mark.parametrize(
    ("id", "status"),
    [("119000", 404), ("", 400), ("1e3", 400), ("9" * 30, 400), ("../../etc/passwd", 400), ("²", 400)],
)
def test_an_answer_that_there_is_not(client: Client, id: str, status: int) -> None:
    path = f"/api/case?id={id}" if id.isascii() else "/api/case?id=%C2%B2"
    assert client.ask(path)[0] == status


def test_an_answer_that_is_not_drawn_is_not_shown(client: Client) -> None:
    ids = {case["id"] for case in client.cases()}
    other = next(id for id in range(120) if id not in ids)
    assert client.ask(f"/api/case?id={other}")[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/..%2fserver.py",
        "//evil.example/",
        "/api/label",
        "/page.html",
        "/" + "x" * 2000,
    ],
)
def test_nothing_else_is_served(client: Client, path: str) -> None:
    assert client.ask(path)[0] in (404, 414)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "HEAD"])
def test_other_methods_are_none(client: Client, method: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", client.server.port, timeout=LONGEST_WAIT_S)
    connection.request(method, "/api/state")
    response = connection.getresponse()
    assert response.status == 501
    assert "Access-Control-Allow-Origin" not in response.headers
    connection.close()


def test_a_text_that_has_changed_is_not_labelled(client: Client, flow: Path) -> None:
    first = client.cases()[0]["id"]
    status, result, _ = client.ask("/api/label", {"id": first, "answer_id": "another", "label": 1})
    assert (status, result) == (
        409,
        {"error": "the answer has changed since it was shown; load the page anew"},
    )
    assert not labels_file(flow).exists()


def test_a_broken_file_of_labels_is_said_and_kept(client: Client, flow: Path) -> None:
    first = client.cases()[0]["id"]
    answer = client.ask(f"/api/case?id={first}")[1]["answer_id"]
    labels_file(flow).write_text("key,label\n", encoding="utf-8")
    status, result, _ = client.ask("/api/label", {"id": first, "answer_id": answer, "label": 1})
    assert status == 409
    assert "there is no column 'model_key'" in result["error"]
    assert labels_file(flow).read_text(encoding="utf-8") == "key,label\n"


def test_two_reviewers_at_the_same_time(flow: Path) -> None:
    servers = [ReviewServer(session(flow, rater)) for rater in ("al", "bo")]
    threads = [server.start() for server in servers]

    def label(client: Client, value: int) -> None:
        for case in client.cases():
            assert client.label(case["id"], value)[0] == 200

    people = [
        threading.Thread(target=label, args=(Client(server), value)) for value, server in enumerate(servers)
    ]
    for worker in people:
        worker.start()
    for worker in people:
        worker.join(LONGEST_WAIT_S)
    counts = {
        rater: sum(rating.rater == rater for rating in read_ratings(labels_file(flow)))
        for rater in ("al", "bo")
    }
    assert counts == {"al": 10, "bo": 10}
    state = Client(servers[0]).ask("/api/state")[1]
    assert (state["raters"], state["divided"]) == (2, 10)
    for server, thread in zip(servers, threads, strict=True):
        server.close()
        thread.join(LONGEST_WAIT_S)


def test_scores_are_kept_from_the_blind(flow: Path) -> None:
    server = ReviewServer(session(flow, "al", blind=True))
    thread = server.start()
    client = Client(server)
    first = client.cases()[0]["id"]
    case = client.ask(f"/api/case?id={first}")[1]
    assert not {"metrics", "verdict", "doubt", "scores", "categories", "model", "model_key"} & set(case)
    assert case["has_scores"] is False
    assert client.ask(f"/api/scores?id={first}")[0] == 404
    body = {"id": first, "answer_id": case["answer_id"], "label": 1, "reason": " too short "}
    assert client.ask("/api/label", body)[0] == 200
    (rating,) = read_ratings(labels_file(flow))
    assert (rating.blind, rating.reason) == ("yes", "too short")
    server.close()
    thread.join(LONGEST_WAIT_S)


def test_it_listens_to_this_machine_alone(client: Client) -> None:
    assert client.server._server.server_address[0] == "127.0.0.1"
    assert client.server.address.startswith(f"http://127.0.0.1:{client.server.port}/#")
    assert len(client.server.token) >= 43


def test_a_slow_client_does_not_hold_others_up(client: Client) -> None:
    with socket.create_connection(("127.0.0.1", client.server.port)) as idle:
        idle.sendall(b"POST /api/label HTTP/1.1\r\nHost: ")
        start = time.monotonic()
        assert client.ask("/api/state")[0] == 200
        assert time.monotonic() - start < 60


def test_a_port_that_is_taken(client: Client, flow: Path) -> None:
    with pytest.raises(
        ConfigurationError,
        match=rf"--port {client.server.port} is not available: .*leave --port out to use a free port",
    ):
        ReviewServer(session(flow), client.server.port)
    with pytest.raises(ConfigurationError, match=r"--port 99999 is not available"):
        ReviewServer(session(flow), 99999)


def test_nothing_is_written_to_the_terminal(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    client.label(client.cases()[0]["id"])
    client.ask("/api/nothing", X_Review_Token=None)
    assert capfd.readouterr() == ("", "")
