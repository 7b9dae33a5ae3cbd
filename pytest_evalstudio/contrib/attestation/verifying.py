"""Verification of a run: stored answers under the rules of a protected revision, and what has changed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from pytest_evalstudio.analysis.comparison.baseline import opened
from pytest_evalstudio.contrib.attestation.exchange import (
    Asked,
    AskRequest,
    BaseCase,
    BaseRun,
    Question,
    ScoringRequest,
    StoredAnswers,
)
from pytest_evalstudio.contrib.attestation.expectations import edits
from pytest_evalstudio.contrib.attestation.findings import (
    ANSWER_DOUBTS,
    Finding,
    FindingCode,
    FindingKind,
    Verification,
    grouped,
)
from pytest_evalstudio.contrib.attestation.processes import run_module
from pytest_evalstudio.contrib.attestation.revisions import Repository
from pytest_evalstudio.contrib.attestation.rules import (
    entry_findings,
    evaluator_findings,
    gate_findings,
    model_findings,
)
from pytest_evalstudio.contrib.attestation.sources import Trees, file_findings
from pytest_evalstudio.core.defaults import BASELINE_FILE
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.reading import file_sha256
from pytest_evalstudio.metrics.detectors import redact, redact_identifier
from pytest_evalstudio.record.schema import Run

_PACKAGE = "pytest_evalstudio.contrib.attestation"
ALL = -1
"""Ask about all cases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationOptions:
    """Options of a verification.

    Attributes:
        base: protected revision, "" for the merge base with the default branch.
        head: revision under test, "" for the working tree.
        ask: number of cases that the application is asked about again, `ALL` for all, 0 for none.
        judge_budget: number of cases that judges are asked about again.
        arguments: further arguments of pytest in the job of the protected revision.
        timeout_s: of each clean process.
    """

    base: str = ""
    head: str = ""
    ask: int = 0
    judge_budget: int = 0
    arguments: tuple[str, ...] = ()
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A record.

    Attributes:
        run: its header, None where there is no record.
        path: of the record.
    """

    run: Run | None
    answers: tuple[StoredAnswers, ...] = ()
    sha256: str = ""

    @classmethod
    def read(cls, path: Path) -> StoredRun:
        """Return the record of a path; an empty one where there is none."""
        try:
            with opened(path) as reader:
                answers = tuple(
                    StoredAnswers.of(item, reader.run.model_name(item.model_key)) for item in reader.items()
                )
                return cls(run=reader.run, answers=answers, sha256=file_sha256(reader.path))
        except DataError:
            if path.exists() and (path.is_file() or any(path.glob("record.jsonl"))):
                raise
            return cls(run=None)


def verify(record: Path, folder: Path, options: VerificationOptions) -> Verification:
    """Verify the record of a run.

    Args:
        record: record, report folder or ZIP.
        folder: in the repository, that pytest was started in.

    Raises:
        DataError: if there is no repository or revision, or the protected revision cannot be collected.
    """
    repository = Repository.of(folder)
    base = repository.commit(options.base or repository.default_base(options.head))
    head = repository.commit(options.head) if options.head else ""
    stored = StoredRun.read(record)
    session = _BaseFolder(repository, base, options)
    base_run = session.score(stored.answers)
    findings = list(_run_findings(stored))
    findings += _case_findings(base_run, stored)
    if stored.run is not None:
        findings += entry_findings(base_run, stored.run)
        findings += model_findings(base_run, stored.run)
        findings += gate_findings(base_run, stored.run)
    findings += file_findings(_trees(repository, base, head, base_run))
    asked: tuple[Question, ...] = ()
    if options.ask:
        asked = _sample(base_run.questions, options.ask)
        asked_findings = list(_asked_findings(session, head, asked, base_run))
        findings += asked_findings
        # Answers of labs have no question that could be asked.
        is_settled = len(asked) == len(base_run.cases) > 0 and not asked_findings
        if is_settled:
            findings = [_settled(each) for each in findings]
    findings += _trust_findings(base_run, stored, asked)
    findings += _commit_findings(stored.run, head)
    suites = {case.file for case in base_run.cases}
    return Verification(
        base=base,
        head=head,
        record=stored.sha256,
        suites={path: _sha256(repository, base, path) for path in sorted(suites)},
        passed=sum(_stands(case) for case in base_run.cases),
        total=len(base_run.cases),
        asked=len(asked),
        findings=tuple(_masked(each) for each in grouped(findings)),
    )


class _BaseFolder:
    """Sessions of the protected revision, each in a fresh copy of its files."""

    def __init__(self, repository: Repository, base: str, options: VerificationOptions) -> None:
        self._repository = repository
        self._base = base
        self._options = options

    def score(self, answers: Sequence[StoredAnswers], *, is_asked: bool = False) -> BaseRun:
        """Return the verdicts of the revision on answers."""
        with self._repository.files_of(self._base) as files:
            folder = files / self._repository.prefix
            if not folder.is_dir():
                raise DataError(
                    f"the protected revision {self._base[:12]} has no folder {self._repository.prefix};"
                    " run the command where its tests are"
                )
            request = ScoringRequest(
                answers=tuple(answers),
                root=str(files),
                foreign=str(self._repository.root),
                judge_budget=self._options.judge_budget,
                baseline=BASELINE_FILE,
                arguments=self._options.arguments,
                is_asked=is_asked,
            )
            return run_module(
                f"{_PACKAGE}.base_session", request, BaseRun, folder=folder, timeout_s=self._options.timeout_s
            )

    def ask(self, head: str, questions: Sequence[Question], search_path: Sequence[str]) -> Asked:
        """Return the answers of the applications with the code of the tree under test."""
        with self._repository.files_of(head) as files:
            request = AskRequest(questions=tuple(questions), search_path=tuple(search_path))
            return run_module(
                f"{_PACKAGE}.ask_process",
                request,
                Asked,
                folder=files / self._repository.prefix,
                timeout_s=self._options.timeout_s,
            )


def _sha256(repository: Repository, revision: str, path: str) -> str:
    name = "/".join(filter(None, (repository.prefix, path)))
    text = repository.text(revision, name)
    return hashlib.sha256((text or "").encode("utf-8")).hexdigest()


def _trees(repository: Repository, base: str, head: str, base_run: BaseRun) -> Trees:
    targets = [
        str(model.model_cfg.get(key, "")).partition(":")[0]
        for model in base_run.models.values()
        for key in ("target", "retrieve", "generate")
    ]
    return Trees(
        repository=repository,
        base=base,
        head=head,
        prefix=repository.prefix,
        targets=tuple(filter(None, targets)),
        search_path=base_run.search_path,
        trusts_judges=any(case.trusted for case in base_run.cases),
    )


def _stands(case: BaseCase) -> bool:
    return case.status in ("passed", "skipped") or (case.status == "failed" and case.known)


def _run_findings(stored: StoredRun) -> Iterator[Finding]:
    """Yield why the run as a whole is no passed one."""
    run = stored.run
    if run is None:
        yield _failure(FindingCode.RECORD_MISSING, "", "there is no record: nothing was evaluated")
        return
    if run.interrupted or run.finished is None:
        yield _failure(FindingCode.RUN_UNFINISHED, "run", "it did not end, so its exit status says nothing")
    if run.exit_status:
        yield _failure(
            FindingCode.RUN_FAILED, "run", f"it failed by itself, with exit status {run.exit_status}"
        )
    if run.session is not None and run.session.overruled:
        yield Finding(
            kind="weakness", code=FindingCode.OVERRULED, place="run", text=run.session.overruled_sentence
        )


def _failure(code: FindingCode, place: str, text: str) -> Finding:
    return Finding(kind="failure", code=code, place=place, text=text)


def _case_findings(base: BaseRun, stored: StoredRun) -> Iterator[Finding]:
    by_nodeid = {each.nodeid: each for each in stored.answers}
    yield from (_failure(FindingCode.BASE_NOT_COLLECTED, "protected revision", text) for text in base.faults)
    if not base.cases and not base.python_tests:
        fact = "it has no test case; give another --base, or the folder of its suites by --pytest"
        yield _failure(FindingCode.BASE_NOT_COLLECTED, "protected revision", fact)
    matched = set()
    for case in base.cases:
        answers = by_nodeid.get(case.matched)
        matched.add(case.matched)
        yield from _verdict_findings(case)
        if answers is None or not answers.rows:
            continue
        if answers.key != case.key:
            yield Finding(
                kind="change",
                code=FindingCode.CASE_RENAMED,
                place=case.nodeid,
                text=f"its key is {answers.key} now",
            )
        yield from _edit_findings(case, answers)
        if stored.run is not None:
            yield from evaluator_findings(case, answers, base, stored.run)
    yield from _python_findings(base, stored)
    yield from _further_findings(base, [each for each in stored.answers if each.nodeid not in matched])


def _verdict_findings(case: BaseCase) -> Iterator[Finding]:
    codes = {
        "missing": (FindingCode.CASE_NOT_RUN, f"not run: {case.reason}"),
        "edited": (FindingCode.QUESTION_EDITED, f"not run: {case.reason}"),
        "failed": (FindingCode.CASE_FAILS, f"fails under the protected rules: {case.reason}"),
        "error": (FindingCode.CASE_ERROR, f"has no verdict: {case.reason}"),
    }
    if case.status not in codes:
        return
    code, text = codes[case.status]
    if case.status == "failed" and case.known:
        yield Finding(
            kind="change", code=FindingCode.KNOWN_FAILURE, place=case.nodeid, text="fails as in the baseline"
        )
    else:
        yield _failure(code, case.nodeid, text)


def _edit_findings(case: BaseCase, answers: StoredAnswers) -> Iterator[Finding]:
    if case.status != "edited":
        for edit in edits(case.row, answers.rows[0]):
            is_weaker = edit.direction == "weaker" or (edit.direction == "other" and not _stands(case))
            yield Finding(
                kind="weakness" if is_weaker else "change",
                code=FindingCode.EXPECTATION,
                place=case.nodeid,
                text=edit.text,
            )
    if answers.verdict in ("xfailed", "xpassed") and not case.is_xfail:
        yield Finding(
            kind="weakness",
            code=FindingCode.XFAIL_ADDED,
            place=case.nodeid,
            text="is expected to fail (xfail)",
        )
    if any(row.answer.stored_at is not None for row in answers.rows):
        yield Finding(
            kind="weakness",
            code=FindingCode.STORED_ANSWER,
            place=case.nodeid,
            text="has an answer that an earlier run has stored",
        )
    if len(answers.rows) < case.runs:
        yield Finding(
            kind="weakness",
            code=FindingCode.FEWER_REPEATS,
            place=case.nodeid,
            text=f"was asked {len(answers.rows)} times in place of {case.runs}",
        )


def _python_findings(base: BaseRun, stored: StoredRun) -> Iterator[Finding]:
    """Yield tests in Python that are missing; their verdicts cannot be recomputed."""
    names = {each.nodeid for each in stored.answers}
    for nodeid in base.python_tests:
        if nodeid not in names:
            yield _failure(FindingCode.CASE_NOT_RUN, nodeid, "not run: the record has no such test")


def _further_findings(base: BaseRun, answers: Sequence[StoredAnswers]) -> Iterator[Finding]:
    """Yield what a record has besides the cases of the protected revision."""
    for each in answers:
        if each.verdict in ("failed", "error"):
            yield _failure(
                FindingCode.CLAIMED_FAILURE, each.nodeid, f"{each.verdict} in the record: {each.reason}"
            )
        elif each.nodeid not in base.python_tests:
            yield Finding(kind="change", code=FindingCode.CASE_ADDED, place=each.nodeid, text="is new")


def _sample(questions: Sequence[Question], count: int) -> tuple[Question, ...]:
    if count == ALL or count >= len(questions):
        return tuple(questions)
    # A sample that nobody can predict.
    return tuple(random.SystemRandom().sample(list(questions), count))


def _asked_findings(
    session: _BaseFolder, head: str, questions: Sequence[Question], base: BaseRun
) -> Iterator[Finding]:
    """Ask the application itself, and yield where its answers do not pass."""
    asked = session.ask(head, questions, base.search_path)
    for model, fault in asked.faults.items():
        yield Finding(
            kind="weakness",
            code=FindingCode.CANNOT_ASK,
            place=f"model {model}",
            text=f"could not be asked: {fault}",
        )
    again = {case.nodeid: case for case in session.score(asked.answers, is_asked=True).cases}
    for question in questions:
        case = again.get(question.nodeid)
        if case is not None and question.model not in asked.faults and not _stands(case):
            yield _failure(
                FindingCode.ASKED_FAILS, case.nodeid, f"the application, asked again, fails: {case.reason}"
            )


def _masked(finding: Finding) -> Finding:
    """Return a finding without personal data and secrets: it is printed, and written to attestations."""
    return msgspec.structs.replace(finding, place=redact_identifier(finding.place), text=redact(finding.text))


def _settled(finding: Finding) -> Finding:
    """Return a doubt of the answers as a change: the application itself gives passing answers."""
    if finding.kind == "weakness" and finding.code in ANSWER_DOUBTS:
        kind: FindingKind = "change"
        return msgspec.structs.replace(finding, kind=kind)
    return finding


def _trust_findings(base: BaseRun, stored: StoredRun, asked: Sequence[Question]) -> Iterator[Finding]:
    count = sum(bool(case.matched) for case in base.cases)
    if count > len(asked) and stored.run is not None:
        text = f"{count - len(asked):,} answers are those of the record; --ask asks the application itself"
        yield _trust(FindingCode.ANSWERS, "answers", text)
    judged: dict[str, int] = {}
    for case in base.cases:
        for id in case.trusted:
            judged[id] = judged.get(id, 0) + 1
    for id, number in judged.items():
        yield _trust(
            FindingCode.JUDGE_VERDICTS,
            f"evaluator {id}",
            f"{number:,} verdicts are those of the record; --ask-judges N asks its judge again",
        )
    masked = [id for id, entry in base.evaluators.items() if entry.problem_type in ("privacy", "security")]
    for id in masked:
        yield _trust(
            FindingCode.MASKED_TEXTS,
            f"evaluator {id}",
            "a record has masked texts, so its own verdicts count",
        )
    if base.python_tests:
        yield _trust(
            FindingCode.PYTHON_TESTS,
            "tests in Python",
            f"{len(base.python_tests):,} verdicts are those of the record",
        )
    if base.gates:
        yield _trust(FindingCode.GATES, "gates", "they are compared, and not computed again")


def _commit_findings(run: Run | None, head: str) -> Iterator[Finding]:
    """Yield the commit of a record that is not the one under test, e.g. the merge that a CI service tests."""
    if run is not None and run.commit and head and run.commit != head:
        text = f"the record names {run.commit[:12]}, and not {head[:12]}"
        yield _trust(FindingCode.COMMIT, "commit", text)


def _trust(code: FindingCode, place: str, text: str) -> Finding:
    return Finding(kind="trust", code=code, place=place, text=text)
