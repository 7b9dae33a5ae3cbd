"""Models compared in pairs, blind, by a judge or by people."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="arena",
    terms={"elo": 1, "win_rate": 2},
    check_terms="pytest_evalstudio.contrib.arena.gates:check_terms",
    table="arena",
    items="pytest_evalstudio.contrib.arena.items:pair_items",
    entries="arena",
    extra="pytest_evalstudio.contrib.arena.run_extra:arena_of",
    plugins={"section": "pytest_evalstudio.contrib.arena.sections"},
    templates="pytest_evalstudio.contrib.arena",
    commands={
        "arena": Command(
            target="pytest_evalstudio.contrib.arena.commands.arena:add_to",
            text="Compare models in pairs, blind, and rate them.",
        ),
    },
)
