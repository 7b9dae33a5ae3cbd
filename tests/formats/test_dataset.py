from __future__ import annotations

import csv
import json
import math

import pandas as pd
import pytest

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.formats.csv_text import parse_csv
from pytest_evalstudio.formats.csv_text import read_csv as read_table
from pytest_evalstudio.formats.dataset import LlmDataset, read_dataset
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source
from pytest_evalstudio.formats.source import parse

EVERYTHING = {
    "key": "k",
    "test_key": "t",
    "input": 'Say "hi", please\nnow',
    "corpus": ["a.md"],
    "context": ["one, two", 'a "quote"\r\nand a break'],
    "categories": ["x"],
    "relationships": [{"type": "perturbation_source", "target": "o", "target_type": "test_case"}],
    "expected_output": "hi",
    "output_condition": '"hi"',
    "output_constraints": ["a", ["b", "c"]],
    "actual_output": "hi; äöü",
    "actual_duration": 0.25,
    "cost": 0.001,
    "model_key": "m",
    "context_sources": ["a.md#1", "a.md#2"],
    "run": 2,
    "usage": {"input_tokens": 3},
    "error": "late",
    "expected_facts": ["f"],
    "guidelines": ["g"],
    "expected_documents": ["a.md"],
    "xfail": "known",
    "skip": "later",
    "evaluators": {"rouge": {"threshold": 0.4}},
}


def read_rows(*rows):
    file = read(parse(json.dumps({"inputs": list(rows)}), "d.json"))
    return file.content.inputs, [str(error) for error in file.errors]


def read_csv(text):
    file = read(parse_csv(text, "d.csv"))
    return file.content.inputs, [str(error) for error in file.errors]


@pytest.mark.parametrize("suffix", ["json", "csv"])
def test_load_save_load_loses_nothing(tmp_path, suffix):
    data = {"inputs": [{**EVERYTHING, "note": "ours"}, {"key": "bare", "model_key": "m"}]}
    (tmp_path / "a.json").write_text(json.dumps(data), encoding="utf-8")
    first = LlmDataset.load(tmp_path / "a.json")
    first.save(tmp_path / f"b.{suffix}")
    second = LlmDataset.load(tmp_path / f"b.{suffix}")
    assert [row.to_dict() for row in second.inputs] == [row.to_dict() for row in first.inputs]
    assert second.inputs[0].to_dict() == data["inputs"][0]
    second.save(tmp_path / f"c.{suffix}")
    assert (tmp_path / f"c.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_unknown_keys_of_the_root_are_kept(tmp_path):
    (tmp_path / "a.json").write_text(
        '{"$schema": "d.json", "inputs": [], "origin": {"by": 1}}', encoding="utf-8"
    )
    LlmDataset.load(tmp_path / "a.json").save(tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8")) == {
        "$schema": "d.json",
        "inputs": [],
        "origin": {"by": 1},
    }


def test_a_lone_surrogate_in_json_is_replaced(tmp_path):
    data = {"inputs": [{**EVERYTHING, "actual_output": "a\ud800\U0001f600", "note": "\udfff"}]}
    (tmp_path / "a.json").write_text(json.dumps(data), encoding="utf-8")
    LlmDataset.load(tmp_path / "a.json").save(tmp_path / "b.json")
    [row] = json.loads((tmp_path / "b.json").read_text(encoding="utf-8"))["inputs"]
    assert row == {**EVERYTHING, "actual_output": "a�\U0001f600", "note": "�"}


def test_a_lone_surrogate_does_not_break_a_csv(tmp_path):
    dataset = LlmDataset()
    dataset.add_input("q", key="k", actual_output="a\ud800", context=["\udfff"])
    dataset.save(tmp_path / "d.csv")
    [row] = LlmDataset.load(tmp_path / "d.csv").inputs
    assert (row.actual_output, row.context) == ("a?", ["?"])


def test_yaml_is_read_too(tmp_path):
    (tmp_path / "d.yml").write_text(
        "inputs:\n- {key: 7, input: q, actual_output: a, cost: ~}\n", encoding="utf-8"
    )
    [row] = LlmDataset.load(tmp_path / "d.yml").inputs
    assert (row.key, row.input, row.actual_output, row.cost) == ("7", "q", "a", None)


def test_null_counts_as_absent():
    fields = [name for name in EVERYTHING if name != "run"]
    [row, bare], errors = read_rows(
        {**dict.fromkeys(fields), "model_key": "a", "run": None}, {"model_key": "b"}
    )
    assert errors == []
    assert row.to_dict() == {**bare.to_dict(), "model_key": "a"}


def test_rows_without_a_key_share_one_under_all_models_and_in_all_runs():
    fields = {"input": "What?", "expected_output": "That"}
    rows, errors = read_rows(
        *({**fields, "model_key": model, "run": run} for model in "ab" for run in (1, 2)),
        {**fields, "model_key": "a"},
    )
    base = rows[0].key
    assert errors == []
    assert base.startswith("what-")
    assert [row.key for row in rows] == [base, base, base, base, f"{base}-2"]


def test_what_makes_the_test_makes_the_key_and_the_answer_does_not():
    first = read_rows({"input": "q", "actual_output": "a", "cost": 1})[0][0].key
    other = read_rows({"input": "q", "actual_output": "b"})[0][0].key
    with_corpus = read_rows({"input": "q", "corpus": ["d.md"]})[0][0].key
    assert first == other != with_corpus


def test_a_row_that_repeats_another_names_both_places_counted_in_the_file():
    text = (
        '{"inputs": [\n{"input": 5},\n{"key": "k", "model_key": "m"},\n{"key": "k", "model_key":'
        ' "n"},\n{"key": "k", "model_key": "m", "run": 1}]}'
    )
    file = read(parse(text, "d.json"))
    first, second = (str(error) for error in file.errors)
    assert first == "d.json:2:11 /inputs/0/input: expected a string, found 5"
    fact = (
        "'k' of model 'm' is already used by /inputs/1; (key, model_key, run) must be unique, number repeats"
        " by `run`"
    )
    assert second == f"d.json:5:9 /inputs/3/key: {fact}"
    assert [(row.key, row.model_key) for row in file.content.inputs] == [("k", "m"), ("k", "n")]


def test_repeats_are_told_apart_by_their_run():
    rows, errors = read_rows(*({"key": "k", "model_key": "m", "run": run} for run in (None, 2, 3)))
    assert errors == []
    assert [row.run for row in rows] == [None, 2, 3]


def test_a_row_of_a_results_file_has_its_case_key_apart():
    [row], _ = read_rows({"key": "run1/model/case-7", "test_case_key": "case-7", "input": "q"})
    assert (row.key, row.model_extra) == ("case-7", {})


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"input": ["q"]}, "input: expected a string, found a list"),
        ({"actual_duration": "fast"}, 'actual_duration: expected a number, found the string "fast"'),
        ({"cost": "1 €"}, 'cost: expected a number, found the string "1 \\u20ac"'),
        ({"cost": 10**400}, "cost: expected a number, found 1" + "0" * 36 + "..."),
        ({"run": 0}, "run: input should be greater than or equal to 1"),
        ({"run": 1.5}, "run: expected a whole number, found 1.5"),
        (
            {"usage": {"input_tokens": "many"}},
            'usage/input_tokens: expected a whole number, found the string "many"',
        ),
        ({"context": ["a", None]}, "context/1: expected a string, found null"),
        (
            {"output_condition": "NOT"},
            'output_condition: expected a text in double quotes, or a term such as word("…") or number(…) after NOT, column 4\n  NOT\n     ^',  # noqa: E501
        ),
        (
            {"output_constraints": ["REGEXP:["]},
            (
                "output_constraints: not a regular expression: unterminated character set, column 9\n "
                ' regexp("[")\n          ^'
            ),
        ),
    ],
)
def test_one_bad_row_is_one_error_at_its_place_and_the_rest_stays(row, fault):
    rows, [error] = read_rows({"key": "a"}, row, {"key": "z"})
    assert error.partition(" ")[2] == f"/inputs/1/{fault}"
    assert [valid_row.key for valid_row in rows] == ["a", "z"]


@pytest.mark.parametrize(("data", "place"), [({"inputs": {}}, ":1:12"), ({"inputs": None}, ":1:12")])
def test_inputs_are_a_list(data, place):
    with pytest.raises(DataError) as exc_info:
        read(parse(json.dumps(data), "d.json"))
    assert str(exc_info.value) == f"d.json{place} /inputs: expected a list of rows"


def test_csv_is_written_as_spreadsheets_want_it():
    dataset = LlmDataset()
    dataset.add_input("q, r", key="k", context=["a", "b"], cost=0.5)
    dataset.add_input('"', key="l", error="down")
    header, first, second = csv.reader(dataset.to_csv().split("\r\n")[:-1])
    assert (first[header.index("input")], first[header.index("context")], first[header.index("cost")]) == (
        "q, r",
        '["a", "b"]',
        "0.5",
    )
    assert (second[header.index("input")], second[header.index("error")], second[header.index("cost")]) == (
        '"',
        "down",
        "",
    )
    assert header[-1] == "error"


def test_cells_of_lists_hold_json_or_plain_text():
    cells = {
        "context": '["a, b"]',
        "corpus": "plain.md",
        "categories": '"quoted"',
        "guidelines": "2023",
        "expected_facts": "true",
        "expected_documents": "[x",
    }
    text = (
        ",".join(["input", *cells])
        + "\r\n"
        + ",".join('"' + cell.replace('"', '""') + '"' for cell in ("q", *cells.values()))
    )
    [row], errors = read_csv(text)
    assert errors == []
    assert (row.context, row.corpus, row.categories) == (["a, b"], ["plain.md"], ['"quoted"'])
    assert (row.guidelines, row.expected_facts, row.expected_documents) == (["2023"], ["true"], ["[x"])


def test_a_cell_of_deep_json_is_plain_text():
    [row], errors = read_csv("input,context\nq," + "[" * 100_000)
    assert errors == []
    assert row.context == ["[" * 100_000]


def test_cells_of_numbers_are_numbers_and_empty_ones_absent():
    [row], errors = read_csv(
        'input,actual_duration,cost,run,key,usage,note\nq,1.5,0.25,2,007,"{""a"": 1}",\n\n'
    )
    assert errors == []
    assert (row.actual_duration, row.cost, row.run, row.key, row.usage, row.model_extra) == (
        1.5,
        0.25,
        2,
        "007",
        {"a": 1},
        {},
    )


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "d.csv:1:1: has no column `input`; an LLM data set needs `input` and `actual_output`"),
        ("a,b\n1,2\n", "d.csv:1:1: has no column `input`; an LLM data set needs `input` and `actual_output`"),
        ("input,x\nq,1\nq,1,2\n", "d.csv:3:1: has more cells than the header has columns"),
        ('input\n"q', "d.csv:2:1: is not CSV: unexpected end of data"),
        ('input\n"q"x\n', "d.csv:2:1: is not CSV: ',' expected after '\"'"),
        (
            "input,evaluators\nq,['a' ... 'b']\n",
            "d.csv:2:1: column 'evaluators': is a list that NumPy has shortened by '...'; write it as JSON,"
            " e.g. by json.dumps",
        ),
        ("input,x,x\nq,1,2\n", "d.csv:1:1: the column 'x' is there twice; rename or remove one"),
    ],
)
def test_broken_csv_is_told_with_its_line(text, fault):
    with pytest.raises(DataError) as exc_info:
        parse_csv(text, "d.csv")
    assert str(exc_info.value) == fault


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r"])
def test_a_row_after_a_cell_of_two_lines_has_its_line(line_break):
    assert read_table(f'input,x\n"a{line_break}b",1\nq,2\n', "d.csv").lines == [2, 4]


def test_a_bad_cell_is_an_error_of_its_row():
    rows, errors = read_csv("input,cost\na,1\nb,much\n")
    assert errors == ['d.csv /inputs/1/cost: expected a number, found the string "much"']
    assert [row.input for row in rows] == ["a"]


def test_a_csv_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "d.csv").write_bytes("\ufeffinput,actual_output\nä,ö\n".encode())
    [row] = read(read_source(tmp_path / "d.csv")).content.inputs
    assert (row.input, row.actual_output) == ("ä", "ö")


def test_a_cell_may_be_longer_than_the_csv_module_allows_by_itself():
    [row], _ = read_csv(f"input\n{'x' * 200_000}\n")
    assert len(row.input) == 200_000


def test_a_frame_and_back_loses_nothing():
    dataset = LlmDataset()
    dataset.add_input(**{**EVERYTHING, "note": "ours"})
    dataset.add_input("bare", key="b", model_key="m")
    second_dataset = LlmDataset.from_frame(dataset.to_frame())
    assert [row.to_dict() for row in second_dataset.inputs] == [row.to_dict() for row in dataset.inputs]


@pytest.mark.parametrize("convert", [False, True], ids=["NaN", "pd.NA"])
def test_missing_values_of_a_frame_count_as_absent(convert):
    frame = pd.DataFrame(
        {
            "input": ["q", "r"],
            "cost": [math.nan, 0.5],
            "run": [math.nan, 2.0],
            "expected_output": [None, "x"],
            "note": [pd.NaT, 1],
        }
    )
    first, second = LlmDataset.from_frame(frame.convert_dtypes() if convert else frame).inputs
    assert (first.cost, first.run, first.expected_output, first.model_extra) == (None, None, "", {})
    assert (second.cost, second.run, second.expected_output) == (0.5, 2, "x")


def test_lists_in_the_cells_of_a_frame_are_taken_as_they_are():
    import numpy as np

    frame = pd.DataFrame({"input": ["q", "r"], "context": [["a", "b"], np.array(["c"])]})
    assert [row.context for row in LlmDataset.from_frame(frame).inputs] == [["a", "b"], ["c"]]


def test_a_bad_cell_of_a_frame_is_told():
    with pytest.raises(DataError, match=r"frame /inputs/1/input: expected a string, found 5"):
        LlmDataset.from_frame(pd.DataFrame({"input": ["q", 5]}))


def test_a_relationship_to_a_row_that_is_not_there_is_a_warning_and_its_row_stays():
    links = [{"type": "perturbation_source", "target": target} for target in ("b", "gone")]
    file = read(parse(json.dumps({"inputs": [{"key": "a", "relationships": links}, {"key": "b"}]}), "d.json"))
    assert [row.key for row in file.content.inputs] == ["a", "b"]
    assert file.warnings == [
        "d.json /inputs/0/relationships/1/target: no row has the key 'gone'; no flip will be looked for"
    ]


def test_a_header_of_too_many_columns_is_told():
    with pytest.raises(DataError, match="has more than 1,000 columns; remove those that are not needed"):
        parse_csv("input," + ",".join(f"c{number}" for number in range(1_000)) + "\n", "d.csv")


@pytest.mark.parametrize("name", ["rows.CSV", "rows.tsv", "rows.TSV"])
def test_a_data_set_is_read_from_the_table_that_it_was_saved_to(tmp_path, name):
    dataset = LlmDataset()
    dataset.add_input("What is the fee, abroad?", actual_output="5 USD\tat most", context=["a", "b"])
    dataset.save(tmp_path / name)
    assert LlmDataset.load(tmp_path / name).to_dict() == dataset.to_dict()


def test_a_key_with_a_bracket_is_part_of_the_place_of_a_fault():
    source = parse(json.dumps({"inputs": [{"input": "q", "usage": {"in[0]": "x"}}]}), "f.json")
    [error] = read_dataset(source)[1]
    assert error.pointer == "/inputs/0/usage/in[0]"
