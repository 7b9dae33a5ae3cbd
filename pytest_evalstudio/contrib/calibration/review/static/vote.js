// The page of one voter. All texts are set as text; the names of the models never reach the page.
"use strict";

let state = null;   // what the server says of the whole
let shown = null;   // the game on the page
const undoable = []; // {id, before} of the votes given on this page
const WORDS = { first: "the first answer", second: "the second answer", tie: "a tie" };

const voteOf = (id) => state.cases[id].label;

function nextWithout(from) {
  const count = state.cases.length;
  for (let step = 1; step <= count; step++) {
    const game = state.cases[(from + step + count) % count];
    if (game.label === null) return game.id;
  }
  return null;
}

function take(received) {
  state = received;
  at("title").textContent = `${state.title}: which answer is better?`;
  document.title = `${state.done} of ${state.wanted} · ${state.title}`;
  at("who").textContent = `Voter: ${state.rater}`;
  at("count").textContent = `${state.done} of ${state.wanted} games`;
  at("bar").max = Math.max(1, state.wanted);
  at("bar").value = state.done;
  at("file").textContent = at("file-finished").textContent = state.file;
  at("undo").disabled = undoable.length === 0;
}

function say(text) {
  at("status").textContent = text;
}

function earlierEntry(text) {
  const item = document.createElement("li");
  item.className = "text";
  item.dir = "auto";
  item.textContent = text;
  return item;
}

async function show(id, { focus = true } = {}) {
  shown = await ask(`api/case?id=${id}`);
  at("finished").hidden = true;
  at("case").hidden = at("desk").hidden = false;
  at("place").textContent = `Game ${id + 1} of ${state.cases.length}`;
  at("question").textContent = shown.question;
  for (const side of ["first", "second"]) at(side).textContent = shown[side] || "(no answer)";
  at("earlier").replaceChildren(...shown.earlier.map(earlierEntry));
  at("earlier-part").hidden = shown.earlier.length === 0;
  const now = voteOf(id);
  for (const vote of Object.keys(WORDS)) at(`vote-${vote}`).setAttribute("aria-pressed", String(now === vote));
  at("label-now").textContent = now === null ? "" : `· you voted for ${WORDS[now]}`;
  scrollTo(0, 0);
  if (focus) at("question-title").focus({ preventScroll: true });
}

async function goOn(from, options) {
  const id = nextWithout(from);
  if (id !== null) {
    await show(id, options);
    return;
  }
  shown = null;
  at("case").hidden = at("desk").hidden = true;
  at("finished").hidden = false;
  at("finished-title").focus();
}

async function vote(value) {
  const { id, answer_id } = shown;
  const before = voteOf(id);
  const received = await ask("api/label", { id, answer_id, label: value });
  undoable.push({ id, before });
  take(received);
  await goOn(id);
  say(`You voted for ${WORDS[value]}. ${state.done} of ${state.wanted}.`);
}

async function undo() {
  const last = undoable.at(-1);
  if (!last) return;
  const game = await ask(`api/case?id=${last.id}`);
  const received = await ask("api/label", { id: last.id, answer_id: game.answer_id, label: last.before });
  undoable.pop();
  take(received);
  await show(last.id);
  say(`Undone. ${state.done} of ${state.wanted}.`);
}

async function move(step) {
  const id = shown.id + step;
  if (id < 0 || id >= state.cases.length) say(step < 0 ? "This is the first game." : "This is the last game.");
  else {
    await show(id);
    say("");
  }
}

async function skip() {
  const id = nextWithout(shown.id);
  if (id === null || id === shown.id) say("There is no other game without a vote.");
  else {
    await show(id);
    say("Skipped.");
  }
}

const ACTIONS = {
  "vote-first": () => vote("first"),
  "vote-second": () => vote("second"),
  "vote-tie": () => vote("tie"),
  next: () => move(1),
  previous: () => move(-1),
  skip,
  undo,
};
const KEYS = { 1: "vote-first", 2: "vote-second", t: "vote-tie", j: "next", ArrowRight: "next", k: "previous", ArrowLeft: "previous", s: "skip", u: "undo" };

listen(ACTIONS, KEYS, (name) => shown !== null || name === "undo");
at("again").addEventListener("click", () => alone(() => show(0)));

token = takeToken();
alone(async () => {
  take(await ask("api/state"));
  await goOn(-1, { focus: false });
});
