"""The games of an arena: every prompt with every pair of models, in a random but reproducible order."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from pytest_evalstudio.contrib.arena.battle_files import texts_id
from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError, unknown_name
from pytest_evalstudio.record.arena import Battle


@dataclass(frozen=True, slots=True)
class Game:
    """Two answers to one prompt.

    Attributes:
        first: the answer that the judge reads first.
        second: the other one.
    """

    first: Case
    second: Case

    @property
    def prompt_key(self) -> str:
        return self.first.key

    @property
    def models(self) -> frozenset[str]:
        return frozenset((model_of(self.first), model_of(self.second)))

    @property
    def texts_id(self) -> str:
        """Return the digest of its texts, whatever the sides."""
        answers = {model_of(case): case.actual_output for case in (self.first, self.second)}
        digests = (each.sha256 for each in self.first.media)  # a changed image is another question
        return texts_id("\0".join([self.first.question, *digests]), answers)


def model_of(case: Case) -> str:
    """Return the name of the model of an answer, by which games name it."""
    return case.model_name or case.model_key


def games_of(
    answers: Iterable[Case],
    *,
    seed: int,
    models: Collection[str] = (),
    both_orders: bool = False,
    voter: str = "",
) -> list[Game]:
    """Return all games between the answers to the same prompt.

    The sides of a game and its place follow from the seed, its prompt and its models alone. Another model
    therefore adds games and changes none.

    Args:
        answers: answered cases; of repeated questions the first answer plays.
        seed: of order and sides.
        models: only games between these; all where empty.
        both_orders: play each game twice, with the sides exchanged.
        voter: name of a person, who has an order and sides of their own; "" for a judge.

    Raises:
        ConfigurationError: if a model is not there.
        DataError: if there are fewer than two models with answers to the same prompt.
    """
    by_prompt: dict[str, dict[str, Case]] = {}
    for case in answers:
        if not case.error:
            by_prompt.setdefault(case.key, {}).setdefault(model_of(case), case)
    present = sorted({name for answered in by_prompt.values() for name in answered})
    for name in models:
        if name not in present:
            raise unknown_name("model", name, present, f"Models with answers: {', '.join(present)}.")
    games = []
    voters = (voter,) if voter else ()
    for answered in by_prompt.values():
        for pair in itertools.combinations(sorted(set(answered) & set(models or answered)), 2):
            first, second = (answered[name] for name in pair)
            draw = drawn(seed, first.key, *pair, *voters)
            # The lowest bit decides the sides, the others the place, so that both are independent.
            game = Game(second, first) if draw & 1 else Game(first, second)
            games.append((draw, game))
            if both_orders:
                games.append((drawn(seed, first.key, *pair, "exchanged"), Game(game.second, game.first)))
    if not games:
        named = f" ({', '.join(present)})" if present else ""
        raise DataError(
            f"there is nothing to compare: {len(present)} models have answers{named}; an arena needs"
            " answers of two models to the same prompt"
        )
    games.sort(key=lambda drawn: (drawn[0], drawn[1].prompt_key, model_of(drawn[1].first)))
    return [game for _, game in games]


def unplayed(
    games: Sequence[Game], battles: Sequence[Battle], judge: str, *, both_orders: bool
) -> tuple[list[Game], list[Battle]]:
    """Return the games that a judge has not judged yet, and the battles that remain valid.

    A battle whose answers have changed since is dropped, and its game is played again.

    Args:
        games: all games.
        battles: those of an earlier run.
        judge: name of the judge; battles of others and votes of people remain as they are.
        both_orders: whether the sides matter.
    """

    def identity(prompt_key: str, models: frozenset[str], first: str) -> tuple[str, frozenset[str], str]:
        return prompt_key, models, first if both_orders else ""

    unplayed_games = {identity(game.prompt_key, game.models, model_of(game.first)): game for game in games}
    matching: list[Battle] = []
    played = set()
    for battle in battles:
        game_id = identity(battle.prompt_key, battle.models, battle.model_a)
        game = unplayed_games.get(game_id)
        if not battle.rater and battle.judge == judge and game is not None:
            # Files of other programs have no digest.
            if battle.texts_id and battle.texts_id != game.texts_id:
                continue
            played.add(game_id)
        matching.append(battle)
    return [game for game_id, game in unplayed_games.items() if game_id not in played], matching


def check_seed(seed: int) -> None:
    """Check the seed of an arena.

    Raises:
        ConfigurationError: if it is negative.
    """
    if seed < 0:
        raise ConfigurationError(f"seed = {seed}: must be 0 or more")


def drawn(seed: int, *names: str) -> int:
    """Return a random number that follows from names alone."""
    digest = hashlib.sha256(str(seed).encode())
    for name in names:
        encoded = name.encode("utf-8", "backslashreplace")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return int.from_bytes(digest.digest()[:16], "big")
