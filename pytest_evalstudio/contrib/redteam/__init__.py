"""Attacks on an application, by its purpose."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="redteam",
    commands={
        "redteam": Command(
            target="pytest_evalstudio.contrib.redteam.commands.redteam:add_to",
            text="Write a suite of attacks on an application, by its purpose.",
        ),
    },
)
