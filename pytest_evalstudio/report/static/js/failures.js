// The tab of failures: an address can restrict it to an evaluator or a model.

class FailureList {
  constructor(run, router, root) {
    Object.assign(this, { run, router, root });
    this.tab = root?.closest("[data-tab]");
  }

  /** Show the failures of an evaluator, a model, or both; all of them without filters. */
  adopt({ evaluator = "", model = "" }) {
    if (!this.root) return;
    let count = 0;
    for (const item of this.tab.querySelectorAll(".failed-item")) {
      const evaluators = item.dataset.evaluators.split(" ");
      item.hidden = (evaluator && !evaluators.includes(evaluator)) || (model && item.dataset.model !== model);
      count += item.hidden ? 0 : 1;
    }
    for (const group of this.tab.querySelectorAll(".failure-group")) group.hidden = !group.querySelector(".failed-item:not([hidden])");
    const request = (this.request = (this.request ?? 0) + 1);
    const status = el("p", { class: "quiet", role: "status" }, count ? `${many(count, "failure")} written out.` : "Nothing is written out.");
    if (evaluator) {
      this.#total(evaluator, model).then((total) => {
        if (request !== this.request) return;
        status.replaceChildren(
          `${many(total, "answer")}${count < total ? `, of which ${counted(count)} are written out; ` : ". "}`,
          el("a", { href: address.ofTab("matrix", { evaluator, model, verdict: "failures" }) }, "all in the matrix"),
        );
      });
    }
    const chosen = { evaluator, model };
    const names = {
      evaluator: this.run.evaluators.find(({ id }) => id === evaluator)?.name ?? evaluator,
      model: this.run.models.find(({ key }) => key === model)?.name ?? model,
    };
    const chips = Object.entries(names)
      .filter(([, text]) => text)
      .map(([name, text]) => chip(`${name}: ${text}`, () => this.router.go(address.ofTab("failures", { ...chosen, [name]: "" }))));
    this.root.replaceChildren(
      ...(chips.length
        ? [
            el("div", { class: "chips" }, chips),
            status,
          ]
        : []),
    );
  }

  /** The number of distinct answers that an evaluator fails or could not score. */
  async #total(evaluator, model) {
    const { run } = this;
    const place = run.evaluators.findIndex(({ id }) => id === evaluator);
    if (place < 0) return 0;
    const [, { states }] = await Promise.all([run.listed(), run.scores(place)]);
    const failing = new Set(["failed", "error"].map((name) => run.meta.states.indexOf(name)));
    const of = run.models.findIndex(({ key }) => key === model);
    let total = 0;
    for (let row = 0; row < run.count; row += 1) if (failing.has(states[row]) && (!model || run.modelOf[row] === of)) total += 1;
    return total;
  }
}

/** A filter in force, with a button that removes it. */
function chip(text, remove) {
  return el(
    "span",
    { class: "chip" },
    said(text),
    el("button", { type: "button", "aria-label": `Remove filter ${text}`, on: { click: remove } }, "×"),
  );
}
