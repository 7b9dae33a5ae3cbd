from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.agent_evaluation import (
    NO_RESPONSE,
    evaluation_source,
    export_evaluation_set,
    load_evaluation_set,
    read_evaluation_set,
    suite_of,
    without_a_place,
    write_evaluation_set,
)
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.formats.lab import Model, TestLab
from pytest_evalstudio.formats.source import parse
from pytest_evalstudio.formats.suite import TestSuite

FULL = [
    {
        "request_id": "spark",
        "request": "What is the difference between the two calls?",
        "response": "The first one shuffles less – „reduce“.",
        "expected_response": "The first one aggregates before it shuffles.",
        "expected_facts": ["It aggregates.", "It shuffles later."],
        "retrieved_context": [
            {"doc_uri": "docs/a.md", "content": "Chunk one."},
            {"content": "Chunk two."},
            {"doc_uri": "docs/c.md", "content": ""},
        ],
        "expected_retrieved_context": [{"doc_uri": "docs/a.md"}, {"doc_uri": "docs/b.md"}],
        "guidelines": ["The response must be in English", "The response must be clear"],
        "tags": {"team": ["risk"]},
    },
    {
        "request_id": "talk",
        "request": {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "I have a card."},
                {"role": "assistant", "content": "Good."},
                {"role": "user", "content": "What does it cost?"},
            ]
        },
        "response": "",
        "guidelines": {"language": ["The response must be in English"], "tone": ["Be kind", "Be calm"]},
    },
]


def entries(*data, root=None):
    text = json.dumps({root: list(data)} if root else list(data))
    dataset, errors = read_evaluation_set(parse(text, "set.json"))
    return dataset.inputs, [str(error) for error in errors]


def file_of(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_what_the_schema_has_becomes_a_row(tmp_path):
    spark, talk = load_evaluation_set(file_of(tmp_path / "set.json", FULL)).inputs
    assert (spark.key, spark.input, spark.actual_output) == ("spark", FULL[0]["request"], FULL[0]["response"])
    assert spark.expected_output == FULL[0]["expected_response"]
    assert spark.expected_facts == ["It aggregates.", "It shuffles later."]
    assert spark.context == ["Chunk one.", "Chunk two.", ""]
    assert spark.context_sources == ["docs/a.md", "", "docs/c.md"]
    assert spark.expected_documents == ["docs/a.md", "docs/b.md"]
    assert spark.guidelines == ["The response must be in English", "The response must be clear"]
    assert talk.input == "What does it cost?"
    assert [(turn.role, turn.content) for turn in talk.conversation] == [
        ("system", "Be brief."),
        ("user", "I have a card."),
        ("assistant", "Good."),
    ]
    assert talk.guidelines == ["The response must be in English", "Be kind", "Be calm"]
    assert talk.context_sources == talk.context == []


@pytest.mark.parametrize("name", ["set.json", "set.jsonl", "set.csv"])
def test_there_and_back_loses_nothing(tmp_path, name):
    data = copy.deepcopy(FULL)
    if name.endswith("csv"):
        data[0]["tags"] = "risk"  # a cell of a column that the schema does not have is text
        data[1]["response"] = "30"  # nor does CSV tell an empty text from none
    write_evaluation_set(tmp_path / name, data)
    dataset = load_evaluation_set(tmp_path / name)
    assert export_evaluation_set(dataset) == data
    dataset.save(tmp_path / "dataset.json")
    assert export_evaluation_set(LlmDataset.load(tmp_path / "dataset.json")) == data


def test_a_suite_of_a_set_gives_the_set_back_without_its_responses(tmp_path):
    unanswered = [
        {name: value for name, value in entry.items() if name not in ("response", "retrieved_context")}
        for entry in FULL
    ]
    suite_of(load_evaluation_set(file_of(tmp_path / "set.json", FULL))).save(tmp_path / "s.json")
    assert export_evaluation_set(TestSuite.load(tmp_path / "s.json")) == unanswered


def test_query_and_history_are_a_conversation_too():
    history = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    rows, errors = entries(
        {"request": {"query": "And now?", "history": history}},
        {"request": {"query": "Alone?"}},
        root="eval_set",
    )
    assert not errors
    assert (rows[0].input, [turn.content for turn in rows[0].conversation]) == ("And now?", ["Hello", "Hi"])
    assert export_evaluation_set(LlmDataset(inputs=rows))[0]["request"] == {
        "messages": [*history, {"role": "user", "content": "And now?"}]
    }
    assert export_evaluation_set(LlmDataset(inputs=rows))[1]["request"] == "Alone?"


def test_keyless_requests_get_keys_and_keep_them():
    rows, _ = entries({"request": "One?"}, {"request": "Two?"}, {"request": "One?"})
    assert len({row.key for row in rows}) == 3
    second_rows, _ = entries(*export_evaluation_set(LlmDataset(inputs=rows)))
    assert [row.key for row in second_rows] == [row.key for row in rows]


def test_a_request_without_response_among_answered_ones_is_an_error_of_its_own():
    rows, errors = entries(
        {"request": "a", "response": ""}, {"request": "b"}, {"request": "c", "response": None}
    )
    assert not errors
    assert [row.error for row in rows] == ["", NO_RESPONSE, NO_RESPONSE]
    assert ["response" in entry for entry in export_evaluation_set(LlmDataset(inputs=rows))] == [
        True,
        False,
        False,
    ]


def test_where_nobody_has_answered_nothing_is_wrong():
    rows, _ = entries({"request": "a", "retrieved_context": [{"content": "x"}]}, {"request": "b"})
    assert [row.error for row in rows] == ["", ""]


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("text", "/0: expected an object"),
        (
            {},
            (
                "/0/request: expected a text, or an object with `messages`, or with `query` and `history`,"
                " found nothing"
            ),
        ),
        ({"request": 3}, "/0/request: expected a text, or"),
        ({"request": {"prompt": "q"}}, "/0/request: expected a text, or"),
        ({"request": "  "}, "/0/request: the request is blank"),
        ({"request": {"messages": []}}, "the request is blank"),
        (
            {"request": {"messages": "q"}},
            "/0/request/messages: expected a list of messages, found the string",
        ),
        (
            {"request": {"messages": [{"role": "user"}]}},
            "/0/request/messages/0/content: 'content' is missing",
        ),
        (
            {"request": {"messages": [{"role": "tool", "content": "q"}]}},
            "/0/request/messages/0/role: input should be 'system'",
        ),
        (
            {"request": {"messages": [{"role": "assistant", "content": "q"}]}},
            "/0/request/messages/0/role: the last message is the question",
        ),
        ({"request": {"query": None, "history": []}}, "/0/request/query: expected a text, found nothing"),
        (
            {"request": {"query": "q", "history": {}}},
            "/0/request/history: expected a list of messages, found an object",
        ),
        ({"request": "q", "response": {"content": "a"}}, "/0/response: expected a string, found an object"),
        ({"request": "q", "retrieved_context": ["text"]}, "/0/retrieved_context/0: expected an object"),
        ({"request": "q", "expected_facts": [1]}, "/0/expected_facts/0: expected a string"),
        ({"request": "q", "guidelines": 3}, "/0/guidelines: expected a list of texts, found 3"),
        ({"request": "q", "guidelines": ["a", None]}, "/0/guidelines/1: expected a text, found null"),
        ({"request": "q", "guidelines": {"tone": [1]}}, "/0/guidelines/tone/0: expected a text, found 1"),
        (
            {"request": "q", "actual_output": "a"},
            (
                "/0/actual_output: 'actual_output' is a key of data sets; in an evaluation set this is"
                " 'response'"
            ),
        ),
        ({"request": "q", "cost": "much"}, "/0/cost: expected a number"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_the_rest_stays(entry, fault):
    rows, errors = entries(entry, {"request": "fine"})
    assert len(errors) == 1
    assert errors[0].startswith("set.json:1:")
    assert fault in errors[0]
    assert [row.input for row in rows] == ["fine"]


def test_an_id_that_is_used_twice_names_both_places():
    _, errors = entries({"request_id": 7, "request": "a"}, {"request_id": "7", "request": "b"})
    assert errors == ["set.json:1:52 /1/request_id: '7' is already used by /0; ids must be unique in a set"]


def test_what_has_no_place_in_a_row_is_told(tmp_path):
    entry = {
        "request": {"messages": [{"role": "user", "content": "q"}], "temperature": 0},
        "retrieved_context": [{"content": "c", "score": 1}],
        "expected_retrieved_context": [{"doc_uri": "u", "content": "x", "page": 3}],
    }
    source = parse(json.dumps([entry]), "set.json")
    dataset, _ = read_evaluation_set(source)
    assert dataset.inputs[0].expected_chunks == ["x"]
    assert source.warnings == [
        "set.json /0/request/messages/0/content: temperature: dropped from a request",
        "set.json /0/retrieved_context: 'score': dropped from a document",
        "set.json /0/expected_retrieved_context: 'page': dropped from a document",
    ]


def test_a_line_of_json_lines_is_told_by_its_number(tmp_path):
    path = file_of(
        tmp_path / "set.jsonl",
        '\n{"request": "a"}\r\n\n  {"request": "b", "guidelines": 3}\n{"request": 4}\n',
    )
    dataset, errors = read_evaluation_set(evaluation_source(path, "set.jsonl"))
    assert [row.input for row in dataset.inputs] == ["a"]
    assert [str(error).partition(": ")[0] for error in errors] == [
        "set.jsonl:4:34 /1/guidelines",
        "set.jsonl:5:13 /2/request",
    ]
    with pytest.raises(DataError, match=r"set.jsonl:2:13: is not JSON"):
        evaluation_source(file_of(tmp_path / "set.jsonl", '{"request": "a"}\n{"request": b}'), "set.jsonl")


def test_csv_takes_json_in_cells_and_plain_text(tmp_path):
    text = (
        'request,response,expected_facts,guidelines\n"{""query"": ""q""}",a,"[""x"", ""y""]",Be kind.\n[1]'
        " what is this?,b,one,\n"
    )
    first, second = load_evaluation_set(file_of(tmp_path / "set.csv", text)).inputs
    assert (first.input, first.expected_facts, first.guidelines) == ("q", ["x", "y"], ["Be kind."])
    assert (second.input, second.expected_facts, second.guidelines) == ("[1] what is this?", ["one"], [])


@pytest.mark.parametrize("content", ['{"tests": []}', "3", '{"eval_set": {}}'])
def test_other_files_are_refused(tmp_path, content):
    with pytest.raises(DataError, match=r"evaluation set|expected a list of requests"):
        load_evaluation_set(file_of(tmp_path / "f.json", content))


def two_models():
    lab = TestLab(models=[Model(key="1", llm_model_name="one"), Model(key="2", llm_model_name="two")])
    for key in ("1", "2"):
        for run in (1, 2):
            lab.dataset.add_input("q", key="k", model_key=key, run=run, actual_output=f"a{key}{run}")
    return lab


def test_of_several_models_one_is_chosen_by_key_or_name_and_repeats_are_numbered():
    for name in ("2", "two"):
        assert export_evaluation_set(two_models(), name) == [
            {"request_id": "k", "request": "q", "response": "a21"},
            {"request_id": "k-2", "request": "q", "response": "a22"},
        ]
    with pytest.raises(
        DataError,
        match="holds answers of 2 models, and an evaluation set can only hold one model: choose one",
    ):
        export_evaluation_set(two_models())
    with pytest.raises(ConfigurationError, match=r"no model named 'tow'\. Did you mean 'two'"):
        export_evaluation_set(two_models(), "tow")


def test_what_an_evaluation_set_has_no_place_for_is_named():
    suite = TestSuite()
    suite.add_test(documents=["a.md"]).add_case("q", condition='"x"', xfail="not yet")
    assert without_a_place(suite) == ["condition", "corpus", "xfail"]
    assert without_a_place(two_models()) == []
    conversation = TestSuite()
    conversation.add_test().add_case(
        "q", turns=[{"prompt": "q"}, {"prompt": "r"}], expected_tool_calls=[], retrieval="required"
    )
    assert without_a_place(conversation) == ["expected_tool_calls", "retrieval", "turns"]


def test_a_set_that_ends_in_tsv_is_divided_by_tabs(tmp_path):
    write_evaluation_set(tmp_path / "set.tsv", [{"request_id": "a", "request": "b, c"}])
    assert (tmp_path / "set.tsv").read_text().splitlines() == ["request_id\trequest", "a\tb, c"]


NAMES = st.sampled_from(
    [
        "request",
        "messages",
        "query",
        "history",
        "role",
        "content",
        "guidelines",
        "retrieved_context",
        "doc_uri",
        "run",
        "key",
        "x",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["user", "\ud800", ""])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)


@given(st.lists(VALUES | st.dictionaries(NAMES, VALUES), max_size=3))
def test_whatever_stands_in_it_is_read_or_told(data):
    dataset, errors = read_evaluation_set(parse(json.dumps(data), "set.json"))
    assert len(dataset.inputs) + len(errors) == len(data)
    second_reading, wrong = read_evaluation_set(
        parse(
            json.dumps(
                export_evaluation_set(
                    LlmDataset(inputs=[row for row in dataset.inputs if not row.model_key and not row.run])
                )
            ),
            "s",
        )
    )
    assert not wrong
    assert len(second_reading.inputs) <= len(dataset.inputs)
