"""Division of tasks into chunks, which are resolved and scored together on one worker."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from pytest_evalstudio.scoring.tasks import EvalTask, family_root

SIZE = 512
"""Tasks of a chunk if answers are available."""
SIZE_TO_ASK = 128
"""Tasks of a chunk whose model is still to be asked: few enough that progress is seen."""
CHUNKS_PER_WORKER = 2
"""Chunks of each xdist worker if all had the size of the next one.

Chunks shrink towards the end of the run, so that the workers end together.
"""
SMALLEST = 8
"""Tasks of the last chunks for xdist workers; the overhead of smaller ones outweighs their use."""

T = TypeVar("T")


def cut(
    members: Sequence[T],
    task_of: Callable[[T], EvalTask],
    *,
    place_of: Callable[[T], Hashable],
    by_question: bool,
    workers: int = 1,
) -> list[list[T]]:
    """Cut a run's members into chunks.

    A chunk holds members of one file and model. An original and its perturbations stay together, so do cases
    that are compared, and with `by_question` so do all answers of one model to one question.

    Args:
        members: in the order of the run.
        task_of: the task of a member.
        place_of: the file of a member.
        by_question: whether an evaluator compares the answers to one question.
        workers: processes that share the run.

    Returns:
        Chunks in the order of their first members, members in the order of the run.
    """
    families: dict[tuple[Hashable, str], list[list[T]]] = {}
    for position, together in _families(members, task_of, place_of, by_question):
        families.setdefault(position, []).append(together)
    chunks = []
    remaining = len(members)
    # Small runs still give each worker a few chunks.
    smallest = max(1, min(SMALLEST, remaining // (workers * 2 * CHUNKS_PER_WORKER)))
    for groups in families.values():
        largest = SIZE if task_of(groups[0][0]).answered else SIZE_TO_ASK
        size = min(largest, _share(remaining, workers, smallest))
        current: list[T] = []
        for together in groups:
            # A family is never divided; one that is larger than a chunk is a chunk by itself.
            if current and len(current) + len(together) > size:
                chunks.append(current)
                remaining -= len(current)
                size = min(largest, _share(remaining, workers, smallest))
                current = []
            current += together
        chunks.append(current)
        remaining -= len(current)
    return chunks


def _share(remaining: int, workers: int, smallest: int) -> int:
    """Return the size of the next chunk, from the number of tasks that are in none yet."""
    return max(smallest, remaining // (workers * CHUNKS_PER_WORKER)) if workers > 1 else max(1, remaining)


def _families(
    members: Sequence[T],
    task_of: Callable[[T], EvalTask],
    place_of: Callable[[T], Hashable],
    by_question: bool,
) -> list[tuple[tuple[Hashable, str], list[T]]]:
    parent: dict[Hashable, Hashable] = {}

    def find(node: Hashable) -> Hashable:
        while parent.setdefault(node, node) != node:
            node = parent[node]
        return node

    def join(first: Hashable, other: Hashable) -> None:
        parent[find(other)] = find(first)

    roots = []
    for member in members:
        task = task_of(member)
        root = id(family_root(task))
        for other in task.related.values():
            join(id(family_root(other)), root)
        if by_question:
            join((place_of(member), task.model.key, task.case.question), root)
        roots.append(root)
    groups: dict[Hashable, list[T]] = {}
    for member, root in zip(members, roots, strict=True):
        groups.setdefault(find(root), []).append(member)
    return [((place_of(group[0]), task_of(group[0]).model.key), group) for group in groups.values()]
