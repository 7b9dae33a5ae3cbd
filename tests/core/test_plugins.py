"""Declarations: decorators fill the Spec from the class and refuse what is malformed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.generator import generator
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.core.plugins.perturbator import perturbator
from pytest_evalstudio.core.plugins.registry import PluginRegistry, Registry
from pytest_evalstudio.core.plugins.section import section
from pytest_evalstudio.core.plugins.step import StepSpec, step

SCORED = {"metrics": (Metric("m", primary=True),), "score": lambda self, cases, tools: []}
SERVED = dict.fromkeys(("prepare", "answer", "close"), lambda self, *_: None)
DECORATORS = {
    "evaluator": (evaluator("it", name="It", domain="d", needs=("actual_output",)), SCORED),
    "host": (host("it", name="It", kind="llm"), SERVED),
    "perturbator": (perturbator("it", name="It"), {"perturb": lambda self, text, intensity, seed: None}),
    "step": (step("it", name="It", number=1), {"run": lambda self, context: None}),
    "generator": (generator("it", name="It"), {"drafts": lambda self, excerpt, corpus, rng: []}),
}


def declared(kind, omissions=(), **members):
    decorate, defaults = DECORATORS[kind]
    attributes = {name: value for name, value in defaults.items() if name not in omissions}
    return decorate(dataclass(frozen=True)(type("It", (), {**attributes, **members}))).__evalstudio__


def test_a_plain_class_declares_no_capability():
    spec = declared("evaluator")
    assert not any((spec.aggregates, spec.refines_applicability, spec.dynamic_needs, spec.own_judge))
    assert (spec.prompts, spec.path_options, spec.dynamic_requirements) == ((), (), False)
    assert not declared("host").opens
    assert not declared("perturbator").asks_judge
    assert (declared("step").configured, declared("step").reads) == ((), False)


def test_capabilities_of_a_class_are_declared():
    spec = declared(
        "evaluator",
        aggregate=lambda self, rows: None,
        not_applicable=lambda self, case: "",
        requires=property(lambda self: ("judge",)),
        prompts=("p",),
    )
    assert (spec.aggregates, spec.refines_applicability, spec.dynamic_requirements) == (True, True, True)
    assert spec.prompts == ("p",)
    assert declared("host", open=lambda self, tools: None).opens
    assert declared("perturbator", lacks=lambda self: "").lacks
    asking = {"asks_judge": property(lambda self: True), "consider": lambda self, text: None}
    assert declared("perturbator", **asking).asks_judge
    assert declared("step", configured=("model",), reads=lambda self, home, base: ()).configured == ("model",)
    assert declared("step", configured=property(lambda self: ())).dynamic_configured
    assert declared("generator").drafts


@pytest.mark.parametrize(
    ("kind", "omissions", "members", "message"),
    [
        (
            "evaluator",
            ("score",),
            {},
            "evaluator 'it': It has no method score; add score(self, cases, tools)",
        ),
        (
            "evaluator",
            (),
            {"prompts": "byop"},
            "evaluator 'it': prompts must be a tuple of names, found 'byop'",
        ),
        ("evaluator", (), {"path_options": ("file",)}, "path_options: 'file' is unknown; there are none"),
        ("evaluator", (), {"aggregate": 1}, "evaluator 'it': aggregate must be a method"),
        ("evaluator", (), {"needs": "context"}, "evaluator 'it': needs must be a property, found 'context'"),
        ("evaluator", (), {"metrics": [Metric("m", primary=True)]}, "metrics must be a tuple of Metric"),
        ("host", ("answer",), {}, "host 'it': It has no method answer; add async def answer(self, prompt)"),
        ("perturbator", ("perturb",), {}, "perturbator 'it': It has no method perturb"),
        ("perturbator", (), {"asks_judge": True}, "perturbator 'it': It has no method consider"),
        ("step", ("run",), {}, "step 'it': It has no method run"),
        ("step", (), {"configured": "model"}, "step 'it': configured must be a tuple of names"),
        ("generator", ("drafts",), {}, "generator 'it': nothing makes its questions"),
    ],
)
def test_a_malformed_class_is_refused_where_it_is_declared(kind, omissions, members, message):
    with pytest.raises(TypeError) as exc_info:
        declared(kind, omissions, **members)
    assert message in str(exc_info.value)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: evaluator("no id", name="", domain="", needs=()), "an id consists of letters, digits"),
        (lambda: evaluator("it", name="", domain="", needs=("contxt",)), "needs: 'contxt' is unknown"),
        (
            lambda: host("it", name="", kind="chat"),
            "host 'it': kind: 'chat' is unknown; known: llm, rag, both",
        ),
        (lambda: perturbator("it", name="", intensities=("SOME",)), "intensities: 'SOME' is unknown"),
        (lambda: generator("it", name="", purpose="fun"), "purpose: 'fun' is unknown"),
        (lambda: section("it", title=" "), "section 'it': the title is empty"),
        (
            lambda: section("it", title="It", tab="nowhere"),
            "section 'it': there is no tab 'nowhere'",
        ),
        (lambda: section("it", title="It")(int), "section 'it': decorate a function"),
    ],
)
def test_a_malformed_declaration_is_refused(declare, message):
    with pytest.raises(TypeError) as exc_info:
        declare()
    assert message in str(exc_info.value)


def test_every_kind_is_in_the_registry_with_the_same_seams():
    registry = Registry()
    assert [kind.kind for kind in registry.kinds] == [*DECORATORS, "section"]
    for kind in registry.kinds:
        assert callable(getattr(registry, f"add_{kind.kind}"))
        assert all(spec.name and spec.description for spec in kind.specs())


STEP = """
from dataclasses import dataclass
from pytest_evalstudio import StepResult, step


@step("{id}", name="Step", number=1)
@dataclass(frozen=True)
class It:
    "Does nothing."

    def run(self, context):
        return StepResult(summary="done")
"""


def test_the_folder_holds_modules_packages_and_folders_of_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "__init__.py": "",
        "alone.py": STEP.format(id="alone"),
        "_helper.py": "1 / 0",
        "several/__init__.py": "",
        "several/chore.py": STEP.format(id="several"),
        "several/method.py": "1 / 0",
        "family/__init__.py": "",
        "family/member.py": STEP.format(id="member"),
    }
    for name, content in files.items():
        file = tmp_path / "many_steps" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(PluginRegistry("chore", "many_steps", StepSpec)) == ["alone", "member", "several"]
    assert "many_steps.several.method" not in sys.modules
