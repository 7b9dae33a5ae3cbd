"""Types of a comparison of two runs; `as_json` gives the form that `evalstudio compare --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, field, json

from pytest_evalstudio.core.text import short_key

ItemClass = Literal[
    "regressed",
    "fixed",
    "still_failing",
    "still_passing",
    "new",
    "gone",
    "error_now",
    "error_then",
    "still_error",
    "test_changed",
]
ITEM_CLASSES: tuple[ItemClass, ...] = get_args(ItemClass)
Verdict = Literal["worse", "inconclusive", "not worse"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From the worst to the best."""
FailReason = Literal["case", "mean", "gone", "unchecked", "inconclusive", "uncompared"]
MAX_PROMPT_CHARS = 20_000
"""Characters of a prompt's template that a comparison keeps."""
Part = Literal[
    "case",
    "images or files",
    "answer",
    "context",
    "context order",
    "tool calls",
    "tokens",
    "cost",
    "documents",
    "prompt",
    "model",
    "evaluator",
    "judge",
    "embedder",
]
PARTS: tuple[Part, ...] = get_args(Part)
Quantity = Literal["answer_chars", "tool_calls", "tokens", "cached_share", "duration_s", "cost_usd"]
QUANTITIES: tuple[Quantity, ...] = get_args(Quantity)


ToolKind = Literal["new", "gone", "changed"]


class Notable(Struct, frozen=True):
    """Smallest change of a quantity that is told: both conditions hold.

    Attributes:
        share: of the base mean.
        amount: in the quantity's own unit.
    """

    share: float
    amount: float


NOTABLE: Mapping[Quantity, Notable] = {
    "duration_s": Notable(0.5, 0.1),
    "tokens": Notable(0.1, 10.0),
    "cost_usd": Notable(0.1, 0.0),
    "tool_calls": Notable(0.1, 0.1),
    "cached_share": Notable(0.1, 0.1),
}
"""Quantities that are tested. Seconds vary with the load of a service: half as much again is needed."""


class RunLabel(Struct, frozen=True, kw_only=True):
    """The run on one side of a comparison.

    Attributes:
        run_id: of the record.
        created: ISO 8601, UTC.
        commit: of the tested project, "" where it is not known.
        items: number of items.
        has_answers: False for a baseline that was saved without texts.
        model: set where two models of one run are compared.
    """

    run_id: str
    created: str
    commit: str
    items: int
    has_answers: bool
    model: str = ""

    def __str__(self) -> str:
        if self.model:
            return f"{self.model} of run {self.run_id[:4]}"
        commit = f", commit {self.commit[:7]}" if self.commit else ""
        return f"run {self.run_id[:4]} ({self.created[:10]}{commit})"


class ScoreChange(Struct, frozen=True, kw_only=True):
    """The score of a metric of one item in both runs, None where it was not scored."""

    evaluator: str
    metric: str
    base: float | None
    new: float | None


class ItemChange(Struct, frozen=True, kw_only=True):
    """An item whose class is not `still_passing`.

    Attributes:
        nodeid: in the new run, in the base run for an item that is gone.
        flaky: whether the repeats or attempts of the base run did not agree.
        scores: metrics that decide the item and have different scores.
        question: its beginning on one line, "" where it is not known.
        reason: of the new run's failure or error.
        base_answer, answer: of the first repeat of a regressed item, at most `MAX_ANSWER_CHARS` characters.
        base_calls, calls: of tools in the same answers, where they differ.
    """

    item_class: ItemClass = field(name="class")
    nodeid: str
    file: str
    key: str
    model: str
    flaky: bool = False
    scores: tuple[ScoreChange, ...] = ()
    question: str = ""
    reason: str = ""
    base_answer: str = ""
    answer: str = ""
    base_calls: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return the question, else the node id, which names the item for readers."""
        return self.question or self.nodeid

    @property
    def label(self) -> str:
        """Return the title with its source on one line."""
        return f"{self.question} ({self.source})" if self.question else self.nodeid

    @property
    def source(self) -> str:
        """Return the model and the key of the item, which tell equal questions apart."""
        return f"{self.model}, {short_key(self.key)}" if self.model else short_key(self.key)


class MetricComparison(Struct, frozen=True, kw_only=True):
    """A metric of one evaluator and model over the items that both runs scored.

    Attributes:
        n: pairs of items.
        changed: pairs whose scores differ; None where answers are not paired.
        base, new: means.
        difference: new less base, in the metric's own unit.
        low, high: 95 % interval of the difference, which belongs to the test: it excludes 0 where a drop is
            proven (an end of 0 is then not a part of it). None where the metric has no range and no scores
            but 0.
        p: one-sided, of the test that the metric is worse.
        p_adjusted: by Holm over the metrics that decide; p itself for the others.
        smallest_detectable: the drop that this number of cases shows with 80 % power; None where there are
            too few cases for any, or the scores do not vary.
        cases_needed: original cases that would settle an inconclusive verdict; None where that is not known.
        new_errors: items with a score in the base run that are errors in the new one.
        unchecked: answered items with a score in the base run that have none in the new one.
        decides: whether the verdict counts for the run: the metric is primary or asserted.
        better: direction of the metric.
        unit: size of the metric's range, or its base mean where the range is not finite.
    """

    evaluator: str
    metric: str
    model: str
    n: int
    base: float
    new: float
    difference: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float
    smallest_detectable: float | None
    verdict: Verdict
    cases_needed: int | None = None
    new_errors: int = 0
    unchecked: int = 0
    decides: bool = True
    changed: int | None = None
    better: Literal["higher", "lower"] = "higher"
    unit: float = 1.0

    @property
    def max_drop(self) -> float | None:
        """Return the largest drop that the interval contains, None without an interval."""
        if self.low is None or self.high is None:
            return None
        return max(0.0, -self.low if self.better == "higher" else self.high)


class OperationComparison(Struct, frozen=True, kw_only=True):
    """Characters, calls, tokens, share of cached ones, seconds or US dollars per answer of one model.

    Attributes:
        n: matched items for which both runs have the quantity.
        changed: those of them for which it differs.
        base, new: means.
        low, high: 95 % interval of the difference; None for fewer than two cases.
        p_adjusted: two-sided, of the paired test, by Holm over the tested quantities; None for others.
        is_notable: whether the change is more than chance, and large enough to be told; see `NOTABLE`.
        key: of the case that changed most in this direction.
    """

    quantity: Quantity
    model: str
    n: int
    changed: int
    base: float
    new: float
    difference: float
    low: float | None
    high: float | None
    p_adjusted: float | None = None
    is_notable: bool = False
    key: str = ""


class ToolChange(Struct, frozen=True, kw_only=True):
    """Calls of a tool that differ in cases which pass in both runs.

    Attributes:
        kind: "new", "gone", or "changed" for other arguments.
        keys: of the cases.
    """

    kind: ToolKind
    tool: str
    model: str
    keys: tuple[str, ...]


class ChangedItems(Struct, frozen=True, kw_only=True):
    """Matched items of which something differs, whatever their outcome.

    Attributes:
        compared: matched items of which both runs have it.
        changed: those of them that differ.
        keys: of their test cases.
    """

    compared: int = 0
    changed: int = 0
    keys: tuple[str, ...] = ()


class ChangedTest(Struct, frozen=True, kw_only=True):
    """A test case that is not the same in both runs, so that its results are not compared.

    Attributes:
        parts: what differs, e.g. "condition" or "thresholds of rouge".
        question: its beginning in the new run, "" where it is not known.
    """

    file: str
    key: str
    model: str
    nodeid: str
    parts: tuple[str, ...]
    question: str = ""

    @property
    def label(self) -> str:
        """Return key and model."""
        return f"{short_key(self.key)} of {self.model}" if self.model else short_key(self.key)


class SegmentComparison(Struct, frozen=True, kw_only=True):
    """Group of cases of one model: a suite, category, or value of metadata that the configuration names.

    Attributes:
        names: of the segment; several where they have the same cases.
        n: matched items.
        regressed, fixed: items that pass in the base run alone, and in the new run alone.
        p: one-sided, of the sign-flip test that more regressed than got fixed.
        p_adjusted: for all segments, by step-down permutation.
        is_worse: whether the adjusted p is at most the level.
        keys: of the regressed cases.
    """

    names: tuple[str, ...]
    model: str
    n: int
    regressed: int
    fixed: int
    p: float
    p_adjusted: float
    is_worse: bool
    keys: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the names as one text."""
        return " = ".join(self.names)


class UncheckedMetric(Struct, frozen=True, kw_only=True):
    """A metric that decides and no longer has a score for some answered cases, though it is still selected.

    Attributes:
        keys: of the cases.
    """

    evaluator: str
    metric: str
    model: str
    keys: tuple[str, ...]


class PromptChange(Struct, frozen=True, kw_only=True):
    """Template of a model's prompt that differs between the runs; "" for a model without one.

    Attributes:
        base_file, file: as the configuration names them.
        base, new: texts, at most `MAX_PROMPT_CHARS` characters of each.
    """

    model: str
    base_file: str
    file: str
    base: str
    new: str

    @property
    def files(self) -> str:
        """Return the files, one name where they are the same."""
        names = [self.base_file or "none", self.file or "none"]
        return names[0] if names[0] == names[1] else " -> ".join(names)


class MovedThreshold(Struct, frozen=True, kw_only=True):
    """A threshold that differs between the runs.

    Attributes:
        metric: "evaluator.metric".
        base, new: thresholds.
    """

    metric: str
    base: float
    new: float

    def __str__(self) -> str:
        return f"threshold of {self.metric} {self.base:g} -> {self.new:g}"


_MAX_EVIDENCE = 1_000
"""Evidence that is shown as a number; it grows exponentially."""


class LookBudget(Struct, frozen=True, kw_only=True):
    """Error budget of all runs that were compared with one baseline.

    Attributes:
        look: number of this run among them, from 1.
        spent: share of the budget that they have used.
        evidence: largest one that a metric dropped, divided by the number of metrics.
        needed: evidence from which on a metric is worse.
    """

    look: int
    spent: float
    evidence: float
    needed: float

    @property
    def sentence(self) -> str:
        """Return the budget in one line.

        >>> LookBudget(look=12, spent=12 / 13, evidence=1.71, needed=20.0).sentence
        'look 12 at this baseline: 92 % of the error budget is spent, evidence of a drop 1.7 of 20'
        >>> LookBudget(look=1, spent=0.5, evidence=35_000.0, needed=20.0).sentence
        'look 1 at this baseline: 50 % of the error budget is spent, evidence of a drop over 1,000 of 20'
        """
        spent = f"{self.spent:.0%}".replace("%", " %")
        evidence = f"{self.evidence:.2g}" if self.evidence < _MAX_EVIDENCE else f"over {_MAX_EVIDENCE:,}"
        return (
            f"look {self.look} at this baseline: {spent} of the error budget is spent, evidence of a drop"
            f" {evidence} of {self.needed:g}"
        )


class NextStep(NamedTuple):
    """Command that follows a comparison, and when it is right: "if …"."""

    command: str
    condition: str


class Comparison(Struct, frozen=True, kw_only=True):
    """All that a comparison says.

    Attributes:
        verdict: the worst one of the metrics that decide.
        items: number of items of each class.
        matched: items that both runs evaluated.
        models: number of models that these items have.
        not_run: items that the budget of a model left out in either run; they have no class.
        metrics: by evaluator, metric and model.
        shared_evaluators: number of evaluators that both runs have.
        operations: by model and quantity.
        changed: what differs between the runs, scores and durations apart.
        answers: matched items with another answer.
        contexts: matched items with other chunks in their context; in tables, in another order as well.
        context_order: matched items with the same chunks in another order.
        calls: matched items whose called tools or arguments differ, of those that call any.
        tools: calls that differ although the cases pass in both runs; new tools first.
        changed_tests: items whose test case or rules differ; they count for no verdict.
        segments: tested groups of cases, the most likely drop first.
        unchecked: metrics that no longer check cases which they checked in the base run.
        knows_tests: whether both runs have digests of their test cases.
        changed_cases: keys of the matched items whose question or expectation differs, where a run has no
            digests of its test cases.
        changed_attachments: keys of the matched items whose images or files differ, likewise.
        changed_documents: names of the documents whose content differs.
        document_cases: keys of the items that use such a document.
        measure: today's evaluators on the base run's answers, against its stored scores; the drift of the
            measure. Empty without rescoring.
        model: the new run against the base run's answers, both scored by today's evaluators. Empty without
            rescoring.
        prompts: templates of prompts that differ, by model.
        changes: items by class, regressed ones first.
        renamed_files: path of a file in the base run to its path in the new run.
        dropped_evaluators: ids of evaluators of the base run that the new run has not got.
        moved_thresholds: thresholds that differ, of metrics that decide.
        notes: sentences for people.
        budget: of all looks at the baseline; None where each run has its own.
        fail_reasons: those for which the comparison fails the session of the new run.
    """

    verdict: Verdict
    base: RunLabel
    new: RunLabel
    items: dict[ItemClass, int]
    matched: int = 0
    models: int = 1
    metrics: tuple[MetricComparison, ...]
    shared_evaluators: int = 1
    not_run: int = 0
    operations: tuple[OperationComparison, ...] = ()
    changed: tuple[Part, ...] = ()
    answers: ChangedItems = ChangedItems()
    contexts: ChangedItems = ChangedItems()
    context_order: ChangedItems = ChangedItems()
    calls: ChangedItems = ChangedItems()
    tools: tuple[ToolChange, ...] = ()
    changed_tests: tuple[ChangedTest, ...] = ()
    segments: tuple[SegmentComparison, ...] = ()
    unchecked: tuple[UncheckedMetric, ...] = ()
    knows_tests: bool = True
    changed_cases: tuple[str, ...] = ()
    changed_attachments: tuple[str, ...] = ()
    changed_documents: tuple[str, ...] = ()
    document_cases: tuple[str, ...] = ()
    measure: tuple[MetricComparison, ...] = ()
    model: tuple[MetricComparison, ...] = ()
    prompts: tuple[PromptChange, ...] = ()
    changes: tuple[ItemChange, ...] = ()
    renamed_files: dict[str, str] = {}
    dropped_evaluators: tuple[str, ...] = ()
    moved_thresholds: tuple[MovedThreshold, ...] = ()
    notes: tuple[str, ...] = ()
    budget: LookBudget | None = None
    fail_reasons: tuple[FailReason, ...] = ()

    @property
    def new_failures(self) -> int:
        """Return the number of regressed items that are not known to be flaky."""
        return sum(change.item_class == "regressed" and not change.flaky for change in self.changes)

    @property
    def unchecked_cases(self) -> int:
        """Return the number of cases of a model that a metric no longer checks."""
        return len({(each.model, key) for each in self.unchecked for key in each.keys})

    @property
    def why_no_metric(self) -> str:
        """Return why no metric decides, "" where one does."""
        if any(metric.decides for metric in self.metrics):
            return ""
        if self.is_uncompared:
            return "every test changed"
        if self.unchecked:
            return "what decided before has no score any more"
        if not self.shared_evaluators:
            return "the runs have no evaluator in common"
        return "no primary or asserted metric has a score in both runs"

    @property
    def is_uncompared(self) -> bool:
        """Return True if no case was compared, since the tests of all of them changed."""
        return not self.matched and bool(self.changed_tests)

    @property
    def next_step(self) -> NextStep | None:
        """Return the command that accepts what changed; None where no case regressed or stayed uncompared."""
        if self.is_uncompared:
            return NextStep("evalstudio baseline accept --changed", "if the tests were to change")
        if self.items["regressed"]:
            return NextStep("evalstudio baseline accept", "if the change is intended")
        return None

    @property
    def is_worse(self) -> bool:
        """Return True if a metric is worse or an item regressed."""
        return self.verdict == "worse" or self.items["regressed"] > 0


def as_json(comparison: Comparison) -> str:
    """Return the comparison as JSON, indented."""
    return json.format(json.encode(comparison), indent=2).decode()
