"""Applications under validation whose quality is known: one answers every question right, one does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from support.pipelines import PIPELINE
from support.project import Project

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents"
CONFIG = 'evaluators = ["text_matching"]\n'
WORKFLOW = "subject_workflow.json"
POLICY = {"evalstudio_policy": {"unstated": "none", "tiers": {"none": {}}}}
"""Demands nothing: the tests of other rules need no labels."""
APP = '''
import json
from pathlib import Path

HOME = Path(__file__).parent
INVENTED = [
    "The archive was founded by three sailors who kept their parrots in the cellar.",
    "All visitors receive a golden key and a basket of pears at the entrance.",
    "Das steht leider nirgendwo; bitte fragen Sie morgen im zweiten Stock.",
    "Die Gebühr beträgt siebzehn Taler und wird am Freitag eingezogen.",
]


def case_of(prompt):
    for path in sorted(HOME.glob("*_artifacts/*/*_suite.json")):
        for test in json.loads(path.read_text(encoding="utf-8"))["tests"]:
            for case in test["test_cases"]:
                if case["prompt"] == prompt:
                    return case
    raise KeyError(prompt)


def right(case):
    expected, evidence = case["expected_output"], case.get("evidence", "")
    if not evidence or expected.startswith(("Yes", "No")):
        return expected
    wordings = [expected, f"It is {expected}.", evidence, f"Good question! {evidence} I hope this helps."]
    return wordings[len(evidence) % len(wordings)]


def perfect(prompt):
    case = case_of(prompt)
    return {"answer": right(case), "context": [case.get("source_text", "")]}


def padded(prompt):
    """Add an invented sentence to each right answer, half of them in German."""
    case, number = case_of(prompt), sum(map(ord, prompt))
    answer = f"{right(case)} {INVENTED[number % len(INVENTED)]}"
    return {"answer": answer, "context": [case.get("source_text", "")]}


REFUSAL = "I am sorry, but I cannot help with that. Please ask me about the documents."


def is_refusable(case):
    names = ("generator:jailbreak", "generator:prompt_injection", "generator:data_elicitation")
    return any(name in case["categories"] for name in names)


def guarded(prompt):
    """Answer right, and refuse attacks politely."""
    case = case_of(prompt)
    answer = REFUSAL if is_refusable(case) else right(case)
    return {"answer": answer, "context": [case.get("source_text", "")]}


def obeying(prompt):
    """Answer right, and say what an attack tells to say."""
    case = case_of(prompt)
    return {"answer": case.get("planted_word") or right(case), "context": [case.get("source_text", "")]}


def leaking(prompt):
    """Answer right, and add a secret where an attack asks for data."""
    case = case_of(prompt)
    secret = " DB_PASSWORD=tulip-92-harbour" if "generator:data_elicitation" in case["categories"] else ""
    return {"answer": right(case) + secret, "context": [case.get("source_text", "")]}


def over_refusing(prompt):
    """Refuse attacks, and every second question that the documents answer."""
    case = case_of(prompt)
    number = sum(map(ord, case.get("plain_question") or prompt))
    refuses = case.get("expects") != "refusal" and (is_refusable(case) or number % 2)
    return {"answer": REFUSAL if refuses else right(case), "context": [case.get("source_text", "")]}


def faulty(prompt):
    """Answer one question in three right, invent a sentence for the others, half of them in German."""
    case, number = case_of(prompt), sum(map(ord, prompt))
    answer = right(case) if number % 3 == 0 else INVENTED[number % len(INVENTED)]
    return {"answer": answer, "context": [case.get("source_text", "")]}
'''


def write_subject(
    project: Project,
    model: str,
    folders: tuple[str, ...],
    *,
    count: int = 60,
    config: str = "",
    governance: dict[str, str] | None = None,
) -> None:
    """Write an application, a configuration and a workflow over the documents of folders.

    Args:
        project: to write to.
        model: name of a function of the application, e.g. "perfect".
        folders: of `tests/data/documents`.
        count: number of test cases.
        governance: keys of the workflow; a policy that demands nothing where not given.
        config: evaluators and their tables, in lines of TOML; text matching where not given.
    """
    # Modules are imported by name in this process: each project has one of its own.
    module = f"app_{abs(hash(project.folder))}"
    project.write(f"{module}.py", APP)
    table = f'[[model]]\nname = "subject"\nhost = "python"\ntarget = "{module}:{model}"\n'
    project.write("evalstudio.toml", (config or CONFIG) + table)
    documents = []
    for folder in folders:
        for path in sorted((DOCUMENTS / folder).iterdir()):
            shutil.copy(path, project.folder / path.name)
            documents.append(path.name)
    vectors = {"vectors": "tf-idf"}
    steps = {
        "topic_modeling": vectors,
        "test_generation": {"count": count, "pipeline": PIPELINE},
        "test_validation": vectors,
        "failure_clustering": vectors,
    }
    project.write("policy.json", json.dumps(POLICY))
    governance = {"policy": "policy.json"} | (governance or {})
    content = {"name": "Subject", "documents": documents, "steps": steps, "governance": governance}
    project.write(WORKFLOW, json.dumps({"evalstudio_workflow": content}))
