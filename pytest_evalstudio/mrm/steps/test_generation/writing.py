"""Test questions by a judge that writes: what it is asked, and which of its drafts are taken."""

from __future__ import annotations

import functools
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pytest_evalstudio.core.errors import unknown_name
from pytest_evalstudio.core.judging import Flow, Judge, JudgeFault, Question
from pytest_evalstudio.core.plugins.generator import Draft, Excerpt, GeneratorSpec
from pytest_evalstudio.core.replies import record, several, text
from pytest_evalstudio.engine.asking.judging import describe_judge
from pytest_evalstudio.mrm.generators._attacks import planted
from pytest_evalstudio.mrm.generators._conditions import derived, without
from pytest_evalstudio.mrm.generators.out_of_scope import ANSWER, REFUSES
from pytest_evalstudio.mrm.steps.test_generation.generating import Candidate, Ground, Wanted
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.stats.strata import allocate, interleave

CONFIGURED = "judge"
"""Name of the configuration's own judge, as a writer."""
EACH = 2
"""Questions that are asked for at once."""
PROMPT = "questions"
OUT_OF_SCOPE = "out_of_scope"
PLANTING = "planted word"
"""Of what an instruction speaks that is given one."""
REPLY = record(
    questions=several(
        "the questions that were asked for.",
        record(
            question=text("the question."),
            answer=text("the right answer."),
            evidence=several("sentences that prove it, word for word.", text("a quotation.")),
        ),
    )
)


class Request(NamedTuple):
    """One request to the writer: questions of one kind on one excerpt, or on several of one topic."""

    spec: GeneratorSpec
    excerpt: Excerpt
    parts: tuple[Excerpt, ...]
    planted: str


class Written(NamedTuple):
    """Result of the requests to the writer.

    Attributes:
        requests: how many there were.
        rejected: why drafts were not taken, and how many.
        faults: why requests have no usable reply, and how many.
        is_unfinished: whether some were not answered at all, so that another run may bring more.
    """

    candidates: Sequence[Candidate]
    requests: int
    rejected: Mapping[str, int]
    faults: Mapping[str, int]
    is_unfinished: bool

    @property
    def figures(self) -> dict[str, Any]:
        return {"requests": self.requests, "rejected": dict(self.rejected), "faults": dict(self.faults)}

    def notes(self) -> list[str]:
        """Return notes for people."""
        notes = []
        if self.rejected:
            notes.append(
                "drafts that were not taken: "
                + ", ".join(f"{count} {why}" for why, count in self.rejected.items())
            )
        if self.faults:
            notes.append(f"requests without a usable reply: {self.told_faults()}")
        return notes

    def told_faults(self) -> str:
        return (
            f"{sum(self.faults.values())} of {self.requests}"
            f" ({'; '.join(f'{count}: {why}' for why, count in self.faults.items())})"
        )


def open_writer(context: StepContext, name: str) -> Judge:
    """The judge that writes: a `[[model]]` of that name, or with the name "judge" that of `[judge]`.

    Raises:
        ConfigurationError: if there is none, or it cannot be had.
    """
    return context.provider.judges.open(context.config, _own_table(context, name))


def described(context: StepContext, name: str) -> dict[str, Any]:
    """A writer as figures show it: its name, its models, and the version of the prompt."""
    return {"name": name, **describe_judge(context.config, _own_table(context, name), (PROMPT,))}


def _own_table(context: StepContext, name: str) -> Mapping[str, Any] | None:
    models = [table.name for table in context.config.model]
    if name not in models and name != CONFIGURED:
        raise unknown_name(
            "writer",
            name,
            [*models, CONFIGURED],
            'A writer is the name of a [[model]], or "judge" for that of [judge].',
        )
    return {"model": name} if name in models else None


def written(context: StepContext, wanted: Wanted, on: Ground, judge: Judge) -> Written:
    """Ask for drafts, as many requests as test cases are wanted, all at the same time; of a panel the first
    usable reply is taken.

    A draft is taken if its evidence is quoted from the chunks that were shown, white space and case apart:
    what a writer makes up is no test.
    """
    requests = _requests(context, wanted, on)
    context.progress(0, len(requests), "requests to the writer")
    judgements = judge.follow([functools.partial(_ask, request) for request in requests])
    context.progress(len(requests), len(requests), "requests to the writer")
    candidates: list[Candidate] = []
    rejected: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    is_unfinished = False
    for request, own in zip(requests, judgements, strict=True):
        usable = next((judgement.found for judgement in own if judgement.fault is None), None)
        if usable is None:
            fault = next(
                (judgement.fault for judgement in own if judgement.fault is not None), JudgeFault("no judge")
            )
            faults[str(fault)] += 1
            is_unfinished = is_unfinished or not fault.unparsable
        for item in usable or ():
            draft, reason = checked(request, item)
            if draft is None:
                rejected[reason] += 1
            else:
                candidates.append(Candidate(request.spec.id, request.excerpt, draft))
    return Written(
        candidates, len(requests), dict(sorted(rejected.items())), dict(sorted(faults.items())), is_unfinished
    )


def checked(request: Request, item: Mapping[str, Any]) -> tuple[Draft | None, str]:
    """A draft out of what a writer replied, or why there is none."""
    question, answer = str(item["question"]).strip(), str(item["answer"]).strip()
    quotations = [quotation.strip() for quotation in map(str, item["evidence"]) if quotation.strip()]
    if not question or not answer:
        return None, "without a question or an answer"
    if request.planted and request.planted.lower() not in question.lower():
        return None, "without the planted word"
    if request.spec.id == OUT_OF_SCOPE:
        return Draft(question=question, answer=ANSWER, condition=REFUSES, evidence=""), ""
    if not quotations:
        return None, "without evidence"
    shown = [_plain(" ".join(part.sentences)) for part in request.parts]
    if not all(any(_plain(quotation) in text for text in shown) for quotation in quotations):
        return None, "whose evidence does not stand in the documents"
    if not all(any(_plain(quotation) in text for quotation in quotations) for text in shown):
        return None, "whose evidence is not of both places"
    evidence = "\n".join(quotations)
    condition = derived(answer, evidence)
    if request.planted:
        condition = without(condition, request.planted)
    return (
        Draft(
            question=question, answer=answer, condition=condition, evidence=evidence, planted=request.planted
        ),
        "",
    )


def _ask(request: Request) -> Flow[list[Mapping[str, Any]]]:
    texts = [" ".join(part.sentences) for part in request.parts]
    settings = {"count": EACH, "instruction": request.spec.instruction, "planted": request.planted}
    shown: str | list[str] = texts[0] if len(texts) == 1 else texts
    (said,) = yield [Question(prompt=PROMPT, texts={"excerpt": shown}, settings=settings, reply=REPLY)]
    return list(said["questions"])


def _requests(context: StepContext, wanted: Wanted, on: Ground) -> list[Request]:
    """As many as test cases are wanted, in proportion to the topics, in turns of kinds, each on another
    place.
    """
    mine = {
        id: [_of_kind(context, on, id, kind) for kind in [*on.ids[at:], *on.ids[:at]]]
        for at, id in _numbered(on)
    }
    weights = {id: topic["size"] * float(wanted.weights.get(id, 1)) for id, topic in on.topics.items()}
    quota = allocate(wanted.count, weights, {id: sum(map(len, groups)) for id, groups in mine.items()})
    return [request for id, groups in mine.items() for request in interleave(groups, quota[id])]


def _numbered(on: Ground) -> list[tuple[int, str]]:
    """Topics with the place in the list of kinds at which each begins."""
    return [(number % len(on.ids), id) for number, id in enumerate(on.topics)]


def _of_kind(context: StepContext, on: Ground, topic: str, kind: str) -> list[Request]:
    """The requests of a kind on a topic's sampled chunks, in an order of its own."""
    spec = context.registry.generators.spec(kind)
    rng = random.Random(f"{context.workflow.seed}/{kind}/{topic}/writer")
    excerpts = [excerpt for excerpt in on.excerpts if excerpt.topic == topic]
    rng.shuffle(excerpts)
    others = [excerpt for excerpt in on.corpus.excerpts if excerpt.topic == topic]
    requests = []
    for excerpt in excerpts:
        beside = [other for other in others if other is not excerpt]
        if len(beside) < spec.excerpts - 1:
            continue
        parts = (excerpt, *rng.sample(beside, spec.excerpts - 1))
        sentences = tuple(sentence for part in parts for sentence in part.sentences)
        together = Excerpt(id="+".join(part.id for part in parts), sentences=sentences, topic=topic)
        requests.append(
            Request(spec, together, parts, planted(on.corpus, rng) if PLANTING in spec.instruction else "")
        )
    return requests


def _plain(said: str) -> str:
    return re.sub(r"\s+", " ", said).strip().casefold()
