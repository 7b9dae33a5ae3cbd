"""Tables of the documentation, made from the code; `python tests/support/tables.py` rewrites them.

A table is between `<!-- table NAME -->` and `<!-- end of table -->`; the lines between them are replaced.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import importlib
import itertools
import json
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import pytest_evalstudio
from pytest_evalstudio import Registry, plugin
from pytest_evalstudio.asking.limits import Limits
from pytest_evalstudio.cli.commands import grouped_commands
from pytest_evalstudio.cli.main import parser_of_commands
from pytest_evalstudio.contrib.redteam.owasp import owasp_table
from pytest_evalstudio.contrib.validation.workflow.guidance import default_guidance
from pytest_evalstudio.contrib.validation.workflow.policy import CoverageShares, default_policy
from pytest_evalstudio.core.attachments import DOCX, MEDIA_TYPES
from pytest_evalstudio.core.defaults import REPORT_FOLDER
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.plugins.contrib import contribs
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.formats.config import DEFAULT_EVALUATORS, Configuration
from pytest_evalstudio.formats.guardrails import Guardrails
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.hosts._replies import POINTERS
from pytest_evalstudio.plugin.options import SUFFIXES
from pytest_evalstudio.run.settings import DEFAULT_CACHE

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import evaluator_tables, guide_tables
from support.api_markdown import markdown_of
from support.documented import as_sentence, attribute_or_summary
from support.table_rows import code_list, head, row

DOCS = Path(__file__).parents[2] / "docs"
NOT_IN_FILES = ("folder", "file")
"""Fields of Configuration that say where it was read from."""

_NAMES = {
    "Suites, labs and data sets": """TestSuite Test TestCase TestLab Model LlmDataset Row Relationship
        eval_suite LabBuilder perturb generate_test_cases Generated""",
    "Evaluation": (
        "evaluate Results make_case build_report Report Problem score_table ScoredTable"
        " configured_hosts ConfiguredHost base_models host_defaults eval_model"
    ),
    "Types of fixtures": "Check AskedModel EvalCase EvalModel EvalPerturb EvalSuite EvalGuard Flip",
    "Types of plugins": """Case Prompt Turn Attachment Answer ToolCall Step Metric Outcome Finding Fragment
        Tools evaluator ModelScore ScoredRow host HostFault CollectionDocument recorded_tool perturbator
        Change step StepResult generator Corpus Excerpt Draft
        section Registry""",
    "Errors": "EvalStudioError ConfigurationError DataError EvaluationError ThresholdMissed",
}
API: Mapping[str, Sequence[str]] = {task: names.split() for task, names in _NAMES.items()}
"""Public names by task, in the order of the page."""

_TABLE = re.compile(
    r"(?P<start><!-- table (?P<name>\w+) -->\n)(?P<body>.*?)(?P<end><!-- end of table -->)", re.DOTALL
)


class Options:
    """Stands in for pytest's parser, and keeps what the plugin declares."""

    def __init__(self) -> None:
        self.declared: list[tuple[str, str]] = []
        self.ini: list[tuple[str, str, Any]] = []
        plugin.pytest_addoption(self)  # type: ignore[arg-type]

    def getgroup(self, name: str, description: str = "") -> Options:
        return self

    def addoption(self, name: str, **settings: Any) -> None:
        self.declared.append((f"{name} {settings.get('metavar', '')}".strip(), settings["help"]))

    def addini(self, name: str, help: str, type: str | None = None, default: Any = None) -> None:
        self.ini.append((name, help, default))


def main() -> None:
    for page in (Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_tables(text), encoding="utf-8")


def with_tables(text: str) -> str:
    """Return a page with its tables as the code has them."""
    return _TABLE.sub(
        lambda match: match["start"] + "\n".join(TABLES[match["name"]]()) + "\n" + match["end"], text
    )


def table_in(text: str, name: str) -> list[list[str]]:
    """Return the cells of a table, without its head."""
    body = next(table["body"] for table in _TABLE.finditer(text) if table["name"] == name)
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in body.strip().splitlines()[2:]
    ]


def python_api() -> Iterator[str]:
    """Yield the description of the public names by task."""
    for task, names in API.items():
        yield from ("", f"## {task}", "")
        lines = [line for name in names for line in markdown_of(name, getattr(pytest_evalstudio, name))]
        for line, following in itertools.zip_longest(lines, lines[1:]):
            if line or following:  # no two empty lines in a row
                yield line


def layers() -> Iterator[str]:
    """Yield the layers of the contract in pyproject.toml, the highest first."""
    yield from head("Layer", "Package", "Content")
    rows = _layers()
    for number, packages in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        for position, package in enumerate(packages):
            yield row("" if position else str(number), f"`{package}`", _summary_of_package(package))


def layers_in_short() -> Iterator[str]:
    """Yield the layers as text, the highest first."""
    yield "```text"
    yield from textwrap.wrap(" > ".join(" | ".join(packages) for packages in _layers()), 110)
    yield "```"


def optional_parts() -> Iterator[str]:
    yield from head("Part", "Content")
    for contrib in contribs():
        yield row(f"`{contrib.name}`", _summary_of_package(f"contrib.{contrib.name}"))


def _layers() -> list[list[str]]:
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [
        contract
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract.get("containers") == ["pytest_evalstudio"]
    ]
    return [[package.strip() for package in line.split("|")] for line in contract["layers"]]


def _summary_of_package(name: str) -> str:
    return summary_of(importlib.import_module(f"pytest_evalstudio.{name}")).removesuffix(".")


_OF_NETWORK = ("proxy", "ca_file", "verify_tls")
"""Parameters of all hosts that reach a service."""
_CHAT_HOST = "openai_compatible"
"""Host whose parameters other hosts of chat services have, too."""


def hosts() -> Iterator[str]:
    plugins = Registry().hosts
    yield from head("Host", "Kind", "`cache`", "Images and files", "Source of answers", "Parameters")
    first_with: dict[tuple[str, ...], str] = {}
    of_chat = tuple(parameters(plugins.get(_CHAT_HOST)))
    for id in sorted(plugins, key=lambda id: (id != _CHAT_HOST, id)):
        first_with.setdefault(tuple(parameters(plugins.get(id))), id)
    for id in plugins:
        spec = plugins.spec(id)
        names = tuple(parameters(plugins.get(id)))
        first_id = first_with[names]
        base = of_chat if set(of_chat) < set(names) else ()
        added = code_list([name for name in names if name not in (*base, *_OF_NETWORK)])
        option_text = f"as `{_CHAT_HOST}`, and {added}" if base else added
        yield row(
            f"`{id}`",
            "LLM or RAG" if spec.kind == "both" else spec.kind.upper(),
            "`resume`" if spec.caches else "`never`",
            _media(spec.media_types),
            _described(spec),
            option_text if first_id == id else f"as `{first_id}`",
        )


def _media(media_types: Sequence[str]) -> str:
    if set(media_types) >= set(MEDIA_TYPES):
        return "all"
    names = {DOCX: "DOCX", "text/plain": "text", "text/markdown": "Markdown"}
    return ", ".join(names.get(each, each.rpartition("/")[2].upper()) for each in media_types) or "–"


def perturbators() -> Iterator[str]:
    plugins = Registry().perturbators
    yield from head("Perturbator", "Intensities", "What it does")
    for id in plugins:
        spec = plugins.spec(id)
        names = [level.lower() for level in spec.intensities]
        levels = "all" if len(names) > 3 else ", ".join(names) or "–"
        mark = "" if spec.keeps_meaning else " \\*"
        yield row(f"`{id}`{mark}", levels, spec.description)


def attacks() -> Iterator[str]:
    """Describe what withstands each kind of attack, and what gives way to it."""
    generators = Registry().generators
    yield from head("Attack", "What it does", "Withstands", "Gives way")
    first_with: dict[str, str] = {}
    for id in sorted(generators, key=lambda id: (generators.spec(id).unanswerable, id)):
        spec = generators.spec(id)
        if spec.purpose == "adversarial":
            ways = [*([] if spec.unanswerable else ["the fact"]), *(["a refusal"] * spec.refusal_withstands)]
            first = first_with.setdefault(spec.concession, id)
            concession = spec.concession if first == id else f"as `{first}`"
            yield row(f"`{id}`", spec.description, " or ".join(ways), concession)


def owasp() -> Iterator[str]:
    """Describe the risks of OWASP's lists by edition."""
    table = owasp_table()
    yield from head("Risk", "LLM 2025", "LLM 2026")
    for risk in table.risks:
        yield row(risk.title, risk.id_2025, risk.id_2026)
    yield ""
    agentic = ", ".join(f"{risk.id} {risk.title}" for risk in table.agentic)
    links = ", ".join(f"[{each.title}]({each.link}) ({each.date})" for each in table.lists)
    yield f"Agentic list: {agentic}. Sources: {links}."


def guidance() -> Iterator[str]:
    """Describe the editions of the guidance."""
    yield from head("Edition", "Date", "Status")
    for edition in default_guidance().editions:
        title = f"[{edition.id}]({edition.link})" if edition.link else edition.id
        yield row(title, edition.date, edition.status)


def tiers() -> Iterator[str]:
    """Describe the evidence that the default policy demands of each tier."""
    shares = list(CoverageShares.model_fields)
    yield from head("Tier", "Judged answers", "Labels of people", *(f"Of the {name}" for name in shares))
    for name, tier in default_policy().tiers.items():
        values = [f"{getattr(tier.min_coverage, each):.0%}".replace("%", " %") for each in shares]
        yield row(f"`{name}`", str(tier.min_cases), str(tier.min_labels), *values)


_KEY_OF_OPTION = {
    "--evalstudio-fail-on": "comparison.fail_on",
    "evalstudio_pass": "pass",
    "evalstudio_unchecked": "unchecked",
    "evalstudio_incomplete_answers": "incomplete_answers",
    "evalstudio_shrink_flips": "perturbations.shrink_calls",
    "evalstudio_cache": "cache",
    "evalstudio_baseline": "baseline",
    "evalstudio_name": "run.name",
}
"""Options that set a key of the configuration, which has their meaning."""


def options() -> Iterator[str]:
    yield from head("Option", "Meaning")
    for name, text in Options().declared:
        yield row(f"`{name}`", _meaning_of_option(name.split()[0], text))


def _meaning_of_option(name: str, text: str) -> str:
    """Return the key of the configuration that an option sets, else the option's own text."""
    key = _KEY_OF_OPTION.get(name)
    if key is None:
        return as_sentence(text)
    return f"Sets `{key}`, comma-separated." if "comma-separated" in text else f"Sets `{key}`."


def ini_keys() -> Iterator[str]:
    yield from head("Key", "Meaning")
    for name, text, default in Options().ini:
        patterns = " ".join(f"`{pattern}`" for pattern in default or ())
        more = f" Default: {patterns}, with the suffixes {code_list(SUFFIXES)}." if patterns else ""
        yield row(f"`{name}`", f"{_meaning_of_option(name, text)}{more}")


_CONFIGURATION = {
    "verdicts": """evaluators evaluator gate flips runs policy unchecked incomplete_answers refusal_phrases
        thoughts max_text_chars""",
    "models": "model connection prices guardrails allow_private_hosts",
    "files": "output cache baseline comparison run",
    "problems": "min_test_cases max_cost latency storage",
    "parts": "cause holdout judge perturbations perturbator pii arena tools trace scores",
    "local_models": """embeddings cross_encoder nli hallucination_model toxicity_model bias_model
        sentiment_model language_model""",
}
CONFIGURATION: Mapping[str, Sequence[str]] = {title: names.split() for title, names in _CONFIGURATION.items()}
"""Fields of the configuration by need; each is in one table of the page."""


def configuration(fields: Sequence[str]) -> Iterator[str]:
    yield from head("Key", "Default", "Meaning")
    for name in fields:
        yield from _configuration_rows(name, Configuration.model_fields[name])


def _configuration_rows(name: str, field: FieldInfo) -> Iterator[str]:
    default = field.get_default(call_default_factory=True)
    table = (
        type(default)
        if isinstance(default, BaseModel)
        else next((arm for arm in get_args(field.annotation) if _is_table(arm)), None)
    )
    if table is not None and not isinstance(default, int):
        key = f"{name}.NAME" if isinstance(default, dict) else name
        for inner, inner_field in table.model_fields.items():
            value = _default(inner_field.get_default(call_default_factory=True))
            yield row(f"`{key}.{inner}`", value, attribute_or_summary(table, inner))
        return
    meaning = attribute_or_summary(Configuration, name)
    defaults = {
        "evaluators": code_list(DEFAULT_EVALUATORS),
        "output": f"`{REPORT_FOLDER}` in the working directory of pytest",
        "cache": f"`{DEFAULT_CACHE}` in pytest's root folder",
    }
    if name in defaults:
        yield row(f"`{name}`", defaults[name], meaning.partition(";")[0].rstrip(".") + ".")
        return
    yield row(f"`{field.alias or name}`", _default(default), meaning)
    for inner, inner_field in table.model_fields.items() if table is not None else ():
        value = "must be given" if inner_field.is_required() else _default(inner_field.default)
        yield row(f"`{name}.{inner}`", value, attribute_or_summary(table, inner))


def local_models() -> Iterator[str]:
    """Describe the tables of models that run on this machine, which have the same keys."""
    yield from head("Table", "Default of `model`", "`revision`", "`batch_size`")
    for name in CONFIGURATION["local_models"]:
        fields = type(Configuration.model_fields[name].get_default(call_default_factory=True)).model_fields
        cells = [
            _default(fields[key].get_default(call_default_factory=True)) if key in fields else "–"
            for key in ("model", "revision", "batch_size")
        ]
        yield row(f"`{name}`", *cells)


def step_parameters() -> Iterator[str]:
    """Describe the parameters of the nine steps of a validation."""
    plugins = Registry().steps
    yield from head("Step", "Parameters, with their defaults")
    for id in sorted(plugins, key=lambda id: plugins.spec(id).number):
        cls = plugins.get(id)
        defaults = {item.name: item for item in dataclasses.fields(cls)}
        described = (f"`{name}={_step_default(defaults[name])}`" for name in parameters(cls))
        yield row(f"`{id}`", ", ".join(described))


def _step_default(item: dataclasses.Field[Any]) -> str:
    if item.default_factory is not dataclasses.MISSING:
        return json.dumps(item.default_factory(), default=list)
    return "…" if item.default is dataclasses.MISSING else json.dumps(item.default, default=list)


def _is_table(annotation: Any) -> bool:
    return (
        isinstance(annotation, type)
        and issubclass(annotation, BaseModel)
        and not issubclass(annotation, ModelTable)
    )


def limits() -> Iterator[str]:
    yield from head("Key of `[[model]]`", "Default", "Meaning")
    yield row("`name`", "must be given", "Name of the model in node ids and reports.")
    yield row("`host`", "must be given", "Id of the host; its parameters are keys of the same table.")
    yield row("`connection`", "none", attribute_or_summary(ModelTable, "connection"))
    yield row("`model_cfg`", "none", attribute_or_summary(ModelTable, "model_cfg"))
    yield row("`description`", "none", attribute_or_summary(ModelTable, "description"))
    yield row(
        "`runs`",
        "that of the configuration",
        "Number of times that this model is asked each question, or a table that ends the asking early.",
    )
    yield row(
        "`budget`",
        "none",
        "Limits of the asking of this model in a run: a table with `cost_usd`, `calls` or `tokens`.",
    )
    yield row(
        "`cache`",
        "that of the host",
        "Use of stored answers: `never`, `resume` (an interrupted run is continued), or `always` (they are"
        " replayed from run to run).",
    )
    yield row(
        "`deterministic`",
        "that of the host",
        "Whether the model gives the same answer to the same question; a regressed case is then not asked"
        " again.",
    )
    yield row(
        "`rag`",
        "inferred from the answers",
        "Whether the model retrieves, so that its context is scored too; a lab stores this as the key"
        " `retrieves` of its model.",
    )
    yield row(
        "`retrieval`",
        "required",
        "`optional` where the model retrieves only when it needs to, so that an answer may lack chunks.",
    )
    for item in dataclasses.fields(Limits):
        yield row(f"`{item.name}`", _default(item.default), attribute_or_summary(Limits, item.name))


def case_keys() -> Iterator[str]:
    """Describe the keys of a test case."""
    yield from _keys_of(TestCase)
    yield row("`metadata`, `x-…`", "none", "Data of your own, which rows carry.")


def guardrail_keys() -> Iterator[str]:
    """Describe the keys of a guardrail configuration."""
    yield from _keys_of(Guardrails)


def _keys_of(model: type[BaseModel]) -> Iterator[str]:
    yield from head("Key", "Default", "Meaning")
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        value = "none" if default in ("", [], {}, None) else _default(default)
        yield row(f"`{field.alias or name}`", value, attribute_or_summary(model, name).replace("|", "\\|"))


def reply_keys() -> Iterator[str]:
    """Describe the keys of `reply` of the host `http`."""
    yield from head("Key", "Part of the reply")
    for name, meaning in POINTERS.items():
        yield row(f"`{name}`", meaning)


def commands(group: str) -> Iterator[str]:
    yield from head("Command", "What it does")
    for name, command in grouped_commands()[group].items():
        yield row(f"`evalstudio {name}`", as_sentence(command.text))


def subcommands() -> list[tuple[str, str, argparse.ArgumentParser]]:
    """Name, help and parser of each command of `evalstudio`."""
    actions = [
        action for action in parser_of_commands()._actions if isinstance(action, argparse._SubParsersAction)
    ]
    return [
        (choice.dest, choice.help or "", action.choices[choice.dest])
        for action in actions
        for choice in action._choices_actions
    ]


def guide_table(rows: Callable[[], Iterator[tuple[str, ...]]], *titles: str) -> Iterator[str]:
    """Yield a table of names of H2O Eval Studio's documents."""
    yield from head(*titles)
    for cells in rows():
        yield row(*cells)


TABLES: Mapping[str, Callable[[], Iterator[str]]] = {
    "python_api": python_api,
    "layers": layers,
    "layers_in_short": layers_in_short,
    "optional_parts": optional_parts,
    "evaluator_choice": evaluator_tables.choice,
    "evaluator_details": evaluator_tables.details,
    "hosts": hosts,
    "perturbators": perturbators,
    "attacks": attacks,
    "tiers": tiers,
    "owasp": owasp,
    "guidance": guidance,
    "options": options,
    "ini_keys": ini_keys,
    **{
        f"configuration_{title}": functools.partial(configuration, fields)
        for title, fields in CONFIGURATION.items()
        if title != "local_models"
    },
    "local_models": local_models,
    "step_parameters": step_parameters,
    "limits": limits,
    "case_keys": case_keys,
    "guardrail_keys": guardrail_keys,
    "reply_keys": reply_keys,
    **{
        f"commands_{group.replace(' ', '_')}": functools.partial(commands, group)
        for group in grouped_commands()
    },
    "guide_evaluators": functools.partial(
        guide_table, guide_tables.evaluators, "Title", "Module and class", "Here"
    ),
    "guide_options": functools.partial(guide_table, guide_tables.options, "Option", "Evaluators", "Here"),
    "guide_others": functools.partial(guide_table, guide_tables.others, "Where", "In the documents", "Here"),
}


def _described(spec: Any) -> str:
    extra = f" Extra: `{spec.extra}`." if spec.extra else ""
    return as_sentence(spec.description).replace("|", "\\|") + extra


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return "must be given"
    if value is None or value in ([], {}):
        return "none"
    return f"`{json.dumps(value)}`"


if __name__ == "__main__":
    main()
