"""Draw of the answers that people label, in rounds.

All answers are divided at random in two halves, once and for all. Of the one half, answers are drawn at
random whatever their scores: their labels give the conformal quantile and the figures, which hold for all
answers because these are a random sample of them. Of the other half come the labels that the curve is fitted
to: first spread over the scores and topics, then where the curve of the labels so far is least certain, with
a random one among each five. Choosing by score does not bend the curve, which predicts the label at a score;
nor can it touch the guarantee, since neither this choice nor the curve has seen any label of the first half.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.contrib.calibration.labelling.cases import LabelledCase
from pytest_evalstudio.stats.strata import interleave
from pytest_evalstudio.stats.types import Floats

Part = Literal["conformal", "curve"]
Reason = Literal["random", "spread", "uncertain"]

RANDOM_IN = 5
"""One in so many of a later round's labels for the curve is drawn at random, the others where the curve is
least certain.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """An answer that is drawn.

    Attributes:
        at: its number among the candidates.
        round: 1 for the first.
        part: what its label is for.
        reason: what it was drawn by.
    """

    at: int
    round: int
    part: Part
    reason: Reason


def draw(
    candidates: Sequence[LabelledCase],
    labelled: Collection[int],
    *,
    size: int,
    rounds: int,
    seed: int,
    probabilities: Callable[[Sequence[int]], Floats | None],
) -> list[Drawn]:
    """Draw the first round, and each further one after all labels before it.

    The same candidates and labels give the same answers. What has been labelled stays drawn, also where
    labels, or a greater `size`, change which answers would be drawn next.

    Args:
        candidates: answers that may be drawn; no two have the same key and model key.
        seed: of everything random.
        labelled: numbers of the candidates with a label.
        size: answers in all rounds together; all candidates where they are fewer.
        rounds: in how many parts, about equal, they are drawn.
        probabilities: returns the probability that people call each candidate good, by a curve fitted to the
            labels of the given candidates; None if there is no such curve yet.
    """
    order = sorted(range(len(candidates)), key=lambda at: _number(seed, candidates[at]))
    half = -(-len(order) // 2)
    at_random, for_curve = order[:half], order[half:]
    size = min(size, len(order))
    drawn: list[Drawn] = []
    drawn_positions: list[int] = []
    for number in range(1, rounds + 1):
        upto = round(size * number / rounds)
        randomly = at_random[: -(-upto // 2)]
        earlier = {item.at for item in drawn}
        batch = [
            Drawn(at=at, round=number, part="conformal", reason="random")
            for at in randomly
            if at not in earlier
        ]
        rest = [at for at in for_curve if at not in earlier]
        missing = upto // 2 - len(drawn_positions)
        ranking = _ranking(candidates, rest, missing, probabilities(drawn_positions) if number > 1 else None)
        selection = sorted(ranking, key=lambda entry: entry[0] not in labelled)[:missing]
        batch += [Drawn(at=at, round=number, part="curve", reason=reason) for at, reason in selection]
        drawn_positions += [at for at, _ in selection]
        drawn += sorted(batch, key=lambda item: _number(seed, candidates[item.at], "order"))
        if any(item.at not in labelled for item in drawn):
            break
    return drawn


def _ranking(
    candidates: Sequence[LabelledCase], rest: Sequence[int], count: int, probabilities: Floats | None
) -> list[tuple[int, Reason]]:
    """Return candidates in the order in which the curve needs their labels."""
    if probabilities is None:
        return [(at, "spread") for at in _spread(candidates, rest, count)]
    doubtful = iter(sorted(rest, key=lambda at: abs(float(probabilities[at]) - 0.5)))
    at_random = iter(rest)
    reasons: dict[int, Reason] = {}
    while len(reasons) < len(rest):
        is_random = len(reasons) % RANDOM_IN == 0
        at = next(position for position in (at_random if is_random else doubtful) if position not in reasons)
        reasons[at] = "random" if is_random else "uncertain"
    return list(reasons.items())


def _spread(candidates: Sequence[LabelledCase], rest: Sequence[int], count: int) -> list[int]:
    """Take candidates in turns from equal parts of the scores' range, and within each from all topics."""
    if not rest:
        return []
    positions = [candidates[at].place for at in rest]
    # All places may be equal.
    low, width = min(positions), (max(positions) - min(positions)) or 1.0
    parts: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, position in zip(rest, positions, strict=True):
        # The greatest place belongs to the last part.
        parts[min(count - 1, int((position - low) / width * count))][candidates[at].topic].append(at)
    groups = [interleave(list(topics.values()), len(rest)) for _, topics in sorted(parts.items())]
    return interleave(sorted(groups, key=len, reverse=True), len(rest))


def _number(seed: int, candidate: LabelledCase, purpose: str = "") -> str:
    """Return a random number that depends on the seed and one answer only."""
    return hashlib.sha256(
        f"{seed}\0{purpose}\0{candidate.key}\0{candidate.model_key}".encode("utf-8", "replace")
    ).hexdigest()
