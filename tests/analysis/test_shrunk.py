"""Shrunk flips of a record: counts by end, and lines."""

from __future__ import annotations

from pytest_evalstudio.analysis.analyse import analyse
from support.records import RecordBuilder, flip, perturbed, score

CARD = {"original": "a card", "question": "a crad", "edits": 1, "total_edits": 3}


def analysed(tmp_path, *edits):
    builder = RecordBuilder(models=("one",))
    builder.add("k", "one", {"outcomes": {"quality": score(1.0)}})
    for number, smallest in enumerate(edits):
        builder.add(
            f"k-{number}",
            "one",
            {"outcomes": {"quality": score(0.0)}, **perturbed("k", "comma:HIGH")},
            flips=[flip("k", smallest=smallest)],
        )
    return analyse(builder.write(tmp_path), {}).shrunk_flips


def test_ends_and_calls_are_counted(tmp_path):
    shrunk = analysed(
        tmp_path,
        {**CARD, "code": "minimal", "calls": 1_200},
        {**CARD, "code": "minimal", "calls": 3},
        {**CARD, "code": "budget", "calls": 2, "reason": "the calls of the run are used up"},
        {**CARD, "code": "no_model"},
        None,
    )
    assert (shrunk.total, shrunk.calls) == (4, 1_205)
    assert shrunk.sentence == (
        "smallest edits of 4 flips with 1,205 calls: 2 minimal, 1 ended by the calls, 1 precomputed"
    )
    assert [line.partition(" quality: ")[2] for line in shrunk.lines(3)] == [
        "smallest edit that flips: a [-card-]{+crad+} (1 of 3 edits; 1,200 calls)",
        "smallest edit that flips: a [-card-]{+crad+} (1 of 3 edits; 3 calls)",
        "smallest edit within 2 calls: a [-card-]{+crad+} (1 of 3 edits; the calls of the run are used up)",
        "",
    ]
    assert [*shrunk.lines(3)][-1] == "and 1 more"


def test_a_run_without_shrunk_flips_says_nothing(tmp_path):
    shrunk = analysed(tmp_path, None)
    assert (shrunk.total, shrunk.sentence, [*shrunk.lines(3)]) == (0, "", [])
