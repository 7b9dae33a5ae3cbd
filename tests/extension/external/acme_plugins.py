"""A package of other people's with one plugin of each kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio import (
    Answer,
    Change,
    Draft,
    Metric,
    Outcome,
    StepResult,
    evaluator,
    generator,
    host,
    perturbator,
    section,
    step,
)


@evaluator("acme_brevity", name="Acme brevity", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Brevity:
    """Share of the allowed words that the answer leaves unused."""

    metrics: ClassVar = (Metric("unused_words", threshold=0.2, primary=True),)
    max_words: int = 50
    is_strict: bool = False
    stop_words: tuple[str, ...] = ()

    def score(self, cases, tools):
        counts = [sum(word not in self.stop_words for word in case.actual_output.split()) for case in cases]
        return [Outcome.score({"unused_words": max(0.0, 1 - count / self.max_words)}) for count in counts]


@host("acme_echo", name="Acme echo", kind="rag", caches=False)
@dataclass(kw_only=True)
class Echo:
    """Repeats the question; retrieves nothing."""

    times: int = 1

    async def prepare(self, corpus):
        """Nothing to prepare."""

    async def answer(self, prompt):
        return Answer(text=" ".join([prompt.text] * self.times))

    async def close(self):
        """Nothing to close."""


@perturbator("acme_shout", name="Acme shout", intensities=())
@dataclass(frozen=True)
class Shout:
    """Writes the question in capitals."""

    ending: str = "!"

    def perturb(self, text, intensity, seed):
        return Change(text.upper() + self.ending, edits=1)


@step("acme_inventory", name="Acme inventory", number=20)
@dataclass(frozen=True)
class Inventory:
    """Counts the documents."""

    min_documents: int = 1

    def run(self, context):
        (context.folder / "inventory.txt").write_text(f"{len(context.documents)}\n", encoding="utf-8")
        return StepResult(summary=f"{len(context.documents)} documents")


@generator("acme_repeat", name="Acme repeat")
@dataclass(frozen=True)
class Repeat:
    """Asks what a sentence says."""

    def drafts(self, excerpt, corpus, rng):
        for sentence in excerpt.sentences:
            yield Draft(question=f"Say: {sentence}", answer=sentence, condition="", evidence=sentence)


@section("acme_note", title="Acme note")
def note(content):
    """Number of leaderboards."""
    return f"<p>{len(content.analysis.leaderboards)} boards by Acme</p>"
