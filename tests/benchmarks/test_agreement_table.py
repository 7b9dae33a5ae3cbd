"""The documentation's table of agreement with human labels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pytest_evalstudio import LlmDataset, TestLab

SCRIPT = Path(__file__).with_name("agreement_table.py")


def test_one_command_replaces_the_table_of_a_page(tmp_path: Path) -> None:
    dataset = LlmDataset()
    labels = ["key,model_key,label"]
    for number in range(24):
        good = number % 2
        dataset.add_input(
            "Rate?",
            key=f"k{number}",
            context=[f"The rate rose to {number} percent."],
            actual_output=f"The rate rose to {number} percent." if good else "The club won a trophy.",
            model_key="m",
        )
        labels.append(f"k{number},m,{good}")
    TestLab.model_validate({"name": "lab", "dataset": dataset.model_dump(), "models": [{"key": "m"}]}).save(
        tmp_path / "lab.json"
    )
    (tmp_path / "labels.csv").write_text("\n".join(labels))
    page = tmp_path / "page.md"
    page.write_text("# Agreement\n\n<!-- agreement -->\nold\n<!-- end of agreement -->\n\nNotes\n")
    command = [sys.executable, str(SCRIPT), "--sample", "MADE", "lab.json", "labels.csv", "--page", str(page)]
    subprocess.run(command, cwd=tmp_path, timeout=120, check=True)
    text = page.read_text()
    assert text.startswith("# Agreement\n\n<!-- agreement -->\n| Metric | MADE |\n| --- | --- |\n")
    assert text.endswith("<!-- end of agreement -->\n\nNotes\n")
    assert "| `lexical_groundedness` supported_words | 1.00 (1.00–1.00); ≥ 1.00: 1.00 |\n" in text
    assert "| `faithfulness` | not measured: no data or weights |\n" in text
    assert "old" not in text
