"""Agent sanity check: validity of the files that an agent wrote."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError, nearest
from pytest_evalstudio.core.outcomes import Finding, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._artifacts import ArtifactFault, check_content, check_declared
from pytest_evalstudio.evaluators._common import keywords, listed
from pytest_evalstudio.metrics.quoting import one_line

_ACTIONS = "Look at the agent's chat session for the step that should have written the file."
_KEYS = ("path", "type", "min_size", "json_schema", "fields", "contains")
_TYPES = ("file", "folder", "json", "pdf", "text", "csv")
# A folder that an agent filled by a loop must not make the check run for hours.
_MAX_FILES = 1000
_GLOB = "*?["


@dataclass(frozen=True, slots=True)
class Expectation:
    """Requirements on one expected artifact.

    `path` may be a glob; it must match at least one file, and every match must meet the requirements.
    """

    path: str
    type: str = ""
    min_size: int = 1
    json_schema: Any = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    contains: tuple[str, ...] = ()


@evaluator(
    "agent_sanity_check",
    name="Agent sanity check",
    domain="generation",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S AT VR", "C O", "evaluation-method-rule-based", "evaluation-method-agents"),
    avid="P0200",
)
@dataclass(frozen=True)
class AgentSanityCheck:
    """Share of an agent's artifacts that exist, are not empty, and are well-formed and as expected.

    Keys of the row: `artifacts` (paths, or a folder) and `expected_artifacts` (structure and values),
    relative to the row's file. With `artifacts_dir`, a test lab's folder is searched for the files of the
    model's messages on the case. Files that a host fetched are read where it stored them; no other file
    outside the row's folder and `artifacts_dir` is opened.

    Source: Eval Studio user guide, agent sanity check.
    """

    applies_without_text: ClassVar[bool] = True
    expectations: ClassVar[tuple[str, ...]] = ("expected_artifacts",)
    artifacts_dir: str = ""
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "agent_sanity",
            "Agent sanity",
            primary=True,
            description="Sane artifacts / artifacts that were made or expected.",
        ),
    )

    def not_applicable(self, case: Case) -> str:
        declared = case.extra.get("artifacts") or case.extra.get("expected_artifacts")
        if case.artifacts or declared or self._session_folders(case):
            return ""
        return "no artifacts declared or found"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        try:
            expectations = [
                read_expectation(item)
                for item in _items(case.extra.get("expected_artifacts"), "expected_artifacts")
            ]
            # An expectation of a file replaces the check of its form alone.
            results = dict(self._made(case)) | dict(_expected(case.folder, expectations))
        except (ConfigurationError, EvaluationError) as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        if not results:
            return Outcome.not_applicable("the declared folders contain no artifacts")
        broken = {name: fault for name, fault in results.items() if fault}
        findings = tuple(
            Finding(
                description=f"artifact {one_line(name)}: {fault}",
                severity="medium",
                problem_type="accuracy",
                avid="P0200",
                actions=_ACTIONS,
            )
            for name, fault in broken.items()
        )
        shown = listed([f"{one_line(name)} ({fault})" for name, fault in broken.items()])
        return Outcome.score(
            {"agent_sanity": 1 - len(broken) / len(results)},
            reason=f"broken: {shown}" if broken else "",
            findings=findings,
        )

    def _made(self, case: Case) -> Iterator[tuple[str, str]]:
        """Yield the name of each artifact of the agent with its fault, or "" if there is none."""
        # Files that a host fetched lie outside the folder of
        # the test, so each is checked against its own folder.
        for path in map(Path, case.artifacts):
            yield path.name, _fault(path.parent, path)
        for declared in _items(case.extra.get("artifacts"), "artifacts"):
            if not isinstance(declared, str):
                raise ConfigurationError(f"artifacts: a path is a string, not {type(declared).__name__}")
            yield from _checked(Path(case.folder), declared)
        for session in self._session_folders(case):
            for path in _files(session):
                yield os.path.relpath(path, self.artifacts_dir), _fault(session, path)

    def _session_folders(self, case: Case) -> list[Path]:
        """Return the chat message folders of a test lab that belong to the case.

        Their paths are test_lab_*/completion_of_m_<model>_tc_<case>/chat_session_*/chat_message_*.
        """
        root = Path(self.artifacts_dir) if self.artifacts_dir else None
        if root is None or not root.is_dir():
            return []
        folder_name = f"completion_of_m_{case.model_key}_tc_{case.key}"
        # `artifacts_dir` may name one test lab or the folder of several.
        labs = [root, *sorted(root.glob("test_lab_*"))]
        return [
            folder
            for lab in labs
            for folder in sorted((lab / folder_name).glob("chat_session_*/chat_message_*"))
            # Keys of models and cases are part of the path: ".." in one must not lead outside.
            if folder.is_dir() and inside(root, folder)
        ]


def read_expectation(item: Any) -> Expectation:
    """Return an expected artifact of the row: a path, or an object with `path` and requirements.

    Raises:
        ConfigurationError: if a key is unknown or of the wrong type.
    """
    if isinstance(item, str):
        item = {"path": item}
    if not isinstance(item, Mapping) or not isinstance(item.get("path"), str) or not item["path"].strip():
        raise ConfigurationError("expected_artifacts: an entry is a path, or an object with a path")
    for key in item:
        if key not in _KEYS:
            raise ConfigurationError(
                f"expected_artifacts: no key {key!r}. {nearest(str(key), _KEYS)}".rstrip()
            )
    kind = item.get("type", "")
    if kind and kind not in _TYPES:
        raise ConfigurationError(f"expected_artifacts: type is one of {', '.join(_TYPES)}, not {kind!r}")
    contains = item.get("contains", ())
    fields = item.get("fields", {})
    size = item.get("min_size", 1)
    if not isinstance(fields, Mapping) or not isinstance(size, int) or isinstance(size, bool):
        raise ConfigurationError(
            "expected_artifacts: fields is an object of JSON pointers and values, min_size a number of bytes"
        )
    if not isinstance(contains, str | list | tuple):
        raise ConfigurationError(
            f"expected_artifacts: contains is a text or a list of texts, not {type(contains).__name__}"
        )
    texts = (contains,) if isinstance(contains, str) else tuple(str(text) for text in contains)
    return Expectation(item["path"].strip(), kind, size, item.get("json_schema"), fields, texts)


def inside(root: Path, path: Path) -> bool:
    """Return True if a path, with links resolved, is the folder or inside it."""
    try:
        return path.resolve().is_relative_to(root.resolve())
    # ValueError: a null byte; RuntimeError: links in a circle, before Python 3.13.
    except (OSError, ValueError, RuntimeError):
        return False


def _items(value: Any, name: str) -> list[Any]:
    if value is None or value == "":
        return []
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as exc:
            raise ConfigurationError(f"{name}: not JSON: {exc}") from None
    if isinstance(value, str | Mapping):
        return [value]
    if not isinstance(value, list | tuple):
        raise ConfigurationError(f"{name}: a list of paths, not {type(value).__name__}")
    return list(value)


def _expected(folder: str, expectations: Sequence[Expectation]) -> Iterator[tuple[str, str]]:
    root = Path(folder)
    for expected in expectations:
        paths, fault = _matches(root, expected)
        if fault:
            yield expected.path, fault
        for path in paths:
            # The same name as in `_checked`, so that this result replaces the one without an expectation.
            yield os.path.relpath(path, root), _fault(root, path, expected)


def _matches(root: Path, expected: Expectation) -> tuple[list[Path], str]:
    pattern = expected.path
    # The part before the first wildcard: the search must not begin in a folder outside.
    if _escapes(root, pattern.split("*")[0]):
        return [], "is outside the folder of the test"
    if any(char in pattern for char in _GLOB):
        try:
            paths = sorted(path for path in root.glob(pattern) if inside(root, path))
        except (ValueError, NotImplementedError, OSError) as exc:
            return [], f"is not a valid pattern: {exc}"
        return paths[:_MAX_FILES], "" if paths else "nothing matches"
    path = root / pattern
    return ([path], "") if path.exists() else ([], "is missing")


def _escapes(root: Path, declared: str) -> bool:
    try:
        return "\0" in declared or not inside(root, root / declared)
    except (OSError, ValueError):
        return True


def _checked(root: Path, declared: str) -> Iterator[tuple[str, str]]:
    """Yield a declared path, or all files of a declared folder, each with its fault."""
    if _escapes(root, declared):
        yield declared, "is outside the folder of the test"
        return
    path = root / declared
    if not path.exists():
        yield declared, "is missing"
    elif not path.is_dir():
        yield declared, _fault(root, path)
    else:
        files = list(_files(path))
        if not files:
            yield declared, "is an empty folder"
        for file in files:
            yield os.path.relpath(file, root), _fault(root, file)


def _files(folder: Path) -> Iterator[Path]:
    count = 0
    for base, folders, names in os.walk(folder):
        folders.sort()  # a fixed order: of more files than the limit, the same ones count
        for name in sorted(names):
            count += 1
            if count > _MAX_FILES:
                return
            yield Path(base) / name


def _fault(root: Path, path: Path, expected: Expectation | None = None) -> str:
    """Return the fault of a file or folder, or "" if there is none."""
    if not inside(root, path):
        return "is outside the folder of the test"
    try:
        if expected is None:
            check_content(path)
        else:
            check_declared(
                path,
                kind=expected.type,
                min_size=expected.min_size,
                json_schema=expected.json_schema,
                fields=expected.fields,
                contains=expected.contains,
                folder=str(root),
            )
    except ArtifactFault as fault:
        return str(fault)
    return ""
