"""The arena as pytest items: one per pair of models, a leaderboard, gates on ratings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.record.reader import RecordReader
from support.project import Project

JUDGE = """
import json, re

def judge(prompt):
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
            "reason": "jane@bank.com is longer",
            "score_first": scores[0],
            "score_second": scores[1],
            "choice": choice,
        }
    )

def long(prompt):
    return prompt + " I answer at length."

def short(prompt):
    return "No."
"""
CONFIG = """
evaluators = ["looping_detection"]
{more}

[judge]
host = "python"
target = "answering:judge"

[arena]
rounds = 50
{arena}
"""
ANSWERS = {"m1": "yes it is", "m2": "yes", "m3": "yes, it costs 5 euros"}


@pytest.fixture
def arena(project: Project) -> Project:
    project.write("answering.py", JUDGE)
    configure(project)
    write_lab(project, ANSWERS)
    return project


def configure(project: Project, more: str = "", arena: str = "") -> None:
    project.write("evalstudio.toml", CONFIG.format(more=more, arena=arena))


def write_lab(project: Project, answers: dict[str, str], prompts: int = 3) -> None:
    rows = [
        {"key": f"p{number}", "input": f"Question {number}?", "actual_output": text, "model_key": key}
        for key, text in answers.items()
        for number in range(prompts)
    ]
    models = [{"key": key, "llm_model_name": f"model-{key}", "model_type": "h2ogpte_llm"} for key in answers]
    project.write("a_lab.json", json.dumps({"name": "a", "dataset": {"inputs": rows}, "models": models}))


def record(project: Project) -> RecordReader:
    return RecordReader(project.folder / "evalstudio-report" / "record.jsonl")


def test_each_pair_of_models_is_an_item_and_the_ratings_are_shown(arena: Project) -> None:
    result = arena.run("a_lab.json", "-v")
    result.assert_outcomes(passed=9 + 3)
    result.stdout.fnmatch_lines(
        [
            "*a_lab.json::arena?model-m1 vs model-m2? PASSED*",
            "*= arena =*",
            "rank  model *",
            "*model-m3 *",
            "*model-m1 *",
            "*model-m2 *",
            "9 games on 3 prompts*",
        ]
    )


def test_the_record_holds_the_games_without_personal_data(arena: Project) -> None:
    arena.run("a_lab.json")
    run = record(arena).run
    assert [pair.models for pair in run.arena.values()] == [
        ("model-m1", "model-m2"),
        ("model-m1", "model-m3"),
        ("model-m2", "model-m3"),
    ]
    battles = [battle for pair in run.arena.values() for battle in pair.battles]
    assert len(battles) == 9
    assert all("jane@bank.com" not in battle.reason for battle in battles)
    page = (arena.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "Win rate of the row against the column" in page


@pytest.mark.slow
def test_two_workers_find_the_same(arena: Project) -> None:
    arena.run("a_lab.json")
    single_process = record(arena).run.arena
    result = arena.run("a_lab.json", "-n", "2")
    result.assert_outcomes(passed=12)
    assert record(arena).run.arena == single_process


def test_the_models_of_a_suite_are_asked(arena: Project) -> None:
    configure(
        arena,
        arena="".join(
            f'\n[[model]]\nname = "{name}"\nhost = "python"\ntarget = "answering:{name}"\n'
            for name in ("long", "short")
        ),
    )
    arena.suite({"key": "c1", "prompt": "Hm?"}, {"key": "c2", "prompt": "And now?"})
    result = arena.run("sums_suite.json", "-k", "arena")
    result.assert_outcomes(passed=1, deselected=4)
    [pair] = record(arena).run.arena.values()
    assert {getattr(battle, battle.winner) for battle in pair.battles} == {"long"}


def test_gates_name_models(arena: Project) -> None:
    configure(arena, more='gate = ["elo(model-m3) >= 1000", "win_rate(model-m2, model-m1) >= 0.5"]')
    result = arena.run("-v", "a_lab.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(
        [
            "gate elo(model-m3) >= 1000: met (*)",
            "gate win_rate(model-m2, model-m1) >= 0.5: not met (0)",
        ]
    )


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        ("elo(model-m9) >= 1000", "*no model of the arena named 'model-m9'*"),
        ("elo() >= 1000", "*elo(MODEL)*"),
        ("win_rate(model-m1) >= 0.5", "*win_rate(MODEL, OTHER)*"),
    ],
)
def test_a_gate_that_names_no_player_is_a_usage_error(arena: Project, gate: str, words: str) -> None:
    configure(arena, more=f'gate = ["{gate}"]')
    result = arena.run("a_lab.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])


def test_a_gate_on_ratings_needs_an_arena(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["looping_detection"]\ngate = ["elo(model-m1) >= 1000"]\n')
    write_lab(project, ANSWERS)
    result = project.run("a_lab.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*there is no arena; add a table ?arena?*"])


def test_a_game_without_a_verdict_is_an_error_of_its_pair(arena: Project) -> None:
    write_lab(arena, {**ANSWERS, "m2": "broken"})
    result = arena.run("a_lab.json", "-rE")
    result.assert_outcomes(passed=10, errors=2)
    result.stdout.fnmatch_lines(["*3 games have no verdict: the reply of judge*"])
    pairs = record(arena).run.arena
    assert sum(pair.missing for pair in pairs.values()) == 6


def test_without_a_judge_the_run_is_refused(arena: Project) -> None:
    arena.write("evalstudio.toml", 'evaluators = ["looping_detection"]\n[arena]\n')
    result = arena.run("a_lab.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*add a table ?judge?*"])


def test_without_the_table_there_are_no_pairs(arena: Project) -> None:
    arena.write("evalstudio.toml", 'evaluators = ["looping_detection"]\n')
    arena.run("a_lab.json").assert_outcomes(passed=9)


def test_nothing_is_asked_while_collecting(arena: Project) -> None:
    arena.write("answering.py", "raise SystemExit('imported')")
    result = arena.run("a_lab.json", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["a_lab.json::arena?model-m1 vs model-m2?"])


def test_pairs_are_selected_by_mark_and_name(arena: Project) -> None:
    arena.run("a_lab.json", "-m", "arena").assert_outcomes(passed=3, deselected=9)
    arena.run("a_lab.json", "-k", "arena and m1").assert_outcomes(passed=2, deselected=10)


def test_a_model_plays_against_its_baseline(arena: Project) -> None:
    write_lab(arena, ANSWERS, prompts=12)
    arena.run("-v", "a_lab.json")
    from pytest_evalstudio.cli import main

    base = arena.folder / "base.jsonl"
    assert main(["baseline", "save", str(arena.folder / "evalstudio-report"), "-o", str(base)]) == 0
    write_lab(arena, {"m1": "no", "m2": "yes, of course it is", "m3": ANSWERS["m3"]}, prompts=12)
    configure(arena, more='gate = ["win_rate(model-m2, model-m2 (baseline)) > 0.5"]')
    result = arena.run("-v", "a_lab.json", "--evalstudio-baseline", str(base), "--evalstudio-fail-on=none")
    result.assert_outcomes(passed=3 * 12 + 6)
    result.stdout.fnmatch_lines(["gate win_rate(model-m2, model-m2 (baseline)) > 0.5: met (1)"])
    lines = [line.partition(";")[0] for line in result.outlines if "against its baseline" in line]
    assert sorted(lines) == [
        "model-m1 against its baseline: worse",
        "model-m2 against its baseline: better",
        "model-m3 against its baseline: inconclusive",
    ]


def test_a_report_is_built_again_from_the_record(arena: Project, tmp_path: Path) -> None:
    from pytest_evalstudio.cli import main

    configure(arena, more='gate = ["elo(model-m3) >= 1000"]')
    arena.run("a_lab.json")
    place = arena.folder / "evalstudio-report" / "record.jsonl"
    assert main(["report", str(place), "-o", str(tmp_path / "again")]) == 0
    page = (tmp_path / "again" / "interpretation.html").read_text(encoding="utf-8")
    assert "Win rate of the row against the column" in page


def test_fixtures_that_apply_by_themselves_guard_pairs(arena: Project) -> None:
    arena.write(
        "conftest.py", "import pytest\n@pytest.fixture(autouse=True)\ndef guard(): pytest.skip('no')\n"
    )

    arena.run().assert_outcomes(skipped=12)
