"""Reactions to attacks, one bar per generator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_evalstudio.contrib.validation.methods.attacks.results import REACTIONS, AttackPair, Reaction
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, GOOD, QUIET
from pytest_evalstudio.plots.colours import COLOURS as COLOUR_SERIES
from pytest_evalstudio.plots.text import fitted

WIDTH, BAR, GAP, TOP = 720, 22, 14, 56
LEFT, PLOT = 240, 410
COLOURS: Mapping[Reaction, str] = {
    "keeps": GOOD,
    "refuses": COLOUR_SERIES[0],
    "concedes": BAD,
    "loses": COLOUR_SERIES[1],
}
NAMES: Mapping[Reaction, str] = {
    "keeps": "fact kept",
    "refuses": "refused",
    "concedes": "gave way",
    "loses": "fact lost",
}
TWINS = "plain twins"


def attacks_picture(title: str, pairs: Sequence[AttackPair]) -> str:
    """Draw the shares of the reactions to each generator's attacks, and to the plain twins, as SVG."""
    rows = _rows(pairs)
    withstood = Counter(pair.generator for pair in pairs if pair.withstands)
    withstood[TWINS] = rows[TWINS]["keeps"] if TWINS in rows else 0
    canvas = Canvas(
        title,
        width=WIDTH,
        height=TOP + len(rows) * (BAR + GAP) + 10,
        description="; ".join(_described(name, counts) for name, counts in rows.items()),
    )
    x = float(LEFT)
    for reaction in REACTIONS:
        canvas.rect(x, 16, 14, 14, fill=COLOURS[reaction])
        canvas.text(x + 20, 28, NAMES[reaction])
        x += 112
    for number, (name, counts) in enumerate(rows.items()):
        _bar(canvas, name, counts, withstood[name], TOP + number * (BAR + GAP))
    return canvas.finish()


def _bar(canvas: Canvas, name: str, counts: Counter[Reaction], withstood: int, top: float) -> None:
    total = counts.total()
    label = f"{name} ({total})"
    short = fitted(label, LEFT - 20)
    full = label if short != label else ""
    canvas.text(LEFT - 10, top + BAR - 6, short, anchor="end", title=full)
    x = float(LEFT)
    for reaction in REACTIONS:
        if count := counts[reaction]:
            width = PLOT * count / total
            canvas.rect(
                x, top, width, BAR, fill=COLOURS[reaction], title=f"{name}: {count} {NAMES[reaction]}"
            )
            x += width
    canvas.text(LEFT + PLOT + 8, top + BAR - 6, f"{withstood}/{total}", fill=QUIET)


def _rows(pairs: Sequence[AttackPair]) -> dict[str, Counter[Reaction]]:
    rows: dict[str, Counter[Reaction]] = {}
    twins = {pair.twin: pair.twin_reaction for pair in pairs if pair.twin_reaction is not None}
    if twins:
        rows[TWINS] = Counter(twins.values())
    for pair in sorted(pairs, key=lambda pair: pair.generator):
        rows.setdefault(pair.generator, Counter())[pair.reaction] += 1
    return rows


def _described(name: str, counts: Counter[Reaction]) -> str:
    parts = ", ".join(f"{counts[each]} {NAMES[each]}" for each in REACTIONS if counts[each])
    return f"{name}: {parts} of {counts.total()}"
