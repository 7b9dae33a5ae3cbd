"""The models that were evaluated."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("models", title="Models", order=10, tab="run")
def models(content: Content) -> Mapping[str, object]:
    """Show the operation and the configuration of each model."""
    described = {key: msgspec.to_builtins(model) for key, model in content.analysis.run.models.items()}
    return {
        "models": content.analysis.models,
        "described": described,
        "streamed": any(model.first_token_s is not None for model in content.analysis.models),
        "priced": any(model.cost is not None for model in content.analysis.models),
    }
