"""Broken and hostile files: sound ones of every kind, changed at random, the same for the same seed."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

HOSTILE: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        10**400,
        1.5,
        1e308,
        "",
        " ",
        "\x1b[31mred\x1b[0m",
        "\x07\x08\r",
        "\u202egnp",
        "\ud800",
        "\x00",
        "a" * 5000,
    ),
    *(
        "../../etc/passwd",
        "x" * 300,
        "http://[/x",
        "http://127.0.0.1:9/x",
        "file:///etc/passwd",
        "/dev/zero",
        "/",
        "${HOME}",
        "{{ 7*7 }}",
    ),
    *(
        '"a" AND',
        'regexp("(a+)+$")',
        "regexp(((((",
        '"' * 999,
        "NOT " * 500,
        "(" * 500,
        "REGEXP:[",
        "12:30:45",
        "NaN",
        "-Infinity",
        "%s%n",
    ),
    *(
        [],
        {},
        [None],
        [[]],
        {"": ""},
        {"a": {"b": {"c": []}}},
        ["x"] * 500,
        [1, "2", None, {}],
        "<script>alert(1)</script>",
        "# " + " " * 2000,
    ),
)
PIECES = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\x1b[2J",
        b"\r",
        b"\n\n\n",
        b'"',
        b"'",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"- ",
        b"&a ",
        b"*a",
    ),
    *(
        b"<<: *a\n",
        b"!!python/object:os.system ",
        b"NaN",
        b"Infinity",
        b"1e999",
        b"\\u0000",
        b"\\ud800",
        b"\xc3",
        b"#",
        b"\t",
        b" " * 500,
    ),
    *(b"[" * 300, b"{" * 300, b"[[", b"]]", b"=", b"null", b"true", b"\xe2\x80\xae", b"0" * 400),
)


@dataclass(frozen=True, slots=True)
class Broken:
    """A file of a kind, and where it comes from.

    Attributes:
        name: how it is called in a folder of its own.
        change: what was done to the sound file, for messages.
    """

    kind: str
    name: str
    content: bytes
    change: str


CASES = [
    {
        "key": "a",
        "prompt": "2+2?",
        "condition": '"4" AND NOT regexp("5+")',
        "evaluators": {"rouge": {"threshold": 0.1}},
    },
    {
        "key": "c",
        "prompt": "q",
        "expected_output": "a",
        "conversation": [{"role": "user", "content": "x"}],
        "guidelines": ["g"],
    },
    {
        "prompt": "p",
        "relationships": [{"type": "perturbation_source", "target": "a"}],
        "categories": ["c"],
        "constraints": ["y", ["z"]],
    },
]
SUITE = {
    "name": "S",
    "description": "d",
    "tests": [{"key": "t", "documents": ["fees.md"], "test_cases": CASES}],
}
ROWS = [
    {
        "key": f"k{n}",
        "input": f"{n}+2?",
        "output_condition": '"4"',
        "actual_output": f"It is {n}.",
        "model_key": "m",
    }
    for n in range(4)
]
MODELS = [{"key": "m", "name": "model m", "llm_model_name": "m", "model_type": "h2ogpte_llm"}]
LAB = {"name": "L", "dataset": {"inputs": [{**row, "context": ["c"]} for row in ROWS]}, "models": MODELS}
DATASET = {
    "inputs": [
        {"input": row["input"], "actual_output": row["actual_output"], "expected_output": "4"} for row in ROWS
    ]
}
WORKFLOW = {
    "evalstudio_workflow": {
        "name": "W",
        "documents": ["fees.md"],
        "steps": {"topic_modeling": {}, "test_generation": {"count": 2}, "test_validation": {}},
    }
}
CONFIGURATION = """evaluators = ["text_matching", "rouge"]
gate = ["rouge.rouge_l >= 0.3"]
max_text_chars = 1000

[[model]]
name = "quote"
host = "extractive"
top_k = 2

[evaluator.rouge]
threshold = 0.5

[latency]
max_s = 2.5

[perturbations]
apply = "comma:low,word_swap:medium+qwerty"
where = "fees and not (perturbed or internal)"
"""


def csv_text(rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def sound_files(record: str, labels: str, calibration: str) -> dict[str, tuple[str, str]]:
    """Return name and text of a sound file of each kind."""
    indented = {
        name: json.dumps(data, indent=1)
        for name, data in (("suite", SUITE), ("lab", LAB), ("dataset", DATASET), ("workflow", WORKFLOW))
    }
    return {
        **{name: (f"x_{name}.json", text) for name, text in indented.items()},
        "yaml": ("x_suite.yaml", indented["suite"]),
        "block yaml": (
            "y_suite.yaml",
            (
                "a: &a {key: k, prompt: q}\nname: S\ntests:\n- key: t\n  test_cases:\n  - *a\n  - prompt:"
                " 2+2?\n    condition: '\"4\"'\n"
            ),
        ),
        "csv": ("x_dataset.csv", csv_text(DATASET["inputs"])),
        "configuration": ("evalstudio.toml", CONFIGURATION),
        "record": ("record.jsonl", record),
        "labels": ("labels.csv", labels),
        "calibration": ("calibration.json", calibration),
    }


def broken_files(sound: dict[str, tuple[str, str]], count: int, seed: int = 1) -> Iterator[Broken]:
    """Yield as many broken files, the kinds in turn."""
    chance = random.Random(seed)
    kinds = list(sound)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        name, text = sound[kind]
        content, changes = text.encode(), []
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            change = chance.choice(
                _STRUCTURAL + _TEXTUAL if name.endswith((".json", ".jsonl", ".yaml")) else _TEXTUAL
            )
            content = change(chance, content)
            changes.append(change.__name__.strip("_"))
        yield Broken(kind, name, content, f"{kind} {number} (seed {seed}): {', '.join(changes)}")


Change = Callable[[random.Random, bytes], bytes]


def _values(chance: random.Random, content: bytes) -> tuple[list[Any], int, list[tuple[Any, Any]]]:
    """The JSON values of a file or its lines, the one that is changed, and its places: a container with a key
    of it.
    """
    try:
        values = [json.loads(content)]
    except ValueError:
        values = [json.loads(line) for line in content.splitlines() if line.strip()]
    index = chance.randrange(len(values))
    positions: list[tuple[Any, Any]] = []
    waiting = [values[index]]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            positions += [(value, key) for key in (value if isinstance(value, dict) else range(len(value)))]
            waiting += value.values() if isinstance(value, dict) else value
    return values, index, positions


def _structural(edit: Callable[[random.Random, Any, Any], None]) -> Change:
    def change(chance: random.Random, content: bytes) -> bytes:
        try:
            values, _, positions = _values(chance, content)
        except (ValueError, RecursionError):
            return _insert(chance, content)
        if not positions:
            return _insert(chance, content)
        edit(chance, *chance.choice(positions))
        return "\n".join(json.dumps(value) for value in values).encode("utf-8", "surrogatepass") + b"\n"

    change.__name__ = edit.__name__
    return change


def _replace(chance: random.Random, parent: Any, key: Any) -> None:
    parent[key] = copy.deepcopy(chance.choice(HOSTILE))


def _delete(chance: random.Random, parent: Any, key: Any) -> None:
    del parent[key]


def _double(chance: random.Random, parent: Any, key: Any) -> None:
    if isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    else:
        parent[str(chance.choice(("key", "name", "extra", "\x1b[1m", "")))] = copy.deepcopy(parent[key])


def _wrap(chance: random.Random, parent: Any, key: Any) -> None:
    parent[key] = chance.choice(([parent[key]], {"x": parent[key]}, str(parent[key])))


def _insert(chance: random.Random, content: bytes) -> bytes:
    at = chance.randint(0, len(content))
    return content[:at] + chance.choice(PIECES) + content[at:]


def _cut(chance: random.Random, content: bytes) -> bytes:
    return content[: chance.randint(0, len(content))]


def _drop(chance: random.Random, content: bytes) -> bytes:
    at = chance.randint(0, len(content))
    return content[:at] + content[at + chance.randint(1, 40) :]


def _repeat(chance: random.Random, content: bytes) -> bytes:
    at = chance.randint(0, len(content))
    piece = content[at : at + chance.randint(1, 200)]
    return content[:at] + piece * chance.choice((2, 3, 50)) + content[at:]


def _lines(chance: random.Random, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def _encode(chance: random.Random, content: bytes) -> bytes:
    return content.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-8-sig", "utf-32")))


def _flip(chance: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


_STRUCTURAL: tuple[Change, ...] = (
    *[_structural(_replace)] * 5,
    *[_structural(_delete)] * 2,
    _structural(_double),
    *[_structural(_wrap)] * 2,
)
_TEXTUAL: tuple[Change, ...] = (_insert, _insert, _insert, _cut, _drop, _repeat, _lines, _encode, _flip)
