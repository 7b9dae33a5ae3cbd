"""Support of one text by another, from cross-encoders with one output such as Vectara's HHEM 1.0."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.formats.weights_tables import HallucinationModel
from pytest_evalstudio.models.classifying import Classifier, plain, sigmoid
from pytest_evalstudio.models.premises import Pair, Readings
from pytest_evalstudio.models.weights import Weights


class ConsistencyScorer:
    """The model of hallucinations of a run, loaded when the first pair comes.

    Args:
        weights: what to load; a sequence classifier with one output, as sentence-transformers' CrossEncoder
            reads and writes it.
        settings: device, dtype and batch size.
        workers: processes that share the machine's cores.
    """

    def __init__(self, weights: Weights, settings: HallucinationModel, *, workers: int = 1) -> None:
        self.name = weights.name
        self._classifier = Classifier(weights, settings, table="hallucination_model", workers=workers)

    def score(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the support of each hypothesis by its premise, 0.0 to 1.0, in order.

        The score is the logistic function of the model's output; each distinct pair is read once.

        Of a premise beyond the model's limit the window that supports most counts, of a hypothesis that fills
        more than half of the room the part that is supported least.

        Raises:
            EvaluationError: if the model cannot be loaded, has not one output, or gives no numbers.
        """
        if not pairs:
            return []
        labels = self._classifier.opened.labels
        if len(labels) != 1:
            raise EvaluationError(
                f"the model {self.name} has {len(labels)} outputs, but a hallucination model needs exactly"
                " one; use e.g. HHEM 1.0"
            )
        readings = Readings(self._classifier.opened.tokenizer, self._classifier.room(pair=True))
        clean = [(plain(premise), plain(hypothesis)) for premise, hypothesis in pairs]
        plans = readings.plans(clean)
        parts = list(dict.fromkeys(part for plan in plans.values() for row in plan for part in row))
        scores = dict(zip(parts, sigmoid(self._classifier.logits(parts))[:, 0].tolist(), strict=True))
        whole = {pair: min(max(scores[part] for part in row) for row in plan) for pair, plan in plans.items()}
        return [whole[pair] for pair in clean]
