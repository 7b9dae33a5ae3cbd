"""Scores of tables with millions of answers, in batches."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib, FileKind

CONTRIB = Contrib(
    name="tables",
    file_kinds=(
        FileKind(
            name="scores",
            model="pytest_evalstudio.contrib.tables.scores_file:ScoresFile",
            suffixes=("_scores.toml", "_scores.json"),
            recognises="pytest_evalstudio.formats.recognition:has_gates",
            collector="pytest_evalstudio.contrib.tables.items:ScoresFileCollector",
            validate="pytest_evalstudio.contrib.tables.gate_files:validate_gates",
        ),
    ),
    source="pytest_evalstudio.contrib.tables.source:SCORED_TABLES",
    commands={
        "score": Command(
            target="pytest_evalstudio.contrib.tables.commands.score:add_to",
            text="Score the answers of tables with millions of rows, in batches.",
        ),
    },
)
