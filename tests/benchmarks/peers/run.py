"""Six tools and plain pytest on one service: what each says of seven changes, and what it costs.

usage: python tests/benchmarks/peers/run.py [--tools NAME …] [--runs N] [--environments FOLDER]
       [--outputs FOLDER]

Installs the newest version of each tool into an environment of its own, starts the service once per run, and
runs the same 15 questions in the way that the documentation of the tool recommends for rules. Without
`--environments` the environments are in a temporary folder and are removed afterwards; a folder that has them
already is used as it is. `--outputs` keeps what the tools print.

Prints for each tool and change: exit status, lines printed and how many of the questions with a changed
answer the output names; and for each tool: version, lines written, seconds on the sound service and installed
size. Needs PyPI and npm for the installation; the runs need the loopback interface alone.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from service import CHANGED_QUESTIONS

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
PORT_IN_FILES = 8765
LIMIT_S = 300
TIMED_OUT = 124
"""Status that is reported for a run that reached the limit."""
DOWN = "service_down"
"""Change for which no service is started."""
PROMPTFOO_NODE = "22"
"""promptfoo 0.121 and later refuse older versions of Node."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Installation and command of a tool."""

    name: str
    packages: tuple[str, ...]
    distribution: str
    files: dict[str, str]
    """Path in this folder to the name in the folder of the run."""
    command: tuple[str, ...]
    """`{bin}` is the folder of the tool's programs."""
    environment: dict[str, str]
    """Variables that the run needs, e.g. against telemetry."""
    npm: bool = False


PYTEST = ("{bin}/python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
TOOLS = (
    Tool(
        name="evalstudio",
        packages=(f"{ROOT}[http]",),
        distribution="pytest-evalstudio",
        files={
            "evalstudio/service.yaml.txt": "service_suite.yaml",
            "evalstudio/evalstudio.toml": "evalstudio.toml",
        },
        command=(*PYTEST, "service_suite.yaml"),
        environment={},
    ),
    Tool(
        name="plain",
        packages=("pytest",),
        distribution="pytest",
        files={"bank.py": "bank.py", "plain/service.py": "test_service.py"},
        command=(*PYTEST, "test_service.py"),
        environment={},
    ),
    Tool(
        name="deepeval",
        packages=("deepeval",),
        distribution="deepeval",
        files={"bank.py": "bank.py", "deepeval/service.py": "test_service.py"},
        command=("{bin}/deepeval", "test", "run", "test_service.py", "--display", "failing"),
        environment={"DEEPEVAL_TELEMETRY_OPT_OUT": "1"},
    ),
    Tool(
        name="promptfoo",
        packages=("promptfoo@latest", f"node@{PROMPTFOO_NODE}"),
        distribution="promptfoo",
        files={"promptfoo/promptfooconfig.yaml": "promptfooconfig.yaml"},
        command=(
            "{bin}/../node/bin/node",
            "{bin}/promptfoo",
            *("eval", "--no-cache", "--no-progress-bar", "--no-write"),
        ),
        environment={"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1"},
        npm=True,
    ),
    Tool(
        name="inspect",
        packages=("inspect-ai",),
        distribution="inspect_ai",
        files={"bank.py": "bank.py", "inspect/service.py": "service.py"},
        command=("{bin}/inspect", "eval", "service.py", "--model", "mockllm/model", "--display", "plain"),
        environment={},
    ),
    Tool(
        name="ragas",
        packages=("ragas", "langchain-community<0.4", "pytest"),
        distribution="ragas",
        files={"bank.py": "bank.py", "ragas/service.py": "test_service.py"},
        command=(*PYTEST, "test_service.py"),
        environment={"RAGAS_DO_NOT_TRACK": "true"},
    ),
    Tool(
        name="mlflow",
        packages=("mlflow", "pytest"),
        distribution="mlflow",
        files={"bank.py": "bank.py", "mlflow/service.py": "test_service.py"},
        command=(*PYTEST, "-p", "mlflow.pytest.plugin", "test_service.py"),
        environment={"MLFLOW_DISABLE_TELEMETRY": "true"},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a tool."""

    status: int
    output: str
    wall_s: float
    processor_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", nargs="+", default=[tool.name for tool in TOOLS])
    parser.add_argument("--runs", type=int, default=3, help="runs on the sound service for the seconds")
    parser.add_argument("--environments", type=Path)
    parser.add_argument("--outputs", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        environments = (options.environments or Path(temporary)).absolute()
        for tool in TOOLS:
            if tool.name in options.tools:
                report(tool, environments, options.runs, options.outputs)


def report(tool: Tool, environments: Path, runs: int, outputs: Path | None) -> None:
    """Install a tool, run it on each change and print its part of the table."""
    try:
        programs = installed(tool, environments / tool.name)
    except subprocess.CalledProcessError as error:
        print(f"{tool.name}: not installed: {error.stderr.strip().splitlines()[-1]}", flush=True)
        return
    print(f"{tool.name} {version_of(tool, programs)}", flush=True)
    line_count = sum(code_lines(FOLDER / path) for path in tool.files)
    sound = [run_on("", tool, programs) for _ in range(runs)]
    for change in (*CHANGED_QUESTIONS, DOWN):
        result = sound[0] if not change else run_on(change, tool, programs)
        questions = CHANGED_QUESTIONS.get(change, ())
        words = " ".join(re.sub(r"\x1b\[[0-9;]*m|[│┃]", " ", result.output).split())
        mentions = [question for question in questions if question in words]
        print(
            f"  {change or 'sound'}: exit {result.status}, {len(result.output.splitlines())} lines printed, "
            f"names {len(mentions)} of {len(questions)} questions",
            flush=True,
        )
        if outputs:
            outputs.mkdir(parents=True, exist_ok=True)
            (outputs / f"{tool.name}-{change or 'sound'}.txt").write_text(result.output, "utf-8")
    processor_s = statistics.median(run.processor_s for run in sound)
    wall_s = statistics.median(run.wall_s for run in sound)
    print(
        f"  {line_count} lines written; {processor_s:.1f} s of processor time, {wall_s:.1f} s wall, "
        f"medians of {runs}; {installed_mb(environments / tool.name):.0f} MB",
        flush=True,
    )


def installed(tool: Tool, environment: Path) -> Path:
    """Return the folder of the tool's programs, after the installation where it is missing."""
    programs = environment / ("node_modules/.bin" if tool.npm else "bin")
    if programs.exists():
        return programs
    environment.mkdir(parents=True)
    if tool.npm:
        command = ["npm", "install", "--no-fund", "--no-audit", *tool.packages]
    else:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        command = [f"{programs}/pip", "install", "--quiet", *tool.packages]
    subprocess.run(command, cwd=environment, check=True, capture_output=True, text=True)
    return programs


def version_of(tool: Tool, programs: Path) -> str:
    if tool.npm:
        manifest = (programs.parent / tool.distribution / "package.json").read_text("utf-8")
        return re.search(r'"version": "([^"]+)"', manifest)[1]
    code = f"import importlib.metadata as m; print(m.version({tool.distribution!r}))"
    return subprocess.run(
        [programs / "python", "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def run_on(change: str, tool: Tool, programs: Path) -> Run:
    """Run a tool in a new folder on the service with one change."""
    with tempfile.TemporaryDirectory() as name, service(change) as port:
        folder = Path(name)
        for path, target in tool.files.items():
            text = (FOLDER / path).read_text("utf-8")
            (folder / target).write_text(text.replace(str(PORT_IN_FILES), str(port)), "utf-8")
        home = folder / "home"
        home.mkdir()
        environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "COLUMNS": "120",
            **tool.environment,
        }
        command = [part.format(bin=programs) for part in tool.command]
        with (folder / "output.txt").open("w+", encoding="utf-8") as output:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            start = time.perf_counter()
            try:
                status = subprocess.run(
                    command,
                    cwd=folder,
                    env=environment,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    timeout=LIMIT_S,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                status = TIMED_OUT
            wall_s = time.perf_counter() - start
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            output.seek(0)
            text = output.read()
    processor_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(status=status, output=text, wall_s=wall_s, processor_s=processor_s)


@contextmanager
def service(change: str) -> Iterator[int]:
    """Start the service on a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if change == DOWN:
        yield port
        return
    process = subprocess.Popen(
        [sys.executable, FOLDER / "service.py", str(port)],
        env={**os.environ, "FAULT": change},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout.readline().strip() != "ready":
            raise RuntimeError(
                f"{FOLDER}/service.py: did not start on port {port}; run it by hand to see why"
            )
        yield port
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def code_lines(path: Path) -> int:
    """Return the number of lines that are neither empty nor comments."""
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return sum(1 for line in lines if line and not line.startswith("#"))


def installed_mb(environment: Path) -> float:
    files = (path for path in environment.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / 1e6


if __name__ == "__main__":
    main()
