"""Workflows of model risk management: steps, methods, artifacts, findings."""

from pytest_evalstudio.core.plugins.contrib import Command, Contrib, FileKind

CONTRIB = Contrib(
    name="validation",
    file_kinds=(
        FileKind(
            name="workflow",
            model="pytest_evalstudio.contrib.validation.workflow_file:Workflow",
            root="evalstudio_workflow",
            items="pytest_evalstudio.contrib.validation.items:step_items",
            validate="pytest_evalstudio.contrib.validation.commands.workflow_files:validate_workflow",
            review="pytest_evalstudio.contrib.validation.workflow_sample:sample_of_workflow",
        ),
        FileKind(
            name="policy",
            model="pytest_evalstudio.contrib.validation.workflow.policy:Policy",
            root="evalstudio_policy",
            items="pytest_evalstudio.contrib.validation.workflow.policy:no_items",
            validate="pytest_evalstudio.contrib.validation.workflow.policy:validate_policy",
        ),
        FileKind(
            name="guidance",
            model="pytest_evalstudio.contrib.validation.workflow.guidance:Guidance",
            root="evalstudio_guidance",
            items="pytest_evalstudio.contrib.validation.workflow.guidance:no_items",
            validate="pytest_evalstudio.contrib.validation.workflow.guidance:validate_guidance",
        ),
    ),
    artifact_mark=".evalstudio-workflow",
    step_lines="pytest_evalstudio.contrib.validation.step_lines:control_lines_of",
    plugins={
        "step": "pytest_evalstudio.contrib.validation.steps",
        "section": "pytest_evalstudio.contrib.validation.sections",
    },
    templates="pytest_evalstudio.contrib.validation",
    commands={
        "steps": Command(
            target="pytest_evalstudio.contrib.validation.commands.steps:add_to",
            text="List the steps of model-risk-management workflows with their parameters.",
        ),
        "generate": Command(
            target="pytest_evalstudio.contrib.validation.commands.generate:add_to",
            text="Generate a suite of test cases from documents.",
        ),
        "weakness": Command(
            target="pytest_evalstudio.contrib.validation.commands.weakness:add_to",
            text="Find categories, and pairs of categories, whose cases score lower than the rest.",
        ),
        "mrm": Command(
            target="pytest_evalstudio.contrib.validation.commands.mrm:add_to",
            text=(
                "Steps, report, sign-off, verification and findings of a model-risk-management "
                "workflow; `pytest WORKFLOW` runs the steps."
            ),
        ),
    },
)
