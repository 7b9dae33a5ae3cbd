"""Causes of regressions, by answering again with parts of the baseline."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="cause",
    entries="causes",
    extra="pytest_evalstudio.contrib.cause.run_extra:causes_of",
    plugins={"section": "pytest_evalstudio.contrib.cause.sections"},
    templates="pytest_evalstudio.contrib.cause",
    options={
        "--evalstudio-explain": {
            "action": "store_true",
            "help": (
                "answer regressed cases again with single parts of the baseline, and name the part that"
                " makes them pass; needs a baseline"
            ),
        },
    },
    follow_up="pytest_evalstudio.contrib.cause.follow_up:explanation",
    commands={
        "explain": Command(
            target="pytest_evalstudio.contrib.cause.commands.explain:add_to",
            text="Find the cause of regressed cases: retrieval, documents, prompt, model, tools or agent.",
        ),
    },
)
