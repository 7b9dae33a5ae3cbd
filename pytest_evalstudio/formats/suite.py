"""Test suites: tests, each a corpus and its test cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field, field_validator, model_validator

from pytest_evalstudio.core.cases import EXTRA_EXPECTATIONS
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.attachments import AttachedFiles, attached_paths, check_attachments
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.condition_writing import constraints_to_condition
from pytest_evalstudio.formats.conversations import JudgedTurnsWord, OnFailureWord, Turns, User, with_opening
from pytest_evalstudio.formats.fields import (
    FREE_KEY,
    FREE_PREFIX,
    Constraints,
    Conversation,
    FormatModel,
    Key,
    Relationships,
    RetrievalWord,
    Text,
    Texts,
    check_keys,
    misspelt,
    spoken,
    validate,
    write_json,
)
from pytest_evalstudio.formats.keys import Numbered, derived_key
from pytest_evalstudio.formats.kinds import load_kind, suite_root
from pytest_evalstudio.formats.repeats import Policy
from pytest_evalstudio.formats.shared_keys import ExpectationKeys
from pytest_evalstudio.formats.source import Source, pointer

OURS = (
    "condition_on",
    "expects",
    "retrieval",
    "conversation",
    "images",
    "files",
    "accepted_outputs",
    "expected_facts",
    "guidelines",
    "expected_documents",
    "expected_chunks",
    "expected_tool_calls",
    "expected_state",
    "user",
    "judge",
    "on_failure",
    "xfail",
    "skip",
    "evaluators",
)
"""Keys that the documents do not have; a case carries them into its rows."""


FURTHER_KEYS = "further_keys"
"""Key below `metadata` of a test case: keys of the row that it was made of and that a case does not have."""
WRITTEN_KEYS = (
    *EXTRA_EXPECTATIONS,
    *("artifacts", "guidelines_by_name"),
    *("evidence", "source_chunk", "source_document", "source_text"),
    *("generated_digest", "imported", "masked", "rejected_for", "written_by"),
    *("plain_kind", "plain_question", "planted_word", "plain_case", "plain_condition", "concession"),
    *("library_suite", "licence", "source"),
)
"""Keys of test cases beside the fields: those that evaluators read, and those that commands write."""


def _choice(value: object) -> object:
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return {name: {} for name in value}
    return {name: options or {} for name, options in value.items()} if isinstance(value, Mapping) else value


Choice = Annotated[dict[str, dict[str, Any]] | None, BeforeValidator(_choice)]
"""Evaluators of one case with their options; a list of names means their defaults."""


def _test_case_schema(schema: dict[str, Any]) -> None:
    """Require a prompt, the turns of a conversation or a simulated user, and refuse unknown keys."""
    schema["required"].remove("prompt")
    schema["anyOf"] = [{"required": [name]} for name in ("prompt", "turns", "user")]
    # Keys that commands write are known, and not proposed by editors: they are patterns, not properties.
    schema["patternProperties"] = {f"^({'|'.join((FREE_KEY, *WRITTEN_KEYS))})$": {}, f"^{FREE_PREFIX}": {}}
    schema["additionalProperties"] = False


def _file_schema(schema: dict[str, Any]) -> None:
    """Refuse unknown keys of a test or suite, which nothing would read."""
    schema["patternProperties"] = {f"^{FREE_KEY}$": {}, f"^{FREE_PREFIX}": {}}
    schema["additionalProperties"] = False


class CaseKeys(ExpectationKeys):
    """Keys of a test case and of each of its rows.

    Attributes:
        key: name of the case, unique in its suite and shared by all models that were asked the same; derived
            from the content where not given.
        categories: classes of the case, which are markers of its test items.
        relationships: other cases that it depends on, each with type, target (a key) and target_type; the
            type "perturbation_source" names the original of a perturbed case.
        retrieval: "required" or "optional": whether an answer without retrieved chunks fails the evaluators
            that need them; by default that of the model.
        conversation: the turns before the question, each with role ("system", "user" or "assistant") and
            content.
        images: pictures that the question comes with (PNG, JPEG, GIF, WebP): paths below the folder of the
            file, or objects with `path` and `detail`; with media_type, size and sha256 where it was asked.
        files: files that the question comes with (PDF, text, Markdown, CSV, JSON, DOCX), as `images`.
        user: simulated user, in place of a question.
        judge: "worst" (default) where every turn decides, "last" where the last turn alone does.
        on_failure: "continue" (default) or "stop" after a turn that fails.
        xfail: why the case is expected to miss its threshold, "" if it is not.
        skip: why the case is not to be run, "" if it is.
        policy: verdict on the repeats of the case, as `pass`; "" for that of the suite or the run.
        evaluators: replaces the run's choice for this case: id to options (`threshold`, `thresholds`,
            parameters).
    """

    key: Key = ""
    categories: Texts = Field(default_factory=list)
    relationships: Relationships = Field(default_factory=list)
    retrieval: RetrievalWord = ""
    conversation: Conversation = Field(default_factory=list)
    images: AttachedFiles = Field(default_factory=list)
    files: AttachedFiles = Field(default_factory=list)
    user: User | None = None
    judge: JudgedTurnsWord = ""
    on_failure: OnFailureWord = ""
    xfail: Text = ""
    skip: Text = ""
    evaluators: Choice = None
    policy: Annotated[Policy, Field(alias="pass")] = ""


class TestCase(CaseKeys):
    """Question with its expectations of an answer.

    `metadata` and keys that begin with `x-` hold data of the user's own, which rows carry.

    Attributes:
        prompt: the question.
        condition: boolean expression over the answer; see `formats.condition`.
        constraints: the older form of a condition: a list is AND, a list inside it is OR.
        turns: messages of the user in a conversation that is run, in place of a prompt.
    """

    model_config = ConfigDict(json_schema_extra=_test_case_schema)
    optional_keys: ClassVar[frozenset[str]] = frozenset({"constraints", "policy", "turns", *OURS})
    first_keys: ClassVar[tuple[str, ...]] = (
        *("key", "prompt", "categories", "relationships"),
        *("expected_output", "accepted_outputs", "condition", "condition_on", "expects", "constraints"),
    )

    prompt: str
    condition: Text = ""
    constraints: Constraints = Field(default_factory=list)
    turns: Turns = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _begins(cls, data: object) -> object:
        return with_opening(data, "prompt")

    @field_validator("prompt")
    @classmethod
    def _has_words(cls, prompt: str) -> str:
        if not prompt.strip():
            raise ValueError("the prompt is blank; write the question")
        return prompt

    def condition_text(self) -> str:
        """Return the condition, else the constraints as a condition, else ""."""
        return effective_condition(self.condition, self.constraints)

    def given_test(self) -> Test | None:
        """Return the test that the case was made for, None if that was not said."""
        return None


class Test(FormatModel):
    """Test cases that share a corpus."""

    model_config = ConfigDict(json_schema_extra=_file_schema)
    optional_keys: ClassVar[frozenset[str]] = frozenset({"categories"})

    key: Key = ""
    documents: Texts = Field(default_factory=list)
    test_cases: list[TestCase] = Field(default_factory=list)
    categories: Texts = Field(default_factory=list)

    def add_case(self, prompt: str, **fields: object) -> TestCase:
        """Add a test case to this test; `fields` are those of TestCase."""
        case = TestCase(prompt=prompt, **fields)
        self.test_cases.append(case)
        return case


class TestSuite(FormatModel):
    """Tests under one name.

    Attributes:
        policy: verdict on the repeats of a case, as `pass`; "" for that of the run.

    >>> suite = TestSuite(name="Bank")
    >>> _ = suite.add_test(documents=["fees.md"]).add_case("What is the fee?", condition='"5"')
    >>> [case.prompt for _, case in suite.cases()]
    ['What is the fee?']
    """

    model_config = ConfigDict(json_schema_extra=_file_schema)
    optional_keys: ClassVar[frozenset[str]] = frozenset({"categories", "policy"})

    name: Text = "TestSuite"
    description: Text = ""
    tests: list[Test] = Field(default_factory=list)
    categories: Texts = Field(default_factory=list)
    policy: Annotated[Policy, Field(alias="pass")] = ""

    def add_test(self, documents: list[str] | None = None, **fields: object) -> Test:
        """Add an empty test over a corpus."""
        test = Test(documents=documents or [], **fields)
        self.tests.append(test)
        return test

    def add_test_case(self, case: TestCase, test: Test | None = None) -> TestCase:
        """Add a test case, and its test if the suite does not have it yet.

        Args:
            case: the test case.
            test: the test that it belongs to; where not given, that of `RagTestCaseConfig(config=…)`, else a
                test without documents.

        >>> suite = TestSuite()
        >>> _ = suite.add_test_case(TestCase(prompt="2 + 2?"))
        >>> _ = suite.add_test_case(TestCase(prompt="3 + 3?"), suite.tests[0])
        >>> [len(test.test_cases) for test in suite.tests]
        [2]
        """
        test = test or case.given_test() or Test()
        # By identity: models of pydantic are equal by content, and a suite may have two equal tests.
        if not any(other is test for other in self.tests):
            self.tests.append(test)
        if not any(other is case for other in test.test_cases):
            test.test_cases.append(case)
        return case

    def cases(self) -> list[tuple[Test, TestCase]]:
        """Return all test cases with their tests, in order."""
        return [(test, case) for test in self.tests for case in test.test_cases]

    @classmethod
    def load(cls, path: str | Path) -> TestSuite:
        """Read a suite from JSON or YAML.

        Raises:
            DataError: for the first thing that is wrong with it.
        """
        return load_kind(path, "suite", read_suite)

    def save(self, path: str | Path) -> None:
        """Write the suite as JSON."""
        complete_keys(self)
        write_json(path, self.to_dict())


@dataclass(slots=True)
class _Places:
    """Positions of the cases in a file.

    Attributes:
        of_keys: pointers by the keys in the file, including those of faulty cases.
        of_cases: pointers by the identity of the valid cases.
    """

    of_keys: dict[str, str] = field(default_factory=dict)
    of_cases: dict[int, str] = field(default_factory=dict)


def read_suite(source: Source) -> tuple[TestSuite, list[DataError]]:
    """Read a suite from a parsed file; a faulty test case does not affect the others.

    A single test, or a single test case, is read as a suite that contains only it.

    Returns:
        The suite of the valid test cases, with keys completed, and an error for each other case.

    Raises:
        DataError: if the file as a whole is not a suite.
    """
    data = _as_suite(source)
    # Without the tests, which are read one by one: pydantic would refuse the suite for the first faulty case.
    head = validate(TestSuite, {name: value for name, value in data.items() if name != "tests"}, source)
    tests = data.get("tests")
    if not isinstance(tests, list):
        raise source.error("/tests", "expected a list of tests")
    source.warnings += misspelt(TestSuite, data, source.name)
    errors: list[DataError] = []
    locations = _Places()
    for index, raw in enumerate(tests):
        try:
            head.tests.append(_read_test(source, index, raw, locations, errors))
        except DataError as exc:
            errors.append(exc)
    complete_keys(head)
    # After `complete_keys`, since lines are looked up by the final key.
    lines = source.element_lines("tests", "*", "test_cases", "*")
    if lines:
        source.lines = {(case.key, "", 1): lines[locations.of_cases[id(case)]] for _, case in head.cases()}
    _check_links(source, head, locations, errors)
    return head, errors


def _as_suite(source: Source) -> dict[str, Any]:
    """Return the parsed file; a single test or test case as the only one of a suite."""
    data: dict[str, Any] = source.data
    if "tests" in data:
        return data
    source.root = suite_root(data)
    part = {name: value for name, value in data.items() if name != "$schema"}
    # The root is "/tests/0" for a single test; that of a single test case is longer.
    test = part if source.root.count("/") == 2 else {"test_cases": [part]}
    return {"tests": [test]}


def _read_test(source: Source, index: int, raw: object, locations: _Places, errors: list[DataError]) -> Test:
    if not isinstance(raw, dict):
        raise source.error(pointer("tests", index), "expected a test: an object with test_cases")
    test = validate(
        Test, {name: value for name, value in raw.items() if name != "test_cases"}, source, "tests", index
    )
    source.warnings += misspelt(
        Test, raw, f"{source.name} {source.in_text(pointer('tests', index))}".rstrip()
    )
    cases = raw.get("test_cases", [])
    if not isinstance(cases, list):
        raise source.error(pointer("tests", index, "test_cases"), "expected a list of test cases")
    for number, item in enumerate(cases):
        at = ("tests", index, "test_cases", number)
        try:
            case = validate(TestCase, item, source, *at)
            # After `validate`, which makes sure that the item is an object.
            check_keys(TestCase, item, source, *at, also=WRITTEN_KEYS)
            check_condition(source, case.condition, case.constraints, at, "condition", "constraints")
            check_attachments(source, case, *at, needs_files=True)
            for turn_number, turn in enumerate(case.turns):
                check_attachments(source, turn, *at, "turns", turn_number, needs_files=True)
            if earlier := locations.of_keys.get(case.key):
                raise source.error(
                    pointer(*at, "key"),
                    f"{case.key!r} is already used by {source.in_text(earlier)}; keys must be unique in a"
                    " suite",
                )
        except DataError as exc:
            errors.append(exc)
            # The key of a faulty case is known all the same: others may point at it; see `_check_links`.
            if isinstance(item, dict) and isinstance(item.get("key"), str):
                locations.of_keys.setdefault(item["key"], pointer(*at))
            continue
        if case.key:
            locations.of_keys[case.key] = pointer(*at)
        locations.of_cases[id(case)] = pointer(*at)
        test.test_cases.append(case)
    return test


def check_condition(
    source: Source, condition: str, constraints: list[Any], at: tuple[object, ...], *names: str
) -> None:
    """Parse a case's condition, or its constraints, to find out now whether it can be parsed."""
    text, name = (
        (condition, names[0]) if condition.strip() else (effective_condition("", constraints), names[1])
    )
    if not text.strip():
        return
    try:
        parse_condition(text)
    except DataError as exc:
        raise source.error(pointer(*at, name), exc.message) from None


def effective_condition(condition: str, constraints: list[Any]) -> str:
    """Return the condition, else the constraints as a condition, else ""."""
    if condition.strip():
        return condition
    return constraints_to_condition(constraints) if constraints else ""


def complete_keys(suite: TestSuite) -> None:
    """Give a key, derived from the content, to every test and test case that has none."""
    # All keys of the file are taken before the first one is derived.
    case_key = Numbered(case.key for _, case in suite.cases() if case.key)
    test_key = Numbered(test.key for test in suite.tests if test.key)
    for test in suite.tests:
        for case in test.test_cases:
            case.key = case.key or case_key(
                derived_key(
                    case.prompt,
                    case.expected_output,
                    case.condition_text(),
                    test.documents,
                    *spoken(case.conversation),
                    *attached_paths(case.images, case.files),
                )
            )
        test.key = test.key or test_key(
            derived_key("test", test.documents, [case.key for case in test.test_cases])
        )


def _check_links(source: Source, suite: TestSuite, locations: _Places, errors: list[DataError]) -> None:
    """Drop cases whose relationships point at a case that is not there, with an error for each.

    A case that is left out for a fault of its own has its error; those that point at it stay.
    """
    keys = {case.key for _, case in suite.cases()}.union(locations.of_keys)
    for test in suite.tests:
        for case in list(test.test_cases):
            for number, link in enumerate(case.relationships):
                if link.target_type == "test_case" and link.target not in keys:
                    at = locations.of_cases[id(case)] + pointer("relationships", number, "target")
                    errors.append(
                        source.error(
                            at,
                            f"no test case of this suite has the key {link.target!r}; correct the key or"
                            " remove the relationship",
                        )
                    )
                    test.test_cases.remove(case)
                    break
