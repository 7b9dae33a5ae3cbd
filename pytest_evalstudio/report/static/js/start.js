// Wakes the page's parts, one after the other, so that none makes the others wait.

async function wake() {
  watchCopyButtons();
  addEventListener("beforeprint", () => openAll(true));
  addEventListener("afterprint", () => openAll(false));
  const run = await Run.open();
  const root = (name) => document.getElementById(`${name}-root`);
  if (root("chooser")) new Chooser(run, root("chooser"));
  if (!root("cases")) return;
  await run.listed();
  const opinions = await run.opinions();
  const panel = new Panel(run);
  const eye = root("eye") && new Eye(run, opinions, panel, root("eye"));
  await breathe();
  const cases = new CaseList(run, opinions, panel, root("cases"));
  const follow = () => {
    const wanted = address.read();
    if (wanted?.kind === "case") openCase(run, panel, wanted.nodeid);
    if (wanted?.kind === "eye" && eye) eye.go(wanted.path, false);
    if (wanted?.kind === "eye") document.getElementById("eye").scrollIntoView();
    if (wanted?.kind === "cases") cases.adopt(wanted.filters);
  };
  addEventListener("hashchange", follow);
  follow();
  document.documentElement.classList.add("ready");
}

function openCase(run, panel, nodeid) {
  const row = run.rowOf(nodeid);
  if (row >= 0) panel.open(row);
  else announce(`This page lists no item ${nodeid}.`);
}

/** Failures are folded away on the screen, and written out on paper. */
function openAll(wanted) {
  for (const details of document.querySelectorAll("details.failure, details.unfold")) {
    if (wanted && !details.open) details.dataset.unfolded = "";
    if (wanted) details.open = true;
    else if ("unfolded" in details.dataset) details.open = false;
    if (!wanted) delete details.dataset.unfolded;
  }
}

wake().catch((fault) => {
  for (const root of document.querySelectorAll("#eye-root, #cases-root")) {
    root.replaceChildren(
      el(
        "p",
        { class: "notice" },
        `This part could not be drawn (${fault.message}). The tables and the results files hold the same figures.`,
      ),
    );
  }
});
