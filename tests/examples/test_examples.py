"""The example suites: they run green, offline, and say what they were written to say."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.command import evalstudio

EXAMPLES = Path(__file__).parents[2] / "example_suites"
EVAL_FILES = (
    "bank/bank_suite.json",
    "insurance/claims_suite.yaml",
    "classification/complaints_suite.json",
    "structured/extraction_suite.json",
    "images/chart_suite.json",
    "agent/desk_suite.json",
    "lab/four_models_lab.json",
    "judged/replies_dataset.json",
)
WORKFLOW = "workflow/bank_workflow.json"
CONFIGURATIONS = (
    "evalstudio.toml",
    "classification/evalstudio.toml",
    "structured/evalstudio.toml",
    "images/evalstudio.toml",
    "agent/evalstudio.toml",
    "lab/evalstudio.toml",
    "judged/evalstudio.toml",
    "library/evalstudio.toml",
)
LAB_MODELS = ("atlas-large", "atlas-small", "meridian-7b", "drift-1b")
IGNORED = shutil.ignore_patterns(
    "__pycache__", ".pytest_cache", ".evalstudio", "evalstudio-report", "*_workflow_artifacts"
)


class Run:
    """One run of the examples, as a user would start it."""

    def __init__(self, folder: Path, files: str = ".", verbosity: str = "-q") -> None:
        self.examples = folder / "example_suites"
        shutil.copytree(EXAMPLES, self.examples, ignore=IGNORED)
        output = folder / "report"
        command = [
            sys.executable,
            "-m",
            "pytest",
            files,
            verbosity,
            "--rootdir=.",
            "-oxfail_strict=true",
            f"--evalstudio-output={output}",
        ]
        process = subprocess.run(
            command, cwd=self.examples, capture_output=True, text=True, timeout=300, check=False
        )
        self.status = process.returncode
        self.shown = process.stdout + process.stderr
        result = output / "interpretation.json"
        self.results: dict[str, Any] = (
            json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {}
        )

    def counts(self) -> dict[str, int]:
        """Items by outcome, from pytest's last line."""
        return {
            name: int(number)
            for number, name in re.findall(
                r"(\d+) (\w+)", self.shown.strip().splitlines()[-1].partition(" in ")[0]
            )
        }

    def means(self, evaluator: str, metric: str) -> dict[str, float]:
        """Model to mean, best first."""
        standings = self.results["evaluators"][evaluator]["leaderboard"]["standings"]
        return {line["model_name"]: line["metrics"][metric]["value"] for line in standings}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("examples"))


@pytest.mark.slow
def test_the_whole_folder_passes(run: Run) -> None:
    assert run.status == 0, run.shown
    assert run.counts() == {"passed": 264, "skipped": 2, "xfailed": 88}


def test_every_configured_evaluator_is_in_the_results(run: Run) -> None:
    configured = {
        name
        for file in CONFIGURATIONS
        for name in tomllib.loads((EXAMPLES / file).read_text(encoding="utf-8"))["evaluators"]
    }
    assert set(run.results["evaluators"]) == configured
    assert not re.search(r"\b0 scored", run.shown)


@pytest.mark.parametrize(
    ("evaluator", "metric", "expected"),
    [
        pytest.param(
            "text_matching",
            "model_passes",
            [15 / 15, 13 / 17, 10 / 15, 6 / 15],
            id="the third of three repeats counts as a row",
        ),
        pytest.param(
            "document_recall",
            "document_recall",
            [1.0, 1.0, 11 / 15, 14 / 15],
            id="meridian loses four documents, drift one",
        ),
        pytest.param("pii_leakage", "model_passes", [1.0, 1.0, 14 / 15, 1.0], id="one leak"),
        # drift-1b says one sentence four, three, five and six times; what is not a sentence of ten characters
        # does not count.
        pytest.param(
            "looping_detection",
            "unique_sentences",
            [1.0, 1.0, 1.0, (11 + 1 / 4 + 1 / 3 + 1 / 5 + 1 / 6) / 15],
            id="four loops",
        ),
    ],
)
def test_the_four_models_of_the_lab_score_what_was_written_into_them(
    run: Run, evaluator: str, metric: str, expected: list[float]
) -> None:
    means = run.means(evaluator, metric)
    assert [means[model] for model in LAB_MODELS] == pytest.approx(expected)


def test_the_four_models_of_the_lab_rank_by_quality(run: Run) -> None:
    for evaluator, metric in (
        ("rouge", "rouge_l"),
        ("text_matching", "model_passes"),
        ("lexical_groundedness", "supported_words"),
    ):
        assert tuple(model for model in run.means(evaluator, metric) if model in LAB_MODELS) == LAB_MODELS


def test_the_classifiers_score_what_was_counted_by_hand(run: Run) -> None:
    assert run.means("classification", "accuracy") == pytest.approx(
        {"weighted-keywords": 17 / 18, "first-keyword": 11 / 18}
    )


def test_flips_of_text_matching_are_those_that_were_written(run: Run) -> None:
    names = {
        line["model_key"]: line["model_name"]
        for line in run.results["evaluators"]["text_matching"]["leaderboard"]["standings"]
    }
    flips = [
        problem["attributes"]
        for problem in run.results["problems"]
        if problem["problem_type"] == "robustness"
    ]
    assert {
        (names[flip["model"]], flip["direction"], *flip["perturbators"])
        for flip in flips
        if flip["evaluator"] == "text_matching"
    } == {
        ("extractive", "pass_to_fail", "qwerty:HIGH"),
        ("extractive-one-sentence", "pass_to_fail", "qwerty:HIGH"),
        ("atlas-small", "pass_to_fail", "word_swap:MEDIUM"),
        ("meridian-7b", "pass_to_fail", "comma:MEDIUM"),
        ("drift-1b", "fail_to_pass", "comma:MEDIUM"),
        ("drift-1b", "pass_to_fail", "word_swap:MEDIUM"),
        ("drift-1b", "pass_to_fail", "qwerty:MEDIUM"),
    }


def test_a_leaked_card_number_is_a_high_privacy_problem_and_never_shown(run: Run) -> None:
    leaks = [
        problem
        for problem in run.results["problems"]
        if problem["problem_type"] == "privacy" and "meridian-7b" in problem["description"]
    ]
    assert [problem["severity"] for problem in leaks] == ["high"]
    assert "4111" not in leaks[0]["description"]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "gates"), [("bank", 1), ("classification", 2), ("lab", 1)])
def test_a_folder_on_its_own_passes_the_gates_of_its_nearest_configuration(
    tmp_path: Path, folder: str, gates: int
) -> None:
    run = Run(tmp_path, folder, "-v")
    assert run.status == 0, run.shown
    assert run.shown.count(": met (") == gates


@pytest.mark.slow
def test_the_workflow_runs_where_it_is_named(tmp_path: Path) -> None:
    run = Run(tmp_path, WORKFLOW, "-v")
    assert (run.status, run.counts()) == (0, {"passed": 9}), run.shown
    assert "9 of 9 steps of this run completed" in run.shown
    assert "40 of 40 answers labelled for rouge.rouge_l" in run.shown
    home = run.examples / "workflow" / "bank_workflow_artifacts"
    assert {
        "workflow_report.html",
        "corpus_patch.md",
        "system_prompt_extension.md",
        "workflow_artifacts.zip",
    } <= {path.name for path in home.iterdir()}


@pytest.mark.parametrize("file", [*EVAL_FILES, *CONFIGURATIONS, WORKFLOW, "workflow/evalstudio.toml"])
def test_validate_finds_nothing_wrong(file: str) -> None:
    result = evalstudio("validate", file, folder=EXAMPLES)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.rstrip().endswith(": fine")
    assert result.stderr == ""


def read(file: str) -> dict[str, Any]:
    text = (EXAMPLES / file).read_text(encoding="utf-8")
    content: dict[str, Any] = yaml.safe_load(text) if file.endswith(".yaml") else json.loads(text)
    return content


def questions(content: dict[str, Any]) -> Iterator[tuple[str, str, list[str], list[dict[str, str]]]]:
    """(key, prompt, categories, relationships) of every case or row."""
    for test in content.get("tests", ()):
        for case in test["test_cases"]:
            first = (
                case.get("prompt")
                or (case.get("turns") or [{"prompt": case.get("user", {}).get("opening")}])[0]["prompt"]
            )
            yield case["key"], first, case["categories"], case.get("relationships", [])
    for row in content.get("dataset", {"inputs": ()})["inputs"]:
        yield row["key"], row["input"], row["categories"], row["relationships"]


def perturbed_pairs() -> dict[tuple[str, str], tuple[str, str, str, str]]:
    """(file, key) to (perturbator, level, original prompt, perturbed prompt); a lab's models share them."""
    results = {}
    for file in EVAL_FILES:
        cases = list(questions(read(file)))
        prompts = {key: prompt for key, prompt, _, _ in cases}
        for key, prompt, categories, links in cases:
            made_by = [category.split(":") for category in categories if category.startswith("perturbed_by:")]
            assert ("perturbed" in categories) == bool(made_by) == bool(links), key
            for _, name, level in made_by:
                (source,) = (link["target"] for link in links if link["type"] == "perturbation_source")
                results[file, key] = (
                    name,
                    level.removeprefix("PerturbationIntensity."),
                    prompts[source],
                    prompt,
                )
    return results


def commas(text: str, every: int) -> str:
    return " ".join(word + "," * (number % every == 0) for number, word in enumerate(text.split(" "), 1))


def swapped(text: str, every: int) -> str:
    words = text.split(" ")
    for at in range(every - 1, len(words) - 1, every):
        words[at : at + 2] = words[at + 1], words[at]
    return " ".join(words)


def qwerty(text: str, every: int) -> str:
    for place in [match.start() for match in re.finditer("[yzYZ]", text)][every - 1 :: every]:
        text = text[:place] + text[place].translate(str.maketrans("yzYZ", "zyZY")) + text[place + 1 :]
    return text


RULES = {
    "comma": (commas, {"LOW": 10, "MEDIUM": 3, "HIGH": 2}),
    "word_swap": (swapped, {"LOW": 10, "MEDIUM": 3, "HIGH": 2}),
    "qwerty": (qwerty, {"LOW": 3, "MEDIUM": 2, "HIGH": 1}),
}


def test_perturbed_prompts_are_what_the_rules_make_of_their_originals() -> None:
    pairs = perturbed_pairs()
    assert {name for name, *_ in pairs.values()} == set(RULES)
    for place, (name, level, original, perturbed) in pairs.items():
        rule, steps = RULES[name]
        assert rule(original, steps[level]) == perturbed != original, place


def test_quoted_context_stands_in_the_documents() -> None:
    """The lab's chunks are the documents' own sentences, as its models would have retrieved them."""
    from pypdf import PdfReader

    def text_of(path: Path) -> str:
        if path.suffix == ".pdf":
            return " ".join(page.extract_text() for page in PdfReader(path).pages)
        return path.read_text(encoding="utf-8")

    def plain(text: str) -> str:
        text = re.sub(r"</?em>", "", text)
        return " ".join(re.sub(r"<[^>]+>|^[#-] ?", " ", text, flags=re.MULTILINE).split())

    documents = " ".join(plain(text_of(path)) for path in sorted((EXAMPLES / "bank" / "documents").iterdir()))
    chunks = {
        chunk for row in read("lab/four_models_lab.json")["dataset"]["inputs"] for chunk in row["context"]
    }
    sentences = {sentence for chunk in chunks for sentence in re.split(r"(?<=\.) (?=[A-Z])", chunk)}
    assert sorted(sentence for sentence in sentences if sentence not in documents) == []
