"""Test labs: a suite completed with the answers of its models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from pydantic import Field, PrivateAttr

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.dataset import LlmDataset, Row, complete_row_keys, read_rows
from pytest_evalstudio.formats.fields import (
    FormatModel,
    Key,
    Record,
    Text,
    Texts,
    misspelt,
    validate,
    write_json,
)
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.formats.kinds import load_kind
from pytest_evalstudio.formats.source import Source, pointer

FOREIGN_MODEL_TYPES: Mapping[str, bool] = {
    "h2ogpte": True,
    "openai_rag": True,
    "amazon_bedrock_rag": True,
    "h2ogpte_llm": False,
    "h2ogpt": False,
    "h2ollmops": False,
    "ollama": False,
    "openai_llm": False,
    "azure_openai_llm": False,
    "anthropic_llm": False,
}
"""Values of `model_type` in labs of other tools that say whether a model retrieves."""


class Model(FormatModel):
    """A model that answered: one language model in one configuration.

    Attributes:
        key: what rows name it by; results are grouped by it.
        model_type: the kind of its host, e.g. "h2ogpte".
        model_cfg: its configuration, passed to the host as is.
        llm_model_meta: counts of calls, successes, retries, time-outs and failures, tokens, and statistics of
            durations and of times to the first token.
        retrieves: whether the model retrieves; None where the lab does not say.
    """

    optional_keys: ClassVar[frozenset[str]] = frozenset(
        {"collection_id", "collection_name", "documents", "model_cfg", "llm_model_meta", "retrieves"}
    )

    connection: Text = ""
    model_type: Text = ""
    name: Text = ""
    collection_id: Text = ""
    collection_name: Text = ""
    llm_model_name: Text = ""
    documents: Texts = Field(default_factory=list)
    key: Key = ""
    model_cfg: Record = Field(default_factory=dict)
    llm_model_meta: Record = Field(default_factory=dict)
    retrieves: bool | None = None
    _lab: TestLab | None = PrivateAttr(default=None)

    def add_input(self, prompt: str, **fields: object) -> Row:
        """Add a question with this model's answer to its lab; `fields` are those of Row.

        Raises:
            ConfigurationError: if the model was not made by `TestLab.add_model`.
        """
        if self._lab is None:
            raise ConfigurationError(
                f"model {self.name!r} belongs to no lab; create it with TestLab.add_model"
            )
        row = Row(input=prompt, model_key=self.key, **fields)
        self._lab.dataset.inputs.append(row)
        return row

    def is_rag(self) -> bool | None:
        """Return whether the model retrieves; None where only the context of its rows says."""
        if self.retrieves is not None:
            return self.retrieves
        return FOREIGN_MODEL_TYPES.get(self.model_type.lower())


class TestLab(FormatModel):
    """A resolved suite: rows with answers, and the models that gave them.

    Attributes:
        raw_dataset: the rows before they were answered.
        dataset: the rows with answers.
        docs_cache: where each corpus document was stored.
    """

    name: Text = "TestLab"
    description: Text = ""
    raw_dataset: LlmDataset = Field(default_factory=LlmDataset)
    dataset: LlmDataset = Field(default_factory=LlmDataset)
    models: list[Model] = Field(default_factory=list)
    llm_model_names: Texts = Field(default_factory=list)
    docs_cache: Record = Field(default_factory=dict)

    def add_model(self, name: str, **fields: object) -> Model:
        """Add a model with answers to follow; `fields` are those of Model, the key defaults to the name.

        >>> lab = TestLab(name="Fees")
        >>> model = lab.add_model("assistant", llm_model_name="gpt-4o-mini")
        >>> model.add_input("What is the fee?", actual_output="30 USD", expected_output="30 USD").model_key
        'assistant'

        Raises:
            ConfigurationError: if the lab has a model with this key.
        """
        model = Model(name=name, **{"key": name, **fields})
        if any(other.key == model.key for other in self.models):
            raise ConfigurationError(
                f"the lab has a model with the key {model.key!r}; give this one another key"
            )
        model._lab = self
        self.models.append(model)
        self.llm_model_names.append(model.llm_model_name or model.name)
        return model

    @classmethod
    def load(cls, path: str | Path) -> TestLab:
        """Read a lab from JSON or YAML.

        Raises:
            DataError: for the first thing that is wrong with it.
        """
        return load_kind(path, "lab", read_lab)

    def save(self, path: str | Path) -> None:
        """Write the lab as JSON."""
        complete_row_keys(self.raw_dataset.inputs)
        complete_row_keys(self.dataset.inputs)
        write_json(path, self.to_dict())


def read_lab(source: Source) -> tuple[TestLab, list[DataError]]:
    """Read a lab from a parsed file; a faulty row does not affect the others.

    Raises:
        DataError: if the file as a whole is not a lab.
    """
    data = source.data
    rest = {name: value for name, value in data.items() if name not in ("dataset", "raw_dataset", "models")}
    lab = validate(TestLab, rest, source)
    source.warnings += misspelt(TestLab, data, source.name)
    lab.models = _read_models(source, data.get("models"))
    keys = {model.key for model in lab.models}
    errors: list[DataError] = []
    lab.dataset, rows = _read_part(source, "dataset", errors)
    if data.get("raw_dataset") is not None:
        unanswered: list[DataError] = []
        lab.raw_dataset, _ = _read_part(source, "raw_dataset", unanswered)
        source.warnings += [f"{error} (not needed to evaluate; left out)" for error in unanswered]
    valid = []
    for index, row in rows.items():
        if row.model_key in keys:
            valid.append(row)
        else:
            at = pointer("dataset", "inputs", index, "model_key")
            errors.append(source.error(at, _unknown_model(row)))
    lab.dataset.inputs = valid
    return lab, errors


def check_models(lab: TestLab) -> None:
    """Refuse a row of a model that the lab does not have.

    Raises:
        DataError: for the first such row.
    """
    keys = {model.key for model in lab.models}
    for index, row in enumerate(lab.dataset.inputs):
        if row.model_key not in keys:
            raise DataError(_unknown_model(row), pointer=pointer("dataset", "inputs", index, "model_key"))


def _unknown_model(row: Row) -> str:
    return f"no model of this lab has the key {row.model_key!r}; correct it or add the model to /models"


def _read_part(source: Source, name: str, errors: list[DataError]) -> tuple[LlmDataset, dict[int, Row]]:
    part = source.data.get(name)
    if not isinstance(part, dict):
        raise source.error(pointer(name), "expected an object with inputs")
    head = validate(LlmDataset, {key: value for key, value in part.items() if key != "inputs"}, source, name)
    rows, issues = read_rows(source, part.get("inputs"), (name, "inputs"))
    head.inputs = list(rows.values())
    errors += issues
    return head, rows


def _read_models(source: Source, data: object) -> list[Model]:
    if not isinstance(data, list):
        raise source.error("/models", "expected a list of models")
    models: list[Model] = []
    locations: dict[str, str] = {}
    for index, item in enumerate(data):
        model = validate(Model, item, source, "models", index)
        if not model.key:
            raise source.error(pointer("models", index), "the model has no key; rows name their model by it")
        if model.key in locations:
            raise source.error(
                pointer("models", index, "key"),
                f"{model.key!r} is already used by {locations[model.key]}; keys of models must be unique",
            )
        locations[model.key] = pointer("models", index)
        models.append(model)
    return models


def labels(models: Iterable[Model]) -> Mapping[str, str]:
    """Return a display name per model: the name of its LLM or its own name if unique, else its key.

    Returns:
        Model key to a label that no other model has.
    """
    models = list(models)
    by_llm = [model.llm_model_name for model in models]
    by_name = [model.name for model in models]
    unique = Numbered()
    display_names = {}
    for model in models:
        if model.llm_model_name and by_llm.count(model.llm_model_name) == 1:
            label = model.llm_model_name
        elif model.name and by_name.count(model.name) == 1:
            label = model.name
        else:
            label = model.key
        display_names[model.key] = unique(label)
    return display_names
