"""All functions that handle text of strangers, from the registries, so that later plugins are among them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from msgspec import structs

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Answer, Case, Prompt, Relationship
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.core.plugins.generator import Corpus, Excerpt
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Entailment, Tools
from pytest_evalstudio.scoring.perturbing.protected import mask
from pytest_evalstudio.text.sentences import split_sentences
from support import linear_functions
from support.embedders import NearWordAligner
from support.imported_texts import importer_functions
from support.judges_of_text import BIASED, TOXIC
from support.judging import SaidByTest, panel_of, reply_for
from support.language_models import WordLanguageModel, WordMatcher
from support.scored_cases import outcomes_of

PLAIN = "The fee for a transfer is 5 EUR. Transfers within the country are free."
QUESTION = "How high is the fee?"
EVERYWHERE = "all inputs"
REPLY = "reply of the judge"
_ROLES: Mapping[str, str] = {
    "question": "question",
    "context": "context",
    "expected_output": "expected answer",
    "actual_output": "answer",
    "condition": "condition",
}


_COVERED = (
    *("evaluators.", "perturbations.", "groundedness.", "steps.", "judges.", "detectors.redact", "overlap."),
)
"""Functions that plugins of the registries call with the same texts."""


@dataclass(frozen=True, slots=True)
class TextSubject:
    """A function that takes a text of a stranger.

    Attributes:
        name: kind, id and the input that is the text.
        function: handles the text; a refusal for users is a result as well.
        is_rule_evaluator: it is an evaluator that asks no model.
        is_role: the text is one of the inputs, which another subject has in all of them.
    """

    name: str
    function: Callable[[str], object]
    is_rule_evaluator: bool = False
    is_role: bool = False


def text_subjects(registry: Registry) -> list[TextSubject]:
    """Return all subjects whose plugins can run without weights and services."""
    return [
        *evaluator_subjects(registry),
        *_perturbators(registry),
        *_generators(registry),
        *(TextSubject(f"import {name}", function) for name, function in importer_functions().items()),
        *(
            TextSubject(name, function)
            for name, function in linear_functions.FUNCTIONS.items()
            if not name.startswith(_COVERED)
        ),
    ]


# evaluators


def evaluator_subjects(registry: Registry) -> Iterator[TextSubject]:
    """Yield each evaluator with the text in each of its inputs, in all of them, and as its judge's reply."""
    for id in registry.evaluators:
        cls = registry.evaluators.get(id)
        spec = registry.evaluators.spec(id)
        modules = [name.removeprefix("module:") for name in spec.requires if name.startswith("module:")]
        if any(find_spec(name) is None for name in modules):
            continue
        is_rule = not [name for name in spec.requires if not name.startswith("module:")]
        roles = tuple(dict.fromkeys((*spec.needs, "context", "actual_output", "condition")))
        for role in roles:
            name = f"evaluator {id}, {_ROLES[role]}"
            yield TextSubject(name, _scoring(cls, spec, (role,)), is_rule, is_role=True)
        yield TextSubject(f"evaluator {id}, {EVERYWHERE}", _scoring(cls, spec, roles), is_rule)
        if "judge" in spec.requires:
            yield TextSubject(f"evaluator {id}, {REPLY}", _judged(cls, spec))


def _scoring(cls: type[Any], spec: EvaluatorSpec, roles: tuple[str, ...]) -> Callable[[str], object]:
    evaluator = configured(cls, spec)
    tools = _tools(
        lambda prompt: reply_for(prompt.reply_schema or {}, good=True), has_models=bool(spec.requires)
    )

    def score(text: str) -> object:
        return outcomes_of(evaluator, _cases(text, roles, spec.scope), tools)

    return score


def _judged(cls: type[Any], spec: EvaluatorSpec) -> Callable[[str], object]:
    evaluator = configured(cls, spec)

    def score(text: str) -> object:
        valid = _tools(lambda prompt: _with_text(reply_for(prompt.reply_schema or {}, good=True), text))
        broken = _tools(lambda prompt: text)
        cases = _cases(PLAIN, (), spec.scope)
        return outcomes_of(evaluator, cases, valid), outcomes_of(evaluator, cases, broken)

    return score


def _with_text(value: Any, text: str) -> Any:
    """Return a reply with the text in place of each free text, one of them if there are several."""
    if isinstance(value, dict):
        return {name: _with_text(part, text) for name, part in value.items()}
    if isinstance(value, list):
        return [_with_text(part, text) for part in value]
    return text if value == "a statement" else value


def configured(cls: type[Any], spec: EvaluatorSpec) -> Any:
    """Return an evaluator with a value for each required option."""
    required = [name.removeprefix("option:") for name in spec.requires if name.startswith("option:")]
    fields = {field.name: field for field in dataclasses.fields(cls)}
    text = "Is the answer right? {question} {expected_output} {context} {actual_output}"
    values = {name: text if isinstance(fields[name].default, str) else (text,) for name in required}
    forms: dict[str, Any] = {
        "rules": ({"tool": "*", "at_most": 2},),
        "grades": {"1": "It insults.", "5": "It is polite."},
    }
    return cls(**values | {name: value for name, value in forms.items() if name in required})


def _cases(text: str, roles: tuple[str, ...], scope: str) -> list[Case]:
    """Return a case with the text in some of its inputs, and a short case for evaluators of several."""
    values: dict[str, Any] = {
        "question": QUESTION,
        "expected_output": PLAIN,
        "actual_output": PLAIN,
        "context": (PLAIN, "Fees are due\n1. Open the app.\n2. Pay them."),
        "context_sources": ("fees.md", "rates.md"),
        "condition": '"fee" AND NOT regexp("x+y")',
    }
    for role in roles:
        if role == "condition":
            values[role] = f'"{text}" OR "fee"' if len(roles) > 1 else text
        else:
            values[role] = (text, "Fees are due.") if role == "context" else text
    other = Case(key="o", question=QUESTION, answer=Answer(text=values["actual_output"] + "z"), model_key="m")
    case = make_case(
        key="c",
        model_key="m",
        is_rag=True,
        expected_documents=("fees.md",),
        expected_facts=("The fee is 5 EUR.",),
        guidelines=("The answer is in English.",),
        relationships=(Relationship(type="perturbation_source", target="o"),),
        counterpart=other,
        extra={"expected_artifacts": ["report.pdf"]},
        **values,
    )
    return [case, structs.replace(case, key="d", run=2)] if scope == "group" else [case]


class FixedModels:
    """Embedder, inference model, consistency model and classifier that take the same time for each text."""

    name = "fixed"

    def encode(self, texts: Sequence[str]) -> Any:
        return np.ones((len(texts), 1), dtype=np.float32)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        return [Entailment(entailment=0.8, neutral=0.1, contradiction=0.1, distance=1.0, margin=1.0)] * len(
            pairs
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [0.5] * len(pairs)

    def classify(self, texts: Sequence[str]) -> list[Mapping[str, float]]:
        return [dict.fromkeys((*TOXIC, *BIASED), 0.1)] * len(texts)


def _tools(reply: Callable[[Prompt], Any], *, has_models: bool = True) -> Tools:
    if not has_models:
        return Tools(split_sentences=split_sentences)
    models = FixedModels()
    return Tools(
        split_sentences=split_sentences,
        embedder=models,
        nli=models,
        hallucination_model=models,
        toxicity_model=models,
        bias_model=models,
        language_model=lambda name: WordLanguageModel(),
        token_matcher=lambda name, layers: WordMatcher(),
        word_aligner=NearWordAligner(),
        judge=panel_of(SaidByTest(reply)),
    )


# perturbators and generators


def _perturbators(registry: Registry) -> Iterator[TextSubject]:
    yield TextSubject("protected spans", mask)
    for id in registry.perturbators:
        spec = registry.perturbators.spec(id)
        perturbator = registry.perturbators.get(id)()
        if spec.missing_of(perturbator):
            continue
        intensity = spec.intensities[-1] if spec.intensities else "MEDIUM"

        def plain(text: str, perturbator: Any = perturbator, intensity: Any = intensity) -> object:
            return perturbator.perturb(text, intensity, 7)

        yield TextSubject(f"perturbator {id}", plain)


def _generators(registry: Registry) -> Iterator[TextSubject]:
    for id in registry.generators:
        if not registry.generators.spec(id).drafts:
            continue
        generator = registry.generators.get(id)()

        def drafts(text: str, generator: Any = generator) -> object:
            plain = Excerpt(id="c1", sentences=tuple(PLAIN.split(". ")), topic="1")
            spans = split_sentences(text)
            excerpts = [plain, Excerpt(id="c2", sentences=(text,), topic="1")]
            if len(spans) > 1:
                sentences = tuple(text[start:end] for start, end in spans)
                excerpts.append(Excerpt(id="c3", sentences=sentences, topic="1"))
            corpus = Corpus(tuple(excerpts))
            return [list(generator.drafts(excerpt, corpus, random.Random(1))) for excerpt in excerpts]

        yield TextSubject(f"generator {id}", drafts)
