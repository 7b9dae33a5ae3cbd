// Verdicts, states and score cards of one answer.

function passedWords(run, opinions, row) {
  const counts = { passed: 0, scored: 0, not_applicable: 0 };
  run.evaluators.forEach((_, place) => {
    const state = run.meta.states[opinions[place].states[row]];
    if (state in counts) counts[state] += 1;
  });
  return [
    counts.passed && `${many(counts.passed, "evaluator")} passed`,
    counts.scored && `${counts.scored} without a threshold`,
    counts.not_applicable && `${counts.not_applicable} not applicable`,
  ]
    .filter(Boolean)
    .join(", ");
}

function panelPart(title, content) {
  return el("section", { class: "panel-part" }, el("h3", { class: "panel-title" }, title), ...content.flat(3).filter(Boolean));
}

/** One evaluator's metrics with their thresholds, and the reason; `own` where the case has a threshold of its own. */
function scoreCard(evaluator, state, scores, reason, own) {
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
          el("span", { class: "quiet" }, limited(metric) ? `${own ? "threshold here: " : ""}${ruled(metric)}` : ""),
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
const STATE_WORDS = {
  passed: "passes",
  failed: "misses its threshold",
  error: "could not score",
  not_applicable: "not applicable",
  scored: "scored",
};

function verdictMark(verdict, brief = false) {
  return el(
    "span",
    { class: `verdict ${verdict}` },
    el("span", { "aria-hidden": "true" }, VERDICT_SIGNS[verdict] ?? "?"),
    brief ? aside(` ${verdict}`) : ` ${verdict}`,
  );
}

function stateMark(state) {
  return el("span", { class: `state ${state}` }, STATE_WORDS[state]);
}

function passMark(passes) {
  return el(
    "span",
    { class: passes ? "ok" : "miss" },
    el("span", { "aria-hidden": "true" }, passes ? "✓" : "✗"),
    aside(passes ? " meets the threshold" : " misses the threshold"),
  );
}

/** The smallest edits of a question that still flip: two questions each, with the differing words marked. */
function smallestEdits(edits) {
  return edits.map(({ title, note, original, question }) => {
    const heading = el("p", { class: "smallest-head" }, said(title[0].toUpperCase() + title.slice(1)), note ? el("span", { class: "quiet" }, " (", said(note), ")") : null);
    if (question === undefined) return heading;
    const [before, after] = changedWords(parted(original)[0], parted(question)[0]);
    return el(
      "div",
      { class: "smallest" },
      heading,
      el("p", { class: "smallest-question", dir: "auto" }, stretchNodes(before, "del")),
      el("p", { class: "smallest-question", dir: "auto" }, stretchNodes(after, "ins")),
    );
  });
}

/** A flip of an answer in words, with a link to its original. */
function flipLine(run, router, row, flip) {
  const source = run.siblingOf(row, flip.source);
  const original =
    source < 0
      ? said(flip.source)
      : el("button", { type: "button", class: "link", on: { click: () => router.go(address.ofCase(run.nodeid(source))) } }, said(flip.source));
  const broken = flip.direction === "pass_to_fail";
  const words = ` ${shown(flip.source_score)} → ${shown(flip.score)}, threshold ${shown(flip.threshold)}, by `;
  return el(
    "li",
    {},
    el("strong", { class: broken ? "miss" : "" }, broken ? "pass → fail" : "fail → pass"),
    " ",
    said(`${flip.evaluator}.${flip.metric}`),
    words,
    said(flip.perturbators.join(", ")),
    "; original: ",
    original,
  );
}
