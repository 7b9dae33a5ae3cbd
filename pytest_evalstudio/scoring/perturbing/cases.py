"""Perturbed test cases, tests, suites and labs; the originals stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.fields import FormatModel, RelationshipField
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.shared_keys import AnswerKeys
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite, complete_keys
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from pytest_evalstudio.scoring.perturbing.texts import Perturber, Variant

C = TypeVar("C", TestCase, Test, TestSuite, TestLab)


@dataclass(frozen=True, slots=True)
class PerturbedCopy(Generic[C]):
    """Copy that contains the originals and their perturbed cases.

    Attributes:
        content: a suite or test with cases more; of a single case, a test that holds it and its
            perturbations.
        added: how many cases are new.
        notes: which cases were not perturbed, and why.
    """

    content: C
    added: int
    notes: tuple[str, ...]


def _defaults(model: type[FormatModel], names: Iterable[str]) -> dict[str, object]:
    return {name: model.model_fields[name].get_default(call_default_factory=True) for name in names}


# From the declared fields, so that a new key of answers is removed from perturbed rows as well.
_NO_ANSWER_IN_TURN = _defaults(AnswerKeys, AnswerKeys.model_fields)
_NO_ANSWER = _defaults(Row, (*_NO_ANSWER_IN_TURN, "ended_by", "closing_messages"))


def perturb(
    content: TestCase | Test | TestSuite | TestLab,
    perturbations: str,
    *,
    seed: int = DEFAULT_SEED,
    where: str = "",
    options: Mapping[str, Mapping[str, object]] | None = None,
    folder: str | Path = ".",
    registry: Registry | None = None,
    judge: Callable[[], Judge] | None = None,
    allow_paths: bool = True,
) -> PerturbedCopy[Any]:
    """Add perturbed cases to a copy of a test case, test, suite or lab.

    Args:
        content: for a lab, the perturbed rows are in `raw_dataset`, because their answers are missing.
        perturbations: e.g. "comma:medium,word_swap:low+qwerty"; a comma separates cases, a plus chains
            perturbators into one case.
        seed: the same one gives the same cases on every machine.
        where: expression over categories, as of pytest's `-m`: which cases are perturbed.
        options: of perturbators by id, e.g. {"random_delete": {"replacement": "X"}}.
        folder: where relative paths among the options start.
        registry: registry of plugins; by default a new one.
        judge: opens the judge for perturbators that have one write.
        allow_paths: whether `perturbations` may set options that are paths; False for text from a file of
            test data.

    Raises:
        ConfigurationError: for a perturbator, intensity, option or expression that cannot be understood.

    >>> perturb(TestCase(prompt="Are you lazy?", key="lazy"), "qwerty:high").content.test_cases[1].prompt
    'Are zou layz?'
    """
    chains = parse_perturbations(
        perturbations,
        registry or Registry(),
        options,
        folder=Path(folder),
        judge=judge,
        allow_paths=allow_paths,
    )
    perturber = Perturber(chains, seed=seed, where=where)
    if isinstance(content, TestLab):
        lab = content.model_copy(deep=True)
        return PerturbedCopy(lab, _fill_lab(lab, perturber), tuple(perturber.notes.lines()))
    if isinstance(content, TestSuite):
        suite = content.model_copy(deep=True)
    elif isinstance(content, Test):
        suite = TestSuite(tests=[content.model_copy(deep=True)])
    elif isinstance(content, TestCase):
        suite = TestSuite(tests=[Test(key="test", test_cases=[content.model_copy(deep=True)])])
    else:
        raise ConfigurationError(
            f"a {type(content).__name__} cannot be perturbed: give a TestCase, Test, TestSuite or TestLab"
        )
    added = _fill_suite(suite, perturber)
    return PerturbedCopy(
        suite if isinstance(content, TestSuite) else suite.tests[0], added, tuple(perturber.notes.lines())
    )


def _fill_suite(suite: TestSuite, perturber: Perturber) -> int:
    # Perturbed keys derive from those of the originals, which a suite may leave out.
    complete_keys(suite)
    unique = Numbered(case.key for _, case in suite.cases())
    added = 0
    keys = {
        id(case)
        for test, case in suite.cases()
        if perturber.wants(
            (*case.categories, *test.categories, *suite.categories),
            (link.type for link in case.relationships),
        )
    }
    # All messages at once: a judge that writes perturbations is asked concurrently.
    perturber.prepare(
        [message for _, case in suite.cases() if id(case) in keys for message in _messages(case)]
    )
    for test in suite.tests:
        cases = []
        for case in test.test_cases:
            cases.append(case)
            if id(case) in keys:
                cases += _of_case(case, perturber, unique)
        added += len(cases) - len(test.test_cases)
        test.test_cases = cases
    return added


def _of_case(case: TestCase, perturber: Perturber, unique: Numbered) -> list[TestCase]:
    copies = []
    for changes, variant in _changed(case, perturber):
        update = {
            **changes,
            "key": unique(variant.key(case.key)),
            "categories": variant.filed_under(case.categories),
            "relationships": _links(variant, case.key),
        }
        copies.append(case.model_copy(deep=True, update=update))
    return copies


def _messages(case: TestCase | Row) -> list[str]:
    """Return the user's messages of a case or row that are known before."""
    if case.user is not None:
        return [case.user.opening] if case.user.opening else []
    question = case.prompt if isinstance(case, TestCase) else case.input
    return [turn.prompt for turn in case.turns] or [question]


def _changed(case: TestCase | Row, perturber: Perturber) -> Iterator[tuple[dict[str, object], Variant]]:
    """Yield the changed fields of each perturbation of a question, or of each message of a conversation."""
    name = "prompt" if isinstance(case, TestCase) else "input"
    messages = _messages(case)
    if case.user is None and not case.turns:
        for variant in perturber.variants(messages[0], case.key):
            yield {name: variant.text}, variant
        return
    for index, variant in perturber.turn_variants(messages, case.key):
        text = variant.text
        if case.user is not None:
            yield {name: text, "user": case.user.model_copy(update={"opening": text})}, variant
            continue
        turns = [turn.model_copy() for turn in case.turns]
        turns[index].prompt = text
        yield {name: turns[0].prompt, "turns": turns}, variant


def _fill_lab(lab: TestLab, perturber: Perturber) -> int:
    """Add unanswered rows for every model of the lab, after the unanswered rows of the originals."""
    rows = lab.dataset.inputs
    lab.raw_dataset = LlmDataset(inputs=[_unanswered(row) for row in rows])
    unique = {
        key: Numbered(row.key for row in rows if row.model_key == key)
        for key in dict.fromkeys(row.model_key for row in rows)
    }
    added = []
    pairs = [
        row
        for row in rows
        # Repeats have the same question; one perturbed row is enough, and its model is asked anew.
        if (row.run or 1) == 1 and perturber.wants(row.categories, (link.type for link in row.relationships))
    ]
    perturber.prepare([message for row in pairs for message in _messages(row)])
    for row in pairs:
        for changes, variant in _changed(_unanswered(row), perturber):
            update = {
                **changes,
                "key": unique[row.model_key](variant.key(row.key)),
                "categories": variant.filed_under(row.categories),
                "relationships": _links(variant, row.key),
                "run": None,
            }
            added.append(_unanswered(row).model_copy(update=update))
    lab.raw_dataset.inputs += added
    return len(added)


def _links(variant: Variant, original: str) -> list[RelationshipField]:
    return [
        RelationshipField(type=link.type, target=link.target, target_type=link.target_type)
        for link in variant.links(original)
    ]


def _unanswered(row: Row) -> Row:
    """Return a copy of a row without its answer and those of its turns."""
    turns = [turn.model_copy(update=_NO_ANSWER_IN_TURN) for turn in row.turns]
    return row.model_copy(deep=True, update={**_NO_ANSWER, "turns": turns if row.user is None else []})
