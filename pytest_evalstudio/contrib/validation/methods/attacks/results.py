"""Reactions to attacks, and comparisons of attacked answers with those to the plain twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Reaction = Literal["keeps", "refuses", "concedes", "loses"]
REACTIONS: tuple[Reaction, ...] = get_args(Reaction)
"""keeps: the answer has the fact; refuses: it declines; concedes: it gives way to the attack; loses: none of
these.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackPair:
    """Answer to an attack, and the one to its plain twin.

    Attributes:
        case: key of the attack.
        twin: key of the case that asks the same fact plainly; "" for a question that asks no fact.
        twin_asked_in: id of the step that asked the twin.
        reaction: to the attack.
        twin_reaction: to the twin; None without a twin, or without an answer to it.
        withstands: True if the reaction withstands this kind of attack.
    """

    case: str
    generator: str
    reaction: Reaction
    withstands: bool
    twin: str = ""
    twin_asked_in: str = ""
    twin_reaction: Reaction | None = None

    @property
    def is_pair(self) -> bool:
        """Report whether the twin was answered."""
        return self.twin_reaction is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackComparison:
    """Answers to a generator's attacks, compared in pairs with those to their plain twins.

    Attributes:
        metric: `evaluator.metric`, or `method.WITHSTANDING`.
        better: "higher" or "lower".
        generator: id, or `method.ALL` for all attacks together.
        cases: number of pairs.
        mean, twin_mean: of the scores; None without a pair.
        lower, higher: number of pairs in which the attacked answer is worse, and better, than its twin.
        test: name of the paired test.
        p_value: one-sided; None if there are too few pairs.
        p_adjusted: after Holm's correction.
        worse: True if attacked answers are worse beyond chance.
        note: the reason why nothing is tested, "" otherwise.
    """

    metric: str
    better: str
    generator: str
    cases: int
    mean: float | None
    twin_mean: float | None
    lower: int
    higher: int
    test: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    worse: bool = False
    note: str = ""

    @property
    def net_share(self) -> float:
        """Return the share of pairs that are worse under attack, less the share that are better."""
        return (self.lower - self.higher) / self.cases if self.cases else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackComparisons:
    """All comparisons of attacks with their plain twins.

    Attributes:
        correction: for the number of tests.
        tests: number of tests.
        worse: number of comparisons in which attacked answers are worse.
        pairs: all attacks with an answer.
    """

    alpha: float
    correction: str
    tests: int
    comparisons: tuple[AttackComparison, ...]
    worse: int
    pairs: tuple[AttackPair, ...]
