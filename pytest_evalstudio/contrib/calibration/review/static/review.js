// The page of one rater. All texts are set as text; the token goes into a header of each request and nowhere else.
"use strict";

const GOOD = 1, BAD = 0;

let state = null;   // what the server says of the whole
let shown = null;   // the answer on the page
let revealed = null; // scores and verdict of the answer on the page, once the rater has asked for them
const undoable = []; // {id, before} of the labels given on this page

const labelOf = (id) => (state.cases.find((one) => one.id === id) || { label: null }).label;
const placeOf = (id) => state.cases.findIndex((one) => one.id === id);
const soFar = () => (state.cases.length < state.wanted ? " drawn so far" : "");
const word = (label) => (label === GOOD ? "good" : "bad");

function nextWithout(from) {
  const count = state.cases.length;
  for (let step = 1; step <= count; step++) {
    const one = state.cases[(from + step + count) % count];
    if (one.label === null) return one.id;
  }
  return null;
}

function take(found) {
  // An answer that is on the page stays among those to be labelled, whatever others have said meanwhile.
  if (shown && !found.cases.some((one) => one.id === shown.id)) {
    found.cases.push({ id: shown.id, label: null });
  }
  state = found;
  at("title").textContent = `${state.title}: review of answers`;
  document.title = `${state.done} of ${state.wanted} · ${state.title}`;
  at("who").textContent = state.rater ? `Rater: ${state.rater}` : "";
  at("count").textContent = `${state.done} of ${state.wanted} answers labelled`;
  at("bar").max = Math.max(1, state.wanted);
  at("bar").value = state.done;
  at("file").textContent = state.file;
  for (const place of document.querySelectorAll(".command")) place.textContent = state.command;
  for (const place of document.querySelectorAll(".advice")) place.textContent = state.advice;
  at("undo").disabled = undoable.length === 0;
}

function say(text) {
  at("status").textContent = text;
}

function contextEntry(entry) {
  const item = document.createElement("li");
  if (entry.source) {
    const source = document.createElement("span");
    source.className = "source";
    source.dir = "auto";
    source.textContent = entry.source;
    item.append(source);
  }
  const text = document.createElement("p");
  text.className = "text";
  text.dir = "auto";
  text.textContent = entry.text;
  item.append(text);
  return item;
}

/** The question to the rater; with scores and verdict of the metric once they were asked for. */
function drawVerdict() {
  const line = at("verdict");
  line.replaceChildren();
  const scores = (revealed ? revealed.metrics : []).map((metric) => {
    const limit = metric.threshold === null ? "" : ` (good: ${metric.better === "higher" ? "≥" : "≤"} ${+metric.threshold.toPrecision(4)})`;
    return `${metric.name} of ${metric.evaluator}: ${+metric.score.toPrecision(3)}${limit}`;
  });
  if (scores.length) line.append(`${scores.join("; ")}. `);
  if (revealed && revealed.verdict !== null) {
    const verdict = document.createElement("b");
    verdict.className = word(revealed.verdict ? GOOD : BAD);
    verdict.textContent = verdict.className;
    line.append("The metric calls the answer ", verdict, `${revealed.doubt ? `; ${revealed.doubt}` : ""}. `);
  }
  line.append("Is this answer good?");
}

/** Good and Bad keep their sides and keys. */
function drawChoices() {
  const now = labelOf(shown.id);
  for (const [id, label] of [["good", GOOD], ["bad", BAD]]) at(id).setAttribute("aria-pressed", String(now === label));
  for (const line of document.querySelectorAll(".with-verdict")) line.hidden = !shown.has_scores;
  at("label-now").textContent = now === null ? "" : `· you called it ${word(now)}`;
  at("label-now").className = now === null ? "now" : `now ${word(now)}`;
}

/** Scores and verdict are fetched only now; the server marks the label that follows. */
async function reveal() {
  if (!shown.has_scores) return;
  revealed = await ask(`api/scores?id=${shown.id}`);
  drawVerdict();
}

async function show(id, { focus = true } = {}) {
  shown = await ask(`api/case?id=${id}`);
  revealed = null;
  at("reason").value = "";
  at("finished").hidden = true;
  at("case").hidden = at("desk").hidden = false;
  at("place").textContent = `Answer ${placeOf(id) + 1} of ${state.cases.length}${soFar()}${shown.topic ? `, topic ${shown.topic}` : ""}`;
  at("question").textContent = shown.question;
  at("answer").textContent = shown.answer || "(no answer)";
  at("expected").textContent = shown.expected_answer;
  at("expected-part").hidden = !shown.expected_answer;
  at("context").replaceChildren(...shown.context.map(contextEntry));
  at("context-part").hidden = shown.context.length === 0;
  drawVerdict();
  drawChoices();
  scrollTo(0, 0);
  if (focus) at("question-title").focus({ preventScroll: true });
}

function finish() {
  shown = null;
  at("case").hidden = at("desk").hidden = true;
  const others = state.raters > 1 ? ` ${state.raters} raters have labelled ${state.labelled} answers` : "";
  const agreed = state.raters > 1 && state.alpha !== null ? `; Krippendorff's alpha is ${state.alpha.toFixed(2)}` : "";
  const divided = state.divided ? `; they are divided on ${state.divided}, which do not count` : "";
  at("finished-said").textContent = `${state.done} labels are in ${state.file}.${others ? `${others}${agreed}${divided}.` : ""}`;
  at("finished").hidden = false;
  at("finished-title").focus();
}

async function goOn(from, options) {
  const id = nextWithout(from);
  if (id === null) finish();
  else await show(id, options);
}

async function label(value) {
  const { id, answer_id } = shown;
  const before = labelOf(id);
  const found = await ask("api/label", { id, answer_id, label: value, reason: at("reason").value });
  undoable.push({ id, before });
  take(found);
  const said = `Labelled ${word(value)}. ${state.done} of ${state.wanted}.`;
  await goOn(placeOf(id));
  say(said);
}

async function undo() {
  const last = undoable.at(-1);
  if (!last) return;
  const case_ = await ask(`api/case?id=${last.id}`);
  const found = await ask("api/label", { id: last.id, answer_id: case_.answer_id, label: last.before });
  undoable.pop();
  shown = case_;
  take(found);
  await show(last.id);
  say(`Undone. ${state.done} of ${state.wanted}.`);
}

async function move(step) {
  const place = placeOf(shown.id) + step;
  if (place < 0 || place >= state.cases.length) {
    say(step < 0 ? "This is the first answer." : `This is the last answer${soFar()}.`);
    return;
  }
  await show(state.cases[place].id);
  say("");
}

async function skip() {
  const id = nextWithout(placeOf(shown.id));
  if (id === null || id === shown.id) say("There is no other answer without a label.");
  else {
    await show(id);
    say("Skipped.");
  }
}

const ACTIONS = {
  good: () => label(GOOD),
  bad: () => label(BAD),
  next: () => move(1),
  previous: () => move(-1),
  skip,
  undo,
  reveal,
};
const KEYS = { v: "reveal", g: "good", b: "bad", j: "next", ArrowRight: "next", k: "previous", ArrowLeft: "previous", s: "skip", u: "undo" };

listen(ACTIONS, KEYS, (name) => shown !== null || name === "undo");
at("again").addEventListener("click", () => alone(() => show(state.cases[0].id)));

token = takeToken();
alone(async () => {
  take(await ask("api/state"));
  await goOn(-1, { focus: false });
});
