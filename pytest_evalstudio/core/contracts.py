"""Names that evaluators, hosts and local models import from one place."""

from pytest_evalstudio.core.plugins.declaring import SPEC, parameters
from pytest_evalstudio.core.plugins.evaluator import (
    BOOLEAN_KEYS,
    Aggregates,
    Evaluator,
    EvaluatorSpec,
    ModelScore,
    Scope,
    ScoredRow,
    evaluator,
)
from pytest_evalstudio.core.plugins.host import Host, HostFault, HostSpec, host
from pytest_evalstudio.core.tools import (
    CrossEncoder,
    Embedder,
    Entailment,
    LanguageModel,
    Likelihood,
    NliModel,
    Passage,
    TextClassifier,
    TokenMatcher,
    Tools,
)

__all__ = [
    "BOOLEAN_KEYS",
    "SPEC",
    "Aggregates",
    "CrossEncoder",
    "Embedder",
    "Entailment",
    "Evaluator",
    "EvaluatorSpec",
    "Host",
    "HostFault",
    "HostSpec",
    "LanguageModel",
    "Likelihood",
    "ModelScore",
    "NliModel",
    "Passage",
    "Scope",
    "ScoredRow",
    "TextClassifier",
    "TokenMatcher",
    "Tools",
    "evaluator",
    "host",
    "parameters",
]
