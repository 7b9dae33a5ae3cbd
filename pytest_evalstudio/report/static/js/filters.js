// Which cases are to be seen: choices that combine, shown as chips that can be removed.

const EVERYTHING = Object.freeze({
  q: "",
  model: "",
  tag: "",
  evaluator: "",
  verdict: "",
  flips: "",
  change: "",
  agree: "",
  tool: "",
  call: "",
  order: "",
});
const AGREEMENTS = { disagree: "models disagree", "all-fail": "all models fail", "all-pass": "all models pass" };
const MISSED_WORDS = "misses a threshold";
/** What calls of a tool can be, with the bits of `CALL_BITS` of the page's data. */
const CALL_BITS = { called: 1, missing: 2, wrong_arguments: 4, unexpected: 8, forbidden: 16, failed: 32 };
const CALL_NAMES = { called: "called", missing: "missing", wrong_arguments: "wrong arguments", unexpected: "unexpected", forbidden: "forbidden", failed: "failed" };
const CHANGE_NAMES = { regressed: "regressed", fixed: "fixed", new: "new" };
const PASSING = new Set(["passed", "xpassed"]);
const FAILING = new Set(["failed", "error", "xfailed"]);

/** Filters of an address; older addresses say `show` and `category`. */
function filtersOf(given) {
  const filters = { ...EVERYTHING };
  for (const name of Object.keys(filters)) if (given[name]) filters[name] = given[name];
  if (given.category) filters.tag = given.category;
  const show = given.show ?? "";
  if (show === "failures" || show === "missed") filters.verdict = show;
  else if (show === "errors") filters.verdict = "error";
  else if (show === "flips") filters.flips = "yes";
  else if (show.startsWith("verdict:")) filters.verdict = show.slice(8);
  return filters;
}

/** The distinct values that evaluators have, sorted, as options of a choice. */
function valuesOf(evaluators, values, all) {
  const distinct = [...new Set(evaluators.flatMap(values))].sort((a, b) => a.localeCompare(b));
  return [["", all], ...distinct.map((value) => [value, value])];
}

const partsOf = (evaluator) => evaluator.standards.map(({ standard, name }) => `${standard}: ${name}`);

/** Places of the evaluators with a standard, method and domain; null for all of them. */
function chosenEvaluators(run, { domain = "", standard = "", method = "" }) {
  if (!domain && !standard && !method) return null;
  return [...run.evaluators.keys()].filter((place) => {
    const line = run.evaluators[place];
    return (
      (!domain || line.domain === domain) &&
      (!standard || partsOf(line).includes(standard)) &&
      (!method || line.methods.includes(method))
    );
  });
}

/** A test of rows by the filters that are about single answers. */
function rowTest(run, opinions, filters) {
  const place = filters.evaluator ? run.evaluators.findIndex(({ id }) => id === filters.evaluator) : -1;
  const states = place < 0 ? null : opinions[place].states;
  const code = (name) => run.meta.states.indexOf(name);
  const [NONE, FAILED, ERROR] = [code("none"), code("failed"), code("error")];
  const model = filters.model ? run.models.findIndex(({ key }) => key === filters.model) : -1;
  const verdict = run.meta.verdicts.indexOf(filters.verdict);
  const bit = CHANGES[filters.change] ?? 0;
  const tool = filters.tool ? run.toolColumn(filters.tool) : null;
  const callBits = CALL_BITS[filters.call] ?? 0xff;
  const flipped = filters.flips && place >= 0 ? new Set(run.evaluators[place].flipped) : null;
  return (row) => {
    if (filters.model && run.modelOf[row] !== model) return false;
    if (filters.flips && !(flipped ? flipped.has(row) : run.flagsOf[row] & FLIPPED)) return false;
    if (bit && !(run.flagsOf[row] & bit)) return false;
    if (filters.tool && !(tool && tool[row] & callBits)) return false;
    if (states) {
      if (states[row] === NONE) return false;
      if (filters.verdict === "failures") return states[row] === FAILED || states[row] === ERROR;
      if (filters.verdict === "missed") return states[row] === FAILED;
      if (filters.verdict === "error") return states[row] === ERROR;
    } else if (filters.verdict === "failures") {
      return Boolean(run.flagsOf[row] & (MISSED | BROKEN)) || FAILING.has(run.verdict(row));
    }
    if (filters.verdict === "missed") return Boolean(run.flagsOf[row] & MISSED);
    return verdict < 0 || run.verdictOf[row] === verdict;
  };
}

/** Whether the models' answers to a case agree as wanted. */
function agrees(run, rows, wanted) {
  const words = rows.map((row) => run.verdict(row));
  const [passed, failed] = [words.some((word) => PASSING.has(word)), words.some((word) => FAILING.has(word))];
  if (wanted === "disagree") return passed && failed;
  return wanted === "all-fail" ? failed && !passed : passed && !failed;
}

/** The cases that meet all filters, each with its rows that do. */
function filteredCases(run, opinions, filters, marks) {
  const meets_ = rowTest(run, opinions, filters);
  const tag = filters.tag ? run.categories.indexOf(filters.tag) : -1;
  const everything = !marks && !Object.entries(filters).some(([name, value]) => value && name !== "order");
  const result = [];
  for (let place = 0; place < run.cases.length; place += 1) {
    if (filters.tag && !run.cases[place].categories.includes(tag)) continue;
    const all = run.rowsOf(place);
    const rows = everything ? all : [];
    if (!everything) for (let i = 0; i < all.length; i += 1) if ((!marks || marks[all[i]]) && meets_(all[i])) rows.push(all[i]);
    if (!rows.length || (filters.agree && !agrees(run, all, filters.agree))) continue;
    result.push({ place, rows });
  }
  return result;
}

/** The form. `change` is called with the filters that differ from before. */
class FilterForm {
  constructor(run, filters, change) {
    const verdicts = run.meta.verdicts.filter((_, code) => run.verdictOf.includes(code));
    const models = run.models.map(({ key, name }) => [key, name]).sort((a, b) => run.byName.compare(a[1], b[1]));
    const choice = (name, label, options) => chooser(label, options, filters[name], (value) => change({ [name]: value }));
    const typed = settled((value) => change({ q: value }, { typing: true }), 200);
    const toggle = (name, value, label) =>
      el(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-pressed": String(filters[name] === value),
          on: { click: () => change({ [name]: filters[name] === value ? "" : value }) },
        },
        label,
      );
    const changes = Object.entries(CHANGES).filter(([, bit]) => run.flagsOf.some((flags) => flags & bit));
    const several = run.models.length > 1;
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
      several && choice("model", "Model", [["", "all"], ...models]),
      choice("evaluator", "Evaluator", [["", "all"], ...run.evaluators.map(({ id, name }) => [id, name])]),
      choice("verdict", "Verdict", [["", "all"], ["failures", "any failure"], ["missed", MISSED_WORDS], ...verdicts.map((name) => [name, name])]),
      run.categories.length > 0 && choice("tag", "Tag", [["", "all"], ...run.categories.map((name) => [name, name])]),
      run.meta.tools.length > 0 && choice("tool", "Tool", [["", "all"], ...run.meta.tools.map((name) => [name, name.slice(0, 60)])]),
      filters.tool && choice("call", "Calls", [["", "any"], ...Object.entries(CALL_NAMES)]),
      choice("order", "Sort", [
        ["", "run order"],
        ["score", "lowest score first"],
        ["failures", "most failures first"],
      ]),
      el(
        "div",
        { class: "toggles" },
        run.flagsOf.some((flags) => flags & FLIPPED) && toggle("flips", "yes", "Flips"),
        changes.map(([name]) => toggle("change", name, titled(CHANGE_NAMES[name]))),
        several && toggle("agree", "disagree", "Models disagree"),
        several && toggle("agree", "all-fail", "All fail"),
      ),
    );
  }
}

/** The filters in force in words, each with the change that removes it. */
function filterWords(run, filters) {
  const words = {
    q: (value) => `contains “${value}”`,
    model: (value) => `model: ${run.models.find(({ key }) => key === value)?.name ?? value}`,
    tag: (value) => `tag: ${value}`,
    evaluator: (value) => `evaluator: ${run.evaluators.find(({ id }) => id === value)?.name ?? value}`,
    verdict: (value) => ({ failures: "any failure", missed: MISSED_WORDS })[value] ?? `verdict: ${value}`,
    flips: () => "flips",
    change: (value) => `${CHANGE_NAMES[value] ?? value} since the baseline`,
    agree: (value) => AGREEMENTS[value] ?? value,
    tool: (value) => `tool: ${value.slice(0, 60)}${filters.call ? `, ${CALL_NAMES[filters.call] ?? filters.call}` : ""}`,
  };
  return Object.entries(words)
    .filter(([name]) => filters[name])
    .map(([name, say]) => [say(filters[name]), name === "tool" ? { tool: "", call: "" } : { [name]: "" }]);
}
