"""Perturbed test cases, tests, suites and labs; the originals stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.numbers import DEFAULT_SEED
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.engine.perturbing.specs import parse_perturbations
from pytest_evalstudio.engine.perturbing.texts import Perturber, Variant
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.fields import Relationship
from pytest_evalstudio.formats.keys import Numbered
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite, complete_keys

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
    perturber.prepare([case.prompt for _, case in suite.cases() if id(case) in keys])
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
    for variant in perturber.variants(case.prompt, case.key):
        update = {
            "key": unique(variant.key(case.key)),
            "prompt": variant.text,
            "categories": variant.filed_under(case.categories),
            "relationships": _links(variant, case.key),
        }
        copies.append(case.model_copy(deep=True, update=update))
    return copies


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
        if (row.run or 1) == 1 and perturber.wants(row.categories, (link.type for link in row.relationships))
    ]
    perturber.prepare([row.input for row in pairs])
    for row in pairs:
        for variant in perturber.variants(row.input, row.key):
            update = {
                "key": unique[row.model_key](variant.key(row.key)),
                "input": variant.text,
                "categories": variant.filed_under(row.categories),
                "relationships": _links(variant, row.key),
                "run": None,
            }
            added.append(_unanswered(row).model_copy(update=update))
    lab.raw_dataset.inputs += added
    return len(added)


def _links(variant: Variant, original: str) -> list[Relationship]:
    return [
        Relationship(type=link.type, target=link.target, target_type=link.target_type)
        for link in variant.links(original)
    ]


def _unanswered(row: Row) -> Row:
    empty = {
        "actual_output": "",
        "actual_duration": 0.0,
        "cost": None,
        "context": [],
        "context_sources": [],
        "usage": {},
        "error": "",
    }
    return row.model_copy(deep=True, update=empty)
