"""Results of judge-check: JSON that `evaluator.ID.judge_check` of a configuration names."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.marked_files import load_marked

MARK = "evalstudio_judge_check"
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Bounds = tuple[Share, Share]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class QuestionCounts(_Part):
    """Verdicts on the labelled answers to one question.

    Attributes:
        good, bad: number of answers with this label and a verdict.
        good_passed, bad_passed: number of those among them that pass.
    """

    good: Count = 0
    good_passed: Count = 0
    bad: Count = 0
    bad_passed: Count = 0

    @model_validator(mode="after")
    def _parts_of_the_whole(self) -> QuestionCounts:
        if self.good_passed > self.good or self.bad_passed > self.bad:
            raise ValueError("the number of answers that pass is larger than the number of answers")
        return self


class PrecisionRecall(_Part):
    """Verdicts on good answers, or on bad ones.

    Attributes:
        precision: share of the verdicts of this kind that agree with the label; None without a verdict.
        recall: share of the answers with this label that get this verdict; None without such a label.
        precision_interval, recall_interval: 95 %, clustered by question.
    """

    precision: Share | None = None
    precision_interval: Bounds | None = None
    recall: Share | None = None
    recall_interval: Bounds | None = None


class Flips(_Part):
    """Verdicts that change under a probe.

    Attributes:
        compared: answers with a verdict in all rounds.
        flipped: those whose verdict differs in a round.
        to_pass, to_fail: direction of the first difference.
        rate: share that flips; None where nothing was compared.
        interval: of the rate, 95 %, clustered by question.
    """

    compared: Count = 0
    flipped: Count = 0
    to_pass: Count = 0
    to_fail: Count = 0
    rate: Share | None = None
    interval: Bounds | None = None


class CauseCode(StrEnum):
    """Cause of a low agreement with people."""

    OPTION_ORDER = "option_order"
    CHUNK_ORDER = "chunk_order"
    PADDING = "padding"
    NOISE = "noise"
    LENIENT = "lenient"
    STRICT = "strict"
    NO_VERDICT = "no_verdict"
    CRITERIA = "criteria"


class Cause(_Part):
    """Cause of a low agreement, as far as the probes show it.

    Attributes:
        explained: disagreements with people that it concerns.
        disagreements: all of them.
        text: for people.
    """

    code: CauseCode
    explained: Count = 0
    disagreements: Count = 0
    text: str


class JudgeCheck(_Part):
    """Figures of a judge on labelled answers.

    Attributes:
        evaluator, type: id in the configuration, and that of its kind.
        judge: models, vote and versions of the prompts, as records describe them.
        parameters: options of the evaluator.
        threshold: from which on an answer passes.
        created: ISO 8601.
        kappa_interval: 95 %, clustered by question.
        weighted_kappa: agreement of the judge's grades with people's, with quadratic weights; None where the
            labels are good and bad.
        weighted_kappa_interval: 95 %, clustered by question.
        questions: verdicts by question, from which errors and their intervals are computed.
    """

    evalstudio_judge_check: Literal[1] = 1
    evaluator: str
    type: str
    judge: dict[str, Any]
    parameters: dict[str, Any] = Field(default_factory=dict)
    threshold: float
    created: str
    labels: Count
    answers: Count
    verdicts: Count
    agreement: Share | None = None
    agreement_interval: Bounds | None = None
    kappa: float | None = None
    kappa_interval: tuple[float, float] | None = None
    weighted_kappa: float | None = None
    weighted_kappa_interval: tuple[float, float] | None = None
    good: PrecisionRecall = Field(default_factory=PrecisionRecall)
    bad: PrecisionRecall = Field(default_factory=PrecisionRecall)
    flips: dict[str, Flips] = Field(default_factory=dict)
    causes: list[Cause] = Field(default_factory=list)
    questions: list[QuestionCounts] = Field(default_factory=list)
    parse_failures: Count = 0
    parse_failure_rate: Share | None = None
    contradictions: Count = 0
    repair_rate: Share | None = None
    errors: Count = 0
    not_applicable: Count = 0
    calls_per_verdict: float | None = None
    input_tokens_per_verdict: float | None = None
    output_tokens_per_verdict: float | None = None
    cost_usd_per_verdict: float | None = None
    faults: list[str] = Field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the file."""
        content = json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=True)
        write_whole(path, (content + "\n").encode())


def load_judge_check(path: Path) -> JudgeCheck:
    """Read a result of judge-check.

    Raises:
        ConfigurationError: with the file and its fault.
    """
    other_kind = "is no result of judge-check; write one with `evalstudio judge-check … -o FILE`"
    return load_marked(path, JudgeCheck, MARK, other_kind)
