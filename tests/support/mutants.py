"""Mutants of a package that its own tests do not notice, by the operators of cosmic-ray.

    pip install --target /tmp/mutants cosmic-ray
    PYTHONPATH=tests:/tmp/mutants python tests/support/mutants.py stats --sample 400

Each mutant is a process that is forked after pytest and numpy are imported, and that imports the mutated
source from memory; no file changes. The doctests and tests of the mutated module run first, then the tests of
the package.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_loader
from pathlib import Path

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[2]
PACKAGE = "pytest_evalstudio"
PRELOADED = ("numpy", "scipy.stats", "scipy.optimize", "scipy.special", "msgspec", "pydantic")
LIMIT_FACTOR = 5
"""Multiple of the processor time without a mutant after which a mutant counts as one that hangs."""
MIN_LIMIT_S = 60
TIMEOUT_S = 3600
"""Wall time of a mutant that waits; long, since the machine may be shared."""
BROKEN = "broken module"
"""Control: no test may pass with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """An occurrence of an operator in a module."""

    path: Path
    operator: str
    occurrence: int
    line: int
    column: int

    def source(self) -> str:
        """Return the mutated source."""
        if self.operator == BROKEN:
            return f"raise AssertionError({BROKEN!r})"
        return mutate_code(
            self.path.read_text(encoding="utf-8"), get_operator(self.operator)(), self.occurrence
        )

    def __str__(self) -> str:
        line = self.source().splitlines()[self.line - 1].strip()
        return f"{self.path.relative_to(ROOT)}:{self.line}: {self.operator.partition('/')[2]}: {line}"


class MutatedLoader(SourceFileLoader):
    """Loader and finder of one module with another source."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(mutant.path))
        self._source = mutant.source()

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_loader(name, self) if name == self.name else None

    def get_code(self, fullname: str) -> object:
        return compile(self._source, self.path, "exec")


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield all mutants of a module, apart from those of annotations, which are not evaluated."""
    source = path.read_text(encoding="utf-8")
    tree = get_ast(source)
    annotations = set(_annotated(ast.parse(source)))
    for name in operator_names():
        operator_class = get_operator(name)
        if operator_class.arguments():
            continue
        operator = operator_class()
        positions = (start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node))
        for occurrence, (line, column) in enumerate(positions):
            if (line, column) not in annotations:
                yield Mutant(path=path, operator=name, occurrence=occurrence, line=line, column=column)


def _annotated(tree: ast.AST) -> Iterator[tuple[int, int]]:
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            part = getattr(node, name, None)
            if part is not None:
                for line in range(part.lineno, part.end_lineno + 1):
                    yield from ((line, column) for column in range(400) if _is_inside(part, line, column))


def _is_inside(part: ast.expr, line: int, column: int) -> bool:
    return (part.lineno, part.col_offset) <= (line, column) < (part.end_lineno, part.end_col_offset)


def one_each(candidates: Sequence[Mutant], rng: random.Random) -> list[Mutant]:
    """Return one mutant of each position, drawn at random."""
    by_position: dict[tuple[Path, int, int], list[Mutant]] = {}
    for mutant in candidates:
        by_position.setdefault((mutant.path, mutant.line, mutant.column), []).append(mutant)
    return [rng.choice(group) for group in by_position.values()]


def survives(mutant: Mutant, tests: Path, limit_s: int, selection: Sequence[str] = ()) -> bool:
    """Run the tests of the module, then those of the package; a mutant that hangs does not survive.

    Args:
        mutant: the mutant.
        tests: folder of the package's tests.
        limit_s: seconds of processor time after which a mutant hangs.
        selection: options of pytest that select tests.
    """
    first = [mutant.path, *tests.rglob(f"test_{mutant.path.stem}.py")]
    return _passes(mutant, [*selection, *first], limit_s) and _passes(mutant, [*selection, tests], limit_s)


def _passes(
    mutant: Mutant | None, tests: Sequence[Path | str], limit_s: int = resource.RLIM_INFINITY
) -> bool:
    process = os.fork()
    if process == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit_s, limit_s))
        _run(mutant, tests)
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        finished, status = os.waitpid(process, os.WNOHANG)
        if finished:
            # A module may have no doctest and no tests of its own; those of the package decide then.
            return os.waitstatus_to_exitcode(status) in (
                pytest.ExitCode.OK,
                pytest.ExitCode.NO_TESTS_COLLECTED,
            )
        time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False


def _run(mutant: Mutant | None, tests: Sequence[Path | str]) -> None:
    with open(os.devnull, "w") as sink:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
    status = 1
    with contextlib.suppress(BaseException):
        if mutant is not None:
            name = ".".join(mutant.path.relative_to(ROOT).with_suffix("").parts)
            sys.meta_path.insert(0, MutatedLoader(name, mutant))
        # pytest's rewriting of assertions would import the module from its file.
        options = (
            "-q",
            "-x",
            "--assert=plain",
            "--doctest-modules",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
        )
        status = int(pytest.main([*options, *map(str, tests)]))
    os._exit(status)


def main() -> None:
    """Print each survivor and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", help="e.g. stats or engine/scoring")
    parser.add_argument("--sample", type=int, default=400, help="mutants, at most one of each position")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--module", help="only this module")
    parser.add_argument("--fast", action="store_true", help="without the tests that are marked slow")
    options = parser.parse_args()
    selection = ("-m", "not slow") if options.fast else ()
    os.chdir(ROOT)
    for name in PRELOADED:
        importlib.import_module(name)
    rng = random.Random(options.seed)
    paths = sorted((ROOT / PACKAGE / options.package).rglob(f"{options.module or '*'}.py"))
    population = one_each([mutant for path in paths for mutant in mutants(path)], rng)
    sample = rng.sample(population, min(options.sample, len(population)))
    tests = ROOT / "tests" / options.package
    if not _passes(None, [*selection, tests]):
        sys.exit(f"{tests}: the tests fail without a mutant; mend them first")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit_s = max(MIN_LIMIT_S, int(LIMIT_FACTOR * (usage.ru_utime + usage.ru_stime)))
    if survives(replace(sample[0], operator=BROKEN), tests, limit_s, selection):
        sys.exit(f"{sample[0].path}: the tests pass with a broken module: mutants are not imported")
    counts: Counter[str] = Counter()
    for mutant in sample:
        survivor = survives(mutant, tests, limit_s, selection)
        counts["survived" if survivor else "killed"] += 1
        if survivor:
            sys.stdout.write(f"{mutant}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{counts['survived']} of {len(sample)} mutants survived; {len(population)} positions\n")


if __name__ == "__main__":
    main()
