"""Number of cases and repeats, and choice of cases."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="planning",
    commands={
        "plan": Command(
            target="pytest_evalstudio.contrib.planning.commands.plan:add_to",
            text="Say how many cases and repeats it takes to see a drop, from a pilot run.",
        ),
        "select": Command(
            target="pytest_evalstudio.contrib.planning.commands.select:add_to",
            text="Say which cases tell models apart, and select a smaller suite.",
        ),
    },
)
