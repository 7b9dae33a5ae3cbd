"""A half of the cases that is hidden from whoever mends the application, and rationed answers about it."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="holdout",
    entries="holdout",
    extra="pytest_evalstudio.contrib.holdout.run_extra:halves_of",
    plugins={"section": "pytest_evalstudio.contrib.holdout.sections"},
    templates="pytest_evalstudio.contrib.holdout",
    agent_part="pytest_evalstudio.contrib.holdout.agent_part:hidden_half",
    commands={
        "holdout": Command(
            target="pytest_evalstudio.contrib.holdout.commands.holdout:add_to",
            text="Hide half of a suite from a coding agent, and look at it within a ration.",
        ),
    },
)
