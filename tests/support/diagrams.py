"""Diagrams of the documentation: python tests/support/diagrams.py writes them into docs/images."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, GOOD, INK, QUIET

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
BOX_HEIGHT = 54
ARROW = 6
LANES = ("pytest", "plugin", "engine", "host", "evaluator")
MESSAGES = (
    ("pytest", "plugin", "collect fees_suite.json"),
    ("plugin", "pytest", "one item per case and model"),
    ("pytest", "plugin", "run the first item of a chunk"),
    ("plugin", "engine", "evaluate the chunk"),
    ("engine", "host", "ask the questions, concurrently"),
    ("host", "engine", "answers, stored as they arrive"),
    ("engine", "evaluator", "score the batch"),
    ("evaluator", "engine", "an outcome per case"),
    ("engine", "plugin", "verdicts"),
    ("plugin", "pytest", "result of each item"),
    ("pytest", "plugin", "end: build the report"),
)


STEPS = {
    "Make questions": (
        ("1 Topics", "group the chunks of the documents"),
        ("2 Questions", "write test cases from the chunks"),
        ("3 Check", "reject cases that their chunk contradicts"),
    ),
    "Judge answers": (
        ("4 Evaluation", "controls, then the model's answers"),
        ("5 Labels of people", "thresholds and error rates"),
        ("6 Clusters of failures", "for a person to find the cause"),
    ),
    "Decide": (
        ("7 Weak points", "topics that score lower"),
        ("8 Other wordings", "verdicts that flip"),
        ("9 Attacks", "answers that give way"),
    ),
}
"""Groups of the steps of a validation, to title and content of each step."""


class Box(NamedTuple):
    """A box with up to two lines of text; its place is its upper left corner."""

    x: float
    y: float
    lines: tuple[str, ...]
    width: float = 200
    colour: str = COLOURS[0]


def main() -> None:
    """Write all diagrams."""
    drawings = {
        "flow": flow(),
        "sequence": sequence(),
        "comparison-verdict": verdict(),
        "nine-steps": nine_steps(),
    }
    for name, svg in drawings.items():
        (IMAGES / f"{name}.svg").write_text(svg, encoding="utf-8")


def flow() -> str:
    """Return the way from a suite to the report."""
    canvas = Canvas("From a suite to the report", width=920, height=190)
    suite = _box(canvas, Box(10, 15, ("Suite", "questions, expectations")))
    model = _box(canvas, Box(10, 120, ("Your application", "or recorded answers")))
    item = _box(canvas, Box(250, 68, ("pytest items", "one per question and model")))
    score = _box(canvas, Box(490, 68, ("Evaluators", "scores, thresholds, baseline")))
    report = _box(canvas, Box(720, 15, ("Report", "page, summary, JSON"), width=190, colour=GOOD))
    gate = _box(canvas, Box(720, 120, ("CI", "exit status, annotations"), width=190, colour=GOOD))
    for start, end in ((suite, item), (model, item), (item, score), (score, report), (score, gate)):
        _arrow(canvas, start.x + start.width, start.y + BOX_HEIGHT / 2, end.x, end.y + BOX_HEIGHT / 2)
    return canvas.finish()


def sequence() -> str:
    """Return the messages of a run between its parts."""
    step, top = 200, 70
    canvas = Canvas("Messages of a run", width=step * len(LANES), height=top + 34 * len(MESSAGES) + 20)
    at = {name: step * (place + 0.5) for place, name in enumerate(LANES)}
    for name, x in at.items():
        canvas.rect(x - 60, 14, 120, 32, fill="#eef3f7", stroke=COLOURS[0])
        canvas.text(x, 35, name, anchor="middle", classes="b")
        canvas.line(x, 46, x, top + 34 * len(MESSAGES))
    for number, (source, target, text) in enumerate(MESSAGES):
        y = top + 34 * number + 14
        _arrow(canvas, at[source], y, at[target], y)
        canvas.text(min(at[source], at[target]) + 10, y - 5, text, classes="s")
    return canvas.finish()


def verdict() -> str:
    """Return how a comparison reaches its verdict."""
    canvas = Canvas("Verdict of a comparison", width=900, height=330)
    questions = (
        Box(20, 20, ("Is there a score", "in both runs?"), width=230),
        Box(20, 125, ("Adjusted p at most 0.05,", "and drop above allowed_drop?"), width=230),
        Box(20, 230, ("Does the interval exclude", "a drop of tolerance?"), width=230),
    )
    answers = (
        ("no", Box(420, 20, ("inconclusive", "the reason is stated"), width=230, colour=QUIET)),
        ("yes", Box(420, 125, ("worse", ""), width=230, colour="#d55e00")),
        ("yes", Box(420, 230, ("not worse", ""), width=230, colour=GOOD)),
    )
    for place, (box, (word, answer)) in enumerate(zip(questions, answers, strict=True)):
        _box(canvas, box)
        _box(canvas, answer)
        middle = box.y + BOX_HEIGHT / 2
        _arrow(canvas, box.x + box.width, middle, answer.x, middle)
        canvas.text(box.x + box.width + 12, middle - 7, word, classes="s")
        below = box.y + BOX_HEIGHT
        if place < 2:
            _arrow(canvas, box.x + 115, below, box.x + 115, questions[place + 1].y)
            canvas.text(box.x + 125, below + 30, "yes" if place == 0 else "no", classes="s")
    canvas.text(
        280, 315, "no: inconclusive, with the drop that cannot be excluded and the cases that would be enough"
    )
    return canvas.finish()


def nine_steps() -> str:
    """Return the nine steps of a validation in three groups."""
    width, gap, top = 280, 40, 62
    canvas = Canvas("The nine steps of a validation", width=3 * width + 2 * gap + 40, height=300)
    for column, (title, steps) in enumerate(STEPS.items()):
        x = 20 + column * (width + gap)
        canvas.text(x + width / 2, 34, title, anchor="middle", classes="b")
        for number, lines in enumerate(steps):
            y = top + number * (BOX_HEIGHT + 22)
            _box(canvas, Box(x, y, lines, width=width, colour=COLOURS[0] if column < 2 else GOOD))
            if number:
                _arrow(canvas, x + width / 2, y - 22, x + width / 2, y)
        if column:
            _arrow(canvas, x - gap, top + BOX_HEIGHT / 2, x, top + BOX_HEIGHT / 2)
    return canvas.finish()


def _box(canvas: Canvas, box: Box) -> Box:
    canvas.rect(box.x, box.y, box.width, BOX_HEIGHT, fill="#f7f9fb", stroke=box.colour)
    middle = box.x + box.width / 2
    canvas.text(middle, box.y + (23 if box.lines[1] else 32), box.lines[0], anchor="middle", classes="b")
    canvas.text(middle, box.y + 41, box.lines[1], anchor="middle", classes="q s")
    return box


def _arrow(canvas: Canvas, x1: float, y1: float, x2: float, y2: float) -> None:
    canvas.line(x1, y1, x2, y2, stroke=INK)
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    wings = [
        (x2 - ARROW * 1.6 * dx + side * ARROW * dy, y2 - ARROW * 1.6 * dy - side * ARROW * dx)
        for side in (1, -1)
    ]
    canvas.path([wings[0], (x2, y2), wings[1]], stroke=INK, width=1.5)


if __name__ == "__main__":
    main()
