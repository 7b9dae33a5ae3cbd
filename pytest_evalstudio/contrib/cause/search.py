"""The search for the cause of one regression: a generator that asks for answers and gets their verdicts."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from pytest_evalstudio.contrib.cause.cases import (
    Candidates,
    RegressedCase,
    candidates_of,
    restoration_of,
    unsafe_tools,
)
from pytest_evalstudio.contrib.cause.repeats import (
    LEVEL,
    MAX_AS_IS,
    MIN_AS_IS_LEAD,
    MIN_LEAD,
    MIN_SURE_LEAD,
    Counts,
    Decision,
    as_is_decision,
    further,
    more_often_p,
    trial_decision,
)
from pytest_evalstudio.contrib.cause.replay import Ask, Reply
from pytest_evalstudio.core.flips import ConfirmationCode
from pytest_evalstudio.record.causes import CauseBasis, CauseCode, CausePart, Trial

Asking = Generator[Ask, Reply, Decision]
CASE_BUDGET_USED = "the calls of this case, `calls_per_case` of [cause], are used up"
UNFAITHFUL = (
    "its parts `retrieve` and `generate` pass with today's chunks, where the application fails; they do not"
    " do what it does"
)
MAX_SINGLES = 8
"""Candidates of which all sets are tried; of more, single ones and all together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """End of a search.

    Attributes:
        parts: smallest set of parts whose restoration makes the case pass.
        is_joint: whether all of them are needed together.
        reason: why nothing was tested, or was tested to its end; "" for none.
        candidates: parts that differ.
        trials: that were made.
        calls: of the application.
    """

    code: CauseCode
    basis: CauseBasis = CauseBasis.NONE
    parts: tuple[CausePart, ...] = ()
    is_joint: bool = False
    reason: str = ""
    candidates: Candidates = field(default_factory=Candidates)
    trials: tuple[Trial, ...] = ()
    calls: int = 0


def obstacle_of(case: RegressedCase) -> str:
    """Return why a case cannot be asked again, "" if it can."""
    task = case.item.task
    if task.answered:
        return "its answers are given in a file, and no model is asked"
    if task.case.plan is not None:
        return "it is a conversation, whose turns depend on each other"
    if (case.now.state is not None or case.now.session) and not task.model.confirm:
        return "the application keeps a state or session; `confirm = N` in its [[model]] allows it"
    if tools := unsafe_tools(case):
        names = ", ".join(f"`{name}`" for name in tools)
        return (
            f"a replay would call {names}; wrap the function with `recorded_tool`, or declare"
            f" [cause.tools.{tools[0]}] replay = true where it changes nothing"
        )
    return ""


class Search:
    """Search of one case.

    Args:
        case: that regressed.
    """

    def __init__(self, case: RegressedCase) -> None:
        self._case = case
        self._deterministic = case.application.deterministic
        self._candidates = candidates_of(case)
        self._trials: list[Trial] = []
        self._counts: dict[tuple[CausePart, ...], Counts] = {}
        self._calls = 0
        self._reason = ""

    def steps(self) -> Generator[Ask, Reply, Conclusion]:
        """Ask for answers, and return the cause."""
        confirmation = self._case.result.confirmation
        if confirmation is not None and confirmation.code is ConfirmationCode.NOT_CONFIRMED:
            self._trials.append(Trial(parts=(), passed=confirmation.passed, failed=confirmation.failed))
            return self._concluded(CauseCode.NOISE, CauseBasis.REPEATS)
        if self._is_decided_by_documents():
            return self._concluded(CauseCode.DOCUMENT, CauseBasis.FINGERPRINTS)
        self._reason = obstacle_of(self._case)
        if self._reason:
            return self._without_replay()
        as_is = yield from self._as_is()
        if as_is in ("passes", "undecided"):
            is_known_to_fail = self._deterministic or confirmation is not None
            if is_known_to_fail and not self._goes_the_same_way():
                self._reason = UNFAITHFUL
                return self._concluded(CauseCode.NOT_FOUND)
            return self._concluded(CauseCode.NOISE, CauseBasis.REPEATS)
        if self._reason:
            return self._without_replay()
        return (yield from self._tried())

    def _is_decided_by_documents(self) -> bool:
        """Return whether the documents are all that differs, by what the records know."""
        case = self._case
        return (
            case.same_commit
            and not (case.settings or case.other_model_served or case.trajectories.results)
            and case.then.context_sources == case.recorded_now.context_sources
            and bool(case.chunks and case.then.context_sources)
            and all(change.lost_in_documents == change.lost and change.lost for change in case.chunks)
        )

    def _tried(self) -> Generator[Ask, Reply, Conclusion]:
        parts = self._candidates.parts
        if not parts:
            return self._by_elimination()
        singles: list[CausePart] = []
        for part in parts:
            decision = yield from self._trial((part,))
            if decision == "passes":
                singles.append(part)
        if len(singles) > 1:  # one of them may have passed by chance
            singles = (yield from self._second_look(singles, pass_lead=MIN_SURE_LEAD)) or singles
        if len(singles) == 1:
            return self._concluded(self._code_of(singles[0]), CauseBasis.REPLAY, singles)
        if singles:
            return self._concluded(CauseCode.SEVERAL, CauseBasis.REPLAY, singles)
        # All of them together, with more failures than a part needs: each may have failed by chance.
        if (yield from self._trial(parts, fail_lead=MIN_SURE_LEAD)) != "passes":
            return self._by_elimination()
        if len(parts) == 1:
            return self._concluded(self._code_of(parts[0]), CauseBasis.REPLAY, parts)
        if passing := (yield from self._second_look(parts, fail_lead=MIN_SURE_LEAD)):
            return self._concluded(self._code_of(passing[0]), CauseBasis.REPLAY, passing[:1])
        for size in range(2, len(parts) if len(parts) <= MAX_SINGLES else 2):
            for subset in itertools.combinations(parts, size):
                if (yield from self._trial(subset)) == "passes":
                    return self._concluded(CauseCode.SEVERAL, CauseBasis.REPLAY, subset, is_joint=True)
        return self._concluded(CauseCode.SEVERAL, CauseBasis.REPLAY, parts, is_joint=True)

    def _code_of(self, part: CausePart) -> CauseCode:
        """Return the cause that a part means: other chunks may come from another document."""
        chunks = self._case.chunks
        if part.kind is CauseCode.RETRIEVAL and chunks and chunks[0].is_of_document:
            return CauseCode.DOCUMENT
        return part.kind

    def _second_look(
        self, parts: Sequence[CausePart], *, pass_lead: int = MIN_LEAD, fail_lead: int = MIN_LEAD
    ) -> Generator[Ask, Reply, list[CausePart]]:
        """Return which of some parts pass alone with more answers than were asked for at first."""
        passing: list[CausePart] = []
        for part in () if self._deterministic else parts:
            decision = yield from self._trial((part,), pass_lead=pass_lead, fail_lead=fail_lead)
            if decision == "passes":
                passing.append(part)
        return passing

    def _as_is(self) -> Asking:
        """Return whether the case fails as it is; answers of its confirmation count."""
        counts = Counts()
        confirmation = self._case.result.confirmation
        if self._goes_the_same_way():
            if confirmation is not None:
                # The first answer is the failure for which the case was chosen.
                counts = Counts(confirmation.passed, max(0, confirmation.failed - 1))
            elif self._deterministic:
                counts = Counts(0, 1)
        self._counts[()] = counts
        while (decision := as_is_decision(counts, deterministic=self._deterministic)) == "open":
            count = further(counts, MIN_AS_IS_LEAD, deterministic=self._deterministic)
            if not (yield from self._asked((), count)):
                break
            counts = self._counts[()]
        self._note(())
        return decision

    def _goes_the_same_way(self) -> bool:
        """Return whether ordinary answers say what a replay without restored parts would."""
        application = self._case.application
        return application.composes or "chunks" not in application.restores

    def _trial(
        self, parts: tuple[CausePart, ...], *, pass_lead: int = MIN_LEAD, fail_lead: int = MIN_LEAD
    ) -> Asking:
        """Return whether the case passes with some parts of the baseline."""
        level = LEVEL / len(self._candidates.parts)
        self._counts.setdefault(parts, Counts())
        while True:
            counts, as_is = self._counts[parts], self._counts[()]
            decision = trial_decision(
                counts,
                as_is,
                level,
                deterministic=self._deterministic,
                pass_lead=pass_lead,
                fail_lead=fail_lead,
            )
            if decision != "open":
                break
            if counts.passed - counts.failed >= pass_lead and as_is.total < min(MAX_AS_IS, counts.total + 1):
                has_answer = yield from self._asked((), 1)
            else:
                has_answer = yield from self._asked(
                    parts, further(counts, min(pass_lead, fail_lead), deterministic=self._deterministic)
                )
            if not has_answer:
                break
        self._note(parts)
        return decision

    def _asked(self, parts: tuple[CausePart, ...], count: int) -> Generator[Ask, Reply, bool]:
        """Ask for further answers; return False where there is none, and why not in the trial."""
        case = self._case
        remaining_calls = case.application.options.calls_per_case - self._calls
        if remaining_calls < count:
            self._reason = CASE_BUDGET_USED
            return False
        counts = self._counts[parts]
        reply = yield Ask(
            task=case.item.task,
            result=case.result,
            restoration=restoration_of(case, parts),
            first=counts.total + 1,
            count=count,
        )
        self._calls += reply.calls
        self._counts[parts] = counts.plus(list(reply.verdicts))
        self._reason = reply.reason
        return not reply.reason

    def _note(self, parts: tuple[CausePart, ...]) -> None:
        counts = self._counts[parts]
        trial = Trial(
            parts=parts,
            passed=counts.passed,
            failed=counts.failed,
            p=None if not parts or self._deterministic else more_often_p(counts, self._counts[()]),
            reason=self._reason,
        )
        positions = [index for index, each in enumerate(self._trials) if each.parts == parts]
        # A second look, and answers of the case as it is for later trials, replace what was noted before.
        if positions:
            self._trials[positions[0]] = trial
        else:
            self._trials.append(trial)

    def _by_elimination(self) -> Conclusion:
        """Return what is left where no restoration makes the case pass."""
        case = self._case
        basis = CauseBasis.ELIMINATION if self._candidates.parts else CauseBasis.FINGERPRINTS
        restored = [trial for trial in self._trials if trial.parts]
        self._reason = next((trial.reason for trial in restored if trial.reason), "")
        if self._reason or self._candidates.obstacles:
            has_answers = any(trial.passed + trial.failed for trial in restored)
            return self._concluded(CauseCode.NOT_FOUND if has_answers else CauseCode.NOT_TESTED)
        if case.trajectories.divergence is not None and case.now.tool_calls:
            return self._concluded(CauseCode.AGENT, basis)
        if case.other_model_served:
            return self._concluded(CauseCode.MODEL, basis)
        return self._concluded(CauseCode.NOT_FOUND)

    def _without_replay(self) -> Conclusion:
        """Return what the records alone say of a case that cannot be asked again."""
        case = self._case
        nothing_else = not (case.settings or case.other_chunks or case.other_model_served)
        trajectories = case.trajectories
        confirmation = case.result.confirmation
        is_no_chance = self._deterministic or (
            confirmation is not None and confirmation.code is ConfirmationCode.CONFIRMED
        )
        has_diverged = trajectories.divergence is not None and not trajectories.results
        if is_no_chance and nothing_else and has_diverged:
            return self._concluded(CauseCode.AGENT, CauseBasis.FINGERPRINTS)
        return self._concluded(CauseCode.NOT_TESTED)

    def _concluded(
        self,
        code: CauseCode,
        basis: CauseBasis = CauseBasis.NONE,
        parts: Sequence[CausePart] = (),
        *,
        is_joint: bool = False,
    ) -> Conclusion:
        if () in self._counts:
            self._note(())
        return Conclusion(
            code=code,
            basis=basis,
            parts=tuple(parts),
            is_joint=is_joint,
            reason=self._reason,
            candidates=self._candidates,
            trials=tuple(self._trials),
            calls=self._calls,
        )
