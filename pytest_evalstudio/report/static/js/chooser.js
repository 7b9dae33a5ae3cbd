// Which evaluators are shown, by the standards that they serve, their method and their domain.

class Chooser {
  constructor(run, root) {
    this.run = run;
    this.filters = { ...EVERYTHING };
    this.count = el("p", { class: "quiet", role: "status" });
    const choice = (name, label, values) =>
      chooser(label, valuesOf(run.evaluators, values, "all"), "", (value) => {
        this.filters = { ...this.filters, [name]: value };
        this.#apply();
      });
    root.replaceChildren(
      el(
        "form",
        { class: "filters", "aria-label": "Evaluators shown", on: { submit: (event) => event.preventDefault() } },
        choice("standard", "Standard", partsOf),
        choice("method", "Method", ({ methods }) => methods),
        choice("domain", "Domain", ({ domain }) => [domain]),
      ),
      this.count,
    );
  }

  #apply() {
    const places = chosenEvaluators(this.run, this.filters) ?? [...this.run.evaluators.keys()];
    this.run.evaluators.forEach(({ anchor }, place) => {
      const hidden = !places.includes(place);
      document.getElementById(anchor).hidden = hidden;
      const link = document.querySelector(`.contents a[href="#${anchor}"]`);
      if (link) link.parentElement.hidden = hidden;
    });
    const all = this.run.evaluators.length;
    this.count.textContent = places.length === all ? "" : `${places.length} of ${many(all, "evaluator")} shown.`;
  }
}
