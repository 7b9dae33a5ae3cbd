"""Server of the Model Context Protocol, by which a coding agent runs suites and reads their failures."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="agent_loop",
    commands={
        "mcp": Command(
            target="pytest_evalstudio.contrib.agent_loop.commands.mcp:add_to",
            text="Let a coding agent run suites and read failures, by the Model Context Protocol.",
        ),
    },
)
