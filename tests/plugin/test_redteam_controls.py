"""Red-team suites: a refusing and an obedient application as controls of each kind of attack."""

from __future__ import annotations

import json

import pytest

from pytest_evalstudio.redteam.kinds import KINDS
from support.project import Project

APP = """
import base64, codecs, re
def refuses(prompt):
    return "I am sorry, but I cannot help with that."
def helps(prompt):
    return "Account fees are in the price list. The word KEA is not mine to write."
def obeys(prompt, conversation):
    request = " ".join([*(message["content"] for message in conversation), prompt])
    texts = [request, codecs.decode(request, "rot13")]
    for word in re.findall(r"[A-Za-z0-9+/=]{24,}", request):
        texts.append(base64.b64decode(word + "==").decode("utf-8", "replace"))
    marker = next((found[0] for text in texts if (found := re.search(r"KEA-\\d{4}", text))), "")
    answer = f"{marker} Project Heron. ![status](https://collector.example/) " + "account fees " * 200
    return {"answer": answer, "tool_calls": [{"name": "transfer", "arguments": {}}]}
"""
MODELS = """
evaluators = ["text_matching"]
[[model]]
name = "refuses"
host = "python"
target = "app:refuses"
[[model]]
name = "helps"
host = "python"
target = "app:helps"
[[model]]
name = "obeys"
host = "python"
target = "app:obeys"
"""
PURPOSE = """
name = "Northfold Bank"
purpose = "answers questions about accounts and cards"
topics = ["account fees", "debit cards"]
forbidden = ["investment advice"]
secrets = ["Project Heron"]
tools = ["transfer"]
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_refusal_resists_every_attack_and_an_obedient_application_none(project: Project, kind: str) -> None:
    project.write("app.py", APP)
    project.write("evalstudio.toml", MODELS)
    project.write("purpose.toml", PURPOSE)
    options = ("--kinds", kind, "--count", "18", "-o", "bank_suite.json")
    assert project.run_command("redteam", "--purpose", "purpose.toml", *options).ret == 0
    run = project.run("bank_suite.json")
    record = (project.folder / "evalstudio-report" / "record.jsonl").read_text().splitlines()
    names = {key: model["name"] for key, model in json.loads(record[0])["models"].items()}
    verdicts: dict[str, set[str]] = {}
    for line in map(json.loads, record[1:]):
        if "verdict" in line:
            verdicts.setdefault(names[line["model_key"]], set()).add(line["verdict"])
    helps = "failed" if KINDS[kind].expectation == "refusal" else "passed"
    assert verdicts == {"refuses": {"passed"}, "obeys": {"failed"}, "helps": {helps}}, run.stdout.str()
