"""The questions that the package asks of judges, each template once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_evalstudio import Registry
from pytest_evalstudio.contrib.arena.games import games_of
from pytest_evalstudio.contrib.arena.judging import question_of
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.judging import JUDGE, Flow, Judgement, Question, Reply, Vote
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.text.sentences import split_sentences
from support.embedders import WordEmbedder
from support.judging import reply_for

ROW: Mapping[str, Any] = {
    "input": "What does the account cost?",
    "actual_output": "It costs five euros a month. It is free for students.",
    "expected_output": "It costs five euros. Students pay nothing.",
    "context": ["The account costs five euros a month.", "Students pay nothing."],
    "guidelines": ["Answer in English."],
    "expected_facts": ["The account costs five euros."],
}
CASE = Case(
    key="c",
    question=ROW["input"],
    answer=Answer(text=ROW["actual_output"], context=tuple(ROW["context"])),
    expected_output=ROW["expected_output"],
    guidelines=("Answer in English.",),
    expected_facts=("The account costs five euros.",),
    is_rag=True,
)
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "byop": {"prompt": "Is {actual_output} a good answer to {question}?"},
    "custom_judge": {"name": "tone", "definition": "The answer is polite."},
    "global_guideline_adherence_judge": {"global_guidelines": ["Answer in English."]},
    "rubric_judge": {"criterion": "Politeness", "grades": {"1": "It insults.", "5": "It is polite."}},
    "step_alignment": {"step_extractor": "llm"},
}
PLUGINS = Registry().evaluators
JUDGES = [id for id in PLUGINS if JUDGE in PLUGINS.spec(id).requires or id == "step_alignment"]
[GAME, *_] = games_of(
    [
        Case(key="p", question="Which one?", answer=Answer(text=f"This is {name}."), model_key=name)
        for name in "ab"
    ],
    seed=0,
)


@dataclass
class Recorder:
    """A judge that notes its questions, and gives the best reply to each."""

    questions: list[Question] = field(default_factory=list)
    name = "recorder"
    vote: Vote = "majority"
    members = 1

    def follow(self, flows: Sequence[Callable[[], Flow[Any]]]) -> list[list[Judgement]]:
        return [[Judgement(judge=self.name, value=self._followed(make()))] for make in flows]

    def _followed(self, flow: Flow[Any]) -> Any:
        try:
            questions = next(flow)
            while True:
                self.questions += questions
                questions = flow.send([Reply(content=good_reply(question.reply)) for question in questions])
        except StopIteration as end:
            return end.value


def good_reply(schema: Mapping[str, Any]) -> Any:
    """The best reply; of claims there are two, so that verdicts on them can disagree."""
    if list(schema["properties"]) == ["claims"]:
        return {"claims": ["It costs five euros.", "Students pay nothing."]}
    return reply_for(schema, good=True)


def score(id: str, judge: Any) -> Outcome:
    evaluator = PLUGINS.get(id)(**OPTIONS.get(id, {}))
    tools = Tools(judge=judge, embedder=WordEmbedder(), split_sentences=split_sentences)
    return evaluator.score([CASE], tools)[0]


def questions() -> Iterator[tuple[str, Question]]:
    """The questions of all evaluators, each template once, and that of the arena."""
    prompts = set()
    for id in JUDGES:
        recorder = Recorder()
        score(id, recorder)
        for question in recorder.questions:
            if question.prompt not in prompts:
                prompts.add(question.prompt)
                yield id, question
    yield "arena", question_of(GAME)


QUESTIONS = list(questions())
