"""Workflow files: documents, model and parameters of the steps of model risk management."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pytest_evalstudio.core.errors import nearest
from pytest_evalstudio.formats.fields import Record, Text, Texts, fact, shown
from pytest_evalstudio.formats.source import Source, pointer

ROOT = "evalstudio_workflow"


class Governance(BaseModel):
    """`governance` of a workflow file: entry of the model inventory, and policy of the sign-off.

    Attributes:
        inventory_id: of the model in the inventory.
        intended_use: and its users.
        materiality: tier of the model's risk, one of the policy's.
        policy: file of the policy, from the workflow file's folder; tiers low, medium and high where not
            given.
        guidance: file with the editions of the guidance, from the workflow file's folder; those of this
            package where not given.
        owner: accountable for the model.
        version: of the application under validation, e.g. a commit or the digest of an image.
        limitations: known before the validation.
        monitoring: triggers beyond those that the results give.
        roles: that must sign; different persons sign each.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    inventory_id: Text = ""
    intended_use: Text = ""
    materiality: Text = ""
    policy: Text = ""
    guidance: Text = ""
    owner: Text = ""
    version: Text = ""
    limitations: Texts = Field(default_factory=list)
    monitoring: Texts = Field(default_factory=list)
    roles: Annotated[Texts, Field(min_length=1)] = Field(default_factory=lambda: ["developer", "validator"])


class Workflow(BaseModel):
    """Content of a workflow file under `evalstudio_workflow`.

    Attributes:
        model: name of the `[[model]]` that is validated; the only configured one, else the embedded
            extractive one, where not given.
        documents: of the corpus; paths start at the file's folder.
        evaluators: ids; the configuration's where not given.
        seed: of everything random; 0 to 2³² − 1.
        folder: of the artifacts, from the file's folder; its name without ending and "_artifacts" where not
            given.
        steps: parameters by step.
        governance: entry of the model inventory, and policy of the sign-off.
    """

    model_config = ConfigDict(extra="forbid", protected_namespaces=(), defer_build=True)

    name: Text = ""
    description: Text = ""
    model: Text = ""
    documents: Annotated[Texts, Field(min_length=1)]
    evaluators: Texts = Field(default_factory=list)
    seed: Annotated[int, Field(ge=0, lt=2**32, strict=True)] = 0
    folder: Text = ""
    steps: Record = Field(default_factory=dict)
    governance: Governance = Field(default_factory=Governance)


def read_workflow(source: Source) -> Workflow:
    """Read the workflow in a parsed file.

    Raises:
        DataError: at the place of the first thing that is wrong.
    """
    if not isinstance(source.data, dict):
        raise source.error("", f"expected an object with the key {ROOT!r}, found {shown(source.data)}")
    for key in source.data:
        if key not in (ROOT, "$schema"):
            raise source.error(pointer(key), f"unknown key; all keys must be under {ROOT!r}")
    if ROOT not in source.data:
        raise source.error("", f"is not a workflow: it has no key {ROOT!r}")
    data: Any = source.data[ROOT]
    try:
        workflow = Workflow.model_validate(data)
    except ValidationError as exc:
        error = exc.errors(include_url=False)[0]
        location = pointer(ROOT, *error["loc"])
        if error["type"] == "extra_forbidden":
            name = str(error["loc"][-1])
            table = Governance if error["loc"][0] == "governance" else Workflow
            names = list(table.model_fields)
            raise source.error(
                location, f"unknown key. {nearest(name, names) or 'Known keys: ' + ', '.join(names)}"
            ) from None
        raise source.error(location, fact(error)) from None
    for id, parameters in workflow.steps.items():
        if not isinstance(parameters, dict):
            raise source.error(
                pointer(ROOT, "steps", id), f"expected an object of parameters, found {shown(parameters)}"
            )
    _use_own_names(workflow, source)
    return workflow


def _use_own_names(workflow: Workflow, source: Source) -> None:
    """Replace the guide's names of evaluators by our ids, and note them in the source's warnings."""
    from pytest_evalstudio.core.guide_names import NamesRead, own_evaluators

    read = NamesRead()
    if workflow.evaluators:
        workflow.evaluators = own_evaluators(workflow.evaluators, read)
    for id, parameters in workflow.steps.items():
        names = parameters.get("evaluators")
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            workflow.steps[id] = {**parameters, "evaluators": own_evaluators(names, read)}
    if note := read.note():
        source.warnings.append(f"{source.name}: {note}")
