from __future__ import annotations

import json

import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.files import read as read_file
from pytest_evalstudio.formats.source import parse, pointer, read_text
from pytest_evalstudio.formats.yaml_text import MAX_DEPTH
from support.processor_time import assert_within


def place_of_fault(text, *, yaml=False):
    with pytest.raises(DataError) as exc_info:
        parse(text, "f", yaml=yaml)
    return exc_info.value.line, exc_info.value.column, exc_info.value.message


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((), ""),
        (("tests", 0), "/tests/0"),
        (("a/b",), "/a~1b"),
        (("m~n",), "/m~0n"),
        (("~1",), "/~01"),
        (("",), "/"),
    ],
)
def test_pointers_are_those_of_rfc_6901(steps, expected):
    assert pointer(*steps) == expected


NESTED = """{
  "a\\"]}b": [1, {"c": "x, ]"}],
  "ünï": {"\\u0061": [[10, 20], [30, "\\\\", 40]]},
  "a/b": {"m~n": null}
}"""


@pytest.mark.parametrize(
    ("at", "place"),
    [
        pytest.param("", (1, 1), id="the whole file"),
        pytest.param(pointer('a"]}b'), (2, 13), id="behind an escaped quote and brackets in its own name"),
        pytest.param(pointer('a"]}b', 1, "c"), (2, 23), id="inside a list"),
        pytest.param("/ünï", (3, 10), id="columns are characters, not bytes"),
        pytest.param(
            "/ünï/a/1/2", (3, 43), id="a nested list, behind an escaped name and an escaped backslash"
        ),
        pytest.param("/a~1b/m~0n", (4, 18), id="escaped steps"),
        pytest.param("/ünï/a/1/9/x", (3, 32), id="beyond the end: the nearest ancestor that exists"),
        pytest.param("/nowhere", (1, 1), id="an unknown name: the nearest ancestor that exists"),
    ],
)
def test_every_value_of_json_has_its_place(at, place):
    assert parse(NESTED, "f.json").locate(at) == place


YAML = """\
# comment
tests:
  - key: a
    "p:q": [1, {c: x}]
  - &anchor
    prompt: >
      long
  - ünï: [ä, {k: v}]
"""


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("/tests", (3, 3)),
        ("/tests/0/key", (3, 10)),
        ("/tests/0/p:q/1/c", (4, 20)),
        ("/tests/1/prompt", (6, 13)),
        ("/tests/2/ünï/1/k", (8, 18)),
        ("/tests/9", (3, 3)),
    ],
)
def test_every_value_of_yaml_has_its_place(at, place):
    assert parse(YAML, "f.yaml", yaml=True).locate(at) == place


def test_an_error_shows_file_line_column_and_pointer():
    error = parse('{"a":\n [5]}', "f.json").error("/a/0", "is wrong")
    assert str(error) == "f.json:2:3 /a/0: is wrong"


def test_an_empty_yaml_file_has_no_places():
    assert parse("", "f.yaml", yaml=True).locate("/a") == (0, 0)


def test_trailing_commas_are_ignored_with_a_warning_and_do_not_move_places():
    source = parse('{"a": [1, 2,\n ],\n "b,]": ",}", "c": {"d": 5,},}', "f.json")
    assert source.data == {"a": [1, 2], "b,]": ",}", "c": {"d": 5}}
    assert source.warnings == ["f.json:1: trailing commas are not JSON; they were ignored"]
    assert source.locate("/c/d") == (3, 26)


def test_sound_json_brings_no_warning():
    assert parse('{"a": ",]"}', "f.json").warnings == []


def test_what_is_wrong_beside_a_trailing_comma_is_told_at_its_place():
    assert place_of_fault('{"a": [1,],\n "b": }') == (2, 7, "is not JSON: expecting value")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param('{"a": "is NaN fine",\n "b": NaN}', (2, 7, "NaN"), id="not the one in a text"),
        pytest.param('{"a": [1,\n -Infinity]}', (2, 2, "-Infinity"), id="with its sign"),
        pytest.param('{"NaN": Infinity,}', (1, 9, "Infinity"), id="beside a trailing comma"),
    ],
)
def test_nan_and_infinity_are_no_json_numbers(text, place):
    line, column, constant = place
    assert place_of_fault(text) == (
        line,
        column,
        f"{constant} is not a JSON number; leave the value out or write null",
    )


@pytest.mark.parametrize("text", [".nan", "-.inf", ".Inf"])
def test_nan_and_infinity_are_no_numbers_in_yaml_either(text):
    assert place_of_fault(f"a:\n  b: {text}", yaml=True) == (
        2,
        6,
        f"{text} is not a number; leave the value out",
    )


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param('{"a": 1,\n "a": 2}', (2, 2, "a"), id="at the root"),
        pytest.param(
            '[{"a": 1}, {"b": {"\\u0063": 1, "x": "c",\n  "c": 2}}]', (2, 3, "c"), id="nested, once escaped"
        ),
        pytest.param('{"a": {"q\\"": ["a"], "q\\"": 0}}', (1, 22, 'q"'), id="with a quote in it"),
    ],
)
def test_a_name_stands_once_in_an_object(text, place):
    line, column, name = place
    assert place_of_fault(text) == (line, column, f"the name {name!r} is duplicated in one object; keep one")


def test_a_name_stands_once_in_a_yaml_mapping():
    assert place_of_fault("a:\n  b: 1\n  b: 2", yaml=True) == (
        3,
        3,
        "the name 'b' is duplicated in one object; keep one",
    )


@pytest.mark.parametrize("depth", [500, 5_000, 200_000])
def test_deep_json_is_read_or_refused_in_words(depth):
    try:
        result = parse("[" * depth + "]" * depth, "f.json").locate("/0" * 3)
    except DataError as exc:
        result = exc.message
    assert result in [(1, 4), "is nested too deeply to be read"]


@pytest.mark.parametrize("opening", ["[", "- ", "{a: ", "? "])
def test_deep_yaml_is_refused_before_it_exhausts_the_stack(opening):
    assert place_of_fault(opening * 100_000, yaml=True)[2] == "is nested too deeply to be read"


def test_yaml_as_deep_as_people_write_is_read_and_located():
    depth = MAX_DEPTH - 1
    source = parse("a: " + "[" * depth + "5" + "]" * depth, "f.yaml", yaml=True)
    assert source.locate("/a" + "/0" * depth) == (1, 4 + depth)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: [1", "is not YAML: did not find expected ',' or ']'"),
        ("a: *nobody", "is not YAML: found undefined alias"),
        ("a: &x [*x]", "the alias *x is inside the value that it refers to"),
        ("a: !!python/object:os.system {}", "could not determine a constructor for the tag"),
        ("a: !!binary aGk=", "could not determine a constructor for the tag"),
        ("? [a]\n: b", "is not YAML: unhashable type: 'list'"),
        ("a: 1\n---\nb: 2", "is not YAML: but found another document"),
        ("a: \x01", "control characters are not allowed"),
    ],
)
def test_broken_yaml_is_told_in_one_line(text, fault):
    message = place_of_fault(text, yaml=True)[2]
    assert fault in message
    assert "\n" not in message


def test_yaml_is_taken_as_what_json_can_hold():
    source = parse(
        "day: 2026-11-20\nbase: &b {x: 1.5, yes?: true}\ncopy: {<<: *b, y: ~}", "f.yaml", yaml=True
    )
    assert source.data == {
        "day": "2026-11-20",
        "base": {"x": 1.5, "yes?": True},
        "copy": {"x": 1.5, "yes?": True, "y": None},
    }
    assert json.loads(json.dumps(source.data)) == source.data


def test_a_number_of_too_many_digits_is_a_fault_of_the_file():
    assert "cannot be read" in place_of_fault('{"a": ' + "9" * 5000 + "}")[2]
    assert parse('{"a": ' + "9" * 4000 + "}", "f").data["a"] == int("9" * 4000)


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        pytest.param(b'{"a":\n "x\xff"}', (2, 4), id="plain"),
        pytest.param(b'{"\xc3\xa4\xc3\xb6": "\xff"}', (1, 9), id="columns are characters, not bytes"),
        pytest.param(b'\xef\xbb\xbf{"a": "\xff"}', (1, 8), id="behind a byte-order mark"),
    ],
)
def test_the_byte_that_is_not_utf8_is_named_with_its_place(tmp_path, raw, place):
    (tmp_path / "f.json").write_bytes(raw)
    with pytest.raises(DataError) as exc_info:
        read_text(tmp_path / "f.json", "f.json")
    assert (exc_info.value.line, exc_info.value.column) == place
    assert exc_info.value.message == "byte 0xff is not UTF-8; save the file as UTF-8"


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path):
    (tmp_path / "f.json").write_bytes(b"\xef\xbb\xbf{}")
    assert read_text(tmp_path / "f.json") == "{}"


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(DataError) as exc_info:
        read_text(tmp_path / "gone.json", "gone.json")
    assert str(exc_info.value) == "gone.json: cannot be read: No such file or directory"
    with pytest.raises(DataError) as exc_info:
        read_text(tmp_path)
    assert "Is a directory" in str(exc_info.value)


def test_a_lone_surrogate_is_replaced():
    assert parse('{"a\\ud800": "\\udfff"}', "f").data == {"a�": "�"}


@pytest.mark.parametrize(
    "plain", ["12:30:45", "yes", "off", "0777", "0x1F", "1_000", "2024-01-01", "01234", "=", "190:20:30.15"]
)
def test_plain_yaml_that_is_no_json_value_is_text(plain):
    assert parse(f"a: {plain}\n", "f.yaml", yaml=True).data == {"a": plain}


@pytest.mark.parametrize(
    ("plain", "value"),
    [("12", 12), ("-1.5", -1.5), ("1e3", 1000.0), ("true", True), ("~", None), ("", None), (".5", 0.5)],
)
def test_plain_yaml_that_is_a_json_value_is_that_value(plain, value):
    assert parse(f"a: {plain}\n", "f.yaml", yaml=True).data == {"a": value}


def bomb(levels: int, line: str) -> str:
    lines = ["a0: &a0 {x: [1, 2, 3, 4, 5, 6, 7, 8, 9]}"]
    aliases = [", ".join([f"*a{level}"] * 9) for level in range(levels)]
    lines += [line.format(number=level + 1, aliases=names) for level, names in enumerate(aliases)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "line",
    ["a{number}: &a{number} [{aliases}]", "a{number}: &a{number} {{<<: [{aliases}]}}"],
    ids=["aliases", "merges"],
)
def test_aliases_that_stand_for_billions_are_refused_at_once(line):
    def refuse(turn: int) -> None:
        message = place_of_fault(bomb(12 + turn, line), yaml=True)[2]
        assert "the aliases expand to more than 500,000 values; write fewer aliases of aliases" in message

    assert_within(10, refuse)


def test_a_chain_of_aliases_is_as_deep_as_what_it_stands_for():
    chain = "a0: &a0 [1]\n" + "".join(f"a{level + 1}: &a{level + 1} [*a{level}]\n" for level in range(3000))
    assert "is nested too deeply to be read" in place_of_fault(chain, yaml=True)[2]


@pytest.mark.parametrize("yaml", [False, True])
def test_places_of_many_faults_take_no_longer_than_the_file(yaml):
    def read(turn: int) -> None:
        text = json.dumps({"tests": [{"test_cases": [{"prompt": 5}] * (4000 + turn)}]})
        assert len(read_file(parse(text, "s.json", yaml=yaml)).errors) == 4000 + turn

    assert_within(5, read)


def test_brackets_within_strings_of_yaml_are_not_counted_as_depth():
    text = 'a: "' + "[" * 300 + '"\nb: ]\n'
    assert place_of_fault(text, yaml=True)[2].startswith("is not YAML")
