"""Verdicts of a judge that change where they should not: repeats, and orders and words that do not matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.judge_bench.bench import Bench, Verdicts
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.formats.judge_checks import Flips
from pytest_evalstudio.stats.clustered import ClusteredShare, clustered_share

Identity = tuple[str, str]
Clusters = Mapping[Identity, int]
REPEATS, CHUNK_ORDER, OPTION_ORDER, PADDING = "repeats", "chunk_order", "option_order", "padding"
PROBES: Mapping[str, str] = {
    REPEATS: "asked again",
    CHUNK_ORDER: "chunks in other order",
    OPTION_ORDER: "options in other order",
    PADDING: "answer with padding",
}
"""Probes and their names for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeProbe:
    """Verdicts of the first round and of further ones under one change.

    Attributes:
        first: verdicts without a change.
        rounds: verdicts of each further round; none where there is nothing to compare.
    """

    first: Verdicts
    rounds: Sequence[Verdicts]

    @property
    def compared(self) -> list[Identity]:
        """Return the answers with a verdict in all rounds."""
        if not self.rounds:
            return []
        return [identity for identity in self.first if all(identity in other for other in self.rounds)]

    @property
    def flipped(self) -> list[Identity]:
        """Return the answers whose verdict differs in at least one round."""
        return [
            identity
            for identity in self.compared
            if any(other[identity] != self.first[identity] for other in self.rounds)
        ]

    @property
    def once(self) -> JudgeProbe:
        """Return the probe with its first further round only, to compare it with another probe."""
        return JudgeProbe(first=self.first, rounds=self.rounds[:1])

    def figures(self, clusters: Clusters) -> Flips:
        """Return the counts of the probe."""
        compared, flipped = self.compared, self.flipped
        share = share_by_question(compared, set(flipped), clusters)
        to_fail = sum(self.first[identity] for identity in flipped)
        return Flips(
            compared=len(compared),
            flipped=len(flipped),
            to_pass=len(flipped) - to_fail,
            to_fail=to_fail,
            rate=share.value,
            interval=share.interval(),
        )


def probes(bench: Bench, cases: Sequence[Case], first: Verdicts, repeats: int) -> dict[str, JudgeProbe]:
    """Judge cases again, in other orders and with padding.

    Args:
        first: verdicts on the cases as they are.
        repeats: number of further judgements without a change.
    """
    chunks = bench.with_chunks_reversed(cases)
    padded = bench.with_padded_answers(cases)
    again = [bench.verdicts(cases, bench.outcomes(cases, repeat=number)) for number in range(2, repeats + 2)]
    options = bench.verdicts(cases, bench.outcomes(cases, reverse_options=True))
    return {
        REPEATS: JudgeProbe(first=first, rounds=again),
        CHUNK_ORDER: JudgeProbe(first=first, rounds=[chunks]),
        OPTION_ORDER: JudgeProbe(first=first, rounds=[options]),
        PADDING: JudgeProbe(first=first, rounds=[padded]),
    }


def share_by_question(
    identities: Sequence[Identity], hits: set[Identity], clusters: Clusters
) -> ClusteredShare:
    """Return the share of answers that are among `hits`, clustered by question."""
    totals: dict[int, int] = {}
    successes: dict[int, int] = {}
    for identity in identities:
        cluster = clusters[identity]
        totals[cluster] = totals.get(cluster, 0) + 1
        successes[cluster] = successes.get(cluster, 0) + (identity in hits)
    return clustered_share([successes[cluster] for cluster in totals], list(totals.values()))
