"""The configurations of hosts in the documentation: they are valid, and the models that they name answer."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_evalstudio.asking.hosts import check_model, open_model
from pytest_evalstudio.asking.judging import check_judge_settings
from pytest_evalstudio.core.cases import Prompt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from support.host_uses import USES, HostUse
from support.page_runs import blocks_of
from support.pages import DOCS, README
from support.service import ANSWER, KEY, running

GUIDE = DOCS / "run" / "model-services.md"
BLOCKS = [block for block in blocks_of(GUIDE) if "configuration" in block.marks]
EXAMPLES = [block.body for block in BLOCKS]
OF_SERVICES = [block.body for block in BLOCKS if block.marks["configuration"] == "service"]
SHARED_CONNECTION = next(text for text in EXAMPLES if "[connection." in text)
SERVICES = [id for id in Registry().hosts if Registry().hosts.spec(id).extra]


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_of_the_guide_is_a_valid_configuration(example):
    config = configuration(tomllib.loads(example))
    for model in config.model:
        check_model(model.name, model.settings, Registry())
    if config.judge is not None:
        check_judge_settings(config, Registry())


@pytest.mark.parametrize("id", SERVICES)
def test_every_host_of_a_service_has_an_example(id):
    assert f'host = "{id}"' in "\n".join(EXAMPLES)


def test_several_configurations_are_named_as_the_guide_says():
    names = [model.name for model in configuration(tomllib.loads(SHARED_CONNECTION)).model]
    assert names == ["large", "small (temperature=0.0)", "small (temperature=1.0)"]
    assert all(f"`{name}`" in GUIDE.read_text(encoding="utf-8") for name in names)


USE_OF = {use.id: use for use in USES}
WITHOUT_SERVICE = ("python", "fixture")
"""Hosts of the README whose models are code of the tests."""


def documented_models() -> Iterator[Any]:
    """Yield name and table of each model behind a service in the guide and the README."""
    [readme] = [block.body for block in blocks_of(README) if "configuration" in block.marks]
    for page, example in [*(("guide", example) for example in OF_SERVICES), ("README", readme)]:
        for model in configuration(tomllib.loads(example)).model:
            if model.host not in WITHOUT_SERVICE:
                yield pytest.param(model.settings, id=f"{page}: {model.name}")


def use_of(settings: dict[str, Any]) -> HostUse:
    """Return the service that a documented model needs."""
    host = settings["host"]
    if settings.get("api") == "assistants":
        return USE_OF["openai_rag assistants"]
    if settings.get("llm_args", {}).get("use_agent"):
        return USE_OF[f"{host} agent"]
    return USE_OF[f"{host} stream" if settings.get("stream") else host]


@pytest.mark.parametrize("settings", list(documented_models()))
def test_a_documented_model_answers(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is used as it is documented, but for the network: origin, proxy and certificates."""
    for name in re.findall(r"\$\{(\w+)\}", str(settings)):
        monkeypatch.setenv(name, KEY)
    document = tmp_path / "fees.md"
    document.write_text("A transfer costs 5 USD.", encoding="utf-8")
    use = use_of(settings)
    respond = use.respond()
    if collection := settings.get("collection_id"):
        respond.collections[collection] = ["fees.md"]  # type: ignore[attr-defined]
    with running(respond, use.protocol.asks, use.handler) as service:
        protocol_settings = use.protocol.settings(service.url)
        table = {
            name: protocol_settings[name]
            for name in ("region", "access_key", "secret_key")
            if name in protocol_settings
        }
        table |= {name: value for name, value in settings.items() if name not in ("proxy", "ca_file")}
        table["url"] = (
            service.url + urlsplit(settings["url"]).path if "url" in settings else protocol_settings["url"]
        )
        session = open_model(
            "documented", {**table, "retries": 0, "timeout_s": 60}, Registry(), folder=tmp_path, cache=None
        )
        with session:
            [answer] = session.ask([Prompt(text="What is the fee?", corpus=(str(document),))])
        assert service.requests

    assert (answer.text, answer.error) == (ANSWER, "")
    if settings["host"] == "http":
        assert answer.context == ("Fees: 5 USD.",)
