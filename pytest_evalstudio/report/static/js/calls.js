// Expected calls beside the calls of an answer, line by line, and the line that failed first.

const LINE_WORDS = {
  matches: ["✓", "as expected"],
  wrong_arguments: ["≠", "wrong arguments"],
  missing: ["−", "missing"],
  unexpected: ["+", "unexpected"],
  out_of_order: ["⇅", "wrong order"],
  allowed: ["+", "allowed"],
  optional: ["−", "not needed"],
  not_judged: ["○", "not judged"],
};
const FAULTS = new Set(["wrong_arguments", "missing", "unexpected", "out_of_order"]);
const FOLDED_LINES = 12;
const RUN_OF_MATCHES = 4;

/** Returns nothing where the case expects no calls. */
function toolCalls(run, answer) {
  const { expected_calls: expected, lines, calls = [] } = answer;
  if (expected === undefined) return null;
  const leftOut = answer.calls_left_out ?? 0;
  const shown = lines ?? [...expected.map((_, place) => ["not_judged", place, -1]), ...calls.map((_, place) => ["not_judged", -1, place])];
  const faults = shown.filter(([state]) => FAULTS.has(state)).length + (answer.faults_left_out ?? 0);
  return el(
    "details",
    { class: "calls", open: true },
    el("summary", {}, `Tool calls: ${many(calls.length + leftOut, "call")}, ${counted(answer.expected_count ?? expected.length)} expected, ${faults ? many(faults, "difference") : "no difference"}`),
    shown.length
      ? el("ol", { class: "call-lines" }, foldedLines(shown).map((line) => (Array.isArray(line[0]) ? foldedLine(run, answer, line) : callLine(run, answer, line))))
      : el("p", { class: "quiet" }, "No call, and none expected."),
    leftOut > 0 && el("p", { class: "left-out" }, `${many(leftOut, "more call is", "more calls are")} in the results files`, answer.faults_left_out ? `, ${counted(answer.faults_left_out)} of them wrong.` : "."),
  );
}

/** Lines, with long runs of those without a fault as one entry each. */
function foldedLines(lines) {
  if (lines.length <= FOLDED_LINES) return lines;
  const entries = [];
  let start = 0;
  for (let i = 0; i <= lines.length; i += 1) {
    if (i < lines.length && !FAULTS.has(lines[i][0])) continue;
    const quiet = lines.slice(start, i);
    entries.push(...(quiet.length > RUN_OF_MATCHES ? [quiet] : quiet), ...lines.slice(i, i + 1));
    start = i + 1;
  }
  return entries;
}

function foldedLine(run, answer, lines) {
  return el(
    "li",
    { class: "call-fold" },
    el("details", {}, el("summary", {}, `${many(lines.length, "call")} without a difference`), el("ol", { class: "call-lines" }, lines.map((line) => callLine(run, answer, line)))),
  );
}

function callLine(run, answer, [state, expectedPlace, place, wrong = []]) {
  const expected = answer.expected_calls[expectedPlace];
  const call = answer.calls?.[place];
  const side = (title, one, other, tag) =>
    el("div", { class: `call-side ${one ? "" : "none"}` }, el("p", { class: "field-name" }, title), one ? el("code", {}, callNodes(one, other, wrong, tag)) : el("p", { class: "quiet" }, tag === "del" ? "not expected" : "not called"));
  return el(
    "li",
    { class: `call-line ${FAULTS.has(state) ? "fault" : state}` },
    el("p", { class: "call-state" }, el("span", { "aria-hidden": "true" }, `${LINE_WORDS[state][0]} `), LINE_WORDS[state][1]),
    el(
      "div",
      { class: "call-sides" },
      side("Expected", expected, call, "del"),
      side(call ? `Call ${place + 1}` : "Call", call, expected, "ins"),
    ),
    callFlags(run, answer, place),
    call?.error && el("p", { class: "call-flag" }, "Error: ", cutText(call.error)),
  );
}

/** Names and values of a call's arguments as JSON; a text, or a part of one, where they are no JSON object. */
function argumentsOf(call) {
  return call.args ?? Object.entries(call.arguments ?? {}).map(([name, value]) => [name, JSON.stringify(value)]);
}

/** Whether arguments are a text, or [its beginning, how many characters are left out]. */
function isText(args) {
  return !Array.isArray(args) || typeof args[1] === "number";
}

/** A call as people write it; arguments that are wrong are marked, with the words that differ. */
function callNodes(call, other, wrong, tag) {
  const name = [said(parted(call.name)[0]), "("];
  const args = argumentsOf(call);
  if (isText(args)) return [...name, wrong.length ? el(tag, {}, cutText(args)) : cutText(args), ")"];
  const others = other ? argumentsOf(other) : [];
  const values = new Map((isText(others) ? [] : others).map(([key, value]) => [String(key), value]));
  const nodes = args.map(([key, value]) => {
    if (value === undefined) return [`… ${many(key, "more argument")}`];
    const label = parted(key)[0];
    const isWrong = wrong.includes(label) || (other && wrong.includes("arguments"));
    return [said(label), "=", el("bdi", {}, isWrong ? changedValue(value, values.get(String(key)), tag) : parted(value)[0], restOf(value))];
  });
  return [...name, ...nodes.flatMap((each, place) => (place ? [", ", ...each] : each)), ")"];
}

/** A value with the words that the other side lacks; a matcher differs as a whole. */
function changedValue(value, other, tag) {
  const text = parted(value)[0];
  if (other === undefined || [text, parted(other)[0]].some((each) => each.startsWith('{"$'))) return el(tag, {}, text);
  const [gone, added] = tag === "del" ? changedWords(text, parted(other)[0]) : changedWords(parted(other)[0], text);
  const nodes = stretchNodes(tag === "del" ? gone : added, tag);
  return nodes.some((node) => node instanceof Node) ? nodes : el(tag, {}, text);
}

function cutText(text) {
  return el("bdi", {}, parted(text)[0], restOf(text));
}

function restOf(text) {
  const leftOut = parted(text)[1];
  return leftOut ? el("span", { class: "quiet" }, `… ${many(leftOut, "more character")}`) : null;
}

function callFlags(run, answer, place) {
  return (answer.flags?.[place] ?? []).map(([id, text]) => el("p", { class: "call-flag" }, el("span", { "aria-hidden": "true" }, "✗ "), `${nameOf(run, id)}: `, said(text)));
}

function nameOf(run, id) {
  return run.evaluators.find((evaluator) => evaluator.id === id)?.name ?? id;
}

/** The turn and step that failed first: { turn, words, nodes }; null where no call is wrong. */
function failedStep(run, answer) {
  const parts = answer.turns ? [...answer.turns, ...(answer.whole ? [answer.whole] : [])] : [answer];
  const place = parts.findIndex((part) => part.fault !== undefined || part.flags);
  if (place < 0) return null;
  const part = parts[place];
  const where = answer.turns && place < answer.turns.length ? `turn ${place + 1}, ` : "";
  if (part.fault === undefined) {
    const call = Math.min(...Object.keys(part.flags).map(Number));
    const [[id, text]] = part.flags[call];
    return { title: `${where}${stepWords(part, call)}`, body: [`${nameOf(run, id)}: `, said(text)] };
  }
  const [state, expected, call, wrong = []] = part.lines[part.fault];
  const before = part.lines.slice(0, part.fault).reduce((last, line) => Math.max(last, line[2]), -1);
  const title = call >= 0 ? stepWords(part, call) : before >= 0 ? `after ${stepWords(part, before)}` : "before the first call";
  const one = call >= 0 ? part.calls[call] : part.expected_calls[expected];
  const names = wrong.length ? ` (${wrong.slice(0, 3).join(", ")}${wrong.length > 3 ? ", …" : ""})` : "";
  return { title: `${where}${title}`, body: [el("code", {}, cutText(one.name)), ` ${LINE_WORDS[state][1]}`, said(names)] };
}

function stepWords(part, call) {
  const step = (part.steps ?? []).findIndex((each) => each.call === call);
  const total = (part.calls?.length ?? 0) + (part.calls_left_out ?? 0);
  const inSteps = part.steps && part.steps.length > total ? ` (step ${step + 1} of ${counted(part.steps.length + (part.steps_left_out ?? 0))})` : "";
  return `call ${call + 1} of ${counted(total)}${inSteps}`;
}

/** The failed step as the first line of an answer. */
function failedStepLine(run, answer) {
  const failed = failedStep(run, answer);
  if (!failed) return null;
  const link = el("button", { type: "button", class: "link", on: { click: () => showFault(link.closest("article")) } }, `Failed ${/^(after|before) /.test(failed.title) ? "" : "at "}`, failed.title);
  return el("p", { class: "failed-step" }, el("strong", {}, link), ": ", failed.body);
}

/** Open and show the first wrong call within an answer. */
function showFault(article) {
  const fault = article?.querySelector(".call-line.fault, .trace-step.fault");
  if (!fault) return;
  for (let part = fault.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  fault.setAttribute("tabindex", "-1");
  fault.focus({ preventScroll: true });
  fault.scrollIntoView({ block: "center" });
}

const SINCE_WORDS = { changed: ["≠", "changed"], gone: ["−", "gone"], new: ["+", "new"], same: ["=", "the same"] };

/** The calls of the baseline beside those of now, differences first; nothing where they are the same or not known. */
function callsSince(since) {
  if (!since) return null;
  const [differing, same] = [since.filter(([kind]) => kind !== "same"), since.filter(([kind]) => kind === "same")];
  const side = (title, text, nodes) =>
    el("div", { class: "call-side" }, el("p", { class: "field-name" }, title), text ? el("code", {}, el("bdi", {}, nodes)) : el("p", { class: "quiet" }, "not called"));
  const line = ([kind, base, now]) => {
    const [gone, added] = kind === "changed" ? changedWords(base, now) : [[[base, kind === "gone"]], [[now, kind === "new"]]];
    return el(
      "li",
      { class: `call-line ${kind === "same" ? "" : "fault"}` },
      el("p", { class: "call-state" }, el("span", { "aria-hidden": "true" }, `${SINCE_WORDS[kind][0]} `), SINCE_WORDS[kind][1]),
      el("div", { class: "call-sides" }, side("In the baseline", base, stretchNodes(gone, "del")), side("Now", now, stretchNodes(added, "ins"))),
    );
  };
  return el(
    "details",
    { class: "calls calls-since", open: true },
    el("summary", {}, `Tool calls since the baseline: ${many(differing.length, "difference")}`),
    el("ol", { class: "call-lines" }, differing.map(line)),
    same.length > 0 && el("details", {}, el("summary", {}, `${many(same.length, "call")} the same; all in their order`), el("ol", { class: "call-lines" }, since.map(line))),
  );
}
