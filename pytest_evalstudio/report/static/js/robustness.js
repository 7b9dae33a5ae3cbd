// Flips with the words that the perturbation changed, and both answers.

const FLIPS_AT_ONCE = 20;

class FlipList {
  constructor(run, router, root) {
    Object.assign(this, { run, router, root });
    this.rows = [];
    for (let row = 0; row < run.count; row += 1) if (run.flagsOf[row] & FLIPPED) this.rows.push(row);
    this.drawn = 0;
    this.list = el("ul", { class: "flip-list" });
    this.more = el("button", { type: "button", class: "plain", on: { click: () => this.draw() } });
    root.replaceChildren(el("h3", {}, "Flips"), el("p", { class: "quiet", role: "status" }, many(this.rows.length, "answer flips", "answers flip")), this.list, this.more);
  }

  /** Write out the next flips. */
  async draw() {
    const next = this.rows.slice(this.drawn, this.drawn + FLIPS_AT_ONCE);
    this.drawn += next.length;
    this.more.hidden = true;
    for (const row of next) this.list.append(await this.#flip(row));
    const left = this.rows.length - this.drawn;
    this.more.hidden = left <= 0;
    this.more.textContent = `Show ${Math.min(left, FLIPS_AT_ONCE)} of ${counted(left)} more`;
  }

  async #flip(row) {
    const { run } = this;
    const texts = await run.texts(row);
    const flips = texts?.flips ?? [];
    const broken = flips.some(({ direction }) => direction === "pass_to_fail");
    const source = flips.length ? run.siblingOf(row, flips[0].source) : -1;
    const original = source < 0 ? null : await run.texts(source);
    const line = run.cases[run.caseOf[row]];
    const metrics = [...new Set(flips.map(({ evaluator }) => run.evaluators.find(({ id }) => id === evaluator)?.name ?? evaluator))];
    return el(
      "li",
      { class: broken ? "flip broken" : "flip" },
      el(
        "p",
        { class: "flip-head" },
        el("strong", { class: broken ? "miss" : "" }, broken ? "pass → fail" : "fail → pass"),
        " ",
        said(metrics.join(", ")),
        " under ",
        said([...new Set(flips.flatMap(({ perturbators }) => perturbators))].map((name) => name.toLowerCase().replace(":", ", ")).join(" and ") || "a perturbation"),
        el("span", { class: "key" }, " ", said(line.key), " · ", said(run.models[run.modelOf[row]].label)),
        " ",
        el("a", { href: address.ofCase(run.nodeid(row)) }, "Open"),
      ),
      original && texts ? this.#pair(original, texts) : el("p", { class: "quiet" }, "The original is not on this page."),
      ...smallestEdits(texts?.smallest_edits ?? []),
    );
  }

  #pair(original, perturbed) {
    const [question, changed] = changedWords(parted(original.input)[0], parted(perturbed.input)[0]);
    const [before, after] = changedWords(parted(original.answers[0].text)[0], parted(perturbed.answers[0].text)[0]);
    const cell = (tag, stretches) => el("td", { dir: "auto" }, stretches.length ? stretchNodes(stretches, tag) : el("span", { class: "quiet" }, "no answer"));
    return el(
      "table",
      { class: "flip-table" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, aside("Text")), el("th", { scope: "col" }, "Original"), el("th", { scope: "col" }, "Perturbed"))),
      el(
        "tbody",
        {},
        el("tr", {}, el("th", { scope: "row" }, "Question"), cell("del", question), cell("ins", changed)),
        el("tr", {}, el("th", { scope: "row" }, "Answer"), cell("del", before), cell("ins", after)),
      ),
    );
  }
}
