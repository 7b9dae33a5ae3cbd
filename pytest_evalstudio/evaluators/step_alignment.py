"""Step alignment and completeness: steps of the answer compared with the steps of the retrieved context."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.judging import JUDGE, Flow, Question
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.replies import record, several, text
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import MAX_FRAGMENTS, keywords, listed
from pytest_evalstudio.evaluators._judged import judged
from pytest_evalstudio.evaluators._similarity import TextEmbeddings, has_words
from pytest_evalstudio.metrics.quoting import one_line
from pytest_evalstudio.metrics.steps import Aligned, Likeness, TextStep, align, find_steps, likeness, merged
from pytest_evalstudio.text.prose import prose_sentences

MAX_PAIRS = 250_000
"""Maximum number of compared pairs; the comparison of more steps takes minutes."""
MAX_COMPARED_CHARS = 10_000_000
"""Maximum number of characters of all pairs together; the comparison of more takes many seconds."""
_COUNTED = {"insertions": "insertion", "deletions": "deletion", "mismatches": "mismatch"}


def metric(
    key: str,
    name: str,
    description: str,
    *,
    better: Literal["higher", "lower"] = "lower",
    primary: bool = False,
) -> Metric:
    """Return a metric that counts steps or edits."""
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
    """Edits that turn the steps of the answer into those of the retrieved context.

    Steps are items of lists and English imperative sentences; with `step_extractor = "llm"` the judge
    extracts them. Two steps are equal if they differ only in punctuation, case, articles or a few letters;
    with `similarity = "embeddings"` also if their cosine is at least `similarity_threshold`. A context
    without steps is not applicable.

    Source: Eval Studio user guide, step alignment and completeness.
    """

    step_extractor: Literal["rules", "llm"] = "rules"
    similarity: Literal["words", "embeddings"] = "words"
    similarity_threshold: float = 0.8
    metrics: ClassVar[tuple[Metric, ...]] = (
        metric("edits", "Edits", "Insertions, deletions and mismatches together.", primary=True),
        metric("insertions", "Insertions", "Steps of the context that are not in the answer."),
        metric("deletions", "Deletions", "Steps of the answer that are not in the context."),
        metric("mismatches", "Mismatches", "Steps of the answer that replace other steps of the context."),
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
        """Tools that the configured method needs."""
        tools = []
        if self.similarity == "embeddings":
            tools.append("embedder")
        if self.step_extractor == "llm":
            tools.append(JUDGE)
        return tuple(tools)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        def finish(read: Sequence[tuple[Case, tuple[list[str], list[TextStep]]]]) -> list[Outcome]:
            return self._outcomes(read, tools)

        if self.step_extractor == "llm":
            return judged(cases, tools, self.metrics, _asked_steps, finish)
        return finish([(case, self._read(case, tools)) for case in cases])

    def _outcomes(
        self, read: Sequence[tuple[Case, tuple[list[str], list[TextStep]]]], tools: Tools
    ) -> list[Outcome]:
        compare: Callable[[str, str], Likeness] = likeness
        if self.similarity == "embeddings":
            questions = {
                text
                for _, (truth, actual) in read
                if truth and actual
                for text in (*truth, *(step.text for step in actual))
            }
            compare = by_meaning(TextEmbeddings(questions, tools.embedder), self.similarity_threshold)
        return [_outcome(case, truth, actual, compare) for case, (truth, actual) in read]

    def _read(self, case: Case, tools: Tools) -> tuple[list[str], list[TextStep]]:
        """Steps of the context, those that overlapping chunks repeat once; and of the answer."""
        chunks = [[step.text for step in find_steps(chunk, prose_sentences)] for chunk in case.context]
        return merged(chunks), find_steps(case.actual_output, prose_sentences)


def _asked_steps(case: Case) -> Flow[tuple[list[str], list[TextStep]]]:
    """Let the judge extract the steps of the context and of the answer."""
    reply = record(steps=several("The steps.", text("")))
    replies = yield [
        Question(prompt="steps", texts={"text": text}, reply=reply)
        for text in (case.context, case.actual_output)
    ]
    truth, actual = ([step.strip() for step in reply["steps"] if has_words(step)] for reply in replies)
    return truth, located(actual, case.actual_output)


def located(steps: Sequence[str], answer: str) -> list[TextStep]:
    """Locate steps in the answer, in order; a step that does not occur verbatim has the span 0 to 0."""
    spans, position = [], 0
    for step in steps:
        start = answer.find(step, position)
        position = start + len(step) if start >= 0 else position
        spans.append(TextStep(step, start, position) if start >= 0 else TextStep(step, 0, 0))
    return spans


def by_meaning(vectors: TextEmbeddings, threshold: float) -> Callable[[str, str], Likeness]:
    """Return `likeness` with a further level: steps whose cosine is at least the threshold."""

    def compare(first: str, second: str) -> Likeness:
        level = likeness(first, second)
        if level == "mismatch" and vectors.cosines([first], [second])[0, 0] >= threshold:
            return "meaning"
        return level

    return compare


def _outcome(
    case: Case, truth: Sequence[str], actual: Sequence[TextStep], compare: Callable[[str, str], Likeness]
) -> Outcome:
    if not truth:
        return Outcome.not_applicable("the retrieved context has no steps")
    chars = len(actual) * sum(map(len, truth)) + len(truth) * sum(len(step.text) for step in actual)
    if len(truth) * len(actual) > MAX_PAIRS or chars > MAX_COMPARED_CHARS:
        return Outcome.error(
            f"{len(truth):,} steps of the context and {len(actual):,} of the answer are too many to align",
            OutcomeCode.TEXT_TOO_LONG,
        )
    aligned = align(truth, [step.text for step in actual], compare)
    counts = {
        key: float(sum(position.edit == edit for position in aligned)) for key, edit in _COUNTED.items()
    }
    scores = {
        "edits": math.fsum(counts.values()),
        **counts,
        "retrieved_context_steps": float(len(truth)),
        "actual_answer_steps": float(len(actual)),
    }
    return Outcome.score(
        scores, reason=_reason(aligned, truth, actual), fragments=_fragments(aligned, truth, actual)
    )


def _reason(aligned: Sequence[Aligned], truth: Sequence[str], actual: Sequence[TextStep]) -> str:
    missing = [
        one_line(truth[position.truth], 80)
        for position in aligned
        if position.edit == "insertion" and position.truth is not None
    ]
    strange = [
        one_line(actual[position.actual].text, 80)
        for position in aligned
        if position.edit == "deletion" and position.actual is not None
    ]
    wrong = [
        f"{one_line(actual[position.actual].text, 80)} (context: {one_line(truth[position.truth], 80)})"
        for position in aligned
        if position.edit == "mismatch" and position.actual is not None and position.truth is not None
    ]
    named = (
        ("missing or out of order", missing),
        ("not in the context, or out of order", strange),
        ("in place of another step", wrong),
    )
    return "; ".join(f"{what}: {listed(steps)}" for what, steps in named if steps)


def _fragments(
    aligned: Sequence[Aligned], truth: Sequence[str], actual: Sequence[TextStep]
) -> tuple[Fragment, ...]:
    """Return a fragment per step of the answer, in order; of very many those that need edits."""
    fragments = []
    for position in aligned:
        if position.actual is None:
            continue
        message = {
            "deletion": "step that the context does not have here",
            "mismatch": "step in place of another",
        }.get(position.edit, "")
        if position.edit == "mismatch" and position.truth is not None:
            message += f": {one_line(truth[position.truth], 80)}"
        if position.edit == "match" and position.likeness != "exact":
            message = (
                f"equal except for {position.likeness}"
                if position.likeness != "meaning"
                else "equal in meaning"
            )
        step = actual[position.actual]
        if step.end == 0:
            continue
        fragments.append(
            Fragment(
                start=step.start,
                end=step.end,
                scores={"edits": float(position.edit != "match")},
                message=message,
            )
        )
    top = sorted(range(len(fragments)), key=lambda index: (-fragments[index].scores["edits"], index))[
        :MAX_FRAGMENTS
    ]
    return tuple(fragments[index] for index in sorted(top))
