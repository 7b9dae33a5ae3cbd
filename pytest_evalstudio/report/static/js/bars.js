// Bars that compare models: a group per metric, a bar per model, as long as its mean is on the metric's scale.

const BAR_MODELS = 8;
const BAR_GROUPS = 14;

/** A bar chart of [evaluator, metric] pairs. */
function barChart(run, pairs) {
  const groups = pairs.filter(([, metric]) => metric.models.some(Boolean)).slice(0, BAR_GROUPS);
  const models = run.models
    .map((model, place) => ({ ...model, place }))
    .filter(({ place }) => groups.some(([, metric]) => metric.models[place]));
  const drawn = models.slice(0, BAR_MODELS);
  const left = [
    drawn.length < models.length && `${models.length - drawn.length} more models`,
    groups.length < pairs.length && `${pairs.length - groups.length} more metrics`,
  ].filter(Boolean);
  return el(
    "figure",
    { class: "chart bars", role: "group", "aria-label": "Means of the models, metric by metric" },
    el(
      "ul",
      { class: "legend" },
      drawn.map(({ name }, place) =>
        el(
          "li",
          {},
          svg(
            "svg",
            { class: "key", viewBox: "0 0 12 12", "aria-hidden": "true" },
            svg("rect", { class: `s${place}`, width: 12, height: 12 }),
          ),
          " ",
          said(name),
        ),
      ),
    ),
    groups.map(([evaluator, metric]) =>
      barGroup(
        evaluator,
        metric,
        drawn,
        groups.every(([other]) => other === evaluator),
      ),
    ),
    el("figcaption", {}, "The line is the threshold; ✗ misses it.", left.length ? ` In the tables: ${left.join(", ")}.` : ""),
  );
}

function barGroup(evaluator, metric, models, alone) {
  const [low, high] = extent(
    metric,
    models.map(({ place }) => (metric.models[place] ? Number(metric.models[place].value) : NaN)),
  );
  const part = (value) => Math.min(1, Math.max(0, (value - low) / (high - low)));
  const known = models
    .map((model, number) => ({ ...model, number, cell: metric.models[model.place] }))
    .filter(({ cell }) => cell);
  const height = 13 * known.length;
  const limit = limited(metric) ? 240 * part(Number(metric.threshold)) : null;
  return el(
    "div",
    { class: "bar-group" },
    el(
      "p",
      { class: "bar-name" },
      said(alone ? metric.name : evaluator.name),
      alone ? null : el("span", { class: "quiet" }, " ", said(metric.name)),
    ),
    svg(
      "svg",
      {
        viewBox: `0 0 310 ${height + 2}`,
        role: "img",
        "aria-label": known.map(({ name, cell }) => `${name} ${shown(cell.value)}`).join(", "),
      },
      svg("rect", { class: "track", x: 0, y: 0, width: 240, height }),
      known.map(({ name, number, cell }, line) => {
        const long = 240 * part(Number(cell.value));
        const missed = cell.passes === false;
        return svg(
          "g",
          {},
          svg("title", {}, `${name}: ${metric.name} ${shown(cell.value)}${missed ? ", misses its threshold" : ""}`),
          svg("rect", { class: `s${number}`, x: 0, y: 13 * line + 2, width: Math.max(1.5, long), height: 9 }),
          svg(
            "text",
            { class: missed ? "tick missed" : "tick", x: 246, y: 13 * line + 10.5 },
            `${shown(Number(Number(cell.value).toPrecision(3)))}${missed ? " ✗" : ""}`,
          ),
        );
      }),
      limit === null ? null : svg("line", { class: "threshold", x1: limit, x2: limit, y1: 0, y2: height }),
    ),
  );
}

function shortened(text, chars) {
  return text.length <= chars ? text : `${text.slice(0, Math.max(1, chars - 1))}…`;
}
