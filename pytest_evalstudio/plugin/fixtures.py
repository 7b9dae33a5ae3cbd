"""Fixtures of tests in Python: eval_<id> of each evaluator, eval_case, eval_model and others."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar, Unpack, cast, overload

import pytest
from msgspec import structs

from pytest_evalstudio.api.asked_models import AskedModel, DataclassInstance
from pytest_evalstudio.api.builders import CaseFieldsWithCorpus, case_of_data, is_data, make_case
from pytest_evalstudio.api.scores import readable
from pytest_evalstudio.asking.case_types import case_fault
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError, EvaluationError, ThresholdMissed
from pytest_evalstudio.core.flips import Flip
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.contrib import contribs, loaded
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.fields import FormatModel
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.lab import TestLab
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.plugin.display import usage_error
from pytest_evalstudio.plugin.figures import pass_on_comparison, set_properties
from pytest_evalstudio.plugin.late_fixtures import GENERAL, PREFIX, FixtureFunction
from pytest_evalstudio.plugin.perturbed_cases import perturb_fixture
from pytest_evalstudio.plugin.reports import CHECKS
from pytest_evalstudio.run.loops import is_loop_running
from pytest_evalstudio.run.project import Project
from pytest_evalstudio.run.services import Services
from pytest_evalstudio.scoring.identifiers import safe_identifier
from pytest_evalstudio.scoring.masking import shown
from pytest_evalstudio.scoring.messages import explain, misses
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.tasks import answered_task

AnsweredCase = Case | Mapping[str, Any] | DataclassInstance
"""A case, or the fields of a case in a mapping or a dataclass of the user's."""
Content = TypeVar("Content", TestSuite, TestLab, LlmDataset)


class EvalCase(Protocol):
    """Type of the fixture `eval_case`: makes a case by hand."""

    def __call__(
        self, question: str = "", actual_output: str = "", **fields: Unpack[CaseFieldsWithCorpus]
    ) -> Case: ...


class EvalModel(Protocol):
    """Type of the fixture `eval_model`: returns a configured model."""

    def __call__(self, name: str, /) -> AskedModel: ...


class EvalSuite(Protocol):
    """Type of the fixture `eval_suite`: reads a suite, or the kind of file that is named by its class."""

    @overload
    def __call__(self, path: str | Path, /) -> TestSuite: ...

    @overload
    def __call__(self, path: str | Path, kind: type[Content], /) -> Content: ...


class Check:
    """One evaluator in one test: scores cases, or asserts that they pass.

    Its checks are put into the run's record with the test's node id.
    """

    def __init__(self, pipeline: Pipeline, selected: ConfiguredEvaluator, node: pytest.Item) -> None:
        self._pipeline = pipeline
        self._selected = selected
        self._node = node

    def score(self, case: AnsweredCase) -> Outcome:
        """Return the evaluator's outcome for a case; nothing is asserted.

        Its scores are floats; an `assert` on one that fails prints reason, question and answer, too.
        """
        __tracebackhide__ = True
        return self.score_all([case])[0]

    def score_all(self, cases: Sequence[AnsweredCase]) -> list[Outcome]:
        """Return the outcomes of several cases, in one batch; nothing is asserted."""
        __tracebackhide__ = True
        return _readable_outcomes(self._results(cases, {}))

    def check(self, case: AnsweredCase, **options: Any) -> Outcome:
        """Assert that a case meets the evaluator's thresholds.

        Args:
            case: an answered case; a mapping or an instance of a dataclass with the fields of one is taken as
                one.
            options: `threshold`, `thresholds` or parameters of the evaluator, for this check alone.

        Raises:
            ThresholdMissed: if it does not; the test fails.
            EvaluationError: if there is no verdict; the failure is headed "evaluation error:".
        """
        __tracebackhide__ = True
        return self.check_all([case], **options)[0]

    def check_all(self, cases: Sequence[AnsweredCase], **options: Any) -> list[Outcome]:
        """Assert that every one of several cases meets the thresholds, in one batch."""
        __tracebackhide__ = True
        results = self._results(cases, options)
        failing = [result for result in results if misses(result)]
        if failing:
            pass_on_comparison(self._node.config, failing[0])
        _raise_failures(results, failing)
        return _readable_outcomes(results)

    def check_flip(self, original: Case, perturbed: Case | Sequence[Case], **options: Any) -> list[Flip]:
        """Assert that each metric that passes for a case passes for its perturbations, too.

        The original must meet the thresholds itself, since a metric that fails already cannot flip.

        Args:
            original: the answered case.
            perturbed: the same question in other words with the answer to it, or several of them; see
                `eval_perturb`.
            options: `threshold`, `thresholds` or parameters of the evaluator, for this check alone.

        Returns:
            The flips that fail nothing, of metrics without an asserted threshold and under perturbators that
            change the meaning.

        Raises:
            ThresholdMissed: if a metric flips, or the original misses a threshold; the test fails.
            EvaluationError: if there is no verdict; the failure is headed "evaluation error:".
        """
        __tracebackhide__ = True
        perturbations = [perturbed] if isinstance(perturbed, Case) else list(perturbed)
        if not perturbations:
            raise EvaluationError(
                f"eval_{self._selected.id}: no perturbed case is given, so no flip can be found; give one"
                " or more"
            )
        results = self._results([original, *perturbations], options, is_family=True)
        failing = [result for result in results[1:] if _flips(result)]
        if misses(results[0]):
            failing.insert(0, results[0])
        _raise_failures(results, failing)
        return [flip for result in results for flip in result.flips]

    def _results(
        self, given: Sequence[AnsweredCase], options: Mapping[str, Any], *, is_family: bool = False
    ) -> list[Result]:
        """Return the results of cases, and keep them for the record.

        Args:
            given: the cases, or their data.
            options: of the evaluator, for these cases alone.
            is_family: whether the others are perturbations of the first case.
        """
        __tracebackhide__ = True
        cases = _cases_of(f"eval_{self._selected.id}", given)
        plan = self._pipeline.plan
        try:
            selected = plan.alone(self._selected.id, options) if options else self._selected
        except ConfigurationError as exc:
            raise exc.with_traceback(None) from None
        tasks = [
            answered_task(structs.replace(case, key=safe_identifier(case.key)), selected) for case in cases
        ]
        if is_family:
            for task in tasks[1:]:
                task.source = tasks[0]
        results = self._pipeline.evaluate(tasks)
        checks = self._node.stash.setdefault(CHECKS, [])
        checks.extend((result, selected) for result in results)
        set_properties(self._node, [(result, [evaluator]) for result, evaluator in checks])
        return results


def _readable_outcomes(results: Sequence[Result]) -> list[Outcome]:
    """Return the outcomes of results of one evaluator, with scores that explain themselves."""
    return [
        readable(outcome, selected.id, result.answers[0])
        for result in results
        for selected, outcome in result.outcomes[0].items()
    ]


def _flips(perturbed: Result) -> bool:
    """Return whether a perturbed case fails: a metric flips, or the model refuses or gives no answer."""
    meaning_kept = perturbed.origin is not None and perturbed.origin.meaning_kept
    return any(flip.fails for flip in perturbed.flips) or (meaning_kept and perturbed.response.fails)


def _raise_failures(results: Sequence[Result], failing: Sequence[Result]) -> None:
    """Raise if a result has no verdict, or one of them fails.

    Raises:
        EvaluationError: for a result without a verdict.
        ThresholdMissed: for failing results alone.
    """
    __tracebackhide__ = True
    failures = [explain(result) for result in failing]
    broken = [f"evaluation error: {explain(result)}" for result in results if result.errors]
    absent = [
        f"evaluation error: {selected.id} is not applicable: {verdict.reason}"
        for result in results
        if not result.applicable
        for selected, verdict in result.verdicts.items()
    ]
    if broken or absent:
        raise EvaluationError("\n\n".join([*broken, *absent, *failures]))
    if failures:
        raise ThresholdMissed("\n\n".join(failures))


def _cases_of(fixture: str, given: object) -> Sequence[Case]:
    """Return cases, those made of data included.

    Raises:
        TypeError: for the first value that is no case, or has a field of a wrong type, e.g. a coroutine: a
            forgotten `await`.
    """
    __tracebackhide__ = True
    cases = given
    if isinstance(given, Sequence) and not isinstance(given, str):
        try:
            cases = [case_of_data(case) if is_data(case) else case for case in given]
        except ConfigurationError as exc:
            raise exc.with_traceback(None) from None
    _check_cases(fixture, cases)
    return cast(Sequence[Case], cases)


def _check_cases(fixture: str, cases: object) -> None:
    __tracebackhide__ = True
    parts: list[tuple[str, object]] = [("the case", cases)]
    for case in cases if isinstance(cases, Sequence) else ():
        parts.append(("the case", case))
        if isinstance(case, Case):
            parts += [
                (name, getattr(case, name, "")) for name in ("question", "actual_output", "expected_output")
            ]
    for name, value in parts:
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise TypeError(f"{fixture}: {name} is a coroutine that was not awaited; write `await` before it")
    for case in cases if isinstance(cases, Sequence) else (cases,):
        if not isinstance(case, Case):
            raise TypeError(
                f"{fixture}: expected a case, found {type(case).__name__}; make one by eval_case(...)"
            )
        if fault := case_fault(case):
            raise TypeError(f"{fixture}: {fault}")


class TestedModel(AskedModel):
    """A configured model in a test; what a budget leaves out skips the test."""

    __test__ = False  # pytest collects classes named Test… of a test module that imports them

    def _refuse(self, reason: str) -> None:
        pytest.skip(f"not run: {reason}")


def fixture_plugin(functions: Mapping[str, FixtureFunction]) -> types.ModuleType:
    """A plugin whose attributes are the fixtures; pytest looks for them in modules, not in instances."""
    holder: Any = types.ModuleType("pytest_evalstudio_fixtures")
    for name, function in functions.items():
        setattr(holder, name, pytest.fixture(name=name)(function))
    return cast(types.ModuleType, holder)


def fixture_functions(project: Project, services: Services) -> dict[str, FixtureFunction]:
    """Return the functions of all fixtures, by name."""
    functions = {f"{PREFIX}{id}": _check_fixture(project, services, id) for id in project.registry.evaluators}
    general = (
        _case_fixture(),
        _model_fixture(project, services),
        _suite_fixture(),
        perturb_fixture(project, services),
    )
    functions |= dict(zip(GENERAL, general, strict=True))
    for contrib in contribs():
        for name, target in contrib.fixtures.items():
            make: Callable[[Project], FixtureFunction] = loaded(target)
            functions[name] = make(project)
    return functions


def _check_fixture(project: Project, services: Services, id: str) -> FixtureFunction:
    spec = project.registry.evaluators.spec(id)

    def make(request: pytest.FixtureRequest) -> Check:
        config = project.configuration(request.path.parent)
        plan = project.plan(config)
        selected = plan.alone(id)
        services.provider.open(config, [selected])
        # `flips = "report"` is about the items of files; `check_flip` is asked to assert.
        pipeline = Pipeline.under(config, plan, services.provider, spans=services.spans, strict_flips=True)
        return Check(pipeline, selected, request.node)

    make.__doc__ = f"{spec.name}: `.check(case)` asserts, `.score(case)` returns. {spec.description}"
    return _with_usage_errors(make)


def _case_fixture() -> FixtureFunction:
    def eval_case(request: pytest.FixtureRequest) -> Iterator[EvalCase]:
        """Make a case from texts.

        Example: eval_case("What is the fee?", actual_output="5 USD", expected_output="5").
        """
        yield make_case

    return eval_case


def _model_fixture(project: Project, services: Services) -> FixtureFunction:
    def eval_model(request: pytest.FixtureRequest) -> Iterator[EvalModel]:
        """Return a configured model by its name.

        Example: eval_model("gpt").ask("What is the fee?") returns a case with its answer, and so does
        await eval_model("gpt").ask_async("What is the fee?") in an asynchronous test.
        """

        def named(name: str) -> AskedModel:
            # The failure is shown at the line of the test.
            __tracebackhide__ = True
            try:
                info, session = services.models.named(name, project.configuration(request.path.parent))
            except ConfigurationError as exc:
                raise usage_error(exc) from None
            if fixture := project.models.fixture_of(info):
                value = _fixture_value(request, fixture)
                services.models.bind(info, value, request.fixturenames)
            return TestedModel(info, session)

        yield named

    return eval_model


def _fixture_value(request: pytest.FixtureRequest, name: str) -> object:
    """Return the value of the fixture that answers for a model.

    Raises:
        pytest.UsageError: if it is asynchronous, and the test that asks runs already.
    """
    try:
        return request.getfixturevalue(name)
    except RuntimeError:
        if not is_loop_running():
            raise
        remedy = f"name the fixture {name!r} among the arguments of the test"
        raise usage_error(f"an asynchronous fixture cannot be set up while a test runs; {remedy}") from None


def _suite_fixture() -> FixtureFunction:
    def eval_suite(request: pytest.FixtureRequest) -> Iterator[EvalSuite]:
        """Reads a suite, or the kind of file that is named; a relative path starts at the test's folder.

        Example: eval_suite("fees_lab.json", TestLab).
        """

        def load(path: str | Path, kind: type[FormatModel] = TestSuite, /) -> Any:
            try:
                file = read(read_source(request.path.parent / path, str(path)))
            except DataError as exc:
                pytest.fail(shown(exc), pytrace=False)
            if file.errors:
                pytest.fail(shown("\n".join(map(str, file.errors))), pytrace=False)
            if not isinstance(file.content, kind):
                actual = type(file.content).__name__
                call = f"eval_suite({str(path)!r}, {actual})"
                fact = f"{path}: is a {file.kind}, no {kind.__name__}; read it by {call}"
                pytest.fail(shown(fact), pytrace=False)
            return file.content

        yield load

    return eval_suite


def _with_usage_errors(
    make: Callable[[pytest.FixtureRequest], Check],
) -> FixtureFunction:
    def fixture(request: pytest.FixtureRequest) -> Iterator[Check]:
        try:
            check = make(request)
        except ConfigurationError as exc:
            message = shown(f"configuration: {exc}")
        else:
            yield check
            return
        # Beyond the handler: pytest would print the same sentence as the cause of the failure.
        pytest.fail(message, pytrace=False)

    fixture.__doc__ = make.__doc__
    return fixture
