"""Configured hosts and the models of their services, from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio import (
    ConfigurationError,
    ConfiguredHost,
    EvaluationError,
    LabBuilder,
    TestSuite,
    base_models,
    configured_hosts,
    host_defaults,
)
from support.openai_protocol import chat
from support.service import Response, running

CONFIG = """
[connection.gateway]
host = "openai_compatible"
url = "{url}/v1"
[[model]]
name = "small"
connection = "gateway"
llm_model_name = "m"
[[model]]
name = "app"
host = "python"
target = "json:dumps"
"""


def test_connections_and_models_are_listed(tmp_path: Path) -> None:
    (tmp_path / "evalstudio.toml").write_text(CONFIG.format(url="http://localhost:1"))
    assert configured_hosts(tmp_path / "evalstudio.toml") == [
        ConfiguredHost(name="gateway", kind="connection", host="openai_compatible"),
        ConfiguredHost(name="small", kind="model", host="openai_compatible", llm_model_name="m"),
        ConfiguredHost(name="app", kind="model", host="python"),
    ]


def test_the_nearest_configuration_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evalstudio.toml").write_text(CONFIG.format(url="http://localhost:1"))
    (tmp_path / "tests").mkdir()
    monkeypatch.chdir(tmp_path / "tests")
    assert [host.name for host in configured_hosts()] == ["gateway", "small", "app"]


@pytest.mark.parametrize("name", ["gateway", "small"])
def test_models_of_a_service(tmp_path: Path, name: str) -> None:
    with running(chat) as service:
        (tmp_path / "evalstudio.toml").write_text(CONFIG.format(url=service.url))
        assert base_models(name, tmp_path / "evalstudio.toml") == ["m", "m2"]


def test_defaults_of_a_host_configure_models_of_it() -> None:
    suite = TestSuite(name="Sums")
    suite.add_test().add_case("2+2?", key="sum")
    exact, creative = host_defaults("openai_compatible"), host_defaults("openai_compatible")
    assert (exact["temperature"], exact["arguments"]) == (None, {})
    assert not exact.keys() & {"url", "llm_model_name", "name"}
    creative["temperature"] = 0.9
    creative["arguments"]["top_p"] = 0.5
    assert exact["arguments"] == {}

    with (
        running(chat) as service,
        LabBuilder.from_llm_test_suite(
            suite,
            llm_host="openai_compatible",
            llm_model_names=["m"],
            llm_host_configs={"m": [{**config, "url": f"{service.url}/v1"} for config in (exact, creative)]},
        ) as builder,
    ):
        lab = builder.complete_dataset()
        temperatures = [request.body.get("temperature") for request in service.requests]

    assert [row.error for row in lab.dataset.inputs] == ["", ""]
    assert temperatures == [None, 0.9]
    with pytest.raises(ConfigurationError, match="Did you mean 'ollama'"):
        host_defaults("olama")


def test_faults_are_named(tmp_path: Path) -> None:
    path = tmp_path / "evalstudio.toml"
    with pytest.raises(ConfigurationError, match="cannot be read"):
        configured_hosts(path)
    with running(lambda request: Response({"error": {"message": "no"}}, status=401)) as service:
        path.write_text(CONFIG.format(url=service.url))
        with pytest.raises(EvaluationError):
            base_models("gateway", path)
        with pytest.raises(ConfigurationError, match="Did you mean 'gateway'"):
            base_models("gatway", path)
        with pytest.raises(ConfigurationError, match="cannot list models"):
            base_models("app", path)
