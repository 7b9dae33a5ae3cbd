"""A regressed case with both answers, and the parts of the baseline that can be put back."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from pytest_evalstudio.contrib.cause.chunks import ChunkChange, Documents, changes_of, raw_chunks
from pytest_evalstudio.contrib.cause.replay import Restoration
from pytest_evalstudio.contrib.cause.settings import SettingChange, obstacle, restored_table, setting_changes
from pytest_evalstudio.contrib.cause.trajectories import Trajectories, compared, identity
from pytest_evalstudio.core.cases import Answer
from pytest_evalstudio.core.recorded_tools import wrapped_tools
from pytest_evalstudio.core.restored import RestorablePart, Restored
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.config import CauseTable
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.record.causes import CauseCode, CausePart
from pytest_evalstudio.record.schema import ModelEntry
from pytest_evalstudio.run.planning import PlannedItem
from pytest_evalstudio.scoring.confirming import repeat_passes
from pytest_evalstudio.scoring.recorded import recorded
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.run_header import model_entry

RETRIEVAL = CausePart(kind=CauseCode.RETRIEVAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """Abilities of a model that is asked.

    Attributes:
        restores: parts of an earlier answer that it can use.
        composes: whether such an answer goes the same way as an ordinary one.
        deterministic: whether it gives the same answer to the same question.
        recorded_tools: that its answers have called so far, and that get recorded results.
        runs_user_code: whether its host calls the user's own code.
        table: of the model.
        configured_models: names of language models in the configuration.
        options: table `[cause]`.
    """

    restores: frozenset[RestorablePart]
    composes: bool
    deterministic: bool
    recorded_tools: frozenset[str]
    runs_user_code: bool
    table: ModelTable
    configured_models: tuple[str, ...]
    options: CauseTable


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressedCase:
    """A case that passed in the baseline and fails today.

    Attributes:
        then: answer of the baseline, masked.
        now: first failing answer of today.
        recorded_now: the same as a record has it.
        trajectories: calls of both.
        chunks: changes of the baseline's chunks, the one that is needed most first.
        settings: that differ.
        documents: as they are today.
        same_commit: whether both runs are of one known commit.
    """

    item: PlannedItem
    result: Result
    application: Application
    then: Answer
    now: Answer
    recorded_now: Answer
    trajectories: Trajectories
    chunks: tuple[ChunkChange, ...]
    settings: tuple[SettingChange, ...]
    documents: Documents
    same_commit: bool = False

    @property
    def other_chunks(self) -> bool:
        """Return whether the chunks or their order differ."""
        return self.then.context != self.recorded_now.context

    @property
    def other_model_served(self) -> bool:
        """Return whether another model answered, as the service names it."""
        then, now = self.then.served_model, self.recorded_now.served_model
        return bool(then and now and then != now)

    def settings_of(self, part: CausePart) -> tuple[SettingChange, ...]:
        """Return the changed settings of a part."""
        return tuple(change for change in self.settings if change.part == part)


def regressed_case(
    item: PlannedItem,
    result: Result,
    then: Answer,
    application: Application,
    *,
    documents: Documents,
    base_model: ModelEntry | None,
    same_commit: bool,
) -> RegressedCase:
    """Return a case with what differs from the baseline.

    Args:
        then: answer of the baseline.
        documents: as they are today.
        base_model: of the baseline's record; None where it is not there.
        same_commit: whether both runs are of one known commit.
    """
    failing_answer = _failing_answer(result)
    recorded_now = recorded(failing_answer, item.task.case.folder)
    settings: tuple[SettingChange, ...] = ()
    if base_model is not None:
        today = model_entry(item.task.model).model_cfg
        settings = setting_changes(base_model.model_cfg, today, application.options.parts)
    return RegressedCase(
        item=item,
        result=result,
        application=application,
        then=then,
        now=failing_answer,
        recorded_now=recorded_now,
        trajectories=compared(then.tool_calls, recorded_now.tool_calls),
        chunks=changes_of(then, recorded_now, documents),
        settings=settings,
        documents=documents,
        same_commit=same_commit,
    )


def _failing_answer(result: Result) -> Answer:
    """Return the first answer that fails, the first one where only all together do."""
    for index, case in enumerate(result.answers):
        if repeat_passes(result, index) is False:
            return case.answer
    return result.answers[0].answer


def document_paths(item: PlannedItem) -> tuple[Path, ...]:
    """Return the files that the application of an item retrieves from, as far as they are named."""
    config = item.file.config
    paths = [Path(name) for name in item.task.case.corpus if "://" not in name]
    for pattern in config.cause.documents:
        names = glob.glob(pattern, root_dir=config.folder, recursive=True)
        paths += [path for name in sorted(names) if (path := config.folder / name).is_file()]
    return tuple(paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Parts that differ from the baseline.

    Attributes:
        parts: that can be put back.
        obstacles: why others cannot, a sentence each.
        untested: other differences, which are never put back.
    """

    parts: tuple[CausePart, ...] = ()
    obstacles: tuple[str, ...] = ()
    untested: tuple[str, ...] = ()


def candidates_of(case: RegressedCase) -> Candidates:
    """Return the parts of a case that differ, the most common cause first."""
    parts: list[CausePart] = []
    obstacles: list[str] = []
    application = case.application
    if case.other_chunks:
        if "chunks" in application.restores:
            parts.append(RETRIEVAL)
        else:
            obstacles.append(
                "the chunks differ, and the application cannot take those of the baseline; declare `retrieve`"
                " and `generate`, or {{ context }}"
            )
    for tool in case.trajectories.changed_tools:
        if "calls" in application.restores:
            parts.append(CausePart(kind=CauseCode.TOOL, name=tool))
        else:
            obstacles.append(
                f"tool `{tool}` returned something else, and no recorded result can take its"
                " place; wrap it with `recorded_tool`"
            )
    by_part: dict[CausePart, list[SettingChange]] = {}
    for change in case.settings:
        if change.part is not None and change.part != RETRIEVAL:
            by_part.setdefault(change.part, []).append(change)
    for part, changes in by_part.items():
        faults = [fault for change in changes if (fault := _obstacle(case, change))]
        obstacles += faults
        if not faults:
            parts.append(part)
    if RETRIEVAL not in parts and case.settings_of(RETRIEVAL):
        parts.append(RETRIEVAL)
    untested = [str(change) for change in case.settings if change.part is None]
    return Candidates(parts=tuple(parts), obstacles=tuple(obstacles), untested=tuple(untested))


def _obstacle(case: RegressedCase, change: SettingChange) -> str:
    application = case.application
    return obstacle(change, application.configured_models, runs_user_code=application.runs_user_code)


def restoration_of(case: RegressedCase, parts: Sequence[CausePart]) -> Restoration:
    """Return what puts some parts of the baseline back; everything else is as it was today.

    Args:
        parts: () for the application as it is.
    """
    restored = structs.replace(_restored_chunks(case, parts), **_restored_calls(case, parts))
    changes = [
        change
        for part in parts
        for change in case.settings_of(part)
        if part != RETRIEVAL or restored.chunks is None
    ]
    table = restored_table(case.application.table, changes) if changes else None
    return Restoration(parts=tuple(parts), table=table, restored=restored if restored.parts else None)


def _restored_chunks(case: RegressedCase, parts: Sequence[CausePart]) -> Restored:
    """Return the chunks of the baseline, or today's, so that a noisy retrieval does not interfere."""
    application, then = case.application, case.then
    if "chunks" not in application.restores or not (then.context or case.now.context):
        return Restored()
    if RETRIEVAL in parts and case.other_chunks:
        chunks = raw_chunks(then, case.now, case.recorded_now)
        return Restored(chunks=chunks, sources=then.context_sources, scores=then.context_scores)
    # A setting may change what is retrieved.
    if any(part.kind is CauseCode.SETTING for part in parts) or (not parts and application.composes):
        return Restored()
    now = case.now
    return Restored(chunks=now.context, sources=now.context_sources, scores=now.context_scores)


def _restored_calls(case: RegressedCase, parts: Sequence[CausePart]) -> dict[str, object]:
    """Return the recorded calls: today's, with the baseline's results of the tools that are put back."""
    if "calls" not in case.application.restores or not (case.then.tool_calls or case.now.tool_calls):
        return {}
    tools = {part.name for part in parts if part.kind is CauseCode.TOOL}
    live = {name for name, tool in case.application.options.tools.items() if tool.replay}
    return {"calls": tuple(_calls(case, tools)), "live_tools": frozenset(live)}


def _calls(case: RegressedCase, tools: Collection[str]) -> Iterator[ToolCall]:
    calls_of_baseline: dict[tuple[str, str], list[ToolCall]] = {}
    for call in case.then.tool_calls:
        calls_of_baseline.setdefault(identity(call), []).append(call)
    for call, recorded_call in zip(case.now.tool_calls, case.recorded_now.tool_calls, strict=True):
        waiting = calls_of_baseline.get(identity(recorded_call))
        earlier = waiting.pop(0) if waiting else None
        if earlier is not None and call.name in tools:
            yield structs.replace(call, result=earlier.result, error=earlier.error)
        else:
            yield call
    # The agent may go the baseline's way again once it gets the results of then.
    for remaining in calls_of_baseline.values():
        yield from remaining


def unsafe_tools(case: RegressedCase) -> tuple[str, ...]:
    """Return the tools of a case that a replay would call, and must not: neither wrapped nor harmless."""
    if case.item.task.model.confirm:
        return ()
    harmless = {name for name, tool in case.application.options.tools.items() if tool.replay}
    today = dict.fromkeys(call.name for call in case.now.tool_calls)
    tool_names = dict.fromkeys(call.name for call in case.then.tool_calls)
    safe = harmless | case.application.recorded_tools
    # A tool that only the baseline calls has not been seen, but its function may be wrapped.
    safe |= (wrapped_tools() - today.keys()) if "calls" in case.application.restores else frozenset()
    return tuple(name for name in {**tool_names, **today} if name not in safe)
