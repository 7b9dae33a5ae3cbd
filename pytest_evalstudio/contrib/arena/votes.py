"""Session of a person who votes on games of an arena: two answers, blind, sides random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_evalstudio.contrib.arena.games import Game, games_of, model_of
from pytest_evalstudio.contrib.arena.judging import categories_of
from pytest_evalstudio.contrib.arena.store import BattleStore
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.record.arena import Battle, Winner

WINNERS: dict[str, Winner] = {"first": "model_a", "second": "model_b", "tie": "tie"}
"""Vote of the page to the winner of the battle."""


class VoteSession:
    """State behind the page of one voter.

    Order and sides follow from the seed and the name of the voter, so that each voter has others.

    Args:
        answers: answered cases.
        store: the file of battles, in which votes are kept.
        rater: name of the voter.
        title: of the page.
        models: only games between these; all where empty.
        seed: of order and sides.
        limit: the greatest number of games; None for all.

    Raises:
        ConfigurationError: if the voter has no name, or the limit is not positive.
        DataError: if there is nothing to compare.
    """

    page = "vote.html"

    def __init__(
        self,
        answers: Sequence[Case],
        store: BattleStore,
        *,
        rater: str,
        title: str,
        models: Sequence[str] = (),
        seed: int = 0,
        limit: int | None = None,
    ) -> None:
        if not rater.strip():
            raise ConfigurationError("--rater: give the name that the votes are kept under")
        if limit is not None and limit < 1:
            raise ConfigurationError(f"--limit {limit}: must be 1 or more")
        self.store = store
        self.rater = rater.strip()
        self.title = title
        self._games = games_of(answers, seed=seed, models=models, voter=self.rater)[:limit]

    def state(self) -> dict[str, Any]:
        """Return the state of the voting for the page."""
        votes = self._votes()
        return {
            "title": self.title,
            "rater": self.rater,
            "file": str(self.store.path),
            "wanted": len(self._games),
            "done": len(votes),
            "cases": [{"id": id, "label": votes.get(id)} for id in range(len(self._games))],
        }

    def case(self, id: int) -> dict[str, Any]:
        """Return a game for the page, without the names of the models.

        Raises:
            KeyError: if there is none of this number.
        """
        game = self._game(id)
        return {
            "id": id,
            "answer_id": game.texts_id,
            "earlier": [f"{turn.role}: {turn.content}" for turn in game.first.conversation],
            "question": game.first.question,
            # Blanks at the ends, which some models write, would tell who answered.
            "first": game.first.actual_output.strip(),
            "second": game.second.actual_output.strip(),
        }

    def scores(self, id: int) -> dict[str, Any]:
        """Raise KeyError: a vote has no scores."""
        raise KeyError(id)

    def accepts(self, label: object) -> bool:
        """Return whether a value of the page is a vote; None takes one back."""
        return label is None or (isinstance(label, str) and label in WINNERS)

    def label(self, id: int, answer: str, label: Any, reason: str = "") -> dict[str, Any]:
        """Keep a vote, or take it back; it is on the disk when this returns.

        Args:
            id: number of the game.
            answer: id of the texts that the voter has seen.
            label: "first", "second", "tie", or None to take it back.
            reason: not kept.

        Raises:
            KeyError: if there is no such game.
            DataError: if the voter has seen other texts than today's.
        """
        game = self._game(id)
        if answer != game.texts_id:
            raise DataError("the answers have changed since they were shown; load the page anew")
        vote = Battle(
            prompt_key=game.prompt_key,
            model_a=model_of(game.first),
            model_b=model_of(game.second),
            # A vote that is taken back needs a winner, too; it is not compared.
            winner=WINNERS.get(label, "tie"),
            rater=self.rater,
            chars_a=len(game.first.actual_output),
            chars_b=len(game.second.actual_output),
            texts_id=game.texts_id,
            categories=categories_of(game),
        )
        if label is None:
            self.store.retract(vote)
        else:
            self.store.vote(vote)
        return self.state()

    def progress(self) -> str:
        """Return the progress of the voter as a sentence."""
        state = self.state()
        return f"{state['done']} of {state['wanted']} games voted on by {self.rater}, in {state['file']}"

    def _votes(self) -> dict[int, str]:
        """Return the votes by number of the game, as the page shows its sides."""
        ids = {(game.prompt_key, game.models): id for id, game in enumerate(self._games)}
        votes = {}
        for battle in self.store.battles():
            id = ids.get((battle.prompt_key, battle.models))
            if battle.rater == self.rater and id is not None and self._is_valid(battle, self._games[id]):
                first = model_of(self._games[id].first)
                votes[id] = "first" if battle.preferred == first else "second"
                if not battle.preferred:
                    votes[id] = "tie"
        return votes

    def _is_valid(self, battle: Battle, game: Game) -> bool:
        # Votes of other programs have no digest.
        return battle.texts_id in ("", game.texts_id)

    def _game(self, id: int) -> Game:
        if not 0 <= id < len(self._games):
            raise KeyError(id)
        return self._games[id]
