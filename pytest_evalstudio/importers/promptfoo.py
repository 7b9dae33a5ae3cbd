"""Configurations of promptfoo: prompts × tests, and assertions as expectations; and its results files.

Templates with plain variables are filled in; other templates, prompts and tests in code are not run.

Source: https://www.promptfoo.dev/docs/configuration/reference
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.json_data import Json
from pytest_evalstudio.core.reading import read_utf8
from pytest_evalstudio.formats.foreign import promptfoo_results
from pytest_evalstudio.formats.imported.records import (
    METADATA,
    Imported,
    Omissions,
    Record,
    items_of,
    mapping_of,
    question_of,
    read_file,
    row_of,
)
from pytest_evalstudio.formats.source import CSV_SUFFIXES, Source, pointer
from pytest_evalstudio.importers.promptfoo_assertions import Expectations, assertion_of_cell
from pytest_evalstudio.importers.promptfoo_results import read_results
from pytest_evalstudio.importers.promptfoo_templates import (
    chat_of,
    filled,
    filled_json,
    has_logic,
    plain_text,
)

MAX_COMBINATIONS = 10_000  # lists of variables multiply: six lists of ten are a million cases
_KNOWN = {"prompts", "providers", "targets", "tests", "defaultTest", "description", "tags"}
_KNOWN_OF_TEST = {"vars", "assert", "description", "metadata", "options", "provider", "providers", "prompts"}


@dataclass(frozen=True, slots=True)
class _Prompt:
    label: str
    template: str


def read(source: Source) -> Imported:
    """Convert each prompt with each test, and each value of a variable with several values, to a question.

    A results file becomes the answers of its providers.
    """
    config = source.data
    if isinstance(config, dict) and (summary := promptfoo_results(config)) is not None:
        return read_results(source, summary)
    if not isinstance(config, dict) or not ({"tests", "prompts"} & set(config)):
        raise source.error(
            "",
            "is neither a configuration of promptfoo (`prompts` and `tests`) nor a results file (`results`)",
        )
    folder = Path(source.name).parent
    name = str(config.get("description") or Path(source.name).stem)
    imported = Imported(name=name)
    omissions = imported.omissions
    omissions.keys(config, _KNOWN, "key", "it configures promptfoo itself")
    for provider in items_of(config.get("providers") or config.get("targets")):
        label = provider if isinstance(provider, str) else str(mapping_of(provider).get("id", "object"))
        omissions.add(f"provider {label!r}", "configure it as a [[model]]; see docs/run/model-services.md")
    prompts = list(_prompts(config.get("prompts"), folder, source, omissions))
    tests = _tests(config.get("tests"), folder, source, omissions)
    defaults = mapping_of(config.get("defaultTest"))
    for index, test in enumerate(tests):
        record = Record(source, ("tests", index), test)
        try:
            _add_rows(record, prompts, defaults, imported)
        except DataError as exc:
            imported.errors.append(exc)
    return imported


def _add_rows(
    record: Record, prompts: list[_Prompt], defaults: Mapping[str, Json], imported: Imported
) -> None:
    test, omissions = record.value, imported.omissions
    omissions.keys(test, _KNOWN_OF_TEST, "key of a test", "nothing here does the same")
    for name in ("options", "provider", "providers"):
        if test.get(name):
            omissions.add(f"{name!r} of a test", "models and judges belong to the configuration")
    # As promptfoo does: assertions of `defaultTest` are added, variables are replaced one by one.
    assertions = [*items_of(defaults.get("assert")), *items_of(test.get("assert"))]
    before = len(imported.rows)
    allowed = [str(label) for label in items_of(test.get("prompts"))]
    values = {**mapping_of(defaults.get("vars")), **mapping_of(test.get("vars"))}
    # Assertions name variables too, e.g. the expected answer.
    _note_unused(values, [*(prompt.template for prompt in prompts), json.dumps(assertions)], omissions)
    for name, value in values.items():
        if value == []:
            remedy = "its test has no question; give it a value"
            omissions.add(f"test with an empty list as variable {name!r}", remedy)
    prompt_count = sum(not allowed or prompt.label in allowed for prompt in prompts)
    for variables in _combinations(values, prompt_count, record):
        for prompt in prompts:
            if allowed and prompt.label not in allowed:
                continue
            if has_logic(prompt.template):
                omissions.add(f"prompt {prompt.label!r} with template logic", "write the questions out")
                continue
            is_first = len(imported.rows) == before
            # What is left out of a test is counted once, not for each of its questions.
            expectations = Expectations(omissions if is_first else Omissions())
            for assertion in assertions:
                expectations.add(filled_json(assertion, variables))
            text = filled(prompt.template, variables)
            question, turns = question_of(record, chat_of(text), omissions)
            fields = {
                "input": question,
                "conversation": turns,
                "categories": [prompt.label] if len(prompts) > 1 else [],
                **expectations.fields(),
                METADATA: {name: test[name] for name in ("description", "metadata") if test.get(name)}
                or None,
            }
            imported.rows.append(row_of(record, fields))


def _note_unused(variables: Mapping[str, Json], texts: Sequence[str], omissions: Omissions) -> None:
    """Count the variables that neither a prompt nor an assertion names."""
    names = {word for text in texts for word in re.findall(r"\w+", text)}
    for name, value in variables.items():
        if value not in (None, "", [], {}) and name not in names:
            remedy = "write it into the prompt, or leave it out"
            omissions.add(f"variable {name!r}, which no prompt names", remedy)


def _combinations(
    variables: Mapping[str, Json], prompt_count: int, record: Record
) -> Iterator[dict[str, str]]:
    """Return the combinations of the values of variables; a list has several values.

    Raises:
        DataError: if they make too many questions, each of them with each prompt.
    """
    choices = [value if isinstance(value, list) else [value] for value in variables.values()]
    count = max(1, prompt_count)
    for values in choices:
        count *= max(1, len(values))
        if count > MAX_COMBINATIONS:
            of_prompts = " and prompts" if prompt_count > 1 else ""
            raise record.error(
                f"has more than {MAX_COMBINATIONS:,} combinations of variables{of_prompts}", "vars"
            )
    for combination in itertools.product(*choices):
        yield {name: plain_text(value) for name, value in zip(variables, combination, strict=True)}


def _prompts(value: Json, folder: Path, source: Source, omissions: Omissions) -> Iterator[_Prompt]:
    for index, prompt in enumerate(items_of(value) if value is not None else ["{{prompt}}"]):
        if isinstance(prompt, dict):
            template = str(prompt.get("raw") or prompt.get("id") or "")
            label = str(prompt.get("label") or prompt.get("id") or template)
        else:
            template = label = plain_text(prompt)
        if template.startswith("file://"):
            file = folder / template.removeprefix("file://")
            if file.suffix.lower() not in (".txt", ".md", ".json"):
                omissions.add(f"prompt {template!r}", "code is not run; write the prompt as text")
                continue
            template = _content(file, source, pointer("prompts", index))
        yield _Prompt(label, template)


def _tests(value: Json, folder: Path, source: Source, omissions: Omissions) -> list[Mapping[str, Json]]:
    tests: list[Mapping[str, Json]] = []
    for index, test in enumerate(items_of(value)):
        if isinstance(test, dict) and not ("path" in test and str(test["path"]).startswith("file://")):
            tests.append(test)
            continue
        address = str(test["path"]) if isinstance(test, dict) else plain_text(test)
        file = folder / address.removeprefix("file://")
        if file.suffix.lower() not in (".csv", ".json", ".jsonl", ".yaml", ".yml"):
            omissions.add(
                f"tests {address!r}", "code and remote tables are not read; write the tests as data"
            )
            continue
        rows = read_file(file, str(file)).data
        if not isinstance(rows, list):
            raise source.error(pointer("tests", index), f"{file}: expected a list of tests")
        is_table = file.suffix.lower() in CSV_SUFFIXES
        tests += [_test_of_row(row, omissions) if is_table else row for row in rows if isinstance(row, dict)]
    return tests


def _test_of_row(row: Mapping[str, Json], omissions: Omissions) -> Mapping[str, Json]:
    """Return the test of a row of CSV: `__expected` columns are assertions, `__description` names it."""
    assertions = [
        assertion_of_cell(plain_text(cell))
        for name, cell in row.items()
        if name.startswith("__expected") and cell
    ]
    for name, cell in row.items():
        if cell and name.startswith("__") and not name.startswith(("__expected", "__description")):
            omissions.add(f"column {name!r}", "it configures promptfoo itself")
    variables = {name: cell for name, cell in row.items() if not name.startswith("__")}
    return {"vars": variables, "assert": list(assertions), "description": row.get("__description")}


def _content(file: Path, source: Source, at: str) -> str:
    try:
        return read_utf8(file)
    except (OSError, ValueError) as exc:
        raise source.error(at, f"{file}: {getattr(exc, 'strerror', None) or exc}") from None
