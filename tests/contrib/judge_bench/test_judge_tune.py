"""Alignment of a judge with people: what is proposed, and on which answers it was measured."""

from __future__ import annotations

import json
import random
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_evalstudio.cli import main
from pytest_evalstudio.contrib.judge_bench.bench import labelled_cases
from pytest_evalstudio.contrib.judge_bench.tune import Tuning, _halves, describe, tune_judge
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.formats.config import configuration
from support.judging import reply_for

COUNT = 40
LABELS = {f"k{number}": int(number % 2 == 0) for number in range(COUNT)}
PROMPT = "Is {actual_output} polite?"


def word(key: str) -> str:
    return "gladly" if LABELS[key] else "whatever"


def write_lab(folder: Path, labels: Mapping[str, int] = LABELS) -> Path:
    rows = [
        {
            "key": key,
            "input": "Q?",
            "actual_output": f"{key}, {word(key)}.",
            "context": ["C."],
            "model_key": "m",
        }
        for key in labels
    ]
    lab = folder / "answers_lab.json"
    models = [{"key": "m", "name": "m", "model_type": "h2ogpte"}]
    lab.write_text(json.dumps({"dataset": {"inputs": rows}, "models": models}), encoding="utf-8")
    return lab


def tune(
    folder: Path,
    judge: Callable[..., Any],
    *,
    labels: Mapping[str, int] = LABELS,
    evaluator: Mapping[str, Any] = {"type": "byop", "prompt": PROMPT},
    **more: Any,
) -> Tuning:
    config = configuration(
        {"judge": {"host": "python", "target": judge}, "evaluator": {"polite": dict(evaluator)}},
        folder=folder,
    )
    identities = {(key, "m"): label for key, label in labels.items()}
    return tune_judge(write_lab(folder), identities, "polite", config=config, **more)


def answer_in(prompt: str) -> str:
    """The answer that is to be judged; examples come before it."""
    return prompt.partition("The material of this task")[2]


def learns(prompt: str) -> str:
    """Passes everything, until an example shows what is not polite."""
    knows = "Examples of this task" in prompt
    return "false" if knows and "whatever" in answer_in(prompt) else "true"


def test_examples_from_the_fit_half_raise_the_agreement_on_the_held_out_half(tmp_path: Path) -> None:
    tuning = tune(tmp_path, learns)
    assert (tuning.present["held_out"].kappa, tuning.proposed["held_out"].kappa) == (0.0, 1.0)
    assert tuning.is_better
    assert [example.verdict for example in tuning.proposal.examples] == ["false", "false", "true", "true"]
    assert tuning.proposal.prompt == "byop"
    assert tuning.proposed["held_out"].answers == COUNT // 2
    assert tuning.proposed["fit"].answers == COUNT // 2 - 4, "examples do not measure themselves"


def test_a_judge_without_verdicts_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"the judge of polite gave no verdict on any answer.* it begins 'Hm'"
    ):
        tune(tmp_path, lambda prompt: "Hm")


def test_a_proposal_that_agrees_no_better_than_chance_is_not_recommended(tmp_path: Path) -> None:
    def inverted(prompt: str) -> str:
        if "Examples of this task" in prompt:
            return "true"
        return "true" if "whatever" in prompt else "false"

    tuning = tune(tmp_path, inverted)

    assert (tuning.present["held_out"].kappa, tuning.proposed["held_out"].kappa) == (-1.0, 0.0)
    assert not tuning.is_better
    assert "keep the present configuration" in "\n".join(describe(tuning, "tuned.json"))


@pytest.mark.parametrize(("count", "is_proven"), [(3, False), (10, True)])
def test_a_proposal_that_corrects_few_answers_may_be_chance(
    tmp_path: Path, count: int, is_proven: bool
) -> None:
    labels = {key: label for key, label in LABELS.items() if label or int(key[1:]) < 4 * count}

    tuning = tune(tmp_path, learns, labels=labels)

    chance = f"the difference may be chance: {count} held-out answers corrected, 0 newly wrong (p 0.12)"
    lines = "\n".join(describe(tuning, "tuned.json"))
    assert (tuning.corrected, tuning.newly_wrong) == (count, 0)
    assert (chance in lines, tuning.p <= 0.05) == (not is_proven, is_proven)
    assert "to apply it" in lines


def test_the_proposal_is_used_by_the_configuration_that_names_its_file(tmp_path: Path) -> None:
    tuning = tune(tmp_path, learns)
    (tmp_path / "tuned.json").write_text(tuning.proposal.model_dump_json(), encoding="utf-8")
    tuned = {"type": "byop", "prompt": PROMPT, "judge": {"examples": "tuned.json"}}
    second_tuning = tune(tmp_path, learns, evaluator=tuned)
    assert second_tuning.present["held_out"].kappa == 1.0
    assert second_tuning.note == "no examples: the judge agrees with people on the whole fit half"


def test_examples_are_fenced_and_their_material_gives_no_orders(tmp_path: Path) -> None:
    prompts: list[str] = []

    def judge(prompt: str) -> str:
        prompts.append(prompt)
        return learns(prompt)

    tune(tmp_path, judge)
    example_prompt = next(prompt for prompt in prompts if "Examples of this task" in prompt)
    mark = example_prompt.partition("<<<")[2][:32]
    assert example_prompt.count(f"<<<{mark} example ") == 4
    assert '"verdict": "false"' in example_prompt


def test_a_threshold_is_proposed_for_scores(tmp_path: Path) -> None:
    noise = random.Random(1)
    confirmed = {key: (5 if label else 3) + noise.randint(0, 1) for key, label in LABELS.items()}

    def judge(prompt: str, reply_schema: Mapping[str, Any]) -> str:
        key = next(key for key in reversed(LABELS) if f"{key}, " in prompt)
        statement = {"statement": "It is.", "reason": "so"}
        words = ["true"] * confirmed[key] + ["false"] * (10 - confirmed[key])
        statements = [{**statement, "verdict": word} for word in words]
        return json.dumps({**reply_for(reply_schema, good=True), "statements": statements})

    tuning = tune(tmp_path, judge, evaluator={"type": "fact_check"})
    assert tuning.threshold == 0.75
    assert tuning.proposal.threshold is not None
    assert 0.4 <= tuning.proposal.threshold <= 0.5
    assert tuning.proposed["held_out"].kappa == 1.0
    assert tuning.proposal.examples == []
    assert "not one choice" in tuning.note


def test_a_proposal_that_does_not_help_is_not_recommended(tmp_path: Path) -> None:
    tuning = tune(tmp_path, lambda prompt: "true")
    assert not tuning.is_better
    assert "keep the present configuration" in list(describe(tuning, "tuned.json"))[-1]


def test_the_same_seed_splits_alike(tmp_path: Path) -> None:
    first, second = (tune(tmp_path, learns, seed=7).proposal for _ in range(2))
    assert first == second
    assert first != tune(tmp_path, learns, seed=8).proposal


def write_answers_of_models(folder: Path, questions: int, models: int) -> Path:
    rows = [
        {
            "key": f"q{question}",
            "input": "Q?",
            "actual_output": f"q{question}, m{model}.",
            "model_key": f"m{model}",
        }
        for question in range(questions)
        for model in range(models)
    ]
    names = [{"key": f"m{model}", "name": f"m{model}", "model_type": "h2ogpte"} for model in range(models)]
    lab = folder / "answers_lab.json"
    lab.write_text(json.dumps({"dataset": {"inputs": rows}, "models": names}), encoding="utf-8")
    return lab


@pytest.mark.parametrize("seed", range(5))
def test_answers_to_one_question_are_in_the_same_half(seed: int, tmp_path: Path) -> None:
    lab = write_answers_of_models(tmp_path, questions=12, models=5)
    labels = {(f"q{q}", f"m{m}"): int((q + m) % 3 != 0) for q in range(12) for m in range(5 - q % 2)}
    fit, held_out = _halves(labelled_cases(lab, labels), labels, seed)
    assert {case.key for case in fit}.isdisjoint(case.key for case in held_out)
    assert len(fit) + len(held_out) == len(labels)
    for label in (0, 1):
        of_halves = [
            sum(labels[case.key, case.model_key] == label for case in half) for half in (fit, held_out)
        ]
        assert abs(of_halves[0] - of_halves[1]) <= 4


def test_good_answers_to_one_question_alone_cannot_be_divided(tmp_path: Path) -> None:
    lab = write_answers_of_models(tmp_path, questions=4, models=5)
    labels = {(f"q{q}", f"m{m}"): int(q == 0) for q in range(4) for m in range(5)}
    config = configuration(
        {
            "judge": {"host": "python", "target": learns},
            "evaluator": {"polite": {"type": "byop", "prompt": PROMPT}},
        },
        folder=tmp_path,
    )
    with pytest.raises(
        DataError, match=r"the 5 good answers belong to too few of the 4 questions to be split"
    ):
        tune_judge(lab, labels, "polite", config=config)


def test_too_few_labels_of_one_kind_are_an_error(tmp_path: Path) -> None:
    good_labels = dict.fromkeys(list(LABELS)[::2], 1)
    with pytest.raises(
        DataError, match="0 labelled answers are bad: judge-tune needs at least 4 of each kind"
    ):
        tune(tmp_path, learns, labels=good_labels)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param("{", "cannot be read", id="no JSON"),
        pytest.param('{"evaluator": "polite", "example": []}', r"tuned.json: example: ", id="unknown key"),
    ],
)
def test_a_wrong_file_of_examples_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "tuned.json").write_text(content, encoding="utf-8")
    tuned = {"type": "byop", "prompt": PROMPT, "judge": {"examples": "tuned.json"}}
    with pytest.raises(ConfigurationError, match=message):
        tune(tmp_path, learns, evaluator=tuned)


@pytest.mark.parametrize("file", ["C:\\runs\\new.json", 'it\'s "new".json'])
def test_the_lines_to_apply_are_toml(file: str, tmp_path: Path) -> None:
    lines = list(describe(tune(tmp_path, learns), file))
    content = tomllib.loads("\n".join(lines[lines.index("  [evaluator.polite.judge]") :]))
    assert content["evaluator"]["polite"]["judge"]["examples"] == file


def test_the_command_writes_a_file_and_prints_what_to_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_lab(tmp_path)
    (tmp_path / "tuned_judge.py").write_text(
        "def judge(prompt):\n"
        "    before, _, material = prompt.partition('The material of this task')\n"
        "    return 'false' if 'Examples of this task' in before and 'whatever' in material else 'true'\n",
        encoding="utf-8",
    )
    (tmp_path / "evalstudio.toml").write_text(
        f'[judge]\nhost = "python"\ntarget = "tuned_judge:judge"\n[evaluator.polite]\ntype = "byop"\n'
        f'prompt = "{PROMPT}"\n',
        encoding="utf-8",
    )
    lines = [f"{key},m,{label}" for key, label in LABELS.items()]
    (tmp_path / "labels.csv").write_text("\n".join(["key,model_key,label", *lines]), encoding="utf-8")
    before = (tmp_path / "evalstudio.toml").read_bytes()
    command = [
        "judge-tune",
        "labels.csv",
        "--lab",
        "answers_lab.json",
        "--evaluator",
        "polite",
        "-o",
        "t.json",
    ]
    assert main(command) == 0
    output = capsys.readouterr().out
    assert "present                 0 of 16           0 of 20" in output
    assert "proposed                1 of 16           1 of 20" in output
    assert '[evaluator.polite.judge]\n  examples = "t.json"' in output
    assert (tmp_path / "evalstudio.toml").read_bytes() == before, "nothing is applied"
    assert len(json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["examples"]) == 4
