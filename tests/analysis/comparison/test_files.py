"""Files of two runs that are the same although their paths differ."""

from __future__ import annotations

import pytest

from pytest_evalstudio.analysis.comparison.files import CaseDigests, same_files


def pairs(base: CaseDigests, new: CaseDigests, *, root: bool = True) -> list[tuple[str, str, bool]]:
    return [(file.base, file.new, file.is_renamed) for file in same_files(base, new, has_same_root=root)]


@pytest.mark.parametrize(
    ("base", "new", "is_same"),
    [
        pytest.param({"k": 1, "l": 2}, {"k": 1, "l": 3}, True, id="half of the cases"),
        pytest.param({"k": 1, "l": 2, "m": 3}, {"k": 1, "l": 8, "m": 9}, False, id="a third"),
        pytest.param({"k": 1}, {"l": 1}, False, id="other keys"),
        pytest.param({"k": 0}, {"k": 0}, False, id="unknown cases"),
        pytest.param({"k": 1, "l": 2, "m": 3}, {"k": 1}, True, id="fewer cases"),
    ],
)
def test_a_renamed_file_has_half_of_its_cases_unchanged(
    base: dict[str, int], new: dict[str, int], is_same: bool
) -> None:
    assert pairs({"a.json": base}, {"b.json": new}) == ([("a.json", "b.json", True)] if is_same else [])


def test_the_file_with_the_most_unchanged_cases_is_the_renamed_one() -> None:
    base = {"a.json": {"k": 1, "l": 2}, "b.json": {"k": 1, "l": 2, "m": 3}}
    assert pairs(base, {"c.json": {"k": 1, "l": 2, "m": 3}}) == [("b.json", "c.json", True)]


def test_a_file_is_renamed_once() -> None:
    case = {"k": 1}
    assert pairs({"a.json": case}, {"b.json": case, "longer.json": case}) == [("a.json", "b.json", True)]
    assert pairs({"a.json": case, "longer.json": case}, {"b.json": case}) == [("a.json", "b.json", True)]


def test_below_another_root_the_end_of_a_path_names_the_file() -> None:
    base = {"x/a.json": {"k": 1}, "b.json": {"k": 2}}
    new = {"home/x/a.json": {"k": 9}, "home/b.json": {"k": 8}}
    assert sorted(pairs(base, new, root=False)) == [
        ("b.json", "home/b.json", False),
        ("x/a.json", "home/x/a.json", False),
    ]
    assert sorted(pairs(new, base, root=False)) == [
        ("home/b.json", "b.json", False),
        ("home/x/a.json", "x/a.json", False),
    ]
    assert pairs(base, new) == []


def test_a_longer_common_end_comes_first_and_unchanged_cases_decide_among_equals() -> None:
    base = {"a.json": {"k": 1}}
    new = {"x/a.json": {"k": 2}, "y/a.json": {"k": 1}}
    assert pairs(base, new, root=False) == [("a.json", "y/a.json", False)]
    base = {"a.json": {"k": 1}, "x/a.json": {"k": 1}}
    assert pairs(base, {"home/x/a.json": {"k": 1}}, root=False) == [("x/a.json", "home/x/a.json", False)]


def test_a_longer_common_end_comes_first_whichever_of_the_paths_is_longer() -> None:
    base, equal_cases, changed = {"x/a.json": {"k": 1}}, {"k": 1}, {"k": 2}
    assert pairs(base, {"a.json": equal_cases, "home/x/a.json": changed}, root=False) == [
        ("x/a.json", "home/x/a.json", False)
    ]
    assert pairs({"a.json": equal_cases, "home/x/a.json": changed}, base, root=False) == [
        ("home/x/a.json", "x/a.json", False)
    ]


def test_equal_ends_of_files_without_a_common_key_are_no_proof() -> None:
    assert pairs({"a.json": {"k": 1}}, {"x/a.json": {"l": 1}}, root=False) == []
