"""Description of clusters of failed cases by what their members have in common."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_evalstudio.contrib.validation.methods.categories import by_dimension
from pytest_evalstudio.contrib.validation.methods.failures.judged import JudgedCase
from pytest_evalstudio.contrib.validation.methods.failures.method import LEAST, Grouping
from pytest_evalstudio.contrib.validation.methods.failures.results import (
    Cluster,
    MissedMetric,
    MissedScore,
    OverRepresented,
    TypicalCase,
)
from pytest_evalstudio.contrib.validation.methods.texts.words import class_tf_idf, topic_words
from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.stats.comparison import fisher_fewer_passes, holm
from pytest_evalstudio.stats.types import Integers
from pytest_evalstudio.text.figures import counted, percent

LEVEL = 0.05
ANSWER_CHARS = 300
_SENTENCE_WORDS = 5


def describe_clusters(
    cases: Sequence[JudgedCase], grouping: Grouping, max_words: int, held_out: Integers | None = None
) -> list[Cluster]:
    """Describe each cluster of failed cases, the largest first.

    Key words distinguish a cluster from the other clusters and the passed cases (class TF-IDF). A category is
    over-represented if it is more frequent in the cluster than in all other cases, by Fisher's exact test,
    one-sided, after Holm's correction over all clusters and categories. It is tested on cases that did not
    make the clusters, where there are several.

    Args:
        held_out: cluster of each failed case that did not make the clusters, -1 for the others; None for one
            cluster, which nothing was made of.
        grouping: clusters of the failed cases.
        max_words: number of key words per cluster.
        cases: all judged ones; the failed among them are those that were clustered, in their order.
    """
    failed = [case for case in cases if case.failed]
    labels = grouping.labels.tolist()
    groups = [
        [case for case, label in zip(failed, labels, strict=True) if label == number]
        for number in range(grouping.count)
    ]
    words = _words(groups, [case for case in cases if not case.failed], max_words)
    surplus = _over_represented(cases, groups, _tested(cases, failed, held_out, groups))
    clusters = []
    for number, group in enumerate(groups):
        cluster = Cluster(
            id=str(number + 1),
            size=len(group),
            share=round(len(group) / len(failed), 6),
            words=tuple(words[number]),
            over_represented=surplus[number],
            missed=_missed(group),
            typical=tuple(_typical(failed[index]) for index in grouping.typical[number]),
            cases=tuple(case.key for case in group),
        )
        sentence = "; ".join(_phrases(cluster, len(failed))) + "."
        clusters.append(replace(cluster, sentence=sentence))
    return clusters


def _words(
    groups: Sequence[Sequence[JudgedCase]], passed: Sequence[JudgedCase], max_words: int
) -> list[list[str]]:
    classes = [
        [word for case in group for word in topic_words(f"{case.question} {case.answer}")]
        for group in (*groups, passed)
    ]
    return class_tf_idf(classes, max_words)[: len(groups)]


class _Tested(NamedTuple):
    """Cases that categories are counted in, and those of each cluster among them."""

    cases: Sequence[JudgedCase]
    groups: Sequence[Sequence[JudgedCase]]


def _tested(
    cases: Sequence[JudgedCase],
    failed: Sequence[JudgedCase],
    held_out: Integers | None,
    groups: Sequence[Sequence[JudgedCase]],
) -> _Tested:
    if held_out is None:
        return _Tested(cases, groups)
    labels = held_out.tolist()
    # By identity: answers of several models have one key.
    made_of = {id(case) for case, label in zip(failed, labels, strict=True) if label < 0}
    members = [
        [case for case, label in zip(failed, labels, strict=True) if label == number]
        for number in range(len(groups))
    ]
    return _Tested([case for case in cases if id(case) not in made_of], members)


def _over_represented(
    cases: Sequence[JudgedCase], groups: Sequence[Sequence[JudgedCase]], tested: _Tested
) -> list[tuple[OverRepresented, ...]]:
    """Return the categories that are more frequent in each cluster, the rarest elsewhere first.

    Shares are those of all cases, p is that of the tested ones.
    """
    total, tested_total = _counts(cases), _counts(tested.cases)
    clusters: list[int] = []
    categories: list[OverRepresented] = []
    p_values: list[float] = []
    for number, (group, members) in enumerate(zip(groups, tested.groups, strict=True)):
        whole = _counts(group)
        for (dimension, value), count in sorted(_counts(members).items()):
            others, outside = tested_total[dimension, value] - count, len(tested.cases) - len(members)
            if count < LEAST or not outside:
                continue
            clusters.append(number)
            # Fewer members without the category, which is the same as more of them with it.
            p_values.append(
                fisher_fewer_passes(len(members) - count, len(members), outside - others, outside)
            )
            inside, elsewhere = whole[dimension, value], len(cases) - len(group)
            categories.append(
                OverRepresented(
                    dimension=dimension,
                    value=value,
                    cases=inside,
                    share=round(inside / len(group), 6),
                    share_elsewhere=round((total[dimension, value] - inside) / max(elsewhere, 1), 6),
                    p_adjusted=1.0,
                )
            )
    by_cluster: list[list[OverRepresented]] = [[] for _ in groups]
    for number, category, adjusted in zip(clusters, categories, holm(p_values), strict=True):
        if adjusted <= LEVEL:
            by_cluster[number].append(replace(category, p_adjusted=adjusted))
    return [
        tuple(sorted(entries, key=lambda entry: (entry.share_elsewhere - entry.share, entry.dimension)))
        for entries in by_cluster
    ]


def _counts(cases: Sequence[JudgedCase]) -> Counter[tuple[str, str]]:
    return Counter(
        (dimension, value)
        for case in cases
        for dimension, values in by_dimension(case.categories).items()
        for value in values
    )


def _missed(group: Sequence[JudgedCase]) -> tuple[MissedMetric, ...]:
    """Return the metrics that fail cases of the cluster, the most frequent first."""
    scores: dict[tuple[str, str], list[float | None]] = {}
    for case in group:
        for miss in case.missed:
            scores.setdefault((miss.evaluator, miss.metric), []).append(miss.score)
    metrics = []
    for (evaluator, metric), values in scores.items():
        finite = [value for value in values if value is not None and math.isfinite(value)]
        mean = round(math.fsum(finite) / len(finite), 6) if finite else None
        metrics.append(MissedMetric(evaluator=evaluator, metric=metric, cases=len(values), mean=mean))
    return tuple(sorted(metrics, key=lambda entry: (-entry.cases, entry.evaluator, entry.metric)))


def _typical(case: JudgedCase) -> TypicalCase:
    return TypicalCase(
        key=case.key,
        question=case.question,
        answer=excerpt(case.answer, ANSWER_CHARS),
        missed=tuple(
            MissedScore(
                evaluator=miss.evaluator,
                metric=miss.metric,
                score=_finite(miss.score),
                threshold=_finite(miss.threshold),
            )
            for miss in case.missed
        ),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _phrases(cluster: Cluster, failures: int) -> Iterator[str]:
    words = f": {', '.join(cluster.words[:_SENTENCE_WORDS])}" if cluster.words else ""
    yield f"{cluster.size} of {counted(failures, 'failure')}{words}"
    for entry in cluster.over_represented[:2]:
        yield (
            f"{entry.dimension} {entry.value} in {percent(entry.share)} of them,"
            f" {percent(entry.share_elsewhere)} of the other cases"
        )
    if cluster.missed:
        first = cluster.missed[0]
        yield f"{first.cases} fail {first.evaluator}.{first.metric}"
    if cluster.typical:
        yield f"typical question: “{excerpt(cluster.typical[0].question, 120)}”"
