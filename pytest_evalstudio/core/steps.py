"""Names that steps of workflows import; see `core.plugins.step`."""

from pytest_evalstudio.core.plugins.step import Done, StepSpec, step

__all__ = ["Done", "StepSpec", "step"]
