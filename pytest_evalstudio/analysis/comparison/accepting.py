"""Acceptance of a run: a baseline with the results of its cases, and the earlier ones of all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pytest_evalstudio.analysis.comparison.changed_tests import changed_parts, digest_bytes
from pytest_evalstudio.analysis.comparison.matching import item_class
from pytest_evalstudio.analysis.comparison.merging import Merge
from pytest_evalstudio.analysis.comparison.sides import Identity, Side
from pytest_evalstudio.core.errors import ConfigurationError, unknown_name
from pytest_evalstudio.core.text import short_key
from pytest_evalstudio.core.writing import replacing
from pytest_evalstudio.record.codec import encode_line
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.text.figures import counted
from pytest_evalstudio.text.windows import change_windows, word_diff

_VERDICTS = ("passed", "failed")
_NAMES_SHOWN = 20


class Choice(Struct, frozen=True, kw_only=True):
    """Cases of a run that are accepted; all where nothing is named.

    Attributes:
        keys: of test cases, or node ids of items.
        fixed: whether cases are accepted that failed and pass now.
        changed: whether cases are accepted whose test changed.
        prune: whether cases are removed that the suites no longer have.
    """

    keys: tuple[str, ...] = ()
    fixed: bool = False
    changed: bool = False
    prune: bool = False

    @property
    def is_all(self) -> bool:
        return not (self.keys or self.fixed or self.changed)


@dataclass(kw_only=True)
class Acceptance:
    """Result of an acceptance.

    Attributes:
        updated, added, kept, total: number of items of the new baseline.
        removed: node ids of items that it no longer has.
        without_verdict: items of the run that are an error or did not run; their earlier result is kept.
        differences: what changed in the updated items: verdict, test, and the answer by words.
    """

    updated: int = 0
    added: int = 0
    kept: int = 0
    total: int = 0
    removed: list[str] = field(default_factory=list)
    without_verdict: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield what was accepted, what was not and why, and the numbers of items."""
        yield from self.differences
        if self.without_verdict:
            reason = "no verdict (an error, skipped or not run)"
            yield f"not accepted, {reason}: {_listed(self.without_verdict)}"
        if self.removed:
            yield f"removed: {_listed(self.removed)}"
        yield (
            f"{counted(self.total, 'item')}: {self.updated:,} updated, {self.added:,} new,"
            f" {self.kept:,} kept, {len(self.removed):,} removed"
        )


def accept(merge: Merge, path: Path, *, saved: str, choice: Choice) -> Acceptance:
    """Write the baseline with the accepted results of a run, and return what became of its items.

    Args:
        path: of the new baseline; the earlier one may be there.
        saved: time, ISO 8601.
        choice: cases that are accepted.

    Raises:
        ConfigurationError: if none of the chosen cases has a verdict, or a partial run is to prune.
    """
    if choice.prune and merge.missing:
        raise ConfigurationError(
            f"--prune: the run {merge.missing[0]}, so it does not show which cases were removed from"
            " the suites; run all of them"
        )
    result = Acceptance()
    chosen = _chosen(merge, choice, result.without_verdict)
    new_items = {identity: item for identity, item in merge.new_items() if identity in chosen}
    is_gone = _gone(merge, prune=choice.prune)
    items: list[Item] = []
    for identity, item in merge.base_items():
        if (accepted := new_items.pop(identity, None)) is not None:
            result.updated += 1
            result.differences += _difference(item, accepted)
            items.append(accepted)
        elif identity in is_gone:
            result.removed.append(item.nodeid)
        else:
            result.kept += 1
            items.append(merge.kept(item))
    result.added = len(new_items)
    result.differences += [f"new: {item.nodeid}: {item.verdict}" for item in new_items.values()]
    items += new_items.values()
    result.total = len(items)
    with replacing(path) as file:
        file.write(encode_line(merge.header(items, saved=saved, keeps_old=result.kept > 0)) + b"\n")
        for index, item in enumerate(items):
            file.write(encode_line(replace(item, index=index)) + b"\n")
    return result


def _chosen(merge: Merge, choice: Choice, without_verdict: list[str]) -> set[Identity]:
    """Return the chosen items of the run; those without a verdict are added to a list."""
    _check_keys(choice.keys, merge.new)
    identities = set()
    for identity, item in merge.new.items.items():
        if not _is_chosen(identity, merge, choice):
            continue
        if item.outcome in _VERDICTS:
            identities.add(identity)
        else:
            without_verdict.append(f"{short_key(identity[1])} of {identity[2]}")
    if not identities and not choice.is_all:
        raise ConfigurationError(
            "no verdict to accept: the run has no verdict for any of the chosen cases; run them"
            " again, or choose others"
        )
    return identities


def _is_chosen(identity: Identity, merge: Merge, choice: Choice) -> bool:
    item, earlier = merge.new.items[identity], merge.base.items.get(identity)
    if choice.is_all or identity[1] in choice.keys or item.nodeid in choice.keys:
        return True
    if earlier is None:
        return False
    if changed_parts(earlier.digest, item.digest):
        return choice.changed
    return choice.fixed and item_class(earlier, item) == "fixed"


def _check_keys(keys: Iterable[str], side: Side) -> None:
    valid = dict.fromkeys(identity[1] for identity in side.items)
    nodeids = {item.nodeid for item in side.items.values()}
    for key in keys:
        if key not in valid and key not in nodeids:
            raise unknown_name("test case", key, valid, "Give keys or node ids of the run.")


def _gone(merge: Merge, *, prune: bool) -> frozenset[Identity]:
    """Return the items of the baseline that are no longer there: checks of tests that have fewer now, too."""
    base, new = merge.base, merge.new
    files = {identity[0] for identity in new.items}
    nodeids = {item.nodeid for item in new.items.values()}
    return frozenset(
        identity
        for identity, item in base.items.items()
        if identity not in new.items
        and (item.nodeid in nodeids or (prune and _is_gone_file(identity[0], files)))
    )


def _is_gone_file(file: str, files: Collection[str]) -> bool:
    """Return whether a file is in the run, which has not got the case, or is no longer on disk."""
    return file in files or (not Path(file).exists() and any(Path(each).exists() for each in files))


def _difference(base: Item, new: Item) -> Iterator[str]:
    """Yield an item whose verdict, test or answer changed, and the answer by words."""
    parts = changed_parts(digest_bytes(base.digest), digest_bytes(new.digest))
    first, second = (item.rows[0].answer.text if item.rows else "" for item in (base, new))
    has_other_answer = bool(first and second) and first != second
    if base.verdict == new.verdict and not parts and not has_other_answer:
        return
    verdict = new.verdict if base.verdict == new.verdict else f"{base.verdict} -> {new.verdict}"
    tests = f"; test changed: {', '.join(parts)}" if parts else ""
    yield f"accepted: {new.nodeid}: {verdict}{tests}"
    if has_other_answer:
        yield f"  {word_diff(change_windows(first, second))}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
