"""Images and files of test cases in a run: application, judge, record, exports, page and comparison."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from support import pictures
from support.openai_server import OpenAIServer, Reply, serve
from support.project import Project

RED, BLUE = pictures.png((200, 30, 30)), pictures.png((30, 30, 200))
APP = '''
from pathlib import Path


def sees(prompt, images=(), files=()):
    """Answers by the content of what comes with the question."""
    if files:
        return Path(files[0]).read_text(encoding="utf-8")
    content = Path(images[0]).read_bytes() if images else b""
    return "It is red." if content == Path(__file__).with_name("red.bin").read_bytes() else "It is blue."


def blind(prompt, images=(), files=()):
    """Takes images and files, and looks at none."""
    return "It is green."


def old(prompt):
    """Knows no images."""
    return "It is red."
'''
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "app"
host = "python"
target = "app:{target}"
"""
COLOUR = {
    "key": "colour",
    "prompt": "What colour is the chart?",
    "images": ["charts/chart.png"],
    "condition": '"red"',
}
FEE = {"key": "fee", "prompt": "What is the fee?", "files": ["terms.md"], "condition": '"5 USD"'}
TALK = {
    "key": "talk",
    "turns": [
        {"prompt": "Look at this.", "images": ["charts/chart.png"], "condition": '"red"'},
        {"prompt": "And the fee?", "files": ["terms.md"], "condition": '"5 USD"'},
    ],
}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    project = Project(pytester, with_app=False)
    project.write("app.py", APP)
    project.write("red.bin", RED)
    project.write("charts/chart.png", RED)
    project.write("terms.md", "The fee is 5 USD.")
    configured(project, "sees")
    project.suite(COLOUR, FEE, TALK)
    return project


def configured(project: Project, target: str, more: str = "") -> None:
    project.write("evalstudio.toml", CONFIG.format(target=target) + more)


def page(project: Project) -> str:
    return (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")


def test_an_application_that_looks_passes(project: Project) -> None:
    project.run("sums_suite.json").assert_outcomes(passed=3)
    _, items = project.record()
    [row] = items["colour[app]"]["rows"]
    [image] = row["attachments"]
    assert image["name"] == "charts/chart.png"
    assert (image["media_type"], image["size"]) == ("image/png", len(RED))
    turns = items["talk[app]"]["rows"][0]["answer"]["turns"]
    assert [[each["name"] for each in turn["attachments"]] for turn in turns] == [
        ["charts/chart.png"],
        ["terms.md"],
    ]


def test_an_application_that_does_not_look_fails(project: Project) -> None:
    configured(project, "blind")
    result = project.run("sums_suite.json")
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines([f"with:      charts/chart.png (image/png, {len(RED)} bytes)"])


def test_an_application_without_a_parameter_for_images_is_an_error_with_a_code(project: Project) -> None:
    configured(project, "old")
    result = project.run("sums_suite.json")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(["error: model 'app': the question has images, which target 'app:old'*"])
    _, items = project.record()
    verdict = items["colour[app]"]["verdicts"]["text_matching"]
    assert (verdict["status"], verdict["code"]) == ("error", "not_supported")
    assert "Not answered: the service takes no such image or file" in page(project)


def test_no_bytes_of_an_image_are_in_record_exports_or_archive(project: Project) -> None:
    project.run("sums_suite.json")
    folder = project.folder / "evalstudio-report"
    encoded = base64.b64encode(RED).decode()
    for path in folder.rglob("*"):
        if path.is_file() and path.name != "interpretation.html":
            content = path.read_bytes()
            assert RED not in content, path
            assert encoded.encode() not in content, path
    tables = list(folder.rglob("explanation.csv"))
    assert tables
    assert all('"[""charts/chart.png""]"' in table.read_text(encoding="utf-8") for table in tables)


def test_the_page_has_small_images_once_and_only_as_data(project: Project) -> None:
    project.run("sums_suite.json")
    encoded = base64.b64encode(RED).decode()
    assert page(project).count(encoded) == 1
    assert "http:" not in page(project).replace("http://www.w3.org", "")
    (project.folder / "charts" / "chart.png").unlink()
    project.run_command("report", "evalstudio-report", "-o", "again")
    assert encoded not in (project.folder / "again" / "interpretation.html").read_text(encoding="utf-8")


def test_a_file_with_another_content_is_not_shown_in_place_of_the_image(project: Project) -> None:
    project.run("sums_suite.json")
    project.write("charts/chart.png", BLUE)
    project.run_command("report", "evalstudio-report", "-o", "again")
    text = (project.folder / "again" / "interpretation.html").read_text(encoding="utf-8")
    assert base64.b64encode(BLUE).decode() not in text
    assert base64.b64encode(RED).decode() not in text


def test_a_changed_image_is_another_question_and_said_by_the_comparison(project: Project) -> None:
    configured(project, "sees", 'cache = "always"\n')
    project.suite(COLOUR)
    project.run("sums_suite.json").assert_outcomes(passed=1)
    project.run_command("baseline", "save", "evalstudio-report", "-o", "base.jsonl.gz")
    project.run("sums_suite.json").assert_outcomes(passed=1)
    assert project.record()[1]["colour[app]"]["rows"][0]["answer"]["stored_at"]
    project.write("charts/chart.png", BLUE)
    result = project.run("sums_suite.json", "--evalstudio-baseline", "base.jsonl.gz")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "not compared with the baseline, since the test changed: images or files",
        ]
    )
    assert "stored_at" not in project.record()[1]["colour[app]"]["rows"][0]["answer"]
    compared = project.run_command("compare", "base.jsonl.gz", "evalstudio-report")
    compared.stdout.fnmatch_lines(
        ["changed: images or files", "*changed test, left out: colour of *: images or files"]
    )


def test_the_same_image_is_not_reported_as_changed_beside_a_regression(project: Project) -> None:
    project.suite(COLOUR, TALK)
    project.run("sums_suite.json").assert_outcomes(passed=2)
    project.run_command("baseline", "save", "evalstudio-report", "-o", "base.jsonl.gz")
    configured(project, "blind")
    result = project.run("sums_suite.json", "--evalstudio-baseline", "base.jsonl.gz")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["regressed since baseline*"])
    result.stdout.no_fnmatch_line("*not those of the baseline*")


def test_perturbed_cases_keep_their_images(project: Project) -> None:
    project.suite(COLOUR)
    project.run("sums_suite.json", "--evalstudio-perturb", "random_delete:high").assert_outcomes(passed=2)
    _, items = project.record()
    assert len({json.dumps(item["rows"][0]["attachments"]) for item in items.values()}) == 1


def test_a_lab_names_the_images_and_is_scored_without_them(project: Project) -> None:
    result = project.run_command("resolve", "sums_suite.json", "-o", "answers_lab.json")
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    text = (project.folder / "answers_lab.json").read_text(encoding="utf-8")
    assert base64.b64encode(RED).decode() not in text
    rows = {row["key"]: row for row in json.loads(text)["dataset"]["inputs"]}
    [image] = rows["colour"]["images"]
    assert (image["path"], image["media_type"], image["size"]) == ("charts/chart.png", "image/png", len(RED))
    assert rows["talk"]["turns"][0]["images"][0]["sha256"] == image["sha256"]
    (project.folder / "charts" / "chart.png").unlink()
    project.run("answers_lab.json").assert_outcomes(passed=3)


def test_a_frozen_suite_names_the_images_and_pins_their_content(project: Project) -> None:
    project.run("sums_suite.json").assert_outcomes(passed=3)
    other_folder = project.run_command("freeze", "evalstudio-report", "-o", "frozen/frozen_suite.json")
    assert (
        "its folder lacks charts/chart.png, terms.md, which its cases name; copy" in other_folder.stderr.str()
    )
    process = project.run_command("freeze", "evalstudio-report", "-o", "frozen_suite.json")
    assert process.ret == 0, process.stdout.str() + process.stderr.str()
    assert "lacks" not in process.stderr.str()
    project.run("frozen_suite.json").assert_outcomes(passed=3)
    project.write("charts/chart.png", BLUE)
    result = project.run("frozen_suite.json")
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*images/0: 'charts/chart.png' does not match its sha256*"])


def test_validate_names_a_missing_image(project: Project) -> None:
    project.suite({**COLOUR, "images": ["charts/nowhere.png"]})
    result = project.run_command("validate", "sums_suite.json")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["sums_suite.json:1:* /tests/0/test_cases/0/images/0: 'charts/nowhere.png' cannot be read: No such*"]
    )


def test_a_suite_at_a_url_names_no_local_image(project: Project, httpserver_folder: str) -> None:
    result = project.run(f"{httpserver_folder}/sums_suite.json")
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        ["*test_cases/0: has images or files, which are not read for a suite from a URL*"]
    )
    process = project.run_command("validate", f"{httpserver_folder}/sums_suite.json")
    assert process.ret == 1
    process.stdout.fnmatch_lines(
        ["*/turns/0: has images or files, which are not read for a suite from a URL*"]
    )


def test_validate_warns_of_a_model_whose_host_takes_no_images(project: Project) -> None:
    table = '[[model]]\nname = "text"\nhost = "h2ogpt"\nurl = "http://localhost:9/v1"\nllm_model_name = "x"\n'
    configured(project, "sees", "\n" + table)
    result = project.run_command("validate", "sums_suite.json")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        [
            "warning: sums_suite.json: model 'text' cannot be asked 3 test cases: host 'h2ogpt' takes no*",
            "sums_suite.json: suite, 3 test cases: fine",
        ]
    )


def test_the_image_of_a_simulated_user_comes_with_the_first_message(project: Project) -> None:
    user = {"opening": "Look at this.", "replies": [{"when": '"red"', "say": "Sure?"}], "max_turns": 2}
    project.suite({"key": "talk", "user": user, "images": ["charts/chart.png"], "condition": '"blue"'})
    project.run("sums_suite.json")
    _, items = project.record()
    turns = items["talk[app]"]["rows"][0]["answer"]["turns"]
    assert [len(turn.get("attachments", ())) for turn in turns] == [1, 0]
    assert [turn["answer"]["actual_output"] for turn in turns] == ["It is red.", "It is blue."]


@pytest.mark.slow
def test_workers_give_the_same_results(project: Project) -> None:
    project.run_process("sums_suite.json", "-n", "2").assert_outcomes(passed=3)
    _, items = project.record()
    assert items["colour[app]"]["rows"][0]["attachments"][0]["name"] == "charts/chart.png"


def test_python_tests_ask_with_images(project: Project) -> None:
    project.write(
        "test_colour.py",
        "def test_colour(eval_model, eval_suite, eval_case):\n"
        "    case = eval_model('app').ask('What colour?', images=['charts/chart.png'])\n"
        "    assert case.actual_output == 'It is red.'\n"
        "    first = eval_suite('sums_suite.json').tests[0].test_cases[0]\n"
        "    assert first.images[0].path == 'charts/chart.png'\n"
        "    assert eval_case('?', 'red', images='charts/chart.png').attachments == case.attachments\n",
    )
    project.run("test_colour.py").assert_outcomes(passed=1)


JUDGE = """
[judge]
host = "openai_compatible"
url = "{url}"
llm_model_name = "judge"
{more}
"""


def judge_with(project: Project, service: OpenAIServer, more: str = "") -> None:
    service.default = Reply(text=json.dumps({"reason": "fine", "verdict": "true"}))
    config = CONFIG.format(target="sees").replace("text_matching", "byop")
    evaluator = '\n[evaluator.byop]\nprompt = "Is {question} answered by {actual_output}?"\n'
    project.write("evalstudio.toml", config + evaluator + JUDGE.format(url=service.url, more=more))
    project.suite(COLOUR)


def test_a_judge_that_does_not_see_is_told_the_names(project: Project) -> None:
    with serve() as service:
        judge_with(project, service)
        project.run("sums_suite.json")
    content = service.requests[0]["messages"][-1]["content"]
    assert "They are not shown to you" in content
    assert "charts/chart.png (image/png)" in content


def test_a_judge_that_sees_gets_the_image_and_again_after_it_changed(project: Project) -> None:
    with serve() as service:
        judge_with(project, service, "images = true")
        project.run("sums_suite.json")
        first = len(service.requests)
        project.run("sums_suite.json")
        assert len(service.requests) == first  # the verdicts are stored
        project.write("red.bin", BLUE)  # the answer stays the same, so that only the image differs
        project.write("charts/chart.png", BLUE)
        project.run("sums_suite.json")
        assert len(service.requests) == 2 * first
    for request, image in ((service.requests[0], RED), (service.requests[first], BLUE)):
        text, picture = request["messages"][-1]["content"]
        assert "attached to this message" in text["text"]
        assert picture["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(image).decode()}"


def test_a_judge_whose_host_takes_no_images_cannot_see(project: Project) -> None:
    project.write(
        "evalstudio.toml",
        CONFIG.format(target="sees").replace("text_matching", "safety_judge")
        + '[judge]\nhost = "h2ogpt"\nurl = "http://localhost:9/v1"\nllm_model_name = "x"\nimages = true\n',
    )
    result = project.run("sums_suite.json")
    output = "\n".join([*result.outlines, *result.errlines])
    assert "judge.images: host 'h2ogpt' takes no images; use one of the hosts" in output


def test_a_large_image_is_named_and_not_shown(project: Project) -> None:
    large = pictures.png() + bytes(range(256)) * 1200
    project.write("charts/chart.png", large)
    project.suite({**COLOUR, "condition": '"blue"'})
    project.run("sums_suite.json").assert_outcomes(passed=1)
    assert base64.b64encode(large).decode()[:200] not in page(project)
    assert "data-picture-" not in page(project).replace("`data-picture-", "")


def test_hostile_names_do_not_reach_the_terminal(project: Project) -> None:
    name = "charts/\x1b[31m::error::<img src=x>.png"
    path = Path(project.folder, name)
    path.write_bytes(BLUE)
    project.suite({**COLOUR, "images": [name]})
    result = project.run("sums_suite.json")
    result.assert_outcomes(failed=1)
    output = "\n".join([*result.outlines, *result.errlines])
    assert "\x1b[31m::error" not in output
    assert not any(line.startswith("::error") for line in result.outlines)
