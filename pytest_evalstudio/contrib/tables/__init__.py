"""Answers of tables with millions of rows."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="tables",
    source="pytest_evalstudio.contrib.tables.source:SCORED_TABLES",
    commands={
        "score": Command(
            target="pytest_evalstudio.cli.score:add_to",
            text="Score the answers of tables with millions of rows, in batches.",
        ),
    },
)
