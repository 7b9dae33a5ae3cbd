from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.core.plugins import index
from pytest_evalstudio.core.plugins import registry as module
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.host import host
from pytest_evalstudio.core.plugins.perturbator import PerturbatorSpec, perturbator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.plugins.step import step
from support.plugin_index import index_text


@evaluator("politeness", name="Politeness", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Politeness:
    """Says please.

    More of it.
    """

    word: str = "please"
    words: tuple[str, ...] = ()
    metrics = (Metric("politeness", primary=True), Metric("warmth", better="lower"))

    def score(self, cases, tools):
        return []


@host("parrot", name="Parrot", kind="llm")
@dataclass
class Parrot:
    """Says it again."""

    url: str

    async def prepare(self, corpus): ...

    async def answer(self, prompt): ...

    async def close(self): ...


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Declares an entry point of an installed package."""

    def declare(group, value):
        package = tmp_path / group / "theirs-1.0.dist-info"
        package.mkdir(parents=True)
        (package / "METADATA").write_text("Name: theirs\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text(f"[{group}]\ntheirs = {value}\n")
        monkeypatch.syspath_prepend(package.parent)

    return declare


def test_each_file_of_the_folders_is_known():
    registry = Registry()
    assert {"text_matching", "rouge", "pii_leakage"} <= set(registry.evaluators)
    assert {"extractive", "python", "openai_compatible", "scripted"} <= set(registry.hosts)
    assert list(registry.evaluators) == sorted(registry.evaluators)
    assert not any(name.startswith("_") or name == "detectors" for name in registry.evaluators)


@pytest.mark.part("validation")
def test_a_package_with_a_module_of_its_kind_declares_it():
    steps = Registry().steps
    assert (
        steps.get("topic_modeling").__module__
        == "pytest_evalstudio.contrib.validation.steps.topic_modeling.step"
    )


def test_what_is_added_belongs_to_one_session():
    registry, other = Registry(), Registry()
    registry.add_evaluator(Politeness)
    registry.add_host(Parrot)
    assert registry.evaluators.get("politeness") is Politeness
    assert registry.hosts.spec("parrot").name == "Parrot"
    assert "politeness" not in other.evaluators
    assert "parrot" not in other.hosts


def test_a_declaration_says_what_the_class_and_the_decorator_say():
    registry = Registry()
    registry.add_evaluator(Politeness)
    spec = registry.evaluators.spec("politeness")
    assert (spec.id, spec.description, spec.primary.key, spec.metric("warmth").better, spec.metric("x")) == (
        "politeness",
        "Says please.",
        "politeness",
        "lower",
        None,
    )
    assert (spec.scope, spec.boolean, spec.systems) == ("row", False, ("llm", "rag"))


def test_parameters_are_the_fields_with_their_defaults():
    assert parameters(Politeness) == {"word": "please", "words": ()}
    assert parameters(Parrot) == {"url": ""}


@pytest.mark.parametrize(
    "metrics", [(), (Metric("a"),), (Metric("a", primary=True), Metric("b", primary=True))]
)
def test_an_evaluator_has_exactly_one_primary_metric(metrics):
    with pytest.raises(TypeError, match="evaluator 'odd': exactly one of its metrics must be primary"):
        evaluator("odd", name="", domain="", needs=())(type("Odd", (), {"metrics": metrics}))


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ConfigurationError) as exc_info:
        Registry().evaluators.get("rogue")
    assert (
        str(exc_info.value)
        == "no evaluator named 'rogue'. Did you mean 'rouge'? `evalstudio evaluators` lists all."
    )
    with pytest.raises(ConfigurationError, match=r"no host named 'extractiv'. Did you mean 'extractive'"):
        Registry().hosts.get("extractiv")


def test_a_class_that_is_no_dataclass_is_refused():
    with pytest.raises(
        ConfigurationError,
        match=r"step 'odd', .* is not a dataclass: decorate it with @dataclass\(frozen=True\) too",
    ):
        Registry().add_step(step("odd", name="Odd", number=1)(type("Odd", (), {"run": print})))


def test_a_class_that_is_not_declared_is_refused():
    with pytest.raises(
        ConfigurationError,
        match=r"is not declared as evaluator: decorate it with pytest_evalstudio.evaluator\(...\)",
    ):
        Registry().add_evaluator(dict)
    with pytest.raises(ConfigurationError, match="is not declared as host"):
        Registry().add_host(Politeness)


def test_a_name_that_is_taken_is_refused_but_the_same_class_is_not():
    namesake = evaluator("rouge", name="", domain="", needs=())(
        type("Mine", (), {"metrics": (Metric("m", primary=True),), "score": print})
    )
    registry = Registry()
    registry.add_evaluator(Politeness)
    registry.add_evaluator(Politeness)
    registry.add_evaluator(dataclass(frozen=True)(namesake))
    with pytest.raises(ConfigurationError) as exc_info:
        list(registry.evaluators)
    assert str(exc_info.value).startswith("two evaluators are named 'rouge': ")
    assert "Mine" in str(exc_info.value)
    assert str(exc_info.value).endswith("rename one")


def test_installed_packages_add_theirs(installed):
    installed("pytest_evalstudio.evaluators", f"{__name__}:Politeness")
    registry = Registry()
    assert registry.evaluators.spec("politeness").name == "Politeness"
    assert "parrot" not in registry.hosts


def test_a_package_that_is_installed_while_python_runs_is_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    assert "politeness" not in Registry().evaluators
    package = tmp_path / "theirs-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: theirs\nVersion: 1.0\n")
    points = f"[pytest_evalstudio.evaluators]\ntheirs = {__name__}:Politeness\n"
    (package / "entry_points.txt").write_text(points)
    assert "politeness" in Registry().evaluators


def test_an_installed_package_that_does_not_load_is_named(installed):
    installed("pytest_evalstudio.hosts", "no_such_module:Host")
    with pytest.raises(ConfigurationError) as exc_info:
        list(Registry().hosts)
    message = (
        "host 'theirs' of an installed package does not load (no_such_module:Host): ModuleNotFoundError: No"
        " module named 'no_such_module'"
    )
    assert str(exc_info.value) == message


def test_a_look_up_that_failed_fails_again(installed):
    installed("pytest_evalstudio.hosts", "no_such_module:Host")
    hosts = Registry().hosts
    for _ in range(2):
        with pytest.raises(ConfigurationError, match="of an installed package does not load"):
            list(hosts)


def test_an_installed_class_that_is_not_declared_is_refused(installed):
    installed("pytest_evalstudio.hosts", "builtins:dict")
    with pytest.raises(ConfigurationError, match="is not declared as host: decorate it"):
        list(Registry().hosts)


def test_perturbators_come_from_their_folder_and_from_installed_packages(installed):
    installed("pytest_evalstudio.perturbations", "support.toy_perturbators:Reversed")
    registry = Registry().perturbators
    assert {"comma", "synonym", "reversed"} <= set(registry)
    assert registry.get("reversed")().perturb("abc", "MEDIUM", 1).text == "cba"


DECLARED = """
from dataclasses import dataclass
from pytest_evalstudio.core.plugins.perturbator import perturbator


@perturbator("{id}", name="{id}", intensities=())
@dataclass(frozen=True)
class Declared:
    def perturb(self, text, intensity, seed): ...
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the registry of a folder with two plugins, one of them in a module with another name."""
    package = tmp_path / "folder_of_plugins"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "casing.py").write_text(DECLARED.format(id="shout"))
    (package / "shout_twice.py").write_text(DECLARED.format(id="shout_twice"))
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = {"perturbator": {"shout": "folder_of_plugins.casing"}}
    monkeypatch.setattr(module, "MODULES", modules)  # without the other plugin, which is looked for
    monkeypatch.setattr(module, "contribs", tuple)  # parts may bring plugins of the same kind
    yield module.PluginRegistry("perturbator", "folder_of_plugins", PerturbatorSpec)
    for name in [name for name in sys.modules if name.startswith("folder_of_plugins")]:
        del sys.modules[name]


def test_a_look_up_imports_only_the_module_that_declares_the_plugin(folder):
    assert "shout" in folder
    assert folder.spec("shout").name == "shout"
    assert "folder_of_plugins.shout_twice" not in sys.modules
    assert "shout_twice" in folder
    assert list(folder) == ["shout", "shout_twice"]


@pytest.mark.part("questions", "tool_proxy", "validation")
def test_the_index_has_all_built_in_plugins():
    """`python tests/support/plugin_index.py` writes it."""
    assert Path(index.__file__).read_text(encoding="utf-8") == index_text()


def test_a_clash_with_a_module_that_no_look_up_has_imported_is_reported(folder):
    @perturbator("shout_twice", name="Mine", intensities=())
    @dataclass(frozen=True)
    class Mine:
        def perturb(self, text, intensity, seed): ...

    folder.add(Mine)
    with pytest.raises(ConfigurationError, match="two perturbators are named 'shout_twice'"):
        folder.get("shout")
