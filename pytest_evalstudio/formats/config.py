"""Configuration: `[tool.evalstudio]` in pyproject.toml, or `evalstudio.toml` without that prefix.

Both have the same keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationError,
)

from pytest_evalstudio.core.errors import ConfigurationError, nearest
from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.core.repeats import MEAN
from pytest_evalstudio.formats.fields import fact, shown
from pytest_evalstudio.formats.guardrails import Guardrails, read_guardrails
from pytest_evalstudio.formats.judge_table import JudgeTable
from pytest_evalstudio.formats.model_tables import (
    ConnectionTable,
    ModelTable,
    PriceTable,
    expanded_models,
)
from pytest_evalstudio.formats.recognition import SHARED_FILE
from pytest_evalstudio.formats.repeats import Policy, Runs
from pytest_evalstudio.formats.weights_tables import (
    BiasModel,
    CrossEncoding,
    Embeddings,
    HallucinationModel,
    LanguageModels,
    Nli,
    PersonalData,
    SentimentModel,
    Table,
    ToxicityModel,
)
from pytest_evalstudio.text.thoughts import tags_fault

if TYPE_CHECKING:
    from pytest_evalstudio.core.guide_names import NamesRead

FAIL_REASONS = ("case", "mean", "gone", "unchecked", "none")
IncompletePolicy = Literal["fail", "note"]
UncheckedPolicy = Literal["skip", "fail", "note"]
"""Treatment of test cases that no evaluator checks."""
DEFAULT_EVALUATORS = ("text_matching", "pii_leakage", "sensitive_data_leakage", "looping_detection")


def _names(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _path(value: str) -> str:
    if "\0" in value:
        raise ValueError(f"the path {value!r} has a NUL character; remove it")
    return value


def _fail_on(names: list[str]) -> list[str]:
    return list(fail_reasons(names))  # pydantic warns of a tuple when it writes the table


def fail_reasons(names: Sequence[str]) -> tuple[str, ...]:
    """Return what fails a session.

    Raises:
        ValueError: if a name is not known, or "none" is not alone.
    """
    for name in names:
        if name not in FAIL_REASONS:
            raise ValueError(f"{shown(name)} is not known; give one or more of {', '.join(FAIL_REASONS)}")
    if not names or ("none" in names and len(set(names)) > 1):
        raise ValueError(f"give one or more of {', '.join(FAIL_REASONS[:-1])}, or none alone")
    return tuple(names)


Names = Annotated[list[str], BeforeValidator(_names, json_schema_input_type=list[str] | str)]
"""A list of names; a file may have them in one text, separated by commas."""
TextOrTexts = Annotated[
    list[str],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=list[str] | str
    ),
]
"""A list of texts; a file may have a single text."""


def _tags(value: bool | list[str]) -> bool | list[str]:
    if fault := tags_fault(value):
        raise ValueError(fault)
    return value


PathText = Annotated[str, AfterValidator(_path)]
"""A path that the operating system can take."""


class Latency(Table):
    """Limits on durations.

    Attributes:
        max_s: seconds; a 95th percentile above it is reported as a problem.
    """

    max_s: Annotated[float, Field(gt=0)] | None = None


class Storage(Table):
    """Limits on disk space.

    Attributes:
        max_mb: megabytes; a larger cache or output folder is reported as a problem.
    """

    max_mb: Annotated[float, Field(gt=0)] | None = None


class Perturbations(Table):
    """Perturbed cases that a run adds to its suites, labs and data sets.

    Attributes:
        apply: e.g. "comma:medium,word_swap:low+qwerty": a comma separates cases, a plus chains perturbators
            into one case.
        seed: the same seed gives the same cases on every machine.
        where: expression over categories, as in pytest's `-m`, that selects the cases to perturb.
        shrink_calls: how many calls of models and judges the search for the smallest edits of flips may take
            in a run; 0 for no search. It is taken from the configuration of the run's first argument.
        shrink_calls_per_flip: how many of them the search for the smallest edit of one flip may take.
    """

    apply: str = ""
    seed: int = DEFAULT_SEED
    where: str = ""
    shrink_calls: Annotated[int, Field(ge=0)] = 0
    shrink_calls_per_flip: Annotated[int, Field(ge=1)] = 30


StoreProtocol = Literal[
    "abfs",
    "abfss",
    "adl",
    "az",
    "gcs",
    "gs",
    "hdfs",
    "http",
    "https",
    "oci",
    "oss",
    "s3",
    "s3a",
    "sftp",
]
"""Protocols of stores; those that wrap another store are not among them."""


class ScoresTable(Table):
    """Scored tables that files `*_scores.toml` and `*_scores.json` may name outside of their own folder.

    Attributes:
        protocols: of URLs, e.g. ["s3"].
        folders: local folders, relative to the configuration's folder.
    """

    protocols: list[StoreProtocol] = Field(default_factory=list)
    folders: list[PathText] = Field(default_factory=list)


class RunTable(Table):
    """Name and description of a run, for the report.

    Attributes:
        name: shown in the title of the page.
        description: purpose of the run, in a sentence or two.
    """

    name: str = ""
    description: str = ""


class ComparisonTable(Table):
    """Options of the comparison with the baseline.

    Attributes:
        fail_on: what fails the session, one or more: a regressed case that is not known to be flaky ("case"),
            a metric that is worse ("mean"), a case of the baseline that is missing ("gone"), a case without a
            score that it had in the baseline ("unchecked"); or "none". With any but "none", also a comparison
            without a single case, since every test changed.
        allowed_drop: drop that is never worse, as a share of the metric's range.
        tolerance: drop that does not matter, as a share of the metric's range.
        segments: names of metadata of cases, e.g. ["language"]; cases with the same value are a segment that
            is tested in addition to those of suites and categories.
        confirm: how often a regressed case is asked at most before it fails, the first time included; 0 to
            fail it at once.
        budget: "branch" to find a metric worse without a cause in at most 5 % of the baselines, however many
            runs of the history are compared with one; "run" in at most 5 % of the runs.
    """

    fail_on: Annotated[Names, AfterValidator(_fail_on)] = Field(default_factory=lambda: ["case"])
    allowed_drop: Annotated[float, Field(ge=0)] = 0.0
    tolerance: Annotated[float, Field(ge=0)] = 0.05
    segments: Names = Field(default_factory=list)
    confirm: Annotated[int, Field(ge=0)] = 50
    budget: Literal["run", "branch"] = "run"


class HoldoutTable(Table):
    """Defaults of `evalstudio holdout split`; a look takes the settings that were in effect there.

    Attributes:
        share: of the cases that are hidden.
        looks: ration of looks at the hidden half.
        threshold: difference of the pass rates up to which a look answers nothing but agreement.
        noise: scale of the noise of an answer, as a share of 1.
        tolerance: gap that is not counted as fitting.
    """

    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    looks: Annotated[int, Field(ge=1)] = 20
    threshold: Annotated[float, Field(ge=0, lt=1)] = 0.1
    noise: Annotated[float, Field(gt=0, lt=1)] = 0.01
    tolerance: Annotated[float, Field(ge=0, lt=1)] = 0.1


class TraceTable(Table):
    """Spans of the tested applications, received while they answer; see `docs/scale/traces.md`.

    Attributes:
        in_process: whether spans of applications in this process are read, from the OpenTelemetry SDK.
        port: of the receiver for OTLP over HTTP on 127.0.0.1, for applications in other processes; 0 for a
            free one, none for no receiver.
        wait_s: seconds to wait for the spans of an answer at most.
        required: whether an answer without all its spans is an error; by default for evaluators that read
            calls or steps.
    """

    in_process: bool = True
    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    wait_s: Annotated[float, Field(ge=0, le=600)] = 6.0
    required: bool | None = None


class ArenaTable(Table):
    """The arena: models of a suite or lab are compared in pairs, blind, by a judge.

    Attributes:
        judge: the judge's table; what it leaves out is as in `[judge]`.
        seed: of the order of the games and of their sides.
        both_orders: whether each game is judged twice, with the sides exchanged.
        rounds: bootstrap samples of the ratings.
        prompt: "document" asks the judge by the published procedure: the higher score wins, without ties.
    """

    judge: dict[str, Any] = Field(default_factory=dict)
    seed: Annotated[int, Field(ge=0)] = 0
    both_orders: bool = False
    rounds: Annotated[int, Field(ge=1, le=100_000)] = 1000
    prompt: Literal["default", "document"] = "default"


class ToolTable(Table):
    """`[cause.tools.NAME]`: a tool of an agent.

    Attributes:
        replay: whether a replayed answer may call it where no recorded result fits, since it changes nothing.
    """

    replay: bool = False


class CauseTable(Table):
    """Search for the causes of regressions: cases are answered again with parts of the baseline.

    Attributes:
        max_calls: calls of the applications in a run.
        calls_per_case: calls for one case.
        tools: by name, what may be done with a tool of an agent in a replay.
        parts: by the name of a setting or of an entry of `parameters`, the part that it belongs to.
        documents: patterns of the files that the application retrieves from, relative to the configuration's
            folder; those of a test are known.
    """

    max_calls: Annotated[int, Field(ge=0)] = 1000
    calls_per_case: Annotated[int, Field(ge=1)] = 150
    tools: dict[str, ToolTable] = Field(default_factory=dict)
    parts: dict[str, Literal["prompt", "model", "retrieval"]] = Field(default_factory=dict)
    documents: Names = Field(default_factory=list)


class ToolProxyTable(Table):
    """Recording of the tools that applications in this process wrap by `recorded_tool`.

    Attributes:
        proxy: "record" appends each call and its result to the recording; "replay" answers calls from it, and
            refuses others.
        recording: file, relative to the configuration's folder; it holds what tools returned as it is.
        live: patterns of tools that a replay may call where no recorded call fits, since they change nothing.
    """

    proxy: Literal["record", "replay"]
    recording: PathText
    live: Names = Field(default_factory=list)


class Configuration(Table):
    """Content of a configuration file.

    Attributes:
        evaluators: ids, "all", "method:M", "domain:D" or "tag:T"; None selects the default evaluators.
        evaluator: settings of an evaluator or instance: threshold, thresholds, flips, calibration,
            judge_check, on, type, and the evaluator's own parameters.
        model: the models that answer the questions of suites.
        gate: model-wide conditions, e.g. "rouge.rouge_l >= 0.3".
        guardrails: a guardrail configuration; its evaluators and thresholds apply if none are given here.
        flips: whether a pass-to-fail flip fails the perturbed case ("fail") or is only reported ("report").
        runs: number of times that each question is asked, or a table that ends the asking early.
        policy: verdict on repeats, as `pass`: "mean", "all", "any", or a share like "8/10".
        unchecked: treatment of a test case that no evaluator checks: "skip", "fail", or "note", by which it
            keeps its verdict and the end of the run counts it. Without it, "skip" where the evaluators are
            the default ones, else "note".
        incomplete_answers: treatment of an answer that was cut at a limit of tokens or ended by a filter of
            the service: "fail", or "note", by which it keeps its verdict and the end of the run counts it.
        refusal_phrases: sentences by which the tested applications refuse to answer, in any language; usual
            ones of English are recognised.
        thoughts: tags of thoughts of reasoning models, which are not scored: true for those of known models,
            false for none, or two tags. It holds for answers of labs, data sets, tables and checks, and for
            models without a setting of their own.
        output: folder of the report, relative to the configuration's folder.
        cache: folder of answers and downloads, relative to the configuration's folder.
        baseline: baseline that a run is compared with, relative to the configuration's folder.
        comparison: options of the comparison with the baseline.
        run: name and description of the run, for the report.
        allow_private_hosts: whether documents may be fetched from private, loopback and link-local addresses.
        max_text_chars: longer texts are not scored. Answers of more than 12 times as many characters plus
            1,000,000 are errors, and are stored nowhere.
        min_test_cases: a model with fewer scored cases is reported as a problem.
        max_cost: US dollars of a whole run; a higher cost is reported as a problem.
        perturbations: perturbed cases that a run adds.
        perturbator: options of a perturbator.
        embeddings, cross_encoder, nli, hallucination_model, toxicity_model, bias_model, sentiment_model:
            models for evaluators.
        language_model: settings of the models that evaluators name in their options.
        pii: names as personal data, by Presidio and a spaCy pipeline.
        connection: connections to services, by name; models and judges name them.
        prices: prices of models by name, for hosts that report no cost.
        judge: the judge, or panel of judges, and their budget.
        arena: options of the arena; without the table there is none.
        cause: options of the search for causes of regressions.
        tools: recording of wrapped tools, and replay; without the table they are called.
        holdout: the half of the cases that `evalstudio holdout split` hides.
        trace: spans of the tested applications; without the table none are received, and no trace is named in
            requests. It is taken from the configuration of the run's first argument.
        folder: folder of the configuration; relative paths in it start there.
        file: path of the file, "" for the defaults.
    """

    evaluators: Names | None = None
    evaluator: dict[str, dict[str, Any]] = Field(default_factory=dict)
    model: list[ModelTable] = Field(default_factory=list)
    gate: TextOrTexts = Field(default_factory=list)
    connection: dict[str, ConnectionTable] = Field(default_factory=dict)
    prices: dict[str, PriceTable] = Field(default_factory=dict)
    guardrails: Annotated[PathText, Field(min_length=1)] | None = None
    output: PathText | None = None
    cache: PathText | None = None
    baseline: PathText | None = None
    comparison: ComparisonTable = Field(default_factory=ComparisonTable)
    run: RunTable = Field(default_factory=RunTable)
    flips: Literal["fail", "report"] = "fail"
    runs: Runs = 1
    policy: Annotated[Policy, Field(alias="pass")] = MEAN
    unchecked: UncheckedPolicy | None = None
    incomplete_answers: IncompletePolicy = "note"
    refusal_phrases: TextOrTexts = Field(default_factory=list)
    thoughts: Annotated[bool | list[str], AfterValidator(_tags)] = True
    allow_private_hosts: bool = False
    max_text_chars: Annotated[int, Field(ge=1)] = 1_000_000
    min_test_cases: Annotated[int, Field(ge=0)] = 0
    max_cost: Annotated[float, Field(ge=0)] | None = None
    latency: Latency = Field(default_factory=Latency)
    storage: Storage = Field(default_factory=Storage)
    scores: ScoresTable = Field(default_factory=ScoresTable)
    perturbations: Perturbations = Field(default_factory=Perturbations)
    perturbator: dict[str, dict[str, Any]] = Field(default_factory=dict)
    embeddings: Embeddings = Field(default_factory=Embeddings)
    cross_encoder: CrossEncoding = Field(default_factory=CrossEncoding)
    nli: Nli = Field(default_factory=Nli)
    hallucination_model: HallucinationModel = Field(default_factory=HallucinationModel)
    toxicity_model: ToxicityModel = Field(default_factory=ToxicityModel)
    bias_model: BiasModel = Field(default_factory=BiasModel)
    sentiment_model: SentimentModel = Field(default_factory=SentimentModel)
    language_model: LanguageModels = Field(default_factory=LanguageModels)
    pii: PersonalData = Field(default_factory=PersonalData)
    judge: JudgeTable | None = None
    arena: ArenaTable | None = None
    cause: CauseTable = Field(default_factory=CauseTable)
    tools: ToolProxyTable | None = None
    holdout: HoldoutTable = Field(default_factory=HoldoutTable)
    trace: TraceTable | None = None
    folder: Annotated[Path, Field(exclude=True)] = Path()
    file: Annotated[str, Field(exclude=True)] = ""
    _notes: list[str] = PrivateAttr(default_factory=list)

    @property
    def notes(self) -> Sequence[str]:
        """Return sentences about the file that are worth saying once."""
        return self._notes

    @property
    def unchecked_policy(self) -> UncheckedPolicy:
        """Return the treatment of unchecked test cases without evaluators of their own."""
        if self.unchecked is not None:
            return self.unchecked
        return "skip" if self.evaluators is None else "note"

    # A configuration is used as a dictionary key: it is equal only to itself.
    __eq__ = object.__eq__
    __hash__ = object.__hash__


def load_configuration(path: Path) -> Configuration:
    """Read and check a configuration file.

    Raises:
        ConfigurationError: with file and key, if it cannot be read or has an unknown key or value.
    """
    try:
        data = tomllib.loads(read_utf8(path))
    except OSError as exc:
        raise ConfigurationError(f"{path}: cannot be read: {exc.strerror or exc}") from None
    except UnicodeDecodeError as exc:
        raise ConfigurationError(
            f"{path}: byte 0x{exc.object[exc.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None
    except ValueError as exc:
        raise ConfigurationError(f"{path}: is not TOML: {exc}") from None
    except RecursionError:
        raise ConfigurationError(f"{path}: is nested too deeply to be read") from None
    if path.name == SHARED_FILE:
        for name in ("tool", "evalstudio"):
            data = data.get(name, {})
            if not isinstance(data, dict):
                raise ConfigurationError(f"{path}: {name}: expected a table, found {shown(data)}")
    return configuration(data, file=str(path), folder=path.parent)


def configuration(data: Mapping[str, object], *, file: str = "", folder: Path = Path()) -> Configuration:
    """Check configuration data.

    Raises:
        ConfigurationError: with file and key.
    """
    # They are fields of the model, so that pydantic would accept them from a file.
    for name in ("file", "folder"):
        if name in data:
            raise ConfigurationError(f"{file or 'configuration'}: {name}: unknown key; remove it")
    try:
        configuration = Configuration.model_validate({**data, "file": file, "folder": folder})
    except ValidationError as exc:
        raise ConfigurationError(f"{file or 'configuration'}: {_explain(exc)}") from None
    _use_own_names(configuration)
    if configuration.model:  # else it stays unset, as in a configuration without a file
        configuration.model = expanded_models(
            configuration.model, configuration.connection, configuration.prices, file, folder
        )
    _check_names(configuration)
    return (
        configuration
        if configuration.guardrails is None
        else guarded(configuration, configuration.folder / configuration.guardrails)
    )


_OUR_OPTIONS = frozenset({"threshold", "thresholds", "flips", "calibration", "judge_check", "on"})
"""Options of every evaluator that are no names of the guide."""


def _use_own_names(config: Configuration) -> None:
    """Replace the guide's names of evaluators, their options and perturbators by ours, and note them.

    Fields that have no such name are not set: a workflow's steps depend on those that are.

    Raises:
        ConfigurationError: if something is given by both names.
    """
    names = {*(config.evaluators or ()), *config.evaluator}
    options = {option for table in config.evaluator.values() for option in table}
    # Names of the guide have capitals, blanks or signs; ours are identifiers in lower case.
    is_plain = all(name.isidentifier() and name.islower() for name in names) and options <= _OUR_OPTIONS
    if is_plain and not config.perturbations.apply and not config.perturbator:
        return  # without an import that most runs have no use for
    from pytest_evalstudio.core import guide_names

    read = guide_names.NamesRead()
    location = f"{config.file or 'configuration'}: evaluator"
    instances = {name for name, table in config.evaluator.items() if "type" in table}
    tables: dict[str, dict[str, Any]] = {}
    for name, given in config.evaluator.items():
        table = dict(given)
        if name in instances:
            id, table["type"] = name, _own_evaluator(given["type"], read)
        else:
            id = _own_evaluator(name, read)
        if id in tables:
            raise ConfigurationError(
                f"{location}.{name}: is {id!r}, which also has a table of its own; join the two tables"
            )
        tables[id] = guide_names.own_options(
            str(table.get("type", id)), table, read, f"{location}.{name}", connections=config.connection
        )
    evaluators = [
        name if name in instances else _own_evaluator(name, read) for name in config.evaluators or ()
    ]
    apply = guide_names.own_perturbations(config.perturbations.apply, read)
    perturbators = {
        guide_names.own_perturbations(name, read): table for name, table in config.perturbator.items()
    }
    if note := read.note():
        config._notes.append(f"{config.file or 'configuration'}: {note}")
    # Assigned only where they differ: an assignment marks the field as set, see the docstring.
    if tables != config.evaluator:
        config.evaluator = tables
    if evaluators != (config.evaluators or []):
        config.evaluators = evaluators
    if apply != config.perturbations.apply:
        config.perturbations.apply = apply
    if perturbators != config.perturbator:
        config.perturbator = perturbators


def _own_evaluator(name: Any, read: NamesRead) -> Any:
    from pytest_evalstudio.core.guide_names import own_evaluators

    return own_evaluators([name], read)[0] if isinstance(name, str) else name


def with_evaluators(config: Configuration, names: Sequence[str]) -> Configuration:
    """Return a configuration with other evaluators; the guide's names of them are read, and noted."""
    from pytest_evalstudio.core.guide_names import NamesRead

    read = NamesRead()
    # A name with a table of its own is an instance, which may be called like an evaluator of the guide.
    ids = [name if name in config.evaluator else _own_evaluator(name, read) for name in names]
    copy = config.model_copy(update={"evaluators": ids})
    if note := read.note():
        copy._notes = [*config.notes, note]
    return copy


def guarded(config: Configuration, path: Path) -> Configuration:
    """Add the evaluators and thresholds of a guardrail configuration where none are configured.

    Raises:
        ConfigurationError: if the file is no guardrail configuration.
    """
    return with_guardrails(config, read_guardrails(path))


def with_guardrails(config: Configuration, guardrails: Guardrails) -> Configuration:
    """Add evaluators and thresholds where none are configured."""
    tables = {id: dict(options) for id, options in config.evaluator.items()}
    for id, thresholds in guardrails.calibrated_thresholds.items():
        table = tables.setdefault(id, {})
        if "threshold" not in table and "calibration" not in table:
            table["thresholds"] = {**thresholds, **table.get("thresholds", {})}
    evaluators = guardrails.evaluators if config.evaluators is None else config.evaluators
    return config.model_copy(update={"evaluator": tables, "evaluators": evaluators})


EVALUATOR_TABLE = "[evaluator.ID]"
"""Table of an evaluator's options, as messages name it."""


def _explain(exc: ValidationError) -> str:
    error = exc.errors(include_url=False)[0]
    location = ".".join(str(step) for step in error["loc"])
    if location == "evaluators" and isinstance(error["input"], Mapping):
        return f"evaluators: expected a list of ids; options of an evaluator belong in {EVALUATOR_TABLE}"
    if error["type"] != "extra_forbidden":
        return f"{location}: {fact(error)}"
    field = Configuration.model_fields.get(str(error["loc"][0]))
    # The default has the class of a nested table, whose keys the hint names.
    owner = field.get_default(call_default_factory=True) if field else None
    table = type(owner) if isinstance(owner, Table) else Configuration
    names = [
        field.alias or name for name, field in table.model_fields.items() if name not in ("file", "folder")
    ]
    hint = nearest(str(error["loc"][-1]), names) or f"Known keys: {', '.join(names)}."
    options = f" Options of an evaluator belong in {EVALUATOR_TABLE}." if table is Configuration else ""
    return f"{location}: unknown key. {hint}{options}"


def _check_names(config: Configuration) -> None:
    names = [model.name for model in config.model]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigurationError(
                f"{config.file}: model.{index}.name: {name!r} is already used by"
                f" model.{names.index(name)}; names must be unique"
            )
