"""`evalstudio perturb`, `evalstudio perturbators`, and `resolve` of what they leave unanswered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalstudio.cli.main import main
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.scoring.perturbing.specs import parse_perturbations
from support.pictures import png

CASES = [
    {"key": "lazy", "prompt": "Why is a lazy day so good?", "condition": '"so"', "categories": ["days"]},
    {"key": "short", "prompt": "Why?"},
]
APP = """
def ask(prompt):
    return "It is so: " + prompt
"""
CONFIG = '[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n'
JUDGE = """
import json


def judge(prompt):
    question = next(line for line in prompt.splitlines() if line.endswith("?"))
    return json.dumps({"question": "Since days were abolished in 1990: " + question})
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("evalstudio.toml", CONFIG)
    write("app.py", APP)
    write("s_suite.json", json.dumps({"name": "S", "tests": [{"key": "t", "test_cases": CASES}]}))


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")
    return name


def cases(name):
    return json.loads(Path(name).read_text())["tests"][0]["test_cases"]


def test_perturbed_cases_are_written_beside_the_originals(capsys):
    assert (
        main(
            [
                "perturb",
                "s_suite.json",
                "-p",
                "comma:high,qwerty:high",
                "-p",
                "copy",
                "-o",
                "out/p_suite.json",
            ]
        )
        == 0
    )
    keys = [case["key"] for case in cases("out/p_suite.json")]
    assert keys == [
        "lazy",
        "lazy-comma-high",
        "lazy-qwerty-high",
        "lazy-copy",
        "short",
        "short-qwerty-high",
        "short-copy",
    ]
    output = capsys.readouterr()
    assert output.out == "wrote out/p_suite.json: 5 perturbed cases added\n"
    assert "comma:HIGH skipped 1 case ('short')" in output.err
    assert [case["key"] for case in cases("s_suite.json")] == ["lazy", "short"]
    assert not Path(".evalstudio").exists()


def test_seed_and_where_choose_and_the_configuration_is_taken_where_they_are_not_given(capsys):
    def prompts_of(*arguments):
        assert (
            main(["perturb", "s_suite.json", "-p", "random_replacement:medium", "-o", "p.json", *arguments])
            == 0
        )
        return [case["prompt"] for case in cases("p.json")]

    assert prompts_of() == prompts_of() != prompts_of("--seed", "3")
    assert len(prompts_of("--where", "days")) == 3
    write("evalstudio.toml", CONFIG + '[perturbations]\nseed = 3\nwhere = "days"\n')
    configured = prompts_of()
    assert len(configured) == 3
    assert configured[1] == prompts_of("--seed", "3", "--where", "")[1]


def test_nothing_made_is_a_finding(capsys):
    assert main(["perturb", "s_suite.json", "-p", "comma", "--where", "nights", "-o", "p.json"]) == 1
    assert "0 perturbed cases added" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["-p", "coma"], "no perturbator named 'coma'. Did you mean 'comma'?"),
        (["-p", "copy", "--where", "a and"], "expression 'a and' cannot be read at its end"),
        (["-p", " "], "no perturbator is named"),
        (["-p", "contextual_misinformation:by=judge"], "[judge]"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(capsys, arguments, fault):
    assert main(["perturb", "s_suite.json", "-o", "p.json", *arguments]) == 2
    assert fault in capsys.readouterr().err
    assert not Path("p.json").exists()


def test_a_lab_is_perturbed_and_its_models_are_asked_for_the_rest(capsys):
    assert main(["resolve", "s_suite.json", "-o", "a_lab.json"]) == 0
    assert main(["perturb", "a_lab.json", "-p", "comma:high,copy", "-o", "p_lab.json"]) == 0
    assert capsys.readouterr().out.endswith(
        "their answers are still to be asked for: evalstudio resolve p_lab.json -o p_lab.json\n"
    )
    assert main(["resolve", "p_lab.json", "-o", "p_lab.json"]) == 0
    assert capsys.readouterr().out == "wrote p_lab.json: 3 more answers of 1 model\n"
    rows = json.loads(Path("p_lab.json").read_text())["dataset"]["inputs"]
    assert [row["key"] for row in rows] == ["lazy", "short", "lazy-comma-high", "lazy-copy", "short-copy"]
    assert rows[2]["actual_output"] == "It is so: Why is, a lazy, day so, good?"
    assert len({row["model_key"] for row in rows}) == 1
    assert main(["resolve", "p_lab.json", "-o", "p_lab.json"]) == 0
    assert capsys.readouterr().out == "wrote p_lab.json: 0 more answers of 1 model\n"


def test_a_lab_whose_model_nobody_knows(capsys):
    lab = {
        "name": "L",
        "models": [{"key": "m", "name": "elsewhere", "model_type": "h2ogpte"}],
        "dataset": {"inputs": [{"key": "k", "input": "Why so?", "actual_output": "So.", "model_key": "m"}]},
    }
    write("a_lab.json", json.dumps(lab))
    assert main(["perturb", "a_lab.json", "-p", "copy", "-o", "p_lab.json"]) == 0
    assert main(["resolve", "p_lab.json", "-o", "q_lab.json"]) == 2
    assert (
        "model 'elsewhere' of the lab is to be asked and is not configured. Add a [[model]] with name ="
        " 'elsewhere'" in capsys.readouterr().err
    )


def test_a_data_set_does_not_say_whom_to_ask(capsys):
    write("d.json", json.dumps({"inputs": [{"input": "Why?", "actual_output": "So."}]}))
    assert main(["perturb", "d.json", "-p", "copy", "-o", "p.json"]) == 2
    assert "d.json: is a data set, which names no models to ask" in capsys.readouterr().err


def test_a_judge_writes_the_misinformation_and_is_paid_once(capsys):
    write("liar.py", JUDGE)
    write("evalstudio.toml", CONFIG + '[judge]\nhost = "python"\ntarget = "liar:judge"\n')
    arguments = [
        "perturb",
        "s_suite.json",
        "-p",
        "contextual_misinformation:by=judge",
        "--where",
        "days",
        "-o",
        "p.json",
    ]
    assert main(arguments) == 0
    assert [case["prompt"] for case in cases("p.json")] == [
        "Why is a lazy day so good?",
        "Since days were abolished in 1990: Why is a lazy day so good?",
        "Why?",
    ]
    assert Path(".evalstudio").exists()


def test_a_judge_without_a_usable_word_leaves_a_note(capsys):
    write("silent.py", "def judge(prompt):\n    return 'I would rather not.'\n")
    write("evalstudio.toml", CONFIG + '[judge]\nhost = "python"\ntarget = "silent:judge"\n')
    assert main(["perturb", "s_suite.json", "-p", "contextual_misinformation:by=judge", "-o", "p.json"]) == 1
    assert (
        "contextual_misinformation skipped 2 cases ('lazy', 'short'): the judge wrote nothing usable"
        in capsys.readouterr().err
    )


def test_in_a_run_a_judges_words_would_differ_from_worker_to_worker():
    with pytest.raises(
        Exception,
        match="a judge writes different text each time; write the cases once with `evalstudio perturb`",
    ):
        parse_perturbations("contextual_misinformation:by=judge", Registry())


def test_the_perturbators_are_listed(capsys):
    assert main(["perturbators"]) == 0
    assert "antonym                   low, medium, high; changes the meaning" in capsys.readouterr().out
    assert main(["perturbators", "--json"]) == 0
    entries = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert list(entries) == list(Registry().perturbators)
    assert entries["random_delete"]["params"] == {"replacement": ""}
    assert (entries["copy"]["intensities"], entries["antonym"]["keeps_meaning"]) == ([], False)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[perturbations]\napply = "coma"\n', "no perturbator named 'coma'"),
        ('[perturbations]\nwhere = "a and"\n', "expression 'a and' cannot be read"),
        ("[perturbator.comma]\nk = 3\n", "perturbator.comma.k: unknown option"),
        ('[perturbations]\napply = "comma:low"\n', ""),
    ],
)
def test_a_configuration_is_checked(capsys, text, fault):
    write("evalstudio.toml", CONFIG + text)
    write("OTHER.TOML", CONFIG + text)
    for name in ("evalstudio.toml", "OTHER.TOML"):
        assert main(["validate", name]) == (1 if fault else 0)
        assert fault in capsys.readouterr().out


@pytest.mark.parametrize(("output", "is_told"), [("p_suite.json", False), ("other/p_suite.json", True)])
def test_images_that_the_new_folder_lacks_are_named(output, is_told, capsys):
    Path("chart.png").write_bytes(png())
    Path("note.txt").write_text("a note", encoding="utf-8")
    turns = [{"prompt": "And this?", "files": ["note.txt"]}]
    tests = [
        {"key": "t", "test_cases": [{**CASES[0], "images": ["chart.png"]}]},
        {"key": "u", "test_cases": [{"key": "talk", "turns": turns}]},
    ]
    write("s_suite.json", json.dumps({"name": "S", "tests": tests}))
    assert main(["perturb", "s_suite.json", "-p", "comma:high", "-o", output]) == 0
    message = (
        f"{output}: its folder lacks chart.png, note.txt, which its cases name; copy the files, or write the"
        " suite beside them"
    )
    assert (message in capsys.readouterr().err) is is_told


def test_of_many_missing_images_three_are_named(capsys):
    for number in range(5):
        Path(f"{number}.png").write_bytes(png((number, 0, 0)))
    images = [f"{number}.png" for number in range(5)]
    test = {"key": "t", "test_cases": [{**CASES[0], "images": images}]}
    write("s_suite.json", json.dumps({"name": "S", "tests": [test]}))
    assert main(["perturb", "s_suite.json", "-p", "comma:high", "-o", "other/p.json"]) == 0
    assert "lacks 0.png, 1.png, 2.png and 2 more, which" in capsys.readouterr().err
