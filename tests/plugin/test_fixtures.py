from __future__ import annotations

import pytest

from support.project import Project


def test_check_asserts_and_score_returns(project: Project) -> None:
    project.write(
        "test_app.py",
        """
import pytest
from pytest_evalstudio import ThresholdMissed


def test_good(eval_text_matching, eval_case):
    outcome = eval_text_matching.check(eval_case("2+2?", "It is 4.", condition='"4"'))
    assert outcome.scores["model_passes"] == 1.0


def test_bad(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", "It is 5.", condition='"4"'))


def test_score(eval_rouge, eval_case):
    assert eval_rouge.score(eval_case("q", "a b", expected_output="a b")).scores["rouge_l"] == 1.0


def test_own_threshold(eval_rouge, eval_case):
    case = eval_case("q", "a b", expected_output="a c")
    eval_rouge.check(case, threshold=0.5)
    with pytest.raises(ThresholdMissed, match="rouge_l 0.5 < 0.6"):
        eval_rouge.check(case, threshold=0.6)


def test_nothing_to_judge(eval_rouge, eval_case):
    eval_rouge.check(eval_case("q", "a b"))


def test_silent_model(eval_rouge, eval_model):
    eval_rouge.check(eval_model("app").ask("boom", expected_output="x"))


def test_model(eval_text_matching, eval_model):
    eval_text_matching.check_all(eval_model("app").ask_all(["2+2?", "2+2?"], condition='"4"'))


def test_suite(eval_suite):
    assert [case.key for _, case in eval_suite("questions.json").cases()] == ["k"]


def test_unknown_model(eval_model):
    eval_model("gtp")


def test_unknown_field(eval_case):
    eval_case("q", "a", expected="a")
""",
    )
    project.suite({"key": "k", "prompt": "q"}, name="questions.json")

    result = project.run("test_app.py")

    result.assert_outcomes(passed=5, failed=5)
    result.stdout.fnmatch_lines(
        [
            '*ThresholdMissed: text_matching: *"4"*',
            "*evaluation error: rouge is not applicable: no expected output",
            "*evaluation error: error: model 'app': RuntimeError: no connection (app.py:7)",
            "*no model named 'gtp'*",
            "*a case has no field 'expected'. Did you mean 'expected_*'?",
        ]
    )
    assert "plugin/fixtures.py" not in result.stdout.str()
    header, items = project.record()
    assert sorted(header["evaluators"]) == ["rouge", "text_matching"]
    verdicts = {name: item["verdict"] for name, item in items.items()}
    assert verdicts["test_bad"] == "failed"
    assert verdicts["test_silent_model"] == "error"
    assert header["files"] == [{"path": "test_app.py", "kind": "python", "name": "", "description": ""}]


def test_fixtures_reach_conftest_fixtures_and_are_listed(project: Project) -> None:
    project.write(
        "conftest.py",
        "import pytest\n\n\n@pytest.fixture\ndef judge(eval_text_matching):\n    return eval_text_matching\n",
    )
    project.write("test_app.py", "def test_it(judge):\n    assert judge.score\n")

    project.run("test_app.py").assert_outcomes(passed=1)
    project.run("--fixtures", "test_app.py").stdout.fnmatch_lines(["eval_case*", "eval_rouge*", "*ROUGE: *"])


STARTED = """
import pytest


@pytest.fixture(scope="SCOPE")
def app():
    print("started")
    yield lambda prompt: "It is 4."
    print("stopped")
"""


@pytest.mark.parametrize("scope", ["session", "function"])
def test_a_fixture_of_the_users_can_be_the_model_of_a_suite(project: Project, scope: str) -> None:
    project.write("conftest.py", STARTED.replace("SCOPE", scope))
    project.write(
        "evalstudio.toml",
        'evaluators = ["text_matching"]\n[[model]]\nname = "mine"\nhost = "fixture"\nfixture = "app"\n',
    )
    project.suite(*({"key": f"k{number}", "prompt": "2+2?", "condition": '"4"'} for number in range(3)))

    result = project.run("-s")

    result.assert_outcomes(passed=3)
    times = 1 if scope == "session" else 3
    assert (result.stdout.str().count("started"), result.stdout.str().count("stopped")) == (times, times)


def test_a_missing_fixture_is_a_usage_error(project: Project) -> None:
    project.write("evalstudio.toml", '[[model]]\nname = "mine"\nhost = "fixture"\nfixture = "app"\n')
    project.suite({"key": "k", "prompt": "q", "condition": '"4"'})

    result = project.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: model 'mine': there is no fixture 'app' that sums_suite.json can see; define it in a"
            " conftest.py"
        ]
    )


def test_a_conversation_is_sent_before_the_question(project: Project) -> None:
    project.write("app.py", "def ask(prompt, conversation): return conversation[0]['content'] + ' ' + prompt")
    project.write(
        "test_app.py",
        """
def test_both_are_asked(eval_model):
    case = eval_model("app").ask("How much?", conversation=[{"role": "user", "content": "A card."}])
    assert case.actual_output == "A card. How much?"
    assert case.conversation[0].content == "A card."


def test_a_turn_must_be_one(eval_model):
    eval_model("app").ask("How much?", conversation=["A card."])
""",
    )
    result = project.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines("*eval_case: conversation: a turn has a role and a content, found 'A card.'*")


def test_a_guard_is_opened_by_its_file(project: Project) -> None:
    project.write("guards.json", '{"evaluator_ids": ["pii_leakage"]}')
    project.write("broken.json", '{"evaluator_ids": ["nobody"]}')
    project.write(
        "test_guard.py",
        """
from pytest_evalstudio.contrib.guard.results import CheckRequest


def test_verdicts(eval_guard):
    guard = eval_guard("guards.json")
    assert guard.check(CheckRequest(answer="It costs 5 euros.")).verdict == "reliable"
    assert guard.check(CheckRequest(answer="Ask jane@bank.com.")).verdict == "unreliable"


def test_broken(eval_guard):
    eval_guard("broken.json")
""",
    )
    result = project.run("test_guard.py")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["configuration: no evaluator named 'nobody'*"])


def test_a_check_in_a_test_that_is_expected_to_fail_is_an_expected_failure(project: Project) -> None:
    project.write(
        "test_app.py",
        """
import pytest


@pytest.mark.xfail(reason="cannot count yet")
def test_known(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", "It is 5.", condition='"4"'))
""",
    )
    project.run("test_app.py").assert_outcomes(xfailed=1)
    _, items = project.record()
    assert [item["verdict"] for item in items.values()] == ["xfailed"]
    summary = (project.folder / "evalstudio-report" / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("# ✓ PASSED – 0 of 1 test, 1 expected failure\n")


def test_a_lab_is_read_where_it_is_asked_for(project: Project) -> None:
    project.lab({"key": "q", "input": "2+2?", "output_condition": '"4"', "actual_output": "4"})
    project.write(
        "test_files.py",
        """
from pytest_evalstudio import LlmDataset, TestLab

def test_lab(eval_suite):
    assert [row.key for row in eval_suite("answers_lab.json", TestLab).dataset.inputs] == ["q"]

def test_suite(eval_suite):
    eval_suite("answers_lab.json")

def test_dataset(eval_suite):
    eval_suite("answers_lab.json", LlmDataset)
""",
    )

    result = project.run("test_files.py")

    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*answers_lab.json: is a lab, no TestSuite; read it by eval_suite('answers_lab.json', TestLab)*",
            "*answers_lab.json: is a lab, no LlmDataset; read it by eval_suite('answers_lab.json', TestLab)*",
        ]
    )


CASES_BY_HAND = {
    'eval_case("Q?", "A", relationships=[{"type": "summary_of"}])': "a relationship has a type",
    'eval_case("Q?", "A", relationships=[3])': "relationships: a relationship has a type",
    'eval_case("Q?", "A", expected_output=5)': "expected_output: expected a string, found 5",
    'eval_case("Q?", 5, expected_output="A")': "text: expected a string, found 5",
    'eval_case("Q?", "A", context=["a", 5])': "context[[]1[]]: expected a string, found 5",
    'eval_case("Q?", "A", expected_output="A", categories=7)': "categories: expected a list, found int",
    'eval_case("Q?", "A", expected_output="A", usage={"tokens": "x"})': "usage*: expected a whole number",
    'eval_case("Q?", "A", expected_output="A", extra=[1])': "extra: expected a mapping, found list",
    'eval_case("Q?", "A", expected_output="A", run=None, key=3)': "key: expected a string, found 3",
    'Case(key="k", question="Q?", relationships=[{"type": "a"}])': "expected Relationship",
    'Case(key="k", question="Q?", expected_output="A", answer="A")': "answer: expected Answer, found str",
    '"A"': "expected a case, found str; make one by eval_case(...)",
    'eval_case("Q \\ud83d", "A \\ud83d", expected_output="A", extra={"\\ud83d": 1})': "",
    'eval_case("Q?", "A", expected_output="A", condition=None, context=None)': "",
}


@pytest.mark.parametrize("code", CASES_BY_HAND)
def test_a_faulty_case_is_the_failure_of_its_test_alone(project: Project, code: str) -> None:
    project.write(
        "test_app.py",
        f"""
from pytest_evalstudio.core.cases import Case


def test_by_hand(eval_rouge, eval_case):
    eval_rouge.check({code}, threshold=0.1)


def test_other(eval_rouge, eval_case):
    eval_rouge.check(eval_case("Q?", "A", expected_output="A"))
""",
    )
    result = project.run("test_app.py")
    fault = CASES_BY_HAND[code]
    result.assert_outcomes(passed=1 if fault else 2, failed=1 if fault else 0)
    if fault:
        result.stdout.fnmatch_lines(f"E *{fault}*")
    assert [item["verdict"] for item in project.record()[1].values()].count("passed") == (1 if fault else 2)
