"""Findings of a verification, and the verdict that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct

FindingKind = Literal["failure", "weakness", "change", "trust"]
"""`failure`: the verdict does not stand. `weakness`: something is checked less strictly than in the protected
revision, or the answers may not be those of the application. `change`: neither. `trust`: not verified.
"""


class FindingCode(StrEnum):
    """Stable codes of findings; texts may change at any time."""

    # failures
    CASE_NOT_RUN = "case_not_run"
    QUESTION_EDITED = "question_edited"
    CASE_FAILS = "case_fails"
    CASE_ERROR = "case_error"
    RUN_FAILED = "run_failed"
    RUN_UNFINISHED = "run_unfinished"
    RECORD_MISSING = "record_missing"
    CLAIMED_FAILURE = "claimed_failure"
    ASKED_FAILS = "asked_fails"
    BASE_NOT_COLLECTED = "base_not_collected"

    # weaknesses and changes
    EXPECTATION = "expectation"
    EVALUATOR_DROPPED = "evaluator_dropped"
    EVALUATOR_ADDED = "evaluator_added"
    EVALUATOR_REPLACED = "evaluator_replaced"
    EVALUATOR_OPTION = "evaluator_option"
    THRESHOLD = "threshold"
    JUDGE = "judge"
    XFAIL_ADDED = "xfail_added"
    FEWER_REPEATS = "fewer_repeats"
    OVERRULED = "overruled"
    GATE = "gate"
    CONFIGURATION = "configuration"
    APPLICATION_REPLACED = "application_replaced"
    APPLICATION_SETTING = "application_setting"
    TEST_CODE = "test_code"
    START_UP_CODE = "start_up_code"
    SEARCH_PATH = "search_path"
    STORED_ANSWER = "stored_answer"
    CANNOT_ASK = "cannot_ask"
    CASE_RENAMED = "case_renamed"
    CASE_ADDED = "case_added"
    KNOWN_FAILURE = "known_failure"
    FILE = "file"

    # taken on trust
    ANSWERS = "answers"
    JUDGE_VERDICTS = "judge_verdicts"
    MASKED_TEXTS = "masked_texts"
    PYTHON_TESTS = "python_tests"
    GATES = "gates"
    COMMIT = "commit"


ANSWER_DOUBTS = frozenset(
    {
        FindingCode.APPLICATION_REPLACED,
        FindingCode.TEST_CODE,
        FindingCode.START_UP_CODE,
        FindingCode.SEARCH_PATH,
        FindingCode.STORED_ANSWER,
    }
)
"""Weaknesses that only say that the answers may be false: asking the application itself settles them."""
Verdict = Literal["verified", "weakened", "not_verified"]


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Finding with its place.

    Attributes:
        place: file, case or name; "" for the run as a whole.
        text: for people, without the place.
        cases: number of cases that it is about, 0 where it is about none.
    """

    kind: FindingKind
    code: FindingCode
    place: str
    text: str
    cases: int = 0

    @property
    def line(self) -> str:
        """Return place and text on one line."""
        return f"{self.place}: {self.text}" if self.place else self.text


class VerifiedFigures(Struct, frozen=True, kw_only=True):
    """Figures of a verified run, as its attestation states them too.

    Attributes:
        base, head: commits; head is "" for the working tree.
        suites: path to SHA-256 of the protected suites.
        passed: cases of the protected revision that pass under its rules.
        total: cases that it would have run.
        asked: cases that the application was asked about again.
    """

    base: str
    head: str
    suites: dict[str, str]
    passed: int
    total: int
    asked: int
    findings: tuple[Finding, ...]


class Verification(VerifiedFigures, frozen=True, kw_only=True):
    """Result of the verification of a run.

    Attributes:
        record: SHA-256 of the record, "" without one.
    """

    record: str

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """Return the findings of a kind."""
        return tuple(each for each in self.findings if each.kind == kind)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict: only "verified" is exit status 0."""
        if self.of_kind("failure") or not self.total:
            return "not_verified"
        return "weakened" if self.of_kind("weakness") else "verified"


def grouped(findings: Sequence[Finding]) -> list[Finding]:
    """Return findings with those of equal text joined: the first place, and the number of cases."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.kind, each.code, each.text), []).append(each)
    joined = []
    for group in groups.values():
        first = group[0]
        if len(group) > 1:
            names = ", ".join(each.place for each in group[:PLACES_SHOWN])
            rest = len(group) - PLACES_SHOWN
            place = f"{names} and {rest:,} more" if rest > 0 else names
            first = Finding(kind=first.kind, code=first.code, place=place, text=first.text, cases=len(group))
        joined.append(first)
    return joined


PLACES_SHOWN = 3
"""Cases that a joined finding names."""
