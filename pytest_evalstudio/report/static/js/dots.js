// One model on one metric: a dot per test case, bins from 500 on; or two metrics against each other.

const MOST_DOTS = 500;
const BINS = 40;
const CELLS = 24;
const LISTED = 100;
const PLOT = { left: 58, right: 704, top: 16, bottom: 268, width: 720, height: 316 };

class DotChart {
  constructor(run, opinions, router, { evaluator, metric, model }) {
    Object.assign(this, { run, opinions, router, evaluator, metric, model });
    this.other = "";
    this.list = el("div", { class: "bin-list" });
    this.picture = el("div", {});
    const metrics = run.evaluators.flatMap((line, place) =>
      line.metrics.map((entry, number) => [`${place}.${number}`, `${line.name}: ${entry.name}`]),
    );
    const others = metrics.filter(([key]) => key !== `${evaluator}.${metric}`);
    this.root = el(
      "div",
      { class: "dots" },
      others.length > 0 &&
        el(
          "div",
          { class: "tools" },
          chooser("Compare with", [["", "no other metric"], ...others], "", (value) => {
            this.other = value;
            this.draw();
          }),
        ),
      this.picture,
      this.list,
    );
    this.draw();
  }

  draw() {
    this.list.replaceChildren();
    const x = this.#axis(`${this.evaluator}.${this.metric}`);
    const rows = [];
    for (let row = 0; row < this.run.count; row += 1)
      if (this.run.modelOf[row] === this.model && Number.isFinite(x.scores[row])) rows.push(row);
    const without = this.#without(x);
    const y = this.other ? this.#axis(this.other) : null;
    const both = y ? rows.filter((row) => Number.isFinite(y.scores[row])) : rows;
    [x.low, x.high] = extent(
      x.metric,
      both.map((row) => x.scores[row]),
    );
    if (y)
      [y.low, y.high] = extent(
        y.metric,
        both.map((row) => y.scores[row]),
      );
    const words = y ? `${x.metric.name} against ${y.metric.name}` : x.metric.name;
    const many_ = both.length > MOST_DOTS;
    const marks = y
      ? many_
        ? this.#cells(both, x, y)
        : this.#scatter(both, x, y)
      : many_
        ? this.#bars(both, x)
        : this.#stacks(both, x);
    this.picture.replaceChildren(
      el(
        "figure",
        { class: "chart dot-chart" },
        svg(
          "svg",
          {
            viewBox: `0 0 ${PLOT.width} ${PLOT.height}`,
            role: "group",
            "aria-label": `${words}: ${many(both.length, "test case")}. Arrow keys move, Enter opens.`,
          },
          this.#frame(x, y, marks.most),
          svg("g", { class: "marks", on: { keydown: (event) => roam(event, this.picture) } }, marks.nodes),
        ),
        el("figcaption", {}, this.#caption(x, y, both.length, many_, without)),
      ),
    );
    if (!both.length)
      this.picture.replaceChildren(
        el(
          "p",
          { class: "notice" },
          y ? "No case has both scores." : `${x.metric.name} is a figure of the model as a whole: single cases have none.`,
        ),
      );
    this.picture.querySelector("[data-stop]")?.setAttribute("tabindex", "0");
  }

  #axis(key) {
    const [evaluator, metric] = key.split(".").map(Number);
    const entry = this.run.evaluators[evaluator].metrics[metric];
    const cell = entry.models[this.model];
    return {
      metric: { ...entry, threshold: cell?.threshold ?? entry.threshold },
      scores: this.opinions[evaluator].scores[metric],
      meets: (row) =>
        meets(this.run.metricOf(evaluator, metric, this.opinions, row), this.opinions[evaluator].scores[metric][row]),
      mixed: this.#limits(evaluator).size > 1,
    };
  }

  /** The sets of thresholds that hold for the model's rows. */
  #limits(evaluator) {
    const found = new Set();
    const { limits, states } = this.opinions[evaluator];
    for (let row = 0; row < this.run.count; row += 1)
      if (this.run.modelOf[row] === this.model && states[row]) found.add(limits[row]);
    return found;
  }

  #without(x) {
    let count = 0;
    const { states } = this.opinions[this.evaluator];
    for (let row = 0; row < this.run.count; row += 1)
      if (this.run.modelOf[row] === this.model && states[row] && !Number.isFinite(x.scores[row])) count += 1;
    return count;
  }

  #caption(x, y, count, binned, without) {
    const shapes = binned
      ? y
        ? "A square holds the more cases the darker it is."
        : "A bar is as high as it has cases; the hatched part misses the threshold."
      : "A dot is a test case; a diamond misses the threshold.";
    const opens = binned ? "Choose one to list its cases." : "Choose one to open it.";
    const missing = without ? ` ${many(without, "case has", "cases have")} no such score.` : "";
    const limit =
      limited(x.metric) || (y && limited(y.metric))
        ? ` The dashed line is the ${x.mixed || y?.mixed ? "mean of the cases’ thresholds" : "threshold"}.`
        : "";
    return `${many(count, "test case")}. ${shapes} ${opens}${limit}${missing}`;
  }

  #frame(x, y, most) {
    const across = (share) => PLOT.left + share * (PLOT.right - PLOT.left);
    const up = (share) => PLOT.bottom - share * (PLOT.bottom - PLOT.top);
    const parts = [];
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      parts.push(svg("line", { class: "grid", x1: across(share), x2: across(share), y1: PLOT.top, y2: PLOT.bottom }));
      parts.push(
        svg(
          "text",
          { class: "tick", x: across(share), y: PLOT.bottom + 18, "text-anchor": "middle" },
          shown(x.low + share * (x.high - x.low)),
        ),
      );
      const height = y ? shown(y.low + share * (y.high - y.low)) : Number.isInteger(share * most) ? counted(share * most) : "";
      parts.push(svg("line", { class: "grid", x1: PLOT.left, x2: PLOT.right, y1: up(share), y2: up(share) }));
      parts.push(svg("text", { class: "tick", x: PLOT.left - 6, y: up(share) + 4, "text-anchor": "end" }, height));
    }
    if (limited(x.metric)) {
      const place = across(shareOf(x, Number(x.metric.threshold)));
      parts.push(svg("line", { class: "threshold", x1: place, x2: place, y1: PLOT.top, y2: PLOT.bottom }));
    }
    if (y && limited(y.metric)) {
      const place = up(shareOf(y, Number(y.metric.threshold)));
      parts.push(svg("line", { class: "threshold", x1: PLOT.left, x2: PLOT.right, y1: place, y2: place }));
    }
    if (y)
      parts.push(
        svg(
          "text",
          { class: "name", transform: `translate(11 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" },
          y.metric.name,
        ),
      );
    parts.push(
      svg("text", { class: "name", x: (PLOT.left + PLOT.right) / 2, y: PLOT.height - 8, "text-anchor": "middle" }, x.metric.name),
    );
    return parts;
  }

  #stacks(rows, x) {
    const columns = Array.from({ length: 58 }, () => []);
    for (const row of rows) columns[Math.min(57, Math.floor(shareOf(x, x.scores[row]) * 58))].push(row);
    const most = Math.max(1, ...columns.map((column) => column.length));
    const tall = (PLOT.bottom - PLOT.top) / Math.max(most, 20);
    const wide = (PLOT.right - PLOT.left) / 58;
    const nodes = columns.flatMap((column, place) =>
      column.map((row, height) =>
        this.#dot(row, rows, x, PLOT.left + (place + 0.5) * wide, PLOT.bottom - (height + 0.5) * tall, Math.min(5, tall / 2)),
      ),
    );
    return { nodes, most: Math.max(most, 20) };
  }

  #scatter(rows, x, y) {
    const nodes = rows.map((row) =>
      this.#dot(
        row,
        rows,
        x,
        PLOT.left + shareOf(x, x.scores[row]) * (PLOT.right - PLOT.left),
        PLOT.bottom - shareOf(y, y.scores[row]) * (PLOT.bottom - PLOT.top),
        4.5,
        y,
      ),
    );
    return { nodes, most: 0 };
  }

  #dot(row, rows, x, cx, cy, r, y = null) {
    const passes = !limited(x.metric) || x.meets(row);
    const scores = [x, y].filter(Boolean).map((axis) => `${axis.metric.name} ${shown(axis.scores[row])}`);
    const name = `${this.run.cases[this.run.caseOf[row]].key}: ${scores.join(", ")}${passes ? "" : ", misses the threshold"}`;
    const own = this.run.metricOf(this.evaluator, this.metric, this.opinions, row);
    const look = { class: `dot ${passes ? "passes" : "missed"} g${heatStep(own, x.scores[row])}` };
    const shape = passes
      ? svg("circle", { ...look, cx, cy, r })
      : svg("path", { ...look, d: `M${cx} ${cy - r * 1.2}L${cx + r * 1.2} ${cy}L${cx} ${cy + r * 1.2}L${cx - r * 1.2} ${cy}Z` });
    return stop(name, () => this.router.go(address.ofCase(this.run.nodeid(row))), shape);
  }

  #bars(rows, x) {
    const bins = Array.from({ length: BINS }, () => []);
    for (const row of rows) bins[Math.min(BINS - 1, Math.floor(shareOf(x, x.scores[row]) * BINS))].push(row);
    const most = bins.reduce((found, bin) => Math.max(found, bin.length), 1);
    const wide = (PLOT.right - PLOT.left) / BINS;
    const tall = (PLOT.bottom - PLOT.top) / most;
    const nodes = bins.flatMap((bin, place) => {
      if (!bin.length) return [];
      const missed = limited(x.metric) ? bin.filter((row) => !x.meets(row)).length : 0;
      const ends = [place, place + 1].map((end) => shown(x.low + (end / BINS) * (x.high - x.low)));
      const name = `${ends[0]} to ${ends[1]}: ${many(bin.length, "case")}${missed ? `, ${counted(missed)} miss the threshold` : ""}`;
      const left = PLOT.left + place * wide + 1;
      const bar = (count, below, style) =>
        count > 0 &&
        svg("rect", {
          class: style,
          x: left,
          width: wide - 2,
          y: PLOT.bottom - (below + count) * tall,
          height: Math.max(1, count * tall),
        });
      return [
        stop(name, () => this.#listed(name, bin, x), bar(missed, 0, "bin missed"), bar(bin.length - missed, missed, "bin")),
      ];
    });
    return { nodes, most };
  }

  #cells(rows, x, y) {
    const cells = new Map();
    const place = (axis, row) => Math.min(CELLS - 1, Math.floor(shareOf(axis, axis.scores[row]) * CELLS));
    for (const row of rows) {
      const key = CELLS * place(y, row) + place(x, row);
      if (!cells.has(key)) cells.set(key, []);
      cells.get(key).push(row);
    }
    const most = [...cells.values()].reduce((found, cell) => Math.max(found, cell.length), 1);
    const wide = (PLOT.right - PLOT.left) / CELLS;
    const tall = (PLOT.bottom - PLOT.top) / CELLS;
    const nodes = [...cells.entries()]
      .sort(([a], [b]) => a - b)
      .map(([key, cell]) => {
        const [column, line] = [key % CELLS, Math.floor(key / CELLS)];
        const name = `${x.metric.name} from ${shown(x.low + (column / CELLS) * (x.high - x.low))}, ${y.metric.name} from ${shown(y.low + (line / CELLS) * (y.high - y.low))}: ${many(cell.length, "case")}`;
        const look = {
          class: "bin",
          x: PLOT.left + column * wide,
          width: wide - 1,
          y: PLOT.bottom - (line + 1) * tall,
          height: tall - 1,
        };
        return stop(
          name,
          () => this.#listed(name, cell, x),
          svg("rect", { ...look, "fill-opacity": 0.15 + (0.85 * Math.log1p(cell.length)) / Math.log1p(most) }),
        );
      });
    return { nodes, most: 0 };
  }

  /** The cases of a bin, the worst first. */
  #listed(name, rows, x) {
    const sign = x.metric.better === "higher" ? 1 : -1;
    const sorted = [...rows].sort((a, b) => sign * (x.scores[a] - x.scores[b]) || a - b);
    this.list.replaceChildren(
      el("p", { class: "quiet" }, sorted.length > LISTED ? `${name}. The first ${LISTED}:` : `${name}.`),
      el(
        "ul",
        { class: "inline-list" },
        sorted
          .slice(0, LISTED)
          .map((row) =>
            el(
              "li",
              {},
              el(
                "button",
                { type: "button", class: "link", on: { click: () => this.router.go(address.ofCase(this.run.nodeid(row))) } },
                said(this.run.cases[this.run.caseOf[row]].key),
              ),
              ` ${shown(x.scores[row])}`,
            ),
          ),
      ),
    );
    announce(`${name}, listed below the chart.`);
  }
}

function shareOf(axis, value) {
  return Math.min(1, Math.max(0, (value - axis.low) / (axis.high - axis.low)));
}

/** A part of a drawing that can be clicked and, by arrow keys, walked to. */
function stop(name, act, ...shapes) {
  const press = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  };
  return svg(
    "g",
    { role: "button", tabindex: "-1", "data-stop": "", on: { click: act, keydown: press } },
    svg("title", {}, name),
    svg("g", { "aria-hidden": "true" }, ...shapes),
  );
}

/** Arrow keys walk from stop to stop; only one of them is in the order of Tab. */
function roam(event, root) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  if (!(event.key in steps)) return;
  const stops = [...root.querySelectorAll("[data-stop]")];
  const place = stops.indexOf(document.activeElement);
  if (place < 0) return;
  event.preventDefault();
  const next = stops[(place + steps[event.key] + stops.length) % stops.length];
  document.activeElement.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
