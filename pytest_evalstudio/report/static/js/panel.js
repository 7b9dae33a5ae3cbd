// The case panel: everything about one case and model, at the side of the page.

class Panel {
  constructor(run) {
    this.run = run;
    this.root = document.getElementById("panel");
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        this.close();
      }
    });
  }

  /** Show a row.
   *
   * `rows`: those that "previous" and "next" lead to.
   */
  async open(row, rows = [row]) {
    const opener = this.root.contains(document.activeElement) ? this.opener : document.activeElement;
    const turn = (this.turn ?? 0) + 1;
    this.turn = turn;
    const [texts, opinions] = [await this.run.texts(row), await this.run.opinions()];
    if (turn !== this.turn) return;
    this.opener = opener;
    this.row = row;
    this.rows = rows;
    this.root.replaceChildren(this.#head(), ...this.#body(texts, opinions));
    this.root.hidden = false;
    this.root.scrollTop = 0;
    this.root.focus({ preventScroll: true });
    address.show(address.ofCase(this.run.nodeid(row)));
  }

  close() {
    this.root.hidden = true;
    this.root.replaceChildren();
    address.show("#cases");
    if (this.opener?.isConnected) this.opener.focus({ preventScroll: true });
  }

  #head() {
    const { run, row, rows } = this;
    const line = run.cases[run.caseOf[row]];
    const place = rows.indexOf(row);
    const step = (to, label, name) =>
      el(
        "button",
        { type: "button", disabled: rows[to] === undefined, "aria-label": name, on: { click: () => this.open(rows[to], rows) } },
        label,
      );
    return el(
      "div",
      { class: "panel-head" },
      el(
        "div",
        { class: "panel-buttons" },
        place >= 0 && rows.length > 1 && [step(place - 1, "‹", "Previous case"), step(place + 1, "›", "Next case")],
        el("button", { type: "button", class: "close", "aria-label": "Close", on: { click: () => this.close() } }, "×"),
      ),
      el("p", { class: "kicker" }, said(run.meta.files[line.file])),
      el("h2", { id: "panel-title" }, said(line.key)),
      el("p", { class: "byline" }, verdictMark(run.verdict(row)), " ", el("strong", {}, said(run.models[run.modelOf[row]].name))),
    );
  }

  #body(texts, opinions) {
    const scores = this.#scores(opinions, texts);
    if (!texts) {
      return [
        scores,
        el(
          "p",
          { class: "notice" },
          "The texts of this case are in the results files only: the page would have become too large.",
        ),
        ...this.#foot(null),
      ];
    }
    const answers = el("div", {});
    const draw = (run, evaluator) => answers.replaceChildren(...this.#answer(texts, opinions, run, evaluator, draw));
    draw(0, this.#colouring(texts.answers[0]));
    return [
      scores,
      texts.reason && panelPart("Reason", textBox(texts.reason)),
      panelPart("Prompt", textBox(texts.input)),
      texts.expected_output && panelPart("Expected answer", textBox(texts.expected_output)),
      texts.output_condition && panelPart("Condition", textBox(texts.output_condition)),
      answers,
      ...this.#foot(texts),
    ].filter(Boolean);
  }

  /** A card per evaluator, those that pass behind the others. */
  #scores(opinions, texts) {
    const { run, row } = this;
    const cards = { first: [], passing: [] };
    run.evaluators.forEach((evaluator, place) => {
      const state = run.meta.states[opinions[place].states[row]];
      if (state === "none") return;
      const scores = opinions[place].scores.map((column) => column[row]);
      const pile = state === "failed" || state === "error" ? cards.first : cards.passing;
      const metrics = evaluator.metrics.map((_, number) => run.metricOf(place, number, opinions, row));
      pile.push(scoreCard({ ...evaluator, metrics }, state, scores, texts?.reasons?.[evaluator.id]));
    });
    const { first, passing } = cards;
    if (!first.length && !passing.length) return null;
    const rest = passing.length
      ? el(
          "details",
          { class: "passing", open: !first.length },
          el("summary", {}, `${many(passing.length, "evaluator")} without a complaint`),
          el("ul", { class: "score-cards" }, passing),
        )
      : null;
    return panelPart("Scores", [first.length ? el("ul", { class: "score-cards" }, first) : null, rest]);
  }

  /** The evaluator whose sentences are coloured first: one that the case failed, if it marked any. */
  #colouring(answer) {
    const marking = Object.keys(answer.fragments ?? {}).filter((id) =>
      this.run.evaluators.some((evaluator) => evaluator.id === id),
    );
    return marking[0] ?? "";
  }

  #answer(texts, opinions, number, colouring, draw) {
    const answer = texts.answers[number];
    const evaluator = this.run.evaluators.findIndex(({ id }) => id === colouring);
    const place = Math.max(
      0,
      this.run.evaluators[evaluator]?.metrics.findIndex((entry) => entry.colours),
    );
    const metric = evaluator < 0 ? null : this.run.metricOf(evaluator, place, opinions, this.row);
    const fragments = metric ? answer.fragments?.[colouring] : [];
    const marking = this.run.evaluators.filter(({ id }) => answer.fragments?.[id]);
    const tools = el(
      "div",
      { class: "tools" },
      texts.answers.length > 1 &&
        chooser(
          "Repeat",
          texts.answers.map((_, place) => [String(place), `${place + 1} of ${texts.answers.length}`]),
          String(number),
          (value) => {
            draw(Number(value), this.#colouring(texts.answers[Number(value)]));
          },
        ),
      marking.length > 0 &&
        chooser("Colours of", [...marking.map(({ id, name }) => [id, name]), ["", "none"]], colouring, (value) =>
          draw(number, value),
        ),
    );
    const [beginning] = parted(answer.text);
    return [
      panelPart("Actual answer", [
        tools.childElementCount ? tools : null,
        answer.error && el("p", { class: "notice" }, "Error: ", said(answer.error)),
        beginning ? textBox(answer.text, fragments, metric) : el("p", { class: "quiet" }, "no answer"),
      ]),
      this.#context(texts, answer, fragments, metric),
      panelPart("Cost", [this.#cost(answer)]),
    ].filter(Boolean);
  }

  #context(texts, answer, fragments, metric) {
    if (!answer.context) {
      return texts.contextsElsewhere
        ? panelPart("Context", [el("p", { class: "left-out" }, "The retrieved chunks are in the results files only.")])
        : null;
    }
    const { chunks, sources, left_out: leftOut } = answer.context;
    return panelPart("Context", [
      chunks.map((chunk, place) => {
        const [beginning] = parted(chunk);
        const found = (fragments ?? []).some((span) => span.part === `context:${place}`);
        return el(
          "details",
          { class: "chunk", open: found },
          el(
            "summary",
            {},
            `${place + 1}. `,
            said(sources[place] ?? ""),
            " ",
            el("span", { class: "quiet" }, said(beginning.slice(0, 60))),
          ),
          textBox(chunk, fragments, metric, `context:${place}`),
        );
      }),
      leftOut > 0 && el("p", { class: "left-out" }, `${counted(leftOut)} more chunks are in the results files.`),
    ]);
  }

  #cost(answer) {
    const parts = [
      ["Cost", answer.cost === null || answer.cost === undefined ? "not known" : `${shown(answer.cost)} USD`],
      ["Duration", answer.duration_s === null || answer.duration_s === undefined ? "not known" : `${shown(answer.duration_s)} s`],
      ["Retries", answer.retries ?? 0],
      ...Object.entries(answer.usage ?? {}).map(([name, count]) => [name.replaceAll("_", " "), shown(count)]),
    ];
    return el(
      "dl",
      { class: "facts" },
      parts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, String(value)))),
    );
  }

  #foot(texts) {
    const { run, row } = this;
    const nodeid = run.nodeid(row);
    const command = pytestCommand(nodeid);
    const others = run.siblings(row).filter((other) => other !== row);
    return [
      texts?.flips &&
        panelPart("Flips", [
          el(
            "ul",
            { class: "plain-list" },
            texts.flips.map((flip) => this.#flip(flip)),
          ),
        ]),
      others.length > 0 &&
        panelPart("The same case", [
          el(
            "ul",
            { class: "inline-list" },
            others.map((other) =>
              el(
                "li",
                {},
                verdictMark(run.verdict(other)),
                " ",
                el(
                  "button",
                  { type: "button", class: "link", on: { click: () => this.open(other) } },
                  said(run.models[run.modelOf[other]].name),
                ),
              ),
            ),
          ),
        ]),
      panelPart("Run again", [
        command
          ? el("p", { class: "command" }, el("code", {}, said(command)), " ", copyButton(command, "Copy"))
          : el("p", { class: "quiet" }, said(nodeid), " has characters that a shell cannot be trusted with."),
      ]),
      texts?.categories &&
        panelPart("Categories", [
          el(
            "p",
            { class: "tags" },
            texts.categories.map((name) => el("span", { class: "tag" }, said(name))),
          ),
        ]),
    ].filter(Boolean);
  }

  #flip(flip) {
    const { run, row } = this;
    const source = run.siblingOf(row, flip.source);
    const original =
      source < 0
        ? said(flip.source)
        : el("button", { type: "button", class: "link", on: { click: () => this.open(source) } }, said(flip.source));
    const how = flip.direction === "pass_to_fail" ? "pass → fail" : "fail → pass";
    const words = ` ${shown(flip.source_score)} → ${shown(flip.score)}, threshold ${shown(flip.threshold)}, by `;
    return el(
      "li",
      {},
      el("strong", {}, how),
      " ",
      said(`${flip.evaluator}.${flip.metric}`),
      words,
      said(flip.perturbators.join(", ")),
      "; original: ",
      original,
    );
  }
}

function panelPart(title, content) {
  return el("section", { class: "panel-part" }, el("h3", { class: "panel-title" }, title), ...content.flat(3).filter(Boolean));
}

/** One evaluator's metrics with their thresholds, and why. */
function scoreCard(evaluator, state, scores, reason) {
  const figures = evaluator.metrics
    .map((metric, number) => [metric, scores[number]])
    .filter(([metric, score]) => !Number.isNaN(score) && (!evaluator.boolean || metric.primary || score !== 0))
    .map(([metric, score]) =>
      el(
        "div",
        { class: "figure-line", title: metric.description },
        el("dt", {}, said(metric.name)),
        el(
          "dd",
          {},
          shown(score),
          " ",
          limited(metric) && passMark(meets(metric, score)),
          " ",
          el("span", { class: "quiet" }, limited(metric) ? ruled(metric) : ""),
        ),
      ),
    );
  return el(
    "li",
    { class: `score-card ${state}` },
    el("h4", {}, el("a", { href: `#${evaluator.anchor}` }, said(evaluator.name)), " ", stateMark(state)),
    figures.length ? el("dl", {}, figures) : null,
    reason && el("p", { class: "quiet", dir: "auto" }, reason),
  );
}

const VERDICT_SIGNS = { passed: "✓", failed: "✗", error: "!", skipped: "–", xfailed: "x", xpassed: "X", not_run: "○" };

function verdictMark(verdict) {
  return el(
    "span",
    { class: `verdict ${verdict}` },
    el("span", { "aria-hidden": "true" }, VERDICT_SIGNS[verdict] ?? "?"),
    ` ${verdict}`,
  );
}

function stateMark(state) {
  const words = {
    passed: "passes",
    failed: "misses its threshold",
    error: "could not judge",
    not_applicable: "not applicable",
    scored: "scored",
  };
  return el("span", { class: `state ${state}` }, words[state]);
}

function passMark(passes) {
  return el(
    "span",
    { class: passes ? "ok" : "miss" },
    el("span", { "aria-hidden": "true" }, passes ? "✓" : "✗"),
    aside(passes ? " meets the threshold" : " misses the threshold"),
  );
}
