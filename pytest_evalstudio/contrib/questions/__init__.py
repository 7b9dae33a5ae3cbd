"""Test questions from documents by rules."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="questions",
    plugins={"generator": "pytest_evalstudio.contrib.questions.generators"},
    commands={
        "generators": Command(
            target="pytest_evalstudio.contrib.questions.commands.generators:add_to",
            text="List the generators of test questions, ordinary and adversarial ones.",
        ),
    },
)
