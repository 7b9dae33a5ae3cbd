"""All hosts of services in one run: answers in the record, and the key in no file and no output."""

from __future__ import annotations

import json
import zipfile
from contextlib import ExitStack

import pytest

from pytest_evalstudio.cli.main import main
from support.h2ogpte_server import messages
from support.project import Project
from support.protocols import PROTOCOLS
from support.service import ANSWER, KEY, Response, running

SECRETS = (KEY, "planted-4711", "AKIAPLANTED4711")


@pytest.fixture
def project(pytester, monkeypatch):
    monkeypatch.setenv("PLANTED", KEY)
    monkeypatch.setenv("PLANTED_ID", "AKIAPLANTED4711")
    return Project(pytester, with_app=False)


@pytest.fixture
def services():
    with ExitStack() as stack:
        yield {
            protocol.id: stack.enter_context(running(protocol.respond, protocol.asks, protocol.handler))
            for protocol in PROTOCOLS
        }


def configure(project, services, **more):
    """Write a configuration with a model on each service, whose secrets come from the environment."""
    lines = ['evaluators = ["text_matching"]', *(f"{key} = {value}" for key, value in more.items())]
    for protocol in PROTOCOLS:
        lines += [
            "[[model]]",
            f'name = "{protocol.id}"',
            f'host = "{protocol.id}"',
            "retries = 0",
            "cache = true",
        ]
        for key, value in protocol.settings(services[protocol.id].url).items():
            reference = {KEY: "${PLANTED}", "AKIAPLANTED4711": "${PLANTED_ID}"}
            setting = reference.get(value, value) if isinstance(value, str) else value
            table = (
                ", ".join(f"{name} = {json.dumps(part)}" for name, part in setting.items())
                if isinstance(setting, dict)
                else ""
            )
            lines.append(f"{key} = {{{table}}}" if table else f"{key} = {json.dumps(setting)}")
    project.write("evalstudio.toml", "\n".join(lines))
    project.write("fees.md", "A transfer costs 5 USD.")
    cases = [{"key": "fee", "prompt": "What is the fee?", "condition": '"5 USD"'}]
    suite = {"name": "Fees", "tests": [{"key": "t", "documents": ["fees.md"], "test_cases": cases}]}
    project.write("fees_suite.json", json.dumps(suite))


def contents(folder):
    """Yield the bytes of every file below a folder, and of every member of an archive."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield str(path), path.read_bytes()
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        yield f"{path}:{name}", archive.read(name)


def assert_no_secret(project, *outputs):
    leaks = [
        name for name, content in contents(project.folder) for secret in SECRETS if secret.encode() in content
    ]
    assert leaks == []
    assert not any(secret in output for output in outputs for secret in SECRETS)


def test_every_host_answers_a_suite(project, services):
    configure(project, services)
    result = project.run()
    result.assert_outcomes(passed=len(PROTOCOLS))
    header, items = project.record()
    rows = {item["model_key"]: item["rows"][0]["answer"] for item in items.values()}
    names = (
        {model["key"]: model for model in header["models"]}
        if isinstance(header["models"], list)
        else header["models"]
    )
    served_models = {names[key]["host"]: row.get("served_model", "") for key, row in rows.items()}
    assert served_models == {p.id: "m" if p.id == "amazon_bedrock_rag" else "served-1" for p in PROTOCOLS}
    scores = {names[key]["host"]: row.get("context_scores") for key, row in rows.items()}
    assert scores["h2ogpte"] == scores["openai_rag"] == scores["http"] == [0.75]
    assert_no_secret(project, result.stdout.str(), result.stderr.str())


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_key_that_services_repeat_is_nowhere(project, services, status):
    for protocol in PROTOCOLS:
        text = f"bad key {KEY}" + (" of AKIAPLANTED4711" if "bedrock" in protocol.id else "")
        if status == 200:
            services[protocol.id].protocol = repeating(protocol, text)
        else:
            services[protocol.id].always = Response(
                protocol.refusal(text), status=status, headers=protocol.error_headers
            )
    configure(project, services)
    result = project.run()
    assert result.ret == 1
    assert_no_secret(project, result.stdout.str(), result.stderr.str())


def repeating(protocol, text):
    """The service with the key in its answer."""

    def respond(request):
        response = protocol.respond(request)
        if request.method == "WS":
            return messages("The fee ", text)
        if not protocol.asks(request):
            return response
        body = json.dumps(response.body).replace(ANSWER, text)
        return Response(body.encode(), headers=response.headers)

    return respond


def test_a_resolved_lab_names_connections_collections_and_documents(project, services, capsys, monkeypatch):
    monkeypatch.chdir(project.folder)
    for id, extra in (
        ("h2ogpte", ""),
        ("openai_rag", "\nllm_model_name = 'm'"),
        ("openai_llm", "\nllm_model_name = 'm'"),
    ):
        url = services[id].url + ("" if id == "h2ogpte" else "/v1")
        with (project.folder / "evalstudio.toml").open("a", encoding="utf-8") as file:
            file.write(f"[connection.{id}]\nhost = '{id}'\nurl = '{url}'\napi_key = '${{PLANTED}}'\n")
            file.write(f"[[model]]\nname = 'my {id}'\nconnection = '{id}'\ndescription = 'kept'{extra}\n")
    with (project.folder / "evalstudio.toml").open("a", encoding="utf-8") as file:
        file.write(
            "[prices.served-1]\ninput_usd_per_million = 1.0\noutput_usd_per_million = 4.0\n"
            "as_of = 2026-01-31\n"
        )
    project.write("fees.md", "A transfer costs 5 USD.")
    cases = [{"key": "fee", "prompt": "What is the fee?", "condition": '"5 USD"'}]
    project.suite(
        *cases, name="fees_suite.json", tests=[{"key": "t", "documents": ["fees.md"], "test_cases": cases}]
    )

    assert main(["resolve", "fees_suite.json", "-o", "fees_lab.json"]) == 0

    lab = json.loads((project.folder / "fees_lab.json").read_text(encoding="utf-8"))
    models = {model["connection"]: model for model in lab["models"]}
    assert models["h2ogpte"]["collection_id"].startswith("collection-")
    assert models["openai_rag"]["collection_id"].startswith("vs_")
    assert models["openai_rag"]["documents"] == ["fees.md"]
    assert models["openai_llm"].get("collection_id", "") == ""
    assert {model["description"] for model in lab["models"]} == {"kept"}
    meta = models["openai_llm"]["llm_model_meta"]
    assert meta["success_count"] == 1
    assert meta["prices"]["served-1"]["as_of"] == "2026-01-31"
    rows = {row["model_key"]: row for row in lab["dataset"]["inputs"]}
    row = rows[models["openai_llm"]["key"]]
    assert row["cost"] == pytest.approx(30e-6)
    assert (row["served_model"], row["request_id"]) == ("served-1", "req-1")
    assert rows[models["h2ogpte"]["key"]]["cost"] == 0.25  # the service's own
    assert rows[models["h2ogpte"]["key"]]["context_scores"] == [0.75]
    assert_no_secret(project, *capsys.readouterr())
