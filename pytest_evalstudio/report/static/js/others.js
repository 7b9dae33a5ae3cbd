// Buttons of the case view that show the answers of other models; many of them are folded.

const FOLDED_FROM = 7;
const FOLDED_FROM_ON_PHONES = 4;

/** `shown` are the rows whose answers are shown, `unfold` draws the view again with all buttons. */
function otherModels(run, siblings, { shown, room, isOpen, toggle, unfold }) {
  if (!siblings.length) return null;
  const limit = innerWidth < 600 ? FOLDED_FROM_ON_PHONES : FOLDED_FROM;
  const folds = siblings.length >= limit && !isOpen;
  const listed = folds ? siblings.filter((row, place) => shown.includes(row) || place < limit - 1) : siblings;
  const button = (row) => {
    const on = shown.includes(row);
    const model = run.models[run.modelOf[row]];
    return el(
      "button",
      { type: "button", class: "plain other", "aria-pressed": String(on), disabled: !on && !room, title: model.name, on: { click: () => toggle(row) } },
      verdictMark(run.verdict(row), true),
      " ",
      said(model.label),
    );
  };
  return el(
    "div",
    { class: "others", role: "group", "aria-label": "Other models" },
    el("span", { class: "field-name" }, "Other models"),
    listed.map(button),
    folds && el("button", { type: "button", class: "link", on: { click: unfold } }, many(siblings.length - listed.length, "more model")),
  );
}
