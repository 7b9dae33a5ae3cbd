"""Gates over scored tables: `*_scores.toml` and `*_scores.json` as files of tests."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_evalstudio import score_table
from support.project import Project
from support.tables_of_answers import MAP, write_jsonl

GOOD = "The transfer fee is five dollars and it is charged at once."
BAD = "Nobody knows. Write to jane.doe@bank.com."
SECRET = "jane.doe@bank.com"


def rows(bad: int) -> list[dict[str, Any]]:
    """Return 60 rows of two models; the first `bad` answers about cards are wrong."""
    return [
        {
            "id": f"k{number}",
            "question": f"What is fee {number}?",
            "answer": BAD if number % 3 == 0 and number < 3 * bad else GOOD,
            "expected_output": GOOD,
            "chunks": [GOOD],
            "model": f"m{number % 2}",
            "topic": ("cards", "loans", "fees")[number % 3],
        }
        for number in range(60)
    ]


@pytest.fixture(scope="module")
def tables_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the tables new.parquet (bad) and old.parquet (good)."""
    folder = tmp_path_factory.mktemp("scored")
    for name, bad in (("old", 0), ("new", 15)):
        source = write_jsonl(folder / f"{name}.jsonl", rows(bad))
        mapping = {**MAP, "key": "id"}
        score_table(
            source,
            ("rouge", "pii_leakage"),
            folder / f"{name}.parquet",
            mapping=mapping,
            keep=("topic",),
            workers=1,
        )
    return folder


@pytest.fixture
def gated(pytester: pytest.Pytester, tables_folder: Path) -> Project:
    for name in ("old", "new"):
        shutil.copytree(tables_folder / f"{name}.parquet", pytester.path / f"{name}.parquet")
    return Project(pytester, with_app=False)


def write(project: Project, **content: Any) -> None:
    project.write("nightly_scores.json", json.dumps({"table": "new.parquet", **content}))


def test_each_gate_is_an_item_for_each_model(gated: Project) -> None:
    gated.write(
        "nightly_scores.toml",
        'table = "new.parquet"\ngates = ["rouge.rouge_l >= 0.2", "p95(rouge) >= 0.5",'
        ' "pass_rate(pii_leakage) >= 0.99"]\n',
    )

    result = gated.run("-v")

    result.assert_outcomes(passed=4, failed=2)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "nightly_scores.toml::gate[[]m0: rouge.rouge_l >= 0.2] PASSED*",
            "nightly_scores.toml::gate[[]m1: p95(rouge) >= 0.5] PASSED*",
            "*= scored tables =*",
            "rouge.rouge_l >= 0.2: met: m0 has * (n 30; 95 % interval)",
            "pass_rate(pii_leakage) >= 0.99: not met: m0 has 0.7333 [[]0.5555, 0.8582] (n 30; 95 % interval)",
        ]
    )
    assert not (gated.folder / "evalstudio-report").exists(), "nothing was evaluated"


def test_a_failure_names_the_worst_groups_and_answers_with_masked_texts(gated: Project) -> None:
    write(gated, gates=["rouge.rouge_l >= 0.95"])

    result = gated.run("-k", "m0")

    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            "rouge.rouge_l >= 0.95: not met: m0 has 0.7333 [[]0.*, 0.*] (n 30; 95 % interval)",
            "groups with the worst rouge.rouge_l:",
            "  topic cards: 0.2 [[]*] (n 10)",
            "  topic fees: 1 [[]*] (n 10)",
            "answers with the worst rouge_l:",
            "  row 0, key k0: rouge_l 0",
            "    question: What is fee 0?",
            "    answer: Nobody knows. Write to ****.***@****.***.",
            "    expected: The transfer fee is five dollars and it is charged at once.",
            "  row 6, key k6: rouge_l 0",
        ]
    )
    result.stdout.no_fnmatch_line(f"*{SECRET}*")


def test_gates_hold_for_each_group_of_a_kept_column(gated: Project) -> None:
    write(gated, gates=["pass_rate(pii_leakage) >= 0.7"], groups=["topic"])

    result = gated.run("-v")

    result.assert_outcomes(passed=6, failed=2)
    result.stdout.fnmatch_lines(["*::gate[[]m1, topic=cards: pass_rate(pii_leakage) >= 0.7] FAILED*"])


def test_small_groups_are_left_out(gated: Project) -> None:
    write(gated, gates=["rouge >= 0"], groups=["topic"], min_answers=11)

    gated.run().assert_outcomes(passed=2)


def test_a_figure_that_is_worse_than_in_the_baseline_fails(gated: Project) -> None:
    write(gated, baseline={"table": "old.parquet"})

    result = gated.run()

    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "rouge.rouge_l of m0 is worse: 0.7333 after 1, difference -0.2667 [[]-0.4*, -0.*]"
            " (n 30 and 30; 95 % interval for independent rows)"
        ]
    )


@pytest.mark.parametrize(
    ("baseline", "outcomes"),
    [
        ({"table": "old.parquet", "fail_on": "none"}, {"passed": 4}),
        ({"table": "old.parquet", "allowed_drop": 0.5}, {"passed": 4}),
        ({"table": "new.parquet"}, {"passed": 4}),
        ({"table": "old.parquet", "terms": ["rouge.rouge_1"]}, {"failed": 2}),
        ({"table": "old.parquet", "terms": ["rouge"], "models": {"m0": "m1"}}, {"failed": 2}),
    ],
)
def test_the_baseline_has_rules(gated: Project, baseline: dict[str, Any], outcomes: dict[str, int]) -> None:
    write(gated, baseline=baseline)

    gated.run().assert_outcomes(**outcomes)


def test_junit_has_figures_with_intervals(gated: Project) -> None:
    write(
        gated, gates=["pass_rate(pii_leakage) >= 0.7"], baseline={"table": "old.parquet", "terms": ["rouge"]}
    )

    gated.run("--junitxml=junit.xml", "-k", "m0")

    cases = ElementTree.parse(gated.folder / "junit.xml").findall(".//testcase")
    properties = [
        {entry.get("name"): entry.get("value") for entry in case.findall(".//property")} for case in cases
    ]
    gate, baseline = properties
    assert gate["evalstudio.gate"] == "pass_rate(pii_leakage) >= 0.7"
    assert gate["evalstudio.model"] == "m0"
    assert float(gate["evalstudio.value"] or "") == pytest.approx(22 / 30)
    assert gate["evalstudio.n"] == "30"
    assert float(gate["evalstudio.low"] or "") < 22 / 30 < float(gate["evalstudio.high"] or "")
    assert float(baseline["evalstudio.difference"] or "") < 0


@pytest.mark.slow
def test_workers_and_last_failed_know_the_items(gated: Project) -> None:
    write(gated, gates=["rouge >= 0.5", "pass_rate(pii_leakage) >= 0.99"])

    gated.run_with_cache("-m", "scores").assert_outcomes(passed=2, failed=2)
    gated.run_with_cache("--lf").assert_outcomes(failed=2)
    result = gated.run("-n", "2")

    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["*= scored tables =*", "*pass_rate(pii_leakage) >= 0.99: not met: m0 has*"])


def test_a_model_can_be_selected(gated: Project) -> None:
    write(gated, gates=["rouge >= 0.5"])

    gated.run("--evalstudio-model", "m1").assert_outcomes(passed=1)
    unknown = gated.run("--evalstudio-model", "m3")

    assert unknown.ret == pytest.ExitCode.USAGE_ERROR
    unknown.stderr.fnmatch_lines(["ERROR: no model named 'm3'.* Known here: m0, m1."])


def test_gates_run_beside_suites(gated: Project) -> None:
    write(gated, gates=["rouge >= 0.5"])
    gated.lab({"key": "k", "input": "q", "output_condition": '"4"', "actual_output": "4"})

    gated.run().assert_outcomes(passed=3)

    assert (gated.folder / "evalstudio-report" / "summary.md").is_file()


def test_files_of_others_are_left_alone(gated: Project) -> None:
    gated.write("model_scores.json", '{"scores": [1, 2]}')
    gated.write("team_scores.toml", "[players]\nanna = 3\n")
    gated.write("run_scores.json", '{"runs": [{"table": "a", "baseline": 0.4, "gates": []}]}')
    gated.write("league_scores.toml", '[season]\ntable = "a"\n[season.baseline]\npoints = 3\n')
    gated.write("large_scores.json", '{"table": "t", "gates": [' + '"rouge >= 1",' * 10_000 + '""]}')

    assert gated.run().ret == 5


USAGE = [
    ({"table": "missing.parquet"}, "table 'missing.parquet' is not a scored table: it has no manifest.json*"),
    ({"baseline": {"table": "b.parquet"}}, "baseline 'b.parquet' is not a scored table*"),
    (
        {"gates": ["rogue >= 0.5"]},
        "gate 'rogue >= 0.5': no evaluator in the table named 'rogue'. Did you mean",
    ),
    ({"gates": ["rouge.rouge_9 >= 0.5"]}, "gate 'rouge.rouge_9 >= 0.5': no metric of rouge named 'rouge_9'*"),
    ({"gates": ["rouge"]}, "gate 'rouge': a comparison with a number is missing*"),
    ({"groups": ["topics"]}, "groups: no column in the table named 'topics'. Did you mean 'topic'?*"),
    (
        {"baseline": {"table": "old.parquet", "terms": ["rouge >= 1"]}},
        "baseline term 'rouge >= 1': write ID*",
    ),
    ({"baseline": {"table": "old.parquet", "models": {"x": "m0"}}}, "no model in the baseline named 'x'*"),
]


@pytest.mark.parametrize(("content", "message"), USAGE)
def test_a_table_or_gate_that_cannot_be_used_is_a_usage_error(
    gated: Project, content: dict[str, Any], message: str
) -> None:
    write(gated, **{"gates": ["rouge >= 0.5"], **content})

    result = gated.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: nightly_scores.json: {message}*"])


def test_an_incomplete_table_is_a_usage_error(gated: Project) -> None:
    write(gated, gates=["rouge >= 0.5"])
    (gated.folder / "new.parquet" / "manifest.json").unlink()
    (gated.folder / "new.parquet" / ".progress").mkdir()

    result = gated.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*table 'new.parquet' is incomplete: * --resume"])


def test_gates_of_a_table_without_answers_are_a_usage_error(gated: Project) -> None:
    manifest = gated.folder / "new.parquet" / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "models": [], "answers": 0, "rows": 0, "aggregates": []}))
    write(gated, table="new.parquet", gates=["rouge >= 0.5"])
    gated.write("test_other.py", "def test_passes(): pass\n")

    result = gated.run()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*nightly_scores.json: table 'new.parquet' has no answers, so that no gate can be checked*"]
    )
    assert gated.run_command("validate", "nightly_scores.json").ret == 1


MALFORMED = [
    ("x_scores.toml", "table = \n", "x_scores.toml: is not TOML*"),
    ("x_scores.toml", 'gates = ["rouge >= 1"]\n', "x_scores.toml /table: 'table' is missing; add it"),
    ("x_scores.toml", 'table = "new.parquet"\n', "x_scores.toml: has neither `gates` nor `baseline`*"),
    ("x_scores.toml", 'table = "t"\ngate = []\n', "x_scores.toml /gate: unknown key. Did you mean 'gates'?"),
    (
        "x_scores.toml",
        'table = "t"\n[baseline]\ntable = "o"\nfail_on = "bad"\n',
        "x_scores.toml /baseline/fail_on: *'worse' or 'none'*",
    ),
    ("x_scores.toml", 'table = "t"\ngates = 3\n', "x_scores.toml /gates: expected a list*"),
    ("x_scores.json", '{"table": "t", "gates": [', "x_scores.json:1:*"),
]


@pytest.mark.parametrize(("name", "text", "message"), MALFORMED)
def test_a_malformed_file_is_a_collection_error(gated: Project, name: str, text: str, message: str) -> None:
    gated.write(name, text)

    result = gated.run(name)

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])


def test_a_gate_without_scored_answers_is_not_met(gated: Project) -> None:
    manifest = gated.folder / "new.parquet" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["aggregates"] = [entry for entry in content["aggregates"] if entry["model"] != "m0"]
    manifest.write_text(json.dumps(content))
    write(gated, gates=["rouge >= 0.5"])

    result = gated.run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["rouge >= 0.5: not met: no scored answer of m0"])


def test_the_file_of_the_documentation_is_read(gated: Project) -> None:
    page = Path(__file__).parents[2] / "docs" / "scale" / "tables.md"
    (toml,) = re.findall(r"```toml title=\"nightly_scores.toml\"\n(.*?)```", page.read_text(), re.DOTALL)
    text = toml.replace("nightly.parquet", "new.parquet").replace("last-week.parquet", "old.parquet")
    gated.write("nightly_scores.toml", "\n".join(line for line in text.splitlines() if "looping" not in line))

    result = gated.run()

    result.assert_outcomes(passed=19, failed=9)


def test_fixtures_that_apply_by_themselves_guard_gates(gated: Project) -> None:
    write(gated, gates=["rouge.rouge_l >= 0.1"])
    gated.write(
        "conftest.py", "import pytest\n@pytest.fixture(autouse=True)\ndef guard(): pytest.skip('no')\n"
    )

    result = gated.run("nightly_scores.json")

    assert result.parseoutcomes().keys() <= {"skipped"}
