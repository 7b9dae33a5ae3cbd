"""Conditions that read answers by value: durations, frequencies, counts, dates, yes and no."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.condition_writing import answer_condition
from support.project import Project

DATA = Path(__file__).parents[1] / "data" / "answers"
SETS = {
    # file: largest share of right answers that fail, and of wrong ones that pass
    "own_words": (0.0, 0.0),
    # Written before the rules, and read once after them: one of 50 each.
    # "One and a half hours" was mended then.
    "own_words_held_out": (0.02, 0.02),
}
CONTROLS = (("", "silence"), ("I am sorry, but I do not know the answer.", "a polite refusal"))


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return Project(pytester)


def items_of(name: str) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return content


def rows_of(items: list[dict[str, Any]]) -> Iterator[Mapping[str, str]]:
    """Yield rows of a lab: right answers have keys with "right", wrong ones with "wrong"."""
    for number, item in enumerate(items):
        condition = answer_condition(item["expected"], item["question"])
        answers = [
            *((f"right{index}", text) for index, text in enumerate(item["right"])),
            *((f"wrong{index}", text) for index, text in enumerate(item["wrong"])),
            ("right-expected", item["expected"]),
            *((f"wrong-{name}", text) for text, name in CONTROLS),
        ]
        for key, text in answers:
            yield {
                "key": f"q{number}-{key}",
                "input": item["question"],
                "actual_output": text,
                "output_condition": condition,
            }


@pytest.mark.parametrize("name", SETS)
def test_answers_in_own_words_are_told_from_wrong_ones(name: str, project: Project) -> None:
    max_rejected, max_accepted = SETS[name]
    items = items_of(name)
    project.write("evalstudio.toml", 'evaluators = ["text_matching"]\n')
    project.lab(*rows_of(items))
    project.run("answers_lab.json")
    _, record = project.record()
    passed = {key.partition("[")[0]: item["verdict"] == "passed" for key, item in record.items()}
    right = {key: state for key, state in passed.items() if "right" in key}
    wrong = {key: state for key, state in passed.items() if "wrong" in key}
    counts = [(len(item["right"]), len(item["wrong"])) for item in items]
    assert len(right) == sum(count for count, _ in counts) + len(items)
    assert len(wrong) == sum(count for _, count in counts) + 2 * len(items)
    rejected = [key for key, state in right.items() if not state]
    accepted = [key for key, state in wrong.items() if state]
    assert len(rejected) <= max_rejected * sum(count for count, _ in counts), rejected
    assert len(accepted) <= max_accepted * sum(count for _, count in counts), accepted
    assert all(passed[f"q{number}-right-expected"] for number in range(len(items)))
    assert not any(state for key, state in passed.items() if "silence" in key or "refusal" in key)


@pytest.mark.parametrize(
    ("condition", "text", "passes"),
    [
        # the same value in another form
        ('"30 minutes"', "Half an hour.", True),
        ('"30 minutes"', "thirty minutes", True),
        ('"90 minutes"', "It takes 1 hour and 30 minutes.", True),
        ('"90 minutes"', "an hour and a half", True),
        ('"90 minutes"', "One and a half hours, roughly.", True),
        ('"60 minutes"', "within an hour", True),
        ('"twice a year"', "Every six months.", True),
        ('"twice a year"', "semi-annually", True),
        ('"every hour"', "Once an hour.", True),
        ('"every hour"', "hourly", True),
        ('"3 March 2026"', "On March 3, 2026.", True),
        ('"2026-03-03"', "the third of March 2026", True),
        ('"2026-03-03"', "3 March 2026", True),
        ('"12 cards"', "a dozen cards", True),
        ('"15 USD"', "It is $15.", True),
        ('"5 working days"', "five business days", True),
        ('word("2 weeks")', "14 days", True),
        ('value("two thirds")', "2/3 of it", True),
        ('value("a quarter")', "25 %", True),
        ('value("£35 a month")', "£35 monthly", True),
        # another fact
        ('"30 minutes"', "30 hours", False),
        ('"30 minutes"', "It is not half an hour.", False),
        ('"30 minutes"', "thirty-five minutes", False),
        ('"30 minutes"', "3.5 hours", False),
        ('"30 minutes"', "an hour and 30 minutes", True),  # a substring stays one
        ('value("30 minutes")', "an hour and 30 minutes", False),
        ('value("30 minutes")', "not 30 minutes", False),
        ('value("30 minutes")', "It never takes 30 minutes.", False),
        ('value("30 minutes")', "no more than 30 minutes", True),
        ('"within 24 hours"', "No later than a day.", True),
        ('"within 24 hours"', "After 24 hours.", False),
        ('"by 31 January"', "after 31 January", False),
        ('"24 hours"', "after 24 hours", True),
        ('value("£1,200")', "It costs £1.20.", False),
        ('value("£1,200")', "It costs 1200 pounds.", True),
        ('value("£10")', "It doesn't cost £10.", False),
        ('value("one week")', "37.5 hours a week", False),
        ('value("one week")', "twice a week", False),
        ('value("5 days")', "5 working days", False),
        ('value("£5 a day")', "£5 a week", False),
        ('value("at least 18 years")', "at most 18 years", False),
        ('"twice a year"', "Twice a month.", False),
        ('"twice a year"', "Every two years.", False),
        ('"3 March 2026"', "3 March 2025", False),
        ('"3 March 2026"', "3 May 2026", False),
        ('"15 USD"', "15 EUR", False),
        ('"half"', "50 %", False),  # words stay words
        ('"12"', "a dozen", False),  # a number alone is `number(12)`
        ('NOT "5 USD"', "It costs five dollars.", False),
    ],
)
def test_a_condition_is_met_by_the_same_value_only(condition: str, text: str, passes: bool) -> None:
    assert parse_condition(condition).check(text).passed is passes


QUESTION = "Are records kept for seven years?"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("They are, for seven years.", "affirms"),
        ("Yes, for 7 years.", "affirms"),
        ("Records are kept for seven years.", "affirms"),
        ("That's right.", "affirms"),
        ("They are not.", "denies"),
        ("They aren't kept that long.", "denies"),
        ("Records are kept for six years.", "denies"),
        ("Records are not kept for seven years.", "denies"),
        ("No, for six.", "denies"),
        ("No later than seven years.", ""),
        ("Seven years is a long time.", ""),
        ("I do not know.", ""),
        ("I am sorry, but I do not know if records are kept for seven years.", ""),
        ("The documents do not say whether records are kept for seven years.", ""),
        ("It is not clear if records are kept for seven years.", ""),
        ("The office is open on Mondays.", ""),
    ],
)
def test_a_yes_or_no_is_read_by_its_statement(text: str, word: str) -> None:
    for term in ("affirms", "denies"):
        condition = parse_condition(f'{term}("{QUESTION}")')
        assert condition.check(text).passed is (term == word), term
        assert parse_condition(str(condition)) == condition


def test_a_value_that_cannot_be_compared_is_a_fault_with_its_remedy(project: Project) -> None:
    project.suite({"key": "a", "prompt": "2+2?", "condition": 'value("quite long")'})
    result = project.run_command("validate", "sums_suite.json")
    result.stdout.fnmatch_lines(["*'quite long' is not a value with a unit*write number(...)*"])
    assert result.ret == 1
