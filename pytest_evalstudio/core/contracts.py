"""The seams: what an evaluator and a host must be, and the decorators that declare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

from pytest_evalstudio.core.cases import Answer, Case, Prompt
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.outcomes import Metric, Outcome

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Scope = Literal["row", "group", "model"]
SPEC = "__evalstudio__"
"""Class attribute in which the decorators leave the declaration for the registry."""


class Embedder(Protocol):
    """Turns texts into vectors whose dot products are cosines.

    Attributes:
        name: of the model, as people read it.
    """

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> NDArray[float32]:
        """One row per text, in order, each of length 1."""
        ...


class CrossEncoder(Protocol):
    """Judges two texts read together."""

    @property
    def name(self) -> str: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """How alike the texts of each pair are, 0.0 to 1.0; of a consistency model, how well the first
        supports the second.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Entailment:
    """What a model of inference says of a premise and a hypothesis.

    Attributes:
        entailment, neutral, contradiction: probabilities with the sum 1.
        distance: from the pair to the hyperplane at which the entailment logit is 0, positive on its side;
            None where the model ends in no linear layer.
        margin: the same to the nearest hyperplane at which another class is as likely; positive where
            entailment is the likeliest.
    """

    entailment: float
    neutral: float
    contradiction: float
    distance: float | None = None
    margin: float | None = None


class NliModel(Protocol):
    """Tells whether a text follows from another."""

    @property
    def name(self) -> str: ...

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Of each (premise, hypothesis); the best-supporting part of a long premise counts."""
        ...


class TextClassifier(Protocol):
    """Puts labels on texts."""

    @property
    def name(self) -> str: ...

    def classify(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        """Label to probability for each text; of a long text the part counts that has most of a label."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text whose likelihood is asked for, and what stands before it.

    Attributes:
        instruction: the very beginning; kept whole.
        before: between the instruction and the text; its beginning is cut off where it does not fit.
    """

    text: str
    before: str = ""
    instruction: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Likelihood:
    """What a language model says of a passage.

    Attributes:
        tokens: natural logarithm of the probability of each token of the text, given all that stands before
            it.
        is_cut: whether some of them were given less than all.
    """

    tokens: tuple[float, ...]
    is_cut: bool = False


class LanguageModel(Protocol):
    """Tells how likely a text is."""

    @property
    def name(self) -> str: ...

    def read(self, passages: Sequence[Passage], *, stride: int | None = None) -> list[Likelihood]:
        """Of each passage, in order; a long text is read in windows that move on by `stride` tokens."""
        ...


class TokenMatcher(Protocol):
    """Compares two texts token by token, in their contexts."""

    @property
    def name(self) -> str: ...

    def match(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float, float]]:
        """Precision, recall and F1 of each (text, reference)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the engine lends an evaluator.

    Attributes:
        max_text_chars: longer texts are not to be scored.
        split_sentences: text to (start, end) spans of its sentences.
        embedder, cross_encoder, nli, hallucination_model, toxicity_model, bias_model: for evaluators that
            declare that they require them.
        sentiment_model: a classifier with the labels positive and negative; None where a list of words is to
            do.
        language_model: the model of that name, for evaluators that require "language_model:NAME".
        token_matcher: the same by name and layer (None: the one that is best known to work), for
            "token_matcher:NAME".
        judge: for evaluators that require one; the evaluator's own where it has its own.
    """

    max_text_chars: int = 1_000_000
    split_sentences: Callable[[str], list[tuple[int, int]]]
    embedder: Embedder | None = None
    cross_encoder: CrossEncoder | None = None
    nli: NliModel | None = None
    hallucination_model: CrossEncoder | None = None
    toxicity_model: TextClassifier | None = None
    bias_model: TextClassifier | None = None
    sentiment_model: TextClassifier | None = None
    language_model: Callable[[str], LanguageModel] | None = None
    token_matcher: Callable[[str, int | None], TokenMatcher] | None = None
    judge: Judge | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorSpec:
    """The declaration of an evaluator class.

    Attributes:
        needs: inputs it cannot do without: question, expected_output, context, actual_output, condition.
        requires: what it cannot score without: a model among the tools ("embedder", "nli"), "judge", a model
            that it names itself ("language_model:NAME"), "module:NAME" for an installed module, or
            "option:NAME" for an option that has no default.
        scope: row = a case alone; group = all answers of one model to one question; model = all rows of a
            model.
        compares: type of the relationship to the case with whose answer it compares; that case is lent as
            `counterpart`.
        boolean: its metrics are counts of passes and failures.
        keywords: standards and method tags (NIST AI RMF, SR 11-7), for report and export.
        extra: the optional dependency group it needs, "" for none.
        problem_type, avid: how its missed thresholds are classed.
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

    @property
    def primary(self) -> Metric:
        return next(metric for metric in self.metrics if metric.primary)

    def metric(self, key: str) -> Metric | None:
        return next((metric for metric in self.metrics if metric.key == key), None)


class Evaluator(Protocol):
    """A frozen dataclass whose fields are its options.

    `score` takes whole chunks and returns one outcome per case, in order. It is called only with cases that
    have an answer and the declared needs. An optional method `not_applicable(case) -> str` refines the needs
    ("" = applicable); an optional method `aggregate(rows) -> ModelScore` computes model-wide figures that are
    no mean of the rows'; an optional class attribute `path_options` names the options that may be paths,
    which start at the configuration's folder; one that asks a judge names the prompts that it may ask with in
    `prompts`. Where needs or requirements depend on options, properties `needs` and `requires` give them.
    """

    __evalstudio__: ClassVar[EvaluatorSpec]

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredRow:
    """What model-wide figures are computed from."""

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
        table: a JSON-ready table behind them, e.g. {"labels": [...], "matrix": [[...]]} of a confusion
            matrix.
    """

    scores: Mapping[str, float]
    table: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Aggregates(Protocol):
    """An evaluator with model-wide figures of its own."""

    def aggregate(self, rows: Iterable[ScoredRow]) -> ModelScore: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSpec:
    """The declaration of a host class.

    Attributes:
        kind: whether it retrieves.
        extra: the optional dependency group it needs, "" for none.
        caches: whether its answers are kept between sessions unless the configuration says otherwise. True
            for services that cost money, False for the user's own code, which changes while it is being
            tested.
        runs_user_code: whether its parameters name code to run; only the user's own configuration may choose
            such a host.
    """

    id: str
    name: str
    kind: Literal["llm", "rag", "both"]
    extra: str
    caches: bool
    description: str
    runs_user_code: bool = False


class Host(Protocol):
    """A service that answers prompts; a dataclass whose fields are its parameters.

    `prepare` is awaited once per corpus before its first prompt (ingestion), `answer` once per prompt and
    try, `close` once at the end. `answer` raises HostFault to say whether another try can help.
    """

    __evalstudio__: ClassVar[HostSpec]

    async def prepare(self, corpus: tuple[str, ...]) -> None: ...

    async def answer(self, prompt: Prompt) -> Answer: ...

    async def close(self) -> None: ...


class HostFault(Exception):
    """A request that failed.

    Args:
        message: what happened, without secrets.
        retry: whether another try can help (408, 409, 429, 5xx, connection errors).
        retry_after_s: seconds the service asks to wait, None if it did not say.
    """

    def __init__(self, message: str, *, retry: bool = False, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry = retry
        self.retry_after_s = retry_after_s


T = TypeVar("T", bound=type)

BOOLEAN_KEYS = (
    "model_passes",
    "model_failures",
    "model_retrieval_failures",
    "model_generation_failures",
    "model_parse_failures",
)


def evaluator(
    id: str,
    *,
    name: str,
    domain: str,
    needs: tuple[str, ...],
    requires: tuple[str, ...] = (),
    method: tuple[str, ...] = ("rules",),
    systems: tuple[str, ...] = ("llm", "rag"),
    scope: Scope = "row",
    keywords: tuple[str, ...] = (),
    extra: str = "",
    problem_type: str = "accuracy",
    avid: str = "P0200",
    compares: str = "",
) -> Callable[[T], T]:
    """Declare a class as an evaluator; its `metrics` class attribute and first docstring line belong to the
    declaration.

    Raises:
        TypeError: if the class declares no metric, or not exactly one primary metric.
    """

    def declare(cls: T) -> T:
        metrics: tuple[Metric, ...] = getattr(cls, "metrics", ())
        if sum(metric.primary for metric in metrics) != 1:
            raise TypeError(f"evaluator {id!r}: exactly one of its metrics must be primary")
        spec = EvaluatorSpec(
            id=id,
            name=name,
            domain=domain,
            needs=needs,
            requires=requires,
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
        )
        setattr(cls, SPEC, spec)
        return cls

    return declare


def host(
    id: str,
    *,
    name: str,
    kind: Literal["llm", "rag", "both"],
    extra: str = "",
    caches: bool = True,
    runs_user_code: bool = False,
) -> Callable[[T], T]:
    """Declare a class as a host of models; see `HostSpec` for the arguments."""

    def declare(cls: T) -> T:
        spec = HostSpec(
            id=id,
            name=name,
            kind=kind,
            extra=extra,
            caches=caches,
            description=summary_of(cls),
            runs_user_code=runs_user_code,
        )
        setattr(cls, SPEC, spec)
        return cls

    return declare


def parameters(cls: type) -> dict[str, Any]:
    """Options of an evaluator or host class: field name to default ("" where one must be given)."""
    from dataclasses import MISSING

    found: dict[str, Any] = {}
    for item in fields(cls):
        if item.name.startswith("_") or not item.init:
            continue
        if item.default is not MISSING:
            found[item.name] = item.default
        elif item.default_factory is not MISSING:
            found[item.name] = item.default_factory()
        else:
            found[item.name] = ""
    return found
