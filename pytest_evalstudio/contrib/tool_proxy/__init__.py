"""Proxy between an agent and its tools: records, replays, pins, breaks and poisons."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="tool_proxy",
    table="tools",
    tool_source="pytest_evalstudio.contrib.tool_proxy.source:open_source",
    plugins={
        "evaluator": "pytest_evalstudio.contrib.tool_proxy.evaluators",
        "perturbator": "pytest_evalstudio.contrib.tool_proxy.perturbators",
    },
    commands={
        "mcp-proxy": Command(
            target="pytest_evalstudio.contrib.tool_proxy.commands.mcp_proxy:add_to",
            text="Stand between an agent and its tools: record, replay, pin, break or poison their results.",
        ),
    },
)
