"""Kinds of files that can be imported, and the import of a file as a suite, data set or lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.formats.agent_evaluation import suite_of
from pytest_evalstudio.formats.dataset import LlmDataset, complete_row_keys
from pytest_evalstudio.formats.files import read as read_own
from pytest_evalstudio.formats.foreign import foreign_file
from pytest_evalstudio.formats.imported.records import Imported, read_file
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.lab import Model, TestLab
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.importers import (
    agent_evaluation,
    beir,
    braintrust,
    deepeval,
    hotpotqa,
    inspect_log,
    langsmith,
    mlflow,
    openai_evals,
    promptfoo,
    ragas,
    squad,
    table,
)
from pytest_evalstudio.text.figures import counted

SUITE, DATASET, LAB = "suite", "dataset", "lab"
H2O_SONAR = "h2o-sonar"
TABLE = "table"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file.

    Attributes:
        description: what is read, for the help.
        read: converts a parsed file to rows; None for files that are read as they are.
        open: parses a file with the given name, where it is not parsed as any other.
    """

    description: str
    read: Callable[[Source], Imported] | None
    open: Callable[[Path, str], Source] | None = None


KINDS: Mapping[str, Kind] = {
    "agent-evaluation": Kind(
        "evaluation sets of Agent Evaluation (JSON, JSON Lines, CSV)", agent_evaluation.read
    ),
    "beir": Kind(
        "judgements of a retrieval data set in BEIR's form (qrels/*.tsv)", beir.read, beir.open_judgements
    ),
    "braintrust": Kind("data sets and experiments of Braintrust (JSON, JSON Lines, CSV)", braintrust.read),
    "deepeval": Kind("goldens and test cases of DeepEval (JSON, JSON Lines, CSV)", deepeval.read),
    "hotpotqa": Kind("questions of HotpotQA (JSON, JSON Lines, Parquet)", hotpotqa.read),
    H2O_SONAR: Kind("suites and labs of H2O Sonar and Eval Studio (JSON), as they are", None),
    "inspect": Kind("logs of Inspect (.json, .eval)", inspect_log.read, inspect_log.open_log),
    "langsmith": Kind("data sets of LangSmith (JSON, JSON Lines, CSV)", langsmith.read),
    "mlflow": Kind("evaluation data sets, tables and traces of MLflow (JSON, JSON Lines, CSV)", mlflow.read),
    "openai-evals": Kind("samples of OpenAI's evals (JSON Lines)", openai_evals.read),
    "promptfoo": Kind("configurations and results files of promptfoo (YAML, JSON)", promptfoo.read),
    "ragas": Kind("evaluation data sets and test sets of Ragas (JSON Lines, CSV)", ragas.read),
    "squad": Kind("questions of SQuAD (JSON, JSON Lines, Parquet)", squad.read),
    TABLE: Kind("tables with columns named by --map (CSV, JSON, JSON Lines, Parquet, XLSX)", None),
}


@dataclass(frozen=True, slots=True)
class Import:
    """An imported file.

    Attributes:
        kind: suite, dataset or lab.
        content: what was imported.
        errors: one for each record that is left out.
        notes: what was not imported, and warnings.
    """

    kind: str
    content: TestSuite | LlmDataset | TestLab
    errors: list[DataError]
    notes: list[str]


def import_file(
    kind: str,
    path: Path,
    *,
    name: str = "",
    target: str = "",
    columns: Mapping[str, str] | None = None,
    delimiter: str = "",
) -> Import:
    """Read another tool's file.

    Args:
        kind: one of KINDS.
        name: of the file in messages, default its path.
        target: suite, dataset or lab; by default a suite without answers, a lab where models are named,
            else a data set.
        columns: for tables: columns by the fields of a row.
        delimiter: between the cells of CSV; that of the header where not given.

    Raises:
        ConfigurationError: for an unknown kind or column, or a file of this package's own with a target.
        DataError: if the file cannot be read or is of another kind.
    """
    if kind not in KINDS:
        raise unknown_name("kind of file", kind, KINDS, f"Kinds: {', '.join(KINDS)}.")
    if columns and kind != TABLE:
        raise ConfigurationError(f"--map names the columns of a table; files of {kind} have known ones")
    if kind == H2O_SONAR:
        return _own(path, name, target)
    form = KINDS[kind]
    source = form.open(path, name or str(path)) if form.open else read_file(path, name, delimiter)
    read = form.read or table.reader(columns or {})
    imported = _read_as(kind, read, source)
    complete_row_keys(imported.rows)
    content_kind = target or _default_target(imported)
    notes = [*source.warnings, *imported.omissions.lines()]
    if content_kind == SUITE and (
        answered := sum(bool(row.actual_output or row.context) for row in imported.rows)
    ):
        notes.append(
            f"answers or contexts of {counted(answered, 'row')} are left out: a suite has none;"
            " --to dataset keeps them"
        )
    return Import(content_kind, _assembled(imported, content_kind), imported.errors, notes)


def _read_as(kind: str, read: Callable[[Source], Imported], source: Source) -> Imported:
    """Return the content of a file.

    Raises:
        DataError: if it is of another kind; the message names what it is, where that is known.
    """
    foreign = foreign_file(source.data)
    is_other = foreign is not None and foreign.kind != kind
    try:
        imported = read(source)
    except DataError:
        if foreign is not None and is_other:
            raise DataError(foreign.fact, source=source.name) from None
        raise
    if foreign is not None and is_other and imported.errors and not imported.rows:
        raise DataError(foreign.fact, source=source.name)
    return imported


def _default_target(imported: Imported) -> str:
    if not imported.is_answered:
        return SUITE
    return LAB if imported.models else DATASET


def _assembled(imported: Imported, target: str) -> TestSuite | LlmDataset | TestLab:
    dataset = LlmDataset(inputs=imported.rows)
    if target == SUITE:
        return suite_of(dataset, imported.name)
    if target == DATASET:
        return dataset
    keys = list(dict.fromkeys(row.model_key for row in imported.rows))
    for row in imported.rows:
        row.model_key = row.model_key or imported.name
    models = [Model(key=key or imported.name, name=key or imported.name, llm_model_name=key) for key in keys]
    return TestLab(name=imported.name, dataset=dataset, models=models)


def _own(path: Path, name: str, target: str) -> Import:
    file = read_own(read_source(path, name))
    if target and target != file.kind:
        raise ConfigurationError(
            f"{name or path}: is a {file.kind}, which is imported as it is; leave out --to"
        )
    return Import(file.kind, file.content, file.errors, file.warnings)
