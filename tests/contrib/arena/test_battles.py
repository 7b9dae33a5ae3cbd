"""Files of games: what is read, what is written, and faults with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalstudio.contrib.arena.battle_files import COLUMNS, battles_csv, read_battles, texts_id
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.record.arena import Battle

BATTLE = Battle(
    prompt_key="fees",
    model_a="a",
    model_b="b",
    winner="tie",
    score_a=7.5,
    score_b=8.0,
    reason='=SUM(1) "quoted",\nnext line',
    judge="gpt",
    seed=3,
    chars_a=10,
    chars_b=20,
    texts_id="t1",
)


def battles_file(folder: Path, text: str) -> Path:
    path = folder / "battles.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_games_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "battles.csv"
    battles = [BATTLE, Battle(prompt_key="fees", model_a="b", model_b="@c", winner="model_b", rater="ann")]
    path.write_bytes(battles_csv(battles))
    assert read_battles(path) == battles
    header = path.read_text(encoding="utf-8").splitlines()[0]
    assert header.split(",") == list(COLUMNS)


def test_formulas_are_written_as_text() -> None:
    assert "'=SUM(1)" in battles_csv([BATTLE]).decode()


def test_required_columns_are_enough_and_further_ones_are_kept(tmp_path: Path) -> None:
    path = battles_file(tmp_path, "winner,prompt_key,model_a,model_b,submitted_at\nmodel_a,p,x,y,2023\n")
    [battle] = read_battles(path)
    assert (battle.prompt_key, battle.preferred, battle.points) == ("p", "x", 1.0)
    assert battle.others == {"submitted_at": "2023"}
    assert battles_csv([battle]).decode().splitlines()[0].endswith(",submitted_at")


@pytest.mark.parametrize(
    ("text", "place", "fact"),
    [
        ("prompt_key,model_a,model_b\np,x,y\n", ":1:", "'winner'"),
        ("prompt_key,model_a,model_b,winner\np,x,y,model_a\np,x,y,tie (bothbad)\n", ":3:", "tie (bothbad)"),
        ("prompt_key,model_a,model_b,winner\np,x,x,model_a\n", ":2:", "model_a and model_b are both 'x'"),
        ("prompt_key,model_a,model_b,winner\n,x,y,model_a\n", ":2:", "prompt_key is empty"),
        ("prompt_key,model_a,model_b,winner\np,,y,model_a\n", ":2:", "model_a is empty"),
        ("prompt_key,model_a,model_b,winner,score_a\np,x,y,tie,high\n", ":2:", "score_a 'high'"),
        ("prompt_key,model_a,model_b,winner,score_b\np,x,y,tie,nan\n", ":2:", "score_b 'nan'"),
        ("prompt_key,model_a,model_b,winner,seed\np,x,y,tie,1.5\n", ":2:", "not a whole number"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, text: str, place: str, fact: str) -> None:
    with pytest.raises(DataError) as exc_info:
        read_battles(battles_file(tmp_path, text))
    assert place in str(exc_info.value)
    assert fact in str(exc_info.value)


def test_the_digest_of_texts_ignores_sides_and_notices_changes() -> None:
    assert texts_id("q", {"a": "1", "b": "2"}) == texts_id("q", {"b": "2", "a": "1"})
    assert texts_id("q", {"a": "1", "b": "2"}) != texts_id("q", {"a": "2", "b": "1"})
    assert texts_id("q", {"a": "1", "b": "2"}) != texts_id("q!", {"a": "1", "b": "2"})


@pytest.mark.parametrize("categories", [(), ("fees",), ("a; b", 'c "d"', "é")])
def test_categories_are_read_as_they_were_written(tmp_path: Path, categories: tuple[str, ...]) -> None:
    battle = Battle(prompt_key="p", model_a="a", model_b="b", winner="tie", categories=categories)
    (tmp_path / "b.csv").write_bytes(battles_csv([battle]))
    assert read_battles(tmp_path / "b.csv") == [battle]


@pytest.mark.parametrize(
    ("cell", "categories"), [("maths", ("maths",)), ("[broken", ("[broken",)), ("[1]", ())]
)
def test_categories_of_other_files_are_read(tmp_path: Path, cell: str, categories: tuple[str, ...]) -> None:
    (tmp_path / "b.csv").write_text(f"prompt_key,model_a,model_b,winner,categories\np,a,b,tie,{cell}\n")
    assert read_battles(tmp_path / "b.csv")[0].categories == categories
