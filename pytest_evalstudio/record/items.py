"""Types of an item of a run's record: rows, outcomes, verdicts and flips of a test case and model."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from pytest_evalstudio.core.cases import Answer, CaseData
from pytest_evalstudio.core.flips import Confirmation, Flip
from pytest_evalstudio.core.outcomes import Outcome, Verdict

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object with foreign keys: options of an evaluator, settings of a host, details of
an outcome.
"""
VerdictWord = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed", "not_run"]
"""`not_run`: the model was not asked, since its budget was used up or its service refused access."""
VERDICTS: tuple[VerdictWord, ...] = ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "not_run")


class RecordRow(CaseData, frozen=True, kw_only=True, omit_defaults=True):
    """Answer of a model to a question: one repeat of an item.

    Attributes:
        judge: "last" where the last turn of a conversation alone decides.
        plan: digest of the conversation that the case plans: turns, simulated user and expectations; "" for a
            single question.
        outcomes: evaluator id to its outcome.
    """

    answer: Answer = Answer()
    judge: str = ""
    plan: str = ""
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    def expected_by(self, evaluator: str) -> str:
        """Return the accepted answer that an evaluator's score is of; the first where it is of none alone."""
        outcome = self.outcomes.get(evaluator)
        if outcome is None or not 1 < outcome.accepted_output <= 1 + len(self.accepted_outputs):
            return self.expected_output
        return self.accepted_outputs[outcome.accepted_output - 2]


class Perturbation(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Origin of a perturbed item.

    Attributes:
        by: perturbators with their intensities, in order.
        compared: evaluators that compared it with an original that is not part of the run.
    """

    by: tuple[str, ...]
    meaning_kept: bool
    compared: tuple[str, ...] = ()


class Attempt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An attempt at an item that was run again.

    Attributes:
        duration_s: seconds.
        reason: headline of a failed or broken attempt.
        answers: the model's answers, one per repeat; none where the item was not evaluated.
        verdicts: by evaluator id.
    """

    verdict: VerdictWord
    duration_s: float
    reason: str = ""
    answers: tuple[str, ...] = ()
    verdicts: dict[str, Verdict] = {}


class CaseDigest(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Short hashes of what a test case asks and expects, and of the rules that judge it.

    Attributes:
        parts: name of a part, e.g. "question" or "condition", to its hash; parts that a case has not are left
            out. The texts are masked, so that no secret can be guessed from a hash.
        thresholds: evaluator id to the hash of the thresholds that decide.
        options: evaluator id to the hash of the options that are not the defaults.
    """

    parts: dict[str, str] = {}
    thresholds: dict[str, str] = {}
    options: dict[str, str] = {}


class ItemHead(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Properties of an item that do not come from its evaluation.

    Attributes:
        index: place in the run, from 0.
        part: number of the check within its test; 0 for others.
        duration_s: seconds that pytest reports.
        file: path of the file, as in the node id.
        key: of the test case.
        code: what ended an item that has no outcome, e.g. "worker_crashed", or fails one whatever its
            evaluators say, e.g. "answer_empty"; "" for others. See `core.codes.ItemCode`.
        reason: headline of a failed or broken item.
        attempts: earlier attempts, where a plugin has run the item again.
    """

    index: int
    nodeid: str
    verdict: VerdictWord
    duration_s: float
    part: int = 0
    file: str
    key: str
    test_key: str
    model_key: str
    code: str = ""
    reason: str
    xfail: str = ""
    attempts: tuple[Attempt, ...] = ()


class Item(ItemHead, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", tag="item"):
    """Item: one test case for one model, or one check of a test written in Python.

    Attributes:
        rows: one per repeat; none where the item was not evaluated.
        perturbed: None for an original.
        flaky: whether it passed after an attempt that did not, or its regression was not confirmed.
        confirmation: of a regressed item that was asked again; None for others.
        max_runs: repeats that a sequential test could have asked for; 0 without a test.
        unread: keys of expectations of the test case that no evaluator has compared the answer with.
        unchecked: whether nothing has checked that the answer is right.
        segments: values of the case's metadata by the names that the configuration gives, for comparisons.
        digest: of the test case; None where the item was not evaluated.
    """

    rows: tuple[RecordRow, ...]
    verdicts: dict[str, Verdict]
    flips: tuple[Flip, ...]
    perturbed: Perturbation | None = None
    flaky: bool = False
    confirmation: Confirmation | None = None
    max_runs: int = 0
    unread: tuple[str, ...] = ()
    unchecked: bool = False
    segments: dict[str, tuple[str, ...]] = field(default_factory=dict)
    digest: CaseDigest | None = None

    @property
    def identity(self) -> str:
        """Unique identity of the item in its run."""
        return f"{self.nodeid}#{self.part}"
