// The heatmap: a click on a column's head sorts the models by it.

function sortableHeatmap() {
  const table = document.getElementById("heatmap");
  if (!table) return;
  for (const head of table.querySelectorAll("th[data-sort]")) {
    const button = el("button", { type: "button", class: "sort" }, ...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => sortHeatmap(table, head));
  }
}

function sortHeatmap(table, head) {
  const by = head.dataset.sort;
  const down = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : by !== "name";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const name = new Intl.Collator("en", { numeric: true });
  const value = (row) => {
    const text = by === "share" ? row.dataset.share : row.cells[Number(by) + 2].dataset.value;
    return text === "" ? null : Number(text);
  };
  const rows = [...table.tBodies[0].rows].sort((a, b) => {
    if (by === "name") return (down ? -1 : 1) * name.compare(a.cells[0].textContent, b.cells[0].textContent);
    const [x, y] = [value(a), value(b)];
    if (x === null || y === null) return (x === null) - (y === null);
    return (down ? -1 : 1) * (x - y);
  });
  table.tBodies[0].append(...rows);
  announce(`Sorted by ${head.textContent}, ${down ? "highest" : "lowest"} first.`);
}
