from __future__ import annotations

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import configuration

CONNECTION = {"host": "openai_llm", "api_key": "${KEY}", "concurrency": 4, "description": "our account"}


def test_models_take_over_the_keys_of_their_connection():
    config = configuration(
        {
            "connection": {"main": CONNECTION},
            "model": [
                {"name": "small", "connection": "main", "llm_model_name": "s"},
                {"name": "large", "connection": "main", "llm_model_name": "l", "concurrency": 1},
            ],
        }
    )
    small, large = config.model
    assert small.settings == {
        "host": "openai_llm",
        "api_key": "${KEY}",
        "concurrency": 4,
        "llm_model_name": "s",
        "connection": "main",
    }
    assert large.settings["concurrency"] == 1


def test_several_configurations_are_models_named_by_what_differs():
    config = configuration(
        {
            "model": [
                {
                    "name": "gpt",
                    "host": "openai_llm",
                    "llm_model_name": "m",
                    "runs": 2,
                    "description": "kept",
                    "model_cfg": [
                        {"temperature": 0.0, "arguments": {"seed": 1, "top_p": 0.5}},
                        {"temperature": 1.0, "arguments": {"seed": 1, "top_p": 0.5}},
                        {"temperature": 1.0, "arguments": {"seed": 2, "top_p": 0.5}},
                    ],
                }
            ]
        }
    )
    assert [model.name for model in config.model] == [
        "gpt (temperature=0.0 seed=1)",
        "gpt (temperature=1.0 seed=1)",
        "gpt (temperature=1.0 seed=2)",
    ]
    assert {(model.runs, model.description, model.settings["llm_model_name"]) for model in config.model} == {
        (2, "kept", "m")
    }
    assert "model_cfg" not in config.model[0].settings


def test_one_configuration_keeps_the_name():
    table = {"name": "gpt", "host": "openai_llm", "model_cfg": {"temperature": 0.0}}
    [model] = configuration({"model": [table]}).model
    assert (model.name, model.settings["temperature"]) == ("gpt", 0.0)


def test_a_secret_or_a_long_value_is_in_no_name():
    cfg = [{"api_key": "sk-one", "system_prompt": "a" * 50}, {"api_key": "sk-two", "system_prompt": "b" * 50}]
    models = configuration({"model": [{"name": "gpt", "host": "openai_llm", "model_cfg": cfg}]}).model
    assert [model.name for model in models] == ["gpt", "gpt #2"]


def test_prices_belong_to_every_model():
    price = {"input_usd_per_million": 1.0, "output_usd_per_million": 4.0, "as_of": "2026-01-31"}
    [model] = configuration({"prices": {"m": price}, "model": [{"name": "gpt", "host": "openai_llm"}]}).model
    assert model.settings["prices"] == {"m": price}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        pytest.param(
            {"connection": {"main": CONNECTION}, "model": [{"name": "a", "connection": "mian"}]},
            "model.0.connection: no connection named 'mian'. Did you mean 'main'?",
            id="an unknown connection",
        ),
        pytest.param(
            {"model": [{"name": "a"}]},
            "model.0.host: 'host' is missing; add it, or name a connection",
            id="no host",
        ),
        pytest.param(
            {"model": [{"name": "a", "host": "h", "model_cfg": [{"x": 1}, {"x": 1}]}]},
            "model.0.model_cfg: 1 is equal to 0; remove one of them",
            id="equal configurations",
        ),
        pytest.param(
            {"connection": {"main": {"url": "x"}}}, "connection.main.host", id="a connection without host"
        ),
        pytest.param(
            {"prices": {"m": {"input_usd_per_million": 1.0, "output_usd_per_million": 1.0}}},
            "prices.m.as_of",
            id="a price without a date",
        ),
        pytest.param(
            {"judge": {"connection": "main", "host": "openai_llm"}},
            "give connection, host or model, only one of them",
            id="a judge with connection and host",
        ),
    ],
)
def test_wrong_tables_are_named(data, fault):
    with pytest.raises(ConfigurationError) as exc_info:
        configuration(data, file="evalstudio.toml")
    assert fault in str(exc_info.value)
