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
            el("p", { class: "quiet", role: "status" }, count ? `${many(count, "failure")} shown.` : "Nothing matches."),
          ]
        : []),
    );
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
