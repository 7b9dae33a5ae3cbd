"""Step alignment and completeness: does the answer give the steps of the retrieved procedure, all of them and
in their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.replies import record, several, text
from pytest_evalstudio.evaluators._common import (
    EMPTY_ANSWER,
    MAX_FRAGMENTS,
    is_empty,
    keywords,
    listed,
    one_line,
)
from pytest_evalstudio.evaluators._judged import judged
from pytest_evalstudio.evaluators._similarity import Vectors, has_words
from pytest_evalstudio.evaluators._steps import Aligned, Likeness, Step, align, find_steps, likeness, merged

MOST_PAIRS = 250_000
"""Pairs of steps beyond which texts are no procedures any more, and comparing them would take minutes."""
_COUNTED = {"insertions": "insertion", "deletions": "deletion", "mismatches": "mismatch"}


def metric(
    key: str,
    name: str,
    description: str,
    *,
    better: Literal["higher", "lower"] = "lower",
    primary: bool = False,
) -> Metric:
    """A number of steps or edits."""
    return Metric(
        key,
        name,
        better=better,
        range=(0.0, math.inf),
        threshold=0.75,
        primary=primary,
        description=description,
    )


@evaluator(
    "step_alignment",
    name="Step alignment & completeness",
    domain="generation",
    needs=("context", "actual_output"),
    method=("embeddings", "rules", "judge"),
    systems=("rag",),
    keywords=keywords("", "", "evaluation-method-rule-based", "capability-answer-highlight"),
)
@dataclass(frozen=True)
class StepAlignment:
    """Edits that turn the steps of the answer into those of the retrieved context: steps to put in, to take
    out, to replace.

    Steps are items of lists and English sentences that tell to do something, found by rules; with
    `step_extractor = "llm"` they are what the judge copies out, one question for the context and one for the
    answer. Two are the same if they differ in punctuation, case, articles or a few letters at most; with
    `similarity = "embeddings"` also if their cosine is at least `similarity_threshold`. A context without
    steps has nothing to align with.
    """

    step_extractor: Literal["rules", "llm"] = "rules"
    similarity: Literal["words", "embeddings"] = "words"
    similarity_threshold: float = 0.8
    metrics: ClassVar[tuple[Metric, ...]] = (
        metric("edits", "Edits", "Insertions, deletions and mismatches together.", primary=True),
        metric("insertions", "Insertions", "Steps of the context that are not in the answer."),
        metric("deletions", "Deletions", "Steps of the answer that are not in the context."),
        metric(
            "mismatches", "Mismatches", "Steps of the answer that stand in place of others of the context."
        ),
        metric(
            "retrieved_context_steps",
            "Retrieved context steps",
            "Steps detected in the context.",
            better="higher",
        ),
        metric(
            "actual_answer_steps", "Actual answer steps", "Steps detected in the answer.", better="higher"
        ),
    )
    prompts: ClassVar[tuple[str, ...]] = ("steps",)

    def __post_init__(self) -> None:
        if not -1 <= self.similarity_threshold <= 1:
            raise ConfigurationError(
                f"similarity_threshold = {self.similarity_threshold}: expected a cosine, -1 to 1"
            )

    @property
    def requires(self) -> tuple[str, ...]:
        """What it cannot score without, with the options it has."""
        return (
            *(("embedder",) if self.similarity == "embeddings" else ()),
            *((JUDGE,) if self.step_extractor == "llm" else ()),
        )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def finish(read: Sequence[tuple[Case, tuple[list[str], list[Step]]]]) -> list[Outcome]:
            return self._outcomes(read, tools)

        if self.step_extractor == "llm":
            return judged(cases, tools, self.metrics, _asked_steps, finish, reads_answer=False)
        return finish([(case, self._read(case, tools)) for case in cases])

    def _outcomes(
        self, read: Sequence[tuple[Case, tuple[list[str], list[Step]]]], tools: Tools
    ) -> list[Outcome]:
        compare: Callable[[str, str], Likeness] = likeness
        if self.similarity == "embeddings":
            asked = {
                text
                for _, (truth, own) in read
                if truth and own
                for text in (*truth, *(step.text for step in own))
            }
            compare = by_meaning(Vectors(asked, tools.embedder), self.similarity_threshold)
        return [_outcome(case, truth, own, compare) for case, (truth, own) in read]

    def _read(self, case: Case, tools: Tools) -> tuple[list[str], list[Step]]:
        """Steps of the context, those that overlapping chunks repeat once; and of the answer."""
        chunks = [[step.text for step in find_steps(chunk, tools.split_sentences)] for chunk in case.context]
        return merged(chunks), [] if is_empty(case) else find_steps(case.actual_output, tools.split_sentences)


def _asked_steps(case: Case) -> Flow[tuple[list[str], list[Step]]]:
    """Have the judge copy out the steps of context and answer: two questions, one where the answer is
    empty.
    """
    reply = record(steps=several("The steps.", text("")))
    questions = [Question(prompt="steps", texts={"text": case.context}, reply=reply)]
    if not is_empty(case):
        questions.append(Question(prompt="steps", texts={"text": case.actual_output}, reply=reply))
    replies = yield questions
    found = [[step.strip() for step in one["steps"] if has_words(step)] for one in replies]
    return found[0], located(found[1], case.actual_output) if len(found) > 1 else []


def located(steps: Sequence[str], answer: str) -> list[Step]:
    """Steps and where they stand in the answer, looked for in order; one that is not there word for word
    stands nowhere, at 0 to 0.
    """
    found, place = [], 0
    for step in steps:
        start = answer.find(step, place)
        place = start + len(step) if start >= 0 else place
        found.append(Step(step, start, place) if start >= 0 else Step(step, 0, 0))
    return found


def by_meaning(vectors: Vectors, threshold: float) -> Callable[[str, str], Likeness]:
    """The ladder of `likeness` with a further rung: steps whose cosine is at least the threshold mean the
    same.
    """

    def compare(first: str, second: str) -> Likeness:
        found = likeness(first, second)
        if found == "mismatch" and vectors.cosines([first], [second])[0, 0] >= threshold:
            return "meaning"
        return found

    return compare


def _outcome(
    case: Case, truth: Sequence[str], own: Sequence[Step], compare: Callable[[str, str], Likeness]
) -> Outcome:
    if not truth:
        return Outcome.not_applicable("the retrieved context has no steps")
    if len(truth) * len(own) > MOST_PAIRS:
        return Outcome.error(
            f"{len(truth):,} steps of the context and {len(own):,} of the answer are too many to align",
            OutcomeCode.TEXT_TOO_LONG,
        )
    aligned = align(truth, [step.text for step in own], compare)
    counts = {key: float(sum(one.edit == edit for one in aligned)) for key, edit in _COUNTED.items()}
    scores = {
        "edits": math.fsum(counts.values()),
        **counts,
        "retrieved_context_steps": float(len(truth)),
        "actual_answer_steps": float(len(own)),
    }
    reason = EMPTY_ANSWER if is_empty(case) else _reason(aligned, truth, own)
    return Outcome.score(scores, reason=reason, fragments=_fragments(aligned, truth, own))


def _reason(aligned: Sequence[Aligned], truth: Sequence[str], own: Sequence[Step]) -> str:
    missing = [
        one_line(truth[one.truth], 80) for one in aligned if one.edit == "insertion" and one.truth is not None
    ]
    strange = [
        one_line(own[one.own].text, 80) for one in aligned if one.edit == "deletion" and one.own is not None
    ]
    wrong = [
        f"{one_line(own[one.own].text, 80)} (context: {one_line(truth[one.truth], 80)})"
        for one in aligned
        if one.edit == "mismatch" and one.own is not None and one.truth is not None
    ]
    named = (
        ("missing or out of order", missing),
        ("not in the context, or out of order", strange),
        ("in place of another step", wrong),
    )
    return "; ".join(f"{what}: {listed(steps)}" for what, steps in named if steps)


def _fragments(aligned: Sequence[Aligned], truth: Sequence[str], own: Sequence[Step]) -> tuple[Fragment, ...]:
    """A fragment per step of the answer, in order; of very many those that need edits are kept."""
    found = []
    for one in aligned:
        if one.own is None:
            continue
        message = {
            "deletion": "step that the context does not have here",
            "mismatch": "step in place of another",
        }.get(one.edit, "")
        if one.edit == "mismatch" and one.truth is not None:
            message += f": {one_line(truth[one.truth], 80)}"
        if one.edit == "match" and one.likeness != "exact":
            message = (
                f"the same but for {one.likeness}" if one.likeness != "meaning" else "the same in meaning"
            )
        step = own[one.own]
        if step.end == 0:
            continue
        found.append(
            Fragment(
                start=step.start, end=step.end, scores={"edits": float(one.edit != "match")}, message=message
            )
        )
    kept = sorted(range(len(found)), key=lambda place: (-found[place].scores["edits"], place))[:MAX_FRAGMENTS]
    return tuple(found[place] for place in sorted(kept))
