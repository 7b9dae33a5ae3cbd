"""spaCy pipelines by name, and the parses that they make."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pytest_evalstudio.contrib.questions.parsing.language import Language, language
from pytest_evalstudio.core.errors import ConfigurationError

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

DEFAULT_PIPELINE = "en_core_web_sm"
_INSTALL = "pip install 'pytest-evalstudio[questions]'"
_DOWNLOAD = "python -m spacy download {name}"
_MAX_PARSES = 4096
_MAX_CHARS = 600
"""Longer sentences are not parsed: they give no question that a person would type."""


class Pipeline:
    """A loaded pipeline with the table of its language.

    Args:
        nlp: spaCy's pipeline with a parser.
        table: of its language.
    """

    def __init__(self, nlp: Any, table: Language) -> None:
        self._nlp = nlp
        self.language = table
        self.parse = functools.lru_cache(maxsize=_MAX_PARSES)(self._parse)

    def _parse(self, text: str) -> Doc | None:
        """Return the parse of a sentence; None where it is too long."""
        if not text.strip() or len(text) > _MAX_CHARS:
            return None
        doc = self._parsed(text, {})
        readings = self.language.entries("readings of ambiguous verbs")
        if readings and (not _has_verb(doc) or any(_is_misread(token, readings) for token in doc)):
            # A tagger reads "costs" as a noun in a short sentence, and "requires" never.
            other = self._parsed(text, readings)
            return other if _has_verb(other) else doc
        return doc

    def second_parse(self, text: str) -> Doc | None:
        """Return the parse with other readings of all ambiguous verbs; None where a text has none."""
        readings = self.language.entries("readings of ambiguous verbs")
        if readings.keys().isdisjoint(text.lower().removesuffix("?").split()):
            return None
        return self._parsed(text, readings)

    def _parsed(self, text: str, readings: Any) -> Doc:
        from spacy.tokens import Doc

        tokens = list(_units(self._nlp.make_doc(text)))
        words = [readings.get(word.lower(), word) for word, _ in tokens]
        doc = self._nlp(Doc(self._nlp.vocab, words=words, spaces=[space for _, space in tokens]))
        if words != [word for word, _ in tokens]:
            doc.user_data["words"] = tuple(word for word, _ in tokens)
        return doc


def _units(doc: Doc) -> Iterator[tuple[str, bool]]:
    """Yield the tokens with whether a space follows; the parts of a compound with hyphens are one."""
    at = 0
    while at < len(doc):
        end = at + 1
        while end + 1 < len(doc) and doc[end].text == "-" and not _is_apart(doc, end):
            end += 2
        yield doc[at:end].text, bool(doc[end - 1].whitespace_)
        at = end


def _is_apart(doc: Doc, hyphen: int) -> bool:
    before, after = doc[hyphen - 1], doc[hyphen + 1]
    return bool(before.whitespace_ or doc[hyphen].whitespace_) or not (before.is_alpha and after.is_alpha)


def _has_verb(doc: Doc) -> bool:
    return any(token.dep_ == "ROOT" and token.pos_ in ("VERB", "AUX") for token in doc)


def _is_misread(token: Token, readings: Any) -> bool:
    """Report whether a verb before an amount was read as a noun: "a ticket costs £15"."""
    if token.lower_ not in readings:
        return False
    # A verb whose subject is read as a part of a compound: "each further child costs".
    has_subject = any("subj" in each.dep_ for each in token.children)
    is_compound = any(each.dep_ in ("compound", "det") and each.i < token.i for each in token.children)
    following = token.doc[token.i + 1 : token.i + 2]
    is_noun = token.tag_.startswith("N") or (is_compound and not has_subject)
    return is_noun and any(each.like_num or each.is_currency for each in following)


def word_of(token: Token) -> str:
    """Return a word as the sentence has it, where the parse has another reading of it."""
    words: tuple[str, ...] = token.doc.user_data.get("words", ())
    return words[token.i] if words else str(token.text)


def lemma_of(token: Token, table: Language) -> str:
    """Return the base form of a word."""
    if not token.doc.user_data.get("words"):
        return _checked_lemma(token)
    return table.entries("bases of ambiguous verbs").get(word_of(token).lower(), str(token.lemma_.lower()))


def _checked_lemma(token: Token) -> str:
    """Return the base form of a word, with the "e" that a lemmatizer drops: "rated" is no form of "rat"."""
    base, word = str(token.lemma_.lower()), str(token.lower_)
    if token.tag_ not in ("VBD", "VBN") or not word.endswith("ed") or not base:
        return base
    forms = (f"{base}ed", f"{base}d", f"{base}{base[-1]}ed", f"{base[:-1]}ied")
    return base if word in forms or not word.startswith(base) else word[:-1]


def available_pipeline(choice: str | None) -> str:
    """Return the name of the pipeline to open, "" for none.

    Args:
        choice: name; "" for none; None for the default pipeline, if it is installed.
    """
    if choice is not None:
        return choice
    return "" if missing(DEFAULT_PIPELINE) else DEFAULT_PIPELINE


@functools.lru_cache(maxsize=4)
def open_pipeline(name: str) -> Pipeline | None:
    """Return a pipeline; None without a name.

    Raises:
        ConfigurationError: if it is not installed, or has no table of its language.
    """
    if not name:
        return None
    if reason := missing(name):
        raise ConfigurationError(reason)
    import spacy

    nlp = spacy.load(name)
    table = language(nlp.lang)
    if table is None or "parser" not in nlp.pipe_names:
        lack = (
            "has no parser" if table is not None else f"is of the language {nlp.lang!r}, which has no table"
        )
        raise ConfigurationError(f"pipeline {name!r} {lack}; name a pipeline for English or German")
    return Pipeline(nlp, table)


def pipeline_language(name: str) -> str:
    """Return the code of a pipeline's language; English without one."""
    pipeline = open_pipeline(name)
    return pipeline.language.code if pipeline is not None else "en"


def missing_pipeline(choice: str | None) -> str:
    """Return what questions are made from without the default pipeline, with the remedy; else ""."""
    reason = missing(DEFAULT_PIPELINE) if choice is None else ""
    return (
        f"questions are made from tables, lists and patterns of quantities only: {reason}" if reason else ""
    )


def missing(name: str) -> str:
    """Return what is not installed for a pipeline with the remedy, "" if all is."""
    if importlib.util.find_spec("spacy") is None:
        return f"spaCy is not installed: {_INSTALL} && {_DOWNLOAD.format(name=name)}"
    import spacy.util

    if spacy.util.is_package(name) or (
        ("/" in name or "\\" in name) and spacy.util.ensure_path(name).exists()
    ):
        return ""
    return f"the spaCy pipeline {name!r} is not installed: {_DOWNLOAD.format(name=name)}"
