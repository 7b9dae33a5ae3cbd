"""Votes of people: blind, sides and order of their own, kept at once, and taken back."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pytest_evalstudio.contrib.arena.battle_files import battles_csv, read_battles
from pytest_evalstudio.contrib.arena.store import BattleStore
from pytest_evalstudio.contrib.arena.votes import VoteSession
from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.record.arena import Battle

ANSWERS = [
    Case(
        key=f"p{number}",
        question=f"Question {number}?",
        answer=Answer(text=f"{name} {number}"),
        model_key=name,
    )
    for name in ("alpha", "beta", "gamma")
    for number in range(4)
]


def session(folder: Path, rater: str = "ann", **more) -> VoteSession:
    return VoteSession(ANSWERS, BattleStore(folder / "b.csv"), rater=rater, title="Bank", **more)


def vote(voter: VoteSession, id: int, value: str | None) -> None:
    voter.label(id, voter.case(id)["answer_id"], value)


def test_the_page_shows_no_name_of_a_model(tmp_path: Path) -> None:
    voter = session(tmp_path)
    case = voter.case(0)
    assert set(case) == {"id", "answer_id", "earlier", "question", "first", "second"}
    assert not {"alpha", "beta", "gamma"} & set(map(str, case.values()))
    assert voter.state()["wanted"] == 12


def test_each_voter_has_an_order_and_sides_of_their_own(tmp_path: Path) -> None:
    orders = [
        [(voter.case(id)["first"], voter.case(id)["second"]) for id in range(12)]
        for voter in (session(tmp_path), session(tmp_path), session(tmp_path, "ben"))
    ]
    assert orders[0] == orders[1] != orders[2]
    assert {frozenset(pair) for pair in orders[0]} == {frozenset(pair) for pair in orders[2]}


@pytest.mark.parametrize(("value", "winner"), [("first", "model_a"), ("second", "model_b"), ("tie", "tie")])
def test_a_vote_is_on_the_disk_with_its_rater(tmp_path: Path, value: str, winner: str) -> None:
    voter = session(tmp_path)
    vote(voter, 3, value)
    [battle] = read_battles(tmp_path / "b.csv")
    case = voter.case(3)
    assert (battle.winner, battle.rater, battle.judge) == (winner, "ann", "")
    assert case["first"].startswith(battle.model_a)
    assert voter.state()["cases"][3] == {"id": 3, "label": value}


def test_another_vote_replaces_the_first_and_can_be_taken_back(tmp_path: Path) -> None:
    voter = session(tmp_path)
    vote(voter, 0, "first")
    vote(voter, 0, "second")
    [battle] = read_battles(tmp_path / "b.csv")
    assert battle.winner == "model_b"
    vote(voter, 0, None)
    assert voter.state()["done"] == 0


def test_votes_of_others_and_verdicts_of_judges_stay(tmp_path: Path) -> None:
    judged = Battle(prompt_key="p0", model_a="alpha", model_b="beta", winner="tie", judge="gpt")
    (tmp_path / "b.csv").write_bytes(battles_csv([judged]))
    vote(session(tmp_path), 0, "first")
    vote(session(tmp_path, "ben"), 0, "tie")
    battles = read_battles(tmp_path / "b.csv")
    assert [battle.judge or battle.rater for battle in battles] == ["gpt", "ann", "ben"]


def test_a_vote_on_texts_that_have_changed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="have changed"):
        session(tmp_path).label(0, "t0", "first")


def test_an_earlier_vote_on_other_texts_does_not_count(tmp_path: Path) -> None:
    voter = session(tmp_path)
    vote(voter, 0, "first")
    changed = [
        Case(key=case.key, question=case.question, answer=Answer(text="new"), model_key=case.model_key)
        for case in ANSWERS
    ]
    second_session = VoteSession(changed, voter.store, rater="ann", title="Bank")
    assert second_session.state()["done"] == 0


@pytest.mark.parametrize("value", [1, True, "third", ["first"]])
def test_only_first_second_and_tie_are_votes(tmp_path: Path, value: object) -> None:
    assert not session(tmp_path).accepts(value)


def test_a_voter_needs_a_name_and_a_positive_limit(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--rater"):
        session(tmp_path, " ")
    with pytest.raises(ConfigurationError, match="--limit 0"):
        session(tmp_path, limit=0)
    assert session(tmp_path, limit=2).state()["wanted"] == 2


def test_people_who_vote_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    def all_of(rater: str) -> None:
        voter = session(tmp_path, rater)
        for id in range(6):
            vote(voter, id, "first")

    threads = [threading.Thread(target=all_of, args=(name,)) for name in ("ann", "ben", "cyd")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_battles(tmp_path / "b.csv")) == 18
