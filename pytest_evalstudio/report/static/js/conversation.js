// Turns of a conversation: message, answer, calls and expectations, with the evaluators that fail each turn.

/** Returns nothing for the answer to a single question. */
function conversationTurns(run, answer) {
  if (!answer.turns) return null;
  const isBroken = ({ failed, error, fault, flags }) => failed?.length || error || fault !== undefined || flags;
  const first = answer.turns.findIndex(isBroken);
  return el(
    "section",
    { class: "turns", "aria-label": "Conversation" },
    el("p", { class: "field-name" }, `Conversation: ${many(answer.turns.length, "turn")}`),
    answer.turns.map((turn, place) => oneTurn(run, turn, place + 1, first < 0 || place >= first)),
  );
}

function oneTurn(run, turn, number, open) {
  const names = (turn.failed ?? []).map((id) => nameOf(run, id));
  const verdict = turn.error ? "error" : names.length ? "failed" : turn.failed ? "passed" : "";
  return el(
    "details",
    { class: "turn", open },
    el(
      "summary",
      {},
      verdict && verdictMark(verdict),
      ` Turn ${number}`,
      names.length > 0 && `: fails ${names.join(", ")}`,
      el("span", { class: "turn-message", dir: "auto" }, said(turn.prompt)),
    ),
    attachmentList(turn.attachments),
    turn.error && el("p", { class: "notice" }, "Error: ", said(turn.error)),
    turn.incomplete && el("p", { class: "notice" }, `Incomplete: the answer was ${turn.incomplete}.`),
    el("p", { class: "turn-answer", dir: "auto" }, said(turn.text) || "no text"),
    turn.expected_output && el("p", { class: "turn-expected" }, "Expected: ", said(turn.expected_output)),
    turn.accepted_outputs?.map((text) => el("p", { class: "turn-expected" }, "Also accepted: ", said(text))),
    turn.output_condition && el("p", { class: "turn-expected" }, "Condition: ", el("code", { dir: "auto" }, said(turn.output_condition))),
    thoughtsOf(turn),
    toolCalls(run, turn),
    timeline(run, turn),
  );
}
