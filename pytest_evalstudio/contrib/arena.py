"""Models compared in pairs, blind, by a judge or by people."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="arena",
    commands={
        "arena": Command(
            target="pytest_evalstudio.cli.arena:add_to",
            text="Compare models in pairs, blind, and rate them.",
        ),
    },
)
