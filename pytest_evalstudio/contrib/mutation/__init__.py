"""Tests of a suite by answers that are damaged on purpose."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="mutation",
    plugins={"section": "pytest_evalstudio.contrib.mutation.sections"},
    templates="pytest_evalstudio.contrib.mutation",
    commands={
        "mutate": Command(
            target="pytest_evalstudio.contrib.mutation.commands.mutate:add_to",
            text="Damage passing answers in known ways, and count how many of them the suite fails.",
        ),
    },
)
