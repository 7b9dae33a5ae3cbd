"""Typical scanning errors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress

from pytest_evalstudio.core.plugins.perturbator import INTENSITIES, Change, Intensity, perturbator
from pytest_evalstudio.perturbations._characters import SHARES, picked, stream
from pytest_evalstudio.perturbations._typos import replaced_from, typical

MISREADINGS = {
    "0": ("O", "o", "D"), "1": ("l", "I", "i"), "2": ("Z", "z"), "3": ("8", "B"), "4": ("A",), "5": ("S", "s"), "6": ("b", "G"),  # noqa: E501
    "7": ("T", "1"), "8": ("B", "3"), "9": ("g", "q"),
    "a": ("o", "d"), "b": ("6", "h"), "c": ("e", "o"), "d": ("cl",), "e": ("c", "o"), "f": ("t",), "g": ("9", "q"), "h": ("b", "n"),  # noqa: E501
    "i": ("1", "l", "j"), "j": ("i",), "k": ("lc",), "l": ("1", "I", "i"), "m": ("rn", "nn"), "n": ("h", "r", "ri"), "o": ("0", "c"),  # noqa: E501
    "p": ("q",), "q": ("g", "9"), "r": ("n",), "s": ("5",), "t": ("f", "1"), "u": ("v", "ii"), "v": ("u", "y"), "w": ("vv",), "x": ("%",),  # noqa: E501
    "y": ("v",), "z": ("2",),
    "A": ("4", "R"), "B": ("8", "3"), "C": ("G", "("), "D": ("O", "0"), "E": ("F",), "F": ("P", "E"), "G": ("6", "C"), "H": ("N",),  # noqa: E501
    "I": ("l", "1"), "J": ("I",), "K": ("X",), "L": ("I",), "M": ("N",), "N": ("M", "H"), "O": ("0", "Q", "D"), "P": ("F",), "Q": ("O",),  # noqa: E501
    "R": ("A", "B"), "S": ("5", "8"), "T": ("7", "I"), "U": ("V",), "V": ("U",), "W": ("VV",), "X": ("K",), "Y": ("V",), "Z": ("2", "7"),  # noqa: E501
}  # fmt: skip
"""Characters to what scanners take them for."""

_TYPOS = (replaced_from(MISREADINGS),)
_READ = bytes(chr(byte) in MISREADINGS for byte in range(256))


@perturbator("ocr", name="OCR errors", intensities=INTENSITIES, default="TYPICAL")
@dataclass(frozen=True)
class Ocr:
    """Replaces a share of the Latin letters and digits by typical scanning errors: 0 for O, rn for m.

    Other characters stay.
    """

    def perturb(self, text: str, intensity: Intensity, seed: int) -> Change:
        readable = (
            text.encode("ascii").translate(_READ) if text.isascii() else map(MISREADINGS.__contains__, text)
        )
        candidates = list(compress(range(len(text)), readable))
        if not candidates:
            return Change.none("it has no Latin letter or digit that a scanner would misread")
        if intensity == "TYPICAL":
            return typical(text, _TYPOS, seed, len(candidates))
        positions = picked(candidates, SHARES[intensity], seed)
        letters = list(text)
        for position, byte in zip(positions, stream(seed, len(positions)), strict=True):
            taken_for = MISREADINGS[letters[position]]
            letters[position] = taken_for[byte % len(taken_for)]
        return Change("".join(letters), len(positions))
