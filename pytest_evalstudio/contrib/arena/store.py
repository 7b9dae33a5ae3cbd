"""Battles on disk: a file that `play` and several voters change at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pytest_evalstudio.contrib.arena.battle_files import battles_csv, read_battles
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.locking import locked
from pytest_evalstudio.core.writing import write_whole
from pytest_evalstudio.record.arena import Battle


class BattleStore:
    """A file of battles; each change reads it and replaces it whole, under a lock.

    Args:
        path: of the file; its folder must be there.
    """

    def __init__(self, path: Path) -> None:
        # A link stays a link: replacing the file would replace the link itself.
        self.path = Path(os.path.realpath(path))

    def battles(self) -> list[Battle]:
        """Return all games, [] where there is no file yet.

        Raises:
            DataError: if the file cannot be read as battles.
        """
        return read_battles(self.path) if self.path.is_file() else []

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Keep other commands from playing into the file; votes go on.

        Raises:
            DataError: if another command plays into it.
        """
        try:
            with locked(self._lock("play"), wait=False):
                yield
        except BlockingIOError:
            raise DataError(
                f"{self.path}: another `arena play` writes into this file; wait until it ends, or name"
                " another file with -o"
            ) from None

    def change(self, change: Callable[[list[Battle]], list[Battle]]) -> list[Battle]:
        """Replace the games of the file by what `change` returns for them, and return these."""
        with locked(self._lock("lock")):
            battles = change(self.battles())
            write_whole(self.path, battles_csv(battles))
            return battles

    def _lock(self, kind: str) -> Path:
        return self.path.with_name(f".{self.path.name}.{kind}")

    def vote(self, vote: Battle) -> None:
        """Set the vote of a person on a game, in place of an earlier one."""
        self.change(lambda battles: [*(each for each in battles if not _same(each, vote)), vote])

    def retract(self, vote: Battle) -> None:
        """Take the vote of a person on a game back."""
        self.change(lambda battles: [each for each in battles if not _same(each, vote)])


def _same(battle: Battle, vote: Battle) -> bool:
    """Return whether both are the same person's votes on the same game."""
    return (battle.rater, battle.prompt_key, battle.models) == (vote.rater, vote.prompt_key, vote.models)
