from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from support.children import Children
from support.project import Project
from support.workers import WORKERS

CASES = [
    {"key": key, "prompt": "2+2?", "condition": f'"{digit}"'}
    for key, digit in (("one", "4"), ("two", "5"), ("three", "4"))
]


def test_k_node_ids_and_last_failed_select_as_for_any_test(project: Project) -> None:
    project.suite(*CASES)

    assert project.run("-k", "one or three").parseoutcomes() == {"passed": 2, "deselected": 1}
    assert project.run("sums_suite.json::two[app]").parseoutcomes() == {"failed": 1}
    project.run_with_cache("sums_suite.json")
    assert project.run_with_cache("--lf").parseoutcomes() == {"failed": 1}
    assert project.run("-x").parseoutcomes() == {"passed": 1, "failed": 1}
    missing = project.run("sums_suite.json::four[app]")
    assert missing.ret == pytest.ExitCode.USAGE_ERROR


def test_an_unselected_case_is_not_asked_for(project: Project) -> None:
    project.write(
        "app.py", "def ask(prompt):\n    open('asked.txt', 'a').write(prompt + '\\n')\n    return '4'\n"
    )
    project.suite(*({**case, "prompt": case["key"]} for case in CASES))

    project.run("-k", "two")

    assert (project.folder / "asked.txt").read_text() == "two\n"


def test_only_the_named_model_is_run(project: Project) -> None:
    project.lab(
        *(
            {"key": "q", "input": "q", "actual_output": "a", "output_condition": '"a"', "model_key": key}
            for key in "mn"
        )
    )

    assert project.run("--evalstudio-model", "n").parseoutcomes() == {"passed": 1}
    unknown = project.run("--evalstudio-model", "nn")
    assert unknown.ret == pytest.ExitCode.USAGE_ERROR
    unknown.stderr.fnmatch_lines(["ERROR: no model named 'nn'. Did you mean 'n'?*"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["--evalstudio-evaluators", "rogue"],
            "no evaluator named 'rogue'. Did you mean 'rouge'?*",
            id="unknown evaluator",
        ),
        pytest.param(
            ["--evalstudio-threshold", "rouge"],
            "--evalstudio-threshold 'rouge': expected ID=NUMBER*",
            id="no number",
        ),
        pytest.param(
            ["--evalstudio-threshold", "rouge.rouge_3=1"],
            "*no metric named 'rouge_3'. Did you mean 'rouge_?'?*",
            id="unknown metric",
        ),
        pytest.param(["--evalstudio-gate", "text_matching"], "*text_matching*", id="gate without comparison"),
        pytest.param(["--evalstudio-gate", "rogue >= 1"], "*rogue*", id="gate on what is not run"),
        pytest.param(
            ["--evalstudio-config", "none.toml"], "*none.toml: cannot be read*", id="no configuration"
        ),
        pytest.param(["--evalstudio-runs", "0"], "--evalstudio-runs 0: must be 1 or more", id="no runs"),
    ],
)
@pytest.mark.parametrize("workers", WORKERS)
def test_what_nobody_knows_is_a_usage_error_before_the_run(
    project: Project, arguments: list[str], message: str, workers: tuple[str, ...]
) -> None:
    project.suite(*CASES)

    result = project.run(*arguments, "--evalstudio-threshold", "rouge=0.5", *workers)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()
    assert not (project.folder / "evalstudio-report").exists()


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        pytest.param("evaluator = 3", "evaluator: *", id="wrong type"),
        pytest.param(
            'evaluatrs = ["rouge"]',
            "evaluatrs: unknown key. Did you mean 'evaluators'? *",
            id="unknown key",
        ),
        pytest.param(
            "[evaluator.rouge]\ntreshold = 1",
            "evaluator.rouge.treshold: unknown option. Did you mean 'threshold'?",
            id="unknown option",
        ),
        pytest.param(
            "[evaluator.rogue]\nthreshold = 1",
            "evaluator.rogue: no evaluator named 'rogue'. Did you mean 'rouge'?*",
            id="unknown evaluator",
        ),
        pytest.param(
            '[[model]]\nname = "x"\nhost = "pyhton"',
            "model 'x': no host named 'pyhton'. Did you mean 'python'?*",
            id="unknown host",
        ),
        pytest.param(
            '[[model]]\nname = "x"\nhost = "python"\ntarget = "app:aks"',
            "model 'x': *'aks'*",
            id="unknown function",
        ),
        pytest.param(
            '[[model]]\nname = "x"\nhost ='
            ' "openai_compatible"\nurl="http://127.0.0.1:1"\nllm_model_name="m"\napi_key = "${NO_SUCH_KEY}"',
            "model 'x': *NO_SUCH_KEY*",
            id="missing secret",
        ),
        pytest.param("evaluators = [", "*is not TOML*", id="no TOML"),
    ],
)
def test_a_wrong_configuration_is_a_usage_error_that_names_the_place(
    project: Project, toml: str, message: str
) -> None:
    project.write("evalstudio.toml", toml)
    project.suite(*CASES)

    result = project.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{message}"])
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


@pytest.mark.slow
def test_after_ctrl_c_the_report_holds_what_was_finished(project: Project, children: Children) -> None:
    project.write(
        "app.py",
        "import time\n\n\ndef ask(prompt):\n    if prompt == 'slow':\n"
        "        open('asked.txt', 'w').close()\n        time.sleep(600)\n    return '4'\n",
    )
    project.suite(CASES[0], name="a_suite.json")
    project.suite({**CASES[2], "prompt": "slow"}, name="b_suite.json")

    process = children.start([sys.executable, "-m", "pytest", "-p", "no:cacheprovider"], project.folder)
    record = project.folder / "evalstudio-report" / "record.jsonl"
    process.wait_until((project.folder / "asked.txt").exists, "the slow question")
    assert '{"kind":"item"' in record.read_text(), "the first item was not recorded"
    process.send_signal(signal.SIGINT)
    result = process.finish()

    assert result.returncode == pytest.ExitCode.INTERRUPTED, result
    assert "report: evalstudio-report/interpretation.html" in result.out
    header, items = project.record()
    assert header["interrupted"] is True
    assert list(items) == ["one[app]"]


def test_a_killed_run_leaves_a_record_that_gives_a_report(project: Project) -> None:
    project.write(
        "app.py",
        "import os\n\n\ndef ask(prompt):\n    os._exit(9) if prompt == 'die' else None\n    return '4'\n",
    )
    project.suite(CASES[0], name="a_suite.json")
    project.suite({**CASES[2], "prompt": "die"}, name="b_suite.json")

    assert project.run_process().ret == 9
    rebuild = subprocess.run(
        [sys.executable, "-m", "pytest_evalstudio.cli", "report", "evalstudio-report", "-o", "rebuilt"],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=False,
    )

    assert rebuild.returncode == 0, rebuild.stderr
    rebuilt = json.loads((project.folder / "rebuilt" / "interpretation.json").read_text())
    assert rebuilt["dataset"]["items"] == 1
    assert (project.folder / "rebuilt" / "interpretation.html").is_file()
