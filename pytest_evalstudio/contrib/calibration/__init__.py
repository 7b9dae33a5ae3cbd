"""Thresholds and probabilities from human labels, and the pages on which people give them."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib

CONTRIB = Contrib(
    name="calibration",
    commands={
        "calibrate": Command(
            target="pytest_evalstudio.contrib.calibration.commands.calibrate:add_to",
            text="Calibrate metrics with human labels: threshold, probabilities, conformal sets, errors.",
        ),
        "review": Command(
            target="pytest_evalstudio.contrib.calibration.commands.review:add_to",
            text=(
                "Label answers on a local page or in a spreadsheet: the sample of a workflow's human "
                "calibration, or a report's answers with an uncertain verdict; estimate pass rates "
                "from the labels."
            ),
        ),
    },
)
