"""Clusters of failed test cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import UNSET, UnsetType


@dataclass(frozen=True, slots=True, kw_only=True)
class OverRepresented:
    """A category that is more frequent in a cluster than in all other cases.

    Attributes:
        cases: number of cases of the cluster in the category.
        share, share_elsewhere: share of the category in the cluster, and in the other cases.
        p_adjusted: of Fisher's exact test, after Holm's correction.
    """

    dimension: str
    value: str
    cases: int
    share: float
    share_elsewhere: float
    p_adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedMetric:
    """A metric that fails cases of a cluster.

    Attributes:
        cases: number of these cases.
        mean: of their scores; None without finite scores.
    """

    evaluator: str
    metric: str
    cases: int
    mean: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedScore:
    """A score beyond its threshold; None where a number is not finite."""

    evaluator: str
    metric: str
    score: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypicalCase:
    """A representative case of a cluster."""

    key: str
    question: str
    answer: str
    missed: tuple[MissedScore, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A cluster of failed cases.

    Attributes:
        id: "1" for the largest.
        share: of all failed cases.
        words: key words, the most characteristic first.
        over_represented: the rarest elsewhere first.
        missed: the most frequent first.
        typical: the most typical first.
        cases: keys.
        sentence: description for people.
    """

    id: str
    size: int
    share: float
    words: tuple[str, ...]
    over_represented: tuple[OverRepresented, ...]
    missed: tuple[MissedMetric, ...]
    typical: tuple[TypicalCase, ...]
    cases: tuple[str, ...]
    sentence: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """A case on the map.

    Attributes:
        cluster: id; None for a case that passed.
        x, y: 0.0 to 1.0.
    """

    key: str
    question: str
    cluster: str | None
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringMethod:
    """Method of the clustering; all is unset if nothing was clustered.

    Attributes:
        vectors: method that made texts vectors.
        components: number of principal components.
        silhouette: of the clusters, −1.0 to 1.0; None for one cluster.
        references: silhouettes of random subsets of all cases.
        tested_silhouette: silhouette that is compared with the references.
        neighbours: share of failed cases among the nearest neighbours of failed cases.
        expected_neighbours: the same of random subsets.
        p_value: of the test for clusters.
    """

    vectors: str | UnsetType = UNSET
    components: int | UnsetType = UNSET
    silhouette: float | UnsetType | None = UNSET
    references: tuple[float, ...] | UnsetType = UNSET
    tested_silhouette: float | UnsetType = UNSET
    neighbours: float | UnsetType = UNSET
    expected_neighbours: float | UnsetType = UNSET
    p_value: float | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    """Size and key words of a cluster."""

    size: int
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusteringResults:
    """Results of the step.

    Attributes:
        failed, passed: number of cases.
        left_out: number of cases that do not count, by reason.
        clusters: by id.
        note: remarks on the method, or the reason why nothing is clustered.
    """

    failed: int
    passed: int
    left_out: Mapping[str, int]
    clusters: Mapping[str, ClusterSummary]
    method: ClusteringMethod
    note: str
