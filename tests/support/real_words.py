"""Write the list of English words that are one typo away from another English word, from WordNet 3.0."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from pytest_evalstudio.perturbations import _typos
from pytest_evalstudio.perturbations._wordnet import find_wordnet, open_wordnet
from pytest_evalstudio.perturbations.keyboard_typos import NEIGHBOURS

TARGET = Path(_typos.__file__).with_name("_real_words.txt")
INDEXES = (("noun", "n"), ("verb", "v"), ("adj", "a"), ("adv", "r"))
FUNCTION_WORDS = (
    "about above after again against because before being below between both does doing down during"
    " each either ever from further have having here itself just might more most must neither never"
    " only onto other over same shall should since some such than that their them then there these"
    " they this those though through under until upon very were what when where whether which while"
    " whom whose will with within without would your yours"
)
VOWELS = "aeiou"


def typo_words() -> set[str]:
    """Return words of WordNet's tagged texts that a typo makes of another word of these texts."""
    attested = forms(find_wordnet())
    return {
        typo
        for word in attested
        if len(word) > 3
        for typo in typos(word)
        if typo != word and typo in attested
    }


def forms(folder: str) -> set[str]:
    """Return the attested words with their inflections."""
    entries: set[tuple[str, str]] = set()
    for name, part in INDEXES:
        for line in Path(folder, f"index.{name}").read_text(encoding="ascii").splitlines():
            lemma, *fields = line.split()
            # An index line ends with: senses, tagged senses, one offset per sense.
            is_word = not line.startswith(" ") and lemma.isalpha() and len(lemma) > 2
            if is_word and int(fields[-1 - int(fields[1])]):
                entries.add((lemma, part))
    words = {word for word, _ in entries} | set(FUNCTION_WORDS.split())
    words |= {third_person(word) for word, part in entries if part in "nv"}
    words |= {form for word, part in entries if part == "v" for form in (past(word), participle(word))}
    for part, exceptions in open_wordnet(folder).reader._exception_map.items():
        words |= {form for form, bases in exceptions.items() if bases and (bases[0], part) in entries}
    return {word for word in words if word.isascii() and word.isalpha()}


def third_person(word: str) -> str:
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")


def past(word: str) -> str:
    if word.endswith("e"):
        return word + "d"
    if word.endswith("y") and word[-2] not in VOWELS:
        return word[:-1] + "ied"
    return doubled_end(word) + "ed"


def participle(word: str) -> str:
    drops = word.endswith("e") and not word.endswith(("ee", "oe", "ye"))
    return (word[:-1] if drops else doubled_end(word)) + "ing"


def doubled_end(word: str) -> str:
    short = len(word) < 6 and word[-1] not in VOWELS + "wxy" and word[-2] in VOWELS and word[-3] not in VOWELS
    return word + word[-1] if short else word


def typos(word: str) -> Iterator[str]:
    for index in range(1, len(word) - 1):
        yield word[:index] + word[index] + word[index:]
        yield word[:index] + word[index + 1 :]
        yield word[: index + 1][:-1] + word[index + 1] + word[index] + word[index + 2 :]
        yield from (
            word[:index] + key + word[index + 1 :] for key in NEIGHBOURS[word[index]] if key.isalpha()
        )


if __name__ == "__main__":
    TARGET.write_text(textwrap.fill(" ".join(sorted(typo_words())), 110) + "\n", encoding="ascii")
    sys.stdout.write(f"{TARGET}: {TARGET.stat().st_size} bytes\n")
