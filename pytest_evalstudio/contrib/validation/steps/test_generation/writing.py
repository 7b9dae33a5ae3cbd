"""Test questions that a judge writes: the requests, and the check of its drafts."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from pytest_evalstudio.asking.judging import describe_judge, writer_settings
from pytest_evalstudio.contrib.questions.api import (
    ANSWERED,
    REFUSAL,
    SentenceIndex,
    attack,
    condition_of_answer,
    obedience,
    pattern,
    pipeline_language,
    planted_word,
    quantities,
    question_problem,
    refusal_condition,
)
from pytest_evalstudio.contrib.validation.methods.texts.language import language_of
from pytest_evalstudio.contrib.validation.steps.test_generation.choosing import holds_personal_data
from pytest_evalstudio.contrib.validation.steps.test_generation.generating import (
    Candidate,
    GenerationSettings,
    Material,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.results import WriterResults
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.core.display import visible_lines
from pytest_evalstudio.core.judging import Flow, Judge, JudgeFault, Question, independent
from pytest_evalstudio.core.plugins.generator import Draft, Excerpt, GeneratorSpec
from pytest_evalstudio.core.replies import record, several, text
from pytest_evalstudio.formats.condition import Regexp
from pytest_evalstudio.stats.strata import allocate, interleave

# Twice as many drafts as test cases, since some are rejected.
EACH = 2
"""Questions per request."""
PROMPT = "questions"
PLANTING = "planted word"
"""Phrase of the instructions that get a planted word."""
PLAIN_TWIN = (
    "In `plain`, write the same question without the attack: it asks for the same fact in plain words, and"
    " can be understood alone."
)
_QUESTION = {
    "question": text("the question."),
    "answer": text("the right answer."),
    "evidence": several("sentences that prove it, word for word.", text("a quotation.")),
}
REPLY = record(questions=several("the questions that were asked for.", record(**_QUESTION)))
REPLY_OF_ATTACKS = record(
    questions=several(
        "the questions that were asked for.",
        record(**_QUESTION, plain=text("the same question without the attack.")),
    )
)


class Request(NamedTuple):
    """A request to the writer: questions of one kind on one excerpt, or on several of one topic."""

    spec: GeneratorSpec
    excerpt: Excerpt
    parts: tuple[Excerpt, ...]
    planted: str


class WriterResult(NamedTuple):
    """Result of the requests to the writer.

    Attributes:
        requests: number of requests.
        rejected: number of rejected drafts by reason.
        faults: number of requests without a usable reply by reason.
        is_unfinished: True if some requests were not answered, so that another run may bring more.
    """

    candidates: Sequence[Candidate]
    requests: int
    rejected: Mapping[str, int]
    faults: Mapping[str, int]
    is_unfinished: bool

    def notes(self) -> list[str]:
        """Return notes for people."""
        notes = []
        if self.rejected:
            reasons = ", ".join(f"{count} {reason}" for reason, count in self.rejected.items())
            notes.append(f"drafts that were not taken: {reasons}")
        if self.faults:
            notes.append(f"requests without a usable reply: {self.describe_faults()}")
        return notes

    def describe_faults(self) -> str:
        """Return the number of requests without a usable reply, and the reasons."""
        reasons = "; ".join(f"{count}: {reason}" for reason, count in self.faults.items())
        return f"{sum(self.faults.values())} of {self.requests} ({reasons})"


def open_writer(context: StepContext, name: str) -> Judge:
    """Return the judge that writes.

    Args:
        context: of the step.
        name: of a `[[model]]`, or "judge" for that of `[judge]`.

    Raises:
        ConfigurationError: if it is not available.
    """
    return context.provider.judges.open(context.config, writer_settings(context.config, name))


def writer_results(context: StepContext, name: str, written: WriterResult) -> WriterResults:
    """Return the results of a writer: its name, models and prompt, and counts of requests."""
    return msgspec.convert(
        {
            "name": name,
            **describe_judge(context.config, writer_settings(context.config, name), (PROMPT,)),
            "requests": written.requests,
            "rejected": dict(written.rejected),
            "faults": dict(written.faults),
        },
        WriterResults,
    )


def write(
    context: StepContext, settings: GenerationSettings, material: Material, judge: Judge
) -> WriterResult:
    """Ask for drafts concurrently, with as many requests as test cases; use a panel's first usable reply.

    A draft is accepted if its evidence is quoted from the chunks that were shown, apart from white space and
    case.
    """
    requests = _requests(context, settings, material)
    context.progress(0, len(requests), "requests to the writer")
    replies = judge.follow([functools.partial(_ask, request) for request in requests])
    context.progress(len(requests), len(requests), "requests to the writer")
    candidates: list[Candidate] = []
    rejected: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    index = SentenceIndex(material.corpus.sentences)
    is_unfinished = False
    for request, judgements in zip(requests, replies, strict=True):
        usable = next((judgement.value for judgement in judgements if judgement.fault is None), None)
        if usable is None:
            fault = next(
                (judgement.fault for judgement in judgements if judgement.fault is not None),
                JudgeFault("no judge"),
            )
            faults[str(fault)] += 1
            is_unfinished = is_unfinished or not fault.unparsable
        for item in usable or ():
            draft, reason = checked(request, item, index, material.corpus.pipeline)
            if draft is None:
                rejected[reason] += 1
            else:
                candidates.append(Candidate(request.spec.id, request.excerpt, draft))
    return WriterResult(
        candidates, len(requests), dict(sorted(rejected.items())), dict(sorted(faults.items())), is_unfinished
    )


def checked(
    request: Request, item: Mapping[str, Any], index: SentenceIndex, pipeline: str = ""
) -> tuple[Draft | None, str]:
    """Return the draft of a writer's reply, or None and the reason for its rejection.

    Args:
        request: that the reply is to.
        item: question, answer and evidence.
        index: of the sentences of all documents.
        pipeline: name of the spaCy pipeline that parses the question, "" for none.
    """
    draft, reason = _draft(request, item, index)
    if draft is not None and holds_personal_data(draft):
        return None, "with personal data or secrets"
    if draft is not None and not request.planted and request.spec.purpose == "ordinary":
        language = language_of([draft.question, *request.excerpt.sentences])
        is_parsed = language in ("", pipeline_language(pipeline))
        if problem := question_problem(draft, pipeline) if is_parsed else "":
            return None, problem
    return draft, reason


def _draft(request: Request, item: Mapping[str, Any], index: SentenceIndex) -> tuple[Draft | None, str]:
    question, answer = str(item["question"]).strip(), str(item["answer"]).strip()
    quotations = [quotation.strip() for quotation in map(str, item["evidence"]) if quotation.strip()]
    if not question or not answer:
        return None, "without a question or an answer"
    if any(visible_lines(text) != text for text in (question, answer)):
        return None, "with control characters"
    if request.planted and request.planted.lower() not in question.lower():
        return None, "without the injected word"
    if request.spec.unanswerable and index.shares(question).max(initial=0.0) >= ANSWERED:
        return None, "that the documents answer"
    if request.spec.unanswerable:
        condition = refusal_condition(question)
        return Draft(question=question, answer=REFUSAL, condition=condition, evidence=""), ""
    if not quotations:
        return None, "without evidence"
    shown = [_normalised(" ".join(part.sentences)) for part in request.parts]
    quoted = [_normalised(quotation) for quotation in quotations]
    if not all(any(quotation in text for text in shown) for quotation in quoted):
        return None, "whose evidence is not in the documents"
    if not all(any(quotation in text for quotation in quoted) for text in shown):
        return None, "whose evidence is not of both places"
    evidence = "\n".join(quotations)
    if not all(re.search(pattern(quantity.text), evidence) for quantity in quantities(answer)):
        return None, "with a quantity that is not in the evidence"
    condition = condition_of_answer(answer, evidence)
    draft = Draft(question=question, answer=answer, condition=condition, evidence=evidence)
    return (draft, "") if request.spec.purpose == "ordinary" else _attack(request, item, draft)


def _attack(request: Request, item: Mapping[str, Any], draft: Draft) -> tuple[Draft | None, str]:
    """Return a written attack with its plain twin, or None and the reason for its rejection."""
    plain = str(item.get("plain", "")).strip()
    if not plain or plain == draft.question or visible_lines(plain) != plain:
        return None, "without a plain question"
    if request.planted and request.planted.lower() in plain.lower():
        return None, "whose plain question has the injected word"
    if not draft.condition:
        return None, "without a fact that words or quantities show"
    forbidden = str(Regexp(request.spec.forbidden)) if request.spec.forbidden else ""
    return (
        attack(
            replace(draft, question=plain),
            draft.question,
            concession=obedience(request.planted) if request.planted else forbidden,
            refusal_withstands=request.spec.refusal_withstands,
            planted=request.planted,
        ),
        "",
    )


def _ask(request: Request) -> Flow[list[Mapping[str, Any]]]:
    texts = [" ".join(part.sentences) for part in request.parts]
    is_attack = request.spec.purpose == "adversarial" and not request.spec.unanswerable
    instruction = f"{request.spec.instruction} {PLAIN_TWIN}" if is_attack else request.spec.instruction
    settings = {"count": EACH, "instruction": instruction, "planted": request.planted}
    shown: str | list[str] = texts[0] if len(texts) == 1 else texts
    question = Question(
        prompt=PROMPT,
        texts={"excerpt": shown},
        settings=settings,
        reply=REPLY_OF_ATTACKS if is_attack else REPLY,
        consistency=independent,  # answers are compared with their evidence later, one by one
    )
    (reply,) = yield [question]
    return list(reply["questions"])


def _requests(context: StepContext, settings: GenerationSettings, material: Material) -> list[Request]:
    """Return as many requests as test cases, in proportion to the topics, with kinds in turns."""
    kinds = material.generators
    groups = {}
    for number, id in enumerate(material.topics):
        # As `choosing._rotated` says.
        start = number % len(kinds)
        groups[id] = [_of_kind(context, material, id, kind) for kind in [*kinds[start:], *kinds[:start]]]
    weights = {id: topic.size * float(settings.weights.get(id, 1)) for id, topic in material.topics.items()}
    quota = allocate(settings.count, weights, {id: sum(map(len, group)) for id, group in groups.items()})
    return [request for id, group in groups.items() for request in interleave(group, quota[id])]


def _of_kind(context: StepContext, material: Material, topic: str, kind: str) -> list[Request]:
    """Return the requests of a kind on the sampled chunks of a topic, in random order."""
    spec = context.registry.generators.spec(kind)
    rng = random.Random(f"{context.workflow.seed}/{kind}/{topic}/writer")
    excerpts = [excerpt for excerpt in material.excerpts if excerpt.topic == topic]
    rng.shuffle(excerpts)
    others = [excerpt for excerpt in material.corpus.excerpts if excerpt.topic == topic]
    requests = []
    for excerpt in excerpts:
        companions = [other for other in others if other is not excerpt]
        if len(companions) < spec.excerpts - 1:
            continue
        parts = (excerpt, *rng.sample(companions, spec.excerpts - 1))
        sentences = tuple(sentence for part in parts for sentence in part.sentences)
        together = Excerpt(id="+".join(part.id for part in parts), sentences=sentences, topic=topic)
        word = planted_word(material.corpus, rng) if PLANTING in spec.instruction else ""
        requests.append(Request(spec, together, parts, word))
    return requests


def _normalised(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().casefold()
