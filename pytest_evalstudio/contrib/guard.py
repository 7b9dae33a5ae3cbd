"""Evaluators as guardrails of a running application."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="guard",
    commands={
        "guard": Command(
            target="pytest_evalstudio.cli.guard:add_to",
            text="Check answers of a running application against a guardrail configuration.",
        ),
    },
)
