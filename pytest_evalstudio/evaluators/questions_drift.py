"""Questions drift: do the later questions of a run speak of other things than the earlier ones."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import ModelScore, ScoredRow, evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import keywords
from pytest_evalstudio.evaluators._similarity import TextEmbeddings
from pytest_evalstudio.metrics.similarity import drift

if TYPE_CHECKING:
    from pytest_evalstudio.metrics.similarity import Floats

LEAST_IN_A_GROUP = 3


@evaluator(
    "questions_drift",
    name="Questions drift",
    domain="generation",
    needs=("question",),
    requires=("embedder",),
    method=("embeddings",),
    systems=("llm", "rag"),
    scope="model",
    extra="models",
    keywords=keywords("VR", "M", "evaluation-method-embeddings"),
    problem_type="drift",
    avid="P0100",
)
@dataclass(frozen=True)
class QuestionsDrift:
    """Cosine distance of the mean embeddings of earlier and later questions; it decides no item.

    The questions must be in the order in which they were asked; the first `split_ratio` of them are the
    earlier ones. Below 0.05 drift is negligible, below 0.15 low, below 0.3 moderate, below 0.5 high.

    Source: the open reference engine of Eval Studio.
    """

    detector: ClassVar[bool] = True
    may_only_measure: ClassVar[bool] = True
    split_ratio: float = 0.5
    min_test_cases: int = 10
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "questions_drift",
            "Questions drift",
            better="lower",
            range=(0.0, 2.0),
            threshold=0.1,
            primary=True,
            description="Cosine distance of the earlier and the later questions' mean embeddings.",
        ),
    )

    def __post_init__(self) -> None:
        if not 0.1 <= self.split_ratio <= 0.9:
            raise ConfigurationError(f"questions_drift: split_ratio is 0.1 to 0.9, not {self.split_ratio}")
        if self.min_test_cases < 2 * LEAST_IN_A_GROUP:
            raise ConfigurationError(
                f"questions_drift: min_test_cases is at least {2 * LEAST_IN_A_GROUP}, not"
                f" {self.min_test_cases}"
            )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        """Return outcomes without a score, each with the vector of its question.

        Rows have no score of their own; with the vectors, a record can be aggregated without a model.
        """
        vectors = TextEmbeddings((case.question for case in cases), tools.embedder)
        return [
            Outcome.score({"questions_drift": None}, sketch=packed(vectors.of([case.question])[0]))
            for case in cases
        ]

    def aggregate(self, rows: Iterable[ScoredRow]) -> ModelScore:
        """Return the drift over all rows of a model, in their order.

        Raises:
            EvaluationError: if there are too few of them.
        """
        import numpy as np

        sketches = [unpacked(row.sketch) for row in rows if row.sketch]
        cut = int(len(sketches) * self.split_ratio)
        if len(sketches) < self.min_test_cases or min(cut, len(sketches) - cut) < LEAST_IN_A_GROUP:
            least = f"{self.min_test_cases} questions, and {LEAST_IN_A_GROUP} in each part"
            raise EvaluationError(
                f"drift needs {least}; there are {len(sketches)}, {cut} of them in the earlier part"
            )
        return ModelScore(
            scores={"questions_drift": drift(np.stack(sketches[:cut]), np.stack(sketches[cut:]))}
        )


def packed(vector: Floats) -> str:
    """Return a vector as text: two bytes per number, in base64."""
    return base64.b64encode(vector.astype("<f2").tobytes()).decode("ascii")


def unpacked(text: str) -> Floats:
    """Return the vector of a text from `packed`."""
    import numpy as np

    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float64)
