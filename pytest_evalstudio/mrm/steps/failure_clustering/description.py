"""Description of clusters of failed cases by what their members have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pytest_evalstudio.core.text import excerpt
from pytest_evalstudio.mrm.data.categories import about
from pytest_evalstudio.mrm.steps.failure_clustering.judged import Judged
from pytest_evalstudio.mrm.steps.failure_clustering.method import LEAST, Grouping
from pytest_evalstudio.mrm.texts.words import class_tf_idf, topic_words
from pytest_evalstudio.stats.comparison import fisher_fewer_passes, holm

LEVEL = 0.05
ANSWER_CHARS = 300
_SAID_WORDS = 5


def described(cases: Sequence[Judged], grouping: Grouping, most_words: int) -> list[dict[str, Any]]:
    """Each cluster of failed cases, JSON-ready.

    Key words are those of a cluster against the other clusters and the passed cases (class TF-IDF). A
    category is over-represented where it is more frequent in the cluster than in all other cases, by Fisher's
    exact test, one-sided, after Holm's correction over all clusters and categories.

    Args:
        cases: all judged ones; the failed among them are those that were clustered, in their order.

    Returns:
        Per cluster {id, size, share, words, over_represented, missed, typical, cases, sentence}; the largest
        first.
    """
    failed = [case for case in cases if case.failed]
    labels = grouping.labels.tolist()
    groups = [
        [case for case, label in zip(failed, labels, strict=True) if label == number]
        for number in range(grouping.count)
    ]
    words = _words(groups, [case for case in cases if not case.failed], most_words)
    surplus = _over_represented(cases, groups)
    found = []
    for number, group in enumerate(groups):
        typical = [failed[at] for at in grouping.typical[number]]
        cluster = {
            "id": str(number + 1),
            "size": len(group),
            "share": round(len(group) / len(failed), 6),
            "words": words[number],
            "over_represented": surplus[number],
            "missed": _missed(group),
            "typical": [_shown(case) for case in typical],
            "cases": [case.key for case in group],
        }
        found.append({**cluster, "sentence": _sentence(cluster, len(failed))})
    return found


def _words(groups: Sequence[Sequence[Judged]], passed: Sequence[Judged], most: int) -> list[list[str]]:
    classes = [
        [word for case in group for word in topic_words(f"{case.question} {case.answer}")]
        for group in (*groups, passed)
    ]
    return class_tf_idf(classes, most)[: len(groups)]


def _over_represented(
    cases: Sequence[Judged], groups: Sequence[Sequence[Judged]]
) -> list[list[dict[str, Any]]]:
    """Categories of each cluster that are more frequent there, the rarest elsewhere first."""
    total = _counts(cases)
    rows = []
    for number, group in enumerate(groups):
        for category, count in sorted(_counts(group).items()):
            others, beside = total[category] - count, len(cases) - len(group)
            if count >= LEAST and beside:
                rows.append(
                    (
                        number,
                        category,
                        count,
                        others / beside,
                        fisher_fewer_passes(len(group) - count, len(group), beside - others, beside),
                    )
                )
    found: list[list[dict[str, Any]]] = [[] for _ in groups]
    for (number, (dimension, value), count, elsewhere, _), adjusted in zip(
        rows, holm([row[-1] for row in rows]), strict=True
    ):
        if adjusted <= LEVEL:
            entry = {
                "dimension": dimension,
                "value": value,
                "cases": count,
                "share": round(count / len(groups[number]), 6),
            }
            found[number].append({**entry, "share_elsewhere": round(elsewhere, 6), "p_adjusted": adjusted})
    return [
        sorted(entries, key=lambda entry: (entry["share_elsewhere"] - entry["share"], entry["dimension"]))
        for entries in found
    ]


def _counts(cases: Sequence[Judged]) -> Counter[tuple[str, str]]:
    return Counter(
        (dimension, value)
        for case in cases
        for dimension, values in about(case.categories).items()
        for value in values
    )


def _missed(group: Sequence[Judged]) -> list[dict[str, Any]]:
    """Metrics that fail cases of the cluster, the most frequent first, with their mean score of those
    cases.
    """
    scores: dict[tuple[str, str], list[float | None]] = {}
    for case in group:
        for miss in case.missed:
            scores.setdefault((miss.evaluator, miss.metric), []).append(miss.score)
    found = []
    for (evaluator, metric), values in scores.items():
        known = [value for value in values if value is not None and np.isfinite(value)]
        mean = round(float(np.mean(known)), 6) if known else None
        found.append({"evaluator": evaluator, "metric": metric, "cases": len(values), "mean": mean})
    return sorted(found, key=lambda entry: (-entry["cases"], entry["evaluator"], entry["metric"]))


def _shown(case: Judged) -> dict[str, Any]:
    missed = [
        {
            "evaluator": miss.evaluator,
            "metric": miss.metric,
            "score": _finite(miss.score),
            "threshold": _finite(miss.threshold),
        }
        for miss in case.missed
    ]
    return {
        "key": case.key,
        "question": case.question,
        "answer": excerpt(case.answer, ANSWER_CHARS),
        "missed": missed,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _sentence(cluster: dict[str, Any], failures: int) -> str:
    return "; ".join(_parts(cluster, failures)) + "."


def _parts(cluster: dict[str, Any], failures: int) -> Iterator[str]:
    said = f": {', '.join(cluster['words'][:_SAID_WORDS])}" if cluster["words"] else ""
    yield f"{cluster['size']} of {failures} failures{said}"
    for entry in cluster["over_represented"][:2]:
        yield (
            f"{entry['dimension']} {entry['value']} in {entry['share']:.0%} of them,"
            f" {entry['share_elsewhere']:.0%} of the other cases"
        )
    if cluster["missed"]:
        most = cluster["missed"][0]
        yield f"{most['cases']} fail {most['evaluator']}.{most['metric']}"
    if cluster["typical"]:
        yield f"typical question: “{excerpt(cluster['typical'][0]['question'], 120)}”"
