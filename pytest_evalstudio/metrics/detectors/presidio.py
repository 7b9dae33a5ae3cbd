"""Names, places and further personal data, by Presidio and a spaCy pipeline.

Values that are found are masked from then on in all texts of the process; see `known_values`.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_evalstudio.core.errors import EvaluationError
from pytest_evalstudio.metrics.detectors import known_values, pii
from pytest_evalstudio.metrics.detectors.spans import Hit, RawSpan, merge_spans, spans_in_original
from pytest_evalstudio.text.cache import cached_by_text

_PERSON = "name of a person"
_KINDS = {"PERSON": _PERSON, "LOCATION": "address or place", "ORGANIZATION": "organisation"}
"""Entities of the spaCy pipeline that can be reported, with their kinds."""
_BY_DEFAULT = ("PERSON", "LOCATION")
"""Organisations are no personal data, and small pipelines take most abbreviations for one."""
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
_BATCH_SIZE = 64
_WINDOW_CHARS = 20_000
"""Longer texts are read in parts: the memory of a pipeline grows with the length of a text."""
_BREAK = re.compile(r"\n\s*|(?<=[.!?])\s+")


class PersonalDataFinder:
    """Finds personal data by Presidio, in addition to the formats of `find_pii`.

    Args:
        pipeline: folder or installed package of a spaCy pipeline; nothing is downloaded.
        language: code of the pipeline's language, e.g. "en".
        entities: Presidio's names of entities that are leaks; empty for names, places and all entities of
            Presidio's patterns for the language.
        min_score: lowest confidence of a hit, 0.0 to 1.0.

    Raises:
        EvaluationError: if Presidio or the pipeline cannot be loaded.
    """

    def __init__(self, pipeline: str, language: str, entities: Collection[str], min_score: float) -> None:
        self._language = language
        self._min_score = min_score
        self._analyzer = _analyzer(pipeline, language)
        self._entities = sorted(entities) or [*_BY_DEFAULT, *_patterns(self._analyzer, language)]
        self._artifacts: dict[str, Any] = {}
        self.find = cached_by_text(self._find)

    def read(self, texts: Sequence[str]) -> None:
        """Search texts in batches, so that `find` has their hits, and mask what is found from now on.

        Args:
            texts: any texts; repeated ones are searched once.
        """
        parts = dict.fromkeys(
            part
            for text in dict.fromkeys(texts)
            if text
            for plain in _plain_texts(text)
            for _, part in _windows(plain)
        )
        engine = self._analyzer.nlp_engine
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._artifacts = dict(engine.process_batch(list(parts), self._language, batch_size=_BATCH_SIZE))
        try:
            for text in dict.fromkeys(texts):
                self.find(text)
        finally:
            self._artifacts = {}

    def _find(self, text: str) -> list[Hit]:
        """Return the personal data in a text.

        Returns:
            Hits in order of position, none overlapping another.

        Raises:
            EvaluationError: if an entity is not known.
        """
        name_spans = spans_in_original(text, self._spans)
        known_values.remember(text[start:end] for start, end, _ in name_spans)
        known_values.remember_parts(text[start:end] for start, end, kind in name_spans if kind == _PERSON)
        return merge_spans(text, [*pii.spans(text), *name_spans])

    def _spans(self, plain: str, lower: str) -> list[RawSpan]:
        spans: list[RawSpan] = []
        for start, part in _windows(plain):
            for result in self._results(part):
                kind = _KINDS.get(result.entity_type) or _words(result.entity_type)
                if result.end > result.start:
                    spans.append((start + result.start, start + result.end, kind))
        return spans

    def _results(self, text: str) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results: list[Any] = self._analyzer.analyze(
                    text=text,
                    language=self._language,
                    entities=self._entities,
                    score_threshold=self._min_score,
                    nlp_artifacts=self._artifacts.get(text),
                )
            except ValueError as exc:
                raise EvaluationError(
                    f"Presidio cannot search for {', '.join(self._entities)}: {exc}"
                ) from exc
        return results


@functools.lru_cache(maxsize=8)
def finder(pipeline: str, language: str, entities: tuple[str, ...], min_score: float) -> PersonalDataFinder:
    """Return the finder with these options; see `PersonalDataFinder`."""
    return PersonalDataFinder(pipeline, language, entities, min_score)


def pipeline_fault(pipeline: str) -> str:
    """Return why a spaCy pipeline cannot be used, with the remedy, "" if it is there; nothing is imported.

    Args:
        pipeline: folder, or name of an installed package, possibly after a folder.
    """
    for module in ("presidio_analyzer", "spacy"):
        if importlib.util.find_spec(module) is None:
            return f'there is no module {module!r}: `pip install "pytest-evalstudio[privacy]"`'
    folder = Path(pipeline)
    if folder.is_dir() or (folder.name.isidentifier() and importlib.util.find_spec(folder.name) is not None):
        return ""
    return (
        f"there is no spaCy pipeline {folder.name!r}: install its package, e.g. by `python -m spacy download"
        f" {folder.name}`, or name its folder"
    )


def _plain_texts(text: str) -> list[str]:
    """Return what the spans of a text are searched in: the text with look-alikes folded, and its meaning."""
    plain: list[str] = []

    def note(folded: str, lower: str) -> list[RawSpan]:
        plain.append(folded)
        return []

    spans_in_original(text, note)
    return plain


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Yield parts of a text with their positions, cut at ends of lines and sentences where there are any."""
    start = 0
    while len(text) - start > _WINDOW_CHARS:
        limit = start + _WINDOW_CHARS
        ends = [match.end() for match in _BREAK.finditer(text, limit - _WINDOW_CHARS // 10, limit)]
        end = ends[-1] if ends else limit
        yield start, text[start:end]
        start = end
    yield start, text[start:]


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
            # Names are found without a parse, which takes most of the time.
            loaded = spacy.load(folder if folder.is_dir() else folder.name, exclude=["parser"])
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
            f" {language!r}: {type(exc).__name__}: {fact}; name a folder or an installed package, and its"
            " language"
        ) from exc
