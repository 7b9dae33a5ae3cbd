"""Messages between `verify-run` and the processes that collect, score and ask; JSON files by msgspec."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Verdict
from pytest_evalstudio.record.codec import decode_plain, portable
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, ModelEntry, RecordRow, VerdictWord

CaseStatus = Literal["passed", "failed", "error", "missing", "edited", "skipped"]
"""Status of a case of the protected revision; "edited" where another question was asked under its key."""
T = TypeVar("T", bound=Struct)


class StoredAnswers(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Answers of one model to one question, with the verdicts that their record claims.

    Attributes:
        model: name of the model.
        is_perturbed: whether the question is a perturbed copy.
        rows: one per repeat.
        evaluators: ids of the evaluators that took part.
    """

    nodeid: str
    file: str
    key: str
    model: str
    is_perturbed: bool = False
    verdict: VerdictWord = "passed"
    reason: str = ""
    rows: tuple[RecordRow, ...] = ()
    verdicts: dict[str, Verdict] = {}
    evaluators: tuple[str, ...] = ()

    @classmethod
    def of(cls, item: Item, model: str) -> StoredAnswers:
        """Return what a record has of an item."""
        ids = dict.fromkeys([*item.verdicts, *(id for row in item.rows for id in row.outcomes)])
        return cls(
            nodeid=item.nodeid,
            file=item.file,
            key=item.key,
            model=model,
            is_perturbed=item.perturbed is not None,
            verdict=item.verdict,
            reason=item.reason,
            rows=item.rows,
            verdicts=item.verdicts,
            evaluators=tuple(ids),
        )


class ScoringRequest(Struct, frozen=True, kw_only=True):
    """Order to score answers by the rules of a protected revision.

    Attributes:
        answers: of all models.
        root: of the files of the revision.
        foreign: folder whose modules must not be imported: the tree under test.
        judge_budget: number of cases that paid judges are asked about again.
        baseline: path of the baseline where the revision configures none.
        arguments: further arguments of pytest.
        is_asked: whether the answers are new ones, which have no stored verdicts.
    """

    answers: tuple[StoredAnswers, ...]
    root: str
    foreign: str
    judge_budget: int = 0
    baseline: str = "evalstudio-baseline.jsonl"
    arguments: tuple[str, ...] = ()
    is_asked: bool = False


class Question(Struct, frozen=True, kw_only=True):
    """Question for the application, without its expectations.

    Attributes:
        nodeid: of its case in the protected revision.
        settings: table of the model.
        folder: of the model's configuration, relative to the root of the revision.
        runs: number of repeats.
    """

    nodeid: str
    file: str
    is_perturbed: bool
    case: Case
    model: str
    settings: dict[str, Any]
    folder: str
    runs: int = 1


class BaseCase(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Case of the protected revision, with the verdict of its rules on the stored answers.

    Attributes:
        row: the case as a record has it, masked and without an answer.
        evaluators: id to the thresholds that decide, by metric.
        status: verdict.
        reason: why it is not passed.
        matched: node id of the stored answers, "" for none.
        trusted: evaluators whose stored verdicts were taken, since they cannot be scored again here.
        runs: number of repeats that the revision asks for.
        known: whether it failed in the baseline of the revision, too.
        is_xfail: whether the revision expects it to fail.
    """

    nodeid: str
    file: str
    key: str
    model: str
    row: RecordRow
    evaluators: dict[str, dict[str, float]]
    status: CaseStatus
    reason: str = ""
    matched: str = ""
    trusted: tuple[str, ...] = ()
    runs: int = 1
    known: bool = False
    is_xfail: bool = False


class BaseRun(Struct, frozen=True, kw_only=True):
    """Cases that the protected revision would have run, and their verdicts.

    Attributes:
        evaluators: as records describe them, by id.
        models: by name.
        python_tests: node ids of tests in Python that evaluate.
        faults: why a part of the revision could not be collected.
        notes: on what was asked anew.
        search_path: folders of pytest's `pythonpath`, relative to the root.
    """

    cases: tuple[BaseCase, ...] = ()
    evaluators: dict[str, EvaluatorEntry] = {}
    models: dict[str, ModelEntry] = {}
    questions: tuple[Question, ...] = ()
    python_tests: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    search_path: tuple[str, ...] = ()


class AskRequest(Struct, frozen=True, kw_only=True):
    """Order to ask an application.

    Attributes:
        search_path: folders that modules are imported from, relative to the current folder.
    """

    questions: tuple[Question, ...]
    search_path: tuple[str, ...] = ()


class Asked(Struct, frozen=True, kw_only=True):
    """Answers of an application that was asked.

    Attributes:
        faults: by the name of a model that could not be asked, why.
    """

    answers: tuple[StoredAnswers, ...] = ()
    faults: dict[str, str] = {}


def write(path: Path, message: Struct) -> None:
    """Write a message; infinite numbers become words, as in records."""
    path.write_bytes(msgspec.json.encode(portable(msgspec.to_builtins(message))))


def read(path: Path, kind: type[T]) -> T:
    """Return the message in a file."""
    # Words become infinite numbers where the type asks for a number.
    return msgspec.convert(decode_plain(path.read_bytes()), kind, strict=False)
