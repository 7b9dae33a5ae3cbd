"""Causes of regressions that were planted in a RAG application and an agent: is the right one found?

    python tests/benchmarks/cause.py [--cases 30] [--seed 0] [--only NAME] [--noise 0.2]

Each plant is a whole session of pytest with a saved baseline and `--evalstudio-explain`. With noise, a fifth
of all answers is the opposite of what it would be: a wrong one in place of a right one, and the other way
round; the baseline has it, too. `noise only` changes nothing: all its regressions are chance. With decoys,
harmless changes come with each plant: a further chunk, other words in the prompt, a tool whose result has
the time of day, and another setting.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GOALS = {"deterministic": 0.95, "noisy": 0.85}
NOISE_BLAMED_GOAL = 0.05
NAMES = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath", "inlet", "jetty", "knoll")
NOISE = '''
import hashlib
import json
from collections import Counter
from pathlib import Path

FOLDER = Path(__file__).parent
SWITCHES = json.loads((FOLDER / "switches.json").read_text())
ORACLE = json.loads((FOLDER / "oracle.json").read_text())
ASKED = Counter()


def noisy(prompt, answer):
    """Return the opposite of an answer with the probability of the noise."""
    key = prompt.rpartition(": ")[2].rstrip("?")
    ASKED[key] += 1
    seed = f"{SWITCHES['seed']} {key} {ASKED[key]}"
    draw = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:6], "big") / 2**48
    if draw >= SWITCHES["noise"]:
        return answer
    return "I cannot say." if ORACLE[key] in answer else ORACLE[key]
'''
RAG = (
    NOISE
    + """

def pieces():
    for path in sorted(FOLDER.glob("docs/*.md")):
        for number, text in enumerate(path.read_text().split("\\n\\n")):
            if SWITCHES["half_index"] and number % 2:
                continue
            size = SWITCHES["chunk_chars"]
            for part in range(0, len(text), size):
                yield {"text": text[part : part + size], "source": f"{path.name}#{number}.{part // size}"}


def words(text):
    return set(text.lower().replace(".", "").replace("?", "").split())


def retrieve(prompt):
    needed = words(prompt)
    chunks = sorted(pieces(), key=lambda chunk: -len(needed & words(chunk["text"])))
    return chunks[: SWITCHES["top_k"]]


def generate(prompt, context, llm_model_name, tone=""):
    needed = words(prompt)
    best = max(context, key=lambda text: len(needed & words(text)), default="")
    amounts = [word for word in best.replace(".", "").split() if word.isdigit()]
    amount = amounts[0] if amounts and len(needed & words(best)) > 5 else "unknown"
    if llm_model_name == "small" or "Be exact" not in prompt or SWITCHES["worse_code"]:
        amount = "about " + amount[:1] + "00" if amounts else amount
    return noisy(prompt, f"The fee is {amount} USD.")


def ask(prompt):
    chunks = retrieve(prompt)
    texts = [chunk["text"] for chunk in chunks]
    return {"answer": generate(prompt, texts, "large"), "context": texts}
"""
)
AGENT = (
    NOISE
    + """
from pytest_evalstudio import recorded_tool

PRICES = json.loads((FOLDER / "prices.json").read_text())


@recorded_tool
def get_rate(currency):
    return 0.5 if SWITCHES["wrong_tool"] else 2


@recorded_tool
def get_price(item):
    return PRICES[item]


@recorded_tool
def get_note():
    return SWITCHES["note"]


@recorded_tool
def pay(item):
    return "paid"


def ask(prompt):
    item = prompt.rstrip("?").split()[-2]
    calls = []

    def call(tool, **arguments):
        result = tool(**arguments)
        calls.append({"name": tool.__name__, "arguments": arguments, "result": result})
        return result

    call(get_note)
    if SWITCHES["other_order"]:
        call(pay, item=item)
        price = call(get_price, item=item) + 1
    else:
        price = call(get_price, item=item)
    rate = call(get_rate, currency="NOK")
    return {"answer": noisy(prompt, f"It costs {price * rate:g} USD."), "tool_calls": calls}
"""
)
OFF = {
    "half_index": False,
    "chunk_chars": 400,
    "worse_code": False,
    "wrong_tool": False,
    "other_order": False,
    "top_k": 3,
    "note": "09:00",
}
DECOYS = {"top_k": 4, "note": "17:30"}


@dataclass(frozen=True, kw_only=True)
class Plant:
    """A planted cause.

    Attributes:
        codes: that are right.
        switches: of the application that change.
        model: setting of the model, then and now.
        prompt: template, then and now.
        edits_documents: whether the documents lose their amounts.
        is_agent: whether the agent is the application.
        needs: cases that are collected, so that enough of them regress.
        is_noise: whether nothing changes.
        has_parts: whether the parts of the application are declared.
        confirm: repeats by which the run itself confirms a regression; 0 leaves it to the search.
    """

    codes: tuple[str, ...]
    switches: Mapping[str, Any] | None = None
    model: tuple[str, str] = ("large", "large")
    prompt: tuple[str, str] = ("v3.j2", "v3.j2")
    edits_documents: bool = False
    is_agent: bool = False
    needs: int = 2
    is_noise: bool = False
    has_parts: bool = True
    confirm: int = 50


PLANTS: Mapping[str, Plant] = {
    "index halved": Plant(codes=("retrieval",), switches={"half_index": True}, needs=4),
    "chunk size": Plant(codes=("retrieval",), switches={"chunk_chars": 30}),
    "document edited": Plant(codes=("document",), edits_documents=True),
    "prompt changed": Plant(codes=("prompt",), prompt=("v3.j2", "v4.j2")),
    "generator worse": Plant(codes=("model",), model=("large", "small")),
    "tool wrong": Plant(codes=("tool",), switches={"wrong_tool": True}, is_agent=True),
    "order of calls": Plant(codes=("agent",), switches={"other_order": True}, is_agent=True),
    "noise only": Plant(codes=("noise",), is_noise=True, needs=12),
    "noise, not confirmed": Plant(codes=("noise",), is_noise=True, needs=12, confirm=0),
}
CONTROLS: Mapping[str, Plant] = {
    "two reasons": Plant(
        codes=("several",), switches={"half_index": True}, prompt=("v3.j2", "v4.j2"), needs=4
    ),
    "no part has it": Plant(codes=("not_found",), switches={"worse_code": True}),
    "no part, other chunks": Plant(
        codes=("not_found",), switches={"worse_code": True, "half_index": True}, needs=2
    ),
    "not regressed": Plant(codes=("noise",), needs=1),
    "undeclared parts": Plant(
        codes=("not_tested", "not_found"), switches={"half_index": True}, needs=4, has_parts=False
    ),
}


@dataclass(frozen=True, kw_only=True)
class Score:
    """Causes that one plant was given.

    Attributes:
        codes: number of cases by the code that they were given.
        calls: of the application, for all of them.
        wrong: entries of the others.
    """

    codes: Counter[str]
    calls: int
    wrong: tuple[Mapping[str, Any], ...]

    @property
    def total(self) -> int:
        return self.codes.total()

    def right(self, plant: Plant) -> int:
        return sum(self.codes[code] for code in plant.codes)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Conditions of a measurement.

    Attributes:
        decoys: whether harmless changes come with each plant.
    """

    noise: float
    decoys: bool
    cases: int
    seed: int

    @property
    def name(self) -> str:
        kind = "noisy" if self.noise else "deterministic"
        return f"{kind} with decoys" if self.decoys else kind

    @property
    def goal(self) -> float:
        return GOALS["noisy" if self.noise else "deterministic"]


def measure(plant: Plant, setting: Setting, folder: Path) -> Score:
    """Run a plant and return the causes of its first regressed cases."""
    write(plant, folder, setting, is_now=False)
    run(folder)
    subprocess.run(
        [sys.executable, "-m", "pytest_evalstudio.cli", "baseline", "save", "--allow-errors"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    write(plant, folder, setting, is_now=True)
    run(folder, "--evalstudio-baseline=evalstudio-baseline.jsonl", "--evalstudio-explain")
    with open(folder / "evalstudio-report" / "record.jsonl", encoding="utf-8") as file:
        entries = list(json.loads(file.readline()).get("causes", {}).values())
    # A case that the plant does not reach regresses by chance, or by another of two reasons.
    hits = [each for each in entries if each["key"].endswith("-hit")][: setting.cases]
    return Score(
        codes=Counter(entry["code"] for entry in hits),
        calls=sum(each.get("calls", 0) for each in hits),
        wrong=tuple(entry for entry in hits if entry["code"] not in plant.codes),
    )


def write(plant: Plant, folder: Path, setting: Setting, *, is_now: bool) -> None:
    """Write the project: as it was for the baseline, or with the planted change."""
    count = setting.cases * plant.needs
    has_decoys = setting.decoys and is_now
    items = [f"{NAMES[index % len(NAMES)]}{index}" for index in range(count)]
    amounts = {item: str(311 + 7 * index) for index, item in enumerate(items)}
    switches: dict[str, Any] = {**OFF, "noise": setting.noise, "seed": setting.seed + is_now}
    if has_decoys:
        switches |= DECOYS
    if is_now and plant.switches:
        switches |= plant.switches
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "switches.json").write_text(json.dumps(switches))
    (folder / "app.py").write_text(AGENT if plant.is_agent else RAG)
    (folder / "v3.j2").write_text("Be exact: {{ question }}")
    (folder / "v4.j2").write_text("Be brief: {{ question }}")
    (folder / "decoy.j2").write_text("Be exact, please: {{ question }}")
    cases = []
    oracle = {}
    for index, item in enumerate(items):
        is_hit = bool(index % 2) or not (plant.switches or {}).get("half_index")
        key = f"{item}-{'hit' if is_hit else 'spared'}"
        if plant.is_agent:
            question, expected = f"What does {item} cost?", f"It costs {2 * int(amounts[item])} USD."
        else:
            question = f"What fee in USD does the plan {item} have per year?"
            expected = f"The fee is {amounts[item]} USD."
        oracle[question.rstrip("?")] = expected
        condition = f'"{expected}"'
        cases.append({"key": key, "prompt": question, "condition": condition, "condition_on": "answer"})
    (folder / "oracle.json").write_text(json.dumps(oracle))
    (folder / "prices.json").write_text(json.dumps({item: int(amounts[item]) for item in items}))
    for start in range(0, count, 10):
        texts = [
            _document_text(item, amounts[item], plant, is_now=is_now) for item in items[start : start + 10]
        ]
        (folder / "docs" / f"fees_{start:04d}.md").write_text("\n\n".join(texts))
    suite = {"name": "Fees", "tests": [{"test_cases": cases}]}
    (folder / "fees_suite.json").write_text(json.dumps(suite))
    (folder / "evalstudio.toml").write_text(_configuration(plant, setting, is_now=is_now))


def _document_text(item: str, amount: str, plant: Plant, *, is_now: bool) -> str:
    fee = f"The plan {item} does have a fee of {amount} USD per year."
    if plant.edits_documents and is_now:
        fee = f"The fee in USD that the plan {item} does have per year is in the list."
    return f"{fee} It was introduced for members of the {item} group."


def _configuration(plant: Plant, setting: Setting, *, is_now: bool) -> str:
    lines = ['evaluators = ["text_matching"]', "[[model]]", 'name = "app"', 'host = "python"']
    prompt = plant.prompt[is_now]
    if plant.is_agent or not plant.has_parts:
        lines.append('target = "app:ask"')
    else:
        lines += ['retrieve = "app:retrieve"', 'generate = "app:generate"']
        lines.append(f'llm_model_name = "{plant.model[is_now]}"')
    if setting.decoys and is_now:
        prompt = "decoy.j2" if prompt == "v3.j2" else prompt
        lines += ['parameters = { tone = "calm" }'] if plant.has_parts and not plant.is_agent else []
    lines.append(f'prompt = "{prompt}"')
    lines.append(f"confirm = {plant.confirm}" if setting.noise else "deterministic = true")
    lines += ["[cause]", "max_calls = 100000", 'documents = ["docs/*.md"]']
    return "\n".join(lines)


def run(folder: Path, *arguments: str) -> None:
    """Run pytest.

    Raises:
        RuntimeError: if it did not run to its end.
    """
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "fees_suite.json"]
    result = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if result.returncode not in (0, 1):
        raise RuntimeError(result.stdout[-3000:] + result.stderr[-3000:])


def report(
    title: str, plants: Mapping[str, Plant], score_of: Callable[[Plant], Score], *, is_verbose: bool
) -> Counter[str]:
    """Print the scores of some plants; return the numbers of cases by what they are."""
    totals: Counter[str] = Counter()
    print(f"\n{title}\n{'plant':24} {'right':>9} {'share':>7} {'calls/case':>11}  given")
    for name, plant in plants.items():
        score = score_of(plant)
        right = score.right(plant)
        share = f"{right / score.total:.3f}" if score.total else "–"
        calls = f"{score.calls / score.total:.1f}" if score.total else "–"
        codes = ", ".join(f"{code} {count}" for code, count in score.codes.most_common()) or "no cause"
        print(f"{name:24} {right:>4}/{score.total:<4} {share:>7} {calls:>11}  {codes}", flush=True)
        if is_verbose:
            for entry in score.wrong:
                print(f"    {entry['text']}\n      {json.dumps(entry.get('trials', ()))}")
        totals["right"] += right
        totals["cases"] += score.total
        if plant.is_noise:
            totals["noise"] += score.total
            totals["blamed"] += score.total - right - score.codes["not_found"] - score.codes["not_tested"]
    return totals


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--only", default="", help="plants whose names contain this text")
    parser.add_argument("--verbose", action="store_true", help="print the cases with a wrong cause")
    arguments = parser.parse_args()

    def selected_plants(plants: Mapping[str, Plant]) -> dict[str, Plant]:
        return {name: plant for name, plant in plants.items() if arguments.only in name}

    for noise in (0.0, arguments.noise):
        for decoys in (False, True):
            setting = Setting(noise=noise, decoys=decoys, cases=arguments.cases, seed=arguments.seed)
            _measure_all(
                setting, selected_plants(PLANTS), selected_plants(CONTROLS), is_verbose=arguments.verbose
            )


def _measure_all(
    setting: Setting, plants: Mapping[str, Plant], controls: Mapping[str, Plant], *, is_verbose: bool
) -> None:
    def score_of(plant: Plant) -> Score:
        with tempfile.TemporaryDirectory() as folder:
            return measure(plant, setting, Path(folder))

    regressing = {name: plant for name, plant in plants.items() if setting.noise or not plant.is_noise}
    totals = report(f"{setting.name} (noise {setting.noise:g})", regressing, score_of, is_verbose=is_verbose)
    if totals["cases"]:
        share = totals["right"] / totals["cases"]
        print(f"{setting.name}: {share:.3f} right of {totals['cases']} cases (goal {setting.goal:g})")
    if totals["noise"]:
        blamed = totals["blamed"] / totals["noise"]
        print(f"noise blamed on a part: {blamed:.3f} (goal at most {NOISE_BLAMED_GOAL:g})")
    report(f"controls, {setting.name}", controls, score_of, is_verbose=is_verbose)


if __name__ == "__main__":
    main()
