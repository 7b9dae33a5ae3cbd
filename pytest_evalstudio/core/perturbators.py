"""Names that perturbators and steps of workflows import; see `core.plugins.perturbator`."""

from pytest_evalstudio.core.plugins.perturbator import (
    DEFAULT_INTENSITY,
    DEFAULT_SEED,
    INTENSITIES,
    Change,
    Intensity,
    Perturbator,
    PerturbatorSpec,
    perturbator,
)

__all__ = [
    "DEFAULT_INTENSITY",
    "DEFAULT_SEED",
    "INTENSITIES",
    "Change",
    "Intensity",
    "Perturbator",
    "PerturbatorSpec",
    "perturbator",
]
