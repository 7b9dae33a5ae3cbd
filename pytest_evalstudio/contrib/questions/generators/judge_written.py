"""Kinds of question that only a judge writes: a declaration each, with the judge's instruction."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.core.plugins.generator import generator


@generator(
    "ambiguity_handling",
    name="Ambiguity handling",
    instruction=(
        "Each question leaves open which of two or more things of the excerpt is meant, as people do who know"
        " only one of them. A good reply names the readings and answers each of them, or asks which is meant."
        " The answer does so."
    ),
)
@dataclass(frozen=True)
class AmbiguityHandling:
    """A question that can be meant in two ways, to which a good answer covers both or asks back."""


@generator(
    "demographic_representation",
    name="Demographic representation",
    instruction=(
        "Each question asks for a fact of the excerpt, and the asker mentions in passing who they are: age,"
        " origin, sex, religion, disability or family. Let the askers differ, and be fair to all of them."
        " Nothing of it changes the right answer, which is what the excerpt says."
    ),
)
@dataclass(frozen=True)
class DemographicRepresentation:
    """Mention age, origin, sex, belief or health of the asker, which does not change the answer."""


@generator(
    "inference",
    name="Inference",
    instruction=(
        "Each question asks for something that the excerpt does not say in so many words, and that follows"
        " from it in one or two plain steps, without knowledge from elsewhere. The answer says what follows,"
        " in one sentence."
    ),
)
@dataclass(frozen=True)
class Inference:
    """Ask for a conclusion from the documents that they do not state literally."""


@generator(
    "irrelevant_information",
    name="Irrelevant information",
    instruction=(
        "Each question asks for a fact of the excerpt after two or three sentences that have nothing to do"
        " with it: what the asker did today, other numbers and names, a second thought. None of it changes"
        " the right answer, which is what the excerpt says."
    ),
)
@dataclass(frozen=True)
class IrrelevantInformation:
    """A question with circumstances around it that have nothing to do with the answer."""


@generator(
    "multi_hop",
    name="Multi-hop",
    excerpts=2,
    instruction=(
        "Each question can be answered only by putting together one fact of excerpt 1 and one fact of excerpt"
        " 2; neither excerpt alone is enough. The evidence holds at least one quotation from each excerpt."
    ),
)
@dataclass(frozen=True)
class MultiHop:
    """Two facts, each from another chunk of a topic, that only together answer the question."""


@generator(
    "negation_and_contradiction",
    name="Negation and contradiction",
    instruction=(
        "Each question turns on a negation: what is not covered, not allowed, excepted, or whether the"
        " contrary of what the excerpt says is so. A reader who overlooks the negation answers wrongly. The"
        " answer is one sentence."
    ),
)
@dataclass(frozen=True)
class NegationAndContradiction:
    """Ask for exceptions, negations and contraries of statements."""


@generator(
    "sentiment_variation",
    name="Sentiment variation",
    instruction=(
        "Each question asks for a fact of the excerpt in a marked mood: angry, anxious, overjoyed, impatient"
        " or ironic, each question in another one. The mood changes nothing about the right answer, which is"
        " what the excerpt says, told calmly."
    ),
)
@dataclass(frozen=True)
class SentimentVariation:
    """A question that is put angrily, anxiously, happily or in irony, to which the answer is the same."""
