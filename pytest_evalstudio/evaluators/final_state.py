"""Final state: the state of the application after the answer against the state that the case expects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords, listed
from pytest_evalstudio.metrics.matching import ABSENT
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.state_changes import changed_pointers, is_covered, parsed, unmet_expectations

_VALUE_CHARS = 100


@evaluator(
    "final_state",
    name="Final state",
    domain="generation",
    needs=(),
    method=("rules",),
    keywords=keywords("S VR", "C O", "evaluation-method-rule-based", "evaluation-method-agents"),
)
@dataclass(frozen=True)
class FinalState:
    """The application is in the expected state after the answer or the conversation.

    The key `expected_state` of a test case maps JSON pointers (RFC 6901) to values or matchers. The host
    gives the state with the answer; without it, a case with the key is an error.

    `unexpected_changes` needs the state before the question, too. `ignore` lists patterns of pointers that
    may change, e.g. "/log/*". `forbid_changes` makes an unexpected change a failure.

    Source: comparison of data bases in τ-bench (Yao et al., 2024), stated by pointers.
    """

    decided_by_one_observation: ClassVar[bool] = True
    applies_without_text: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    expectations: ClassVar[tuple[str, ...]] = ("expected_state",)
    ignore: tuple[str, ...] = ()
    forbid_changes: bool = False
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "state_met",
            "Expected state met",
            threshold=1.0,
            primary=True,
            description="Met expectations divided by all; 0.0 where a forbidden change was made.",
        ),
        Metric(
            "unexpected_changes",
            "Unexpected changes",
            better="lower",
            range=(0.0, float("inf")),
            threshold=float("inf"),
            description="Values that changed and that no expectation is about.",
        ),
    )

    def not_applicable(self, case: Case) -> str:
        """Return the reason, "" where it applies."""
        return "" if case.expected_state else "no expected state"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        state = case.answer.state
        if state is None:
            fact = "the host gives no state of the application"
            return Outcome.error(f"{fact}; see the how-to on agents", OutcomeCode.INPUT_INVALID)
        try:
            after = parsed(state.after)
            before = None if state.before is None else parsed(state.before)
            unmet = unmet_expectations(after, case.expected_state)
        except ValueError:
            fact = "the state is not whole JSON; records cut states after 20,000 characters"
            return Outcome.error(
                f"{fact}, so it cannot be scored again; run the test again", OutcomeCode.INPUT_INVALID
            )
        except EvaluationError as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        # Without the state before, None: that nothing changed is not known.
        changes = None if state.before is None else self._unexpected(before, after, case)
        share = 1 - len(unmet) / len(case.expected_state)
        if self.forbid_changes and changes:
            share = 0.0
        reasons = [
            f"{one_line(pointer)} is {_shown(actual)}, expected {_shown(case.expected_state[pointer])}"
            for pointer, actual in unmet
        ]
        reasons += [f"{one_line(pointer) or 'the state'} changed" for pointer in changes or ()]
        count = None if changes is None else float(len(changes))
        return Outcome.score({"state_met": share, "unexpected_changes": count}, reason=listed(reasons))

    def _unexpected(self, before: Any, after: Any, case: Case) -> list[str]:
        return [
            pointer
            for pointer in changed_pointers(before, after)
            if not is_covered(pointer, case.expected_state)
            and not any(fnmatchcase(pointer, pattern) for pattern in self.ignore)
        ]


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "not there"
    return one_line(json.dumps(value, ensure_ascii=False, default=str), _VALUE_CHARS)
