"""A WordNet of a few words in the files of the real one, for machines that have none.

Source of the format: wndb(5WN) and senseidx(5WN) of WordNet 3.0.
"""

from __future__ import annotations

from pathlib import Path

SYNSETS = (
    ("noun", {"cost": 5, "price": 9, "terms": 0}, ""),
    ("noun", {"child": 9, "kid": 4, "young_person": 1}, "parent"),
    ("noun", {"parent": 6}, "child"),
    ("noun", {"apple": 2, "orchard_fruit": 1}, ""),
    ("noun", {"record": 4, "account": 3}, ""),
    ("verb", {"open": 8, "open_up": 1}, "close"),
    ("verb", {"close": 7, "shut": 3}, "open"),
    ("adj", {"high": 9}, "low"),
    ("adj", {"low": 8}, "high"),
    ("adj", {"big": 9, "large": 6}, "small"),
    ("adj", {"small": 7, "little": 5}, "big"),
    ("adj", {"unpaid": 2}, "paid"),
    ("adj", {"paid": 3}, "unpaid"),
    ("adv", {"quickly": 5, "rapidly": 4}, "slowly"),
    ("adv", {"slowly": 6}, "quickly"),
)
EXCEPTIONS = {"noun": "children child\n", "verb": "", "adj": "bigger big\nbiggest big\n", "adv": ""}
_PARTS = {"noun": ("n", 1), "verb": ("v", 2), "adj": ("a", 3), "adv": ("r", 4)}
_FILE = {"noun": 3, "verb": 29, "adj": 0, "adv": 2}


def write_wordnet(folder: Path) -> Path:
    """The files of a database; lexnames is left out, as Debian does."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = []
    for part in _PARTS:
        synsets = [entry for entry in SYNSETS if entry[0] == part]
        offsets = _offsets(part, synsets)
        (folder / f"data.{part}").write_text(
            "".join(_line(part, entry, synsets, offsets) for entry in synsets)
        )
        (folder / f"index.{part}").write_text("".join(sorted(_index_lines(part, synsets, offsets))))
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part])
        counts += [
            f"{word}%{_PARTS[part][1]}:{_FILE[part]:02d}:00:: 1 {count}\n"
            for _, words, _ in synsets
            for word, count in words.items()
            if count
        ]
    (folder / "cntlist.rev").write_text("".join(sorted(counts)))
    return folder


def _offsets(part: str, synsets: list) -> list[int]:
    result, place = [], 0
    for entry in synsets:
        result.append(place)
        place += len(_line(part, entry, synsets, [0] * len(synsets)))
    return result


def _line(part: str, entry: tuple, synsets: list, offsets: list[int]) -> str:
    _, words, opposite = entry
    kind, _ = _PARTS[part]
    pointers = ""
    if opposite:
        other = next(number for number, (_, others, _) in enumerate(synsets) if opposite in others)
        pointers = f"! {offsets[other]:08d} {kind} 0101 "
    word_list = "".join(f"{word} 0 " for word in words)
    frames = "01 + 02 00 " if part == "verb" else ""
    place = offsets[synsets.index(entry)]
    return (
        f"{place:08d} {_FILE[part]:02d} {kind} {len(words):02x} {word_list}{int(bool(opposite)):03d}"
        f" {pointers}{frames}| made up  \n"
    )


def _index_lines(part: str, synsets: list, offsets: list[int]) -> list[str]:
    kind, _ = _PARTS[part]
    lines = []
    for number, (_, words, opposite) in enumerate(synsets):
        for word, count in words.items():
            pointer = "1 !" if opposite else "0"
            lines.append(f"{word} {kind} 1 {pointer} 1 {int(bool(count))} {offsets[number]:08d}  \n")
    return lines
