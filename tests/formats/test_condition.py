"""The condition grammar: what it accepts, what it says about what it does not, and what fails."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.formats.condition import (
    PatternTimeout,
    parse_condition,
)
from pytest_evalstudio.formats.condition_writing import constraints_to_condition, substring_condition


@pytest.mark.parametrize(
    ("condition", "text", "passes"),
    [
        pytest.param('"15,969"', "revenue was 15,969 million", True, id="substring"),
        pytest.param('"paris"', "Paris", False, id="case matters"),
        pytest.param('""', "", True, id="an empty operand is in every text"),
        pytest.param('"a" OR "b" AND "c"', "a", True, id="AND binds tighter than OR"),
        pytest.param('("a" OR "b") AND "c"', "a", False, id="parentheses group"),
        pytest.param('NOT "a" AND "b"', "b", True, id="NOT binds tighter than AND"),
        pytest.param('NOT ("a" AND "b")', "a", True, id="NOT of a group"),
        pytest.param('NOT NOT "x"', "x", True, id="double negation affirms"),
        pytest.param('NOT NOT "x"', "y", False, id="double negation of what is absent"),
        pytest.param('NOT NOT NOT "x"', "y", True, id="triple negation"),
        pytest.param('  "a"\t\n AND\r\n\n"b"  ', "ab", True, id="any white space"),
        pytest.param('"a"AND"b"', "ab", True, id="no white space at all"),
        pytest.param('NOT("a")', "b", True, id="NOT before a parenthesis"),
        pytest.param('"x AND y"', "x AND y", True, id="operators in quotes are text"),
        pytest.param(r'"say \"hi\""', 'say "hi"', True, id="escaped quotes are quotes"),
        pytest.param(r'"C:\\dir"', r"C:\dir", True, id="an escaped backslash is one"),
        pytest.param(r'"C:\dir"', r"C:\dir", True, id="a lone backslash is itself"),
        pytest.param('regexp("15,?969")', "15969", True, id="quoted pattern"),
        pytest.param("regexp(^A.*)", "An apple", True, id="bare pattern"),
        pytest.param("regexp(^A.*)", "Not an Apple", False, id="bare pattern keeps its anchor"),
        pytest.param(
            "regexp( (a|b)(c) ) AND NOT regexp(d)", "xbc", True, id="bare pattern with groups and blanks"
        ),
        pytest.param(r"regexp(a\)b)", "a)b", True, id="bare pattern with an escaped parenthesis"),
        pytest.param("regexp([)(]+x)", "()x", True, id="bare pattern with parentheses in a class"),
        pytest.param(r'regexp("a\) b")', "a) b", True, id="quoted pattern with a parenthesis"),
        pytest.param(r'regexp("^\d+$")', "123", True, id="quoted pattern with a class escape"),
        pytest.param(r'regexp("^\\d+$")', "123", True, id="quoted pattern with a doubled backslash"),
        pytest.param('regexp("a.b")', "a\nb", False, id="a dot does not cross lines"),
        pytest.param('regexp("(?i)PARIS")', "paris", True, id="inline flags"),
        pytest.param("regexp(x{e<=1})", "x{e<=1}", True, id="fuzzy syntax of another engine is literal"),
        pytest.param("regexp(x{e<=1})", "y", False, id="fuzzy syntax does not make it fuzzy"),
        pytest.param("regexp(^[[:a]+$)", "[:a", True, id="a bracket in a class is literal"),
        pytest.param(r"regexp(\N{EM DASH})", "a—b", True, id="named characters"),
        pytest.param('regexp("") AND "a"', "a", True, id="empty pattern"),
    ],
)
def test_a_condition_decides(condition: str, text: str, passes: bool) -> None:
    assert parse_condition(condition).check(text).passed is passes


@pytest.mark.parametrize(
    ("condition", "column", "fact"),
    [
        ("", 1, "empty"),
        (" \n ", 4, "empty"),
        (
            '"a" AND',
            8,
            'expected a text in double quotes, or a term such as word("…") or number(…) after AND',
        ),
        (
            '"a" OR OR "b"',
            8,
            'expected a text in double quotes, or a term such as word("…") or number(…) after OR',
        ),
        ('"a" "b"', 5, "expected AND or OR"),
        ('regexp("a") regexp("b")', 13, "expected AND or OR"),
        ('"a" and "b"', 5, "upper case: AND"),
        ('not "a"', 1, "upper case: NOT"),
        ('"a', 1, "never closed"),
        (r'"a\"', 1, "never closed"),
        ('("a"', 1, "never closed"),
        ('"a")', 4, "closes nothing"),
        ("()", 2, "expected a text in double quotes"),
        ("'a'", 1, "straight double quotes"),
        ("“a”", 1, "straight double quotes"),
        ("regexp(a", 7, "never closed"),
        ('regexp "a"', 8, "expected ("),
        ('regexp("a" "b")', 12, "expected )"),
        ('"ok" AND regexp("a[")', 19, "unterminated character set"),
        ("regexp(*)", 8, "nothing to repeat"),
        (r'regexp("\\p{L}")', 9, "bad escape"),
        ("(" * 500 + '"a"' + ")" * 500, 101, "nested"),
        ("NOT " * 500 + '"a"', 2001, "in a row"),
    ],
)
def test_a_malformed_condition_is_an_error_with_its_column(condition: str, column: int, fact: str) -> None:
    with pytest.raises(DataError, match=re.escape(fact)) as exc_info:
        parse_condition(condition)
    assert exc_info.value.column == column
    assert f"column {column}" in str(exc_info.value)


def test_a_text_without_quotes_is_shown_as_it_should_be() -> None:
    with pytest.raises(DataError) as fault:
        parse_condition(" 5 USD")
    assert str(fault.value).startswith(
        'write texts in double quotes: "5 USD", which is "\\"5 USD\\"" in JSON'
    )


def test_the_caret_stands_under_the_fault() -> None:
    with pytest.raises(DataError) as exc_info:
        parse_condition('"a"\tAND nonsense')
    _, line, caret = str(exc_info.value).split("\n")
    assert line[caret.index("^") :] == "nonsense"


def test_the_caret_stands_under_the_fault_of_a_long_condition() -> None:
    with pytest.raises(DataError) as exc_info:
        parse_condition(" AND ".join(['"word"'] * 200) + " nonsense " + "x" * 500)
    _, line, caret = str(exc_info.value).split("\n")
    assert len(line) < 120
    assert line[caret.index("^") :].startswith("nonsense")


@pytest.mark.parametrize(
    ("condition", "text", "failed"),
    [
        ('"a" AND "b" AND "c"', "b", '"a" AND "c"'),
        ('"a" AND ("b" OR "c")', "a", '"b" OR "c"'),
        ('"x" AND ("b" OR "c")', "a", '"x" AND ("b" OR "c")'),
        ('"a" OR "b" AND "c"', "", '"a" OR "b" AND "c"'),
        ('"a" AND NOT "b"', "ab", 'NOT "b" (found "b" at 1)'),
        ("NOT regexp([0-9]+)", "no 42", 'NOT regexp("[0-9]+") (found "42" at 3)'),
        ('NOT ("a" OR "b")', "a", 'NOT ("a" OR "b")'),
    ],
)
def test_the_failing_part_is_named(condition: str, text: str, failed: str) -> None:
    assert parse_condition(condition).check(text).failed == failed


def test_a_met_condition_names_no_failing_part() -> None:
    assert parse_condition('"a"').check("a").failed == ""


def test_a_pattern_that_takes_too_long_is_an_error_and_no_verdict() -> None:
    condition = parse_condition("regexp((a+)+$)")
    start = time.monotonic()
    with pytest.raises(PatternTimeout, match=r"took longer than 0\.1 s") as exc_info:
        condition.check("a" * 5_000 + "b", timeout_s=0.1)
    assert time.monotonic() - start < 60
    assert isinstance(exc_info.value, EvaluationError)


def test_regex_is_loaded_only_where_a_regexp_is_used() -> None:
    code = """
import sys
from pytest_evalstudio.formats.condition import parse_condition
assert parse_condition('"a" AND NOT "b"').check("a").passed
assert "regex" not in sys.modules
assert parse_condition('regexp(a+)').check("a").passed
assert "regex" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_condition_pickles() -> None:
    tree = parse_condition('("a" OR regexp(b+)) AND NOT "c"')
    assert pickle.loads(pickle.dumps(tree)) == tree


@given(st.text())
def test_any_text_contains_itself(text: str) -> None:
    assert parse_condition(substring_condition(text)).check(f"<{text}>").passed


@given(st.text(min_size=1))
def test_any_text_escaped_as_a_pattern_matches_itself(text: str) -> None:
    condition = constraints_to_condition(["REGEXP:" + re.escape(text)])
    assert parse_condition(condition).check(f"<{text}>").passed


@given(st.text(alphabet='ab"\\ ANDORT()regxp\n', max_size=40))
def test_any_text_parses_or_is_a_data_error_inside_it(text: str) -> None:
    column = 1
    try:
        parse_condition(text)
    except DataError as fault:
        column = fault.column
    assert 1 <= column <= len(text) + 1


leaves = st.builds(substring_condition, st.text(alphabet='ab"\\c ', max_size=3)) | st.sampled_from(
    ["regexp(a+b)", 'regexp("^c")', 'value("5 days")', 'affirms("Is it \\"a\\"?")', 'denies("b")', '"5 days"']
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda term: f"NOT ({term})"),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: "(" + ") AND (".join(some) + ")"),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: "(" + ") OR (".join(some) + ")"),
    ),
    max_leaves=6,
)


@given(conditions, st.text(alphabet='ab"\\c ', max_size=8))
def test_the_canonical_text_means_the_same(condition: str, text: str) -> None:
    tree = parse_condition(condition)
    assert parse_condition(str(tree)).check(text).passed is tree.check(text).passed


@pytest.mark.parametrize(
    ("constraints", "condition"),
    [
        ([], ""),
        ("a", '"a"'),
        (["a", "REGEXP:b?", ["C", "c"]], '"a" AND regexp("b?") AND ("C" OR "c")'),
        ([["only"]], '"only"'),
        ([[], "a"], '"a"'),
        ([["a", "REGEXP:^b"]], '("a" OR regexp("^b"))'),
        (['say "hi"'], r'"say \"hi\""'),
        ([r"REGEXP:\d+"], r'regexp("\d+")'),
        (["ends with \\"], r'"ends with \\"'),
    ],
)
def test_constraints_become_a_condition(constraints: list[object], condition: str) -> None:
    assert constraints_to_condition(constraints) == condition


def test_constraints_with_quotes_and_backslashes_match_what_they_say() -> None:
    condition = parse_condition(
        constraints_to_condition(['"quoted"', "it's", r"C:\new", r'REGEXP:\\server\\"[a-z]+"'])
    )
    assert condition.check('"quoted" it\'s C:\\new \\server\\"x"').passed


@pytest.mark.parametrize(
    ("constraints", "pointer"),
    [([1], "/0"), (["a", ["b", None]], "/1/1"), ([["a", ["b"]]], "/0/1"), ({"a": 1}, "")],
)
def test_other_constraints_are_errors_with_their_place(constraints: object, pointer: str) -> None:
    with pytest.raises(DataError, match="string") as exc_info:
        constraints_to_condition(constraints)  # type: ignore[arg-type]
    assert exc_info.value.pointer == pointer


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("a?" * 5_001, "it has more than 10,000 characters; shorten it"),
        ("(" * 80 + "a" + "+)" * 80, "its groups are nested more than 10 deep; simplify it"),
    ],
)
@pytest.mark.parametrize("form", ['regexp("{}")', "regexp({})"])
def test_a_pattern_beyond_the_limits_is_refused_before_it_is_compiled(form, pattern, fault):
    with pytest.raises(DataError, match=re.escape(fault)):
        parse_condition(form.format(pattern))


def test_parentheses_that_are_no_groups_are_not_counted():
    assert parse_condition(r'regexp("[(((((((((((]\(\(\(\(\(\(\(\(\(\(\(")')


@pytest.mark.parametrize(
    "text",
    [
        ("NOT " * 100 + "(") * 100 + '"x"' + ")" * 100,
        '("a" OR "b" AND ' * 60 + '"x"' + ")" * 60,
    ],
)
def test_a_condition_that_is_too_deep_to_be_evaluated_is_refused(text):
    with pytest.raises(DataError, match="NOT, AND and OR nested more than 100 deep; simplify the condition"):
        parse_condition(text)


def test_a_condition_at_the_limit_of_depth_is_evaluated_and_written():
    condition = parse_condition('NOT ("a" AND ' * 50 + '"x"' + ")" * 50)
    assert condition.holds("x", 1.0)
    assert parse_condition(str(condition)) == condition
