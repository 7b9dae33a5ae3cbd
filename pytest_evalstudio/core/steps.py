"""Names that steps of workflows import; see `core.plugins.step`."""

from pytest_evalstudio.core.plugins.step import StepResult, StepSpec, step

__all__ = ["StepResult", "StepSpec", "step"]
