// The list of test cases: filters, search and table together.

const FIRST_NAMES = 3;

class CaseList {
  constructor(run, opinions, panel, root) {
    Object.assign(this, { run, opinions, panel, root });
    this.search = new Search(run);
    this.filters = { ...EVERYTHING };
    this.marks = null;
    this.count = el("p", { class: "quiet", role: "status" });
    this.table = new Table(
      [
        ["Verdict", "verdict-cell"],
        ["Test case", "case-cell"],
        ["Model", "model-cell"],
        ["Scores and misses", "why-cell"],
      ],
      (row) => this.#cells(row),
      (row, rows) => panel.open(row, rows),
    );
    this.#build();
  }

  /** Show what the address asks for. */
  adopt(filters) {
    this.filters = { ...EVERYTHING, ...Object.fromEntries(Object.entries(filters).filter(([name]) => name in EVERYTHING)) };
    this.#build();
    document.getElementById("cases").scrollIntoView();
  }

  #build() {
    const form = new FilterForm(this.run, this.filters, (changes, whole) => this.#change(changes, whole));
    const { items, shown: listed } = this.run.meta;
    this.root.replaceChildren(
      form.root,
      this.count,
      this.table.root,
      items > listed
        ? el(
            "p",
            { class: "left-out" },
            `${counted(items - listed)} more passing rows are only in the files: the page lists ${counted(listed)}.`,
          )
        : "",
    );
    this.#look();
  }

  #change(changes, whole) {
    const before = this.filters.q;
    this.filters = { ...this.filters, ...changes };
    address.show(address.ofCases(this.filters));
    if (whole) this.#build();
    else if (this.filters.q !== before) this.#look();
    else this.#draw();
  }

  async #look() {
    if (!this.filters.q.trim()) {
      this.search.find("");
      this.marks = null;
      this.#draw();
      return;
    }
    await this.search.find(this.filters.q, (marks, share) => {
      this.marks = marks;
      this.#draw(share);
    });
  }

  #draw(share = 1) {
    const rows = filteredRows(this.run, this.opinions, this.filters).filter((row) => !this.marks || this.marks[row]);
    if (this.filters.order === "score") this.#sort(rows);
    this.table.show(rows);
    const searching = share < 1 ? ` Looking through the texts: ${Math.round(100 * share)} %.` : "";
    this.count.textContent = `${many(rows.length, "row")} of ${counted(this.run.count)}.${searching}`;
  }

  /** The evaluator whose scores are shown and sorted by, if one alone is chosen. */
  #single() {
    const places = chosenEvaluators(this.run, this.filters) ?? [...this.run.evaluators.keys()];
    return places.length === 1 ? places[0] : -1;
  }

  /** The lowest goodness first: of the evaluator that is chosen, or of any. */
  #sort(rows) {
    const places = chosenEvaluators(this.run, this.filters) ?? [...this.run.evaluators.keys()];
    const columns = places.map((place) => {
      const { metrics } = this.run.evaluators[place];
      const primary = Math.max(
        0,
        metrics.findIndex((metric) => metric.primary),
      );
      return [this.opinions[place].scores[primary], metrics[primary].better === "higher" ? 1 : -1];
    });
    const least = new Float64Array(this.run.count).fill(Infinity);
    for (const row of rows) {
      for (const [scores, sign] of columns) if (sign * scores[row] < least[row]) least[row] = sign * scores[row];
    }
    rows.sort((a, b) => (least[a] === least[b] ? a - b : least[a] - least[b]));
  }

  #cells(row) {
    const { run } = this;
    const line = run.cases[run.caseOf[row]];
    return [
      el(
        "td",
        { role: "gridcell" },
        verdictMark(run.verdict(row)),
        run.flagsOf[row] & FLIPPED ? el("span", { class: "flip-mark", title: "a metric flipped" }, " ⇄ flip") : null,
      ),
      el(
        "td",
        { role: "gridcell" },
        el(
          "span",
          { class: "line" },
          el("strong", {}, said(line.key)),
          el("span", { class: "on-phone" }, " · ", said(run.models[run.modelOf[row]].name)),
        ),
        el("span", { class: "line quiet", dir: "auto" }, line.question),
      ),
      el("td", { role: "gridcell" }, el("span", { class: "line" }, said(run.models[run.modelOf[row]].name))),
      el("td", { role: "gridcell" }, this.#why(row)),
    ];
  }

  #why(row) {
    const { run, opinions } = this;
    const single = this.#single();
    if (single >= 0) {
      const { metrics } = run.evaluators[single];
      const primary = Math.max(
        0,
        metrics.findIndex((metric) => metric.primary),
      );
      return el(
        "span",
        { class: "line" },
        shown(opinions[single].scores[primary][row]),
        " ",
        stateMark(run.meta.states[opinions[single].states[row]]),
      );
    }
    const names = (wanted) => {
      const code = run.meta.states.indexOf(wanted);
      return run.evaluators.filter((_, place) => opinions[place].states[row] === code).map(({ name }) => name);
    };
    const lines = [
      ["✗", names("failed"), "miss"],
      ["!", names("error"), "warn"],
    ].filter(([, found]) => found.length);
    return lines.map(([sign, found, style]) => {
      const more = found.length > FIRST_NAMES ? ` and ${found.length - FIRST_NAMES} more` : "";
      return el("span", { class: `line ${style}` }, `${sign} `, said(found.slice(0, FIRST_NAMES).join(", ")), more);
    });
  }
}
