"""Games before a judge, or a panel of judges."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from pytest_evalstudio.contrib.arena.games import Game, model_of
from pytest_evalstudio.core.guide_names import own_arena_reply
from pytest_evalstudio.core.judging import (
    Flow,
    Judge,
    Judgement,
    Judging,
    Question,
    asked_texts,
    with_attachments,
)
from pytest_evalstudio.core.replies import choice, number, record, text
from pytest_evalstudio.record.arena import Battle, Winner
from pytest_evalstudio.scoring.masking import masked

PROMPT = "arena"
SETTINGS: Mapping[str, Any] = {"temperature": 0.2, "max_tokens": 1024, "seed": 0}
"""Parameters of the judge's host, where it has them and the configuration does not set them.

Temperature and length are those of the published method; the seed is ours.
"""
_WINNERS: Mapping[str, Winner] = {"first": "model_a", "second": "model_b", "tie": "tie"}
REPLY = record(
    reason=text("Your analysis, step by step, with the words of the answers that decide."),
    score_first=number("Score of the first answer.", least=1, most=10, whole=True),
    score_second=number("Score of the second answer.", least=1, most=10, whole=True),
    choice=choice("The better answer.", *_WINNERS),
)
"""Form of the judge's reply."""
ArenaPrompt = Literal["default", "document"]
"""Ways to ask the judge: "document" is the published procedure, whose higher score wins, without ties."""


@dataclass(frozen=True, slots=True)
class _Form:
    """Template of the question to a judge, and the form of its reply."""

    prompt: str
    reply: Any


_FORMS: Mapping[ArenaPrompt, _Form] = {
    "default": _Form(PROMPT, REPLY),
    "document": _Form(
        "arena_document",
        record(
            reason=text("Your analysis, step by step, in detail."),
            score_first=number("Score of the first answer.", least=1, most=10),
            score_second=number("Score of the second answer.", least=1, most=10),
            choice=choice("The answer with the higher score.", "first", "second"),
        ),
    ),
}


def judge_name(judge: str, prompt: ArenaPrompt) -> str:
    """Return the name under which verdicts are kept: those of different prompts are not mixed."""
    return judge if prompt == "default" else f"{judge} ({prompt})"


def choice_by_scores(reply: Mapping[str, Any]) -> str:
    """Return how the choice contradicts the scores; with equal scores, any choice agrees.

    The winner cannot be computed: choice and scores are verdicts on the same answers, and none of them is
    the evidence for the other.
    """
    first, second, winner = reply["score_first"], reply["score_second"], reply["choice"]
    better = winner
    if first != second:
        better = "first" if first > second else "second"
    if winner == better:
        return ""
    return f"the choice is {winner}, and the scores are {first} (first) and {second} (second)"


@dataclass(frozen=True, slots=True, kw_only=True)
class GameVerdict:
    """Verdict of one judge on one game."""

    winner: Winner
    score_first: float
    score_second: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedGames:
    """Games after the judge.

    Attributes:
        battles: the games with a verdict, in the order of the games.
        faults: reason to the number of games that have no verdict.
        spent: usage of the judge; stored replies count like others.
    """

    battles: tuple[Battle, ...]
    faults: Mapping[str, int]
    spent: Judging


def judge_games(
    games: Sequence[Game], judge: Judge, *, seed: int, prompt: ArenaPrompt = "default"
) -> JudgedGames:
    """Let a judge compare the answers of games.

    The judge does not see the names of the models. Of a panel, more than half must have a verdict; the
    winner with the most votes wins, a draw of votes is a tie, and scores are averaged.

    Args:
        games: what is judged.
        judge: the judge, or panel.
        seed: of the order and sides of the games, for the battles.
        prompt: how the judge is asked.
    """
    name = judge_name(judge.name, prompt)
    flows = [functools.partial(_attached_verdict, game, prompt) for game in games]
    judgements = judge.follow(flows)
    battles, faults, spent = [], Counter[str](), Judging()
    for game, of_game in zip(games, judgements, strict=True):
        spent = sum((judgement.spent for judgement in of_game), spent)
        battle = _battle(game, of_game, name, seed)
        if battle is None:
            faults[next(str(judgement.fault) for judgement in of_game if judgement.fault is not None)] += 1
        else:
            battles.append(battle)
    return JudgedGames(battles=tuple(battles), faults=dict(faults), spent=spent)


def _attached_verdict(game: Game, prompt: ArenaPrompt) -> Flow[GameVerdict]:
    return with_attachments(_verdict(game, prompt), game.first.media)


def question_of(game: Game, prompt: ArenaPrompt = "default") -> Question:
    """Return what a judge is asked about a game."""
    return Question(
        prompt=_FORMS[prompt].prompt,
        texts={
            **asked_texts(game.first),
            "first_answer": game.first.actual_output,
            "second_answer": game.second.actual_output,
        },
        reply=_FORMS[prompt].reply,
        consistency=choice_by_scores,
        published=own_arena_reply,
    )


def _verdict(game: Game, prompt: ArenaPrompt) -> Flow[GameVerdict]:
    [reply] = yield [question_of(game, prompt)]
    return GameVerdict(
        winner=_WINNERS[reply["choice"]],
        score_first=reply["score_first"],
        score_second=reply["score_second"],
        reason=reply["reason"],
    )


def _battle(game: Game, judgements: Sequence[Judgement], judge: str, seed: int) -> Battle | None:
    """Return the result of a game, None where too few judges have a verdict."""
    named = [
        (judgement.judge, cast("GameVerdict", judgement.value))
        for judgement in judgements
        if judgement.fault is None
    ]
    if 2 * len(named) <= len(judgements):
        return None
    verdicts = [verdict for _, verdict in named]
    votes = Counter(verdict.winner for verdict in verdicts).most_common()
    is_drawn = len(votes) > 1 and votes[0][1] == votes[1][1]
    reasons = [verdict.reason if len(named) == 1 else f"{name}: {verdict.reason}" for name, verdict in named]
    return Battle(
        prompt_key=game.prompt_key,
        model_a=model_of(game.first),
        model_b=model_of(game.second),
        winner="tie" if is_drawn else votes[0][0],
        score_a=_mean(verdicts, lambda verdict: verdict.score_first),
        score_b=_mean(verdicts, lambda verdict: verdict.score_second),
        reason=masked("; ".join(reasons)),
        judge=judge,
        seed=seed,
        chars_a=len(game.first.actual_output),
        chars_b=len(game.second.actual_output),
        texts_id=game.texts_id,
        categories=categories_of(game),
    )


def categories_of(game: Game) -> tuple[str, ...]:
    """Return the categories of a game's prompt, masked."""
    return tuple(dict.fromkeys(map(masked, game.first.categories)))


def _mean(verdicts: Sequence[GameVerdict], score: Callable[[GameVerdict], float]) -> float:
    return sum(map(score, verdicts)) / len(verdicts)
