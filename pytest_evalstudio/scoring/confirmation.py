"""The confirmation of a regression in words."""

from __future__ import annotations

from pytest_evalstudio.core.flips import Confirmation, ConfirmationCode
from pytest_evalstudio.stats.confirmation import FAMILY_LEVEL
from pytest_evalstudio.text.figures import counted


def confirmation_sentence(confirmation: Confirmation) -> str:
    """Return the end of a confirmation in words."""
    count = f"{confirmation.failed} of {confirmation.passed + confirmation.failed} repeats fail"
    scope = f" for {', '.join(confirmation.evaluators)}" if confirmation.evaluators else ""
    if confirmation.baseline_runs:
        failed = confirmation.baseline_runs - confirmation.baseline_passed
        earlier = f"{failed} of {confirmation.baseline_runs} in the baseline"
        level = f"level {FAMILY_LEVEL:g} for {counted(confirmation.cases, 'case')}"
        count += f", {earlier} (exact two-sample test, {level})"
    match confirmation.code:
        case ConfirmationCode.CONFIRMED if confirmation.reason:
            return f"confirmed{scope}: {count}; {confirmation.reason}"
        case ConfirmationCode.CONFIRMED:
            return f"confirmed{scope}: {count}"
        case ConfirmationCode.NOT_CONFIRMED:
            flaky = "the case is flaky" if not confirmation.evaluators else "it fails as in the baseline"
            return f"not confirmed{scope}: {count}; {flaky}"
        case ConfirmationCode.INTERRUPTED:
            return f"could not be confirmed{scope}: {count}, then {confirmation.reason}"
