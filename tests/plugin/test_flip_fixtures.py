"""`check_flip` and `eval_perturb` in tests in Python."""

from __future__ import annotations

import json

import pytest

from support.project import Project

APP = """
def robust(prompt):
    return "The fee is 5 USD." if "fee" in prompt.lower().replace(",", "") else "I do not know."


def brittle(prompt):
    return "I do not know." if "," in prompt else "The fee is 5 USD."


def wrong(prompt):
    return "The fee is 7 USD."


def refusing(prompt):
    return "I'm sorry, but I can't help with that." if "," in prompt else "The fee is 5 USD."


def failing(prompt):
    if "," in prompt:
        raise RuntimeError("no connection")
    return "The fee is 5 USD."
"""
MODELS = "\n".join(
    f'[[model]]\nname = "{name}"\nhost = "python"\ntarget = "app:{name}"\n'
    for name in ("robust", "brittle", "wrong", "refusing", "failing")
)
QUESTION = "What is the fee of a new card?"
TEST = """
import pytest


def test_it(eval_model, eval_perturb, eval_text_matching):
    model = eval_model("MODEL")
    original = model.ask("What is the fee of a new card?", condition='"5 USD"')
    perturbed = model.ask_all(eval_perturb(original, PERTURBATIONS))
    print("flips:", eval_text_matching.check_flip(original, perturbed))
"""


def write(project: Project, model: str, perturbations: str = '"comma:high"', settings: str = "") -> None:
    project.write("app.py", APP)
    project.write("evalstudio.toml", f"{settings}\n{MODELS}")
    project.write("test_app.py", TEST.replace("MODEL", model).replace("PERTURBATIONS", perturbations))


def test_a_robust_model_passes_and_the_record_names_the_perturbation(project: Project) -> None:
    write(project, "robust", '"comma:high", "copy"')
    project.run("-s", "test_app.py").assert_outcomes(passed=1)
    lines = (project.folder / "evalstudio-report/record.jsonl").read_text("utf-8").splitlines()
    items = [row for row in map(json.loads, lines) if row.get("nodeid") == "test_app.py::test_it"]
    assert [item["verdict"] for item in items] == ["passed"] * 3


@pytest.mark.parametrize("settings", ["", 'flips = "report"'])
def test_a_flip_fails_the_test_with_both_scores(project: Project, settings: str) -> None:
    write(project, "brittle", settings=settings)
    result = project.run("test_app.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "*model_passes flipped from pass to fail under comma:HIGH (1 -> 0, threshold 0.5; original: *"
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("model", "message"),
    [("wrong", '*ThresholdMissed: *"5 USD"*'), ("refusing", "*ThresholdMissed: *refus*")],
)
def test_a_wrong_original_and_a_refused_perturbation_fail(project: Project, model: str, message: str) -> None:
    write(project, model)
    result = project.run("test_app.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])


def test_a_perturbation_without_an_answer_is_an_error(project: Project) -> None:
    write(project, "failing")
    result = project.run("test_app.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*evaluation error: *no connection*"])


def test_a_flip_under_a_changed_meaning_is_returned_and_fails_nothing(project: Project) -> None:
    write(project, "brittle", '"contextual_misinformation+comma:high"')
    result = project.run("-s", "test_app.py")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*flips: *'contextual_misinformation', 'comma:HIGH'*"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('eval_perturb("fee", "commma")', "*Did you mean 'comma'*"),
        ('eval_perturb("fee")', "*no perturbator is named*"),
        ('eval_perturb("fee", "comma")', "*eval_perturb: comma:MEDIUM skipped 1 case*"),
        (
            'eval_perturb(eval_perturb("What is the fee of it?", "comma:high")[0], "qwerty")',
            "*is perturbed already; perturb its original*",
        ),
        ("eval_text_matching.check_flip(eval_case('q', 'a'), [])", "*no perturbed case is given*"),
        ('eval_model("robust").ask(eval_case("q"), key="k")', "*a case is asked with its own fields*"),
    ],
)
def test_what_cannot_be_perturbed_or_compared_is_said(project: Project, call: str, message: str) -> None:
    write(project, "robust")
    project.write(
        "test_app.py",
        f"def test_it(eval_perturb, eval_case, eval_model, eval_text_matching):\n    {call}\n",
    )
    result = project.run("test_app.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([message])


def test_a_text_gives_cases_and_a_seed_changes_them(project: Project) -> None:
    write(project, "robust")
    project.write(
        "test_app.py",
        f"""
def test_it(eval_perturb):
    text = "{QUESTION}"
    first, second = eval_perturb(text, "keyboard_typos:high", "comma:high")
    assert first.question != text != second.question
    assert [case.question for case in eval_perturb(text, "keyboard_typos:high")] == [first.question]
    assert eval_perturb(text, "keyboard_typos:high", seed=3)[0].question != first.question
""",
    )
    project.run("test_app.py").assert_outcomes(passed=1)


def test_each_message_of_a_conversation_is_perturbed(project: Project) -> None:
    write(project, "robust")
    suite = project.suite(
        {"key": "talk", "turns": [{"prompt": "What is the fee of it?"}, {"prompt": "And the fee of a copy?"}]}
    )
    project.write(
        "test_app.py",
        f"""
from pytest_evalstudio.scoring.tasks import ModelInfo, tasks
from pytest_evalstudio.formats.files import read
from pytest_evalstudio.formats.kinds import read_source


def test_it(eval_perturb, request):
    file = read(read_source(request.path.parent / "{suite.name}", "suite"))
    (task,) = tasks(file, request.path.parent, [ModelInfo(key="m", label="m")])
    cases = eval_perturb(task.case, "comma:high")
    assert [case.plan.messages for case in cases] == [
        ("What is, the fee, of it?", "And the fee of a copy?"),
        ("What is the fee of it?", "And the, fee of, a copy?"),
    ]
""",
    )
    project.run("test_app.py").assert_outcomes(passed=1)
