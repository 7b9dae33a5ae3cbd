"""Policy of validations: the evidence that a conclusion needs, by the materiality of the model."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from pytest_evalstudio.contrib.validation.workflow.governance_files import governance_file, governance_of
from pytest_evalstudio.core.errors import DataError, nearest
from pytest_evalstudio.formats.fields import Text
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.source import Source, pointer

if TYPE_CHECKING:
    import pytest

    from pytest_evalstudio.core.plugins.registry import Registry

ROOT = "evalstudio_policy"
Share = Annotated[float, Field(ge=0, le=1)]


class CoverageShares(BaseModel):
    """Minimum shares of the documents' statements that test cases test, 0 to 1.

    Attributes:
        passages: chunks.
        quantities: sentences with a quantity.
        tables: rows of tables.
        rules: sentences that oblige, permit or forbid.
        topics: topics.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    passages: Share = 0.0
    quantities: Share = 0.0
    tables: Share = 0.0
    rules: Share = 0.0
    topics: Share = 0.0


class Tier(BaseModel):
    """Evidence that a model of a tier of materiality needs.

    Attributes:
        min_cases: minimum number of judged answers.
        min_labels: minimum number of answers that people have labelled.
        min_coverage: of the documents.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    min_cases: Annotated[int, Field(ge=0)] = 0
    min_labels: Annotated[int, Field(ge=0)] = 0
    min_coverage: CoverageShares = Field(default_factory=CoverageShares)


class Policy(BaseModel):
    """Content of a policy file under `evalstudio_policy`.

    Attributes:
        tiers: by name, as `governance.materiality` of a workflow names them.
        unstated: tier of a workflow that states none.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    tiers: Annotated[dict[Text, Tier], Field(min_length=1)]
    unstated: Text


@functools.cache
def default_policy() -> Policy:
    """Return the policy of a workflow that names no file."""
    text = (files("pytest_evalstudio.contrib.validation") / "data" / "policy.json").read_text("utf-8")
    return Policy.model_validate(json.loads(text)[ROOT])


def governing_policy(name: str, workflow: Path) -> tuple[Policy, Path | None]:
    """Return the policy of a workflow and its file, None for the default policy.

    Args:
        name: of the policy's file, from the folder of the workflow's; "" for none.
        workflow: path of the workflow's file.

    Raises:
        DataError: if there is no such file below that folder, or it is no policy.
    """
    if not name:
        return default_policy(), None
    file = governance_file(name, workflow, "policy")
    return policy_of(read_source(file)), file


def policy_of(source: Source) -> Policy:
    """Return the policy in a parsed file.

    Raises:
        DataError: at the place of the first thing that is wrong.
    """
    policy = governance_of(source, Policy, ROOT, "policy")
    if policy.unstated not in policy.tiers:
        raise source.error(
            pointer(ROOT, "unstated"),
            f"there is no tier {policy.unstated!r}; tiers: {', '.join(policy.tiers)}",
        )
    return policy


def tier_name(policy: Policy, materiality: str, source: str) -> str:
    """Return the tier of a workflow.

    Args:
        policy: in force.
        materiality: as the workflow states it; "" for none.
        source: the workflow's file.

    Raises:
        DataError: if the policy has no such tier.
    """
    if not materiality:
        return policy.unstated
    if materiality not in policy.tiers:
        hint = nearest(materiality, policy.tiers) or f"Tiers: {', '.join(policy.tiers)}."
        raise DataError(
            f"the policy has no tier {materiality!r}. {hint} A file that `governance.policy` names defines"
            " others",
            source=source,
            pointer="/evalstudio_workflow/governance/materiality",
        )
    return materiality


def no_items(collector: pytest.Collector, source: Source) -> Iterator[pytest.Item]:
    """Check a policy that is collected; it has no tests."""
    policy_of(source)
    yield from ()


def validate_policy(path: Path, name: str, registry: Registry) -> str:
    """Check a policy, and describe it.

    Raises:
        DataError: at the place of the first thing that is wrong.
    """
    tiers = policy_of(read_source(path, name)).tiers
    return f"policy, tiers {', '.join(tiers)}"
