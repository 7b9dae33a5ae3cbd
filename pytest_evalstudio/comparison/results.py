"""Types of a comparison of two runs; `as_json` gives the form that `evalstudio compare --json` prints."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct, field, json

ItemClass = Literal[
    "regressed", "fixed", "still_failing", "still_passing", "new", "gone", "error_now", "error_then"
]
ITEM_CLASSES: tuple[ItemClass, ...] = get_args(ItemClass)
Verdict = Literal["worse", "inconclusive", "not worse"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From the worst to the best."""
Part = Literal["case", "context", "documents", "model", "evaluator", "judge", "embedder"]
PARTS: tuple[Part, ...] = get_args(Part)


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
        return f"{self.run_id[:4]} ({self.created[:10]}{commit})"


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
        reason: of the new run's failure or error.
        base_answer, answer: of the first repeat of a regressed item, at most `MAX_ANSWER_CHARS` characters.
    """

    item_class: ItemClass = field(name="class")
    nodeid: str
    file: str
    key: str
    model: str
    flaky: bool = False
    scores: tuple[ScoreChange, ...] = ()
    reason: str = ""
    base_answer: str = ""
    answer: str = ""


class MetricComparison(Struct, frozen=True, kw_only=True):
    """A metric of one evaluator and model over the items that both runs scored.

    Attributes:
        n: pairs of items.
        base, new: means.
        difference: new less base, in the metric's own unit.
        low, high: 95 % interval of the difference; None for fewer than two original cases.
        p: one-sided, of the test that the metric is worse.
        p_adjusted: by Holm over the metrics that decide; p itself for the others.
        smallest_detectable: the drop that this number of cases shows with 80 % power; None where the scores
            do not vary.
        cases_needed: original cases that would settle an inconclusive verdict; None where that is not known.
        decides: whether the verdict counts for the run: the metric is primary or asserted.
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
    decides: bool = True


class OperationComparison(Struct, frozen=True, kw_only=True):
    """Seconds or US dollars per answer of one model in both runs; for information only."""

    quantity: Literal["duration_s", "cost_usd"]
    model: str
    n: int
    base: float
    new: float
    difference: float
    low: float | None
    high: float | None


class Comparison(Struct, frozen=True, kw_only=True):
    """All that a comparison says.

    Attributes:
        verdict: the worst one of the metrics that decide.
        items: number of items of each class.
        not_run: items that the budget of a model left out in either run; they have no class.
        metrics: by evaluator, metric and model.
        changed: what else differs between the runs.
        changed_cases: keys of the matched items whose question or expectation differs.
        changed_contexts: keys of the matched answers of tables whose context differs.
        changed_documents: names of the documents whose content differs.
        document_cases: keys of the items that use such a document.
        measure: today's evaluators on the base run's answers, against its stored scores; the drift of the
            measure. Empty without rescoring.
        model: the new run against the base run's answers, both scored by today's evaluators. Empty without
            rescoring.
        changes: items by class, regressed ones first.
        notes: sentences for people.
    """

    verdict: Verdict
    base: RunLabel
    new: RunLabel
    items: dict[ItemClass, int]
    metrics: tuple[MetricComparison, ...]
    not_run: int = 0
    operations: tuple[OperationComparison, ...] = ()
    changed: tuple[Part, ...] = ()
    changed_cases: tuple[str, ...] = ()
    changed_contexts: tuple[str, ...] = ()
    changed_documents: tuple[str, ...] = ()
    document_cases: tuple[str, ...] = ()
    measure: tuple[MetricComparison, ...] = ()
    model: tuple[MetricComparison, ...] = ()
    changes: tuple[ItemChange, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_worse(self) -> bool:
        """Return True if a metric is worse or an item regressed."""
        return self.verdict == "worse" or self.items["regressed"] > 0


def as_json(comparison: Comparison) -> str:
    """Return the comparison as JSON, indented."""
    return json.format(json.encode(comparison), indent=2).decode()
