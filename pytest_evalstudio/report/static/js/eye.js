// The eye's levels: domains, evaluators, metrics, models, and at the end the test cases of one model.

const RADIAL_MODELS = 8;

class Eye {
  constructor(run, opinions, router, root) {
    Object.assign(this, { run, opinions, router, root });
    this.path = [];
    this.draw();
  }

  /** Go to a level: [domain, evaluator id, metric key, model key], or fewer of these. */
  go(path) {
    this.router.go(address.ofEye(this.#known(path)));
    this.root.querySelector(".centre[role=button], .level-back, .segments [tabindex='0']")?.focus({ preventScroll: true });
    announce(this.#level().title);
  }

  /** Show a level without a change of the address. */
  show(path) {
    const known = this.#known(path);
    if (known.join("\u0000") === this.path.join("\u0000")) return;
    this.path = known;
    this.draw();
  }

  draw() {
    const level = this.#level();
    const picture = el("div", { class: "eye-picture", on: { keydown: (event) => this.#key(event) } });
    const list = el("div", { class: "eye-list" }, this.#list(level));
    const bars = el("div", { class: "eye-bars", hidden: true });
    const compare = (wanted) => {
      if (wanted) bars.replaceChildren(el("h3", {}, "Models compared"), ...this.#plots(level.pairs));
      bars.hidden = !wanted;
      list.hidden = wanted;
    };
    const toggle = el(
      "button",
      { type: "button", class: "plain", "aria-pressed": "false", on: { click: () => pressed(toggle, compare) } },
      "Compare the models",
    );
    const ranked = this.path.length > 0 && this.run.models.length > RADIAL_MODELS;
    const flat = ranked || this.path.length === 4;
    if (this.path.length === 4) picture.append(this.#dots());
    else if (ranked) picture.append(this.#back(), el("div", { class: "plots" }, this.#plots(level.pairs)));
    else
      picture.append(
        rings(level, {
          title: level.title,
          note: level.above,
          act: this.path.length ? () => this.#up() : null,
          hover: (on) => compare(on || toggle.getAttribute("aria-pressed") === "true"),
        }),
      );
    this.root.replaceChildren(
      this.#crumbs(),
      this.#links() ?? "",
      el(
        "div",
        { class: flat ? "eye-frame dots-frame" : "eye-frame" },
        picture,
        flat ? null : el("div", { class: "eye-side" }, toggle, list, bars),
      ),
    );
  }

  /** Ranked dot plots of all models, one per metric; a model leads to its test cases. */
  #plots(pairs) {
    return pairs.map(([evaluator, metric]) =>
      el(
        "section",
        { class: "plot" },
        el(
          "h3",
          {},
          el(
            "button",
            { type: "button", class: "link", on: { click: () => this.go([evaluator.domain, evaluator.id, ...(this.path.length ? [metric.key] : [])]) } },
            said(pairs.every(([other]) => other === evaluator) ? metric.name : evaluator.name),
          ),
          el("span", { class: "quiet" }, ` ${metric.name === evaluator.name ? "" : `${said(metric.name).textContent}, `}${ruled(metric)}${evaluator.safety && metric.primary ? ", worst case" : ""}`),
        ),
        rankedPlot(this.run, evaluator, metric, (place) => this.go([evaluator.domain, evaluator.id, metric.key, this.run.models[place].key])),
      ),
    );
  }

  /** Where the selection leads: its failures, and its cases in the matrix. */
  #links() {
    const [, evaluator, , model] = this.path;
    if (!evaluator) return null;
    const filters = { evaluator, model };
    return el(
      "p",
      { class: "eye-links" },
      el("a", { href: address.ofTab("failures", filters) }, "Failures of this selection"),
      " ",
      el("a", { href: address.ofTab("matrix", filters) }, "Its cases in the matrix"),
    );
  }

  #back() {
    return el("button", { type: "button", class: "plain level-back", on: { click: () => this.#up() } }, "↩ Up one level");
  }

  #key(event) {
    if (event.key !== "Escape" || !this.path.length) return;
    event.preventDefault();
    this.#up();
  }

  #up() {
    this.go(this.path.slice(0, -1));
  }

  /** As much of a path as this run has. */
  #known([domain, id, key, model] = []) {
    const evaluator = this.run.evaluators.find((line) => line.id === id && line.domain === domain);
    const metric = evaluator?.metrics.find((line) => line.key === key);
    if (!this.run.evaluators.some((line) => line.domain === domain)) return [];
    if (!evaluator) return [domain];
    if (!metric) return [domain, id];
    return this.run.models.some((line) => line.key === model) ? [domain, id, key, model] : [domain, id, key];
  }

  #level() {
    const [domain, id, key] = this.path;
    const evaluators = this.run.evaluators;
    if (!domain) {
      const domains = [...new Set(evaluators.map((line) => line.domain))];
      return {
        title: "All domains",
        above: "",
        children: domains.map((name) => this.#domain(name)),
        pairs: evaluators.map(primaryOf),
      };
    }
    const own = evaluators.filter((line) => line.domain === domain);
    if (!id) {
      return {
        title: titled(domain),
        above: "all domains",
        children: own.map((line) => this.#evaluator(line, true)),
        pairs: own.map(primaryOf),
      };
    }
    const evaluator = evaluators.find((line) => line.id === id);
    if (!key) {
      const pairs = evaluator.metrics.map((metric) => [evaluator, metric]);
      return {
        title: evaluator.name,
        above: titled(domain),
        children: evaluator.metrics.map((metric) => this.#metric(evaluator, metric, true)),
        pairs,
      };
    }
    const metric = evaluator.metrics.find((line) => line.key === key);
    return { title: metric.name, above: evaluator.name, children: this.#scores(evaluator, metric), pairs: [[evaluator, metric]] };
  }

  #domain(name) {
    const own = this.run.evaluators.filter((line) => line.domain === name);
    return {
      label: titled(name),
      ...summed(own.map((line) => stateOf(line))),
      act: () => this.go([name]),
      children: own.map((line) => this.#evaluator(line, false)),
    };
  }

  #evaluator(line, finer) {
    return {
      label: line.name,
      ...stateOf(line),
      act: () => this.go([line.domain, line.id]),
      children: finer ? line.metrics.map((metric) => this.#metric(line, metric, false)) : [],
    };
  }

  #metric(line, metric, finer) {
    const values = metric.models.filter(Boolean).map(({ value }) => Number(value));
    return {
      label: metric.name,
      value:
        finer && values.length === 1
          ? shown(values[0])
          : finer && values.length
            ? `${shown(Math.min(...values))} – ${shown(Math.max(...values))}`
            : "",
      ...stateOf(line, metric),
      act: () => this.go([line.domain, line.id, metric.key]),
      children: finer ? this.#models(line, metric) : [],
    };
  }

  #models(line, metric) {
    return this.run.models.flatMap(({ key, name, label }, place) => {
      const cell = metric.models[place];
      if (!cell) return [];
      return [
        {
          label,
          full: name,
          value: shownShort(cell.value),
          ...stateOf(line, metric, place),
          act: () => this.go([line.domain, line.id, metric.key, key]),
          children: [],
        },
      ];
    });
  }

  /** The last ring: scores inside, as far out as they are good; the models' names outside. */
  #scores(line, metric) {
    return this.#models(line, metric).map((child, number) => {
      const cells = metric.models.filter(Boolean);
      const fill = goodness(metric, cells[number].value);
      return {
        ...child,
        label: child.value,
        value: "",
        fill: fill === null ? 0 : Math.max(0.02, fill),
        children: [{ ...child }],
        name: child.label,
      };
    });
  }

  #list(level) {
    if (!level.children.length) return el("p", { class: "quiet" }, "Nothing was scored here.");
    const outer = this.path.length === 3;
    return el(
      "ul",
      { class: "eye-items" },
      level.children.map((child) =>
        el(
          "li",
          {},
          el(
            "button",
            {
              type: "button",
              class: `item ${child.state}`,
              on: { click: child.act },
            },
            el("span", { class: "item-name" }, said(child.name ?? child.label)),
            el("span", { class: "item-value" }, outer ? child.label : (child.value ?? "")),
            el(
              "span",
              { class: "item-state" },
              stateWords(child),
            ),
          ),
        ),
      ),
    );
  }

  #crumbs() {
    const { run, path } = this;
    const evaluator = run.evaluators.find((line) => line.id === path[1]);
    const names = [
      "All domains",
      titled(path[0] ?? ""),
      evaluator?.name,
      evaluator?.metrics.find((metric) => metric.key === path[2])?.name,
      run.models.find(({ key }) => key === path[3])?.name,
    ].slice(0, path.length + 1);
    return el(
      "nav",
      { class: "crumbs", "aria-label": "Where you are in the eye" },
      el(
        "ol",
        {},
        names.map((name, place) =>
          el(
            "li",
            {},
            place === path.length
              ? el("span", { "aria-current": "location" }, said(name))
              : el("button", { type: "button", class: "link", on: { click: () => this.go(path.slice(0, place)) } }, said(name)),
          ),
        ),
      ),
    );
  }

  #dots() {
    const [, id, key, modelKey] = this.path;
    const evaluator = this.run.evaluators.findIndex((line) => line.id === id);
    const metric = this.run.evaluators[evaluator].metrics.findIndex((line) => line.key === key);
    const model = this.run.models.findIndex((line) => line.key === modelKey);
    const entry = this.run.evaluators[evaluator].metrics[metric];
    const chart = new DotChart(this.run, this.opinions, this.router, { evaluator, metric, model });
    return el(
      "div",
      {},
      el(
        "div",
        { class: "dots-head" },
        this.#back(),
        el(
          "p",
          {},
          el("strong", {}, said(this.run.models[model].name)),
          " on ",
          said(entry.name),
          ", mean ",
          shown(entry.models[model]?.mean),
          ` (${ruled(entry)})`,
        ),
      ),
      chart.root,
    );
  }
}

function primaryOf(evaluator) {
  return [evaluator, evaluator.metrics.find(({ primary }) => primary) ?? evaluator.metrics[0]];
}

function titled(text) {
  return text.charAt(0).toUpperCase() + text.slice(1).replaceAll("_", " ");
}

function pressed(button, act) {
  const now = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(now));
  act(now);
}

/** The state of an evaluator, on one metric, of one model: how many of its assessments miss the threshold.
 *
 * It counts what the tables show, so that a segment and a table never disagree.
 */
function stateOf(evaluator, metric = null, model = null) {
  const metrics = metric ? [metric] : [primaryOf(evaluator)[1]];
  let [missed, judged, scored, failing, answers] = [0, 0, 0, 0, 0];
  for (const entry of metrics) {
    for (const cell of model === null ? entry.models : [entry.models[model]]) {
      scored += cell ? 1 : 0;
      judged += cell?.state === "misses" || cell?.state === "meets" ? 1 : 0;
      missed += cell?.state === "misses" ? 1 : 0;
      failing += cell?.failing ?? 0;
      answers += cell?.judged ?? 0;
    }
  }
  return summed([{ count: missed, judged, scored, failing, answers, unscored: scored ? 0 : 1, parts: 1 }]);
}

/** The state of several parts together. */
function summed(parts) {
  const total = (name) => parts.reduce((sum, part) => sum + part[name], 0);
  const names = ["count", "judged", "scored", "failing", "answers", "unscored", "parts"];
  const sums = Object.fromEntries(names.map((name) => [name, total(name)]));
  return { ...sums, state: stateFrom(sums) };
}

/** "partial": the means meet their thresholds, and answers miss them; "gaps": some parts have no score. */
function stateFrom({ count, judged, scored, failing, unscored }) {
  if (count) return "misses";
  if (judged && failing) return "partial";
  if (judged) return unscored ? "gaps" : "meets";
  return scored ? "unjudged" : "unscored";
}

function stateWords({ state, count, judged, failing, answers, unscored, parts }) {
  if (state === "misses") return judged > 1 ? `✗ ${count} of ${judged} miss the threshold` : "✗ misses the threshold";
  if (state === "partial") return `✗ ${counted(failing)} of ${many(answers, "answer")} ${failing === 1 ? "misses" : "miss"} the threshold, the mean meets it`;
  if (state === "gaps") return `✓ meets the threshold; ${unscored} of ${many(parts, "evaluator")} not scored`;
  return { meets: "✓ meets the threshold", unjudged: "no threshold", unscored: "not scored" }[state];
}

/** The small eye of the overview: its segments lead to the large one. */
class GlanceEye {
  constructor(run, router, root) {
    const domains = [...new Set(run.evaluators.map(({ domain }) => domain))];
    const level = {
      title: "All domains",
      children: domains.map((name) => {
        const own = run.evaluators.filter(({ domain }) => domain === name);
        return {
          label: titled(name),
          ...summed(own.map((line) => stateOf(line))),
          act: () => router.go(address.ofEye([name])),
          children: own.map((line) => ({
            label: line.name,
            ...stateOf(line),
            act: () => router.go(address.ofEye([name, line.id])),
            children: [],
          })),
        };
      }),
    };
    root.replaceChildren(rings(level, { title: "All domains", note: "", act: null, hover: () => {} }, true));
  }
}
