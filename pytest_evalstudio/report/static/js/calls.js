// Tool calls of an answer beside the calls that its case expects.

/** Returns nothing where the answer has no calls and its case expects none. */
function toolCalls(answer, expected) {
  const calls = answer.calls ?? [];
  if (!calls.length && expected === undefined) return null;
  const leftOut = answer.calls_left_out ?? 0;
  return el(
    "details",
    { class: "calls", open: expected !== undefined },
    el("summary", {}, `Tool calls: ${many(calls.length + leftOut, "call")}`),
    expected !== undefined && callList("Expected", expected.map((text) => ({ text }))),
    callList(expected === undefined ? "" : "Actual", calls),
    leftOut > 0 && el("p", { class: "left-out" }, `${many(leftOut, "more call is", "more calls are")} in the results files.`),
  );
}

function callList(title, calls) {
  return el(
    "div",
    { class: "call-list" },
    title && el("p", { class: "field-name" }, title),
    calls.length
      ? el(
          "ol",
          {},
          calls.map(({ text, result, error }) =>
            el(
              "li",
              {},
              el("code", {}, said(text)),
              error && el("p", { class: "notice" }, "Error: ", said(error)),
              result && el("p", { class: "call-result" }, "→ ", said(result)),
            ),
          ),
        )
      : el("p", { class: "quiet" }, "no call"),
  );
}
