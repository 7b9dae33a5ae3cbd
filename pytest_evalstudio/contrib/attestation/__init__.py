"""Verification of a run under the rules of a protected revision, and attestations of it."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="attestation",
    commands={
        "verify-run": Command(
            target="pytest_evalstudio.contrib.attestation.commands.verify_run:add_to",
            text="Score a run's answers by the rules of a protected revision, and list what was weakened.",
        ),
        "verify-attestation": Command(
            target="pytest_evalstudio.contrib.attestation.commands.verify_attestation:add_to",
            text="Check an attestation of a run by its files alone.",
        ),
    },
)
