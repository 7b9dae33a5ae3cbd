"""A look at the hidden half: both halves are asked and scored, and the result is answered with noise."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Struct

from pytest_evalstudio.api.evaluate import evaluate_lab, verdict_word
from pytest_evalstudio.api.labs import row_of_case
from pytest_evalstudio.contrib.holdout.ask_process import AskRequest
from pytest_evalstudio.contrib.holdout.asking import ask
from pytest_evalstudio.contrib.holdout.folder import HiddenHalf
from pytest_evalstudio.contrib.holdout.keyed import keyed_digest, keyed_noise
from pytest_evalstudio.contrib.holdout.ledger import Ledger
from pytest_evalstudio.contrib.holdout.split import MIN_CASES, without
from pytest_evalstudio.core.errors import DataError, EvalStudioError
from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.shared_keys import AnswerKeys
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.record.holdout import GapCode, HalfCounts, HoldoutEntry, gap_code, gap_sentence
from pytest_evalstudio.record.schema import Tables
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.stats.holdout import gap_interval, thresholdout

LOCK = "lock"
OPEN, HIDDEN = "open", "hidden"
_QUESTION_KEYS = ("prompt", "conversation", "images", "files", "retrieval")
"""Keys of a case that the application may see."""


class LookCode(enum.StrEnum):
    """Kind of a rationed answer.

    Attributes:
        AGREES: the halves are close, and no figure of the hidden half is given.
        DIFFERS: they are not; the pass rate of the hidden half is given with noise.
    """

    AGREES = "agrees"
    DIFFERS = "differs"


class LookAnswer(Struct, frozen=True, kw_only=True):
    """Answer of a look to whoever lacks the key.

    Attributes:
        look, ration: number of the look, from 1, and of all looks.
        open: counts of the open half.
        threshold: difference up to which the halves agree.
        hidden_rate: with noise; None where they agree.
        low, high: 95 % interval of the gap, which the noise makes wider; None where they agree.
        gap: verdict on the interval; None where they agree.
    """

    code: LookCode
    look: int
    ration: int
    open: HalfCounts
    threshold: float
    hidden_rate: float | None = None
    low: float | None = None
    high: float | None = None
    gap: GapCode | None = None

    @property
    def sentence(self) -> str:
        """Return the answer in one line."""
        look = f"look {self.look} of {self.ration}"
        if self.hidden_rate is None or self.low is None or self.high is None or self.gap is None:
            share = f"{self.open.rate:.0%}".replace("%", " %")
            return f"open {share}, hidden about the same, within {self.threshold * 100:g} points ({look})"
        text = gap_sentence(self.open.rate, self.hidden_rate, self.low, self.high, self.gap)
        return f"{text} (hidden rate with noise; {look})"


@dataclass(frozen=True, slots=True)
class _Question:
    """A case of one half under the key that the application sees."""

    half: str
    suite: TestSuite
    test: Test
    case: TestCase


def look(half: HiddenHalf, project: Path, *, timeout_s: float) -> LookAnswer:
    """Ask both halves, and return the rationed answer; the look is written to the ledger first.

    Everything else is left in the folder of the hidden half.

    Args:
        half: opened by its key.
        project: folder with the application and the open half.
        timeout_s: for the answers of the application.

    Raises:
        ConfigurationError: if the ration is spent.
        DataError: if the application cannot be asked, or a half has too few cases.
    """
    with locked(half.path / LOCK):
        ledger = Ledger(half)
        open_suite = _open_suite(half, project)
        number = ledger.begin_look()
        folder = half.look_folder(number)
        questions = dict(_questions(half, open_suite))
        request = AskRequest(
            suite=msgspec.Raw(msgspec.json.encode(_questions_alone(questions))), path=half.settings.suite
        )
        lab = ask(request, project, folder, prefix=half.settings.ask_with, timeout_s=timeout_s)
        try:
            passes, entry = _score(half, _completed(lab, questions, project), folder, number)
        except EvalStudioError as exc:
            write_whole(folder / "fault.txt", str(exc).encode())
            raise DataError(f"the answers could not be scored; {folder / 'fault.txt'} says why") from None
        ledger.end_look(entry)
        return rationed(half, entry, passes)


def rationed(half: HiddenHalf, entry: HoldoutEntry, hidden_passes: Mapping[str, bool]) -> LookAnswer:
    """Return the answer to whoever lacks the key.

    The noise depends on the key and on which hidden cases pass, on nothing else: to ask again, or to change
    what passes in the open half, draws no other noise.

    Args:
        entry: exact result.
        hidden_passes: by hidden case, whether it passes.
    """
    settings = half.settings
    results = [f"{key} {passed}" for key, passed in sorted(hidden_passes.items())]
    noise = keyed_noise(half.key, settings.noise, settings.id, *results)
    hidden_rate = thresholdout(entry.open.rate, entry.hidden.rate, threshold=settings.threshold, noise=noise)
    if hidden_rate is None:
        return LookAnswer(
            code=LookCode.AGREES,
            look=entry.look,
            ration=settings.looks,
            open=entry.open,
            threshold=settings.threshold,
        )
    low, high = gap_interval(
        entry.open.passed, entry.open.total, hidden_rate, entry.hidden.total, noise_scale=settings.noise
    )
    return LookAnswer(
        code=LookCode.DIFFERS,
        look=entry.look,
        ration=settings.looks,
        open=entry.open,
        threshold=settings.threshold,
        hidden_rate=hidden_rate,
        low=low,
        high=high,
        gap=gap_code(low, high, settings.tolerance),
    )


def entry_of(
    half: HiddenHalf, number: int, open_counts: HalfCounts, hidden_counts: HalfCounts
) -> HoldoutEntry:
    """Return the exact result of a look."""
    low, high = gap_interval(open_counts.passed, open_counts.total, hidden_counts.rate, hidden_counts.total)
    return HoldoutEntry(
        look=number,
        open=open_counts,
        hidden=hidden_counts,
        low=low,
        high=high,
        tolerance=half.settings.tolerance,
    )


def _open_suite(half: HiddenHalf, project: Path) -> TestSuite:
    """Return the open half as the project has it now."""
    suite = TestSuite.load(project / half.settings.suite)
    hidden = half.suite().cases()
    return without(suite, {case.key for _, case in hidden}, {case.prompt for _, case in hidden})


def _questions(half: HiddenHalf, open_suite: TestSuite) -> Iterator[tuple[str, _Question]]:
    """Yield the questions of both halves in an order, and under keys, that say nothing of their half."""
    hidden_suite = half.suite()
    questions = [
        _Question(name, suite, test, case)
        for name, suite in ((OPEN, open_suite), (HIDDEN, hidden_suite))
        for test, case in suite.cases()
    ]
    by_digest = {
        keyed_digest(half.key, "question", half.settings.id, each.half, each.case.key).hex()[:16]: each
        for each in questions
    }
    yield from sorted(by_digest.items())


def _questions_alone(questions: Mapping[str, _Question]) -> Mapping[str, object]:
    """Return a suite with the questions of the cases, and nothing of what is expected."""
    tests = [
        {
            "documents": question.test.documents,
            "test_cases": [
                {
                    "key": key,
                    **{
                        name: value
                        for name, value in question.case.to_dict().items()
                        if name in _QUESTION_KEYS
                    },
                }
            ],
        }
        for key, question in questions.items()
    ]
    return {"name": "questions", "tests": tests}


def _completed(lab: TestLab, questions: Mapping[str, _Question], project: Path) -> TestLab:
    """Return the answers with what is expected of them; a question without one is an error."""
    rows = [
        _row(questions[row.key], row, project)
        for row in lab.dataset.inputs
        if row.key in questions  # the process that asks runs the code under test
    ]
    answered_keys = {(row.key, row.model_key) for row in lab.dataset.inputs}
    for model in lab.models:
        rows += [
            _row(question, Row(key=key, model_key=model.key, error="no answer"), project)
            for key, question in questions.items()
            if (key, model.key) not in answered_keys
        ]
    return TestLab(name=lab.name, models=lab.models, dataset=LlmDataset(inputs=rows))


def _row(question: _Question, answer: Row, project: Path) -> Row:
    run = answer.run or 1
    row = row_of_case(question.suite, question.test, question.case, answer.model_key, run, str(project))
    answer_fields = {name: getattr(answer, name) for name in AnswerKeys.model_fields}
    names = {"key": f"{question.half}/{row.key}", "categories": [*row.categories, f"{question.half} half"]}
    return row.model_copy(update={**answer_fields, **names})


def _score(
    half: HiddenHalf, lab: TestLab, folder: Path, number: int
) -> tuple[Mapping[str, bool], HoldoutEntry]:
    """Return which hidden cases pass, and the result; the record is written to the folder of the look.

    Raises:
        DataError: if a half has too few cases.
        ConfigurationError: if the evaluators are not available.
    """
    registry = Registry()
    provider = ModelProvider(cache=None, registry=registry)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they name cases
            results = evaluate_lab(
                lab, half.configuration(), registry=registry, provider=provider, folder=half.path
            )
    finally:
        provider.close()
    passes: dict[str, dict[str, bool]] = {OPEN: {}, HIDDEN: {}}
    for result in results:
        word = verdict_word(result)
        if word != "skipped":
            name, _, key = result.task.key.partition("/")
            # A case passes if it passes for each model and repeat.
            passes[name][key] = passes[name].get(key, True) and word in ("passed", "xpassed")
    counts = {name: HalfCounts(passed=sum(each.values()), total=len(each)) for name, each in passes.items()}
    if min(each.total for each in counts.values()) < MIN_CASES:
        raise DataError(f"a half has fewer than {MIN_CASES} scored cases")
    entry = entry_of(half, number, counts[OPEN], counts[HIDDEN])
    results.write_record(folder, Tables(holdout={half.settings.suite: entry}))
    return passes[HIDDEN], entry
