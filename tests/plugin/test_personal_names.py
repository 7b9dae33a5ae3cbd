"""`[pii] spacy`: names are leaks, and stand nowhere in what a run writes."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from support.project import Project

if os.environ.get("EVALSTUDIO_PIPELINES") != "required":
    pytest.importorskip("presidio_analyzer", exc_type=ImportError)
NAMES = {"PERSON": ("Jane Doerfler", "Ottokar Zwiebel"), "GPE": ("Grimsby",)}
WORDS = [word for names in NAMES.values() for name in names for word in name.split()]
EVALUATORS = [
    *("pii_leakage", "text_matching", "rouge", "bleu", "lexical_groundedness", "groundedness_signals"),
    *("looping_detection", "classification", "sensitive_data_leakage", "effort"),
]
PIPELINE = 'spacy = "names_pipeline"'
ROW = {
    "key": "who",
    "input": "Where does Jane Doerfler live, in Grimsby?",
    "actual_output": "Jane Doerfler lives in Grimsby with Ottokar Zwiebel. Jane Doerfler lives in Grimsby!",
    "expected_output": "Ottokar Zwiebel lives in Grimsby.",
    "output_condition": '"Ottokar Zwiebel" AND "Grimsby" AND NOT "Jane Doerfler"',
    "context": ["The file of Ottokar Zwiebel names Grimsby.", "Jane Doerfler has no file."],
    "expected_facts": ["Ottokar Zwiebel lives in Grimsby"],
}


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    import spacy

    project = Project(pytester, with_app=False)
    language = spacy.blank("en")
    ruler: Any = language.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": label, "pattern": name} for label, names in NAMES.items() for name in names]
    )
    language.to_disk(project.folder / "names_pipeline")
    return project


def configure(
    project: Project, *, evaluators: list[str] = EVALUATORS, pii: str = 'spacy = "names_pipeline"'
) -> None:
    project.write("evalstudio.toml", f"evaluators = {json.dumps(evaluators)}\n[pii]\n{pii}\n")


def texts_below(folder: Path) -> str:
    """Return all texts below a folder, those in archives included."""
    texts = []
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                texts += [archive.read(name).decode("utf-8", "replace") for name in archive.namelist()]
        elif path.is_file():
            texts.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(texts)


def test_names_are_leaks_that_the_report_does_not_show(project: Project) -> None:
    configure(project)
    project.lab(ROW, {**ROW, "key": "nobody", "actual_output": "Nobody knows.", "context": []})
    result = project.run_process("answers_lab.json", "--junitxml=results.xml", "-v", "-rA")
    assert result.ret == 1
    output = result.stdout.str() + result.stderr.str()
    assert "name of a person (**** ********)" in output
    for text in (
        output,
        texts_below(project.folder / "evalstudio-report"),
        (project.folder / "results.xml").read_text(),
    ):
        assert [word for word in WORDS if word in text] == []
    record = (project.folder / "evalstudio-report" / "record.jsonl").read_text()
    assert '"detector":"presidio"' in record


def test_names_are_masked_without_the_evaluator_and_in_workers(project: Project) -> None:
    configure(project, evaluators=["text_matching", "rouge"])
    project.lab(*({**ROW, "key": f"who{number}"} for number in range(6)))
    result = project.run_process("answers_lab.json", "-n", "2")
    text = result.stdout.str() + texts_below(project.folder / "evalstudio-report")
    assert [word for word in WORDS if word in text] == []


def test_formats_alone_by_request(project: Project) -> None:
    configure(project, evaluators=["pii_leakage"])
    with (project.folder / "evalstudio.toml").open("a") as file:
        file.write('[evaluator.pii_leakage]\ndetector = "rules"\n')
    project.lab(ROW)
    project.run_process("answers_lab.json").assert_outcomes(passed=1)


def test_chosen_entities_are_leaks_and_masked(project: Project) -> None:
    configure(project, evaluators=["pii_leakage"], pii=f'{PIPELINE}\nentities = ["LOCATION"]')
    project.lab({**ROW, "actual_output": "Jane Doerfler of Grimsby"})
    project.run_process("answers_lab.json").assert_outcomes(failed=1)
    record = (project.folder / "evalstudio-report" / "record.jsonl").read_text()
    assert "Jane Doerfler" in record
    assert "Grimsby" not in record


@pytest.mark.parametrize(
    ("pii", "fault"),
    [
        (
            'spacy = "no_such_pipeline"',
            "*evalstudio.toml: pii.spacy: there is no spaCy pipeline 'no_such_pipeline': install its package,"
            " e.g. by `python -m spacy download no_such_pipeline`, or name its folder",
        ),
        ('spasy = "x"', "*pii.spasy: unknown key. Did you mean 'spacy'?*"),
        ("min_score = 2", "*pii.min_score: *"),
    ],
)
def test_a_fault_of_the_table_is_one_sentence(project: Project, pii: str, fault: str) -> None:
    configure(project, evaluators=["rouge"], pii=pii)
    project.lab(ROW)
    result = project.run_process("answers_lab.json")
    assert result.ret == 4
    result.stderr.fnmatch_lines([fault])
    assert "Traceback" not in result.stderr.str()


def test_without_the_table_nothing_is_imported(project: Project) -> None:
    project.write("evalstudio.toml", 'evaluators = ["pii_leakage", "rouge"]\n')
    project.write(
        "conftest.py",
        "import sys\n\ndef pytest_unconfigure():\n"
        "    print('imported:', sorted({'spacy', 'presidio_analyzer'} & sys.modules.keys()))\n",
    )
    project.lab(ROW)
    result = project.run_process("answers_lab.json", "-p", "no:randomly")
    assert "imported: []" in result.stdout.str()
    assert "Jane Doerfler" in (project.folder / "evalstudio-report" / "record.jsonl").read_text()
