"""A premise and a hypothesis to probabilities of entailment, neutrality and contradiction."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.core.tools import Entailment
from pytest_evalstudio.formats.weights_tables import Nli
from pytest_evalstudio.models.classifying import Classifier, plain, softmax
from pytest_evalstudio.models.premises import Pair, Readings
from pytest_evalstudio.models.weights import Weights

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    Floats = NDArray[float64]

_LABELS = ("entailment", "neutral", "contradiction")
_OTHER_NAMES = {"supports": "entailment", "not enough info": "neutral", "refutes": "contradiction"}
"""Labels of models that were trained to check facts (FEVER, VitaminC)."""


class EntailmentJudge:
    """The model of inference of a run, loaded when the first pair comes.

    Args:
        weights: what to load; a sequence classifier with the labels entailment, neutral and contradiction, or
            those of fact checking.
        settings: device, dtype and batch size.
        workers: processes that share the machine's cores.
    """

    def __init__(self, weights: Weights, settings: Nli, *, workers: int = 1) -> None:
        self.name = weights.name
        self._classifier = Classifier(weights, settings, table="nli", workers=workers)

    def judge(self, pairs: Sequence[Pair]) -> list[Entailment]:
        """Return the model's probabilities for each (premise, hypothesis); each distinct pair is read once.

        Of a premise beyond the model's limit the window with the highest entailment counts. A hypothesis that
        fills more than half of the room is read in parts, and the part with the lowest entailment counts: all
        of it must follow.

        Raises:
            EvaluationError: if the model cannot be loaded, has other labels, or gives no numbers.
        """
        if not pairs:
            return []
        order = self._order
        readings = Readings(self._classifier.opened.tokenizer, self._classifier.room(pair=True))
        clean = [(plain(premise), plain(hypothesis)) for premise, hypothesis in pairs]
        plans = readings.plans(clean)
        parts = list(dict.fromkeys(part for plan in plans.values() for row in plan for part in row))
        logits = self._classifier.logits(parts)[:, order]
        head = None if self._classifier.head is None else self._classifier.head[order]
        entailments = dict(zip(parts, _judged(logits, head), strict=True))
        whole = {
            pair: least([most([entailments[part] for part in row]) for row in plan])
            for pair, plan in plans.items()
        }
        return [whole[pair] for pair in clean]

    @functools.cached_property
    def _order(self) -> list[int]:
        """Places of entailment, neutral and contradiction among the model's outputs."""
        labels = [label.casefold().strip() for label in self._classifier.opened.labels]
        labels = [_OTHER_NAMES.get(label, label) for label in labels]
        # Models order their outputs differently; only the names of the labels say which one is entailment.
        if sorted(labels) != sorted(_LABELS):
            raise EvaluationError(
                f"the labels of the model {self.name} are {', '.join(self._classifier.opened.labels)}, but"
                f" an NLI model needs the labels {', '.join(_LABELS)}; correct id2label in its"
                " config.json, or use another model"
            )
        return [labels.index(label) for label in _LABELS]


def _judged(logits: Floats, head: Floats | None) -> list[Entailment]:
    probabilities = softmax(logits).tolist()
    distances = [None] * len(logits) if head is None else boundary_distance(logits, head).tolist()
    margins = [None] * len(logits) if head is None else class_margin(logits, head).tolist()
    return [
        Entailment(entailment=row[0], neutral=row[1], contradiction=row[2], distance=distance, margin=margin)
        for row, distance, margin in zip(probabilities, distances, margins, strict=True)
    ]


def boundary_distance(logits: Floats, head: Floats) -> Floats:
    """Return the signed distance to the hyperplane where the entailment logit is 0.

    The distance is (w·x + b) / |w|, with w·x + b the logit itself.

    Args:
        logits: a row per pair, entailment first.
        head: weights of the layer that gives them, a row per class in the same order.

    Returns:
        One number per pair; positive on the side of entailment.

    Source: Sudjianto et al., 2024 (HCAT), section 3.2.2.

    >>> import numpy as np
    >>> boundary_distance(np.array([[10.0, 0.0, 0.0]]), np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 1.0]])).tolist()
    [2.0]
    """  # noqa: E501
    import numpy as np

    return np.asarray(logits[:, 0] / np.linalg.norm(head[0]))


def class_margin(logits: Floats, head: Floats) -> Floats:
    """Return the signed distance to the hyperplane where another class is as likely as entailment.

    The softmax of a head stays the same when a vector is added to all its rows, and so does this number;
    `boundary_distance` does not.

    Returns:
        One number per pair; positive where entailment is the likeliest class.

    >>> import numpy as np
    >>> class_margin(np.array([[5.0, 0.0, 3.0]]), np.array([[3.0, 4.0], [0.0, 0.0], [3.0, 3.0]])).tolist()
    [1.0]
    """
    import numpy as np

    return np.asarray(
        ((logits[:, :1] - logits[:, 1:]) / np.linalg.norm(head[:1] - head[1:], axis=1)).min(axis=1)
    )


def most(parts: Sequence[Entailment]) -> Entailment:
    """Merge the windows of a premise: the highest entailment and the greatest distances."""
    return _merged(parts, max)


def least(parts: Sequence[Entailment]) -> Entailment:
    """Merge the parts of a hypothesis: the lowest entailment and the smallest distances."""
    return _merged(parts, min)


def _merged(parts: Sequence[Entailment], choose: Callable[..., Any]) -> Entailment:
    if len(parts) == 1:
        return parts[0]
    distances = [part.distance for part in parts if part.distance is not None]
    margins = [part.margin for part in parts if part.margin is not None]
    merged: Entailment = choose(parts, key=lambda part: part.entailment)
    return replace(merged, distance=choose(distances, default=None), margin=choose(margins, default=None))
