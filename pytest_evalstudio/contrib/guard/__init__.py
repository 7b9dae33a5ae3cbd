"""Evaluators as guardrails of a running application."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="guard",
    fixtures={"eval_guard": "pytest_evalstudio.contrib.guard.fixtures:guard_fixture"},
    commands={
        "guard": Command(
            target="pytest_evalstudio.contrib.guard.commands.guard:add_to",
            text="Check answers of a running application against a guardrail configuration.",
        ),
    },
)
