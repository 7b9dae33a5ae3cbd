"""Expected use of all calibrated thresholds together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from pytest_evalstudio.contrib.calibration.fit.figures import expected_use
from pytest_evalstudio.contrib.calibration.fit.results import ExpectedUse
from pytest_evalstudio.formats.labels import Identity
from pytest_evalstudio.record.score_table import Column, Scores
from pytest_evalstudio.stats.risk_rule import RiskRule


def guardrail_use(
    scores: Scores,
    good: Mapping[Identity, bool],
    thresholds: Mapping[str, float],
    rule: RiskRule,
    seed: int,
) -> ExpectedUse | None:
    """Return the expected use of all calibrated thresholds, measured on answers that were drawn at random.

    Args:
        scores: of the answers.
        good: label of each answer that was drawn at random, True for good.
        thresholds: by `evaluator.metric`; an answer passes if it meets all that it has a score for.
        rule: with the costs, if it has any.
        seed: of the bootstrap.

    Returns:
        None without a threshold, or without labelled answers that were drawn at random.
    """
    columns = [scores.column(key) for key in thresholds]
    rows = list(_verdicts(scores, good, columns, thresholds))
    if not columns or not rows:
        return None
    passes, labels, questions = zip(*rows, strict=True)
    clusters = np.unique(np.array(questions), return_inverse=True)[1]
    return expected_use(
        np.array(passes, dtype=np.bool_), np.array(labels, dtype=np.bool_), clusters, rule, seed
    )


def _verdicts(
    scores: Scores, good: Mapping[Identity, bool], columns: Sequence[Column], thresholds: Mapping[str, float]
) -> Iterator[tuple[bool, bool, str]]:
    """Yield the verdict, the label and the question of each labelled answer."""
    for answer in scores.answers.values():
        identity = (answer.key, answer.model_key)
        if identity not in good:
            continue
        passes = True
        for column in columns:
            score, limit = answer.score(column.key), thresholds[column.key]
            if score is not None:
                passes &= score >= limit if column.metric.better == "higher" else score <= limit
        yield passes, good[identity], answer.key
