// The eye's levels: domains, evaluators, metrics, models, and at the end the test cases of one model.

class Eye {
  constructor(run, opinions, panel, root) {
    Object.assign(this, { run, opinions, panel, root });
    this.path = [];
    this.draw();
  }

  /** Go to a level: [domain, evaluator id, metric key, model key], or fewer of these. */
  go(path, focus = true) {
    this.path = this.#known(path);
    this.draw();
    address.show(this.path.length ? address.ofEye(this.path) : "#eye");
    if (!focus) return;
    this.root.querySelector(".centre[role=button], .dots-back, .segments [tabindex='0']")?.focus({ preventScroll: true });
    announce(this.#level().title);
  }

  draw() {
    const level = this.#level();
    const picture = el("div", { class: "eye-picture", on: { keydown: (event) => this.#key(event) } });
    const list = el("div", { class: "eye-list" }, this.#list(level));
    const bars = el("div", { class: "eye-bars", hidden: true });
    const compare = (wanted) => {
      if (wanted) bars.replaceChildren(el("h3", {}, "Models compared"), barChart(this.run, level.pairs));
      bars.hidden = !wanted;
      list.hidden = wanted;
    };
    const toggle = el(
      "button",
      { type: "button", class: "plain", "aria-pressed": "false", on: { click: () => pressed(toggle, compare) } },
      "Compare the models",
    );
    if (this.path.length === 4) picture.append(this.#dots());
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
      el(
        "div",
        { class: this.path.length === 4 ? "eye-frame dots-frame" : "eye-frame" },
        picture,
        this.path.length === 4 ? null : el("div", { class: "eye-side" }, toggle, list, bars),
      ),
    );
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
      ...this.#summed(own.map((line) => problemsOf(line))),
      act: () => this.go([name]),
      children: own.map((line) => this.#evaluator(line, false)),
    };
  }

  #evaluator(line, finer) {
    return {
      label: line.name,
      ...problemsOf(line),
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
      ...problemsOf(line, metric),
      act: () => this.go([line.domain, line.id, metric.key]),
      children: finer ? this.#models(line, metric) : [],
    };
  }

  #models(line, metric) {
    return this.run.models.flatMap(({ key, name }, place) => {
      const cell = metric.models[place];
      if (!cell) return [];
      return [
        {
          label: name,
          value: shown(cell.value),
          ...problemsOf(line, metric, place),
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

  #summed(parts) {
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    const level = Math.min(...parts.map((part) => part.level));
    return { count, level, worst: this.run.meta.severities[level] ?? "low", missed: parts.some((part) => part.missed) };
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
              class: child.count || child.missed ? `item problem ${child.worst}` : "item fine",
              on: { click: child.act },
            },
            el("span", { class: "item-name" }, said(child.name ?? child.label)),
            el("span", { class: "item-value" }, outer ? child.label : (child.value ?? "")),
            el(
              "span",
              { class: "item-state" },
              child.count ? `${many(child.count, "problem")}, ${child.worst}` : child.missed ? "misses its threshold" : "✓ fine",
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
    const chart = new DotChart(this.run, this.opinions, this.panel, { evaluator, metric, model });
    return el(
      "div",
      {},
      el(
        "div",
        { class: "dots-head" },
        el("button", { type: "button", class: "plain dots-back", on: { click: () => this.#up() } }, "↩ Close"),
        el(
          "p",
          {},
          el("strong", {}, said(this.run.models[model].name)),
          " on ",
          said(entry.name),
          ", mean ",
          shown(entry.models[model]?.value),
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

/** How many problems an evaluator has, on one metric, of one model; and whether a mean misses a threshold.
 *
 * Problems that name no metric count to the primary one; those that name no model, to every model.
 */
function problemsOf(evaluator, metric = null, model = null) {
  let count = 0;
  let level = 3;
  for (const [about, of, severity, times] of evaluator.problems) {
    const place = about < 0 ? evaluator.metrics.findIndex(({ primary }) => primary) : about;
    if (metric && evaluator.metrics[place] !== metric) continue;
    if (model !== null && of >= 0 && of !== model) continue;
    count += times;
    level = Math.min(level, severity);
  }
  const metrics = metric ? [metric] : evaluator.metrics;
  const missed = metrics.some(
    (entry) => entry.judged && (model === null ? entry.models : [entry.models[model]]).some((cell) => cell?.passes === false),
  );
  return { count, level, worst: ["high", "medium", "low"][level] ?? "medium", missed };
}
