"""Templates of prompts: what they make of a question, and what they refuse."""

from __future__ import annotations

import pytest

from pytest_evalstudio.asking.prompts import case_variables
from pytest_evalstudio.asking.templates import PromptTemplate
from pytest_evalstudio.core.cases import Prompt, Turn
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.formats.prompt_files import PromptFile

PROMPT = Prompt(
    text="What is {{ 1+1 }}?",
    conversation=(Turn(role="user", content="Hi"),),
    case=case_variables("sum", ["maths"], {"x-tone": "warm", "metadata": {"level": 3}}),
)


def template(text: str) -> PromptTemplate:
    return PromptTemplate(PromptFile(file="p.j2", text=text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ question }}", "What is {{ 1+1 }}?"),
        ("{{ prompt }} {{ input }}", "What is {{ 1+1 }}? What is {{ 1+1 }}?"),
        ("\n Q: {{ question | upper }}\n", "Q: WHAT IS {{ 1+1 }}?"),
        ("{{ case.key }} {{ case.categories[0] }} {{ case['x-tone'] }}", "sum maths warm"),
        ("{{ case.metadata.level + 1 }}", "4"),
        ("{% for turn in conversation %}{{ turn.role }}: {{ turn.content }}{% endfor %}", "user: Hi"),
        ("<b>{{ question }}</b>", "<b>What is {{ 1+1 }}?</b>"),
        ("${HOME} {{ question }}", "${HOME} What is {{ 1+1 }}?"),
    ],
)
def test_a_template_is_filled_once(text: str, expected: str) -> None:
    result = template(text).applied(PROMPT)
    assert (result.text, result.system) == (expected, "")
    assert result.conversation == PROMPT.conversation


def test_blocks_are_messages_of_their_roles() -> None:
    system = "{% block system %}Be {{ case['x-tone'] }}.{% endblock %}"
    both = template(f"{system}\n{{% block user %}}{{{{ question }}}}{{% endblock %}}")
    assert both.has_system
    result = both.applied(PROMPT)
    assert (result.system, result.text) == ("Be warm.", PROMPT.text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{{ question }", "p.j2:1: unexpected '}'"),
        ("\n{% if %}", "p.j2:2: "),
        ("{{ questoin }}", "p.j2: no variable named 'questoin'. Did you mean 'question'?"),
        ("{{ expected_output }}", "A prompt can use: question, conversation, case."),
        ("{% block users %}{% endblock %}", "Did you mean 'user'?"),
        ("{% block system %}x{% endblock %}", "no block `user`; add one"),
        ("{% include 'x' %}{{ question }}", "p.j2: includes another template"),
        ("{% extends 'x' %}", "p.j2: includes another template"),
    ],
)
def test_what_a_template_cannot_be(text: str, fault: str) -> None:
    with pytest.raises(ConfigurationError) as exc_info:
        template(text)
    assert fault in str(exc_info.value)


@pytest.mark.parametrize(
    "text",
    [
        "{{ case.nothing }}",
        "{{ case['x-none'] }}",
        "{{ question.__class__.__mro__ }}",
        "{{ ''.__class__.__base__.__subclasses__() }}",
        "{{ question / 2 }}",
        "{{ 'x' * 20000000 }}",
        "{% for i in range(10000000) %}x{% endfor %}",
    ],
)
def test_a_value_that_is_not_there_is_an_error_of_the_case(text: str) -> None:
    with pytest.raises(EvaluationError, match=r"prompt p\.j2: "):
        template(text).applied(PROMPT)


def test_only_a_template_that_reads_the_case_depends_on_it() -> None:
    assert template("{{ case.key }}").reads_case
    assert not template("{{ question }}").reads_case
