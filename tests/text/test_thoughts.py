# ruff: noqa: E501

import pytest

from pytest_evalstudio.text.thoughts import Reply, split_thoughts
from support.processor_time import assert_within

HARMONY = "<|channel|>analysis<|message|>Perhaps 15.<|end|><|start|>assistant<|channel|>final<|message|>It is free.<|return|>"


@pytest.mark.parametrize(
    ("text", "answer", "thoughts"),
    [
        ("<think>Perhaps 15 USD? No.</think>It is free.", "It is free.", "Perhaps 15 USD? No."),
        ("\n<thinking>\nHm.\n</thinking>\n\nIt is free.\n", "It is free.", "Hm."),
        ("<REASONING>Hm.</REASONING> It is free.", "It is free.", "Hm."),
        ("Perhaps 15 USD? No.\n</think>\nIt is free.", "It is free.", "Perhaps 15 USD? No."),
        ("[THINK]Hm.[/THINK]It is free.", "It is free.", "Hm."),
        ("◁think▷Hm.◁/think▷It is free.", "It is free.", "Hm."),
        ("<|begin_of_thought|>Hm.<|end_of_thought|><|begin_of_solution|>It is free.<|end_of_solution|>", "It is free.", "Hm."),
        ("<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>It is free.<|END_RESPONSE|>", "It is free.", "Hm."),
        ("<|channel>thought\nHm.<channel|>It is free.", "It is free.", "Hm."),
        (HARMONY, "It is free.", "Perhaps 15."),
        ("<|start|>assistant" + HARMONY, "It is free.", "Perhaps 15."),
        ("analysisPerhaps 15.assistantfinalIt is free.", "It is free.", "Perhaps 15."),
        ("First.\n<think>Hm.</think>\nSecond.", "First.\n\nSecond.", "Hm."),
        ("<think>a</think><think>b</think>It is free.", "It is free.", "a\n\nb"),
        ("<think>The tag `<think>` opens.</think>It is free.", "It is free.", "The tag `<think>` opens."),
        ("<think></think>It is free.", "It is free.", ""),
        ("<think>Hm.</think>", "", "Hm."),
    ],
)  # fmt: skip
def test_thoughts_are_no_answer(text: str, answer: str, thoughts: str) -> None:
    assert split_thoughts(text) == Reply(answer, thoughts)


@pytest.mark.parametrize(
    "text",
    [
        " It is free.\n",
        "",
        "Write `<think>` before and `</think>` after the thought.",
        'The tag "</think>" ends it.',
        "Put <think> before it.",
        "```xml\n<think>\nHm.\n</think>\n```\nThat is the form.",
        "x <thinker>y</thinker>",
        "analysis of the market",
        "The [THINK] tag.",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert split_thoughts(text) == Reply(text)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("<think>Perhaps 15 USD", "<think>"),
        ("[THINK]Perhaps", "[THINK]"),
        ("<|channel|>analysis<|message|>Perhaps", "<|channel|>"),
    ],
)
def test_a_thought_without_an_end_is_no_answer(text: str, tag: str) -> None:
    reply = split_thoughts(text)
    assert (reply.text, reply.unfinished) == ("", tag)
    assert "Perhaps" in reply.thoughts


def test_what_was_said_before_an_unfinished_thought_stays() -> None:
    assert split_thoughts("It is free.\n<think>Or is") == Reply("It is free.", "Or is", "<think>")


def test_tags_can_be_given() -> None:
    assert split_thoughts("((Hm.)) It is free.", ["((", "))"]) == Reply("It is free.", "Hm.")
    assert split_thoughts("<think>Hm.</think>It is free.", ["((", "))"]).thoughts == ""


def test_false_keeps_the_whole_text() -> None:
    assert split_thoughts("<think>Hm.</think>It is free.", False).text == "<think>Hm.</think>It is free."


@pytest.mark.parametrize(
    "unit",
    [
        "<think>",
        "</think>",
        "<think></think>",
        "`</think>`",
        "\n<think>",
        " <think>",
        "<|channel|>a<|message|>",
    ],
)
def test_time_is_linear(unit: str) -> None:
    assert_within(2, lambda turn: split_thoughts(unit * (40_000 + turn)))
