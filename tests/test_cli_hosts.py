"""`evalstudio hosts check` and `evalstudio hosts models`."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.cli.main import main
from support.protocols import PROTOCOLS
from support.service import KEY, Response, running

LISTING = [protocol for protocol in PROTOCOLS if protocol.id != "http"]
by_id = pytest.mark.parametrize("protocol", LISTING, ids=lambda protocol: protocol.id)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANTED", KEY)

    def write(table, kind="connection.main"):
        lines = [
            f"{key} = {json.dumps('${PLANTED}' if value == KEY else value)}" for key, value in table.items()
        ]
        (tmp_path / "evalstudio.toml").write_text("\n".join([f"[{kind}]", *lines]), encoding="utf-8")

    return write


def connection(protocol, url):
    """The settings that belong to a connection, without the model's."""
    leave = ("llm_model_name", "environment_id", "knowledge_base_id", "reply")
    return {"host": protocol.id, **{k: v for k, v in protocol.settings(url).items() if k not in leave}}


@by_id
def test_a_connection_that_answers_is_ready(protocol, project, capsys):
    with running(protocol.respond, protocol.asks, protocol.handler) as service:
        project(connection(protocol, service.url))
        assert main(["hosts", "check", "main"]) == 0
        output = capsys.readouterr()
        assert f"main: host {protocol.id} is ready (" in output.out
        assert not service.questions  # nothing that costs money
        assert main(["hosts", "models", "main"]) == 0
        assert capsys.readouterr().out.split()[0].startswith("m")


@by_id
def test_a_refused_key_is_a_finding_without_the_key(protocol, project, capsys):
    refuse = Response(protocol.refusal(f"wrong key {KEY}"), status=401, headers=protocol.error_headers)
    with running(lambda request: refuse) as service:
        project(connection(protocol, service.url))
        assert main(["hosts", "check", "main"]) == 1
        assert main(["hosts", "models", "main"]) == 2
    output = capsys.readouterr()
    assert "HTTP 401" in output.out
    assert "HTTP 401" in output.err
    assert KEY not in output.out + output.err


def test_a_host_that_lists_no_models_is_asked_a_question(project, capsys):
    [protocol] = [protocol for protocol in PROTOCOLS if protocol.id == "http"]
    with running(protocol.respond) as service:
        project({"host": "http", "url": f"{service.url}/ask"})
        assert main(["hosts", "check", "main", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["models"] is None
    assert main(["hosts", "models", "main"]) == 2
    assert "cannot list models" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["check", "mian"], "no connection or model named 'mian'. Did you mean 'main'?"),
        (["check"], "give the name of a [connection.NAME]"),
    ],
)
def test_an_unknown_name_is_a_usage_error(project, capsys, arguments, fault):
    project({"host": "scripted"})
    assert main(["hosts", *arguments]) == 2
    assert fault in capsys.readouterr().err


def test_a_variable_that_is_not_set_is_named(project, capsys):
    project({"host": "openai_llm", "api_key": "${NOBODY_SET_THIS}"})
    assert main(["hosts", "check", "main"]) == 2
    assert "NOBODY_SET_THIS is not set" in capsys.readouterr().err


def test_a_missing_key_is_a_usage_error_with_the_line_to_write(project, capsys):
    project({"host": "openai_llm"})
    assert main(["hosts", "check", "main"]) == 2
    assert 'set api_key = "${OPENAI_API_KEY}" and export OPENAI_API_KEY' in capsys.readouterr().err
