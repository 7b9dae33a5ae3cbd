"""Judges measured against human labels, and proposals for them."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="judge_bench",
    commands={
        "judge-check": Command(
            target="pytest_evalstudio.contrib.judge_bench.commands.judge_check:add_to",
            text="Measure a judge against human labels: agreement, errors, flips, cost.",
        ),
        "judge-tune": Command(
            target="pytest_evalstudio.contrib.judge_bench.commands.judge_tune:add_to",
            text=(
                "Propose examples and a threshold for a judge, from labels that people gave; nothing "
                "is applied."
            ),
        ),
    },
)
