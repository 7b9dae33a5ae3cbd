"""`evalstudio arena` as a person uses it: play, continue, estimate, rate."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.arena.store import BattleStore
from pytest_evalstudio.record.reader import RecordReader

CONFIG = """
[judge]
host = "python"
target = "longest:judge"
"""
JUDGE = """
import json, re, pathlib

def judge(prompt):
    with pathlib.Path("asked.txt").open("a") as file:
        file.write("asked\\n")
    first, second = (
        re.search(rf"<<<(\\w+) {side}_answer\\n(.*?)\\n\\1>>>", prompt, re.DOTALL)[2]
        for side in ("first", "second")
    )
    if "broken" in first + second:
        return "no verdict"
    choice, scores = (
        ("tie", (7, 7))
        if len(first) == len(second)
        else ("first", (7, 6))
        if len(first) > len(second)
        else ("second", (6, 7))
    )
    return json.dumps(
        {
            "reason": "mail jane@bank.com",
            "score_first": scores[0],
            "score_second": scores[1],
            "choice": choice,
        }
    )
"""
ANSWERS = {"m1": "yes it is", "m2": "yes", "m3": "yes, it costs 5 euros"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evalstudio.toml").write_text(CONFIG)
    (tmp_path / "longest.py").write_text(JUDGE)
    write_lab(tmp_path, ANSWERS)
    return tmp_path


def write_lab(folder: Path, answers: dict[str, str], prompts: int = 3) -> None:
    rows = [
        {"key": f"p{number}", "input": f"Question {number}?", "actual_output": text, "model_key": key}
        for key, text in answers.items()
        for number in range(prompts)
    ]
    models = [{"key": key, "llm_model_name": f"model-{key}", "model_type": "h2ogpte_llm"} for key in answers]
    (folder / "a_lab.json").write_text(
        json.dumps({"name": "a", "dataset": {"inputs": rows}, "models": models})
    )


def question_count(folder: Path) -> int:
    path = folder / "asked.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def battles(folder: Path, name: str = "b.csv") -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_pair_is_judged_on_every_prompt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 0
    assert "wrote b.csv: 9 games, 9 new" in capsys.readouterr().out
    for row in battles(folder):
        longer = "model_a" if int(row["chars_a"]) > int(row["chars_b"]) else "model_b"
        assert row["winner"] == longer
        score = "7" if longer == "model_a" else "6"
        assert (row["judge"], row["seed"], row["score_a"]) == ("python", "0", score)
        assert "jane@bank.com" not in row["reason"]


def test_a_second_run_asks_nothing(folder: Path) -> None:
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    before = (folder / "b.csv").read_bytes()
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    assert question_count(folder) == 9
    assert (folder / "b.csv").read_bytes() == before


def test_two_commands_do_not_play_into_one_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BattleStore(folder / "b.csv").playing():
        assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 2
    assert "b.csv: another `arena play` writes into this file; wait until it ends" in capsys.readouterr().err
    assert question_count(folder) == 0
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 0
    assert question_count(folder) == len(battles(folder)) == 9


def test_a_new_model_plays_its_own_games_only(folder: Path) -> None:
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    before = battles(folder)
    write_lab(folder, {**ANSWERS, "m4": "no"})
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    assert question_count(folder) == 18
    after = battles(folder)
    assert after[:9] == before
    assert all("model-m4" in (row["model_a"], row["model_b"]) for row in after[9:])


def test_a_lost_file_costs_no_second_verdict(folder: Path) -> None:
    (folder / "evalstudio.toml").write_text(CONFIG + "cache = true\n")
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    before = (folder / "b.csv").read_bytes()
    (folder / "b.csv").unlink()
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    assert question_count(folder) == 9
    assert (folder / "b.csv").read_bytes() == before


def test_a_game_without_a_verdict_is_left_out_and_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lab(folder, {**ANSWERS, "m2": "broken"})
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 1
    output = capsys.readouterr()
    assert "3 games, 3 new, 6 without a verdict" in output.out
    assert "without a verdict (6 games)" in output.err
    assert len(battles(folder)) == 3


def test_a_budget_ends_the_asking(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "evalstudio.toml").write_text(CONFIG + "max_calls = 4\n")
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 1
    assert question_count(folder) == 4
    assert len(battles(folder)) == 4
    assert "5 without a verdict" in capsys.readouterr().out


def test_an_estimate_asks_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv", "--estimate"]) == 0
    assert "9 games, 9 of them without a verdict" in capsys.readouterr().out
    assert question_count(folder) == 0
    assert not (folder / "b.csv").exists()


def test_a_panel_decides_by_majority(folder: Path) -> None:
    (folder / "evalstudio.toml").write_text(
        '[judge]\nvote = "majority"\n'
        'panel = [{host = "python", target = "longest:judge"}, {host = "python", target = "shortest:judge"},'
        ' {host = "python", target = "longest:judge", concurrency = 2}]\n'
    )
    (folder / "shortest.py").write_text(JUDGE.replace("len(first) > len(second)", "len(first) < len(second)"))
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 0
    for row in battles(folder):
        assert row["winner"] == ("model_a" if int(row["chars_a"]) > int(row["chars_b"]) else "model_b")
        assert row["judge"] == "python, python, python"


def test_a_configured_model_can_judge_and_then_does_not_play(folder: Path) -> None:
    (folder / "s_suite.json").write_text(
        json.dumps({"name": "s", "tests": [{"key": "t", "test_cases": [{"key": "c", "prompt": "Hm?"}]}]})
    )
    models = "".join(
        f'[[model]]\nname = "{name}"\nhost = "scripted"\nanswers = {{"Hm?" = "{text}"}}\n'
        for name, text in (("short", "no"), ("long", "no, never"))
    )
    (folder / "evalstudio.toml").write_text(
        models + '[[model]]\nname = "umpire"\nhost = "python"\ntarget = "longest:judge"\n'
    )
    assert main(["arena", "play", "s_suite.json", "-o", "b.csv", "--judge", "umpire"]) == 0
    [row] = battles(folder)
    assert {row["model_a"], row["model_b"]} == {"short", "long"}
    assert row[row["winner"]] == "long"
    assert row["judge"] == "umpire"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--judge", "nobody"], "'nobody'"),
        (["--model", "model-m9"], "'model-m9'"),
        (["--seed", "-1"], "seed = -1"),
    ],
)
def test_wrong_arguments_are_usage_errors(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_without_a_judge_the_remedy_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "evalstudio.toml").write_text("")
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 2
    assert "[judge]" in capsys.readouterr().err


def test_ratings_have_the_documented_keys(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    capsys.readouterr()
    assert main(["arena", "rate", "b.csv", "--json", "--rounds", "50"]) == 0
    ratings = json.loads(capsys.readouterr().out)
    assert [model["model"] for model in ratings["models"]] == ["model-m3", "model-m1", "model-m2"]
    assert {
        "model",
        "games",
        "wins",
        "ties",
        "elo_sequential",
        "elo_median",
        "elo_low",
        "elo_high",
        "bradley_terry",
        "bradley_terry_low",
        "bradley_terry_high",
    } <= set(ratings["models"][0])
    assert len(ratings["pairs"]) == 3


def test_a_folder_gets_ratings_and_pictures(folder: Path) -> None:
    main(["arena", "play", "a_lab.json", "-o", "b.csv"])
    assert main(["arena", "rate", "b.csv", "-o", "arena", "--rounds", "50"]) == 0
    assert sorted(path.name for path in (folder / "arena").iterdir()) == [
        "arena.json",
        "arena.md",
        "ratings.svg",
        "win_rates.svg",
    ]
    assert "model-m3 against model-m1: 100 %" in (folder / "arena" / "win_rates.svg").read_text()


def test_a_file_without_games_is_an_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.csv").write_text("prompt_key,model_a,model_b,winner\n")
    assert main(["arena", "rate", "b.csv"]) == 2
    assert "b.csv: there are no games in it" in capsys.readouterr().err


def test_a_bad_file_is_an_error_with_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.csv").write_text("prompt_key,model_a,model_b,winner\np,x,y,draw\n")
    assert main(["arena", "rate", "b.csv"]) == 2
    assert "b.csv:2: winner 'draw'" in capsys.readouterr().err


def test_a_suites_models_are_asked_once_for_the_games_of_a_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = (
        'import pathlib\n\n\ndef one(prompt):\n    return answer("one")\n\n\ndef two(prompt):\n'
        '    return answer("two, longer")\n\n\ndef answer(text):\n'
        '    with pathlib.Path("answered.txt").open("a") as file:\n        file.write("x")\n'
        '    return text + pathlib.Path("version.txt").read_text()\n'
    )
    (folder / "models.py").write_text(model)
    (folder / "version.txt").write_text("")
    tables = "".join(
        f'[[model]]\nname = "{name}"\nhost = "python"\ntarget = "models:{name}"\ncache = "resume"\n'
        for name in ("one", "two")
    )
    (folder / "evalstudio.toml").write_text(tables + CONFIG)
    suite = {"tests": [{"test_cases": [{"key": "a", "prompt": "A?"}, {"key": "b", "prompt": "B?"}]}]}
    (folder / "a_suite.json").write_text(json.dumps(suite))

    def answer_count() -> int:
        return len((folder / "answered.txt").read_text()) if (folder / "answered.txt").exists() else 0

    def play(*arguments: str) -> tuple[int, int]:
        before = answer_count()
        assert main(["arena", "play", "a_suite.json", "-o", "b.csv", *arguments]) == 0
        return answer_count() - before, question_count(folder)

    assert play("--estimate") == (0, 0)
    assert capsys.readouterr().out.splitlines()[:2] == [
        "4 of 4 answers are not stored; the models are asked for them first",
        "2 games, 2 of them without a verdict in b.csv",
    ]
    assert not list(folder.glob(".b.csv*"))
    assert play() == (4, 2)
    capsys.readouterr()
    assert play("--estimate") == (0, 2)
    assert "2 games, 0 of them without a verdict in b.csv" in capsys.readouterr().out
    assert play() == (0, 2)
    assert "4 of 4 answers are those of the games in b.csv; --refresh asks again" in capsys.readouterr().out
    (folder / "version.txt").write_text(" and more")
    assert play("--refresh") == (4, 4)


SUITE = [
    {"key": "p0", "prompt": "Fee?", "categories": ["fees"]},
    {
        "key": "p0-copy",
        "prompt": "Fee, please?",
        "categories": ["fees", "perturbed"],
        "relationships": [{"type": "perturbation_source", "target": "p0", "target_type": "test_case"}],
    },
    {"key": "p1", "prompt": "Card?", "categories": ["cards"]},
    {"key": "p2", "prompt": "Later?", "skip": "not yet"},
    {
        "key": "p3",
        "prompt": "Alone?",
        "relationships": [{"type": "perturbation_source", "target": "elsewhere", "target_type": "suite"}],
    },
]


def write_suite(folder: Path) -> None:
    (folder / "s_suite.json").write_text(json.dumps({"tests": [{"test_cases": SUITE}]}))
    (folder / "evalstudio.toml").write_text(
        f'evaluators = ["looping_detection"]\n{CONFIG}\n[arena]\nrounds = 20\n'
        + "".join(
            f'[[model]]\nname = "{name}"\nhost = "scripted"\ndefault = "{text}"\n'
            for name, text in (("one", "yes"), ("two", "yes, it is"))
        )
    )


def test_the_command_plays_the_prompts_that_the_test_run_plays(folder: Path) -> None:
    write_suite(folder)
    assert main(["arena", "play", "s_suite.json", "-o", "b.csv"]) == 0
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "s_suite.json"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    [pair] = RecordReader(folder / "evalstudio-report" / "record.jsonl").run.arena.values()

    by_command = {(row["prompt_key"], row["categories"]) for row in battles(folder)}

    assert by_command == {("p0", '["fees"]'), ("p1", '["cards"]'), ("p3", "")}
    by_run = {(game.prompt_key, game.categories) for game in pair.battles}
    assert by_run == {("p0", ("fees",)), ("p1", ("cards",)), ("p3", ())}


def test_the_published_procedure_has_its_own_verdicts_without_ties(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lab(folder, {"m1": "same", "m2": "same"}, prompts=1)
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 0
    assert [(row["winner"], row["judge"]) for row in battles(folder)] == [("tie", "python")]

    assert main(["arena", "play", "a_lab.json", "-o", "b.csv", "--prompt", "document"]) == 1
    assert (
        "choice" in capsys.readouterr().err
    )  # the judge's reply is a tie, which the procedure does not have
    write_lab(folder, {"m1": "short", "m2": "longer"}, prompts=1)
    assert main(["arena", "play", "a_lab.json", "-o", "c.csv", "--prompt", "document"]) == 0

    [row] = battles(folder, "c.csv")
    assert row[row["winner"]] == "model-m2"
    assert row["judge"] == "python (document)"
    for estimate in (["--prompt", "document"], []):
        assert main(["arena", "play", "a_lab.json", "-o", "c.csv", "--estimate", *estimate]) == 0
        missing = 0 if estimate else 1
        assert f"1 games, {missing} of them without a verdict" in capsys.readouterr().out


def test_ratings_by_category_are_printed_and_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_suite(folder)
    main(["arena", "play", "s_suite.json", "-o", "b.csv"])
    capsys.readouterr()
    assert main(["arena", "rate", "b.csv", "-o", "out", "--rounds", "20"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "1 cards two 1016 1016 to 1016 1" in lines  # K / 2 points for a win between equals
    assert "one 984 984 to 984 1" in lines
    categories = json.loads((folder / "out" / "arena.json").read_text())["categories"]
    assert [(entry["category"], entry["prompts"]) for entry in categories] == [("cards", 1), ("fees", 1)]
    assert "| 1 | cards | two | 1016 |" in (folder / "out" / "arena.md").read_text()


PUBLISHED = """
import json, re

FORMS = [
    lambda first, second: {"choice": first, "scores": {first: 8, second: 6}, "reason": "x"},
    lambda first, second: {"reason": "x", "scores": {second: 6.5, first: "8"}, "choice": first.upper()},
]
asked = []


def judge(prompt):
    answers = {
        name: re.search(rf"<<<(\\w+) {side}_answer\\n(.*?)\\n\\1>>>", prompt, re.DOTALL)[2]
        for name, side in (("model_a", "first"), ("model_b", "second"))
    }
    first, second = sorted(answers, key=lambda name: -len(answers[name]))
    asked.append(first)
    reply = json.dumps(FORMS[len(asked) % len(FORMS) if "document" == MODE else 0](first, second))
    return f"```json\\n{reply}\\n```" if len(asked) % 2 else reply
"""


def use_judge(folder: Path, source: str) -> None:
    """Let a judge of this test alone play: the modules of others stay in the process."""
    name = "judge_" + "".join(filter(str.isalnum, folder.name))
    (folder / f"{name}.py").write_text(source)
    (folder / "evalstudio.toml").write_text(CONFIG.replace("longest", name))


@pytest.mark.parametrize("prompt", ["document", "default"])
def test_replies_in_the_published_form_are_verdicts(folder: Path, prompt: str) -> None:
    use_judge(folder, PUBLISHED.replace("MODE", repr(prompt)))
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv", "--prompt", prompt]) == 0
    rows = battles(folder)
    assert len(rows) == 9
    for row in rows:
        longer, shorter = ("a", "b") if int(row["chars_a"]) > int(row["chars_b"]) else ("b", "a")
        assert row["winner"] == f"model_{longer}"
        assert row[f"score_{longer}"] == "8"
        assert row[f"score_{shorter}"] in ("6", "6.5")


@pytest.mark.parametrize(
    "reply",
    [
        {"choice": "model_a", "reason": "x", "scores": {"model_a": 2, "model_b": 9}},
        {"choice": "model_a", "reason": "x", "scores": {"model_a": 2}},
        {"choice": "model_a", "reason": "x", "scores": {"model_a": 11, "model_b": 9}},
        {"choice": "model_c", "reason": "x", "scores": {"model_a": 9, "model_b": 2}},
        {"choice": "model_a", "reason": "x"},
    ],
    ids=["contradiction", "one score", "out of range", "third model", "no scores"],
)
def test_a_faulty_reply_in_the_published_form_is_no_verdict(folder: Path, reply: dict[str, object]) -> None:
    use_judge(folder, f"def judge(prompt):\n    return {json.dumps(json.dumps(reply))}\n")
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 1
    assert battles(folder) == []


def test_a_score_that_is_given_twice_is_no_verdict(folder: Path) -> None:
    scores = '{"model_a": 9, "model_a": 1, "model_b": 2}'
    reply = '{"choice": "model_a", "reason": "x", "scores": ' + scores + "}"
    use_judge(folder, f"def judge(prompt):\n    return {reply!r}\n")
    assert main(["arena", "play", "a_lab.json", "-o", "b.csv"]) == 1
