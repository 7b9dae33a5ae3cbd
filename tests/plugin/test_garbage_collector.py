"""The garbage collector during a session: collected items are left alone, and all is as before at the end."""

from __future__ import annotations

import gc

from support.project import Project

PROBE = """
import gc


def ask(prompt):
    with open("seen.txt", "a") as file:
        file.write(f"{gc.get_freeze_count() > 0} {gc.get_threshold()[0]} {gc.isenabled()}\\n")
    return "It is 4."
"""


def test_items_are_left_alone_while_they_run_and_all_is_restored(project: Project) -> None:
    project.write("app.py", PROBE)
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    thresholds = gc.get_threshold()

    project.run().assert_outcomes(passed=1)

    assert (project.folder / "seen.txt").read_text() == "True 5000 True\n"
    assert (gc.get_threshold(), gc.get_freeze_count(), gc.isenabled()) == (thresholds, 0, True)


def test_greater_thresholds_of_the_user_stay(project: Project) -> None:
    project.write("conftest.py", "import gc\n\ngc.set_threshold(9_000, 20, 30)\n")
    project.write("app.py", PROBE)
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    thresholds = gc.get_threshold()
    try:
        project.run().assert_outcomes(passed=1)
        assert gc.get_threshold() == (9_000, 20, 30)
    finally:
        gc.set_threshold(*thresholds)

    assert (project.folder / "seen.txt").read_text() == "True 9000 True\n"


def test_a_collector_that_the_user_has_switched_off_stays_so(project: Project) -> None:
    project.write("conftest.py", "import gc\n\ngc.set_threshold(0)\n")
    project.write("app.py", PROBE)
    project.suite({"key": "four", "prompt": "2+2?", "condition": '"4"'})
    thresholds = gc.get_threshold()
    try:
        project.run().assert_outcomes(passed=1)
    finally:
        gc.set_threshold(*thresholds)

    assert (project.folder / "seen.txt").read_text() == "True 0 True\n"
