"""Scheduling under xdist: the items of a chunk stay on one worker; other tests keep that of `--dist`.

Every run under xdist imports this module; what only evaluations need is imported when a worker has some.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import (
    LoadFileScheduling,
    LoadGroupScheduling,
    LoadScheduling,
    LoadScopeScheduling,
    WorkStealingScheduling,
)

from pytest_evalstudio.plugin.keys import PLAN_CHANNEL

if TYPE_CHECKING:
    from pytest_evalstudio.asking.runs import AskingRun
    from pytest_evalstudio.plugin.sharing import WorkerPlan

_STANDARD: Mapping[str, Any] = {
    "load": LoadScheduling,
    "loadscope": LoadScopeScheduling,
    "loadfile": LoadFileScheduling,
    "loadgroup": LoadGroupScheduling,
    "worksteal": WorkStealingScheduling,
}


def make_scheduler(
    config: pytest.Config, log: Any, begin: Callable[[WorkerPlan], AskingRun]
) -> ChunkedScheduler | None:
    """Return the scheduler of a run, None to leave the choice to xdist.

    Args:
        begin: begins the run of a worker's plan, where a worker has eval items.
    """
    mode = config.getvalue("dist")
    return ChunkedScheduler(config, log, mode, begin) if mode in _STANDARD else None


def _received_plan(node: Any) -> WorkerPlan | None:
    """Return the plan that a worker sent; None if it has no eval items."""
    channel = node.workerinput.get(PLAN_CHANNEL)
    if channel is None:
        return None
    try:
        data = channel.receive(timeout=0)  # a worker sends it before it reports its collection
    except (channel.TimeoutError, EOFError):
        return None
    from pytest_evalstudio.plugin.sharing import WorkerPlan

    return WorkerPlan.decoded(data)


class _ChunkScheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Scheduling by scopes: each chunk is one, and so are ordinary tests that `--dist` keeps together."""

    def __init__(self, config: pytest.Config, log: Any, mode: str, chunks: Mapping[str, str]) -> None:
        super().__init__(config, log)
        self._mode = mode
        self._chunks = chunks

    def remove_node(self, node: Any) -> str | None:
        """Assign a dead worker's open items to the others.

        The item that was running is left out: it would kill them too.
        """
        open_units = {
            scope: unit for scope, unit in self.assigned_work.pop(node).items() if not all(unit.values())
        }
        if not open_units:
            return None
        first = next(iter(open_units.values()))
        crashed: str = next(nodeid for nodeid, done in first.items() if not done)
        first[crashed] = True  # done for the scheduler: xdist itself reports the crash
        self.workqueue.update({scope: unit for scope, unit in open_units.items() if not all(unit.values())})
        for other in self.assigned_work:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node: Any) -> None:
        """Hand a worker more items; one that replaces a dead worker gets none before it has collected."""
        if node in self.registered_collections:
            super()._reschedule(node)

    def _split_scope(self, nodeid: str) -> str:
        chunk = self._chunks.get(nodeid)
        if chunk is not None:
            return chunk
        if self._mode == "loadfile":
            return nodeid.split("::", 1)[0]
        if self._mode == "loadscope":
            return nodeid.rsplit("::", 1)[0]
        if self._mode == "loadgroup" and nodeid.rfind("@") > nodeid.rfind("]"):
            return nodeid.split("@")[-1]
        return nodeid


class ChunkedScheduler:
    """A scheduler that delegates to another one, chosen when the first collection shows if there are chunks.

    A run without eval items is scheduled by xdist's own scheduler for its `--dist`.
    """

    def __init__(
        self, config: pytest.Config, log: Any, mode: str, begin: Callable[[WorkerPlan], AskingRun]
    ) -> None:
        self._begin = begin
        self._config = config
        self._log = log
        self._mode = mode
        self._nodes: list[Any] = []
        self._chosen: Any = None
        self._run: AskingRun | None = None
        self._numnodes = _STANDARD[mode](config, log).numnodes

    def add_node(self, node: Any) -> None:
        if self._chosen is not None:
            self._chosen.add_node(node)
        else:
            self._nodes.append(node)

    def add_node_collection(self, node: Any, collection: Sequence[str]) -> None:
        if self._chosen is None:
            self._chosen = self._choose(node)
            for waiting in self._nodes:
                self._chosen.add_node(waiting)
        if self._run is not None:
            from pytest_evalstudio.plugin.sharing import send_run

            send_run(node, self._run)
        self._chosen.add_node_collection(node, collection)

    def remove_node(self, node: Any) -> Any:
        if self._chosen is not None:
            return self._chosen.remove_node(node)
        self._nodes.remove(node)
        return None

    @property
    def nodes(self) -> list[Any]:
        return list(self._nodes) if self._chosen is None else list(self._chosen.nodes)

    @property
    def collection_is_completed(self) -> bool:
        return self._chosen is not None and bool(self._chosen.collection_is_completed)

    @property
    def tests_finished(self) -> bool:
        return self._chosen is not None and bool(self._chosen.tests_finished)

    @property
    def has_pending(self) -> bool:
        return self._chosen is not None and bool(self._chosen.has_pending)

    def __getattr__(self, name: str) -> Any:
        # From the dictionary: an attribute that is not set yet would be looked up here again, without end.
        suite = self.__dict__.get("_chosen")
        if suite is None:
            raise AttributeError(name)
        return getattr(suite, name)

    def _choose(self, node: Any) -> Any:
        plan = _received_plan(node)
        if plan is None:
            return _STANDARD[self._mode](self._config, self._log)
        if plan.usage_error:
            raise pytest.UsageError(plan.usage_error)
        self._run = self._begin(plan)
        if not plan.chunks:
            return _STANDARD[self._mode](self._config, self._log)
        return _ChunkScheduling(self._config, self._log, self._mode, plan.chunks)
