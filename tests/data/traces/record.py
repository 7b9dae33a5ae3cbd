"""Record the traces of some packages again: `python record.py FOLDER NAME…`, with the names of the files.

Each is recorded twice, the second time with a tool that raises an error, unless the package traces no tools.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KINDS = {
    "adk": "adk",
    "adk_legacy": "adk-legacy",
    "genai_openai_v2": "openai-v2",
    "genai_pydantic_ai": "pydantic",
    "mlflow": "mlflow",
    "mlflow_trace": "mlflow-trace",
    "openinference_langchain": "langchain",
    "openinference_llama_index": "llama-index",
    "openinference_openai": "openai",
    "openinference_openai_agents": "agents",
    "openllmetry_langchain": "openllmetry-langchain",
    "openllmetry_openai": "openllmetry-openai",
    "openllmetry_openai_agents": "openllmetry-agents",
    "strands": "strands",
    "vercel": "vercel",
}
"""Kinds of `make_traces.py` by the names of the files."""
CLIENTS = ("genai_openai_v2", "openinference_openai", "openllmetry_openai")
VARIABLES = {"adk_legacy": {"ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN": "1"}}


def main(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).with_name("make_traces.py")
    for name in names:
        for ending, variables in (("", {}), ("_error", {"EVALSTUDIO_TOOL_FAILS": "1"})):
            path = folder / f"{name}{ending}.jsonl"
            path.unlink(missing_ok=True)
            if ending and name in CLIENTS:
                continue
            environment = {**os.environ, **VARIABLES.get(name, {}), **variables}
            # A framework may end with the error of the tool.
            subprocess.run([sys.executable, script, KINDS[name], path], env=environment, check=not ending)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
