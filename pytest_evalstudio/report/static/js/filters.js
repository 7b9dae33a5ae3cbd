// Which rows are to be seen: a form of choices, and the test that a row must meet.

const EVERYTHING = Object.freeze({
  q: "",
  model: "",
  evaluator: "",
  domain: "",
  standard: "",
  method: "",
  category: "",
  show: "",
  flips: "",
  order: "",
});

/** The distinct values that evaluators have, sorted, as options of a choice. */
function valuesOf(evaluators, values, all) {
  const found = [...new Set(evaluators.flatMap(values))].sort((a, b) => a.localeCompare(b));
  return [["", all], ...found.map((value) => [value, value])];
}

const partsOf = (evaluator) => evaluator.standards.map(({ standard, name }) => `${standard}: ${name}`);

/** Places of the evaluators that a filter is about; null for all of them. */
function chosenEvaluators(run, filters) {
  const { evaluator, domain, standard, method } = filters;
  if (!evaluator && !domain && !standard && !method) return null;
  return [...run.evaluators.keys()].filter((place) => {
    const line = run.evaluators[place];
    return (
      (!evaluator || line.id === evaluator) &&
      (!domain || line.domain === domain) &&
      (!standard || partsOf(line).includes(standard)) &&
      (!method || line.methods.includes(method))
    );
  });
}

/** The rows that meet all choices but the words that are searched for, in the order of the run. */
function filteredRows(run, opinions, filters) {
  const states = run.meta.states;
  const [FAILED, ERROR, NONE] = ["failed", "error", "none"].map((name) => states.indexOf(name));
  const places = chosenEvaluators(run, filters);
  const columns = places?.map((place) => opinions[place].states);
  const model = filters.model ? run.models.findIndex(({ key }) => key === filters.model) : -1;
  const category = filters.category ? run.categories.indexOf(filters.category) : -1;
  const verdict = run.meta.verdicts.indexOf(filters.show.replace("verdict:", ""));
  const wanted = { failures: MISSED | BROKEN, errors: BROKEN }[filters.show] ?? 0;
  const states_wanted = { failures: [FAILED, ERROR], errors: [ERROR] }[filters.show];
  const rows = [];
  for (let row = 0; row < run.count; row += 1) {
    if (filters.model && run.modelOf[row] !== model) continue;
    if (filters.flips && !(run.flagsOf[row] & FLIPPED)) continue;
    if (filters.show.startsWith("verdict:") && run.verdictOf[row] !== verdict) continue;
    if (category >= 0 && !run.cases[run.caseOf[row]].categories.includes(category)) continue;
    if (columns) {
      if (!columns.some((column) => (states_wanted ? states_wanted.includes(column[row]) : column[row] !== NONE))) continue;
    } else if (wanted && !(run.flagsOf[row] & wanted)) {
      continue;
    }
    rows.push(row);
  }
  return rows;
}

/** The form. `change` is called with the filters that differ from before. */
class FilterForm {
  constructor(run, filters, change) {
    const models = run.models.map(({ key, name }) => [key, name]);
    const verdicts = run.meta.verdicts.filter((_, code) => run.verdictOf.includes(code));
    const choice = (name, label, options) => chooser(label, options, filters[name], (value) => change({ [name]: value }));
    const typed = settled((value) => change({ q: value }), 200);
    this.root = el(
      "form",
      { class: "filters", role: "search", "aria-label": "Test cases", on: { submit: (event) => event.preventDefault() } },
      el(
        "label",
        { class: "field search" },
        el("span", {}, "Search"),
        el("input", {
          type: "search",
          value: filters.q,
          placeholder: "words of a question, answer, context or key",
          on: { input: (event) => typed(event.target.value) },
        }),
      ),
      models.length > 1 && choice("model", "Model", [["", "all"], ...models]),
      choice("evaluator", "Evaluator", [["", "all"], ...run.evaluators.map(({ id, name }) => [id, name])]),
      choice(
        "domain",
        "Domain",
        valuesOf(run.evaluators, ({ domain }) => [domain], "all"),
      ),
      choice("standard", "Standard", valuesOf(run.evaluators, partsOf, "all")),
      choice(
        "method",
        "Method",
        valuesOf(run.evaluators, ({ methods }) => methods, "all"),
      ),
      run.categories.length > 0 && choice("category", "Category", [["", "all"], ...run.categories.map((name) => [name, name])]),
      choice("show", "Show", [
        ["", "all"],
        ["failures", "only failures"],
        ["errors", "only errors"],
        ...verdicts.map((name) => [`verdict:${name}`, name]),
      ]),
      choice("order", "Order", [
        ["", "of the run"],
        ["score", "lowest score first"],
      ]),
      el(
        "label",
        { class: "check" },
        el("input", {
          type: "checkbox",
          checked: Boolean(filters.flips),
          on: { change: (event) => change({ flips: event.target.checked ? "yes" : "" }) },
        }),
        " Only flips",
      ),
      el("button", { type: "button", class: "plain", on: { click: () => change(EVERYTHING, true) } }, "Clear"),
    );
  }
}
