"""Open the models, judges and lexicons that evaluators require, once per process."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.asking.answers import AnswerCache
from pytest_evalstudio.core.errors import ConfigurationError, ResourceMissing
from pytest_evalstudio.core.judging import JUDGE
from pytest_evalstudio.core.plugins.declaring import parameters
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.formats.weights_tables import LEXICON, WeightsTable
from pytest_evalstudio.scoring.model_tables import EMBEDDER, MODEL_TABLES
from pytest_evalstudio.text.sentences import split_sentences

if TYPE_CHECKING:
    from pytest_evalstudio.asking.judging import Judges
    from pytest_evalstudio.metrics.detectors.presidio import PersonalDataFinder
    from pytest_evalstudio.models.vectors import VectorCache
    from pytest_evalstudio.models.weights import Weights
    from pytest_evalstudio.scoring.plan import ConfiguredEvaluator

MODULE = "module:"
OPTION = "option:"
SPACY_PIPELINE = "spacy_pipeline:"
_NAMED = ("language_model", "token_matcher")
"""Requirements of an evaluator that its options name."""


class ModelProvider:
    """Models, judges and lexicons that the evaluators of a process require.

    Args:
        cache: folder of the caches of embeddings and of judges' replies; None to keep them in memory only.
        workers: processes that share the machine, and the limits and budget of judges.
        worker_index: of this process among them, from 0.
        registry: the hosts that judges are asked by.
        refresh: ask judges again instead of using stored replies.
        run_id: the same for all workers of a run; see `Judges`.
        read_only: write nothing into the caches.
    """

    def __init__(
        self,
        *,
        cache: Path | None = None,
        workers: int = 1,
        worker_index: int = 0,
        registry: Registry | None = None,
        refresh: bool = False,
        run_id: str = "",
        read_only: bool = False,
    ) -> None:
        self._run_id = run_id
        self._workers = workers
        self._worker_index = worker_index
        self._cache = cache
        self._registry = registry
        self._refresh = refresh
        self._read_only = read_only
        self._weights: dict[tuple[Any, ...], Weights] = {}
        self._models: dict[tuple[Any, ...], Any] = {}
        self._tools: dict[Configuration, Tools] = {}
        self._missing: dict[ConfiguredEvaluator, str] = {}

    def tools(self, config: Configuration) -> Tools:
        """Return the tools of a configuration; a model is opened at its first use."""
        provided: dict[str, Any] = {
            name: _Provided(getattr(config, table).model, functools.partial(self._opened, config, name))
            for name, table in MODEL_TABLES.items()
        }
        if config.sentiment_model.model == LEXICON:
            provided["sentiment_model"] = None
        return Tools(
            max_text_chars=config.max_text_chars,
            split_sentences=split_sentences,
            language_model=lambda name: _Provided(
                name, functools.partial(self._language_model, config, name)
            ),
            token_matcher=lambda name, layers: _Provided(
                name, functools.partial(self._token_matcher, config, name, layers)
            ),
            **provided,
        )

    def tools_of(self, config: Configuration, selected: ConfiguredEvaluator) -> Tools:
        """Return the tools of one evaluator: those of the configuration, and its judge."""
        # One object for all evaluators of a configuration, so that each model is loaded once.
        if config not in self._tools:
            self._tools[config] = self.tools(config)
        tools = self._tools[config]
        if selected in self._missing:
            return dataclasses.replace(tools, missing=self._missing[selected])
        # A model that the configuration does not name is None, so that the evaluator falls back to rules.
        if unused := [name for name in selected.spec.uses if name not in selected.uses]:
            absent: dict[str, Any] = dict.fromkeys(unused)
            tools = dataclasses.replace(tools, **absent)
        if JUDGE not in selected.requires:
            return tools
        return dataclasses.replace(tools, judge=self.judges.open(config, selected.own_judge))

    @functools.cached_property
    def judges(self) -> Judges:
        """The judges of this process, opened when the first of them is needed."""
        from pytest_evalstudio.asking.judging import Judges

        answers = AnswerCache(self._cache, read_only=self._read_only) if self._cache is not None else None
        return Judges(
            self._registry or Registry(),
            cache=answers,
            workers=self._workers,
            worker_index=self._worker_index,
            refresh=self._refresh,
            run_id=self._run_id,
        )

    def open(self, config: Configuration, selected: Iterable[ConfiguredEvaluator]) -> None:
        """Find all that these evaluators require, before the run; a hub's model is fetched.

        Raises:
            ConfigurationError: with the evaluators, their missing requirements, and the remedy.
        """
        self._check_personal_data(config)
        self._refuse((each, fault) for each in selected for _, fault in self._faults(config, each))

    def open_available(self, config: Configuration, selected: Iterable[ConfiguredEvaluator]) -> None:
        """Find all that these evaluators require, before the run, as `open` does.

        Where a model or a package is missing, the evaluator's tools say so, and its cases are errors.

        Raises:
            ConfigurationError: if a judge or an option is missing, or a requirement is not known.
        """
        self._check_personal_data(config)
        # A model or package that is missing makes errors of cases; only other faults stop the run.
        refused = []
        for each in selected:
            faults = list(self._faults(config, each))
            refused += [(each, fault) for requirement, fault in faults if not _is_missing(requirement, fault)]
            if faults:
                self._missing[each] = "; ".join(dict.fromkeys(str(fault) for _, fault in faults))
        self._refuse(refused)

    def personal_data(self, config: Configuration) -> PersonalDataFinder | None:
        """Return the finder of names that the configuration has a pipeline for, None for none."""
        if not config.pii.spacy:
            return None
        from pytest_evalstudio.metrics.detectors.presidio import finder

        pii = config.pii
        return finder(str(Path(config.folder) / pii.spacy), pii.language, tuple(pii.entities), pii.min_score)

    @staticmethod
    def _check_personal_data(config: Configuration) -> None:
        """Check that the pipeline of `[pii]` is there: texts are to be masked by it in any run."""
        if config.pii.spacy:
            try:
                _check_pipeline(str(Path(config.folder) / config.pii.spacy))
            except ResourceMissing as exc:
                raise ConfigurationError(f"{config.file or 'configuration'}: pii.spacy: {exc}") from None

    def _faults(
        self, config: Configuration, selected: ConfiguredEvaluator
    ) -> Iterator[tuple[str, ConfigurationError]]:
        """Yield the requirements of an evaluator that are not met, each with the reason."""
        for requirement in selected.requires:
            if (fault := self._fault(config, selected, requirement, fetch=True)) is not None:
                yield requirement, fault

    @staticmethod
    def _refuse(faults: Iterable[tuple[ConfiguredEvaluator, ConfigurationError]]) -> None:
        lacking: dict[str, list[str]] = {}
        for selected, fault in faults:
            lacking.setdefault(str(fault), []).append(selected.id)
        if lacking:
            raise ConfigurationError(
                "\n".join(
                    f"evaluator {', '.join(dict.fromkeys(ids))}: {reason}" for reason, ids in lacking.items()
                )
            )

    def lacks(self, config: Configuration, selected: ConfiguredEvaluator) -> str:
        """Return a short reason why an evaluator is not available here, or "" if it is.

        Makes no network request: a configured model may be downloaded later.
        """
        faults = (
            self._fault(config, selected, requirement, fetch=False) for requirement in selected.requires
        )
        return next((brief_of(fault) for fault in faults if fault is not None), "")

    def warnings(self) -> list[str]:
        """Return the warnings about faults that did not stop the run."""
        # A cached property that nothing used is not opened only to ask for its warnings.
        warnings = list(self._cached.warnings) if "_cached" in self.__dict__ else []
        if "judges" not in self.__dict__:
            return warnings
        cache = self.judges.cache
        if cache:
            warnings += cache.warnings
        return [*warnings, *self.judges.notes()]

    def mask(self, text: str) -> str:
        """Return a text without the secrets of the open judges."""
        # "judges" is a cached property: a mere look at it would open it, and import all that judges need.
        return self.judges.mask(text) if "judges" in self.__dict__ else text

    def spent(self) -> dict[str, float]:
        """Return the judge usage of this process, or an empty mapping if no judge was asked."""
        return self.judges.spent() if "judges" in self.__dict__ and self.judges.budgets else {}

    def close(self) -> None:
        if "_cached" in self.__dict__:
            self._cached.close()
        if "judges" in self.__dict__:
            self.judges.close()
            if self.judges.cache is not None:
                self.judges.cache.close()

    def _fault(
        self, config: Configuration, selected: ConfiguredEvaluator, requirement: str, *, fetch: bool
    ) -> ConfigurationError | None:
        """Return why a requirement of an evaluator is not met, None if it is."""
        try:
            self._check(config, selected, requirement, fetch=fetch)
        except ConfigurationError as exc:
            return exc
        return None

    def _check(
        self, config: Configuration, selected: ConfiguredEvaluator, requirement: str, *, fetch: bool
    ) -> None:
        if requirement.startswith(MODULE):
            name = requirement.removeprefix(MODULE)
            if not _is_installed(name):
                remedy = (
                    f'`pip install "pytest-evalstudio[{selected.spec.extra}]"`'
                    if selected.spec.extra
                    else f"install {name}"
                )
                fact = f"there is no module {name!r}: {remedy}"
                raise ResourceMissing(fact, brief=fact)
            return
        if requirement.startswith(OPTION):
            name = requirement.removeprefix(OPTION)
            if not selected.parameters.get(name):
                raise ConfigurationError(f"needs its option {name}: give it in [evaluator.{selected.id}]")
            return
        if requirement.startswith(SPACY_PIPELINE):
            _check_pipeline(requirement.removeprefix(SPACY_PIPELINE))
            return
        if requirement == JUDGE:
            self.judges.open(config, selected.own_judge)
            return
        kind, _, name = requirement.partition(":")
        if kind not in (_NAMED if name else MODEL_TABLES):
            named = [*(f"{kind}:NAME" for kind in _NAMED), f"{MODULE}NAME", f"{SPACY_PIPELINE}NAME"]
            names = ", ".join([*MODEL_TABLES, JUDGE, f"{OPTION}NAME", *named])
            raise ConfigurationError(f"requires {requirement!r}, which is not known; known: {names}")
        if name:
            self._named(
                config,
                name,
                option=_option(selected, name),
                fetch=fetch,
                is_chosen=_is_chosen(config, selected, name),
            )
        else:
            self._found(config, requirement, fetch=fetch)

    def _found(self, config: Configuration, requirement: str, *, fetch: bool) -> Weights | None:
        """Return the weights of a model, or None if only the hub could provide them and must not be asked."""
        table = MODEL_TABLES[requirement]
        settings: WeightsTable = getattr(config, table)
        if settings.model == LEXICON:
            return None
        from pytest_evalstudio.models.detoxify import find_detoxify
        from pytest_evalstudio.models.weights import Unfetched, find_weights

        identity = (table, settings.model, settings.revision, str(config.folder))
        if identity not in self._weights:
            try:
                # Detoxify is a checkpoint of its own form, which the loader of transformers cannot read.
                find = find_detoxify if table == "toxicity_model" else find_weights
                self._weights[identity] = find(
                    settings.model,
                    revision=settings.revision,
                    table=table,
                    start=Path(config.folder),
                    # A default that the user has not named is never downloaded: its evaluator is left out
                    # instead.
                    fetch=fetch and settings.is_chosen,
                    digest=self._vectors(config).digest,
                )
            except Unfetched:
                if fetch or not settings.is_chosen:
                    raise
                # Not kept: the next call may be allowed to fetch.
                return None
        return self._weights[identity]

    def _named(
        self, config: Configuration, name: str, *, option: str, fetch: bool, is_chosen: bool
    ) -> Weights | None:
        """Return the weights of the model that an evaluator's option names, as `MODEL` or `MODEL@REVISION`.

        Returns None as `_found` does.
        """
        from pytest_evalstudio.models.weights import Unfetched, find_weights

        identity = ("named", name, str(config.folder))
        if identity not in self._weights:
            model, _, revision = name.partition("@")
            if (Path(config.folder) / name).is_dir():  # a folder whose name may contain "@"
                model, revision = name, ""
            try:
                self._weights[identity] = find_weights(
                    model,
                    revision=revision or None,
                    table=option,
                    start=Path(config.folder),
                    fetch=fetch and is_chosen,
                    digest=self._vectors(config).digest,
                )
            except Unfetched:
                if fetch or not is_chosen:
                    raise
                return None
        return self._weights[identity]

    def _language_model(self, config: Configuration, name: str) -> Any:
        from pytest_evalstudio.models.language_model import TextReader

        return self._kept(
            config,
            name,
            "",
            lambda weights: TextReader(weights, config.language_model, workers=self._workers),
        )

    def _token_matcher(self, config: Configuration, name: str, layers: int | None) -> Any:
        from pytest_evalstudio.models.token_matcher import BertMatcher

        return self._kept(
            config,
            name,
            f"layer {layers}",
            lambda weights: BertMatcher(weights, config.language_model, layers, workers=self._workers),
        )

    def _kept(self, config: Configuration, name: str, use: str, make: Callable[[Weights], Any]) -> Any:
        # `open` has checked that the model may be fetched; here its weights are needed in any case.
        weights = self._named(config, name, option="model", fetch=True, is_chosen=True)
        assert weights is not None
        identity = (use, weights.identity, config.language_model.model_dump_json())
        if identity not in self._models:
            self._models[identity] = make(weights)
        return self._models[identity]

    def _vectors(self, config: Configuration) -> VectorCache:
        return self._cached if config.embeddings.cache else self._uncached

    @functools.cached_property
    def _cached(self) -> VectorCache:
        from pytest_evalstudio.models.vectors import VectorCache

        return VectorCache(None if self._read_only else self._cache)

    @functools.cached_property
    def _uncached(self) -> VectorCache:
        from pytest_evalstudio.models.vectors import VectorCache

        return VectorCache(None)

    def _opened(self, config: Configuration, requirement: str) -> Any:
        settings: WeightsTable = getattr(config, MODEL_TABLES[requirement])
        weights = self._found(config, requirement, fetch=True)
        assert weights is not None
        identity = (requirement, weights.identity, settings.model_dump_json())
        if identity not in self._models:
            self._models[identity] = self._made(config, requirement, weights)
        return self._models[identity]

    def _made(self, config: Configuration, requirement: str, weights: Weights) -> Any:
        """Return the model for some weights; it loads them at its first use."""
        match requirement:
            case "embedder":
                from pytest_evalstudio.models.embedder import SentenceEmbedder

                return SentenceEmbedder(
                    weights, config.embeddings, self._vectors(config), workers=self._workers
                )
            case "word_aligner":
                from pytest_evalstudio.models.word_aligner import EmbeddingAligner

                return EmbeddingAligner(self._opened(config, EMBEDDER))
            case "cross_encoder":
                from pytest_evalstudio.models.cross_encoder import PairScorer

                return PairScorer(weights, config.cross_encoder, workers=self._workers)
            case "nli":
                from pytest_evalstudio.models.nli import EntailmentJudge

                return EntailmentJudge(weights, config.nli, workers=self._workers)
            case "hallucination_model":
                from pytest_evalstudio.models.consistency import ConsistencyScorer

                return ConsistencyScorer(weights, config.hallucination_model, workers=self._workers)
            case "toxicity_model":
                from pytest_evalstudio.models.detoxify import toxicity_classifier

                return toxicity_classifier(weights, config.toxicity_model, workers=self._workers)
            case "bias_model":
                from pytest_evalstudio.models.text_classifier import LabelScorer

                return LabelScorer(weights, config.bias_model, table="bias_model", workers=self._workers)
            case "sentiment_model":
                from pytest_evalstudio.models.text_classifier import LabelScorer

                return LabelScorer(
                    weights, config.sentiment_model, table="sentiment_model", workers=self._workers
                )
        raise AssertionError(requirement)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package of a submodule
        return False


def _check_pipeline(pipeline: str) -> None:
    from pytest_evalstudio.metrics.detectors.presidio import pipeline_fault

    if fault := pipeline_fault(pipeline):
        raise ResourceMissing(fault, brief=fault)


def _is_missing(requirement: str, fault: ConfigurationError) -> bool:
    """Return True if a model or package is missing; a missing judge is a fault of the configuration."""
    return requirement != JUDGE and isinstance(fault, ResourceMissing)


def brief_of(fault: ConfigurationError) -> str:
    """Return the fact of a configuration error in a few words, without remedies where it has them apart."""
    return fault.brief if isinstance(fault, ResourceMissing) else str(fault)


def left_out(reasons: Mapping[str, str], choice: str = "all") -> str:
    """Return the warning about evaluators that a choice such as "all" leaves out, without remedies.

    Remedies are shown to users who select one of the evaluators by name.

    Args:
        reasons: id to reason.
        choice: what selected them.

    >>> left_out({"groundedness": "no embedder", "answer_accuracy": "no embedder"})
    "evaluators = 'all' leaves out groundedness, answer_accuracy: no embedder"
    """
    by_reason: dict[str, list[str]] = {}
    for id, reason in reasons.items():
        by_reason.setdefault(reason, []).append(id)
    return f"evaluators = {choice!r} leaves out " + "; ".join(
        f"{', '.join(ids)}: {reason}" for reason, ids in by_reason.items()
    )


def _option(selected: ConfiguredEvaluator, name: str) -> str:
    """Return the option in which an evaluator names a model."""
    return next((option for option, value in selected.parameters.items() if value == name), "model")


def _is_chosen(config: Configuration, selected: ConfiguredEvaluator, name: str) -> bool:
    """Return True if the user named the model, so that it is not the evaluator's default."""
    return (
        name in config.evaluator.get(selected.id, {}).values()
        or name not in parameters(type(selected.evaluator)).values()
    )


class _Provided:
    """A model that is opened when it is first asked for more than its name."""

    def __init__(self, name: str, open: Callable[[], Any]) -> None:
        self.name = name
        self._open = open

    def __getattr__(self, attribute: str) -> Any:
        # Special names, e.g. those that copy and pickle look for, must not open the model.
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return getattr(self._open(), attribute)
