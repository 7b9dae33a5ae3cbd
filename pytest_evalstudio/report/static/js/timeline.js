// What an application did, step by step: bars by agent where times are recorded, else a list; a step opens its texts.

const COLOURED_AGENTS = 8;
const SCROLLED_STEPS = 25;
const LEAST_BAR = 0.6;
const KIND_WORDS = { model: "model", tool: "tool", retrieval: "retrieval", handover: "hand-over", message: "message" };

/** Returns nothing for an answer without steps. */
function timeline(run, answer) {
  const parts = answer.turns ?? [answer];
  const stepsByPart = parts.map(stepsOf);
  const steps = stepsByPart.flat();
  if (!steps.length) return null;
  const leftOut = parts.reduce((total, part) => total + (part.steps_left_out ?? 0), 0);
  const agents = [...new Set(steps.map(({ agent }) => (agent ? parted(agent)[0] : "")).filter(Boolean))];
  const timed = steps.some(({ at, took }) => at !== undefined && took !== undefined);
  const spans = stepsByPart.map(spanOf);
  const items = parts.flatMap((part, place) => [
    answer.turns && stepsByPart[place].length ? el("li", { class: "turn-head" }, `Turn ${place + 1}`) : null,
    ...stepsByPart[place].map((step, number) => stepItem(run, part, step, number, { agents, span: spans[place], timed })),
  ]);
  return el(
    "details",
    { class: "timeline", open: true },
    el("summary", {}, `Timeline: ${totalsOf(steps, leftOut, spans.reduce((total, span) => total + span, 0))}`),
    !timed && el("p", { class: "quiet" }, "Start times are not recorded: the steps in their order."),
    agents.length > 1 && el("p", { class: "agents" }, agents.map((agent) => agentMark(agents, agent))),
    el("div", steps.length > SCROLLED_STEPS ? { class: "steps-frame", tabindex: "0", role: "group", "aria-label": "Steps" } : {}, el("ol", { class: "steps" }, items)),
    leftOut > 0 && el("p", { class: "left-out" }, `${many(leftOut, "more step is", "more steps are")} in the results files.`),
  );
}

/** The recorded steps; without any, one for each call. */
function stepsOf({ steps, calls = [] }) {
  return steps ?? calls.map(({ name }, call) => ({ kind: "tool", name, call }));
}

function spanOf(steps) {
  return Math.max(...steps.map(({ at = 0, took = 0 }) => at + took), 0);
}

function totalsOf(steps, leftOut, seconds) {
  const sum = (name) => steps.reduce((total, step) => total + (step[name] ?? 0), 0);
  return [many(steps.length + leftOut, "step"), seconds && `${shown(seconds)} s`, sum("tokens") && many(sum("tokens"), "token"), sum("cost") && `${shown(sum("cost"))} USD`].filter(Boolean).join(", ");
}

function agentMark(agents, agent) {
  return el("span", { class: "agent" }, el("i", { class: `agent-swatch agent-${agents.indexOf(agent) % COLOURED_AGENTS}`, "aria-hidden": "true" }), said(agent));
}

function stepItem(run, part, step, number, { agents, span, timed }) {
  const line = part.lines?.find((each) => step.call !== undefined && each[2] === step.call);
  const flags = step.call === undefined ? [] : (part.flags?.[step.call] ?? []);
  const call = step.call === undefined ? undefined : part.calls?.[step.call];
  const error = step.error ?? call?.error;
  const fault = (line && FAULTS.has(line[0])) || flags.length > 0;
  const agent = step.agent ? parted(step.agent)[0] : "";
  const details = el(
    "details",
    { on: { toggle: () => details.open && !details.querySelector(".step-body") && details.append(stepBody(run, part, step, call, error)) } },
    el(
      "summary",
      { class: "step-line" },
      el("span", { class: "step-number" }, String(number + 1)),
      el(
        "span",
        { class: "step-name" },
        fault && el("strong", { class: "miss" }, el("span", { "aria-hidden": "true" }, "✗ "), line && FAULTS.has(line[0]) ? `${LINE_WORDS[line[0]][1]} ` : "breaks a rule "),
        !fault && error && el("strong", { class: "miss" }, el("span", { "aria-hidden": "true" }, "! "), "error "),
        el("span", { class: "quiet" }, `${KIND_WORDS[step.kind] ?? step.kind} `),
        said(step.name ? parted(step.name)[0] : step.text ? parted(step.text)[0].slice(0, 80) : ""),
        agents.length > 1 && agent && el("span", { class: "quiet" }, " · ", said(agent)),
      ),
      timed && stepBar(step, span, agents.indexOf(agent)),
      el("span", { class: "step-figures" }, figuresOf(step)),
    ),
  );
  return el("li", { class: `trace-step depth-${Math.min(step.depth ?? 0, 6)}${fault ? " fault" : ""}` }, details);
}

function figuresOf({ took, tokens, cost }) {
  return [took !== undefined && `${shown(took)} s`, tokens && many(tokens, "token"), cost && `${shown(cost)} USD`].filter(Boolean).join(" · ");
}

function stepBar({ at, took }, span, agent) {
  const bar = svg("svg", { class: "step-bar", "aria-hidden": "true" });
  if (at !== undefined && span > 0) {
    const [start, width] = [(100 * at) / span, Math.max(LEAST_BAR, (100 * (took ?? 0)) / span)];
    bar.append(svg("rect", { class: `agent-${Math.max(agent, 0) % COLOURED_AGENTS}`, x: `${Math.min(start, 100 - LEAST_BAR)}%`, width: `${Math.min(width, 100)}%`, height: "100%", rx: "2" }));
  }
  return bar;
}

function stepBody(run, part, step, call, error) {
  const field = (name, text) => text && el("div", {}, el("dt", {}, name), el("dd", { dir: "auto" }, el("div", { class: "text" }, cutText(text))));
  const input = call && (isText(argumentsOf(call)) ? cutText(argumentsOf(call)) : el("code", {}, callNodes(call, undefined, [], "ins")));
  return el(
    "div",
    { class: "step-body" },
    callFlags(run, part, step.call),
    el(
      "dl",
      {},
      input && el("div", {}, el("dt", {}, "Input"), el("dd", {}, el("div", { class: "text" }, input))),
      field(step.kind === "retrieval" ? "Input" : "Text", step.text),
      call && (call.result ? field("Output", call.result) : !error && el("div", {}, el("dt", {}, "Output"), el("dd", { class: "quiet" }, "not recorded"))),
      field("Error", error),
      step.at !== undefined && el("div", {}, el("dt", {}, "Start"), el("dd", {}, `${shown(step.at)} s after the first step`)),
    ),
  );
}
