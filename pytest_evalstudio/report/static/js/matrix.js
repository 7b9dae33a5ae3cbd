// The matrix: a line per test case, a column per model; filters, search, export.

const TEXT_COLUMNS = 3; // more of them leave no room for an excerpt
const CELL_CHARS = 240;

class Matrix {
  constructor(run, opinions, router, root) {
    Object.assign(this, { run, opinions, router, root });
    this.search = new Search(run);
    this.filters = { ...EVERYTHING };
    this.hiddenModels = new Set();
    this.marks = null;
    this.count = el("p", { class: "quiet", role: "status" });
    this.chips = el("div", { class: "chips" });
    this.empty = el(
      "p",
      { class: "notice", hidden: true },
      "Nothing matches. ",
      el("button", { type: "button", class: "link", on: { click: () => this.#clear() } }, "Clear filters"),
    );
    this.table = new Table(
      (line) => this.#cells(line),
      (line, lines, { row }) => this.#open(line, lines, row),
    );
    this.lines = [];
  }

  /** Show what an address asks for. */
  adopt(given) {
    const filters = filtersOf(given);
    if (this.built && Object.keys(EVERYTHING).every((name) => filters[name] === this.filters[name])) return;
    this.filters = filters;
    this.built = true;
    this.#build();
  }

  #build() {
    const form = new FilterForm(this.run, this.filters, (changes, how) => this.#change(changes, how));
    const { items, shown: listed } = this.run.meta;
    const save = (label, name, type, write) =>
      el(
        "button",
        { type: "button", class: "plain", on: { click: async () => download(name, type, write(await exported(this.run, this.opinions, this.#rows()))) } },
        label,
      );
    this.root.replaceChildren(
      form.root,
      el(
        "div",
        { class: "matrix-line" },
        this.chips,
        this.count,
        this.#columnChoice(),
        el(
          "span",
          { class: "exports" },
          el("span", { class: "quiet" }, "Export this view: "),
          save("CSV", "cases.csv", "text/csv", asCsv),
          save("JSON", "cases.json", "application/json", (lines) => JSON.stringify(lines, null, 1)),
          save("Markdown", "cases.md", "text/markdown", asMarkdown),
        ),
      ),
      this.empty,
      this.table.root,
      items > listed
        ? el(
            "p",
            { class: "left-out" },
            `${many(items - listed, "more passing row is", "more passing rows are")} only in the files: the page lists ${counted(listed)}.`,
          )
        : "",
    );
    this.#look();
  }

  #change(changes, { typing = false } = {}) {
    this.filters = { ...this.filters, ...changes };
    this.router.go(address.ofTab("matrix", this.filters), { replace: typing, quiet: true });
    if (typing) this.#look();
    else this.#build();
  }

  #clear() {
    this.#change({ ...EVERYTHING });
  }

  #rows() {
    return this.lines.flatMap(({ rows }) => [...rows]);
  }

  async #look() {
    if (this.filters.tool) await this.run.loadTools();
    if (!this.filters.q.trim()) {
      this.search.find("");
      this.marks = null;
      await breathe();
      this.#draw();
      return;
    }
    await this.search.find(this.filters.q, (marks, share) => {
      this.marks = marks;
      this.#draw(share);
    });
  }

  #draw(share = 1) {
    this.lines = filteredCases(this.run, this.opinions, this.filters, this.marks);
    if (this.filters.order === "score") this.#sortByScore();
    if (this.filters.order === "failures") this.#sortByFailures();
    this.models = this.#columns();
    this.#drawChips();
    this.empty.hidden = this.lines.length > 0 || share < 1;
    this.table.root.hidden = this.lines.length === 0;
    this.table.show(this.lines, this.#heads());
    const searching = share < 1 ? ` Searching the texts: ${Math.round(100 * share)} %.` : "";
    let answers = 0;
    for (const { rows } of this.lines) answers += rows.length;
    this.count.textContent = `${many(this.lines.length, "case")}, ${many(answers, "answer")} of ${counted(this.run.count)}.${searching}`;
  }

  #drawChips() {
    const words = filterWords(this.run, this.filters);
    this.chips.replaceChildren(
      ...words.map(([text, changes]) => chip(text, () => this.#change(changes))),
      ...(words.length > 1 ? [el("button", { type: "button", class: "link", on: { click: () => this.#clear() } }, "Clear filters")] : []),
    );
  }

  /** Boxes of the models whose columns are shown; nothing for a single model. */
  #columnChoice() {
    if (this.run.models.length < 2) return null;
    const boxes = this.run.models.map(({ name, label }, place) =>
      el(
        "label",
        { class: "column-choice", title: name },
        el("input", {
          type: "checkbox",
          checked: !this.hiddenModels.has(place),
          on: {
            change: (event) => {
              if (event.target.checked) this.hiddenModels.delete(place);
              else this.hiddenModels.add(place);
              this.#draw();
            },
          },
        }),
        said(label),
      ),
    );
    return el("details", { class: "column-choices" }, el("summary", {}, "Columns"), el("div", { class: "column-list", role: "group", "aria-label": "Columns" }, boxes));
  }

  /** The models with an answer in view: those of earlier files first, then in natural order. */
  #columns() {
    const { models, modelOf, cases } = this.run;
    const files = new Map();
    for (const { place, rows } of this.lines)
      for (const row of rows) if (!files.has(modelOf[row])) files.set(modelOf[row], cases[place].file);
    const shown = [...files.keys()].filter((model) => !this.hiddenModels.has(model));
    return shown.sort((a, b) => files.get(a) - files.get(b) || this.run.byName.compare(models[a].name, models[b].name));
  }

  #heads() {
    const upright = this.models.length > 5;
    this.table.grid.classList.toggle("with-texts", this.#hasTexts);
    this.table.grid.classList.toggle("narrow", this.models.length > 12 && !this.filters.evaluator);
    return [
      el("th", { scope: "col", class: "case-cell" }, "Question"),
      ...this.models.map((place) =>
        el(
          "th",
          { scope: "col", class: upright ? "model-cell upright" : "model-cell", title: this.run.models[place].name },
          el("span", {}, said(this.run.models[place].label)),
        ),
      ),
      el("th", { scope: "col", class: "rest-cell" }, "Failed by"),
    ];
  }

  #cells({ place, rows }) {
    const { run } = this;
    const line = run.cases[place];
    const all = run.rowsOf(place);
    const flags = rows.reduce((sum, row) => sum | run.flagsOf[row], 0);
    return [
      el(
        "th",
        { scope: "row", class: "case-cell" },
        el("span", { class: "line question", dir: "auto" }, line.question || line.key),
        el(
          "span",
          { class: "line key" },
          flags & CHANGES.regressed ? el("span", { class: "badge-word regressed" }, "regressed") : null,
          flags & FLIPPED ? el("span", { class: "badge-word" }, "flip") : null,
          shortKey(line.key),
        ),
      ),
      ...this.models.map((model) => this.#cell(all.find((row) => run.modelOf[row] === model), rows)),
      el("td", { role: "gridcell", class: "rest-cell" }, this.#why(rows)),
    ];
  }

  /** Whether the cells have room for the beginning of the answer and the reason. */
  get #hasTexts() {
    return !this.filters.evaluator && this.models.length <= TEXT_COLUMNS;
  }

  /** Fill a cell with the beginning of the answer, and of the reason where it did not pass. */
  async #fill(target, row) {
    const texts = await this.run.texts(row);
    if (!texts) return;
    const line = (text) => text.replace(/\s+/g, " ").slice(0, CELL_CHARS);
    const answer = texts.answers[0];
    const isFine = PASSING.has(this.run.verdict(row));
    target.replaceChildren(
      el("span", { class: "line", dir: "auto" }, line(parted(answer.text)[0]) || "no answer"),
      isFine || !texts.reason ? "" : el("span", { class: "line quiet", dir: "auto" }, line(parted(texts.reason)[0])),
    );
  }

  #cell(row, rows) {
    const { run, opinions } = this;
    if (row === undefined) return el("td", { role: "gridcell", class: "empty" }, aside("not asked"));
    const verdict = run.verdict(row);
    const faded = rows.includes(row) ? "" : " faded";
    const place = this.filters.evaluator ? run.evaluators.findIndex(({ id }) => id === this.filters.evaluator) : -1;
    const sign = el("span", { "aria-hidden": "true" }, VERDICT_SIGNS[verdict] ?? "?");
    if (place < 0 && this.#hasTexts) {
      const text = el("span", { class: "cell-text" });
      this.#fill(text, row);
      return el(
        "td",
        { role: "gridcell", class: `mark-cell text-cell ${verdict}${faded}`, "data-row": String(row), title: `${run.models[run.modelOf[row]].name}: ${verdict}` },
        el("span", { class: "cell-line" }, sign, aside(verdict), text),
      );
    }
    if (place < 0)
      return el(
        "td",
        { role: "gridcell", class: `mark-cell ${verdict}${faded}`, "data-row": String(row), title: `${run.models[run.modelOf[row]].name}: ${verdict}` },
        sign,
        aside(verdict),
      );
    const state = run.meta.states[opinions[place].states[row]];
    const metric = run.metricOf(place, primaryPlace(run.evaluators[place]), opinions, row);
    const score = opinions[place].scores[primaryPlace(run.evaluators[place])][row];
    const heat = Number.isNaN(score) || !limited(metric) ? "" : ` h${heatStep(metric, score)}`;
    const failed = state === "failed" || state === "error";
    return el(
      "td",
      { role: "gridcell", class: `mark-cell score-cell${heat}${faded}`, "data-row": String(row), title: `${run.models[run.modelOf[row]].name}: ${STATE_WORDS[state] ?? "not scored"}` },
      state === "none" || state === "not_applicable" ? "–" : state === "error" ? "!" : shownShort(score),
      failed && el("span", { class: "cross", "aria-hidden": "true" }, state === "error" ? "" : "✗"),
      aside(` ${STATE_WORDS[state] ?? "not scored"}`),
    );
  }

  /** The evaluators that fail any answer in view, each with the number of answers where there are several. */
  #why(rows) {
    const { run, opinions } = this;
    const failing = new Set(["failed", "error"].map((name) => run.meta.states.indexOf(name)));
    const parts = run.evaluators.flatMap(({ name }, place) => {
      const count = rows.filter((row) => failing.has(opinions[place].states[row])).length;
      return count ? [rows.length > 1 ? `${name} ${count}` : name] : [];
    });
    return el("span", { class: "line quiet", title: parts.join(", ") }, said(parts.join(", ")));
  }

  #sortByScore() {
    const chosen = this.run.evaluators.findIndex(({ id }) => id === this.filters.evaluator);
    const places = chosen < 0 ? [...this.run.evaluators.keys()] : [chosen];
    const columns = places.map((place) => {
      const primary = primaryPlace(this.run.evaluators[place]);
      const metric = this.run.evaluators[place].metrics[primary];
      const sign = metric.better === "higher" ? 1 : -1;
      return [this.opinions[place].scores[primary], distanceOf(metric) ?? ((value) => sign * value)];
    });
    const lowest = new Float64Array(this.run.cases.length).fill(Infinity);
    for (const { place, rows } of this.lines)
      for (const row of rows)
        for (const [scores, measure] of columns) {
          const share = measure(scores[row]);
          if (share < lowest[place]) lowest[place] = share;
        }
    this.lines.sort((a, b) => (lowest[a.place] === lowest[b.place] ? a.place - b.place : lowest[a.place] - lowest[b.place]));
  }

  #sortByFailures() {
    const failures = new Map(
      this.lines.map(({ place, rows }) => [place, rows.reduce((sum, row) => sum + Number(FAILING.has(this.run.verdict(row))), 0)]),
    );
    this.lines.sort((a, b) => failures.get(b.place) - failures.get(a.place) || a.place - b.place);
  }

  /** Open a case with the clicked answer, else with one that failed. */
  #open({ rows }, lines, clicked) {
    const row = clicked === undefined ? (rows.find((each) => FAILING.has(this.run.verdict(each))) ?? rows[0]) : Number(clicked);
    this.opened = lines.map((line) => line.rows.find((each) => FAILING.has(this.run.verdict(each))) ?? line.rows[0]);
    const place = lines.findIndex((line) => line.rows[0] !== undefined && this.run.caseOf[line.rows[0]] === this.run.caseOf[row]);
    this.opened[place] = row;
    this.router.go(address.ofCase(this.run.nodeid(row)));
  }
}
