"""What a step is given, made by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pytest_evalstudio.asking.runs import AskingRun
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow_file import Workflow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.options import build, check_options
from pytest_evalstudio.scoring.model_provider import ModelProvider

T = TypeVar("T")

NOUNS = (
    "ledger",
    "mortgage",
    "voucher",
    "pension",
    "deposit",
    "annuity",
    "premium",
    "warrant",
    "lease",
    "bond",
    "tariff",
    "excise",
)
"""Nouns of sentences that the rules and writers make questions of."""


def configured(cls: type[T], parameters: Mapping[str, Any]) -> T:
    """Return a step with parameters as a workflow's file gives them."""
    return build(cls, check_options(cls, parameters, ""), "")


class Bench:
    """Steps run one after the other in a folder, on documents written there."""

    def __init__(
        self,
        folder: Path,
        documents: Mapping[str, str],
        *,
        seed: int = 0,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in documents.items():
            (folder / name).write_text(text, encoding="utf-8")
        self.workflow = Workflow(name="demo", documents=list(documents), seed=seed)
        self.config = configuration(config or {}, folder=folder)
        self.registry = Registry()
        self.provider: Any = ModelProvider(registry=self.registry)
        self.run = AskingRun.new()

    def work(self, step: str, *earlier: str) -> StepContext:
        folder = self.of(step)
        folder.mkdir(parents=True, exist_ok=True)
        return StepContext(
            workflow=self.workflow,
            config=self.config,
            registry=self.registry,
            base=self.folder,
            home=self.folder / "artifacts",
            folder=folder,
            earlier={other: self.of(other) for other in earlier},
            figures={},
            documents=tuple(str(self.folder / name) for name in self.workflow.documents),
            cache=self.folder / "cache",
            provider=self.provider,
            progress=lambda count, total, what: None,
            run=self.run,
        )

    def of(self, step: str) -> Path:
        return self.folder / "artifacts" / step

    def read(self, step: str, name: str) -> Any:
        return json.loads((self.of(step) / name).read_text(encoding="utf-8"))

    def files(self, step: str) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(self.of(step).iterdir())}
