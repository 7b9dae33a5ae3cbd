// A text with the stretches marked that an evaluator scored; every character appears exactly once.

/** A text, or [its beginning, how many characters are left out]. */
function parted(text) {
  return Array.isArray(text) ? text : [text, 0];
}

/** The text as nodes. Offsets count code points, as Python counts them. */
function marked(text, fragments, metric, part) {
  const [beginning] = parted(text);
  const chars = Array.from(beginning);
  const spans = (fragments ?? []).filter(
    (span) => (span.part ?? "answer") === part && Math.max(0, span.start) < Math.min(chars.length, span.end),
  );
  if (!spans.length) return [beginning];
  const cuts = [
    ...new Set([0, chars.length, ...spans.flatMap((span) => [Math.max(0, span.start), Math.min(chars.length, span.end)])]),
  ];
  cuts.sort((a, b) => a - b);
  const worst = worstSpans(spans, cuts, metric);
  return worst.map((span, i) => {
    const stretch = chars.slice(cuts[i], cuts[i + 1]).join("");
    return span ? mark(stretch, span, metric) : stretch;
  });
}

function mark(stretch, span, metric) {
  const score = span.scores?.[metric.key];
  const note = [score === undefined || score === null ? "" : `${metric.name} ${shown(score)}`, span.message ?? ""]
    .filter(Boolean)
    .join(": ");
  return el("mark", { class: spanLevel(span, metric), title: note }, stretch);
}

/** "found" for a finding without a score, else "good" or "bad". */
function spanLevel(span, metric) {
  const score = span.scores?.[metric.key];
  if (score === undefined || score === null) return "found";
  const limit = Number(metric.threshold);
  return (metric.better === "higher" ? Number(score) >= limit : Number(score) <= limit) ? "good" : "bad";
}

const LONG_TEXT = 900;
const WORST_FIRST = ["found", "bad", "good"];

/** The worst span of each stretch between two cuts, undefined for none.
 *
 * The worst spans come first, and each stretch is visited once: `next` leads past those that have a span.
 */
function worstSpans(spans, cuts, metric) {
  const badness = (span) => Number(span.scores?.[metric.key] ?? 0) * (metric.better === "higher" ? 1 : -1);
  const ranked = spans.map((span) => ({ span, rank: WORST_FIRST.indexOf(spanLevel(span, metric)), value: badness(span) }));
  ranked.sort((a, b) => a.rank - b.rank || a.value - b.value || 0);
  const placeOf = new Map(cuts.map((cut, place) => [cut, place]));
  const next = cuts.map((_, place) => place);
  const free = (place) => {
    let root = place;
    while (next[root] !== root) root = next[root];
    for (let i = place; i !== root; ) [i, next[i]] = [next[i], root];
    return root;
  };
  const worst = new Array(cuts.length - 1).fill(undefined);
  for (const { span } of ranked) {
    const end = placeOf.get(Math.min(cuts.at(-1), span.end));
    for (let i = free(placeOf.get(Math.max(0, span.start))); i < end; i = free(i)) {
      worst[i] = span;
      next[i] = i + 1;
    }
  }
  return worst;
}

/** A box for a text; a long one scrolls, so that it can be reached by keyboard. */
function textFrame(nodes, length) {
  const long = length > LONG_TEXT ? { class: "text long", tabindex: "0", role: "group", "aria-label": "Text" } : { class: "text" };
  return el("div", { ...long, dir: "auto" }, nodes);
}

/** The thoughts of a model, folded; nothing where it has none. */
function thoughtsOf({ thoughts }) {
  return thoughts ? el("details", { class: "thoughts" }, el("summary", {}, "Thoughts, not scored"), textBox(thoughts)) : null;
}

/** A text in a box, with a line that says what is left out. */
/** A text in a box, with a line that says what is left out. */
function textBox(text, fragments = [], metric = null, part = "answer") {
  const [beginning, leftOut] = parted(text);
  const nodes = metric ? marked(text, fragments, metric, part) : [beginning];
  const box = textFrame(nodes, beginning.length);
  if (!leftOut) return [box];
  return [box, el("p", { class: "left-out" }, `${many(leftOut, "more character")}; the results files hold all of them.`)];
}
