"""Workflows of model risk management."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="validation",
    plugins={"step": "pytest_evalstudio.mrm.steps"},
    commands={
        "steps": Command(
            target="pytest_evalstudio.cli.steps:add_to",
            text="List the steps of model-risk-management workflows with their parameters.",
        ),
        "generate": Command(
            target="pytest_evalstudio.cli.generate:add_to",
            text="Generate a suite of test cases from documents.",
        ),
        "weakness": Command(
            target="pytest_evalstudio.cli.weakness:add_to",
            text="Find categories, and pairs of categories, whose cases score lower than the rest.",
        ),
        "mrm": Command(
            target="pytest_evalstudio.cli.mrm:add_to",
            text=(
                "Steps, report, sign-off, verification and findings of a model-risk-management "
                "workflow; `pytest WORKFLOW` runs the steps."
            ),
        ),
    },
)
