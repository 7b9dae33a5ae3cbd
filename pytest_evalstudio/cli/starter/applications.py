"""Starter files of each kind of application."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_evalstudio.cli.schema_files import schema_path
from pytest_evalstudio.cli.starter.calls import ServiceForm, form_of_service
from pytest_evalstudio.cli.starter.files import StarterFile, template
from pytest_evalstudio.core.errors import ConfigurationError, DataError

SUITE = "starter_suite.yaml"
CONFIGURATION = "evalstudio.toml"
_HEAD = (
    f"#:schema ./{schema_path('configuration')}\n"
    "# Evaluators that judge the answers, and the models that are asked.\n"
    "# `evalstudio evaluators` and `evalstudio hosts` list all.\n"
)
_UNCHECKED = 'unchecked = "fail"  # a test case whose expectations no evaluator reads\n'
_RULES = ("text_matching", "pii_leakage", "looping_detection")
_OPENAI_URL = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Starter:
    """Files that `evalstudio init` writes for an application.

    Attributes:
        tests: file that pytest runs.
        secret: environment variable that the model needs, "" for none.
        notes: what the user must look at.
    """

    files: Sequence[StarterFile]
    tests: str = SUITE
    secret: str = ""
    notes: Sequence[str] = ()


def built_in(folder: Path) -> Starter:
    """Return a suite over one document, answered by the built-in model that quotes documents."""
    model = (
        "# The built-in stand-in quotes the documents, without network and weights. Replace it by yours.\n"
        + _table(name="extractive", host="extractive")
        + "\n"
        + _commented(
            _table(
                name="gpt",
                host="openai_compatible",
                url=_OPENAI_URL,
                llm_model_name="gpt-5-mini",
                api_key="${OPENAI_API_KEY}",
            )
        )
    )
    evaluators = ("text_matching", "lexical_groundedness", "pii_leakage")
    options = "\n[evaluator.lexical_groundedness]\nthreshold = 0.5\n"
    return Starter(
        files=(
            StarterFile(
                path=Path(SUITE), text=template("document_suite.yaml.txt", schema=schema_path("suite"))
            ),
            StarterFile(path=Path(CONFIGURATION), text=_configuration(evaluators, model, options)),
            StarterFile(path=Path("documents/opening_hours.md"), text=template("opening_hours.md")),
        )
    )


def python_function(folder: Path, target: str) -> Starter:
    """Return a suite for a Python function; a module that is missing is written with a stand-in."""
    return _of_target(folder, target, "application", "A Python function that takes the question.", _RULES)


def agent_function(folder: Path, target: str) -> Starter:
    """Return a suite for an agent; a module that is missing is written with a stand-in."""
    comment = "An agent: a Python function that returns the answer and its tool calls."
    return _of_target(folder, target, "agent", comment, (*_RULES, "tool_calls", "agent_sanity_check"))


def chat_completions(folder: Path, model: str) -> Starter:
    """Return a suite for chat completions, of OpenAI or of the service that OPENAI_BASE_URL names."""
    table = _table(
        name=model,
        host="openai_compatible",
        url=os.environ.get("OPENAI_BASE_URL", _OPENAI_URL),
        llm_model_name=model,
        api_key="${OPENAI_API_KEY}",
    )
    comment = "# Chat completions of OpenAI, vLLM, llama.cpp, LiteLLM, Ollama; needs the extra openai.\n"
    notes = () if os.environ.get("OPENAI_API_KEY") else ("set OPENAI_API_KEY before the first run",)
    return _with_suite(comment + table, _RULES, "application", secret="OPENAI_API_KEY", notes=notes)


def http_service(folder: Path, url: str) -> Starter:
    """Return a suite for an HTTP service, which is asked once for the form of its reply."""
    form = form_of_service(url)
    body = f'body = {{ {json.dumps(form.question_key)} = "{{{{ prompt }}}}" }}\n'
    lines = _table(name="service", host="http", url=url) + body + _reply_lines(form)
    comment = "# `reply` has the JSON Pointer of each part of the reply; needs the extra http.\n"
    evaluators = (*_RULES, "lexical_groundedness") if "context" in form.pointers else _RULES
    notes = (form.note,) if form.note else ()
    return _with_suite(comment + lines, evaluators, "application", notes=notes)


def existing_answers(folder: Path, file: str) -> Starter:
    """Return a configuration for a lab or data set, with the evaluators that its columns allow.

    Raises:
        ConfigurationError: if the file is neither.
    """
    path = folder / file
    if not path.exists():
        raise ConfigurationError(f"--lab {file}: there is no such file in {folder}")
    evaluators = _evaluators_of(path, file)
    options = (
        "\n[evaluator.lexical_groundedness]\nthreshold = 0.5\n"
        if "lexical_groundedness" in evaluators
        else ""
    )
    return Starter(
        files=(StarterFile(path=Path(CONFIGURATION), text=_configuration(evaluators, "", options)),),
        tests=file,
    )


APPLICATIONS: Mapping[str, Callable[[Path, str], Starter]] = {
    "python": python_function,
    "http": http_service,
    "openai": chat_completions,
    "lab": existing_answers,
    "agent": agent_function,
}
"""Option of `evalstudio init` to what makes its files."""


def _of_target(folder: Path, target: str, kind: str, comment: str, evaluators: Sequence[str]) -> Starter:
    module, _, function = target.partition(":")
    names = (*module.split("."), function)
    if not all(name.isidentifier() for name in names):
        raise ConfigurationError(f"{target!r} is not MODULE:FUNCTION, e.g. app:ask")
    table = f"# {comment}\n" + _table(name=names[-2], host="python", target=target)
    if _is_there(folder, module):
        return _with_suite(table, evaluators, kind)
    file = StarterFile(
        path=Path(*module.split(".")).with_suffix(".py"), text=template(f"{kind}.py.txt", function=function)
    )
    note = f"{file.path} is a stand-in: replace its answers by yours"
    return _with_suite(table, evaluators, kind, files=(file,), notes=(note,))


def _is_there(folder: Path, module: str) -> bool:
    """Return True if a module is below the folder, or its package is installed; nothing is imported."""
    path = folder.joinpath(*module.split("."))
    if path.with_suffix(".py").exists() or (path / "__init__.py").exists():
        return True
    try:
        return importlib.util.find_spec(module.partition(".")[0]) is not None
    except (ImportError, ValueError):
        return False


def _with_suite(
    model: str,
    evaluators: Sequence[str],
    kind: str,
    *,
    files: Sequence[StarterFile] = (),
    secret: str = "",
    notes: Sequence[str] = (),
) -> Starter:
    cases = template(f"{kind}_cases.txt").rstrip("\n")
    suite = template("application_suite.yaml.txt", cases=cases, schema=schema_path("suite"))
    return Starter(
        files=(
            StarterFile(path=Path(SUITE), text=suite),
            StarterFile(path=Path(CONFIGURATION), text=_configuration(evaluators, model)),
            *files,
        ),
        secret=secret,
        notes=notes,
    )


def _configuration(evaluators: Sequence[str], model: str, options: str = "") -> str:
    names = ", ".join(json.dumps(name) for name in evaluators)
    models = f"\n{model}" if model else ""
    return f"{_HEAD}evaluators = [{names}]\n{_UNCHECKED}{options}{models}"


def _table(**values: str) -> str:
    # A basic string of TOML has the escapes of JSON.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    return "\n".join(["[[model]]", *lines]) + "\n"


def _commented(text: str) -> str:
    return "".join(f"# {line}\n" for line in text.splitlines())


def _reply_lines(form: ServiceForm) -> str:
    lines = f"format = {json.dumps(form.format)}\n" if form.format else ""
    if form.pointers:
        pairs = ", ".join(f"{name} = {json.dumps(pointer)}" for name, pointer in form.pointers.items())
        lines += f"reply = {{ {pairs} }}\n"
    elif not form.format:
        lines += '# reply = { answer = "/answer", context = "/chunks/*/text" }\n'
    return lines


def _evaluators_of(path: Path, file: str) -> list[str]:
    from pytest_evalstudio.formats.dataset import LlmDataset
    from pytest_evalstudio.formats.files import read
    from pytest_evalstudio.formats.kinds import read_source
    from pytest_evalstudio.formats.lab import TestLab

    try:
        content = read(read_source(path, file)).content
    except DataError as exc:
        raise ConfigurationError(f"--lab {exc}") from None
    if isinstance(content, TestLab):
        rows = content.dataset.inputs
    elif isinstance(content, LlmDataset):
        rows = content.inputs
    else:
        raise ConfigurationError(
            f"--lab {file}: is a suite, which has no answers; choose the application instead"
        )
    evaluators = list(_RULES)
    if any(row.expected_output for row in rows):
        evaluators.append("rouge")
    if any(row.context for row in rows):
        evaluators.append("lexical_groundedness")
    return evaluators
