"""New expectations of test cases from the answers of a run: the changed text of a suite's file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_evalstudio.api.freezing import expected_call, is_sensitive
from pytest_evalstudio.core.errors import DataError, nearest
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.condition import parse_condition
from pytest_evalstudio.formats.editing import with_value
from pytest_evalstudio.formats.kinds import kind_of, read_source
from pytest_evalstudio.formats.source import CSV_SUFFIXES, Source, parse, read_text
from pytest_evalstudio.formats.suite import TestCase, read_suite
from pytest_evalstudio.record.schema import Item
from pytest_evalstudio.scoring.messages import short


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Answer of a test case in a run.

    Attributes:
        file: path of its suite, as in the node id.
        question: as the record has it, masked.
        text, calls: the same in all repeats.
    """

    file: str
    key: str
    question: str
    text: str
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatedFile:
    """Text of a suite before and after the update, as its file has it."""

    path: Path
    before: str
    after: str
    keys: tuple[str, ...]


def observations(items: Iterable[Item], keys: Sequence[str], model_key: str = "") -> list[Observation]:
    """Return the answers of test cases, one for each key.

    Args:
        items: of a record.
        keys: keys or node ids.
        model_key: of the model whose answers are taken; "" where they do not depend on it.

    Raises:
        DataError: for a key without an answer, of several files, or with different answers of several models.
    """
    by_key: dict[str, list[Item]] = {key: [] for key in keys}
    case_keys: set[str] = set()
    for item in items:
        case_keys.add(item.key)
        for name in {item.key, item.nodeid} & by_key.keys():
            if not model_key or item.model_key == model_key:
                by_key[name].append(item)
    return [_observation(key, of_key, case_keys) for key, of_key in by_key.items()]


def _observation(key: str, items: Sequence[Item], known: set[str]) -> Observation:
    if not items:
        raise DataError(f"the run has no test case {key!r}. {nearest(key, known)}".strip())
    if len(files := {item.file for item in items}) > 1:
        raise DataError(f"{key!r} is a key of {len(files)} files; name the test by its node id")
    if any(item.perturbed is not None for item in items):
        raise DataError(f"{key!r} is a perturbed copy; update its original")
    rows = [row for item in items for row in item.rows if not row.answer.error]
    if not rows:
        raise DataError(f"{key!r} has no answer in the run; run its test again")
    if any(row.answer.turns for row in rows):
        raise DataError(f"{key!r} is a conversation; `evalstudio freeze` writes its turns as a new suite")
    observed = [(row.answer.text, row.answer.tool_calls) for row in rows]
    if any(other != observed[0] for other in observed):
        # One of them would become the expectation by chance, and fail the others.
        models = len({item.model_key for item in items})
        remedy = f"{models} models; choose one with --model" if models > 1 else "its repeats; edit it by hand"
        raise DataError(f"{key!r} has different answers of {remedy}")
    text, calls = observed[0]
    return Observation(
        file=items[0].file, key=items[0].key, question=rows[0].question, text=text, calls=tuple(calls)
    )


def updated_file(path: Path, observed: Sequence[Observation], condition: str = "") -> UpdatedFile:
    """Return the text of a suite whose cases expect what was observed.

    Replaced are expected calls that a case states, else its expected output. A case with a condition alone
    keeps it, unless another one is given.

    Args:
        condition: in place of that of the case, for a single case.

    Raises:
        DataError: if the file is no suite, a case states nothing that can be updated, or an answer has
            masked data.
    """
    if path.suffix.lower() in CSV_SUFFIXES:
        raise DataError(
            "only JSON and YAML suites can be updated; edit this CSV file by hand", source=str(path)
        )
    before = after = read_text(path)
    for each in observed:
        source = read_source(path) if after == before else _parsed(after, path)
        after = _updated(source, after, each, condition)
    return UpdatedFile(path=path, before=before, after=after, keys=tuple(each.key for each in observed))


def _parsed(text: str, path: Path) -> Source:
    source = parse(text, str(path), yaml=path.suffix.lower() != ".json")
    source.folder = path.parent
    return source


def _updated(source: Source, original: str, observed: Observation, condition: str) -> str:
    if kind_of(source.data) != "suite":
        raise DataError("is not a suite; only suites are updated", source=source.name)
    steps, raw, case = _place(source, observed.key)
    # Of a question with masked data nothing can be said.
    if case.prompt != observed.question and not is_sensitive(observed.question):
        raise DataError(
            f"{observed.key!r} asks another question than in the run; run its test again", source=source.name
        )
    name, value = _expectation(source, raw, observed, condition, case.condition_text())
    text = with_value(source, steps, name, value, original)
    if "key" in raw:
        return text
    # The derived key depends on the expectation: a baseline would miss the case.
    changed = parse(text, source.name, yaml=source.yaml)
    changed.root = source.root
    return with_value(changed, steps, "key", observed.key, text)


def _place(source: Source, key: str) -> tuple[list[str | int], dict[str, Any], TestCase]:
    """Return path, data and content of a test case."""
    suite, errors = read_suite(source)
    # Faulty cases are left out of the suite, so that the others have other places in the file.
    if errors:
        raise DataError(
            f"{len(errors)} of its test cases cannot be read; run `evalstudio validate` to see why",
            source=source.name,
        )
    for test_number, test in enumerate(suite.tests):
        for case_number, case in enumerate(test.test_cases):
            if case.key == key:
                steps: list[str | int] = ["tests", test_number, "test_cases", case_number]
                raw: Any = source.data
                for step in steps[source.root.count("/") :]:
                    raw = raw[step]
                return steps, raw, case
    raise DataError(f"has no test case {key!r} any more", source=source.name)


def _expectation(
    source: Source, raw: dict[str, Any], observed: Observation, condition: str, earlier_condition: str
) -> tuple[str, Any]:
    """Return name and value of the new expectation.

    Args:
        raw: data of the test case.
        condition: new one, "" for none.
        earlier_condition: of the case, "" for none.
    """
    if condition:
        match = parse_condition(condition).check(observed.text)
        if not match.passed:
            raise DataError(
                f"the observed answer does not meet the new condition: lacks {match.failed}; correct"
                " --condition"
            )
        if "constraints" in raw:
            raise DataError(
                f"{observed.key!r} has `constraints`, which this command cannot change; replace them with"
                " a `condition` by hand",
                source=source.name,
            )
        return "condition", condition
    if raw.get("expected_tool_calls") is not None:
        return "expected_tool_calls", [expected_call(call).to_dict() for call in observed.calls]
    earlier = raw.get("expected_output")
    is_met = bool(earlier_condition) and parse_condition(earlier_condition).check(observed.text).passed
    if earlier_condition and not (earlier and is_met):
        fact = (
            "a condition that the answer does not meet" if earlier else "a condition and no expected output"
        )
        raise DataError(
            f"{observed.key!r} has {fact}; give the new condition with --condition. Observed answer:"
            f" {short(observed.text)}",
            source=source.name,
        )
    if not observed.text.strip():
        raise DataError(
            f"the answer to {observed.key!r} has no text; run its test again, or edit the expectation"
            " by hand",
            source=source.name,
        )
    if is_sensitive(observed.text):
        raise DataError(
            f"the answer of {observed.key!r} has personal data or secrets, which a record masks; edit the"
            " expectation by hand",
            source=source.name,
        )
    if isinstance(earlier, list):  # of accepted answers, which stay right
        return "expected_output", earlier if observed.text in earlier else [*earlier, observed.text]
    return "expected_output", observed.text
