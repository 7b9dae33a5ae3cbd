"""Labels that were given to another text than the one in the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pytest_evalstudio.formats.labels import Identity, Label
from pytest_evalstudio.record.score_table import Scores


def without_outdated(ratings: Iterable[Label], scores: Scores) -> tuple[list[Label], int]:
    """Drop the labels of answers whose text has changed; return the rest and the number of dropped ones.

    A label that does not say which text it is of counts, and so does one of an answer whose text the results
    do not hold.
    """
    texts: dict[Identity, set[str]] = defaultdict(lambda: {""})
    for (_, key, model_key), answer in scores.answers.items():
        texts[key, model_key].add(answer.text_id)
    current, outdated = [], 0
    for label in ratings:
        current_texts = texts.get(label.identity, {""})
        if label.answer_id in current_texts or current_texts == {""}:
            current.append(label)
        else:
            outdated += 1
    return current, outdated
