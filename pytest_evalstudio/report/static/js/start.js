// Starts the parts of the page, one after the other, so that none makes the others wait.

async function wake() {
  watchCopyButtons();
  sortableHeatmap();
  addEventListener("beforeprint", () => openAll(true));
  addEventListener("afterprint", () => openAll(false));
  const parts = {};
  const waiting = {};
  const router = new Router((place, how) => show(parts, place, how, waiting));
  router.start();
  for (const button of [document.getElementById("copy-link")]) button?.addEventListener("click", () => copyLink(button));
  document.getElementById("print-brief")?.addEventListener("click", () => print());
  document.getElementById("print-all")?.addEventListener("click", printAll);
  const run = await Run.open();
  const root = (name) => document.getElementById(`${name}-root`);
  if (root("chooser")) new Chooser(run, root("chooser"));
  if (root("cases")) {
    await run.listed();
    const opinions = await run.opinions();
    await breathe();
    parts.failures = new FailureList(run, router, root("failures"));
    lazy(parts, "matrix", () => new Matrix(run, opinions, router, root("cases")));
    lazy(parts, "eye", () => root("eye") && new Eye(run, opinions, router, root("eye")));
    lazy(parts, "flips", () => root("flips") && new FlipList(run, router, root("flips")));
    parts.panel = new Panel(run, router, () => parts.matrix.opened ?? []);
    if (root("glance-eye")) parts.glance = new GlanceEye(run, router, root("glance-eye"));
    parts.run = run;
    show(parts, waiting.place ?? address.parse(location.hash), waiting.how ?? {}, waiting);
  }
  if (document.activeElement === document.body && !location.hash) beginFocusAtTop();
  document.documentElement.classList.add("ready");
}

/** Let the first Tab reach the link to the content: tabs that were shown may have moved the start of the order. */
function beginFocusAtTop() {
  document.body.tabIndex = -1;
  document.body.focus({ preventScroll: true });
  document.body.removeAttribute("tabindex");
}

/** A part that is made when it is first needed. */
function lazy(parts, name, make) {
  Object.defineProperty(parts, name, {
    configurable: true,
    get() {
      const part = make();
      Object.defineProperty(parts, name, { value: part });
      return part;
    },
  });
}

/** Show a place of the page; what is not started yet shows it later. */
function show(parts, place, how, waiting) {
  Object.assign(waiting, { place, how });
  if (place.kind === "case") {
    if (!tabs.shown) tabs.show("matrix") ?? tabs.show("overview");
    if (parts.run) openCase(parts, place.nodeid);
    if (tabs.shown === "matrix") parts.matrix?.adopt(parts.matrix.filters);
    return;
  }
  parts.panel?.hide();
  if (place.kind === "eye") {
    tabs.show("explore");
    parts.eye?.show(place.path);
  } else if (place.kind === "anchor") {
    if (!tabs.reveal(place.id)) tabs.shown || tabs.show("overview");
    return;
  } else {
    tabs.show(place.tab);
    if (place.tab === "explore") parts.eye?.show([]);
    if (place.tab === "matrix") parts.matrix?.adopt(place.filters);
    if (place.tab === "failures") parts.failures?.adopt(place.filters);
    if (place.tab === "robustness" && parts.flips?.drawn === 0) parts.flips.draw();
  }
  scrollTo(0, how.scroll ?? 0);
}

function openCase(parts, nodeid) {
  const row = parts.run.rowOf(nodeid);
  if (row >= 0) parts.panel.open(row);
  else announce(`This page lists no item ${nodeid}.`);
}

async function copyLink(button) {
  button.dataset.copy = location.href;
  await copy(button);
  delete button.dataset.copy;
}

function printAll() {
  document.documentElement.classList.add("print-all");
  print();
  document.documentElement.classList.remove("print-all");
}

/** Failures are folded on the screen, and written out on paper. */
function openAll(wanted) {
  for (const details of document.querySelectorAll("details.failed-item, details.evaluator, details.unfold")) {
    if (wanted && !details.open) details.dataset.unfolded = "";
    if (wanted) details.open = true;
    else if ("unfolded" in details.dataset) details.open = false;
    if (!wanted) delete details.dataset.unfolded;
  }
}

wake().catch((fault) => {
  for (const root of document.querySelectorAll("#eye-root, #glance-eye-root, #cases-root")) {
    root.replaceChildren(
      el(
        "p",
        { class: "notice" },
        `This part could not be drawn (${fault.message}). The tables and the results files hold the same figures.`,
      ),
    );
  }
});
