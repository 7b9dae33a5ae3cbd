"""Texts to probabilities of labels, by any sequence classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_evalstudio.models.classifying import Classifier, plain, sigmoid, softmax
from pytest_evalstudio.models.windows import token_counts, windows


class LabelScorer(Classifier):
    """A classifier of single texts."""

    def classify(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        """Return the probability of each label for each text; each distinct text is read once.

        Probabilities are of each label alone (sigmoid) where the model has one label or says that several may
        hold, else among all (softmax). A text beyond the model's limit is read window by window, and the
        highest probability of each label counts.

        Raises:
            EvaluationError: if the model cannot be loaded, or gives no numbers.
        """
        if not texts:
            return []
        clean = [plain(text) for text in texts]
        plans = self._plans(list(dict.fromkeys(clean)))
        parts = list(dict.fromkeys(part for plan in plans.values() for part in plan))
        opened = self.opened
        logits = self.logits(parts)
        probabilities = dict(
            zip(parts, (sigmoid(logits) if opened.independent else softmax(logits)).tolist(), strict=True)
        )
        whole = {
            text: dict(
                zip(
                    opened.labels,
                    (max(values) for values in zip(*(probabilities[part] for part in plan), strict=True)),
                    strict=True,
                )
            )
            for text, plan in plans.items()
        }
        return [whole[text] for text in clean]

    def _plans(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """Return the windows of each text; the tokens of all texts are counted together."""
        tokenizer, room = self.opened.tokenizer, self.room(pair=False)
        if room is None:
            return {text: [text] for text in texts}
        return {
            text: [text] if count <= room else [part for part, _ in windows(tokenizer, text, room)]
            for text, count in zip(texts, token_counts(tokenizer, texts), strict=True)
        }
