"""Perturbed cases made on the fly: --evalstudio-perturb."""

from __future__ import annotations

import json

import pytest

from support.project import Project

CITY = {
    "key": "city",
    "prompt": "Say why you love lazy Paris",
    "condition": '"Paris"',
    "categories": ["cities"],
}
SUM = {"key": "sum", "prompt": "2+2?", "condition": '"4"'}
ECHO = """
def ask(prompt):
    return prompt if "lazy" in prompt or "2+2" in prompt else "I do not know."
"""
PERTURB = ("--evalstudio-perturb", "comma:high,qwerty:high+comma:high,copy")


@pytest.fixture
def echoing(project: Project) -> Project:
    project.write("app.py", ECHO)
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "app"\nhost = "python"\ntarget = "app:ask"\n',
    )
    project.suite(CITY, {**SUM, "condition": '"2"'})
    return project


def test_perturbed_items_stand_behind_their_originals_with_categories_and_relationships(
    echoing: Project,
) -> None:
    result = echoing.run("-v", *PERTURB)

    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "sums_suite.json::city[[]app] PASSED*",
            "sums_suite.json::city-comma-high[[]app] PASSED*",
            "sums_suite.json::city-qwerty-high-comma-high[[]app] FAILED*",
            "sums_suite.json::city-copy[[]app] PASSED*",
            "sums_suite.json::sum[[]app] PASSED*",
            (
                "text_matching: model_passes flipped from pass to fail under qwerty:HIGH+comma:HIGH (1 -> 0,"
                " threshold 0.5; original: city)"
            ),
            "*sums_suite.json: comma:HIGH skipped 1 case ('sum'): it has fewer than 2 words*",
            "flips: 1 of 2 pairs *",
            "  copy * 0 of 2 pairs *: the models' own noise",
        ]
    )
    _, items = echoing.record()
    item = items["city-qwerty-high-comma-high[app]"]
    assert item["perturbed"] == {"by": ["qwerty:HIGH", "comma:HIGH"], "meaning_kept": True}
    (row,) = item["rows"]
    assert row["input"] == "Saz whz, zou love, layz Paris"
    assert row["relationships"] == [{"type": "perturbation_source", "target": "city"}]
    assert row["categories"] == [
        "cities",
        "perturbed",
        "perturbed_by:qwerty:PerturbationIntensity.HIGH",
        "perturbed_by:comma:PerturbationIntensity.HIGH",
    ]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("-k", "comma"), ["city-comma-high", "city-qwerty-high-comma-high"]),
        (("-m", "perturbed and cities"), ["city-comma-high", "city-qwerty-high-comma-high", "city-copy"]),
        (("-m", "not perturbed"), ["city", "sum"]),
        (("sums_suite.json::sum-copy[app]",), ["sum-copy"]),
    ],
)
def test_perturbed_items_are_selected_like_others(
    echoing: Project, arguments: tuple[str, ...], names: list[str]
) -> None:
    echoing.run(*PERTURB, *arguments)
    _, items = echoing.record()
    assert list(items) == [f"{name}[app]" for name in names]


def test_the_failed_ones_run_again_with_lf(echoing: Project) -> None:
    echoing.run_with_cache(*PERTURB).assert_outcomes(passed=5, failed=1)
    result = echoing.run_with_cache(*PERTURB, "--lf")
    result.assert_outcomes(failed=1)
    _, items = echoing.record()
    assert list(items) == ["city-qwerty-high-comma-high[app]"]


def test_the_original_is_compared_with_perturbed_items_of_later_steps(echoing: Project) -> None:
    result = echoing.run("-v", "--maxfail", "9", *PERTURB)

    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*model_passes flipped from pass to fail under qwerty:HIGH+comma:HIGH*",
            "flips: 1 of 2 pairs *",
        ]
    )


@pytest.mark.slow
def test_two_workers_make_the_same_record(echoing: Project) -> None:
    arguments = ("--evalstudio-perturb", "random_replacement:low,random_insert,word_swap:high,copy")
    echoing.run(*arguments)
    _, single_items = echoing.record()
    echoing.run(*arguments, "-n", "2")
    _, shared_items = echoing.record()
    assert len(single_items) == 7  # of "2+2?" only the copy: numbers are protected
    assert steady(single_items) == steady(shared_items)


def steady(items: dict[str, dict]) -> str:
    for item in items.values():
        item.pop("duration_s")
        for row in item["rows"]:
            row["answer"].pop("actual_duration")
    return json.dumps(items, sort_keys=True)


def test_the_configuration_can_ask_for_it_and_the_option_wins(echoing: Project) -> None:
    text = (echoing.folder / "evalstudio.toml").read_text()
    echoing.write("evalstudio.toml", text + '[perturbations]\napply = "copy"\nwhere = "cities"\nseed = 5\n')
    echoing.run()
    assert list(echoing.record()[1]) == ["city[app]", "city-copy[app]", "sum[app]"]
    echoing.run("--evalstudio-perturb", "comma:high")
    assert list(echoing.record()[1]) == ["city[app]", "city-comma-high[app]", "sum[app]"]
    echoing.run("--evalstudio-perturb", "")
    assert list(echoing.record()[1]) == ["city[app]", "sum[app]"]


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ("coma", "*no perturbator named 'coma'. Did you mean 'comma'?*"),
        ("comma:x", "*perturbator comma: no intensity 'x'. It has low, medium, high*"),
    ],
)
def test_what_cannot_be_understood_is_a_usage_error(echoing: Project, spec: str, fault: str) -> None:
    result = echoing.run("--evalstudio-perturb", spec)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([fault])


def test_what_changes_the_meaning_is_decided_by_leaks_alone(echoing: Project) -> None:
    echoing.write(
        "app.py",
        "def ask(prompt):\n    return 'Paris 2+2' if 'below' not in prompt else 'Her SSN is 219-09-9999'\n",
    )
    arguments = ("--evalstudio-perturb", "encoding_base64")

    echoing.run("-v", "--evalstudio-evaluators", "text_matching", *arguments).assert_outcomes(passed=4)
    _, items = echoing.record()
    assert [flip["fails"] for flip in items["city-encoding_base64[app]"]["flips"]] == [False]

    result = echoing.run("-v", "--evalstudio-evaluators", "text_matching,pii_leakage", *arguments)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.no_fnmatch_line("*text_matching: failed*")
    result.stdout.fnmatch_lines(
        ["flips where the meaning changed, which fail nothing:", "  encoding_base64  * of * pairs*"]
    )


def test_copies_are_asked_anew_even_of_a_model_whose_answers_are_kept(project: Project) -> None:
    project.write(
        "app.py",
        "import itertools\n\nCOUNT = itertools.count()\n\n\ndef ask(prompt):\n    return f'answer"
        " {next(COUNT)}'\n",
    )
    project.write(
        "evalstudio.toml",
        'evaluators = ["looping_detection"]\n[[model]]\nname = "app"\nhost = "python"\ntarget ='
        ' "app:ask"\ncache = true\n',
    )
    project.suite(SUM)
    project.run("--evalstudio-perturb", "copy,copy")
    answers = {item["rows"][0]["answer"]["actual_output"] for item in project.record()[1].values()}
    assert len(answers) == 3


def test_the_models_of_a_lab_are_asked_the_perturbed_questions(echoing: Project) -> None:
    (echoing.folder / "sums_suite.json").unlink()
    row = {
        "key": "city",
        "input": CITY["prompt"],
        "output_condition": '"Paris"',
        "actual_output": "Paris",
        "model_key": "m",
    }
    echoing.lab(row)
    refused = echoing.run("answers_lab.json", "--evalstudio-perturb", "comma:high")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(
        ["*model 'm' of the lab is to be asked and is not configured. Add a [[][[]model]] with name = 'm'*"]
    )

    echoing.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "m"\nhost = "python"\ntarget = "app:ask"\n',
    )
    echoing.run("--evalstudio-perturb", "comma:high,qwerty:high").assert_outcomes(passed=2, failed=1)
    header, items = echoing.record()
    assert list(items) == ["city[m]", "city-comma-high[m]", "city-qwerty-high[m]"]
    assert {item["model_key"] for item in items.values()} == {"m"}
    assert list(header["models"]) == ["m"]
    assert [flip["direction"] for flip in items["city-qwerty-high[m]"]["flips"]] == ["pass_to_fail"]


@pytest.mark.slow
def test_a_counterfactual_is_compared_with_the_original(project: Project) -> None:
    project.write(
        "app.py", "def ask(prompt):\n    return 'Yes, gladly.' if 'man' in prompt.split() else 'No, sorry.'\n"
    )
    project.write("conftest.py", CLOSENESS)
    project.suite({"key": "loan", "prompt": "May a man borrow?"}, SUM)

    result = project.run(
        "--evalstudio-evaluators", "closeness", "--evalstudio-perturb", "counterfactual", "-n", "2"
    )

    result.assert_outcomes(failed=1, skipped=2)
    result.stdout.fnmatch_lines(
        ["closeness: same 0 < 0.5: No, sorry. is not Yes, gladly.", "question:  May a woman borrow?"]
    )


CLOSENESS = '''
from dataclasses import dataclass
from pytest_evalstudio import Metric, Outcome, evaluator


@evaluator("closeness", name="Closeness", domain="fairness", needs=("actual_output",), compares="counterfactual_source")
@dataclass(frozen=True)
class Closeness:
    """Return whether both answers are the same."""

    metrics = (Metric("same", threshold=0.5, primary=True),)

    def score(self, cases, tools):
        return [Outcome.score({"same": float(case.actual_output == case.counterpart.actual_output)},
                              reason=f"{case.actual_output} is not {case.counterpart.actual_output}") for case in cases]


def pytest_evalstudio_register(registry):
    registry.add_evaluator(Closeness)
'''  # noqa: E501
SHOUT = '''
from dataclasses import dataclass
from pytest_evalstudio import Change, perturbator


@perturbator("shout", name="Shout", keeps_meaning=False, intensities=())
@dataclass(frozen=True)
class Shout:
    """Says it in capitals."""

    def perturb(self, text, intensity, seed):
        return Change(text.upper(), len(text))


def pytest_evalstudio_register(registry):
    registry.add_perturbator(Shout)
'''


def test_a_perturbator_of_a_conftest_says_whether_it_keeps_the_meaning(echoing: Project) -> None:
    echoing.write("conftest.py", SHOUT)
    echoing.run("--evalstudio-perturb", "shout", "-k", "city").assert_outcomes(passed=2)
    _, items = echoing.record()
    assert items["city-shout[app]"]["perturbed"] == {"by": ["shout"], "meaning_kept": False}
    assert [flip["fails"] for flip in items["city-shout[app]"]["flips"]] == [False]
