"""How often the rules find a word's part of speech, on sentences labelled by hand: WORD/PART, no mark for
words of grammar and names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.perturbations._lexical import tagged
from pytest_evalstudio.perturbations._wordnet import find_wordnet
from pytest_evalstudio.stats.intervals import wilson_interval

LABELLED = Path(__file__).with_name("tagged_questions.txt")
AT_LEAST = 0.85


def accuracy() -> tuple[int, int, list[str]]:
    """Right ones, all words that were labelled, and the wrong ones."""
    right, total, wrong = 0, 0, []
    for line in LABELLED.read_text(encoding="utf-8").splitlines():
        labels = [token.partition("/")[::2] for token in line.split() if token[0].isalnum()]
        result = tagged(" ".join(token.partition("/")[0] for token in line.split()))
        assert [word for word, _ in labels] == [word for word, _ in result]
        for (word, label), (_, part) in zip(labels, result, strict=True):
            if label:
                total += 1
                right += label == part
                wrong += [f"{word}: {part or 'none'}, not {label}, in {line}"] if label != part else []
    return right, total, wrong


@pytest.mark.slow
@pytest.mark.skipif(not find_wordnet(), reason="there is no WordNet: apt-get install wordnet-base")
def test_parts_of_speech_are_mostly_right():
    right, total, wrong = accuracy()
    assert total > 190
    assert right / total >= AT_LEAST, wrong


if __name__ == "__main__":
    right, total, wrong = accuracy()
    low, high = wilson_interval(right, total)
    print(*wrong, sep="\n")  # noqa: T201
    print(f"{right} of {total} words right: {right / total:.1%}, 95 % interval {low:.1%} to {high:.1%}")  # noqa: T201
