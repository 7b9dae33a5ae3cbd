// A table of which only the rows in sight are in the document.

const ROW_PX = 44;
const SPARE = 10;

class Table {
  /** `cells` gives the cells of a line; `open` is called with a line, all lines, and the clicked cell's data. */
  constructor(cells, open) {
    this.rows = [];
    this.active = -1;
    this.column = 0; // 0 is the line itself
    this.cells = cells;
    this.open = open;
    this.head = el("tr", { "aria-rowindex": "1" });
    this.body = el("tbody", {});
    this.grid = el(
      "table",
      {
        class: "case-table",
        role: "grid",
        tabindex: "0",
        "aria-label": "Test cases",
        on: { keydown: (event) => this.#key(event), click: (event) => this.#click(event) },
      },
      el("thead", {}, this.head),
      this.body,
    );
    this.root = el("div", { class: "case-scroll", on: { scroll: () => this.#draw() } }, this.grid);
  }

  /** Show lines under heads; the line that was active stays so. */
  show(rows, heads) {
    const kept = this.rows[this.active]?.place;
    this.rows = rows;
    this.active = kept === undefined ? -1 : rows.findIndex(({ place }) => place === kept);
    this.head.replaceChildren(...heads);
    this.grid.setAttribute("aria-rowcount", String(rows.length + 1));
    this.first = -1;
    if (this.root.scrollTop > rows.length * ROW_PX) this.root.scrollTop = 0;
    this.#draw();
  }

  #draw() {
    const first = Math.max(0, Math.floor(this.root.scrollTop / ROW_PX) - SPARE);
    if (first === this.first) return;
    const visible = Math.ceil(Math.max(this.root.clientHeight, 400) / ROW_PX);
    const last = Math.min(this.rows.length, first + visible + 2 * SPARE);
    this.first = first;
    const lines = [];
    for (let place = first; place < last; place += 1) lines.push(this.#line(place));
    this.body.replaceChildren(gap(first), ...lines, gap(this.rows.length - last));
    this.#point();
  }

  #line(place) {
    return el(
      "tr",
      { id: `row-${place}`, "aria-rowindex": String(place + 2), "data-place": String(place) },
      this.cells(this.rows[place]),
    );
  }

  #point() {
    this.body.querySelector(".active")?.classList.remove("active");
    const line = this.active >= 0 ? document.getElementById(`row-${this.active}`) : null;
    line?.classList.add("active");
    line?.setAttribute("aria-selected", "true");
    this.body.querySelector(".current")?.classList.remove("current");
    const cell = this.column > 0 ? line?.cells[this.column] : null;
    cell?.classList.add("current");
    cell?.setAttribute("id", `cell-${this.active}-${this.column}`);
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (line) this.grid.setAttribute("aria-activedescendant", (cell ?? line).id);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.root.clientHeight / ROW_PX) - 1);
    const moves = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -this.rows.length,
      End: this.rows.length,
    };
    if (event.key in moves && this.rows.length && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.active = Math.min(this.rows.length - 1, Math.max(0, this.active + moves[event.key]));
      this.#reveal();
    } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && this.active >= 0) {
      event.preventDefault();
      const last = this.head.cells.length - 2; // before the column of failing evaluators
      this.column = Math.min(last, Math.max(0, this.column + (event.key === "ArrowRight" ? 1 : -1)));
      this.#point();
    } else if ((event.key === "Enter" || event.key === " ") && this.active >= 0) {
      event.preventDefault();
      this.open(this.rows[this.active], this.rows, this.body.querySelector(".current")?.dataset ?? {});
    }
  }

  #reveal() {
    const top = this.active * ROW_PX;
    const height = this.root.clientHeight - this.head.offsetHeight - ROW_PX;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (top > this.root.scrollTop + height) this.root.scrollTop = top - height;
    this.#draw();
    this.#point();
  }

  #click(event) {
    const line = event.target.closest("tr[data-place]");
    if (!line) return;
    this.active = Number(line.dataset.place);
    this.#point();
    this.open(this.rows[this.active], this.rows, event.target.closest("td")?.dataset ?? {});
  }
}

function gap(rows) {
  const line = el("tr", { class: "gap", "aria-hidden": "true" }, el("td", {}));
  line.style.height = `${rows * ROW_PX}px`;
  line.hidden = rows === 0;
  return line;
}
