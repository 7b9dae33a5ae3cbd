"""Files `*_scores.toml` and `*_scores.json`: gates over a scored table, and a baseline."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_evalstudio.core.errors import DataError, nearest
from pytest_evalstudio.formats.fields import Text, Texts, fact
from pytest_evalstudio.formats.source import Source, parse, pointer, read_text


class ScoresBaseline(BaseModel):
    """Scored table that the table of the file is compared with.

    Attributes:
        table: path below the file's folder; other paths and URLs need the user's configuration.
        fail_on: "worse" fails where a figure is worse than in the baseline; "none" only reports it.
        terms: figures that are compared, as in a gate: `ID[.METRIC]`, `pass_rate(ID)`; the primary metric of
            each evaluator where not given.
        allowed_drop: difference, in the unit of the figure, that is never worse.
        models: name of a model in the baseline to its name in the table, where they differ.
    """

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), defer_build=True)

    table: Annotated[str, Field(min_length=1)]
    fail_on: Literal["worse", "none"] = "worse"
    terms: Texts = Field(default_factory=list)
    allowed_drop: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    models: dict[str, str] = Field(default_factory=dict)


class ScoresFile(BaseModel):
    """Gates over a scored table.

    Attributes:
        table: folder that `evalstudio score` wrote: path below the file's folder; other paths and URLs
            need the user's configuration.
        gates: conditions that every model must meet, e.g. `rouge.rouge_l >= 0.3`.
        groups: columns that the table keeps; every gate must also be met by the rows of each of their values.
        min_answers: groups with fewer scored answers are not gated.
    """

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), defer_build=True)

    schema_: Annotated[str, Field(alias="$schema")] = ""
    name: Text = ""
    description: Text = ""
    table: Annotated[str, Field(min_length=1)]
    gates: Texts = Field(default_factory=list)
    groups: Texts = Field(default_factory=list)
    min_answers: Annotated[int, Field(ge=1, strict=True)] = 1
    baseline: ScoresBaseline | None = None


def read_scores_file(path: Path, name: str = "") -> ScoresFile:
    """Read a file with gates.

    Args:
        name: of the file in messages; its path where not given.

    Raises:
        DataError: at the place of the first thing that is wrong.
    """
    name = name or str(path)
    source = _source(read_text(path, name), name)
    try:
        file = ScoresFile.model_validate(source.data)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = error["loc"]
        if error["type"] == "extra_forbidden":
            model = ScoresBaseline if location[0] == "baseline" else ScoresFile
            names = [field.alias or key for key, field in model.model_fields.items()]
            advice = nearest(str(location[-1]), names) or f"Known keys: {', '.join(names)}"
            raise source.error(pointer(*location), f"unknown key. {advice}") from None
        raise source.error(pointer(*location), fact(error)) from None
    if not file.gates and file.baseline is None:
        raise source.error("", "has neither `gates` nor `baseline`; add one of them")
    return file


def _source(text: str, name: str) -> Source:
    if name.lower().endswith(".json"):
        return parse(text, name)
    try:
        return Source(name=name, text="", data=tomllib.loads(text))
    except tomllib.TOMLDecodeError as exc:
        raise DataError(f"is not TOML: {exc}", source=name) from None
    except RecursionError:
        raise DataError("is nested too deeply to be read", source=name) from None
