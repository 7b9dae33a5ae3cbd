"""The one way from tasks to results: resolve, score, decide."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, Self

from msgspec import structs

from pytest_evalstudio.asking.dialogues import Dialogue, Request
from pytest_evalstudio.asking.thoughts import scored_case
from pytest_evalstudio.core.cases import NOTHING, Answer, Case, Retrieval
from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.flips import Confirmation
from pytest_evalstudio.core.judging import Judge
from pytest_evalstudio.core.origins import SOURCE, origin
from pytest_evalstudio.core.repeats import MEAN, PassPolicy
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.scoring.answering import answered, requests_of, unpacked_case
from pytest_evalstudio.scoring.confirming import confirmation_of, further_repeats_of
from pytest_evalstudio.scoring.expectations import is_unchecked, unchecked_sentence, unread_expectations
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.repeats import further_repeats, needing_all_repeats
from pytest_evalstudio.scoring.responses import (
    IsRefusal,
    ResponseVerdict,
    incomplete_answer,
    not_retrieved,
    response_states,
    response_verdict,
    unexpected_refusal,
    with_responses,
)
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.score import score
from pytest_evalstudio.scoring.spans import EvaluatorSpans
from pytest_evalstudio.scoring.stopping import ask_until_failure
from pytest_evalstudio.scoring.tasks import EvalTask
from pytest_evalstudio.scoring.turns import refusing_turns, scores_turn, turn_case, units_of, worst_outcome
from pytest_evalstudio.scoring.verdicts import flips, repeat_states, verdict
from pytest_evalstudio.stats.confirmation import RepeatTest
from pytest_evalstudio.text.sentences import split_sentences

if TYPE_CHECKING:
    from pytest_evalstudio.formats.config import Configuration
    from pytest_evalstudio.metrics.detectors.presidio import PersonalDataFinder
    from pytest_evalstudio.scoring.model_provider import ModelProvider
    from pytest_evalstudio.text.thoughts import ThoughtTags


class Progress(Protocol):
    """Called with the progress of the current work, in the thread that does it.

    With 0 when the work begins, and after each object that is done.
    """

    def __call__(self, done: int, total: int, /, *, what: str = "answers") -> None: ...


class AnsweringModel(Protocol):
    """A model that can be asked; `asking.resolve.ModelSession` is one."""

    @property
    def retrieves(self) -> bool | None: ...

    @property
    def retrieval(self) -> Retrieval: ...

    def ask(self, requests: Sequence[Request], *, progress: Progress | None = None) -> list[Answer]: ...

    def peek(self, requests: Sequence[Request]) -> list[Answer | None]: ...

    def end_conversations(self, dialogues: Sequence[Dialogue]) -> None: ...


class Pipeline:
    """Asks models, scores answers and reaches verdicts under one plan.

    Items, checks of Python tests, the API, judge-check and steps of workflows are all evaluated here.

    Args:
        plan: evaluators and thresholds.
        models: model key to the session that asks it; not needed for answered tasks.
        strict_flips: whether a pass-to-fail flip of an asserted metric fails the perturbed case.
        policy: verdict on repeats of a task that has no policy of its own.
        refusal_phrases: refusals of the tested applications, beside those that `text.refusals` recognises.
        provide: what an evaluator is provided; the splitter of sentences alone where not given.
        spans: takes the time of each evaluator's batches.
        open_user_model: opens the judge model that plays simulated users.
        reports_unchecked: whether test cases that nothing checks are treated as the plan says; without it,
            each evaluator speaks for itself.
        thoughts: tags of thoughts in the texts of answered tasks, see `text.thoughts`.
        open_finder: returns the finder of names that all texts are searched by before they are scored, None
            for none.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        models: Mapping[str, AnsweringModel] = NOTHING,
        strict_flips: bool = True,
        policy: str = MEAN,
        refusal_phrases: Sequence[str] = (),
        provide: Callable[[ConfiguredEvaluator], Tools] | None = None,
        spans: EvaluatorSpans | None = None,
        open_user_model: Callable[[], Judge] | None = None,
        reports_unchecked: bool = False,
        thoughts: ThoughtTags = True,
        open_finder: Callable[[], PersonalDataFinder | None] = lambda: None,
    ) -> None:
        self._thoughts = thoughts
        self._open_finder = open_finder
        self.plan = plan
        self._reports_unchecked = reports_unchecked
        self._open_user_model = open_user_model
        self._models = models
        self._strict_flips = strict_flips
        self._policy = policy
        self._refusal_phrases = tuple(refusal_phrases)
        self._provide = provide or _sentence_splitter_only
        self._spans = spans or EvaluatorSpans()

    @classmethod
    def under(
        cls,
        config: Configuration,
        plan: Plan,
        provider: ModelProvider,
        *,
        models: Mapping[str, AnsweringModel] = NOTHING,
        spans: EvaluatorSpans | None = None,
        reports_unchecked: bool = False,
        strict_flips: bool | None = None,
    ) -> Self:
        """Return the pipeline of a configuration.

        Args:
            plan: the configuration's evaluators.
            provider: opens the models and judges that they use.
            models: model key to the session that asks it.
            spans: takes the time of each evaluator's batches.
            reports_unchecked: see the class.
            strict_flips: see the class; None for the configuration's choice.
        """
        return cls(
            plan,
            models=models,
            strict_flips=config.flips == "fail" if strict_flips is None else strict_flips,
            policy=config.policy,
            refusal_phrases=config.refusal_phrases,
            provide=functools.partial(provider.tools_of, config),
            spans=spans,
            open_user_model=lambda: provider.judges.open(config),
            reports_unchecked=reports_unchecked,
            thoughts=config.thoughts,
            open_finder=functools.partial(provider.personal_data, config),
        )

    def evaluate(
        self,
        tasks: Sequence[EvalTask],
        *,
        progress: Progress | None = None,
        earlier: Mapping[EvalTask, Result] | None = None,
    ) -> list[Result]:
        """Answer, score and judge a chunk; one result per task, in order.

        Originals that are not in the chunk are scored in addition if their answers are available, so that the
        flips of their perturbations are found.

        Args:
            earlier: results of the same run for linked tasks that are not in the chunk.
        """
        started = time.perf_counter()
        earlier = earlier or {}
        # An original with a result of this run needs no second scoring; `_by_task` takes the earlier one.
        companions = [task for task in self._companions(tasks) if task not in earlier]
        companion_ids = set(companions)
        results = [Result(task) for task in (*tasks, *companions)]
        for result in results:
            if result.task.source is not None:
                result.origin = origin(result.task.case.categories, self.plan.perturbators)
        self._repeat(results, companion_ids, earlier, progress)
        by_task = _by_task(results, earlier)
        for result in results:
            self._decide(result)
        # Only after all verdicts: a flip compares with the verdict of the original, which may come later in
        # the list.
        for result in results[: len(tasks)]:
            if result.task.source is None or result.origin is None or result.not_run:
                continue
            original = by_task.get(result.task.source)
            if original is not None:
                result.compared_beside = (
                    # A companion is not recorded: its scores count for pairs through this note alone.
                    _scored(result) & _scored(original) if original.task in companion_ids else frozenset()
                )
                result.flips = flips(
                    result.task,
                    result.verdicts,
                    original.verdicts,
                    result.origin,
                    strict=self._strict_flips,
                )
        # Cases are asked and scored in batches, so the time of a single one is not known.
        share = (time.perf_counter() - started) / max(1, len(tasks))
        for result in results:
            result.seconds = share
        return results[: len(tasks)]

    def confirm(
        self,
        results: Sequence[Result],
        tests: Sequence[RepeatTest],
        *,
        progress: Progress | None = None,
        earlier: Mapping[EvalTask, Result] | None = None,
    ) -> list[Confirmation]:
        """Ask regressed cases again until the test of each has decided.

        The results stay as they are, so that further repeats of failing cases do not distort the figures.

        Args:
            results: regressed ones; see `can_be_confirmed`.
            tests: of the results, in their order.
            progress: called with the progress of each round.
            earlier: results of the same run for linked tasks.
        """
        # The outcomes are copied too: `_score` writes into them, and the record of the run must not change.
        copies = [
            dataclasses.replace(result, outcomes=[dict(row) for row in result.outcomes]) for result in results
        ]
        test_of = dict(zip(copies, tests, strict=True))
        ends: dict[Result, Confirmation] = {}
        while True:
            for copy in copies:
                if copy in ends:
                    continue
                end = confirmation_of(copy, test_of[copy], self._responses(copy))
                if end is not None:
                    ends[copy] = end
            waiting = {
                copy: further_repeats_of(copy, test_of[copy], self._responses(copy))
                for copy in copies
                if copy not in ends
            }
            if not waiting:
                return [ends[copy] for copy in copies]
            self._answer(waiting, progress)
            positions = [
                (copy, index) for copy in waiting for index in range(len(copy.outcomes), len(copy.answers))
            ]
            for copy, _ in positions:
                copy.outcomes.append({})
            # Evaluators that need all repeats take no part: no sequential test can use them.
            self._score(positions, copies, earlier or {}, progress, deferred=False, is_partial=True)

    def selected_for(self, task: EvalTask) -> tuple[ConfiguredEvaluator, ...]:
        """Return the evaluators of a task."""
        if task.chosen is None:
            task.chosen = self.plan.for_case(task.choice, task.case.plan)
        return task.chosen

    def _companions(self, tasks: Sequence[EvalTask]) -> list[EvalTask]:
        # By id: `in` on the list would compare each linked task with all of them.
        task_ids = {id(task) for task in tasks}
        linked = (
            other for task in tasks for other in (task.source, *task.related.values()) if other is not None
        )
        others = {id(other): other for other in linked if id(other) not in task_ids}
        return [source for source in others.values() if source.answered or self._stored(source)]

    def _stored(self, task: EvalTask, first: int = 1, count: int | None = None) -> bool:
        session = self._models.get(task.model.key)
        return session is not None and all(
            answer is not None for answer in session.peek(self._requests(task, first, count))
        )

    def _requests(self, task: EvalTask, first: int, count: int | None) -> list[Request]:
        return requests_of(task, first, count, open_user_model=self._open_user_model)

    def _repeat(
        self,
        results: Sequence[Result],
        companions: Collection[EvalTask],
        earlier: Mapping[EvalTask, Result],
        progress: Progress | None,
    ) -> None:
        """Ask and score all tasks, those with a sequential test again until it has decided.

        Args:
            results: of the tasks, without answers.
            companions: tasks that are not part of the run, whose models are not asked.
            earlier: results of linked tasks.
            progress: called with the progress of each round.
        """
        waiting = {result: result.task.model.first_runs for result in results}
        while waiting:
            self._answer(waiting, progress)
            positions = [
                (result, index)
                for result in waiting
                for index in range(len(result.outcomes), len(result.answers))
            ]
            for result, _ in positions:
                result.outcomes.append({})
            self._score(positions, results, earlier, progress, deferred=False)
            waiting = {
                result: count
                for result in waiting
                if (count := self._further(result))
                # The model of a companion is not asked, so further repeats count only where all of them are
                # stored.
                and (
                    result.task not in companions
                    or self._stored(result.task, first=len(result.answers) + 1, count=count)
                )
            }
        positions = [(result, index) for result in results for index in range(len(result.answers))]
        self._score(positions, results, earlier, progress, deferred=True)

    def _answer(self, waiting: Mapping[Result, int], progress: Progress | None) -> None:
        """Add the answers of further repeats to results; answered tasks bring all of theirs."""
        by_model: dict[str, list[Result]] = {}
        for result in waiting:
            if result.task.answered:
                result.answers = tuple(
                    scored_case(unpacked_case(case), self._thoughts) for case in result.task.answers
                )
            else:
                by_model.setdefault(result.task.model.key, []).append(result)
        for key, asking in by_model.items():
            session = self._models[key]
            # All requests of a model go out in one call, so that its session can ask them concurrently.
            requests = {
                result: self._requests(result.task, len(result.answers) + 1, waiting[result])
                for result in asking
            }
            pairs = [(result, request) for result in asking for request in requests[result]]
            if progress is not None:
                progress(0, len(pairs))
            answers = iter(
                ask_until_failure(
                    session,
                    [request for _, request in pairs],
                    functools.partial(session.ask, progress=progress),
                    functools.partial(self._failing_turns, [result for result, _ in pairs]),
                )
            )
            for result in asking:
                task = result.task
                for request in requests[result]:
                    answer = next(answers)
                    # A budget or a refused access ended the asking: the case is not run, which is no error of
                    # its answer.
                    if answer.not_asked:
                        result.not_run = answer.error
                        result.access_refused |= answer.access_refused
                        continue
                    case = answered(
                        task.case,
                        answer,
                        task.model,
                        request.run,
                        retrieves=session.retrieves,
                        retrieval=session.retrieval,
                    )
                    result.answers += (case,)
                if any(case.error for case in result.answers):
                    result.not_run = ""  # the repeat that met the fault makes the item an error

    def _failing_turns(self, results: Sequence[Result], answers: Sequence[tuple[int, Answer]]) -> list[bool]:
        """Return which of the last turns of conversations fail.

        Args:
            results: of all requests.
            answers: of the conversations, with the indices of their results.
        """
        tasks = [results[index].task for index, _ in answers]
        last_turns = [
            # The repeat does not matter: only the last turn is read, to decide whether the conversation goes
            # on.
            turn_case(answered(task.case, answer, task.model, 1, retrieves=None), len(answer.turns))
            for task, (_, answer) in zip(tasks, answers, strict=True)
        ]
        fails = [
            not case.is_answered or (case.expects == "refusal" and not self._is_refusal(case))
            for case in last_turns
        ]
        by_evaluator: dict[ConfiguredEvaluator, list[int]] = {}
        for index, task in enumerate(tasks):
            selected_here = self.selected_for(task)
            for selected in selected_here:
                # Evaluators that need all repeats have none to compare in the middle of a conversation.
                if scores_turn(selected, task.case, len(answers[index][1].turns)) and selected not in (
                    needing_all_repeats(selected_here)
                ):
                    by_evaluator.setdefault(selected, []).append(index)
        for selected, indices in by_evaluator.items():
            outcomes = score(selected, [last_turns[index] for index in indices], self._provide(selected))
            for index, passed in zip(indices, repeat_states(selected, outcomes), strict=True):
                fails[index] |= passed is False
        return fails

    def _responses(self, result: Result) -> tuple[bool, ...]:
        """Return for each repeat whether it is the expected answer or refusal; () where all are."""
        return response_states(result.answers, result.outcomes, self._expected_refusal(result))

    def _further(self, result: Result) -> int:
        """Return how many further repeats the sequential test of a result needs at least."""
        stopping = result.task.model.stopping
        # Answered tasks bring all of their repeats, and a model that was not asked will not be asked again.
        if stopping is None or result.task.answered or result.not_run:
            return 0
        responses = self._responses(result)
        states: list[Sequence[bool | None]] = [responses]
        for selected in self.selected_for(result.task):
            outcomes = [row[selected] for row in result.outcomes if selected in row]
            # An error is the verdict whatever further repeats say, so none is paid for.
            if any(outcome.status == "error" for outcome in outcomes):
                return 0
            if outcomes and result.decides(selected):
                states.append(with_responses(repeat_states(selected, outcomes), responses))
        return further_repeats(stopping, states, len(result.answers))

    def _score(
        self,
        positions: Sequence[tuple[Result, int]],
        results: Sequence[Result],
        earlier: Mapping[EvalTask, Result],
        progress: Progress | None,
        *,
        deferred: bool,
        is_partial: bool = False,
    ) -> None:
        """Score repeats by the evaluators that need all repeats (`deferred`), or by the others.

        Args:
            positions: results and the numbers of their repeats.
            results: all results of the chunk.
            earlier: results of linked tasks.
            progress: called with the progress of judges.
            deferred: see above.
            is_partial: score the repeats that were asked also where a budget ended the asking.
        """
        # Before any scoring: evaluators quote texts in their reasons, and names are masked only once they are
        # known.
        self._read_names(result.answers[index] for result, index in positions)
        batches: dict[ConfiguredEvaluator, list[tuple[Result, int]]] = {}
        for result, index in positions:
            if result.not_run and not is_partial:
                continue
            selected_here = self.selected_for(result.task)
            later = needing_all_repeats(selected_here)
            for selected in selected_here:
                if (selected in later) == deferred:
                    batches.setdefault(selected, []).append((result, index))
        by_task = _by_task(results, earlier)
        for selected, batch in batches.items():
            cases = [
                _compared(selected, result, index, by_task)
                if selected.spec.compares
                else result.answers[index]
                for result, index in batch
            ]
            units = [units_of(selected, case) for case in cases]
            tools = self._provide(selected)
            started = time.time()
            unit_cases = [unit.case for part in units for unit in part]
            with _shown(tools.judge, progress, selected.id, len(unit_cases)):
                scored = iter(score(selected, unit_cases, tools))
            outcomes = [worst_outcome(selected, part, [next(scored) for _ in part]) for part in units]
            self._spans.note(selected.id, started, time.time())
            for (result, index), outcome in zip(batch, outcomes, strict=True):
                result.outcomes[index][selected] = outcome
        # After all batches: a calibration reads the scores of other evaluators of the same repeat.
        calibrating = [selected for selected in batches if selected.attached is not None]
        if not calibrating:
            return
        from pytest_evalstudio.scoring.calibrated import calibrated

        for result, index in positions:
            by_evaluator = result.outcomes[index]
            by_evaluator.update(
                {
                    selected: calibrated(selected, by_evaluator)
                    for selected in calibrating
                    if selected in by_evaluator
                }
            )

    def _read_names(self, cases: Iterable[Case]) -> None:
        """Search the texts of cases for names, which masks them from then on."""
        finder = self._open_finder()
        if finder is not None:
            from pytest_evalstudio.scoring.case_texts import texts_of

            finder.read([text for case in cases for text in texts_of(case)])

    def _decide(self, result: Result) -> None:
        task = result.task
        if result.not_run:
            return
        selected_here = self.selected_for(task)
        policy = PassPolicy.parse(task.policy or self._policy)
        later = needing_all_repeats(selected_here)
        # Answered tasks have a fixed number of repeats, which no test has ended: the policy counts them.
        stopping = None if task.answered else task.model.stopping
        states = []
        for selected in selected_here:
            outcomes = [of_repeat[selected] for of_repeat in result.outcomes]
            test = None if selected in later else stopping
            result.verdicts[selected] = verdict(selected, outcomes, policy, test)
            # With a test, evaluators that are scored after it must not join in its states; without one, all
            # do.
            if test is stopping and result.decides(selected):
                states.append(repeat_states(selected, outcomes))
        result.response = response_verdict(
            result.answers, result.outcomes, states, policy, stopping, self._expected_refusal(result)
        )
        # From here on each explanation is tried only where none has been found: the first one is the most
        # basic.
        if result.response.passed is None:
            deciding = [
                (reached.code, reached.passed)
                for selected, reached in result.verdicts.items()
                if result.decides(selected)
            ]
            result.response = not_retrieved(result.answers, deciding)
        # A refusal alone fails nothing here; it explains why evaluators of the content fail.
        if task.case.expects != "refusal" and not result.response.reason and result.fails_by_content:
            result.response = unexpected_refusal(result.answers, self._is_refusal)
        if self.plan.fails_incomplete and not result.response.reason:
            result.response = incomplete_answer(result.answers) or result.response
        if self._reports_unchecked:
            self._note_unchecked(result)

    def _note_unchecked(self, result: Result) -> None:
        """Note the expectations that nothing has read, and fail an unchecked case where the plan says so."""
        result.unread = unread_expectations(result)
        if not is_unchecked(result):
            return
        result.unchecked = self.plan.unchecked_policy(result.task.choice)
        result.unchecked_reason = unchecked_sentence(result, self.plan.specs)
        if result.unchecked == "fail" and not result.response.reason:
            result.response = ResponseVerdict(
                passed=False, code=ItemCode.UNCHECKED, reason=result.unchecked_reason
            )

    def _expected_refusal(self, result: Result) -> IsRefusal | None:
        """Return what recognises the refusals that a task expects, None if it expects answers."""
        if result.expects_refusal:
            return self._is_refusal
        return self._is_refused_where_expected if result.expects_refusal_of_turns else None

    def _is_refused_where_expected(self, case: Case) -> bool:
        """Return True if each turn that expects a refusal has one; see `turns.refusing_turns`."""
        return all(self._is_refusal(turn_case(case, number)) for number in refusing_turns(case))

    def _is_refusal(self, case: Case) -> bool:
        from pytest_evalstudio.text.refusals import is_refusal

        return is_refusal(case.actual_output, case.question, self._refusal_phrases)


def _by_task(results: Iterable[Result], earlier: Mapping[EvalTask, Result]) -> dict[EvalTask, Result]:
    return {**earlier, **{result.task: result for result in results}}


@contextmanager
def _shown(judge: Judge | None, progress: Progress | None, evaluator: str, count: int) -> Iterator[None]:
    """Report the begin of an evaluator, and the progress of its judge, if it is one of this package."""
    if progress is None:
        yield
        return
    if judge is None:
        progress(0, count, what=f"scores ({evaluator})")
        yield
        return
    from pytest_evalstudio.judges.panel import Panel

    what = f"judgements ({evaluator})"
    progress(0, count * (judge.members if isinstance(judge, Panel) else 1), what=what)
    if not isinstance(judge, Panel):
        yield
        return
    judge.progress = functools.partial(progress, what=what)
    try:
        yield
    finally:
        judge.progress = None


def _compared(
    selected: ConfiguredEvaluator, result: Result, index: int, by_task: Mapping[EvalTask, Result]
) -> Case:
    """Return the case of a repeat, with the case that the evaluator compares it with, if any."""
    case = result.answers[index]
    linked = _linked(selected.spec.compares, result)
    other = by_task.get(linked) if linked is not None else None
    return (
        case
        if other is None or not other.answers or other.not_run
        # The other case may have fewer repeats, e.g. where its sequential test ended earlier.
        else structs.replace(case, counterpart=other.answers[min(index, len(other.answers) - 1)])
    )


def _linked(relationship: str, result: Result) -> EvalTask | None:
    """Return the task that a result is compared with; None for a perturbation that changes the meaning."""
    if relationship != SOURCE:
        return result.task.related.get(relationship)
    return result.task.source if result.origin is not None and result.origin.meaning_kept else None


def _scored(result: Result) -> frozenset[str]:
    """Return the ids of the evaluators that scored the result."""
    return frozenset(
        selected.id for selected, reached in result.verdicts.items() if reached.status == "score"
    )


def _sentence_splitter_only(_: ConfiguredEvaluator) -> Tools:
    return Tools(split_sentences=split_sentences)
