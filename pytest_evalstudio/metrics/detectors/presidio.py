"""Names, places, organisations and further personal data, by Presidio and a spaCy pipeline."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.metrics.detectors import pii
from pytest_evalstudio.metrics.detectors.spans import Hit, RawSpan, merge_spans, spans_in_original

_KINDS = {"PERSON": "name of a person", "LOCATION": "address or place", "ORGANIZATION": "organisation"}
"""Entities of the spaCy pipeline that are reported, with their kinds."""
_LABELS = {
    "PER": "PERSON",
    "PERSON": "PERSON",
    "GPE": "LOCATION",
    "LOC": "LOCATION",
    "FAC": "LOCATION",
    "LOCATION": "LOCATION",
    "ADDRESS": "LOCATION",
    "ORG": "ORGANIZATION",
    "ORGANIZATION": "ORGANIZATION",
}
"""Labels of spaCy pipelines, with Presidio's entities."""
_LEFT_OUT = ("EmailRecognizer", "UrlRecognizer", "DateRecognizer", "IpRecognizer", "UuidRecognizer")
"""Recognizers that fetch a list of domains from the network, or whose hits are no leak."""


def find_pii_with_presidio(
    text: str, *, pipeline: str, language: str, entities: Collection[str], min_score: float
) -> list[Hit]:
    """Find personal data by Presidio, in addition to the formats of `find_pii`.

    Args:
        text: any text.
        pipeline: folder or installed package of a spaCy pipeline; nothing is downloaded.
        language: code of the pipeline's language, e.g. "en".
        entities: Presidio's names of entities that are leaks; empty for names, places, organisations and
            all entities of Presidio's patterns for the language.
        min_score: lowest confidence of a hit, 0.0 to 1.0.

    Returns:
        Hits in order of position, none overlapping another.

    Raises:
        EvaluationError: if Presidio or the pipeline cannot be loaded, or an entity is not known.
    """
    analyzer = _analyzer(pipeline, language)
    entity_names = sorted(entities) or [*_KINDS, *_patterns(analyzer, language)]

    def entity_spans(plain: str, lower: str) -> list[RawSpan]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results = analyzer.analyze(
                    text=plain, language=language, entities=entity_names, score_threshold=min_score
                )
            except ValueError as exc:
                raise EvaluationError(f"Presidio cannot search for {', '.join(entity_names)}: {exc}") from exc
        return [
            (result.start, result.end, _KINDS.get(result.entity_type, _words(result.entity_type)))
            for result in results
            if result.end > result.start
        ]

    return merge_spans(text, [*pii.spans(text), *spans_in_original(text, entity_spans)])


def _words(entity: str) -> str:
    """Return the name of an entity as people read it."""
    return entity.replace("_", " ").lower()


def _patterns(analyzer: Any, language: str) -> list[str]:
    return [name for name in analyzer.get_supported_entities(language) if name not in _KINDS]


@functools.lru_cache(maxsize=4)
def _analyzer(pipeline: str, language: str) -> Any:
    """Return an analyzer; each pipeline is loaded once in a process."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import spacy
            from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
            from presidio_analyzer.nlp_engine import NerModelConfiguration, SpacyNlpEngine
            from presidio_analyzer.predefined_recognizers import SpacyRecognizer

            folder = Path(pipeline)
            loaded = spacy.load(folder if folder.is_dir() else folder.name)
            engine = SpacyNlpEngine(
                models=[{"lang_code": language, "model_name": folder.name}],
                ner_model_configuration=NerModelConfiguration(
                    model_to_presidio_entity_mapping=_LABELS,
                    low_score_entity_names=[],
                    labels_to_ignore=[],
                ),
            )
            engine.nlp = {language: loaded}
            registry = RecognizerRegistry(supported_languages=[language])
            registry.load_predefined_recognizers(languages=[language], nlp_engine=engine)
            for recognizer in _LEFT_OUT:
                registry.remove_recognizer(recognizer)
            registry.remove_recognizer("SpacyRecognizer")
            registry.add_recognizer(
                SpacyRecognizer(supported_language=language, supported_entities=list(_KINDS))
            )
            return AnalyzerEngine(registry=registry, nlp_engine=engine, supported_languages=[language])
    except Exception as exc:
        fact = " ".join(str(exc).split())[:300]
        raise EvaluationError(
            f"Presidio cannot be loaded with the spaCy pipeline {Path(pipeline).name!r} for the language"
            f" {language!r}: {type(exc).__name__}: {fact}; name a folder or an installed package in"
            " spacy_pipeline, and its language in language"
        ) from exc
