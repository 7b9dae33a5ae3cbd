"""Files of two runs that are the same although their paths differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping

from pytest_evalstudio.analysis.comparison.sides import Side

_MIN_SHARE = 0.5
"""Share of a file's cases that are unchanged ones of a renamed file."""

CaseDigests = Mapping[str, Mapping[str, int]]
"""By file, the digest of question and expectation by key of the case; 0 where it is not known."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SameFile:
    """A file of both runs.

    Attributes:
        base, new: its path in the two runs.
        is_renamed: False where only the root folder of the runs differs.
    """

    base: str
    new: str
    is_renamed: bool


def same_files(base: CaseDigests, new: CaseDigests, *, has_same_root: bool) -> list[SameFile]:
    """Return the files of both runs that have another path in each.

    At least half of the cases of a renamed file are unchanged. Below another root folder, a file is the same
    whose path ends with the other one's: pytest takes the folder above all its arguments for the root, also
    where an argument is the value of an option.

    Args:
        base: files that only the base run has.
        new: files that only the new run has.
        has_same_root: whether a path is the same in both runs.

    >>> [file] = same_files({"a.json": {"k": 1}}, {"home/me/a.json": {"k": 2}}, has_same_root=False)
    >>> file.new, file.is_renamed
    ('home/me/a.json', False)
    >>> [file] = same_files({"a.json": {"k": 1, "l": 2}}, {"b.json": {"k": 1, "l": 3}}, has_same_root=True)
    >>> file.new, file.is_renamed
    ('b.json', True)
    """
    unchanged = _unchanged(base, new)
    ranked = [
        (-count, abs(len(path) - len(earlier)), earlier, path, True)
        for (earlier, path), count in unchanged.items()
        if count >= _MIN_SHARE * len(new[path])
    ]
    if not has_same_root:
        # Files whose paths have the same end come before all renamed ones.
        longest = 1 + max((count for count in unchanged.values()), default=0)
        ranked += [
            (-longest - shared, -unchanged.get((earlier, path), 0), earlier, path, False)
            for earlier, path, shared in _with_same_ends(base, new)
        ]
    result: list[SameFile] = []
    labels: set[str] = set()
    for _, _, earlier, path, is_renamed in sorted(ranked):
        if labels.isdisjoint((f"base {earlier}", f"new {path}")):
            labels |= {f"base {earlier}", f"new {path}"}
            result.append(SameFile(base=earlier, new=path, is_renamed=is_renamed))
    return result


def _unchanged(base: CaseDigests, new: CaseDigests) -> dict[tuple[str, str], int]:
    """Return the number of unchanged cases of each pair of files that has any."""
    files: dict[tuple[str, int], list[str]] = {}
    for file, cases in base.items():
        for key, digest in cases.items():
            if digest:
                files.setdefault((key, digest), []).append(file)
    counts: dict[tuple[str, str], int] = {}
    for path, cases in new.items():
        for key, digest in cases.items():
            for earlier in files.get((key, digest), ()):
                counts[earlier, path] = counts.get((earlier, path), 0) + 1
    return counts


def _with_same_ends(base: CaseDigests, new: CaseDigests) -> Iterator[tuple[str, str, int]]:
    """Yield pairs of files of which one path ends with the other, and the number of parts in common."""
    ends: dict[str, list[str]] = {}
    for file in base:
        for end in _ends(file):
            ends.setdefault(end, []).append(file)
    for path, cases in new.items():
        longer = [(file, path.count("/") + 1) for file in ends.get(path, ())]
        shorter = [(end, end.count("/") + 1) for end in _ends(path) if end in base]
        for file, parts in longer + shorter:
            if not base[file].keys().isdisjoint(cases):
                yield file, path, parts


def _ends(path: str) -> Iterator[str]:
    """Yield a path, and what is left of it without its first folders."""
    parts = path.split("/")
    return ("/".join(parts[start:]) for start in range(len(parts)))


def moved_files(
    base: Side, files: Collection[str], digests: Callable[[Collection[str]], CaseDigests]
) -> list[SameFile]:
    """Return the files of the base run that have another path in the new run.

    Args:
        files: of the new run.
        digests: returns the cases of some of these files.
    """
    earlier = {file for file, _, _, _ in base.items}
    base_alone, new_alone = earlier.difference(files), set(files) - earlier
    if not base_alone or not new_alone:
        return []
    return same_files(
        digests_of(base, base_alone), digests(new_alone), has_same_root=len(base_alone) < len(earlier)
    )


def matched_files(base: Side, new: Side) -> Side:
    """Return the base run with the paths that its files have in the new run."""
    files = {file for file, _, _, _ in new.items}
    return with_paths(base, moved_files(base, files, lambda names: digests_of(new, names)))


def digests_of(side: Side, files: Collection[str]) -> dict[str, dict[str, int]]:
    """Return the digests of the cases of some files of a run."""
    digests: dict[str, dict[str, int]] = {}
    for (file, key, _, _), item in side.items.items():
        if file in files:
            cases = digests.setdefault(file, {})
            cases[key] = item.case or cases.get(key, 0)
    return digests


def with_paths(side: Side, same: Collection[SameFile]) -> Side:
    """Return a run some of whose files have other paths."""
    if not same:
        return side
    paths = {each.base: each.new for each in same}
    items = {
        (paths.get(file, file), key, label, part): item
        for (file, key, label, part), item in side.items.items()
    }
    renamed = {each.base: each.new for each in same if each.is_renamed}
    return dataclasses.replace(side, items=items, renamed_files={**side.renamed_files, **renamed})
