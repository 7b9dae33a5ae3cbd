"""The confirmation of a regression, by asking the case again."""

from __future__ import annotations

import enum

from msgspec import Struct

from pytest_evalstudio.stats.confirmation import FAMILY_LEVEL
from pytest_evalstudio.text.figures import counted


class ConfirmationCode(enum.StrEnum):
    """End of the confirmation of a regression.

    Attributes:
        CONFIRMED: the test finds the case worse than unchanged cases are.
        NOT_CONFIRMED: it does not; the case passes and is flaky.
        INTERRUPTED: a repeat has no verdict, since the model or an evaluator failed or a budget is used up,
            or the repeats end, and the baseline has too few to tell. The case fails.
    """

    CONFIRMED = "confirmed"
    NOT_CONFIRMED = "not_confirmed"
    INTERRUPTED = "interrupted"


class ConfirmationResult(Struct, frozen=True, kw_only=True):
    """Result of asking a regressed case again.

    Attributes:
        passed: repeats that pass.
        failed: repeats that fail, those of the run itself included.
        cases: cases of the run that could regress, by which the level follows.
        baseline_passed, baseline_runs: attempts of the baseline; 0 where it has one answer of the case.
        reason: of an interruption, or of a confirmation by one repeat.
        evaluators: those that the repeats were judged by, of a case that failed by others in the baseline
            already; () where all of them were.
    """

    code: ConfirmationCode
    passed: int
    failed: int
    cases: int
    baseline_passed: int = 0
    baseline_runs: int = 0
    reason: str = ""
    evaluators: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the result in words."""
        count = f"{self.failed} of {self.passed + self.failed} repeats fail"
        scope = f" for {', '.join(self.evaluators)}" if self.evaluators else ""
        if self.baseline_runs:
            earlier = f"{self.baseline_runs - self.baseline_passed} of {self.baseline_runs} in the baseline"
            level = f"level {FAMILY_LEVEL:g} for {counted(self.cases, 'case')}"
            count += f", {earlier} (exact two-sample test, {level})"
        match self.code:
            case ConfirmationCode.CONFIRMED if self.reason:
                return f"confirmed{scope}: {count}; {self.reason}"
            case ConfirmationCode.CONFIRMED:
                return f"confirmed{scope}: {count}"
            case ConfirmationCode.NOT_CONFIRMED:
                flaky = "the case is flaky" if not self.evaluators else "it fails as in the baseline"
                return f"not confirmed{scope}: {count}; {flaky}"
            case ConfirmationCode.INTERRUPTED:
                return f"could not be confirmed{scope}: {count}, then {self.reason}"
