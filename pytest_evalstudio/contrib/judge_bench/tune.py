"""Alignment of a judge with people: examples and a threshold, proposed from labelled answers."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np

from pytest_evalstudio.analysis.wording import p_text
from pytest_evalstudio.contrib.judge_bench.bench import Bench, check_verdicts, labelled_cases, open_bench
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.core.judging import Example, Flow, JudgeFault, Judgement, Question, Vote
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.judge_examples import JudgeExample, JudgeExamples
from pytest_evalstudio.formats.labels import Labels
from pytest_evalstudio.judges.examples import verdict_of
from pytest_evalstudio.scoring.score import score
from pytest_evalstudio.stats.agreement import cohen_kappa
from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from pytest_evalstudio.text.figures import counted, figure

P_VALUE = 0.05
MIN_LABELS = 8
"""Fewer labels cannot be split into halves that say anything."""
MAX_EXAMPLE_CHARS = 4_000
"""Answers with longer texts are no examples: each example is a part of every prompt."""

_KINDS = ((1, "good"), (0, "bad"))
"""Labels, and what they say of an answer."""

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """Agreement of a judge with people on one half of the labels.

    Attributes:
        answers: those with a verdict.
        kappa: Cohen's kappa; None where it is not defined.
    """

    answers: int
    kappa: float | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """A proposal for one judge.

    Attributes:
        proposal: examples and threshold, as they are written to the file.
        threshold: the present one.
        present, proposed: agreement on the fit half and on the held-out half.
        note: why there are no examples, "" where there are.
        corrected: held-out answers on which only the proposal agrees with people.
        newly_wrong: those on which only the present judge does.
    """

    proposal: JudgeExamples
    threshold: float
    present: Mapping[str, JudgeAgreement]
    proposed: Mapping[str, JudgeAgreement]
    note: str
    corrected: int
    newly_wrong: int

    @property
    def is_better(self) -> bool:
        """Return whether the proposal agrees with people on the held-out half, and better than the judge."""
        before, after = self.present["held_out"].kappa, self.proposed["held_out"].kappa
        return after is not None and after > 0 and (before is None or after > before)

    @property
    def p(self) -> float:
        """Return p of the one-sided sign test that the proposal corrects no more answers than it spoils."""
        changes = np.repeat([-1.0, 1.0], [self.corrected, self.newly_wrong])
        return sign_flip_drop(changes) if changes.size else 1.0


def tune_judge(
    path: Path,
    labels: Labels,
    evaluator: str,
    *,
    config: Configuration,
    examples: int = 4,
    seed: int = 0,
    cache: Path | None = None,
    registry: Registry | None = None,
) -> Tuning:
    """Propose examples and a threshold for a judge; the configuration is not changed.

    The labels are split into halves with equal shares of good answers, in which answers to one question stay
    together. Examples come from the fit half, answers on which the judge and people disagree first. The
    threshold maximizes Cohen's kappa on the rest of the fit half. The held-out half only measures.

    Args:
        path: lab or data set that has the answers.
        labels: 1 (good) or 0 (bad) by answer.
        evaluator: its id.
        config: `judge`, and the evaluator's options.
        examples: maximum number of examples, half of them good.
        seed: of the split.
        cache: folder of stored replies; None for none.
        registry: what is known; a fresh one where not given.

    Raises:
        ConfigurationError: if the evaluator asks no judge, or there is none.
        DataError: if there are too few labels of one kind, or the judge has no verdict on any answer.
    """
    if examples < 0:
        raise ConfigurationError(f"examples = {examples}: must be 0 or more")
    bench = open_bench(evaluator, config=config, registry=registry, cache=cache)
    with closing(bench):
        cases = labelled_cases(path, labels)
        fit, held_out = _halves(cases, labels, seed)
        scores = _Scores(bench, labels)
        before = scores.of([*fit, *held_out])
        check_verdicts(str(path), evaluator, before, scores.faults)
        selected, note = _examples(bench, fit, labels, before, examples)
        shown = {selected.prompt: selected.examples} if selected.examples else None
        after = before if shown is None else scores.of([*fit, *held_out], examples=shown)
        # The judge has seen the labels of its examples.
        rest = [case for case in fit if _identity(case) not in selected.identities]
        threshold = _best_threshold(scores, rest, after)
    halves = {"fit": rest, "held_out": held_out}
    present = {name: scores.agreement(half, before, scores.threshold) for name, half in halves.items()}
    proposed = {name: scores.agreement(half, after, threshold) for name, half in halves.items()}
    agreements = {"present": present, "proposed": proposed}
    changed = threshold if threshold != scores.threshold else None
    gained, lost = scores.changes(held_out, (before, scores.threshold), (after, threshold))
    return Tuning(
        proposal=_proposal(evaluator, selected, changed, agreements),
        threshold=scores.threshold,
        present=present,
        proposed=proposed,
        note=note,
        corrected=gained,
        newly_wrong=lost,
    )


def _proposal(
    evaluator: str,
    selected: _SelectedExamples,
    threshold: float | None,
    agreements: Mapping[str, Mapping[str, JudgeAgreement]],
) -> JudgeExamples:
    return JudgeExamples(
        evaluator=evaluator,
        prompt=selected.prompt,
        examples=[JudgeExample(texts=_plain(each.texts), verdict=each.verdict) for each in selected.examples],
        threshold=threshold,
        figures={
            name: {half: dataclasses.asdict(figure) for half, figure in halves.items()}
            for name, halves in agreements.items()
        },
    )


def describe(tuning: Tuning, file: str) -> Iterator[str]:
    """Return a proposal in words, for a terminal.

    Args:
        tuning: the proposal.
        file: where it is written; "" for nowhere.
    """
    yield "Cohen's kappa           fit half          held-out half"
    for name, figures in (("present", tuning.present), ("proposed", tuning.proposed)):
        columns = [
            f"{_number(figures[half].kappa)} of {figures[half].answers}" for half in ("fit", "held_out")
        ]
        yield f"{name:<24}{columns[0]:<18}{columns[1]}"
    if tuning.note:
        yield tuning.note
    if not tuning.is_better:
        yield "the proposal does not agree better on the held-out half: keep the present configuration"
        return
    if tuning.p > P_VALUE:
        yield (
            f"the difference may be chance: {counted(tuning.corrected, 'held-out answer')} corrected,"
            f" {tuning.newly_wrong} newly wrong ({p_text(tuning.p)}); label more answers before you apply it"
        )
    id, threshold = tuning.proposal.evaluator, tuning.proposal.threshold
    yield "to apply it, write into the configuration:"
    if threshold is not None:
        yield f"  [evaluator.{id}]"
        yield f"  threshold = {threshold:g}    # now {tuning.threshold:g}"
    if tuning.proposal.examples and file:
        yield f"  [evaluator.{id}.judge]"
        # Text of JSON is text of TOML, also with backslashes.
        yield f"  examples = {json.dumps(file, ensure_ascii=False)}"


@dataclasses.dataclass(frozen=True, slots=True)
class _Scores:
    """The primary metric of labelled answers.

    Attributes:
        faults: reasons of the answers without a verdict.
    """

    bench: Bench
    labels: Labels
    faults: list[str] = dataclasses.field(default_factory=list)

    @property
    def threshold(self) -> float:
        """Return the configured threshold."""
        return self.bench.selected.thresholds[self.bench.selected.spec.primary.key]

    def of(
        self, cases: Sequence[Case], *, examples: Mapping[str, Sequence[Example]] | None = None
    ) -> dict[tuple[str, str], float]:
        """Judge cases and return their scores; answers without a verdict are left out."""
        key = self.bench.selected.spec.primary.key
        scores = {}
        for case, outcome in zip(cases, self.bench.outcomes(cases, examples=examples), strict=True):
            value = outcome.scores.get(key) if outcome.status == "score" else None
            if value is not None:
                scores[_identity(case)] = value
            else:
                self.faults.append(outcome.reason)
        return scores

    def changes(
        self,
        cases: Sequence[Case],
        before: tuple[Mapping[tuple[str, str], float], float],
        after: tuple[Mapping[tuple[str, str], float], float],
    ) -> tuple[int, int]:
        """Return the answers on which only the later verdicts agree with people, and only the earlier ones.

        Args:
            cases: answers that are counted.
            before, after: scores and threshold.
        """
        metric = self.bench.selected.spec.primary
        gained = lost = 0
        for identity in map(_identity, cases):
            if identity not in before[0] or identity not in after[0]:
                continue
            is_good = self.labels[identity] == 1
            was_right, is_right = (
                metric.passes(scores[identity], threshold) == is_good for scores, threshold in (before, after)
            )
            gained += is_right and not was_right
            lost += was_right and not is_right
        return gained, lost

    def agreement(
        self, cases: Sequence[Case], scores: Mapping[tuple[str, str], float], threshold: float
    ) -> JudgeAgreement:
        """Return the agreement of the scores with people at a threshold."""
        metric = self.bench.selected.spec.primary
        shared = [_identity(case) for case in cases if _identity(case) in scores]
        people = [self.labels[identity] == 1 for identity in shared]
        judge = [metric.passes(scores[identity], threshold) for identity in shared]
        return JudgeAgreement(answers=len(shared), kappa=cohen_kappa(people, judge))


def _halves(cases: Sequence[Case], labels: Labels, seed: int) -> tuple[list[Case], list[Case]]:
    """Split cases into halves with equal shares of good answers; answers to one question stay together."""
    counts = Counter(labels[_identity(case)] for case in cases)
    for label, kind in _KINDS:
        if 2 * counts[label] < MIN_LABELS:
            raise DataError(
                f"{counts[label]} labelled answers are {kind}: judge-tune needs at least {MIN_LABELS // 2} of"
                " each kind; label more answers"
            )
    halves: tuple[list[Case], list[Case]] = ([], [])
    sizes = {label: [0, 0] for label, _ in _KINDS}
    for group in _questions(cases, labels, seed):
        of_group = Counter(labels[_identity(case)] for case in group)
        # The half with fewer answers of the kinds that the question brings; the first of equal ones.
        excess = sum((size[0] - size[1]) * of_group[label] for label, size in sizes.items())
        half = 1 if excess > 0 else 0
        halves[half].extend(group)
        for label, size in sizes.items():
            size[half] += of_group[label]
    for label, kind in _KINDS:
        if min(sizes[label]) < MIN_LABELS // 4:
            questions = len({case.key for case in cases})
            raise DataError(
                f"the {counts[label]} {kind} answers belong to too few of the"
                f" {counted(questions, 'question')} to be split in two halves; label answers to more"
                " questions"
            )
    return halves


def _questions(cases: Sequence[Case], labels: Labels, seed: int) -> Iterator[list[Case]]:
    """Yield the answers to each question: large groups first, questions with equal labels in random order."""
    groups: dict[str, list[Case]] = {}
    # Sorted, so that the split does not depend on the order of the file.
    for case in sorted(cases, key=_identity):
        groups.setdefault(case.key, []).append(case)
    alike: dict[tuple[int, int], list[list[Case]]] = {}
    for group in groups.values():
        good = sum(labels[_identity(case)] == 1 for case in group)
        alike.setdefault((len(group), good), []).append(group)
    for profile in sorted(alike, reverse=True):
        random.Random(seed).shuffle(alike[profile])
        yield from alike[profile]


def _best_threshold(scores: _Scores, cases: Sequence[Case], values: Mapping[tuple[str, str], float]) -> float:
    """Return the threshold with the highest kappa; the present one unless another is better."""
    # Scores of 0 and 1 only leave no choice of a threshold.
    if scores.bench.selected.spec.primary.boolean and set(values.values()) <= {0.0, 1.0}:
        return scores.threshold
    distinct = sorted({values[_identity(case)] for case in cases if _identity(case) in values})
    middles = [(low + high) / 2 for low, high in itertools.pairwise(distinct)]

    def kappa(threshold: float) -> float:
        agreement = scores.agreement(cases, values, threshold).kappa
        # Kappa is -1 at least.
        return -1.0 if agreement is None else agreement

    best = max(middles, key=kappa, default=scores.threshold)
    # Of equal thresholds, the present one stays.
    return best if kappa(best) > kappa(scores.threshold) else scores.threshold


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _SelectedExamples:
    """Examples, and the answers that they were made of."""

    prompt: str = ""
    examples: Sequence[Example] = ()
    identities: frozenset[tuple[str, str]] = frozenset()


def _examples(
    bench: Bench, fit: Sequence[Case], labels: Labels, scores: Mapping[tuple[str, str], float], count: int
) -> tuple[_SelectedExamples, str]:
    """Choose examples, as many good as bad answers, and say why there are none."""
    metric = bench.selected.spec.primary
    limit = bench.selected.thresholds[metric.key]

    def is_wrong(case: Case) -> bool:
        value = scores.get(_identity(case))
        return value is not None and metric.passes(value, limit) != (labels[_identity(case)] == 1)

    if not any(map(is_wrong, fit)):
        return _SelectedExamples(), "no examples: the judge agrees with people on the whole fit half"
    prompt = ""
    selected: list[Example] = []
    identities = set()
    for label in (0, 1):
        # The sort is stable: wrong verdicts first, otherwise the order of the half.
        alike = sorted((case for case in fit if labels[_identity(case)] == label), key=is_wrong, reverse=True)
        remaining = count // 2 + (count % 2 if label == 0 else 0)
        for case in alike:
            if remaining == 0:
                break
            question = _only_question(bench, case)
            if question is None:
                return (
                    _SelectedExamples(),
                    "no examples: a verdict of this evaluator is not one choice of the judge",
                )
            if sum(map(len, _flat(question.texts))) > MAX_EXAMPLE_CHARS:
                continue
            options = verdict_of(question.reply)[1]
            # The first option is that of a case that passes.
            selected.append(Example(texts=question.texts, verdict=options[0 if label else 1]))
            identities.add(_identity(case))
            prompt = question.prompt
            remaining -= 1
    if not selected:
        return _SelectedExamples(), f"no examples: all texts are longer than {MAX_EXAMPLE_CHARS:,} characters"
    return _SelectedExamples(prompt=prompt, examples=selected, identities=frozenset(identities)), ""


def _only_question(bench: Bench, case: Case) -> Question | None:
    """Return the question that decides a case; None where several do, or it offers no choice of two."""
    if not bench.selected.spec.primary.boolean:
        return None
    # Nobody is asked: the question is all that is needed.
    recorder = _Recorder()
    tools = dataclasses.replace(bench.provider.tools(bench.config), judge=recorder)
    score(bench.selected, [case], tools)
    questions = [question for asked in recorder.questions for question in asked]
    if len(questions) != 1 or not verdict_of(questions[0].reply)[1]:
        return None
    return questions[0]


class _Recorder:
    """A judge that notes the first questions of each judgement and answers none."""

    name = "recorder"
    vote: Vote = "majority"
    members = 1

    def __init__(self) -> None:
        self.questions: list[Sequence[Question]] = []

    def follow(self, flows: Sequence[Callable[[], Flow[T]]]) -> list[list[Judgement]]:
        judgements = []
        for make in flows:
            flow = make()
            try:
                self.questions.append(next(flow))
            except StopIteration:
                self.questions.append([])
            flow.close()
            judgements.append([Judgement(judge=self.name, fault=JudgeFault("not asked"))])
        return judgements


def _identity(case: Case) -> tuple[str, str]:
    return case.key, case.model_key


def _flat(texts: Mapping[str, str | Sequence[str]]) -> Iterator[str]:
    for text in texts.values():
        yield from [text] if isinstance(text, str) else text


def _plain(texts: Mapping[str, str | Sequence[str]]) -> dict[str, str | list[str]]:
    return {name: text if isinstance(text, str) else list(text) for name, text in texts.items()}


def _number(value: float | None) -> str:
    return "-" if value is None else figure(value)
