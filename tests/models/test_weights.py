"""What is said of a model that cannot be had, table by table."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.weights_tables import HallucinationModel
from pytest_evalstudio.models.detoxify import find_detoxify
from pytest_evalstudio.models.weights import find_weights

TABLES = ("cross_encoder", "nli", "hallucination_model", "bias_model")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Modules that are found beside the standard ones, whether they are there or not."""
    names = {"torch", "sentence_transformers", "transformers", "detoxify"}
    find_spec = importlib.util.find_spec
    optional_names = frozenset(names)

    def find(name: str, package: str | None = None) -> Any:
        return (object() if name in names else None) if name in optional_names else find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    return names


def refusal(model: str, table: str, folder: Path) -> str:
    find = find_detoxify if table == "toxicity_model" else find_weights
    with pytest.raises(ConfigurationError) as exc_info:
        find(model, revision=None, table=table, start=folder, fetch=False)
    return str(exc_info.value)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("table", [*TABLES, "toxicity_model"])
def test_each_table_tells_three_ways(table: str, tmp_path: Path) -> None:
    message = refusal("./nowhere", table, tmp_path)
    assert message.startswith(
        f"{table}.model = './nowhere' is not available: there is no folder {tmp_path / 'nowhere'}. Ways to"
        " get one: (1) from the hub"
    )
    assert f'(2) from a local folder: {table}.model = "path/to/folder"' in message
    assert "(3) offline: `hf download " in message


@pytest.mark.usefixtures("installed")
def test_the_way_to_the_model_of_hallucinations_names_the_revision_that_brings_no_code(
    tmp_path: Path,
) -> None:
    message = refusal("./nowhere", "hallucination_model", tmp_path)
    assert (
        "`hf download vectara/hallucination_evaluation_model --revision hhem-1.0-open --local-dir"
        " path/to/folder`" in message
    )


@pytest.mark.usefixtures("installed")
def test_the_way_to_a_classifier_of_toxicity_is_a_name_on_the_hub(tmp_path: Path) -> None:
    assert "`hf download unitary/toxic-bert --local-dir path/to/folder`" in refusal(
        "./nowhere", "toxicity_model", tmp_path
    )


@pytest.mark.usefixtures("installed")
def test_the_weights_of_the_model_of_bias_are_to_be_converted(tmp_path: Path) -> None:
    message = refusal("./nowhere", "bias_model", tmp_path)
    assert "d4data/bias-detection-model has weights for TensorFlow only: convert them once" in message
    assert 'bias_model.model = "ORG/NAME"' in message


def test_without_the_extra_that_is_what_is_said(installed: set[str], tmp_path: Path) -> None:
    installed -= {"detoxify", "torch"}
    assert "the extra is not installed: there is no module torch or detoxify" in refusal(
        "original", "toxicity_model", tmp_path
    )
    assert "the extra is not installed: there is no module torch." in refusal("./nowhere", "nli", tmp_path)


def test_a_revision_belongs_to_its_model() -> None:
    assert HallucinationModel().revision == "hhem-1.0-open"
    assert HallucinationModel(model="vectara/hallucination_evaluation_model").revision == "hhem-1.0-open"
    assert HallucinationModel(model="else/where").revision is None
    assert HallucinationModel(model="else/where", revision="main").revision == "main"
    assert configuration({"hallucination_model": {"model": "./folder"}}).hallucination_model.revision is None


@pytest.mark.parametrize("table", [*TABLES, "toxicity_model"])
def test_an_unknown_key_of_a_table_is_named_with_the_nearest(table: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{table}\.modle: unknown key\. Did you mean 'model'\?"):
        configuration({table: {"modle": "x"}})


def test_the_identity_of_a_folder_is_its_content(tmp_path: Path, installed: set[str]) -> None:
    assert installed
    values = []
    for name, content in (("a", b"one"), ("b", b"one"), ("c", b"two")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").write_bytes(content)
        values.append(
            find_weights(name, revision=None, table="embeddings", start=tmp_path, fetch=False).identity
        )
    assert values[0] == values[1] != values[2]
