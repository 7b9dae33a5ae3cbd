"""Functions of detectors, evaluators, perturbations and workflows that handle text of strangers."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from support.linear_table import Function, measured, refused

# detectors


@measured("detectors.find_pii", 2.5)
def _pii(text: str) -> None:
    from pytest_evalstudio.metrics.detectors import find_pii

    find_pii(text)


@measured("detectors.find_secrets", 2.5)
def _find_secrets(text: str) -> None:
    from pytest_evalstudio.metrics.detectors import find_secrets

    find_secrets(text)


if find_spec("detect_secrets") is not None:

    @measured("detectors of detect-secrets", 30.0)
    def _find_secrets_with_scanner(text: str) -> None:
        from pytest_evalstudio.metrics.detectors.scanner import find_secrets_with_scanner

        find_secrets_with_scanner(text)


@measured("detectors.redact", 4.0)
def _redact(text: str) -> None:
    from pytest_evalstudio.metrics.detectors import redact

    redact(text)


# evaluators


@measured("sentences.split_sentences", 6.0)
def _sentences(text: str) -> None:
    from pytest_evalstudio.text.sentences import split_sentences

    split_sentences(text)


def _scored(evaluator: str, *, context: bool = False, **fields: str) -> Function:
    def score(text: str) -> None:
        from pytest_evalstudio.core.cases import Answer, Case
        from pytest_evalstudio.core.plugins.registry import Registry
        from pytest_evalstudio.core.tools import Tools
        from pytest_evalstudio.text.sentences import split_sentences

        case = Case(
            key="k",
            question="What is the fee?",
            answer=Answer(
                text=fields.get("actual_output", text), context=(text, "The fee is 5 EUR.") if context else ()
            ),
            expected_output=fields.get("expected_output", text + " paid"),
            condition='"fee" AND NOT regexp("x+")'
            if evaluator in ("text_matching", "encoding_guardrail")
            else "",
        )
        cls = Registry().evaluators.get(evaluator)
        cls().score([case], Tools(split_sentences=split_sentences))

    return score


measured("evaluators.rouge", 10.0)(_scored("rouge"))
measured("evaluators.bleu", 10.0)(_scored("bleu"))
measured("evaluators.looping_detection", 8.0)(_scored("looping_detection"))
measured("evaluators.lexical_groundedness", 4.0)(_scored("lexical_groundedness", context=True))
measured("evaluators.json_schema")(_scored("json_schema"))
measured("evaluators.classification")(_scored("classification"))
measured("evaluators.text_matching")(_scored("text_matching", context=True))
measured("evaluators.encoding_guardrail", 10.0)(_scored("encoding_guardrail", context=True))
measured("evaluators.pii_leakage", 6.0)(_scored("pii_leakage", context=True))
measured("evaluators.sensitive_data_leakage", 6.0)(_scored("sensitive_data_leakage", context=True))


@measured("encoding_guardrail.decode_hidden", 6.0)
def _decode(text: str) -> None:
    from pytest_evalstudio.metrics.encodings import decode_hidden

    decode_hidden(text)
    decode_hidden(text, hinted=True)


@measured("steps.find_steps", 8.0)
def _find_steps(text: str) -> None:
    from pytest_evalstudio.metrics.steps import find_steps
    from pytest_evalstudio.text.sentences import split_sentences

    find_steps(text, split_sentences)


@measured("steps.merged")
def _merged_steps(text: str) -> None:
    from pytest_evalstudio.metrics.steps import merged

    steps = list(text)
    merged([steps[: len(steps) // 2], [*steps[: len(steps) // 4], "x"]])
    merged([["a", "b"] * (len(steps) // 4), [*["a", "b"] * (len(steps) // 8), "a", "a"]])


@measured("overlap.rouge_l", 2.0)
def _rouge_l(text: str) -> None:
    from pytest_evalstudio.metrics.overlap import rouge_l

    words = [str(number) for number in range(len(text) // 6)]
    refused(lambda _: rouge_l(words, words[::-1]), text)


@measured("steps.likeness")
def _likeness(text: str) -> None:
    from pytest_evalstudio.metrics.steps import likeness

    likeness(text, text[:-1] + "z")


@measured("sentiment.lexicon", 4.0)
def _sentiment(text: str) -> None:
    from pytest_evalstudio.metrics.sentiment import lexicon_sentiment

    lexicon_sentiment(text)


@measured("artifacts.check_declared", 2.0)
def _artifact(text: str) -> None:
    import tempfile

    from pytest_evalstudio.evaluators._artifacts import ArtifactFault, check_declared

    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.json", "a.txt", "a.csv"):
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            try:
                check_declared(path, contains=["no such text"])
            except ArtifactFault:
                continue


@measured("document_recall.missing_documents")
def _recall(text: str) -> None:
    from pytest_evalstudio.metrics.ranking import missing_documents

    missing_documents([text, "b.pdf"], [text, f"http://{text}"])


@measured("labelled_retrieval.chunk_matches")
def _labels(text: str) -> None:
    from pytest_evalstudio.metrics.ranking import chunk_matches

    chunk_matches([text, f"{text} b"], [text, f"a {text}"])


@measured("mutation.texts", 16.0)
def _damages(text: str) -> None:
    from random import Random

    from pytest_evalstudio.contrib.mutation.right_variants import RIGHT_VARIANTS
    from pytest_evalstudio.contrib.mutation.texts import MUTATORS, MutationMaterial, names_in

    material = MutationMaterial(question=text, others=(f"{text}.",), names=tuple(names_in([text])[:10]))
    for mutate in (*MUTATORS.values(), *RIGHT_VARIANTS.values()):
        mutate(text, material, Random(1))


# perturbations


def _perturbed(name: str) -> Function:
    def perturb(text: str) -> None:
        from pytest_evalstudio.core.plugins.registry import Registry

        Registry().perturbators.get(name)().perturb(text, "HIGH", 7)

    return perturb


for _name in (
    *(
        "comma",
        "contextual_misinformation",
        "copy",
        "counterfactual",
        "encoding_base16",
        "encoding_base64",
        "keyboard_typos",
        "ocr",
    ),
    *(
        "qwerty",
        "random_character",
        "random_delete",
        "random_insert",
        "random_replacement",
        "word_swap",
        "grammar_mistake",
        "colloquial",
    ),
):
    measured(f"perturbations.{_name}", 3.0)(_perturbed(_name))


# texts of workflows


@measured("questions.quantities", 4.0)
def _quantities(text: str) -> None:
    from pytest_evalstudio.contrib.questions.quantities.recognition import quantities

    quantities(text)


@measured("questions.quantities.pattern")
def _quantity_pattern(text: str) -> None:
    import re

    from pytest_evalstudio.contrib.questions.quantities.patterns import pattern

    re.compile(pattern("£2,500.00")).search(text)
    re.compile(pattern("five working days")).search(text)


@measured("questions.statements")
def _statements(text: str) -> None:
    from pytest_evalstudio.contrib.questions.parsing.statements import (
        _NEGATIVE,
        _STATEMENT,
        _UNCLEAR_SUBJECT,
        bare_statement,
        statement,
    )

    statement(text)
    bare_statement(text)
    bare_statement(f"1. {text}")
    statement(f"The {text[:-40]} is one.")
    _STATEMENT.fullmatch(f"A {text}")
    _NEGATIVE.search(text)
    _UNCLEAR_SUBJECT.search(text)


@measured("mrm.words", 4.0)
def _words(text: str) -> None:
    from pytest_evalstudio.contrib.questions.words import content_words
    from pytest_evalstudio.contrib.validation.methods.texts.words import topic_words

    content_words(text)
    topic_words(text)


@measured("groundedness.signals", 25.0)
def _groundedness(text: str) -> None:
    from pytest_evalstudio.core.tools import TokenMatch
    from pytest_evalstudio.metrics.groundedness import alignment_signals, index_context, lexical_signals
    from pytest_evalstudio.text.sentences import split_sentences

    spans = split_sentences(text)
    index = index_context(text, spans)
    matches = [
        TokenMatch(start=place, end=place + 3, similarity=0.5, place=place, position=place)
        for place in range(0, len(text) - 3, 4)
    ]
    lexical_signals(text, index)
    alignment_signals(text, 0, matches, index)
    for start, end in spans:
        lexical_signals(text[start:end], index)
