"""Questions after statements that contradict each other, or the documents."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_evalstudio.contrib.questions.rules.attacks import (
    condition_against,
    denial,
    falsehoods,
    fill,
    plain_drafts,
)
from pytest_evalstudio.core.plugins.generator import Corpus, Draft, Excerpt, generator

TWO = "I was told: “{one}” Somebody else told me: “{other}” {question}"
DENIED = "I have heard that this is so: “{denied}” {question}"


@generator(
    "contradictory_premise",
    name="Contradictory premise",
    purpose="adversarial",
    avid="E0400",
    instruction=(
        "Each question first makes two statements about a fact of the excerpt that contradict each other and"
        " are both false, or denies what the excerpt says. Then it asks for that fact. The answer is what the"
        " excerpt says."
    ),
)
@dataclass(frozen=True)
class ContradictoryPremise:
    """Put contradicting false statements, or the contrary of the documents, before the question."""

    def drafts(self, excerpt: Excerpt, corpus: Corpus, rng: random.Random) -> Iterable[Draft]:
        """Yield drafts of questions on an excerpt."""
        for draft in plain_drafts(excerpt, corpus):
            sentences = falsehoods(draft, corpus)
            denied, condition = denial(draft)
            if len(sentences) >= 2:
                first, other = rng.sample(sentences, 2)
                question = fill(TWO, one=first.sentence, other=other.sentence, question=draft.question)
                condition = condition_against(draft, [first, other])
                yield dataclasses.replace(draft, question=question, condition=condition)
            elif denied and draft.kind == "simple_factual":
                question = fill(DENIED, denied=denied, question=draft.question)
                yield dataclasses.replace(draft, question=question, condition=condition)
