"""Evaluators: their protocol, their declaration and the decorator that makes it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar, cast, runtime_checkable

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.declaring import (
    attach,
    check_id,
    check_known,
    check_methods,
    has_method,
    has_property,
    names_in,
    path_options_of,
)
from pytest_evalstudio.core.tools import Tools

KIND = "evaluator"
Scope = Literal["row", "group", "model"]
Need = Literal["question", "expected_output", "context", "actual_output", "condition"]
NEEDS: tuple[Need, ...] = ("question", "expected_output", "context", "actual_output", "condition")
BOOLEAN_KEYS = (
    "model_passes",
    "model_failures",
    "model_retrieval_failures",
    "model_generation_failures",
    "model_parse_failures",
)
WHATEVER_WAS_ASKED = ("privacy", "security", "fairness")
"""Types of problems that no question excuses."""
T = TypeVar("T", bound=type)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorSpec:
    """The declaration of an evaluator class.

    Attributes:
        needs: inputs that a case must have: question, expected_output, context, actual_output, condition.
        requires: resources without which it cannot score: a model among the tools ("embedder", "nli"),
            "judge", a model by name ("language_model:NAME"), "module:NAME" for an installed module, or
            "option:NAME" for an option that has no default.
        uses: models among the tools that it uses only where the configuration names them; without them it
            scores by its other methods.
        scope: row = a case alone; group = all answers of one model to one question; model = all rows of a
            model.
        compares: type of the relationship to the case with whose answer it compares; the engine gives that
            case as `counterpart`.
        boolean: its metrics are counts of passes and failures.
        difference: sentence on the difference from other tools' metrics of the same name, "" for none.
        keywords: standards and method tags (NIST AI RMF, SR 11-7), for report and export.
        extra: the optional dependency group it needs, "" for none.
        problem_type, avid: class of its missed thresholds.
        aggregates: it has a method `aggregate` for model-wide figures.
        labels: it has methods `label` and `aggregate_labels`: model-wide figures follow from their counts.
        refines_applicability: it has a method `not_applicable`.
        path_options: options that may be paths; they start at the configuration's folder.
        prompts: prompts that it may ask a judge with; one that has any may have a judge of its own.
        dynamic_needs: its needs depend on its options: a property `needs` gives them.
        dynamic_requirements: its requirements depend on its options: a property `requires` gives them.
        own_judge: a property `own_judge` gives settings of its judge.
        depends_on_chunk_order: its score depends on the order of the retrieved chunks, whatever a judge says
            of each; the class says so by an attribute of this name.
        applies_without_text: it judges also an answer that calls tools or makes files and has no text; the
            class says so by an attribute of this name.
        applies_to_refusals: it judges also the answer to a case that expects a refusal, although it needs
            more than the answer; the class says so by an attribute of this name.
        judges_conversations: it scores a conversation as a whole, not its turns; the class says so by an
            attribute of this name.
        expectations: keys of the test case whose content it compares the answer with, beside an expected
            output or condition that it needs, e.g. ("expected_tool_calls",). The class says so by an
            attribute of this name. It scores the turns of a conversation and, where the case as a whole
            states one of them, the whole; a case with expectations that no evaluator reads is unchecked.
        reads_all_outputs: it reads all accepted answers of a case at once, as `Case.reference`; the class
            says so by an attribute of this name. Any other evaluator that reads the expected output, but
            those of groups, is called for each accepted answer, and the engine takes the best outcome.
        detector: it looks for a fault that any answer may have, so that its verdict says nothing about
            whether the answer is right: evaluators of privacy, security and fairness, and classes that say
            so by an attribute of this name.
        judges_calls: it gets also an answer that failed after calls or steps: where these break a rule, it
            says so, else it is not applicable, and the engine reports the failure. The class says so by an
            attribute of this name.
        reads_trace: it reads calls or steps, which spans of the application may say; where they were awaited
            and have not arrived, its outcome is an error. The class says so by an attribute of this name.
        measures_support: it measures how far the retrieved context supports the answer; an answer without a
            letter or digit has the worst score. The class says so by an attribute of this name.
        decided_by_one_observation: a case that fails it once fails, however further repeats end, and is not
            asked again to confirm it: a leak, a forbidden call, harm. The class says so by an attribute of
            this name.
        defaults_table: table of the configuration whose property `options` gives defaults of its options; the
            class says so by an attribute of this name.
        may_only_measure: its primary metric may have no value for a case whose other metrics it measures, and
            then decides nothing. The class says so by an attribute of this name; without it, such an outcome
            is an error.
    """

    id: str
    name: str
    domain: str
    needs: tuple[str, ...]
    requires: tuple[str, ...]
    method: tuple[str, ...]
    systems: tuple[str, ...]
    scope: Scope
    metrics: tuple[Metric, ...]
    boolean: bool
    keywords: tuple[str, ...]
    extra: str
    problem_type: str
    avid: str
    description: str
    compares: str = ""
    aggregates: bool = False
    labels: bool = False
    refines_applicability: bool = False
    path_options: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    dynamic_needs: bool = False
    dynamic_requirements: bool = False
    own_judge: bool = False
    depends_on_chunk_order: bool = False
    applies_without_text: bool = False
    applies_to_refusals: bool = False
    judges_calls: bool = False
    reads_trace: bool = False
    measures_support: bool = False
    judges_conversations: bool = False
    expectations: tuple[str, ...] = ()
    reads_all_outputs: bool = False
    detector: bool = False
    may_only_measure: bool = False
    defaults_table: str = ""
    decided_by_one_observation: bool = False
    uses: tuple[str, ...] = ()
    difference: str = ""

    @property
    def primary(self) -> Metric:
        """The metric that decides an item, and by which models are ranked."""
        return next(metric for metric in self.metrics if metric.primary)

    @property
    def deciding(self) -> frozenset[str]:
        """Return the keys of the metrics that decide an item by default."""
        return frozenset(metric.key for metric in self.metrics if metric.primary or metric.decides)

    def metric(self, key: str) -> Metric | None:
        """Return the metric with that key."""
        return next((metric for metric in self.metrics if metric.key == key), None)

    def needs_of(self, evaluator: Evaluator) -> tuple[str, ...]:
        """Return the inputs that an evaluator needs with its options."""
        return tuple(cast(DynamicNeeds, evaluator).needs) if self.dynamic_needs else self.needs

    def requirements_of(self, evaluator: Evaluator) -> tuple[str, ...]:
        """Return the resources that an evaluator requires with its options."""
        if self.dynamic_requirements:
            return tuple(cast(DynamicRequirements, evaluator).requires)
        return self.requires

    def judge_of(self, evaluator: Evaluator) -> Mapping[str, Any]:
        """Return the settings that an evaluator has for its judge; empty for none."""
        return cast(OwnJudge, evaluator).own_judge if self.own_judge else {}

    def inapplicable(self, evaluator: Evaluator, case: Case) -> str:
        """Return why an evaluator does not apply to a case, "" if it does."""
        return cast(Refines, evaluator).not_applicable(case) if self.refines_applicability else ""


class Evaluator(Protocol):
    """A frozen dataclass whose fields are its options.

    `score` takes whole chunks and returns one outcome per case, in order. The engine (`scoring.score`) has
    decided before what holds for all evaluators, so that none checks it again: each case has an answer, the
    declared needs and, where the class compares, a counterpart; `not_applicable` gives no reason; and no
    batch is empty. The protocols below are optional: the decorator declares in the Spec which of them a class
    has.
    """

    __evalstudio__: ClassVar[EvaluatorSpec]

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]: ...


class DynamicNeeds(Protocol):
    """An evaluator whose needs depend on its options."""

    @property
    def needs(self) -> tuple[str, ...]: ...


class DynamicRequirements(Protocol):
    """An evaluator whose requirements depend on its options."""

    @property
    def requires(self) -> tuple[str, ...]: ...


class OwnJudge(Protocol):
    """An evaluator with settings of its own for the judge."""

    @property
    def own_judge(self) -> Mapping[str, Any]: ...


class Refines(Protocol):
    """An evaluator that does not apply to some cases that have all it needs."""

    def not_applicable(self, case: Case) -> str:
        """Return the reason, "" where it applies."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """Input of model-wide figures."""

    key: str
    expected_output: str
    actual_output: str
    scores: Mapping[str, float | None]
    sketch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    """Model-wide figures of one evaluator.

    Attributes:
        scores: metric key to value over all rows of the model.
        table: a JSON-ready table of the underlying data, e.g. {"labels": [...], "matrix": [[...]]} of a
            confusion matrix.
    """

    scores: Mapping[str, float]
    table: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Aggregates(Protocol):
    """An evaluator with model-wide figures that are not means of its rows' scores."""

    def aggregate(self, rows: Iterable[ScoredRow]) -> ModelScore: ...


class Labels(Protocol):
    """An evaluator whose model-wide figures follow from the counts of its labels."""

    def label(self, text: str) -> str:
        """Return the label of an answer or expected answer."""
        ...

    def aggregate_labels(self, counts: Mapping[tuple[str, str], int]) -> ModelScore:
        """Return the figures of a model.

        Args:
            counts: frequency of each (expected label, answered label).
        """
        ...


class InteractionEvaluator:
    """Declarations of an evaluator of calls and steps.

    It gets refusals, conversations, answers without text, and answers that failed after a call.
    """

    applies_without_text: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    judges_calls: ClassVar[bool] = True
    judges_conversations: ClassVar[bool] = True
    reads_trace: ClassVar[bool] = True


def evaluator(
    id: str,
    *,
    name: str,
    domain: str,
    needs: tuple[str, ...],
    requires: tuple[str, ...] = (),
    uses: tuple[str, ...] = (),
    method: tuple[str, ...] = ("rules",),
    systems: tuple[str, ...] = ("llm", "rag"),
    scope: Scope = "row",
    keywords: tuple[str, ...] = (),
    extra: str = "",
    problem_type: str = "accuracy",
    avid: str = "P0200",
    compares: str = "",
    difference: str = "",
) -> Callable[[T], T]:
    """Declare a class as an evaluator.

    Its `metrics`, its first docstring line and its optional capabilities belong to the declaration; see
    `EvaluatorSpec`.

    Raises:
        TypeError: if the class does not declare exactly one primary metric, has no `score`, or an optional
            capability is malformed.
    """
    check_id(KIND, id)
    check_known(KIND, id, "needs", needs, NEEDS)

    def declare(cls: T) -> T:
        metrics = _metrics_of(id, cls)
        check_methods(KIND, id, cls, {"score": "score(self, cases, tools) -> list[Outcome]"})
        spec = EvaluatorSpec(
            id=id,
            name=name,
            domain=domain,
            needs=needs,
            requires=requires,
            uses=uses,
            method=method,
            systems=systems,
            scope=scope,
            metrics=metrics,
            boolean=metrics[0].key in BOOLEAN_KEYS,
            keywords=keywords,
            extra=extra,
            problem_type=problem_type,
            avid=avid,
            description=summary_of(cls),
            compares=compares,
            difference=difference,
        )
        return attach(cls, _with_capabilities(spec, cls))

    return declare


def _with_capabilities(spec: EvaluatorSpec, cls: type) -> EvaluatorSpec:
    """Return the declaration with the optional capabilities of the class."""
    return replace(
        spec,
        aggregates=has_method(KIND, spec.id, cls, "aggregate", "aggregate(self, rows) -> ModelScore"),
        labels=has_method(
            KIND, spec.id, cls, "aggregate_labels", "aggregate_labels(self, counts) -> ModelScore"
        ),
        refines_applicability=has_method(
            KIND, spec.id, cls, "not_applicable", "not_applicable(self, case) -> str"
        ),
        path_options=path_options_of(KIND, spec.id, cls),
        prompts=names_in(KIND, spec.id, cls, "prompts"),
        dynamic_needs=has_property(KIND, spec.id, cls, "needs", tuple),
        dynamic_requirements=has_property(KIND, spec.id, cls, "requires", tuple),
        own_judge=has_property(KIND, spec.id, cls, "own_judge", Mapping),
        depends_on_chunk_order=bool(inspect.getattr_static(cls, "depends_on_chunk_order", False)),
        applies_without_text=bool(inspect.getattr_static(cls, "applies_without_text", False)),
        applies_to_refusals=bool(inspect.getattr_static(cls, "applies_to_refusals", False)),
        reads_trace=bool(inspect.getattr_static(cls, "reads_trace", False)),
        judges_calls=bool(inspect.getattr_static(cls, "judges_calls", False)),
        measures_support=bool(inspect.getattr_static(cls, "measures_support", False)),
        judges_conversations=bool(inspect.getattr_static(cls, "judges_conversations", False)),
        expectations=names_in(KIND, spec.id, cls, "expectations"),
        reads_all_outputs=bool(inspect.getattr_static(cls, "reads_all_outputs", False)),
        detector=spec.problem_type in WHATEVER_WAS_ASKED
        or bool(inspect.getattr_static(cls, "detector", False)),
        decided_by_one_observation=bool(inspect.getattr_static(cls, "decided_by_one_observation", False)),
        defaults_table=str(inspect.getattr_static(cls, "defaults_table", "")),
        may_only_measure=bool(inspect.getattr_static(cls, "may_only_measure", False)),
    )


def _metrics_of(id: str, cls: type) -> tuple[Metric, ...]:
    metrics = inspect.getattr_static(cls, "metrics", ())
    if not isinstance(metrics, tuple) or not all(isinstance(metric, Metric) for metric in metrics):
        raise TypeError(f"evaluator {id!r}: metrics must be a tuple of Metric, found {metrics!r}")
    if sum(metric.primary for metric in metrics) != 1:
        raise TypeError(f"evaluator {id!r}: exactly one of its metrics must be primary")
    return metrics
