"""Personal data and secrets in identifiers and descriptions get into no node id, record, page or export."""

from __future__ import annotations

import json
import zipfile

import pytest

from support.project import Project

EMAIL = "jane.doe@realbank.com"
TOKEN = "ghp_" + "a1B2c3D4" * 5
CARD = "4111 1111 1111 1111"
SECRETS = [EMAIL, TOKEN, CARD, "hunter2secret9", "219-09-9999", "GB29NWBK60161331926819"]
NASTY = " ".join([EMAIL, TOKEN, CARD, "SSN 219-09-9999", "GB29NWBK60161331926819"])


def project_files(project: Project) -> None:
    project.suite(
        {
            "key": f"a {NASTY}",
            "prompt": "2+2?",
            "condition": '"4"',
            "categories": [EMAIL],
            "expected_documents": [f"docs/{TOKEN}.md"],
        },
        {
            "key": f"b {NASTY}",
            "prompt": "2+2?",
            "condition": '"5"',
            "relationships": [{"type": "see", "target": f"a {NASTY}"}],
        },
        {"key": "skipped", "prompt": "2+2?", "skip": f"asked by {NASTY}"},
        {"key": "xfailed", "prompt": "2+2?", "condition": '"5"', "xfail": f"asked by {NASTY}"},
        {"key": "broken", "prompt": 5, NASTY: 1},
        {"key": "unparsed", "prompt": "x", "condition": f'"{NASTY}" AND'},
        description=f"by {NASTY}",
        categories=[f"cat {CARD}"],
    )
    row = {
        "key": f"r {NASTY}",
        "input": "q",
        "actual_output": "x",
        "output_condition": '"y"',
        "context": ["c"],
        "context_sources": [f"s3://{NASTY}/a.pdf"],
        "corpus": [f"https://me:hunter2secret9@host/{EMAIL}"],
        "test_key": NASTY,
        "model_key": f"m {NASTY}",
    }
    model = {
        "key": f"m {NASTY}",
        "name": f"model {NASTY}",
        "model_cfg": {"api_key": "hunter2secret9", "note": NASTY},
        "collection_name": NASTY,
    }
    content = {"name": f"Lab {NASTY}", "description": NASTY, "dataset": {"inputs": [row]}, "models": [model]}
    project.write("answers_lab.json", json.dumps(content))


def test_nothing_that_a_run_shows_or_writes_has_them(project: Project) -> None:
    project_files(project)

    result = project.run("sums_suite.json", "answers_lab.json", "-rA", "-v", "--junitxml=junit.xml")

    result.assert_outcomes(passed=1, failed=2, skipped=1, xfailed=1, errors=2)
    texts = {
        "output": result.stdout.str() + result.stderr.str(),
        "junit": (project.folder / "junit.xml").read_text(encoding="utf-8"),
    }
    with zipfile.ZipFile(project.folder / "evalstudio-report" / "evalstudio-report.zip") as archive:
        texts |= {name: archive.read(name).decode("utf-8", "replace") for name in archive.namelist()}
    assert "record.jsonl" in texts
    assert [(name, secret) for name, text in texts.items() for secret in SECRETS if secret in text] == []


def test_masked_keys_stay_distinct_and_joinable(project: Project) -> None:
    project_files(project)
    project.run("sums_suite.json", "answers_lab.json")
    _, items = project.record()
    first_report = (project.folder / "evalstudio-report").rename(project.folder / "first")
    project.run("sums_suite.json", "answers_lab.json")
    header, second = project.record()

    assert list(items) == list(second)
    keys = [item["key"] for item in items.values()]
    assert len(keys) == len(set(keys))
    first, follower = keys[0], items[next(name for name in items if name.startswith("b"))]
    assert follower["rows"][0]["relationships"][0]["target"] == first
    row = next(item for name, item in items.items() if name.startswith("r"))
    assert row["model_key"] in header["models"]
    assert first_report.is_dir()


def test_last_failed_finds_a_masked_key_again(project: Project) -> None:
    project_files(project)
    project.run_with_cache("sums_suite.json", "answers_lab.json")

    result = project.run_with_cache("sums_suite.json", "answers_lab.json", "--lf", "-v")

    assert result.parseoutcomes()["failed"] == 2
    assert "passed" not in result.parseoutcomes()


@pytest.mark.parametrize(
    "key",
    [
        "a@v2.json",
        "550e8400-e29b-41d4-a716-446655440000",
        "2024-01-15",
        "4111111111111111",
        "case-0042_v1.2.3.4",
    ],
)
def test_an_ordinary_key_is_kept(project: Project, key: str) -> None:
    project.suite({"key": key, "prompt": "2+2?", "condition": '"4"'})

    project.run()

    _, items = project.record()
    assert list(items) == [f"{key}[app]"]


def test_a_question_is_masked_before_it_is_cut(project: Project) -> None:
    row = {"key": "a", "input": f"Which person has the key {TOKEN}?", "actual_output": "x"}
    project.lab({**row, "output_condition": '"y"'})
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "Which person has the key" in result.stdout.str()
    assert TOKEN[:8] not in result.stdout.str()


def test_the_key_of_a_case_in_python_is_masked(project: Project) -> None:
    project.write(
        "test_keys.py",
        f"""
def test_sum(eval_text_matching, eval_case):
    eval_text_matching.check(eval_case("2+2?", "It is 4.", condition='"4"', key={EMAIL!r}))
""",
    )

    project.run("test_keys.py", "--junitxml=junit.xml").assert_outcomes(passed=1)

    _, items = project.record()
    assert [item["key"] for item in items.values()] == ["****.***@********.***-c1f6bd"]
    assert EMAIL not in (project.folder / "junit.xml").read_text(encoding="utf-8")


def test_an_answer_is_masked_in_the_message_of_a_failure(project: Project) -> None:
    project.lab(
        {"key": "a", "input": "q", "actual_output": f"write to {EMAIL}\nnow", "output_condition": '"y"'}
    )
    result = project.run()
    result.assert_outcomes(failed=1)
    assert "write to ****.***@********.*** now" in result.stdout.str()
