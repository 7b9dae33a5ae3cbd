"""Failures in groups: the evaluator that failed an item first, and the kind of its failure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.report.failure_types import FailedEvaluator, FailedItem, Kind

GroupKey = tuple[Kind, str, str, str]
"""Kind, evaluator, metric, and kind of failure or code."""
TITLES: Mapping[str, str] = {
    ItemCode.ANSWER_EMPTY: "No answer",
    ItemCode.REFUSAL_MISSING: "No refusal where one is expected",
    ItemCode.UNEXPECTED_REFUSAL: "Unexpected refusal",
    OutcomeCode.NO_ANSWER: "The host did not answer",
    OutcomeCode.NOT_SUPPORTED: "The host takes no such image or file",
}
"""Codes of failures that no evaluator decides or explains, and titles of their groups."""


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Items of one kind that fail by the same evaluator for the same kind of reason.

    Attributes:
        items: those that are written out.
        total: number of all of them.
    """

    kind: Kind
    evaluator: str
    title: str
    items: tuple[FailedItem, ...]
    total: int


def group_key(kind: Kind, misses: Sequence[FailedEvaluator], code: str) -> GroupKey:
    """Return the group of an item: the evaluator that failed it first, its metric and kind of failure."""
    if not misses or code:
        return kind, "", "", code
    return kind, misses[0].evaluator, misses[0].metric, misses[0].fault


class _Group(Struct):
    title: str
    evaluator: str
    total: int
    items: list[FailedItem] = field(default_factory=list)


def grouped(
    kind: Kind, items: Iterable[FailedItem], totals: Mapping[GroupKey, int]
) -> Iterator[FailureGroup]:
    """Yield the groups of the items of a kind, those with regressed items and the large ones first.

    Args:
        totals: number of all items of each group.
    """
    groups: dict[GroupKey, _Group] = {}
    for item in items:
        key = group_key(kind, item.misses, item.code)
        title = TITLES.get(item.code) or _title(item.first)
        groups.setdefault(key, _Group(title, key[1], totals[key])).items.append(item)
    order = sorted(
        groups.values(),
        key=lambda group: (-sum(item.change == "regressed" for item in group.items), -len(group.items)),
    )
    for group in order:
        yield FailureGroup(
            kind=kind,
            evaluator=group.evaluator,
            title=group.title,
            items=tuple(group.items),
            total=group.total,
        )


def _title(miss: FailedEvaluator | None) -> str:
    if miss is None:
        return "No evaluator gave a verdict"
    if not miss.metric:
        kind = f" ({_words(miss.fault)})" if miss.fault else ""
        is_of_judge = miss.fault == OutcomeCode.JUDGE_FAILED
        return f"{miss.name}: {'no reply of its judge' if is_of_judge else f'could not score{kind}'}"
    if miss.boolean:
        fault = miss.fault.removeprefix(f"{miss.name.partition(' ')[0]} ")
        return f"{miss.name}{f': {_within_sentence(fault)}' if fault else ''}"
    return f"{miss.name}: {miss.metric} {'below' if miss.sign == '≥' else 'above'} the threshold"


def _within_sentence(text: str) -> str:
    """Return a name as it stands within a sentence; an abbreviation keeps its capitals."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _words(code: str) -> str:
    return code.replace("_", " ")
