"""The causes of regressions, in whole sessions of a RAG application."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from support.project import PreparedProjects, Project

APP = """
from pathlib import Path

FOLDER = Path(__file__).parent
TOP_K = 3
PENALTY = ""  # source that the index has lost


def retrieve(prompt, top_k=TOP_K):
    words = set(prompt.lower().strip("?").split())
    chunks = []
    for path in sorted(FOLDER.glob("docs/*.md")):
        for number, text in enumerate(path.read_text().split("\\n\\n"), 1):
            source = f"{path.name}#{number}"
            if source != PENALTY:
                score = len(words & set(text.lower().replace(".", "").split()))
                chunks.append({"text": text, "source": source, "score": score})
    return sorted(chunks, key=lambda chunk: -chunk["score"])[:top_k]


def generate(prompt, context, system_prompt="", llm_model_name=""):
    words = set(prompt.lower().strip("?").split())
    best = max(context, default="", key=lambda text: len(words & set(text.lower().replace(".", "").split())))
    if "briefly" in system_prompt:
        best = best.split(" ")[0]
    return best or "I do not know."
"""
CONFIG = """
evaluators = ["text_matching"]

[[model]]
name = "bank"
host = "python"
retrieve = "app:retrieve"
generate = "app:generate"
"""
FEES = """A transfer abroad costs 12 USD.

A lost card costs 25 USD."""
CASES = (
    {"key": "abroad", "prompt": "What costs a transfer abroad?", "condition": '"12 USD"'},
    {"key": "card", "prompt": "What costs a lost card?", "condition": '"25 USD"'},
)


def save_baseline(project: Project) -> None:
    project.write("app.py", APP)
    project.write("docs/fees.md", FEES)
    project.write("evalstudio.toml", CONFIG)
    project.suite(*CASES, name="bank_suite.json")
    project.run("bank_suite.json").assert_outcomes(passed=2)
    assert project.run_command("baseline", "save").ret == 0


@pytest.fixture
def project(pytester: pytest.Pytester, project_store: PreparedProjects) -> Project:
    """A bank's assistant whose baseline has passed."""
    return project_store.fill(Project(pytester, with_app=False), save_baseline)


def explained(project: Project, *arguments: str) -> tuple[pytest.RunResult, Mapping[str, Any]]:
    """Run with the search for causes; return the run and the entries by key."""
    result = project.run(
        "bank_suite.json",
        "--evalstudio-baseline=evalstudio-baseline.jsonl",
        "--evalstudio-explain",
        *arguments,
    )
    header, _ = project.record()
    return result, {entry["key"]: entry for entry in header.get("causes", {}).values()}


def test_a_chunk_that_is_no_longer_retrieved_is_the_cause(project: Project) -> None:
    project.write("app.py", APP.replace('PENALTY = ""', 'PENALTY = "fees.md#1"'))
    result, causes = explained(project)
    assert list(causes) == ["abroad"]
    assert (causes["abroad"]["code"], causes["abroad"]["basis"]) == ("retrieval", "replay")
    text = causes["abroad"]["text"]
    assert text.startswith("retrieval: passes with the baseline's chunks; `fees.md#1` is no longer retrieved")
    result.stdout.fnmatch_lines(
        ["*cause: retrieval: passes with the baseline's chunks*", "causes: 1 retrieval*"]
    )
    page = (project.folder / "evalstudio-report" / "interpretation.html").read_text(encoding="utf-8")
    assert "Causes of regressions" in page
    summary = (project.folder / "evalstudio-report" / "summary.md").read_text(encoding="utf-8")
    assert "| retrieval | 1 |" in summary


def test_a_sentence_that_a_document_has_lost_is_the_cause(project: Project) -> None:
    project.write("docs/fees.md", FEES.replace("A transfer abroad costs 12 USD", "See the list"))
    project.write("evalstudio.toml", CONFIG + '\n[cause]\ndocuments = ["docs/*.md"]\n')
    _, causes = explained(project)
    assert causes["abroad"]["code"] == "document"
    assert (
        causes["abroad"]["text"]
        == "document: the sentence with 'A transfer abroad costs 12 USD' is gone from `fees.md`"
    )
    assert causes["abroad"]["parts"] == [{"kind": "document", "name": "fees.md"}]


def test_a_prompt_of_the_baseline_that_makes_the_case_pass_is_the_cause(project: Project) -> None:
    project.write("evalstudio.toml", CONFIG + 'system_prompt = "Answer briefly."\n')
    result, causes = explained(project)
    assert {entry["code"] for entry in causes.values()} == {"prompt"}
    assert causes["card"]["text"] == "prompt: passes with the baseline's `system_prompt`"
    result.stdout.fnmatch_lines(["causes: 2 prompt*", "*fix first: prompt, which mends 2 of 2 cases"])


def test_two_parts_that_are_needed_together_are_several(project: Project) -> None:
    project.write("app.py", APP.replace('PENALTY = ""', 'PENALTY = "fees.md#1"'))
    project.write("evalstudio.toml", CONFIG + 'system_prompt = "Answer briefly."\n')
    _, causes = explained(project)
    assert (causes["abroad"]["code"], causes["abroad"]["is_joint"]) == ("several", True)
    assert causes["abroad"]["text"] == "several: passes only with the baseline's chunks and prompt together"
    assert causes["card"]["code"] == "prompt"


def test_a_reason_that_no_part_has_is_not_found(project: Project) -> None:
    project.write("app.py", APP.replace("return best or", 'return best.replace("12", "7") or'))
    _, causes = explained(project)
    assert causes["abroad"]["code"] == "not_found"
    assert causes["abroad"]["text"].startswith(
        "not found: chunks, calls and settings are those of the baseline"
    )


def test_a_reason_that_no_part_has_beside_other_chunks_is_not_found(project: Project) -> None:
    changed = APP.replace("return best or", 'return best.replace("12", "7") or').replace(
        "TOP_K = 3", "TOP_K = 1"
    )
    project.write("app.py", changed)
    _, causes = explained(project)
    assert causes["abroad"]["text"] == "not found: fails with the baseline's chunks, too"


WHOLE = """

def ask(prompt):
    chunks = [chunk["text"] for chunk in retrieve(prompt)]
    return {"answer": generate(prompt, chunks), "context": chunks}
"""


def test_an_application_without_declared_parts_is_not_tested(project: Project) -> None:
    (project.folder / "evalstudio-baseline.jsonl").unlink()
    project.write("evalstudio.toml", CONFIG.partition("retrieve =")[0] + 'target = "app:ask"\n')
    project.write("app.py", APP + WHOLE)
    project.run("bank_suite.json").assert_outcomes(passed=2)
    assert project.run_command("baseline", "save").ret == 0
    project.write("app.py", APP.replace('PENALTY = ""', 'PENALTY = "fees.md#1"') + WHOLE)
    _, causes = explained(project)
    assert causes["abroad"]["code"] == "not_tested"
    assert "declare `retrieve` and `generate`" in causes["abroad"]["text"]
    assert causes["abroad"]["details"][0].startswith(
        "`A transfer abroad costs 12 USD.` is no longer retrieved"
    )


def test_parts_that_are_not_the_application_are_named(project: Project) -> None:
    project.write("app.py", APP + WHOLE.replace("generate(prompt, chunks)", '"no"'))
    project.write("evalstudio.toml", CONFIG + 'target = "app:ask"\n')
    _, causes = explained(project)
    assert causes["abroad"]["code"] == "not_found"
    assert "pass with today's chunks" in causes["abroad"]["text"]


def test_a_run_without_a_baseline_is_refused(project: Project) -> None:
    result = project.run("bank_suite.json", "--evalstudio-explain")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--evalstudio-explain needs a baseline*"])


def test_the_calls_of_a_run_are_limited(project: Project) -> None:
    project.write("app.py", APP.replace('PENALTY = ""', 'PENALTY = "fees.md#1"'))
    project.write("evalstudio.toml", CONFIG + "\n[cause]\nmax_calls = 1\n")
    _, causes = explained(project)
    assert causes["abroad"]["code"] == "not_tested"
    assert causes["abroad"]["text"] == "not tested: the calls of [cause] are used up"
    assert causes["abroad"].get("calls", 0) <= 1


def test_an_estimate_names_the_calls_of_explanations(project: Project) -> None:
    result = project.run(
        "bank_suite.json",
        "--evalstudio-baseline=evalstudio-baseline.jsonl",
        "--evalstudio-explain",
        "--evalstudio-estimate",
    )
    result.stdout.fnmatch_lines(["explanations: at most 150 further calls for each case that regresses*"])


def test_workers_send_their_causes(project: Project) -> None:
    project.write("app.py", APP.replace('PENALTY = ""', 'PENALTY = "fees.md#1"'))
    _, causes = explained(project, "-n", "2")
    assert causes["abroad"]["code"] == "retrieval"


def test_the_command_explains_a_finished_run(project: Project) -> None:
    project.write("app.py", APP.replace('PENALTY = ""', 'PENALTY = "fees.md#1"'))
    project.run("bank_suite.json", "--evalstudio-baseline=evalstudio-baseline.jsonl")
    result = project.run_command("explain", "abroad", "-o", "explained")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["bank_suite.json::abroad*: retrieval: passes with the baseline's chunks*"])
    header, _ = project.record("explained")
    assert [entry["code"] for entry in header["causes"].values()] == ["retrieval"]
    causes = json.loads(project.run_command("explain", "--json").stdout.str())
    assert [entry["code"] for entry in causes.values()] == ["retrieval"]
    unknown = project.run_command("explain", "abroat")
    assert unknown.ret == 2
    unknown.stderr.fnmatch_lines(["*Did you mean 'abroad'*"])


def test_nothing_is_asked_where_only_the_document_changed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_SHA", "a" * 40)
    project.write("evalstudio.toml", CONFIG + '\n[cause]\ndocuments = ["docs/*.md"]\n')
    (project.folder / "evalstudio-baseline.jsonl").unlink()
    project.run("bank_suite.json").assert_outcomes(passed=2)
    assert project.run_command("baseline", "save").ret == 0
    project.write("docs/fees.md", FEES.replace("costs 12 USD", "costs some money"))
    _, causes = explained(project)
    entry = causes["abroad"]
    assert (entry["code"], entry["basis"], entry.get("calls", 0)) == ("document", "fingerprints", 0)
    assert "nothing else differs in the two records" in entry["details"]


def test_the_budget_of_a_model_holds_for_its_variants(project: Project) -> None:
    counting = APP.replace(
        '    words = set(prompt.lower().strip("?").split())\n    best',
        '    open(FOLDER / "calls.log", "a").write("x")\n'
        '    words = set(prompt.lower().strip("?").split())\n    best',
    )
    project.write("app.py", counting)
    limited = CONFIG + 'system_prompt = "Answer briefly."\nbudget = { calls = 6 }\ndeterministic = true\n'
    project.write("evalstudio.toml", limited.replace("calls = 6", "calls = 3"))
    result, causes = explained(project)
    assert len((project.folder / "calls.log").read_text()) == 3
    assert sorted(entry["code"] for entry in causes.values()) == ["not_tested", "prompt"]
    assert any("was not asked" in entry["text"] for entry in causes.values())
    result.stdout.fnmatch_lines(["causes: *1 prompt*"])


def test_personal_data_in_causes_is_masked(project: Project) -> None:
    mail = "jane.roe@bank-mail.net"
    project.write("docs/fees.md", FEES.replace("12 USD", f"12 USD, says {mail}"))
    (project.folder / "evalstudio-baseline.jsonl").unlink()
    project.run("bank_suite.json").assert_outcomes(passed=2)
    assert project.run_command("baseline", "save").ret == 0
    project.write("docs/fees.md", FEES.replace("costs 12 USD", f"is told by {mail}"))
    project.write("evalstudio.toml", CONFIG + '\n[cause]\ndocuments = ["docs/*.md"]\n')
    explained(project)
    report = project.folder / "evalstudio-report"
    for name in ("record.jsonl", "summary.md", "interpretation.html"):
        assert mail not in (report / name).read_text(encoding="utf-8")


def test_a_document_that_lost_another_sentence_is_not_the_cause(project: Project) -> None:
    brief = APP.replace("return best or", 'return best.split(". ")[0] or')
    project.write("app.py", brief)
    project.write("evalstudio.toml", CONFIG + '\n[cause]\ndocuments = ["docs/*.md"]\n')
    project.write("docs/fees.md", FEES.replace("12 USD.", "12 USD. It is due in May."))
    (project.folder / "evalstudio-baseline.jsonl").unlink()
    project.run("bank_suite.json").assert_outcomes(passed=2)
    assert project.run_command("baseline", "save").ret == 0
    project.write("docs/fees.md", FEES)
    project.write("app.py", brief.replace('PENALTY = ""', 'PENALTY = "fees.md#1"'))
    _, causes = explained(project)
    assert causes["abroad"]["code"] == "retrieval"
    assert "its document changed" in causes["abroad"]["text"]
