"""Slips of the finger."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Change, Intensity, perturbator
from pytest_evalstudio.perturbations._characters import SHARES, picked, stream
from pytest_evalstudio.perturbations._typos import doubled, dropped, replaced_from, transposed, typical

_ROWS = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")


def _neighbours() -> dict[str, str]:
    """Return the adjacent keys of each key on a US keyboard.

    Each row is half a key to the right of the row above.
    """
    neighbours: dict[str, str] = {}
    for row, keys in enumerate(_ROWS):
        for column, key in enumerate(keys):
            near = [
                (row, column - 1),
                (row, column + 1),
                (row - 1, column),
                (row - 1, column + 1),
                (row + 1, column - 1),
                (row + 1, column),
            ]
            neighbours[key] = "".join(
                _ROWS[r][c] for r, c in near if 0 <= r < len(_ROWS) and 0 <= c < len(_ROWS[r])
            )
    return neighbours | {key.upper(): near.upper() for key, near in neighbours.items() if key.isalpha()}


NEIGHBOURS = _neighbours()
_TYPOS = (replaced_from(NEIGHBOURS), doubled, dropped, transposed)
_KEYS = bytes(chr(byte) in NEIGHBOURS for byte in range(256))


@perturbator("keyboard_typos", name="Keyboard typos", intensities=INTENSITIES, default="TYPICAL")
@dataclass(frozen=True)
class KeyboardTypos:
    """Makes typical typos, or replaces a share of the keys by adjacent keys on a US keyboard.

    Typical typos are an adjacent key, a doubled, dropped or transposed letter.
    """

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        on_keys = (
            text.encode("ascii").translate(_KEYS) if text.isascii() else map(NEIGHBOURS.__contains__, text)
        )
        candidates = list(compress(range(len(text)), on_keys))
        if not candidates:
            return Change.none("none of its characters is on a US keyboard")
        if intensity == "TYPICAL":
            return typical(text, _TYPOS, seed, len(candidates))
        positions = picked(candidates, SHARES[intensity], seed)
        letters = list(text)
        for position, byte in zip(positions, stream(seed, len(positions)), strict=True):
            near = NEIGHBOURS[letters[position]]
            letters[position] = near[byte % len(near)]
        return Change("".join(letters), len(positions))
