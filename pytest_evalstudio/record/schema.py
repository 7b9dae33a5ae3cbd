"""Types of a run's record: one header (`Run`), then one `Item` for each finished test case and model.

A record is a JSON Lines file. All types are frozen; numbers that JSON cannot hold are the words "Infinity"
and "-Infinity". Fields without a default are always written, the others only if they differ from it.
`evalstudio schema record` prints the JSON Schema.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.parameters import ParameterSpec
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.record.arena import ArenaEntry
from pytest_evalstudio.record.causes import CauseEntry
from pytest_evalstudio.record.holdout import HoldoutEntry
from pytest_evalstudio.record.items import (
    VERDICTS,
    Attempt,
    CaseDigest,
    Item,
    JsonObject,
    Perturbation,
    RecordRow,
    VerdictWord,
)
from pytest_evalstudio.record.judge_checks import JudgeCheckEntry, ShareEntry

__all__ = [
    "FAILED_NAMES",
    "SCHEMA_VERSION",
    "VERDICTS",
    "ArenaEntry",
    "Attempt",
    "Baseline",
    "CaseDigest",
    "CauseEntry",
    "EvaluatorEntry",
    "FileEntry",
    "Item",
    "JsonObject",
    "JudgeCheckEntry",
    "JudgeSpend",
    "Line",
    "ModelEntry",
    "Perturbation",
    "RecordRow",
    "Run",
    "RunSettings",
    "SessionEnd",
    "Shards",
    "ShareEntry",
    "StepEntry",
    "Stopping",
    "Tables",
    "Tool",
    "VerdictWord",
]

EvaluatorKind = Literal["bool", "classification", "heatmap"]

SCHEMA_VERSION = 4
"""Version of these types."""


class EvaluatorEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An evaluator in this run.

    Attributes:
        id: its name in this run; a configured instance has another one than its type.
        parameters: its options.
        parameters_meta: specification of the options.
        embedder: name of the embedding model, "" for none: thresholds hold for one model only.
        judge: models, vote and prompt versions of its judge; empty for none.
        judge_check: measured errors of its judge; None without.
        calibration: file, digest and figures of its calibration; empty for none.
        difference: sentence on the difference from other tools' metrics of the same name, "" for none.
        min_test_cases: a model with fewer scored cases is a problem; None for the run's number.
        metrics: at least one.
        save_llm_result: whether the report has the files with its rows and scores.
        sentence_level_metrics: whether parts of answers are recorded with their scores.
    """

    id: str
    type: str
    name: str
    description: str = ""
    domain: str = ""
    method: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    scope: str = "row"
    boolean: bool = False
    model_types: tuple[str, ...] = ()
    parameters: JsonObject
    embedder: str = ""
    judge: JsonObject = {}
    judge_check: JudgeCheckEntry | None = None
    calibration: JsonObject = {}
    metrics: Annotated[tuple[Metric, ...], Meta(min_length=1)]
    keywords: tuple[str, ...] = ()
    problem_type: str = "accuracy"
    avid: str = "P0200"
    parameters_meta: tuple[ParameterSpec, ...] = ()
    difference: str = ""
    min_test_cases: int | None = None
    save_llm_result: bool = True
    sentence_level_metrics: bool = True

    @property
    def asserted(self) -> frozenset[str]:
        """Keys of the metrics that decide items."""
        return frozenset(metric.key for metric in self.metrics if metric.decides)

    @property
    def primary(self) -> Metric:
        return next((metric for metric in self.metrics if metric.primary), self.metrics[0])

    @property
    def sentence_metric(self) -> Metric:
        """Metric that scores sentences of answers: the calibrated one, else the primary one."""
        return next(
            (metric for metric in self.metrics if metric.key == self.calibration.get("of")), self.primary
        )

    @property
    def kind(self) -> EvaluatorKind:
        if self.boolean:
            return "bool"
        return "classification" if self.domain == "classification" else "heatmap"

    @property
    def judged_metrics(self) -> tuple[Metric, ...]:
        """Metrics with a threshold that can be missed; for a boolean evaluator, only the primary one.

        The other metrics of a boolean evaluator are complements of it.
        """
        metrics = (self.primary,) if self.boolean else self.metrics
        return tuple(metric for metric in metrics if metric.can_decide)

    @property
    def flip_metrics(self) -> tuple[Metric, ...]:
        """Metrics whose pass state is compared between a question and its perturbations."""
        return tuple(metric for metric in self.judged_metrics if metric.primary or self.kind == "heatmap")


class EvaluatorSpan(Struct, frozen=True, kw_only=True):
    """First start and last end of an evaluator's scoring: ISO 8601, UTC, milliseconds."""

    started: str
    finished: str


class Stopping(Struct, frozen=True, kw_only=True):
    """Sequential test that ends the repeats of a question; see `stats.sequential.Sprt`."""

    max_runs: int
    p0: float
    p1: float
    alpha: float
    beta: float


class ModelEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model that answered, secrets masked.

    Attributes:
        key: what items name it by.
        name: label for people; the key where it has none.
        host: id of the host, "lab" or "dataset" where the answers were given earlier.
        model_cfg: settings of the host.
        llm_model_meta: counts and statistics of a lab's requests.
        stopping: the test that ends the repeats of a question; None for a fixed number.
        extra: further keys of a lab's model.
    """

    key: str
    name: str = ""
    host: str = ""
    model_type: str = ""
    llm_model_name: str = ""
    connection: str = ""
    collection_id: str = ""
    collection_name: str = ""
    documents: tuple[str, ...] = ()
    model_cfg: JsonObject = {}
    llm_model_meta: JsonObject = {}
    stopping: Stopping | None = None
    extra: JsonObject = {}


class FileEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of the run.

    Attributes:
        kind: suite, lab, dataset, workflow, or python for a test module with checks.
    """

    path: str
    kind: str
    name: str
    description: str


class SignOffEntry(Struct, frozen=True, kw_only=True):
    """Sign-off of a workflow as it was at the end of the run.

    Attributes:
        role: of the policy, e.g. validator.
        decision: of the person.
        date: ISO 8601 with time zone.
        void: what has changed since it was signed; empty for a valid one.
        overridden: conclusion of the report if the person decided otherwise, else "".
        exceptions: open steps and accepted findings, with the reasons.
    """

    role: str
    name: str
    decision: str
    comment: str
    date: str
    void: tuple[str, ...] = ()
    overridden: str = ""
    exceptions: tuple[str, ...] = ()


class StepEntry(Struct, frozen=True, kw_only=True):
    """Status of a workflow step at the end of the run.

    Attributes:
        status: completed, waiting, outdated or not run.
        lacks: steps that must be completed first.
        figures: results, by names of the step's own.
        pictures: file name to SVG.
        seconds: duration of its last run.
        page: path of the workflow's report.
        fingerprints: SHA-256 of workflow file, documents, test cases, configuration, model and labels, and
            versions of the environment, by name.
        sign_offs: last sign-off of each role.
        asks: whether it asks models.
    """

    workflow: str
    step: str
    number: int
    name: str
    description: str
    status: str = ""
    lacks: tuple[str, ...]
    parameters: JsonObject
    summary: str
    notes: tuple[str, ...]
    waits: str
    figures: JsonObject
    problems: tuple[Problem, ...]
    pictures: dict[str, str]
    finished: str
    seconds: float
    file: str = ""
    verdict: str = ""
    page: str = ""
    fingerprints: dict[str, str] = {}
    sign_offs: tuple[SignOffEntry, ...] = ()
    asks: bool = False


class Tool(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The program that wrote a record."""

    name: str
    version: str


class RunSettings(Struct, frozen=True, kw_only=True):
    """Settings of the configuration that the analysis needs.

    Attributes:
        flips: "fail" or "report".
        max_latency_s: seconds; a 95th percentile beyond it is a problem.
        max_cost: US dollars of a whole run; more is a problem.
        max_storage_mb: megabytes of cache and output; more is a problem.
    """

    flips: str = "fail"
    min_test_cases: int = 0
    max_latency_s: float | None = field(default=None, name="latency.max_s")
    max_cost: float | None = None
    max_storage_mb: float | None = field(default=None, name="storage.max_mb")


class JudgeSpend(Struct, frozen=True, kw_only=True):
    """Usage of judges in this run, without stored replies."""

    calls: int = 0
    cost_usd: float = 0.0
    input_tokens: int = 0
    output_tokens: int = 0


class Baseline(Struct, frozen=True, kw_only=True):
    """Marks a record as a baseline that `evalstudio baseline` saved.

    Attributes:
        saved: ISO 8601 with time zone.
        has_answers: False where answers, contexts and questions were left out.
    """

    saved: str
    has_answers: bool = True


class Shards(Struct, frozen=True, kw_only=True):
    """The parts of a run that a record has.

    Attributes:
        numbers: of the parts, from 1, in order.
        total: number of parts of the run.
    """

    numbers: tuple[int, ...]
    total: int

    def __str__(self) -> str:
        names = ", ".join(map(str, self.numbers))
        return (
            f"shard {names} of {self.total}" if len(self.numbers) == 1 else f"shards {names} of {self.total}"
        )


FAILED_NAMES = 5
"""Names of tests that failed without an evaluator, in a header."""


class SessionEnd(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tests of the pytest session, those without an evaluation included.

    Attributes:
        collected: tests that pytest was to run.
        ended: those of them that ended.
        failed_besides: tests that failed without a failing entry in the record, e.g. by an assertion of their
            own or in a fixture.
        failed_names: node ids of the first of them.
        overruled: node ids of tests that fail when scored, and that a plugin reported to pytest as passed,
            skipped or expected failures.
        overruling: places of the hooks that can have done it, e.g. "conftest.py:7".
    """

    collected: int
    ended: int
    failed_besides: int = 0
    failed_names: tuple[str, ...] = ()
    overruled: tuple[str, ...] = ()
    overruling: tuple[str, ...] = ()

    @property
    def overruled_sentence(self) -> str:
        """Return which tests were overruled, and by what; "" without any."""
        if not self.overruled:
            return ""
        names = ", ".join(self.overruled[:FAILED_NAMES])
        rest = len(self.overruled) - FAILED_NAMES
        more = f" and {rest:,} more" if rest > 0 else ""
        by = f", changed by a plugin: {', '.join(self.overruling)}" if self.overruling else ""
        return f"not failed for pytest, and failed when scored{by}: {names}{more}"


class Run(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="run"):
    """The header of a record.

    Attributes:
        created, finished: ISO 8601 with time zone; `finished` is None during the run, and after it was
            killed.
        gates: model-wide conditions, as the user wrote them.
        evaluators, models: by id and key.
        steps: steps of workflows by node id.
        arena: pairs of models that were compared, by node id.
        causes: of regressed cases, by node id.
        holdout: gap between open and hidden half, by the path of the suite.
        spans: evaluator id to the time in which it scored.
        continues: start of the interrupted run that this one continues, ISO 8601; "" for a new run.
        judging: None where no judge was asked.
        name, description: of the run, as the user gave them, "" for none.
        commit, branch: of the tested project's repository, "" where they are not known.
        documents: names of local documents, as rows name them, to the SHA-256 of their content in
            hexadecimal.
        compared_with: the baseline of the run, in a history; "" where it had none.
        baseline: None for the record of a run itself.
        shards: None where the record has all items of the run.
        uncollected: files and tests that pytest could not collect, by node id.
        session: tests of the pytest session at its end; None where the run was no session.
        deselected: whether options or plugins left out test cases that the files have.
    """

    schema_version: int
    run_id: str
    created: str
    finished: str | None
    interrupted: bool
    exit_status: int | None
    tool: Tool
    python: str
    pytest: str = ""
    gates: tuple[str, ...]
    settings: RunSettings
    evaluators: dict[str, EvaluatorEntry]
    models: dict[str, ModelEntry]
    files: tuple[FileEntry, ...]
    steps: dict[str, StepEntry]
    judging: JudgeSpend | None = None
    name: str = ""
    description: str = ""
    commit: str = ""
    branch: str = ""
    continues: str = ""
    documents: dict[str, str] = {}
    arena: dict[str, ArenaEntry] = {}
    causes: dict[str, CauseEntry] = {}
    holdout: dict[str, HoldoutEntry] = {}
    spans: dict[str, EvaluatorSpan] = {}
    compared_with: str = ""
    baseline: Baseline | None = None
    shards: Shards | None = None
    uncollected: tuple[str, ...] = ()
    session: SessionEnd | None = None
    deselected: bool = False

    def model_name(self, key: str) -> str:
        """Return the label of a model for people, its key where it has none.

        Applications of several folders that have one label are told apart by their folders.
        """
        model = self.models.get(key)
        if model is None or not model.name:
            return key
        folder = model.model_cfg.get("folder")
        if folder and sum(other.name == model.name for other in self.models.values()) > 1:
            return f"{model.name} ({folder})"
        return model.name


class Tables(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="meta"):
    """Entries that a run adds to its header while it goes on; `finish` folds them into it."""

    evaluators: dict[str, EvaluatorEntry] = {}
    models: dict[str, ModelEntry] = {}
    files: dict[str, FileEntry] = {}
    steps: dict[str, StepEntry] = {}
    documents: dict[str, str] = {}
    arena: dict[str, ArenaEntry] = {}
    causes: dict[str, CauseEntry] = {}
    holdout: dict[str, HoldoutEntry] = {}
    spans: dict[str, EvaluatorSpan] = {}

    def __bool__(self) -> bool:
        # Equal to its default: a loop over the fields costs two calls a field for each item.
        return self != NO_TABLES


NO_TABLES = Tables()
Line = Run | Item | Tables
"""Line of a record's file."""
