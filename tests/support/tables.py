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
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import msgspec
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import pytest_evalstudio
from pytest_evalstudio import Registry, plugin
from pytest_evalstudio.asking.limits import Limits
from pytest_evalstudio.cli.main import parser_of_commands
from pytest_evalstudio.contrib.redteam.owasp import owasp_table
from pytest_evalstudio.contrib.validation.workflow.guidance import default_guidance
from pytest_evalstudio.contrib.validation.workflow.policy import CoverageShares, default_policy
from pytest_evalstudio.core.attachments import DOCX, MEDIA_TYPES
from pytest_evalstudio.core.cases import Answer, Exchange
from pytest_evalstudio.core.defaults import REPORT_FOLDER
from pytest_evalstudio.core.docstrings import summary_of
from pytest_evalstudio.core.flips import Flip
from pytest_evalstudio.core.kept import Kept
from pytest_evalstudio.core.outcomes import Metric, Outcome, Verdict
from pytest_evalstudio.core.plugins.contrib import contribs
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.formats.config import DEFAULT_EVALUATORS, Configuration
from pytest_evalstudio.formats.guardrails import Guardrails
from pytest_evalstudio.formats.model_tables import ModelTable
from pytest_evalstudio.formats.suite import TestCase
from pytest_evalstudio.hosts._replies import POINTERS
from pytest_evalstudio.plugin.options import SUFFIXES
from pytest_evalstudio.plugin.settings import DEFAULT_CACHE
from pytest_evalstudio.record.items import RecordRow
from pytest_evalstudio.record.schema import EvaluatorEntry, Item, ModelEntry, Run

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import guide_tables
from support.api_markdown import markdown_of
from support.documented import as_sentence, attribute_or_summary, attribute_text, paragraphs, source_line

DOCS = Path(__file__).parents[2] / "docs"
NOT_IN_FILES = ("folder", "file")
"""Fields of Configuration that say where it was read from."""

_NAMES = {
    "suites": """TestSuite Test TestCase TestLab Model LlmDataset Row Relationship LabBuilder perturb
        generate_test_cases Generated""",
    "evaluation": (
        "evaluate Results make_case build_report Report Problem score_table ScoredTable"
        " configured_hosts ConfiguredHost base_models host_defaults eval_model"
    ),
    "fixtures": "Check AskedModel EvalCase EvalModel EvalPerturb EvalSuite EvalGuard Flip",
    "plugins": """Case Prompt Turn Attachment Answer ToolCall Step Metric Outcome Finding Fragment Tools
        evaluator
        ModelScore ScoredRow host HostFault CollectionDocument recorded_tool perturbator Change step
        StepResult generator Corpus Excerpt Draft
        section Registry""",
    "errors": "EvalStudioError ConfigurationError DataError EvaluationError ThresholdMissed",
}
API: Mapping[str, Sequence[str]] = {task: names.split() for task, names in _NAMES.items()}
"""Public names by task; a page of the reference has those of one task."""

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
        lambda found: found["start"] + "\n".join(TABLES[found["name"]]()) + "\n" + found["end"], text
    )


def table_in(text: str, name: str) -> list[list[str]]:
    """Return the cells of a table, without its head."""
    body = next(table["body"] for table in _TABLE.finditer(text) if table["name"] == name)
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in body.strip().splitlines()[2:]
    ]


def api(task: str) -> Iterator[str]:
    """Yield the description of the public names of a task."""
    lines = [line for name in API[task] for line in markdown_of(name, getattr(pytest_evalstudio, name))]
    for line, following in itertools.zip_longest(lines, lines[1:]):
        if line or following:  # no two empty lines in a row
            yield line


def api_names() -> Iterator[str]:
    yield from _head("Task", "Names")
    for task, names in API.items():
        yield _row(f"[{task.capitalize()}](python-{task}.md)", ", ".join(f"`{name}`" for name in names))


def layers() -> Iterator[str]:
    """Yield the layers of the contract in pyproject.toml, the highest first."""
    yield from _head("Layer", "Package", "Content")
    rows = _layers()
    for number, packages in zip(range(len(rows) - 1, -1, -1), rows, strict=True):
        for position, package in enumerate(packages):
            yield _row("" if position else str(number), f"`{package}`", _summary_of_package(package))


def layers_in_short() -> Iterator[str]:
    """Yield the layers as text, the highest first."""
    yield "```text"
    yield from textwrap.wrap(" > ".join(" | ".join(packages) for packages in _layers()), 110)
    yield "```"


def optional_parts() -> Iterator[str]:
    yield from _head("Part", "Content")
    for contrib in contribs():
        yield _row(f"`{contrib.name}`", _summary_of_package(f"contrib.{contrib.name}"))


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


def evaluators() -> Iterator[str]:
    plugins = Registry().evaluators
    yield from _head("Evaluator", "Needs", "Primary metric", "What it measures")
    for id in plugins:
        spec = plugins.spec(id)
        yield _row(
            f"`{id}`" + (" \\*" if id in DEFAULT_EVALUATORS else ""),
            ", ".join(spec.needs),
            _primary(spec),
            _described(spec),
        )


def hosts() -> Iterator[str]:
    plugins = Registry().hosts
    yield from _head(
        "Host", "Kind", "Default of `cache`", "Images and files", "Source of answers", "Parameters"
    )
    for id in plugins:
        spec = plugins.spec(id)
        named = ", ".join(f"`{name}`" for name in parameters(plugins.get(id)))
        yield _row(
            f"`{id}`",
            "LLM or RAG" if spec.kind == "both" else spec.kind.upper(),
            "`resume`" if spec.caches else "`never`",
            _media(spec.media_types),
            _described(spec),
            named,
        )


def _media(media_types: Sequence[str]) -> str:
    if set(media_types) >= set(MEDIA_TYPES):
        return "all"
    names = {DOCX: "DOCX", "text/plain": "text", "text/markdown": "Markdown"}
    return ", ".join(names.get(each, each.rpartition("/")[2].upper()) for each in media_types) or "–"


def perturbators() -> Iterator[str]:
    plugins = Registry().perturbators
    yield from _head("Perturbator", "Intensities", "What it does", "Options")
    for id in plugins:
        spec = plugins.spec(id)
        levels = (
            "–"
            if not spec.intensities
            else (
                "all" if len(spec.intensities) > 3 else ", ".join(level.lower() for level in spec.intensities)
            )
        )
        meaning = "" if spec.keeps_meaning else " \\*"
        yield _row(
            f"`{id}`{meaning}",
            levels,
            spec.description,
            ", ".join(f"`{name}`" for name in parameters(plugins.get(id))),
        )


def attacks() -> Iterator[str]:
    """Describe what withstands each kind of attack, and what gives way to it."""
    generators = Registry().generators
    yield from _head("Attack", "What it does", "Withstands", "Gives way")
    for id in sorted(generators, key=lambda id: (generators.spec(id).unanswerable, id)):
        spec = generators.spec(id)
        if spec.purpose == "adversarial":
            ways = [*([] if spec.unanswerable else ["the fact"]), *(["a refusal"] * spec.refusal_withstands)]
            yield _row(f"`{id}`", spec.description, " or ".join(ways), spec.concession)


def owasp() -> Iterator[str]:
    """Describe the risks of OWASP's lists by edition."""
    table = owasp_table()
    yield from _head("Risk", "LLM 2025", "LLM 2026")
    for risk in table.risks:
        yield _row(risk.title, risk.id_2025, risk.id_2026)
    yield ""
    agentic = ", ".join(f"{risk.id} {risk.title}" for risk in table.agentic)
    links = ", ".join(f"[{each.title}]({each.link}) ({each.date})" for each in table.lists)
    yield f"Agentic list: {agentic}. Sources: {links}."


def guidance() -> Iterator[str]:
    """Describe the editions of the guidance."""
    yield from _head("Id", "Edition", "Date", "Status")
    for edition in default_guidance().editions:
        title = f"[{edition.title}]({edition.link})" if edition.link else edition.title
        yield _row(edition.id, title, edition.date, edition.status)


def tiers() -> Iterator[str]:
    """Describe the evidence that the default policy demands of each tier."""
    shares = list(CoverageShares.model_fields)
    yield from _head("Tier", "Judged answers", "Labels of people", *(f"Of the {name}" for name in shares))
    for name, tier in default_policy().tiers.items():
        values = [f"{getattr(tier.min_coverage, each):.0%}".replace("%", " %") for each in shares]
        yield _row(f"`{name}`", str(tier.min_cases), str(tier.min_labels), *values)


def options() -> Iterator[str]:
    result = Options()
    yield from _head("Option", "Meaning")
    for name, text in result.declared:
        yield _row(f"`{name}`", as_sentence(text))
    for name, text, default in result.ini:
        patterns = " ".join(f"`{pattern}`" for pattern in default or ())
        more = f" Default: {patterns}, with the suffixes {_listed(SUFFIXES)}." if patterns else ""
        yield _row(f"`{name}` (ini key)", f"{as_sentence(text)}{more}")


def configuration() -> Iterator[str]:
    yield from _head("Key", "Default", "Meaning")
    elsewhere = {
        "evaluators": _listed(DEFAULT_EVALUATORS),
        "output": f"`{REPORT_FOLDER}` in the working directory of pytest",
        "cache": f"`{DEFAULT_CACHE}` in pytest's root folder",
    }
    for name, field in Configuration.model_fields.items():
        if name in NOT_IN_FILES:
            continue
        default = field.get_default(call_default_factory=True)
        table = (
            type(default)
            if isinstance(default, BaseModel)
            else next((arm for arm in get_args(field.annotation) if _is_table(arm)), None)
        )
        if table is not None and not isinstance(default, int):
            for inner, inner_field in table.model_fields.items():
                key = f"{name}.NAME" if isinstance(default, dict) else name
                yield _row(
                    f"`{key}.{inner}`",
                    _default(inner_field.get_default(call_default_factory=True)),
                    attribute_or_summary(table, inner),
                )
        elif name in elsewhere:
            yield _row(
                f"`{name}`",
                elsewhere[name],
                attribute_or_summary(Configuration, name).partition(";")[0].rstrip(".") + ".",
            )
        else:
            yield _row(
                f"`{field.alias or name}`", _default(default), attribute_or_summary(Configuration, name)
            )
            for inner, inner_field in table.model_fields.items() if table is not None else ():
                is_needed = inner_field.is_required()
                shown = "must be given" if is_needed else _default(inner_field.default)
                yield _row(f"`{name}.{inner}`", shown, attribute_or_summary(table, inner))


def _is_table(annotation: Any) -> bool:
    return (
        isinstance(annotation, type)
        and issubclass(annotation, BaseModel)
        and not issubclass(annotation, ModelTable)
    )


def limits() -> Iterator[str]:
    yield from _head("Key of `[[model]]`", "Default", "Meaning")
    yield _row("`name`", "must be given", "Name of the model in node ids and reports.")
    yield _row("`host`", "must be given", "Id of the host; its parameters are keys of the same table.")
    yield _row("`connection`", "none", attribute_or_summary(ModelTable, "connection"))
    yield _row("`model_cfg`", "none", attribute_or_summary(ModelTable, "model_cfg"))
    yield _row("`description`", "none", attribute_or_summary(ModelTable, "description"))
    yield _row(
        "`runs`",
        "that of the configuration",
        "Number of times that this model is asked each question, or a table that ends the asking early.",
    )
    yield _row(
        "`budget`",
        "none",
        "Limits of the asking of this model in a run: a table with `cost_usd`, `calls` or `tokens`.",
    )
    yield _row(
        "`cache`",
        "that of the host",
        "Use of stored answers: `never`, `resume` (an interrupted run is continued), or `always` (they are"
        " replayed from run to run).",
    )
    yield _row(
        "`deterministic`",
        "that of the host",
        "Whether the model gives the same answer to the same question; a regressed case is then not asked"
        " again.",
    )
    yield _row(
        "`rag`",
        "inferred from the answers",
        "Whether the model retrieves, so that its context is scored too; a lab stores this as the key"
        " `retrieves` of its model.",
    )
    yield _row(
        "`retrieval`",
        "required",
        "`optional` where the model retrieves only when it needs to, so that an answer may lack chunks.",
    )
    for item in dataclasses.fields(Limits):
        yield _row(f"`{item.name}`", _default(item.default), attribute_or_summary(Limits, item.name))


def case_keys() -> Iterator[str]:
    """Describe the keys of a test case."""
    yield from _keys_of(TestCase)
    yield _row("`metadata`, `x-…`", "none", "Data of your own, which rows carry.")


def guardrail_keys() -> Iterator[str]:
    """Describe the keys of a guardrail configuration."""
    yield from _keys_of(Guardrails)


def _keys_of(model: type[BaseModel]) -> Iterator[str]:
    yield from _head("Key", "Default", "Meaning")
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True)
        shown = "none" if default in ("", [], {}, None) else _default(default)
        yield _row(f"`{field.alias or name}`", shown, attribute_or_summary(model, name).replace("|", "\\|"))


def reply_keys() -> Iterator[str]:
    """Describe the keys of `reply` of the host `http`."""
    yield from _head("Key", "Part of the reply")
    for name, meaning in POINTERS.items():
        yield _row(f"`{name}`", meaning)


def commands() -> Iterator[str]:
    yield from _head("Command", "What it does")
    for name, text, parser in subcommands():
        usage = " ".join(parser.format_usage().split()).removeprefix("usage: ").replace(" [-h]", "")
        yield _row(f"`{usage}`".replace("|", "\\|"), text)
        assert name in usage


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


def evaluator_details() -> Iterator[str]:
    """Describe each evaluator: meaning, metrics, options, source."""
    plugins = Registry().evaluators
    for id in plugins:
        spec, cls = plugins.spec(id), plugins.get(id)
        yield from ("", f"## {id}", "")
        yield from paragraphs(cls)
        facts = [
            f"domain {spec.domain}",
            f"method {', '.join(spec.method) or '–'}",
            f"needs {', '.join(spec.needs) or 'nothing'}",
            *([f"extra `{spec.extra}`"] if spec.extra else []),
            *([f"scope {spec.scope}"] if spec.scope != "row" else []),
        ]
        yield from ("", f"{spec.name}: {'; '.join(facts)}.", "")
        yield from _head("Metric", "Better", "Range", "Default threshold", "Meaning")
        for metric in spec.metrics:
            low, high = metric.range
            shown = f"{low:g} to {high:g}" if high != float("inf") else f"{low:g} or more"
            primary = " (primary)" if metric.primary else ""
            yield _row(
                f"`{metric.key}`{primary}",
                metric.better,
                shown,
                f"{metric.threshold:g}",
                as_sentence(metric.description or metric.name).replace("|", "\\|"),
            )
        options = parameters(cls)
        if options:
            defaults = {field.name: _default_of(field) for field in dataclasses.fields(cls)}
            listed = (f"`{name}` ({defaults.get(name, 'none')})" for name in options)
            yield from ("", f"Options, with their defaults: {', '.join(listed)}.")
        yield from ("", f"Source: {source_line(cls)}", "", f"Agreement with people: {_agreement(id)}.")
        if _needs_labels(spec):
            yield from ("", _WITHOUT_LABELS)


_WITHOUT_LABELS = (
    "Without labels of your own, do not gate on it: on unseen sets such measures had an area of 0.815, 0.672"
    " and 0.563; with 10 % of the good answers flagged, they found 44 % and 24 % of the bad ones."
    " Calibrate the threshold by [your labels](../how-to/calibration.md), or use an entailment model or a"
    " judge ([more](../explanation/agreement.md#without-labels-of-your-own))."
)


def _needs_labels(spec: EvaluatorSpec) -> bool:
    """Report whether an evaluator grades support by words or embeddings, so that a threshold needs labels."""
    has_grades = spec.measures_support and not spec.primary.boolean
    return has_grades and not {"judge", "nli", "hallucination_model"} & set(spec.requires)


_RECORD = (Run, EvaluatorEntry, Metric, ModelEntry, Item, RecordRow, Answer, Exchange, Outcome, Verdict, Flip)


def record() -> Iterator[str]:
    """Describe the objects of a record's lines."""
    for struct in _RECORD:
        hints = typing.get_type_hints(struct)  # without what a record keeps of the fields
        declared = typing.get_type_hints(struct, include_extras=True)
        yield from ("", f"## {struct.__name__}", "", as_sentence(summary_of(struct)), "")
        yield from _head("Key", "Type", "Meaning")
        for item in msgspec.structs.fields(struct):
            hint = hints[item.name]
            if Kept.NOT in getattr(declared[item.name], "__metadata__", ()):
                continue
            kind = str(hint) if "[" in str(hint) else getattr(hint, "__name__", None) or str(hint)
            kind = re.sub(r"(?:pytest_evalstudio|typing|types|collections)[\w.]*\.", "", kind)
            meaning = attribute_text(struct, item.name) or "–"
            yield _row(f"`{item.encode_name}`", f"`{kind}`".replace("|", "\\|"), meaning.replace("|", "\\|"))


@functools.cache
def _agreement(id: str) -> str:
    """Return the areas under the ROC curve of an evaluator's first metric in the table of agreement."""
    page = (DOCS / "explanation" / "agreement.md").read_text(encoding="utf-8")
    head = re.search(r"^\| Metric \| (.+) \|$", page, re.MULTILINE)
    row = re.search(rf"^\| `{id}`(?: \w+)? \| (.+) \|$", page, re.MULTILINE)
    if head is None or row is None or "not measured" in row[1]:
        return "not measured: no data or weights"
    areas = {
        sample: cell.partition(" ")[0]
        for sample, cell in zip(head[1].split(" | "), row[1].split(" | "), strict=True)
    }
    if set(areas.values()) == {"fitted"}:
        return "fitted to the samples; the page has figures on samples that it was not fitted to"
    listed = ", ".join(f"{sample} {area}" for sample, area in areas.items() if area != "–")
    return f"area under the ROC curve {listed} (0.5 is chance)"


def _default_of(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{json.dumps(field.default, default=str)}`"
    if field.default_factory is not dataclasses.MISSING:
        return f"`{json.dumps(field.default_factory(), default=list)}`"
    return "must be given"


def guide_table(rows: Callable[[], Iterator[tuple[str, ...]]], *head: str) -> Iterator[str]:
    """Yield a table of names of H2O Eval Studio's documents."""
    yield from _head(*head)
    for row in rows():
        yield _row(*row)


TABLES: Mapping[str, Callable[[], Iterator[str]]] = {
    **{f"api_{task}": functools.partial(api, task) for task in API},
    "api_names": api_names,
    "layers": layers,
    "layers_in_short": layers_in_short,
    "optional_parts": optional_parts,
    "evaluators": evaluators,
    "evaluator_details": evaluator_details,
    "record": record,
    "hosts": hosts,
    "perturbators": perturbators,
    "attacks": attacks,
    "tiers": tiers,
    "owasp": owasp,
    "guidance": guidance,
    "options": options,
    "configuration": configuration,
    "limits": limits,
    "case_keys": case_keys,
    "guardrail_keys": guardrail_keys,
    "reply_keys": reply_keys,
    "commands": commands,
    "guide_evaluators": functools.partial(
        guide_table, guide_tables.evaluators, "Title", "Module and class", "Here"
    ),
    "guide_options": functools.partial(guide_table, guide_tables.options, "Option", "Evaluators", "Here"),
    "guide_others": functools.partial(guide_table, guide_tables.others, "Where", "In the documents", "Here"),
}


def _primary(spec: EvaluatorSpec) -> str:
    metric = spec.primary
    return f"`{metric.key}` {'≥' if metric.better == 'higher' else '≤'} {metric.threshold:g}"


def _described(spec: Any) -> str:
    extra = f" Extra: `{spec.extra}`." if spec.extra else ""
    return as_sentence(spec.description).replace("|", "\\|") + extra


def _default(value: Any) -> str:
    if value is PydanticUndefined:
        return "must be given"
    if value is None or value in ([], {}):
        return "none"
    return f"`{json.dumps(value)}`"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _head(*cells: str) -> list[str]:
    return [_row(*cells), _row(*("---" for _ in cells))]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
