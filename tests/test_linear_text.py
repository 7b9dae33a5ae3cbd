"""Time is linear in the text for all plugins, those that are added later included.

The subjects come from the registries: evaluators with the text in all of their inputs and as their judge's
reply, perturbators, generators, importers; and the functions of `support.linear_functions`. The same is
measured up to 800,000 characters by `tests/benchmarks/hostile_text.py`. Evaluators and importers, which read
their texts by the same functions, take a third of the shapes each, chosen by their names; all shapes with
`EVALSTUDIO_TESTS=all`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.importers.kinds import H2O_SONAR, KINDS, TABLE
from pytest_evalstudio.metrics import grounding
from pytest_evalstudio.scoring.perturbing.protected import protected_spans
from support.hostile_shapes import SHAPES, hostile_text
from support.imported_texts import files_of, importer_functions, replaced
from support.linear_growth import superlinear_shapes
from support.sampling import sampled_for
from support.text_subjects import EVERYWHERE, TextSubject, evaluator_subjects, text_subjects

SUBJECTS = [subject for subject in text_subjects(Registry()) if not subject.is_role]


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_time_is_linear_in_the_text(subject: TextSubject) -> None:
    shares_functions = subject.name.startswith(("evaluator ", "import "))
    shapes = sampled_for(subject.name, SHAPES, 3) if shares_functions else SHAPES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        subject.function(hostile_text("mixed", 2_000, salt=25))  # imports are no part of the time
        assert not superlinear_shapes(subject.function, shapes)


@evaluator(
    "quadratic_for_tests", name="Quadratic", domain="generation", needs=("actual_output",), method=("rules",)
)
@dataclass(frozen=True)
class Quadratic:
    """Count suffixes with a word, in quadratic time."""

    metrics: ClassVar[tuple[Metric, ...]] = (Metric("suffixes", "Suffixes", threshold=1.0, primary=True),)

    def score(self, cases: Sequence[Case], tools: Any) -> list[Outcome]:
        return [Outcome.score({"suffixes": float(self.suffixes(case.actual_output))}) for case in cases]

    @staticmethod
    def suffixes(text: str) -> int:
        return sum("hotel" in text[start:] for start in range(0, len(text), 16))


def test_a_quadratic_plugin_is_a_subject_and_fails() -> None:
    registry = Registry()
    registry.add_evaluator(Quadratic)
    name = f"evaluator quadratic_for_tests, {EVERYWHERE}"
    [subject] = [subject for subject in evaluator_subjects(registry) if subject.name == name]
    assert subject.is_rule_evaluator
    subject.function(hostile_text("one long word", 2_000, salt=25))  # imports are no part of the time
    # Several times at once: the first ratio that looks linear would end the measurement.
    assert list(superlinear_shapes(subject.function, ["one long word"], repeats=(4,))) == ["one long word"]


def test_a_linear_function_passes() -> None:
    assert not superlinear_shapes(lambda text: [char.isalpha() for char in text * 20], ["mixed"])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_has_its_length_and_differs_by_salt(shape: str) -> None:
    first, second = hostile_text(shape, 1_000, salt=1), hostile_text(shape, 1_000, salt=2)
    assert len(first) == len(second) == 1_000
    assert first != second


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_is_a_subject(kind: str) -> None:
    """A new importer needs a sample file, named like it, with the texts that are replaced."""
    assert [name for name in importer_functions() if name.split()[0] == kind]
    if kind not in (H2O_SONAR, TABLE):
        assert not files_of(kind) or any("hostile" in replaced(path, "hostile") for path in files_of(kind))


def test_words_above_the_bound_are_their_own_stems() -> None:
    bound = grounding.MAX_STEMMED_CHARS
    assert grounding.stem("a" * (bound - 3) + "ing") == "a" * (bound - 3)
    assert grounding.stem("a" * (bound - 2) + "ing") == "a" * (bound - 2) + "ing"


def test_an_amount_that_goes_on_in_letters_is_no_exponential_pattern() -> None:
    assert protected_spans("1" + "a" * 60 + "_")[0].kind == "identifier"
    assert protected_spans("(12-month-long),")[0].kind == "number"


def test_too_many_pairs_of_sentences_are_an_error() -> None:
    name = f"evaluator summarization_completeness_faithfulness, {EVERYWHERE}"
    [subject] = [subject for subject in SUBJECTS if subject.name == name]
    text = " ".join(f"The fee of branch {number} is due." for number in range(400))
    [outcome] = subject.function(text)  # type: ignore[misc]
    assert (outcome.status, outcome.code) == ("error", OutcomeCode.TEXT_TOO_LONG)
