"""The canary set, frozen texts on which a judge is measured again and again, and records of its verdicts."""

from __future__ import annotations

import functools
import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.formats.marked_files import load_marked

MARK = "evalstudio_judge_canary"
_PACKAGE, _FILE = "pytest_evalstudio.judges", "canary.json"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class CanaryAnswer(_Part):
    """An answer of the canary set.

    Attributes:
        fails: properties that it does not have.
    """

    key: str
    text: str
    fails: frozenset[str] = frozenset()


class Scenario(_Part):
    """A question of the canary set with its answers.

    Attributes:
        fails: properties that all of its answers lack.
    """

    key: str
    question: str
    context: tuple[str, ...]
    expected_output: str
    expected_facts: tuple[str, ...]
    guidelines: tuple[str, ...]
    answers: tuple[CanaryAnswer, ...]
    fails: frozenset[str] = frozenset()


class CanarySet(_Part):
    """The canary set.

    Attributes:
        properties: name of a property to the evaluators that judge it.
    """

    version: int
    properties: dict[str, tuple[str, ...]]
    scenarios: tuple[Scenario, ...]

    def cases(self) -> list[Case]:
        """Return the answers as cases."""
        return [
            Case(
                key=f"{scenario.key}-{answer.key}",
                question=scenario.question,
                answer=Answer(context=scenario.context, text=answer.text),
                expected_output=scenario.expected_output,
                expected_facts=scenario.expected_facts,
                guidelines=scenario.guidelines,
                is_rag=True,
            )
            for scenario in self.scenarios
            for answer in scenario.answers
        ]

    def labels(self, evaluator: str) -> dict[str, bool]:
        """Return whether each answer is good by the property that an evaluator judges; none if it is unknown.

        Args:
            evaluator: its type.
        """
        name = next((name for name, ids in self.properties.items() if evaluator in ids), None)
        if name is None:
            return {}
        return {
            f"{scenario.key}-{answer.key}": name not in answer.fails | scenario.fails
            for scenario in self.scenarios
            for answer in scenario.answers
        }


class CanaryRecord(_Part):
    """Verdicts of a judge on the canary set.

    Attributes:
        set: digest of the set.
        judge: models, vote and versions of the prompts, as records describe them.
        parameters, threshold: of the evaluator.
        created: ISO 8601.
        verdicts: key of an answer to whether it passes, one per round; None without a verdict.
        fault: why the first answer without a verdict has none, "" where all have one; not in the file.
    """

    evalstudio_judge_canary: Literal[1] = 1
    evaluator: str
    type: str
    set: str
    judge: dict[str, Any]
    parameters: dict[str, Any] = Field(default_factory=dict)
    threshold: float
    created: str
    verdicts: dict[str, list[bool | None]]
    fault: str = Field(default="", exclude=True)

    @property
    def unjudged(self) -> int:
        """Return the number of answers without a verdict in any round."""
        # True for no rounds as well.
        return sum(set(rounds) <= {None} for rounds in self.verdicts.values())

    def save(self, path: Path) -> None:
        """Write the file."""
        # ASCII, so that any text of a configuration can be written.
        content = json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=True)
        write_whole(path, (content + "\n").encode())


@functools.cache
def canary_set() -> tuple[CanarySet, str]:
    """Return the canary set of this package, and its digest."""
    text = resources.files(_PACKAGE).joinpath(_FILE).read_text(encoding="utf-8")
    content = json.loads(text)
    # The digest is of the content: another layout of the file does not change it.
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True).encode()
    return CanarySet.model_validate(content), hashlib.sha256(canonical).hexdigest()[:16]


def load_canary_record(path: Path) -> CanaryRecord:
    """Read a record of the canary set.

    Raises:
        ConfigurationError: with the file and its fault.
    """
    other_kind = "is no record of the canary set; write one with `evalstudio judge-check --canary FILE`"
    return load_marked(path, CanaryRecord, MARK, other_kind)
