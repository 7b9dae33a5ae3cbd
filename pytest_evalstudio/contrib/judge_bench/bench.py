"""Labelled answers before a judge: what judge-check and judge-tune have in common."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.asking.judging import Judges
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.judging import JUDGE, Example
from pytest_evalstudio.core.origins import SOURCE
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.judges.budget import Budget
from pytest_evalstudio.metrics.function_words import FUNCTION_WORDS
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator, Plan
from pytest_evalstudio.scoring.tasks import answered_task, tasks
from pytest_evalstudio.scoring.verdicts import verdict

Verdicts = dict[tuple[str, str], bool]


def open_bench(
    evaluator: str, *, config: Configuration, registry: Registry | None, cache: Path | None
) -> Bench:
    """Prepare one evaluator for labelled answers.

    Args:
        evaluator: its id.
        config: `judge`, and the evaluator's options.
        registry: what is known; a fresh one where not given.
        cache: folder of stored replies; None for none.

    Raises:
        ConfigurationError: if the evaluator asks no judge, or there is none.
    """
    plugins = registry or Registry()
    plan = Plan(plugins, config)
    selected = plan.alone(evaluator)
    if JUDGE not in selected.requires:
        raise ConfigurationError(
            f"evaluator {evaluator!r} does not ask a judge; `evalstudio evaluators` lists those that"
            " do under method: judge"
        )
    return Bench(
        plan,
        selected,
        config,
        ModelProvider(cache=cache, registry=plugins),
        plugins,
        AnswerCache(cache) if cache is not None else None,
    )


def check_verdicts(place: str, evaluator: str, verdicts: Collection[object], faults: Iterable[str]) -> None:
    """Check that a judge has a verdict on at least one answer.

    Args:
        place: file with the answers, or its name.
        evaluator: id.
        verdicts: of all answers; those without are left out.
        faults: reasons of the answers without a verdict.

    Raises:
        DataError: with the first reason, if there is no verdict.
    """
    if not verdicts:
        raise DataError(
            f"the judge of {evaluator} gave no verdict on any answer, so nothing was written; correct"
            f" the cause, and run the command again: {next(iter(faults), '')}",
            source=place,
        )


def has_grades(evaluator: str, *, config: Configuration, registry: Registry | None) -> bool:
    """Return True if an evaluator grades on a scale, so that labels are grades, not good and bad."""
    return is_scale(Plan(registry or Registry(), config).get(evaluator))


def is_scale(selected: ConfiguredEvaluator) -> bool:
    """Return True if the scores of an evaluator are grades on a scale beyond 0 to 1."""
    high = selected.spec.primary.range[1]
    # Beyond 0 to 1, and bounded: a metric without a limit counts something.
    return 1 < high < math.inf


@dataclasses.dataclass
class Bench:
    """Puts the same cases to the judge in several ways."""

    plan: Plan
    selected: ConfiguredEvaluator
    config: Configuration
    provider: ModelProvider
    registry: Registry
    cache: AnswerCache | None
    budgets: dict[str, Budget] = dataclasses.field(default_factory=dict)
    questions: set[str] = dataclasses.field(default_factory=set)

    def __post_init__(self) -> None:
        # The judge itself is opened for each round, see `outcomes`.
        others = [requirement for requirement in self.selected.requires if requirement != JUDGE]
        if others:
            self.provider.open(self.config, [self.selected])

    def outcomes(
        self,
        cases: Sequence[Case],
        *,
        repeat: int = 1,
        reverse_options: bool = False,
        examples: Mapping[str, Sequence[Example]] | None = None,
    ) -> list[Outcome]:
        """Return the outcomes of cases; a repeat is neither taken from the cache nor stored.

        Args:
            cases: what is judged.
            repeat: 1 for the first round.
            reverse_options: name the options of a reply, their criteria and examples in the other order.
            examples: in place of those of the configuration, by prompt.
        """
        if not cases:
            return []
        judges = Judges(
            self.registry,
            self.cache if repeat == 1 else None,
            repeat=repeat,
            reverse_options=reverse_options,
            # All rounds spend from one budget.
            budgets=self.budgets,
            examples=examples,
        )
        with closing(judges):
            judge = judges.open(self.config, self.selected.own_judge)
            judge.on_question = self.questions.add
            tools = dataclasses.replace(self.provider.tools(self.config), judge=judge)
            pipeline = Pipeline(self.plan, provide=lambda _: tools)
            results = pipeline.evaluate([answered_task(case, self.selected) for case in cases])
        return [result.outcomes[0][self.selected] for result in results]

    def with_chunks_reversed(self, cases: Sequence[Case]) -> Verdicts:
        """Return the verdicts with the chunks in the other order; none where that says nothing of the judge.

        It says nothing where the metric itself depends on the order, and where the judge is asked the same
        questions: it sees no chunks, or each by itself.
        """
        if self.selected.spec.depends_on_chunk_order:
            return {}
        split = [case for case in cases if len(case.context) > 1]
        other_order = [
            case.with_answer(context=case.context[::-1], context_sources=case.context_sources[::-1])
            for case in split
        ]
        return self._of_other_questions(split, other_order)

    def with_padded_answers(self, cases: Sequence[Case]) -> Verdicts:
        """Return the verdicts on answers with additional words that say nothing.

        Only English answers are padded; none are returned where the judge does not see the answer.
        """
        english = [case for case in cases if is_english(case.actual_output)]
        padded = [case.with_answer(text=pad(case.actual_output)) for case in english]
        return self._of_other_questions(english, padded)

    def _of_other_questions(self, cases: Sequence[Case], changed: Sequence[Case]) -> Verdicts:
        """Return the verdicts on changed cases; none where the judge is asked the same questions."""
        # The set grows only by questions that were not asked before.
        before = len(self.questions)
        verdicts = self.verdicts(cases, self.outcomes(changed))
        return verdicts if len(self.questions) > before else {}

    def verdicts(self, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Verdicts:
        """Return, for each case, True if it passes; cases without a verdict are left out."""
        passes = {}
        for case, outcome in zip(cases, outcomes, strict=True):
            passed = verdict(self.selected, [outcome]).passed
            if passed is not None:
                passes[case.key, case.model_key] = passed
        return passes

    def close(self) -> None:
        self.provider.close()
        if self.cache is not None:
            self.cache.close()


def labelled_cases(path: Path, labels: Labels) -> list[Case]:
    """The labelled cases of a file, the first repeat of each."""
    file = read(read_source(path, str(path)))
    if file.errors:
        raise DataError("\n".join(map(str, file.errors)))
    answered = [task.answers[0] for task in tasks(file, path.absolute().parent) if task.answered]
    cases = [case for case in answered if (case.key, case.model_key) in labels]
    if not cases:
        example = (
            f"; the file has e.g. key {answered[0].key!r}, model_key {answered[0].model_key!r}"
            if answered
            else ", and no answers either"
        )
        raise DataError(f"{path}: no label belongs to one of its answers{example}")
    return cases


def clusters_of(cases: Sequence[Case]) -> dict[tuple[str, str], int]:
    """Return the number of the question of each case, from 0.

    Answers of several models to one case belong together, and so do a case and its perturbations.
    """
    sources = {case.key: source for case in cases for source in case.sources(SOURCE)[:1]}
    numbers: dict[str, int] = {}
    clusters = {}
    for case in cases:
        key, visited = case.key, {case.key}
        # Cases may name each other as sources.
        while (source := sources.get(key)) is not None and source not in visited:
            visited.add(source)
            key = source
        clusters[case.key, case.model_key] = numbers.setdefault(key, len(numbers))
    return clusters


_BEFORE = (
    "Thank you very much for your question. Please find the answer below, and feel free to take as much time"
    " as you need to read it."
)
_AFTER = (
    "I hope that this helps. Please do not hesitate to ask again if anything should be unclear to you; I will"
    " gladly put any part of it in other words. You are welcome to come back at any time with further"
    " questions, be they about this or about anything else. Thank you once more, and have a pleasant day."
)
_WORD = re.compile(r"[^\W\d_]+")
MIN_WORDS = 3
MIN_ENGLISH = 0.2
"""Share of function words from which on a text counts as English."""


def pad(answer: str) -> str:
    """Return an answer between courtesies, which are neither statements nor answers."""
    return f"{_BEFORE}\n\n{answer}\n\n{_AFTER}"


def is_english(text: str) -> bool:
    """Return whether a text is probably English: padding in another language would change its language.

    >>> is_english("It costs five euros a month."), is_english("Es kostet fünf Euro im Monat.")
    (True, False)
    """
    # The beginning is enough to tell the language, whatever the length.
    words = [word.lower() for word in _WORD.findall(text[:10_000])]
    return len(words) >= MIN_WORDS and sum(word in FUNCTION_WORDS for word in words) >= MIN_ENGLISH * len(
        words
    )
