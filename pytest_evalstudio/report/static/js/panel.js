// The case view: question and expectation pinned, up to four models' answers side by side.

const MOST_ANSWERS = 4;
const BETWEEN_PX = 300;
const TITLE_CHARS = 80;

class Panel {
  /** `list` gives the rows that "previous" and "next" lead to. */
  constructor(run, router, list) {
    Object.assign(this, { run, router, list });
    this.root = document.getElementById("panel");
    this.highlight = "auto";
    this.root.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The parts of the page that the view covers. */
  get #behind() {
    return [...document.body.children].filter((part) => part !== this.root && part.id !== "said" && !["SCRIPT", "STYLE"].includes(part.tagName));
  }

  get isOpen() {
    return !this.root.hidden;
  }

  /** Show a row, and some other models' answers next to it. */
  async open(row) {
    const turn = (this.turn ?? 0) + 1;
    this.turn = turn;
    const opinions = await this.run.opinions();
    const texts = new Map([[row, await this.run.texts(row)]]);
    if (turn !== this.turn) return;
    if (!this.isOpen) this.opener = document.activeElement;
    if (!this.isOpen) this.unfolded = false;
    const same = this.row !== undefined && this.run.caseOf[this.row] === this.run.caseOf[row];
    this.row = row;
    this.opinions = opinions;
    this.texts = texts;
    this.others = same ? this.others.filter((other) => other !== row) : this.#chosen(row);
    await this.#load();
    if (turn !== this.turn) return;
    this.#draw();
    this.root.hidden = false;
    // The view covers the page: what lies behind it must not take the focus.
    for (const part of this.#behind) part.inert = true;
    document.documentElement.classList.add("case-open");
    this.root.scrollTop = 0;
    this.#showFirstMark();
    this.root.focus({ preventScroll: true });
  }

  /** Scroll long answers to their first mark, and long timelines to the first wrong step, within their frames. */
  #showFirstMark() {
    for (const frame of this.root.querySelectorAll(".steps-frame")) {
      const step = frame.querySelector(".trace-step.fault");
      if (step) frame.scrollTop = Math.max(0, step.offsetTop - frame.offsetTop - frame.clientHeight / 3);
    }
    for (const frame of this.root.querySelectorAll(".answer-column .text.long")) {
      const mark = frame.querySelector("mark.bad, ins, del");
      if (mark) frame.scrollTop = Math.max(0, mark.offsetTop - frame.offsetTop - frame.clientHeight / 3);
    }
  }

  /** Hide the view without a change of the address. */
  hide() {
    if (!this.isOpen) return;
    this.turn = (this.turn ?? 0) + 1;
    this.root.hidden = true;
    for (const part of this.#behind) part.inert = false;
    this.root.replaceChildren();
    this.row = undefined;
    document.documentElement.classList.remove("case-open");
    const { opener } = this;
    setTimeout(() => opener?.isConnected && opener.focus({ preventScroll: true })); // after the browser went to the address
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input")) return;
    const acts = { Escape: () => this.#close(), j: () => this.#step(1), k: () => this.#step(-1) };
    if (!acts[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  }

  /** Return to where the case was opened from; a case that the address opened has the tab behind it. */
  #close() {
    this.router.back(`#${tabs.shown || "matrix"}`);
  }

  #step(by) {
    const rows = this.list();
    const place = rows.indexOf(this.row);
    const next = rows[place + by];
    if (place >= 0 && next !== undefined) this.router.go(address.ofCase(this.run.nodeid(next)), { replace: true });
  }

  /** Other answers that are shown at first: those whose verdict differs come first, as many as there is room for. */
  #chosen(row) {
    const room = Math.min(MOST_ANSWERS, Math.max(1, Math.floor((innerWidth - BETWEEN_PX) / 400))) - 1;
    const passes = PASSING.has(this.run.verdict(row));
    const others = this.#siblings(row);
    const differing = others.filter((other) => PASSING.has(this.run.verdict(other)) !== passes);
    return (differing.length ? differing : []).slice(0, Math.min(room, 1));
  }

  #siblings(row) {
    const { run } = this;
    const rows = [...run.rowsOf(run.caseOf[row])].filter((other) => other !== row);
    return rows.sort((a, b) => run.byName.compare(run.models[run.modelOf[a]].name, run.models[run.modelOf[b]].name));
  }

  async #load() {
    for (const other of this.others) if (!this.texts.has(other)) this.texts.set(other, await this.run.texts(other));
  }

  #draw() {
    const { run, row, others } = this;
    const texts = this.texts.get(row);
    const shownRows = [row, ...others];
    const mode = this.#mode(texts, shownRows);
    this.root.classList.toggle("several", shownRows.length > 1);
    this.root.replaceChildren(
      this.#head(texts),
      el(
        "div",
        { class: "case-grid", "data-answers": String(shownRows.length) },
        el("div", { class: "pinned", tabindex: "0", role: "group", "aria-label": "Expectation" }, this.#pinned(texts)),
        el(
          "div",
          { class: "answers" },
          shownRows.map((each) => this.#answer(each, mode)),
        ),
      ),
    );
  }

  #head(texts) {
    const { run, row } = this;
    const line = run.cases[run.caseOf[row]];
    const rows = this.list();
    const place = rows.indexOf(row);
    const step = (by, label, name) =>
      el(
        "button",
        { type: "button", disabled: place < 0 || rows[place + by] === undefined, "aria-label": name, title: name, on: { click: () => this.#step(by) } },
        label,
      );
    const question = texts ? parted(texts.input)[0] : line.question;
    return el(
      "div",
      { class: "panel-head" },
      el(
        "div",
        { class: "panel-buttons" },
        step(-1, "‹", "Previous case (k)"),
        place >= 0 && el("span", { class: "quiet position" }, `${counted(place + 1)} of ${counted(rows.length)}`),
        step(1, "›", "Next case (j)"),
        texts && copyButton(caseMarkdown(run, row, texts), "Copy case"),
        el(
          "button",
          { type: "button", class: "close", "aria-label": "Close", title: "Close (Esc)", on: { click: () => this.#close() } },
          "×",
        ),
      ),
      el("p", { class: "key" }, keyButton(line.key), " · ", said(run.meta.files[line.file])),
      el("h2", { id: "panel-title", class: "question", dir: "auto", title: question.slice(0, 400) }, question.slice(0, 400) || shortKey(line.key)),
      this.#tools(texts),
    );
  }

  #tools(texts) {
    const { run, row } = this;
    const siblings = this.#siblings(row);
    const modes = this.#modes(texts, [row, ...this.others]);
    return el(
      "div",
      { class: "tools" },
      modes.length > 1 &&
        chooser("Highlight by", modes, this.#mode(texts, [row, ...this.others]), (value) => {
          this.highlight = value;
          this.#draw();
        }),
      otherModels(run, siblings, {
        shown: this.others,
        room: this.others.length < MOST_ANSWERS - 1,
        isOpen: this.unfolded,
        toggle: (other) => this.#toggle(other),
        unfold: () => {
          this.unfolded = true;
          this.#draw();
        },
      }),
      (modes.length > 1 || texts?.answers.some(({ context }) => context)) && el(
        "p",
        { class: "highlights" },
        el("span", {}, "Highlights: "),
        el("del", {}, "missing in the answer"),
        " ",
        el("ins", {}, "only in the answer"),
        " ",
        el("mark", { class: "bad" }, "below the threshold"),
        " ",
        el("mark", { class: "found" }, "found"),
        " ",
        el("mark", { class: "used" }, "passage that the answer repeats"),
      ),
    );
  }

  async #toggle(other) {
    this.others = this.others.includes(other) ? this.others.filter((each) => each !== other) : [...this.others, other];
    await this.#load();
    this.#draw();
  }

  /** Ways to highlight the answers: a difference, or an evaluator that scored their sentences. */
  #modes(texts, rows) {
    const marking = this.run.evaluators.filter(({ id }) =>
      rows.some((row) => this.texts.get(row)?.answers.some((answer) => answer.fragments?.[id])),
    );
    return [
      ...(texts?.expected_output ? [["expected", "difference from the expected answer"]] : []),
      ...(rows.length > 1 ? [["other", this.#hasOpposite(rows) ? "difference from the passing answer" : "difference from the first answer"]] : []),
      ...marking.map(({ id, name }) => [`by:${id}`, name]),
      ["none", "nothing"],
    ];
  }

  #mode(texts, rows) {
    const modes = this.#modes(texts, rows).map(([name]) => name);
    if (modes.includes(this.highlight)) return this.highlight;
    const failed = modes.find((name) => {
      const place = this.run.evaluators.findIndex(({ id }) => `by:${id}` === name);
      return place >= 0 && this.run.meta.states[this.opinions[place].states[this.row]] === "failed";
    });
    return failed ?? modes[0];
  }

  #pinned(texts) {
    if (!texts) return el("p", { class: "notice" }, "The texts of this case are in the results files only: the page would have become too large.");
    const answer = parted(texts.answers[0].text)[0];
    const full = parted(texts.input)[0].length > TITLE_CHARS;
    return [
      texts.reason && panelPart("Reason", textBox(texts.reason)),
      full && panelPart("Question", textBox(texts.input)),
      texts.attachments && panelPart("Images and files", [attachmentList(texts.attachments)]),
      texts.expected_output && panelPart("Expected", this.#expected(texts.expected_output, answer)),
      texts.accepted_outputs && panelPart("Also accepted", texts.accepted_outputs.flatMap((text) => textBox(text))),
      texts.expected_facts && panelPart("Expected facts", [el("ul", {}, texts.expected_facts.map((text) => el("li", { dir: "auto" }, cutText(text))))]),
      texts.guidelines && panelPart("Guidelines", [el("ul", {}, texts.guidelines.map((text) => el("li", { dir: "auto" }, cutText(text))))]),
      texts.expects === "refusal" && panelPart("Expects", textBox("a refusal")),
      texts.output_condition && panelPart(texts.condition_on ? `Condition on ${texts.condition_on}` : "Condition", [el("code", { class: "condition", dir: "auto" }, parted(texts.output_condition)[0])]),
      texts.flips &&
        panelPart("Flips", [
          el(
            "ul",
            { class: "plain-list" },
            texts.flips.map((flip) => flipLine(this.run, this.router, this.row, flip)),
          ),
          ...smallestEdits(texts.smallest_edits ?? []),
        ]),
      texts.categories &&
        panelPart("Tags", [
          el(
            "p",
            { class: "tags" },
            texts.categories.map((name) => el("span", { class: "tag" }, said(name))),
          ),
        ]),
    ];
  }

  #expected(expected, answer) {
    const [beginning, leftOut] = parted(expected);
    const [gone] = changedWords(beginning, answer);
    return [
      textFrame(stretchNodes(gone, "del"), beginning.length),
      leftOut && el("p", { class: "left-out" }, `${many(leftOut, "more character is", "more characters are")} in the results files.`),
    ];
  }

  /** One model's column. */
  #answer(row, mode) {
    const { run } = this;
    const texts = this.texts.get(row);
    const model = run.models[run.modelOf[row]];
    const body = el("div", {});
    const draw = (number) => body.replaceChildren(...(texts ? this.#texts(row, texts, number, mode, draw) : [el("p", { class: "quiet" }, "not on this page")]));
    draw(0);
    return el(
      "article",
      { class: "answer-column", "aria-label": model.name },
      el("h3", { class: "answer-model", title: model.name }, verdictMark(run.verdict(row)), " ", said(model.name)),
      body,
      this.#scores(row, texts),
      texts ? this.#foot(row, texts) : null,
    );
  }

  #texts(row, texts, number, mode, draw) {
    const answer = texts.answers[number];
    const [beginning] = parted(answer.text);
    const repeats =
      texts.answers.length > 1 &&
      chooser(
        "Repeat",
        texts.answers.map((_, place) => [String(place), `${place + 1} of ${texts.answers.length}`]),
        String(number),
        (value) => draw(Number(value)),
      );
    const [metric, fragments] = this.#colouring(row, answer, mode);
    const failed = failedStep(this.run, answer) !== null;
    const trajectory = [toolCalls(this.run, answer.turns ? (answer.whole ?? {}) : answer), callsSince(texts.since), answer.turns ? null : timeline(this.run, answer)];
    return [
      repeats,
      answer.error && el("p", { class: "notice" }, "Error: ", said(answer.error)),
      failedStepLine(this.run, answer),
      failed && !answer.turns && trajectory,
      conversationTurns(this.run, answer),
      failed && answer.turns && trajectory,
      answer.turns && el("p", { class: "field-name" }, "Last answer"),
      answer.incomplete && el("p", { class: "notice" }, `Incomplete: the answer was ${answer.incomplete}.`),
      beginning ? this.#answerBox(row, texts, answer, mode, metric, fragments) : el("p", { class: "quiet" }, "no answer"),
      (answer.closing ?? []).map((text) => el("p", { class: "turn-expected", dir: "auto" }, "The user, after it: ", said(text))),
      thoughtsOf(answer),
      !failed && trajectory,
      this.#context(texts, answer, fragments, metric),
    ]
      .flat()
      .filter(Boolean);
  }

  #colouring(row, answer, mode) {
    const place = mode.startsWith("by:") ? this.run.evaluators.findIndex(({ id }) => id === mode.slice(3)) : -1;
    if (place < 0) return [null, []];
    const entry = Math.max(
      0,
      this.run.evaluators[place].metrics.findIndex(({ colours }) => colours),
    );
    return [this.run.metricOf(place, entry, this.opinions, row), answer.fragments?.[mode.slice(3)] ?? []];
  }

  #answerBox(row, texts, answer, mode, metric, fragments) {
    if (metric) return textBox(answer.text, fragments, metric);
    const [beginning, leftOut] = parted(answer.text);
    const base = mode === "expected" ? texts.expected_output : mode === "other" ? this.#counterpart(row) : null;
    if (!base) return textBox(answer.text);
    const [, added] = changedWords(parted(base)[0], beginning);
    return [
      textFrame(stretchNodes(added, "ins"), beginning.length),
      leftOut && el("p", { class: "left-out" }, `${many(leftOut, "more character")}; the results files hold all of them.`),
    ];
  }

  #hasOpposite(rows) {
    return new Set(rows.map((row) => PASSING.has(this.run.verdict(row)))).size > 1;
  }

  /** The answer that another one is compared with: a passing one for an answer that fails, which is the one to be marked. */
  #counterpart(row) {
    const rows = [this.row, ...this.others];
    const other = this.#hasOpposite(rows)
      ? PASSING.has(this.run.verdict(row))
        ? undefined
        : rows.find((each) => PASSING.has(this.run.verdict(each)))
      : rows.find((each) => each !== row && each === this.row);
    return other === undefined ? null : this.texts.get(other)?.answers[0].text;
  }

  #context(texts, answer, fragments, metric) {
    if (!answer.context) {
      return texts.contextsElsewhere ? el("p", { class: "left-out" }, "The retrieved chunks are in the results files only.") : null;
    }
    const { chunks, sources, left_out: leftOut } = answer.context;
    const said_ = parted(answer.text)[0];
    return el(
      "details",
      { class: "passing context", open: fragments.some((span) => span.part?.startsWith("context:")) },
      el("summary", {}, `Context: ${many(chunks.length + leftOut, "chunk")}`),
      chunks.map((chunk, place) => {
        const part = `context:${place}`;
        const [beginning, more] = parted(chunk);
        const scored = fragments.some((span) => span.part === part);
        const nodes = scored
          ? marked(chunk, fragments, metric, part)
          : usedPassages(beginning, said_).map(([text, used]) => (used ? el("mark", { class: "used" }, text) : text));
        return el(
          "div",
          { class: "chunk" },
          el("p", { class: "chunk-source" }, `${place + 1}. `, said(sources[place] ?? "")),
          textFrame(nodes, beginning.length),
          more > 0 && el("p", { class: "left-out" }, `${many(more, "more character is", "more characters are")} in the results files.`),
        );
      }),
      leftOut > 0 && el("p", { class: "left-out" }, `${many(leftOut, "more chunk is", "more chunks are")} in the results files.`),
    );
  }

  /** The evaluators that fail the answer; those that pass are folded. */
  #scores(row, texts) {
    const { run, opinions } = this;
    const cards = { first: [], passing: [] };
    run.evaluators.forEach((evaluator, place) => {
      const state = run.meta.states[opinions[place].states[row]];
      if (state === "none") return;
      const scores = opinions[place].scores.map((column) => column[row]);
      const pile = state === "failed" || state === "error" ? cards.first : cards.passing;
      const metrics = evaluator.metrics.map((_, number) => run.metricOf(place, number, opinions, row));
      const own = metrics.some((metric, number) => metric !== evaluator.metrics[number]);
      pile.push(scoreCard({ ...evaluator, metrics }, state, scores, texts?.reasons?.[evaluator.id], own));
    });
    const { first, passing } = cards;
    return [
      first.length ? el("ul", { class: "score-cards" }, first) : null,
      passing.length
        ? el(
            "details",
            { class: "passing" },
            el("summary", {}, passedWords(run, opinions, row)),
            el("ul", { class: "score-cards" }, passing),
          )
        : null,
    ];
  }

  #foot(row, texts) {
    const answer = texts.answers[0];
    const nodeid = this.run.nodeid(row);
    const command = pytestCommand(nodeid);
    const given = (value, unit) => (value === null || value === undefined ? "not recorded" : `${shown(value)} ${unit}`);
    const parts = [
      ["Cost", given(answer.cost, "USD")],
      ["Duration", answer.duration_s ? given(answer.duration_s, "s") : "not recorded"],
      ...(answer.retries ? [["Retries", answer.retries]] : []),
      ...Object.entries(answer.usage ?? {}).map(([name, count]) => [titled(name), shown(count)]),
      ...Object.entries(answer.facts ?? {}),
    ];
    return el(
      "details",
      { class: "passing" },
      el("summary", {}, "Run again, cost"),
      command
        ? el("p", { class: "command" }, el("code", {}, said(command)), " ", copyButton(command, "Copy"))
        : el("p", { class: "quiet" }, said(nodeid), " has characters that a shell cannot be trusted with."),
      el(
        "dl",
        { class: "facts" },
        parts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, said(String(value))))),
      ),
    );
  }
}
