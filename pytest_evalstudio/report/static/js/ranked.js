// Ranked dot plot: all models on one metric, the best first, with intervals and the threshold.

const RANKED = { label: 205, right: 84, wide: 575, row: 22, top: 8 };

/** The plot of a metric; `open` is called with the place of a model. */
function rankedPlot(run, evaluator, metric, open) {
  const known = run.models
    .map((model, place) => ({ ...model, cell: metric.models[place], place }))
    .filter(({ cell }) => cell);
  const sign = metric.better === "higher" ? -1 : 1;
  known.sort((a, b) => sign * (Number(a.cell.value) - Number(b.cell.value)) || run.byName.compare(a.name, b.name));
  const values = known.flatMap(({ cell }) => [cell.value, ...(cell.interval ?? [])].map(Number));
  const [low, high] = extent(metric, values);
  const x = (value) => RANKED.label + ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (RANKED.wide - RANKED.label - RANKED.right);
  const height = RANKED.top + RANKED.row * known.length + 22;
  const unscored = run.models.length - known.length;
  const marks = known.map((model, line) => rankedLine(model, metric, x, RANKED.top + RANKED.row * (line + 0.5), () => open?.(model.place)));
  const figure = el(
    "figure",
    { class: "chart ranked" },
    svg(
      "svg",
      { viewBox: `0 0 ${RANKED.wide} ${height}`, role: "group", "aria-label": `${evaluator.name}, ${metric.name}: ${many(known.length, "model")}, the best first.` },
      [0, 0.5, 1].map((share) => [
        svg("line", { class: "grid", x1: x(low + share * (high - low)), x2: x(low + share * (high - low)), y1: RANKED.top, y2: height - 22 }),
        svg("text", { class: "tick", x: x(low + share * (high - low)), y: height - 7, "text-anchor": "middle" }, shown(low + share * (high - low))),
      ]).flat(),
      limited(metric)
        ? svg("line", { class: "threshold", x1: x(Number(metric.threshold)), x2: x(Number(metric.threshold)), y1: RANKED.top, y2: height - 22 })
        : null,
      svg("g", { on: { keydown: (event) => roam(event, figure) } }, marks),
    ),
    unscored > 0 && el("figcaption", {}, `Not scored: ${many(unscored, "model")}.`),
  );
  figure.querySelector("[data-stop]")?.setAttribute("tabindex", "0");
  return figure;
}

function rankedLine(model, metric, x, y, act) {
  const { cell } = model;
  const value = Number(cell.value);
  const missed = cell.state === "misses";
  const name = `${model.name}: ${shown(value)}${missed ? ", misses the threshold" : ""}`;
  return stop(
    name,
    act,
    svg("rect", { class: "hit", x: 0, y: y - RANKED.row / 2, width: RANKED.wide, height: RANKED.row }),
    svg("text", { class: "name", x: RANKED.label - 10, y: y + 4, "text-anchor": "end" }, middleCut(model.label, 24)),
    cell.interval && svg("line", { class: "whisker", x1: x(Number(cell.interval[0])), x2: x(Number(cell.interval[1])), y1: y, y2: y }),
    missed
      ? svg("rect", { class: "mean missed", x: x(value) - 4.5, y: y - 4.5, width: 9, height: 9 })
      : svg("circle", { class: "mean", cx: x(value), cy: y, r: 5 }),
    svg("text", { class: missed ? "tick missed" : "tick", x: RANKED.wide - RANKED.right + 14, y: y + 4 }, `${shownShort(value)}${missed ? " ✗" : ""}`),
  );
}

/** A text with an ellipsis in its middle, so that version numbers at its end stay. */
function middleCut(text, chars) {
  if (text.length <= chars) return text;
  const tail = Math.floor((chars - 1) / 2);
  return `${text.slice(0, chars - 1 - tail)}…${text.slice(text.length - tail)}`;
}
