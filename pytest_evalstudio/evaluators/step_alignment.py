"""Step alignment and completeness: does the answer give the steps of the retrieved procedure, all of them and in their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.evaluators._common import EMPTY_ANSWER, MAX_FRAGMENTS, is_empty, keywords, listed, one_line
from pytest_evalstudio.evaluators._similarity import Vectors
from pytest_evalstudio.evaluators._steps import Aligned, Likeness, Step, align, find_steps, likeness, merged

MOST_PAIRS = 250_000
"""Pairs of steps beyond which texts are no procedures any more, and comparing them would take minutes."""
_COUNTED = {"insertions": "insertion", "deletions": "deletion", "mismatches": "mismatch"}


def metric(key: str, name: str, description: str, *, better: Literal["higher", "lower"] = "lower", primary: bool = False) -> Metric:
    """A number of steps or edits."""
    return Metric(key, name, better=better, range=(0.0, math.inf), threshold=0.75, primary=primary, description=description)


@evaluator(
    "step_alignment",
    name="Step alignment & completeness",
    domain="generation",
    needs=("context", "actual_output"),
    method=("rules", "embeddings"),
    systems=("rag",),
    keywords=keywords("", "", "evaluation-method-rule-based", "capability-answer-highlight"),
)
@dataclass(frozen=True)
class StepAlignment:
    """Edits that turn the steps of the answer into those of the retrieved context: steps to put in, to take out, to replace.

    Steps are items of lists and English sentences that tell to do something, found by rules. Two are the same if they differ in punctuation,
    case, articles or a few letters at most; with `similarity = "embeddings"` also if their cosine is at least `similarity_threshold`. A context
    without steps has nothing to align with.
    """

    step_extractor: Literal["rules"] = "rules"
    similarity: Literal["words", "embeddings"] = "words"
    similarity_threshold: float = 0.8
    metrics: ClassVar[tuple[Metric, ...]] = (
        metric("edits", "Edits", "Insertions, deletions and mismatches together.", primary=True),
        metric("insertions", "Insertions", "Steps of the context that are not in the answer."),
        metric("deletions", "Deletions", "Steps of the answer that are not in the context."),
        metric("mismatches", "Mismatches", "Steps of the answer that stand in place of others of the context."),
        metric("retrieved_context_steps", "Retrieved context steps", "Steps detected in the context.", better="higher"),
        metric("actual_answer_steps", "Actual answer steps", "Steps detected in the answer.", better="higher"),
    )

    def __post_init__(self) -> None:
        if not -1 <= self.similarity_threshold <= 1:
            raise ConfigurationError(f"similarity_threshold = {self.similarity_threshold}: expected a cosine, -1 to 1")

    @property
    def requires(self) -> tuple[str, ...]:
        """What it cannot score without, with the options it has."""
        return ("embedder",) if self.similarity == "embeddings" else ()

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        read = [self._read(case, tools) for case in cases]
        compare: Callable[[str, str], Likeness] = likeness
        if self.similarity == "embeddings":
            asked = {text for truth, own in read if truth and own for text in (*truth, *(step.text for step in own))}
            compare = by_meaning(Vectors(asked, tools.embedder), self.similarity_threshold)
        return [_outcome(case, truth, own, compare) for case, (truth, own) in zip(cases, read, strict=True)]

    def _read(self, case: Case, tools: Tools) -> tuple[list[str], list[Step]]:
        """Steps of the context, those that overlapping chunks repeat once; and of the answer."""
        chunks = [[step.text for step in find_steps(chunk, tools.split_sentences)] for chunk in case.context]
        return merged(chunks), [] if is_empty(case) else find_steps(case.actual_output, tools.split_sentences)


def by_meaning(vectors: Vectors, threshold: float) -> Callable[[str, str], Likeness]:
    """The ladder of `likeness` with a further rung: steps whose cosine is at least the threshold mean the same."""

    def compare(first: str, second: str) -> Likeness:
        found = likeness(first, second)
        if found == "mismatch" and vectors.cosines([first], [second])[0, 0] >= threshold:
            return "meaning"
        return found

    return compare


def _outcome(case: Case, truth: Sequence[str], own: Sequence[Step], compare: Callable[[str, str], Likeness]) -> Outcome:
    if not truth:
        return Outcome.not_applicable("the retrieved context has no steps")
    if len(truth) * len(own) > MOST_PAIRS:
        return Outcome.error(f"{len(truth):,} steps of the context and {len(own):,} of the answer are too many to align")
    aligned = align(truth, [step.text for step in own], compare)
    counts = {key: float(sum(one.edit == edit for one in aligned)) for key, edit in _COUNTED.items()}
    scores = {"edits": math.fsum(counts.values()), **counts, "retrieved_context_steps": float(len(truth)), "actual_answer_steps": float(len(own))}
    reason = EMPTY_ANSWER if is_empty(case) else _reason(aligned, truth, own)
    return Outcome.score(scores, reason=reason, fragments=_fragments(aligned, truth, own))


def _reason(aligned: Sequence[Aligned], truth: Sequence[str], own: Sequence[Step]) -> str:
    missing = [one_line(truth[one.truth], 80) for one in aligned if one.edit == "insertion" and one.truth is not None]
    strange = [one_line(own[one.own].text, 80) for one in aligned if one.edit == "deletion" and one.own is not None]
    wrong = [
        f"{one_line(own[one.own].text, 80)} (context: {one_line(truth[one.truth], 80)})"
        for one in aligned
        if one.edit == "mismatch" and one.own is not None and one.truth is not None
    ]
    named = (("missing or out of order", missing), ("not in the context, or out of order", strange), ("in place of another step", wrong))
    return "; ".join(f"{what}: {listed(steps)}" for what, steps in named if steps)


def _fragments(aligned: Sequence[Aligned], truth: Sequence[str], own: Sequence[Step]) -> tuple[Fragment, ...]:
    """A fragment per step of the answer, in order; of very many those that need edits are kept."""
    found = []
    for one in aligned:
        if one.own is None:
            continue
        message = {"deletion": "step that the context does not have here", "mismatch": "step in place of another"}.get(one.edit, "")
        if one.edit == "mismatch" and one.truth is not None:
            message += f": {one_line(truth[one.truth], 80)}"
        if one.edit == "match" and one.likeness != "exact":
            message = f"the same but for {one.likeness}" if one.likeness != "meaning" else "the same in meaning"
        step = own[one.own]
        found.append(Fragment(start=step.start, end=step.end, scores={"edits": float(one.edit != "match")}, message=message))
    kept = sorted(range(len(found)), key=lambda place: (-found[place].scores["edits"], place))[:MAX_FRAGMENTS]
    return tuple(found[place] for place in sorted(kept))
